// Package answer defines what the data routes answer: the results of each route, and meta, which describes an answer. The
// documentation of the API, its clients and the console use the same definitions.
package answer

// StatsResult is the traffic of one segment.
type StatsResult struct {
	AvgLatency       *float64 `json:"avg_latency" doc:"Mean request_time in seconds; null if no request has one, 0 if there are no requests"`
	Hostname         *string  `json:"hostname,omitempty" doc:"Busiest host of the segment, or the group's host; absent if grouped by a field"`
	NumOfRequests    int64    `json:"num_of_requests"`
	SumOfBandwidth   int64    `json:"sum_of_bandwidth" doc:"Bytes sent and received"`
	TimePeriod       int64    `json:"time_period" doc:"Segment start, Unix seconds"`
	TimeperiodString string   `json:"timeperiod_string" doc:"Segment start, UTC" example:"2026-01-01 00:00:00"`
	TimeperiodLocal  string   `json:"timeperiod_local,omitempty" doc:"Segment start by the clock of tz" example:"2026-01-01 01:00:00+01:00"`

	Value          any  `json:"value,omitempty" doc:"If grouped by a field: text, an integer or a boolean; absent for requests without a value"`
	ValueTruncated bool `json:"value_truncated,omitempty" doc:"The value is cut and ends with its hash"`

	*Percentiles
}

// Percentiles are durations in seconds.
type Percentiles struct {
	P50TotalTime  *float64 `json:"p50_total_time" required:"false" nullable:"true" doc:"null if no request has a total time"`
	P90TotalTime  *float64 `json:"p90_total_time" required:"false" nullable:"true"`
	P99TotalTime  *float64 `json:"p99_total_time" required:"false" nullable:"true"`
	P50OriginTime *float64 `json:"p50_origin_time" required:"false" nullable:"true" doc:"null if no request has an origin time"`
	P90OriginTime *float64 `json:"p90_origin_time" required:"false" nullable:"true"`
	P99OriginTime *float64 `json:"p99_origin_time" required:"false" nullable:"true"`
	P50SvcTime    *float64 `json:"p50_svc_time" required:"false" nullable:"true" doc:"null if no request has a service time"`
	P90SvcTime    *float64 `json:"p90_svc_time" required:"false" nullable:"true"`
	P99SvcTime    *float64 `json:"p99_svc_time" required:"false" nullable:"true"`
}

// TimelineResult has the security statistics of one segment.
type TimelineResult struct {
	ArrayOriginStatusCodes []StatusResult `json:"array_origin_status_codes" doc:"Origin statuses, most frequent first"`
	ArrayStatusCodes       []StatusResult `json:"array_status_codes" doc:"Responses by status, most frequent first"`

	NumOfBlockedRequests       int64  `json:"num_of_blocked_requests"`
	NumOfChallenges            int64  `json:"num_of_challenges"`
	NumOfHumanRequests         int64  `json:"num_of_human_requests"`
	NumOfIP                    int64  `json:"num_of_ip" doc:"Exact number of client addresses"`
	NumOfOriginBlockedRequests int64  `json:"num_of_origin_blocked_requests"`
	NumOfRequests              int64  `json:"num_of_requests"`
	NumOfSessions              int64  `json:"num_of_sessions" doc:"Exact number of sessions"`
	SumOfSentBytes             int64  `json:"sum_of_sent_bytes"`
	TimePeriod                 int64  `json:"time_period" doc:"Segment start, Unix seconds"`
	TimeperiodString           string `json:"timeperiod_string" doc:"Segment start, UTC" example:"2026-01-01 00:00:00"`
	TimeperiodLocal            string `json:"timeperiod_local,omitempty" doc:"Segment start by the clock of tz" example:"2026-01-01 01:00:00+01:00"`
}

// StatusResult counts the responses with one status.
type StatusResult struct {
	Key   string `json:"key" doc:"Status code" example:"200"`
	Value int64  `json:"value" doc:"Number of responses with this status" example:"12"`
}

// TopXResult has the numbers for one key of one label. Times are in seconds.
type TopXResult struct {
	Label                  string   `json:"label" enum:"country,host,ip,organization,origin_time,reason,referer,svc_time,svcid,total_time,url,user_agent"`
	Key                    string   `json:"key"`
	AvgOriginTime          *float64 `json:"avg_origin_time" doc:"null if no request reached the origin"`
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

	*Percentiles

	KeyTruncated bool `json:"key_truncated,omitempty" doc:"The key was too long: it is cut and ends with its hash"`
}

// FacetResult has the most frequent values of one field.
type FacetResult struct {
	By            string             `json:"by" doc:"The field, with its key if it has members" example:"country"`
	Type          string             `json:"type" enum:"string,integer,boolean" doc:"Type of the values"`
	NumOfRequests int64              `json:"num_of_requests" doc:"Requests that have a value"`
	NumOfAbsent   int64              `json:"num_of_absent" doc:"Requests without a value"`
	Distinct      int64              `json:"distinct" doc:"Exact number of different values"`
	Values        []FacetValueResult `json:"values" doc:"The most frequent values; a request counts once for each different value"`
	Rest          *FacetRest         `json:"rest" doc:"The values that are not listed; null if a request can have several values"`
}

// FacetValueResult counts the requests that have a value.
type FacetValueResult struct {
	Value                  any    `json:"value" doc:"Text, an integer or a boolean"`
	NumOfRequests          int64  `json:"num_of_requests"`
	NumOfBlockedRequests   int64  `json:"num_of_blocked_requests"`
	NumOfChallenges        int64  `json:"num_of_challenges"`
	NumOfMonitoredRequests int64  `json:"num_of_monitored_requests"`
	NumOfHumanRequests     int64  `json:"num_of_human_requests"`
	Condition              string `json:"condition,omitempty" doc:"A condition that selects these requests; absent if no filter can"`
	ValueTruncated         bool   `json:"value_truncated,omitempty" doc:"The value is cut and ends with its hash"`
}

// FacetRest counts the requests with the values that are not listed.
type FacetRest struct {
	Distinct             int64 `json:"distinct"`
	NumOfRequests        int64 `json:"num_of_requests"`
	NumOfBlockedRequests int64 `json:"num_of_blocked_requests"`
}

// HistogramResult is the measure of one series in one segment.
type HistogramResult struct {
	TimePeriod       int64   `json:"time_period" doc:"Segment start, Unix seconds"`
	TimeperiodString string  `json:"timeperiod_string" doc:"Segment start, UTC" example:"2026-01-01 00:00:00"`
	TimeperiodLocal  string  `json:"timeperiod_local,omitempty" doc:"Segment start by the clock of tz" example:"2026-01-01 01:00:00+01:00"`
	Series           *string `json:"series" nullable:"true" doc:"The value, if the kind of the series is value; otherwise null"`
	Kind             string  `json:"kind" enum:"value,other,absent,all" doc:"Kind of the series"`
	Value            int64   `json:"value" doc:"Value of the measure in the segment"`
	SeriesTruncated  bool    `json:"series_truncated,omitempty" doc:"series is cut and ends with its hash"`
}

// DiffResult is a value whose share differs between the selected requests and the baseline.
type DiffResult struct {
	By             string   `json:"by" doc:"The field, with its key if it has members" example:"country"`
	Value          any      `json:"value" doc:"Text, an integer or a boolean"`
	Selected       DiffSide `json:"selected"`
	Baseline       DiffSide `json:"baseline"`
	Lift           *float64 `json:"lift" nullable:"true" doc:"Share of the value in the selected requests, divided by its share in the baseline; null if the baseline has none"`
	Score          float64  `json:"score" doc:"Score of the G-test; negative if the share of the selected requests is the smaller one"`
	Condition      string   `json:"condition,omitempty" doc:"A condition that selects the requests with the value; absent if no filter can"`
	Excluded       string   `json:"excluded,omitempty" doc:"A condition that selects all other requests"`
	ValueTruncated bool     `json:"value_truncated,omitempty" doc:"The value is cut and ends with its hash"`
}

// DiffSide counts the requests of one side that have a value.
type DiffSide struct {
	NumOfRequests int64   `json:"num_of_requests"`
	Share         float64 `json:"share" doc:"Share of all requests of this side"`
}

// ValueResult is one value of a field. It has counts if the request asks for them.
type ValueResult struct {
	Value                  any    `json:"value" doc:"Text, an integer or a boolean"`
	NumOfRequests          *int64 `json:"num_of_requests,omitempty" doc:"Requests with the value; this and the following numbers are present only if the request asks for counts"`
	NumOfBlockedRequests   *int64 `json:"num_of_blocked_requests,omitempty"`
	NumOfChallenges        *int64 `json:"num_of_challenges,omitempty"`
	NumOfMonitoredRequests *int64 `json:"num_of_monitored_requests,omitempty"`
	NumOfHumanRequests     *int64 `json:"num_of_human_requests,omitempty"`
	Condition              string `json:"condition,omitempty" doc:"A condition that selects the requests with the value; absent if no filter can"`
	ValueTruncated         bool   `json:"value_truncated,omitempty" doc:"The value is cut and ends with its hash"`
}
