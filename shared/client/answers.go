package client

// Stats is the traffic of a segment, or that of one host in a segment.
type Stats struct {
	AvgLatency       *float64 `json:"avg_latency"` // in seconds; nil if no request has a time
	Hostname         string   `json:"hostname"`    // the busiest host of the segment, or that of the group
	NumOfRequests    int64    `json:"num_of_requests"`
	SumOfBandwidth   int64    `json:"sum_of_bandwidth"`  // bytes sent and received
	TimePeriod       int64    `json:"time_period"`       // start of the segment, in Unix seconds
	TimeperiodString string   `json:"timeperiod_string"` // the same as text, UTC
	TimeperiodLocal  string   `json:"timeperiod_local"`  // the same by the clock of Question.TZ; "" without it

	Value          any  `json:"value"` // string, float64 or bool, if grouped by a field; nil: the requests without a value
	ValueTruncated bool `json:"value_truncated"`

	Percentiles
}

// Percentiles are percentiles of times in seconds, if they were asked for. They are nil if no request has the time.
type Percentiles struct {
	P50TotalTime  *float64 `json:"p50_total_time"`
	P90TotalTime  *float64 `json:"p90_total_time"`
	P99TotalTime  *float64 `json:"p99_total_time"`
	P50OriginTime *float64 `json:"p50_origin_time"`
	P90OriginTime *float64 `json:"p90_origin_time"`
	P99OriginTime *float64 `json:"p99_origin_time"`
	P50SvcTime    *float64 `json:"p50_svc_time"`
	P90SvcTime    *float64 `json:"p90_svc_time"`
	P99SvcTime    *float64 `json:"p99_svc_time"`
}

// Timeline has the security statistics of a segment.
type Timeline struct {
	ArrayOriginStatusCodes     []StatusCount `json:"array_origin_status_codes"` // most frequent first
	ArrayStatusCodes           []StatusCount `json:"array_status_codes"`
	NumOfBlockedRequests       int64         `json:"num_of_blocked_requests"`
	NumOfChallenges            int64         `json:"num_of_challenges"`
	NumOfHumanRequests         int64         `json:"num_of_human_requests"`
	NumOfIP                    int64         `json:"num_of_ip"` // different client addresses
	NumOfOriginBlockedRequests int64         `json:"num_of_origin_blocked_requests"`
	NumOfRequests              int64         `json:"num_of_requests"`
	NumOfSessions              int64         `json:"num_of_sessions"`
	SumOfSentBytes             int64         `json:"sum_of_sent_bytes"`
	TimePeriod                 int64         `json:"time_period"` // start of the segment, in Unix seconds
	TimeperiodString           string        `json:"timeperiod_string"`
	TimeperiodLocal            string        `json:"timeperiod_local"` // "" without Question.TZ
}

// StatusCount is the number of responses with a status.
type StatusCount struct {
	Key   string `json:"key"` // the status
	Value int64  `json:"value"`
}

// TopX has the figures of one key of one label. Times are in seconds; they are nil if no request has one.
type TopX struct {
	Label                  string   `json:"label"`
	Key                    string   `json:"key"`
	AvgOriginTime          *float64 `json:"avg_origin_time"`
	MaxOriginTime          *float64 `json:"max_origin_time"`
	MinOriginTime          *float64 `json:"min_origin_time"`
	AvgSvcTime             *float64 `json:"avg_svc_time"`
	MaxSvcTime             *float64 `json:"max_svc_time"`
	MinSvcTime             *float64 `json:"min_svc_time"`
	AvgTotalTime           *float64 `json:"avg_total_time"`
	MaxTotalTime           *float64 `json:"max_total_time"`
	MinTotalTime           *float64 `json:"min_total_time"`
	FirstASN               string   `json:"first_asn"`
	FirstGeoCountry        string   `json:"first_geo_country"`
	FirstOrganization      string   `json:"first_organization"`
	NumOfBlockedRequests   int64    `json:"num_of_blocked_requests"`
	NumOfBotRequests       int64    `json:"num_of_bot_requests"`
	NumOfChallenges        int64    `json:"num_of_challenges"`
	NumOfHumanRequests     int64    `json:"num_of_human_requests"`
	NumOfMonitoredRequests int64    `json:"num_of_monitored_requests"`
	NumOfRequests          int64    `json:"num_of_requests"`
	SumOfBytesSent         int64    `json:"sum_of_bytes_sent"`
	SumOfRequestLength     int64    `json:"sum_of_request_length"`
	KeyTruncated           bool     `json:"key_truncated"`

	Percentiles
}

// Facet has the most frequent values of a field.
type Facet struct {
	By            string       `json:"by"`
	Type          string       `json:"type"` // string, integer or boolean
	NumOfRequests int64        `json:"num_of_requests"`
	NumOfAbsent   int64        `json:"num_of_absent"`
	Distinct      int64        `json:"distinct"`
	Values        []FacetValue `json:"values"`
	Rest          *FacetRest   `json:"rest"` // nil for fields of which a request can have several values
}

// FacetValue counts the requests with a value.
type FacetValue struct {
	Value                  any    `json:"value"` // string, float64 or bool
	NumOfRequests          int64  `json:"num_of_requests"`
	NumOfBlockedRequests   int64  `json:"num_of_blocked_requests"`
	NumOfChallenges        int64  `json:"num_of_challenges"`
	NumOfMonitoredRequests int64  `json:"num_of_monitored_requests"`
	NumOfHumanRequests     int64  `json:"num_of_human_requests"`
	Condition              string `json:"condition"` // selects these requests; "" if no filter can
	ValueTruncated         bool   `json:"value_truncated"`
}

// FacetRest counts the requests with the values that are not listed.
type FacetRest struct {
	Distinct             int64 `json:"distinct"`
	NumOfRequests        int64 `json:"num_of_requests"`
	NumOfBlockedRequests int64 `json:"num_of_blocked_requests"`
}

// Bar is the value of one series of a histogram in one segment.
type Bar struct {
	TimePeriod       int64   `json:"time_period"` // start of the segment, in Unix seconds
	TimeperiodString string  `json:"timeperiod_string"`
	TimeperiodLocal  string  `json:"timeperiod_local"` // "" without Question.TZ
	Series           *string `json:"series"`           // of kind value; otherwise nil
	Kind             string  `json:"kind"`             // value, other, absent or all
	Value            int64   `json:"value"`
	SeriesTruncated  bool    `json:"series_truncated"`
}

// Finding is a value that differs between the two sides of a diff.
type Finding struct {
	By             string   `json:"by"`
	Value          any      `json:"value"` // string, float64 or bool
	Selected       Share    `json:"selected"`
	Baseline       Share    `json:"baseline"`
	Lift           *float64 `json:"lift"`  // nil if the baseline has no request with the value
	Score          float64  `json:"score"` // negative if the share of the selected requests is the smaller one
	Condition      string   `json:"condition"`
	Excluded       string   `json:"excluded"`
	ValueTruncated bool     `json:"value_truncated"`
}

// Share counts the requests of one side that have a value.
type Share struct {
	NumOfRequests int64   `json:"num_of_requests"`
	Share         float64 `json:"share"` // of all requests of the side
}

// Value is a value of a field. The counts are nil unless they were asked for.
type Value struct {
	Value                  any    `json:"value"` // string, float64 or bool
	NumOfRequests          *int64 `json:"num_of_requests"`
	NumOfBlockedRequests   *int64 `json:"num_of_blocked_requests"`
	NumOfChallenges        *int64 `json:"num_of_challenges"`
	NumOfMonitoredRequests *int64 `json:"num_of_monitored_requests"`
	NumOfHumanRequests     *int64 `json:"num_of_human_requests"`
	Condition              string `json:"condition"`
	ValueTruncated         bool   `json:"value_truncated"`
}
