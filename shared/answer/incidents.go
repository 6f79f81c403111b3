package answer

// IncidentResult is an incident: a bounded episode against one target.
type IncidentResult struct {
	ID       string  `json:"id" doc:"Hash of the target, the first minute and the kind" example:"3f1c9a0be2d47a55"`
	Kind     string  `json:"kind" enum:"password guessing,injection,scan,flood,scraping,unusual" doc:"Kind of the incident, according to the rules and paths that dominate; unusual if none does"`
	Target   string  `json:"target" doc:"The host, with a prefix of the path if most of the incident is below it; – for logs without hosts" example:"bank.example/login"`
	Host     *string `json:"host" nullable:"true" doc:"The host; null for logs without hosts"`
	Path     string  `json:"path,omitempty" doc:"The prefix of the path"`
	Begin    string  `json:"begin" doc:"The first minute, RFC 3339, UTC" example:"2026-01-01T16:19:00Z"`
	End      *string `json:"end" nullable:"true" doc:"The end of the last minute; null if the incident is still going on"`
	Sentence string  `json:"sentence" doc:"The incident in words, with times in the zone of the request"`
	Details  string  `json:"details" doc:"The numbers of the incident in words"`

	BeginsEarlier bool `json:"begins_earlier" doc:"The incident begins before the period"`
	EndsLater     bool `json:"ends_later" doc:"The incident ends after the period"`

	Certain bool   `json:"certain" doc:"Whether the gateway stopped the requests; otherwise the incident is inferred from the answers of the origin"`
	Why     string `json:"why" doc:"Why this is an incident, and why it is less certain"`

	NumOfRequests          int64  `json:"num_of_requests" doc:"Requests that the filter of the incident selects; the following numbers are about these requests, too"`
	NumOfBlockedRequests   int64  `json:"num_of_blocked_requests"`
	NumOfChallenges        int64  `json:"num_of_challenges"`
	NumOfMonitoredRequests int64  `json:"num_of_monitored_requests"`
	NumOfPassedRequests    int64  `json:"num_of_passed_requests" doc:"Requests that were neither blocked nor challenged"`
	NumOfBlockedHumans     *int64 `json:"num_of_blocked_human_requests" nullable:"true" doc:"Blocked requests of humans; null if no request says whether its client is human"`
	NumOfIP                int64  `json:"num_of_ip" doc:"Client addresses"`
	NumOfNetworks          *int64 `json:"num_of_networks" nullable:"true" doc:"Organizations of the addresses; null if no request has one"`

	Addresses []IncidentValue `json:"addresses" doc:"The five addresses with the most requests"`
	Networks  []IncidentValue `json:"networks" doc:"The five organizations with the most requests"`
	Reasons   []IncidentValue `json:"reasons" doc:"The five reasons that blocked the most requests"`

	Held   IncidentHeld `json:"held" doc:"Whether the origin served others as before"`
	Filter string       `json:"filter" doc:"A filter that selects exactly these requests, in the query-string form"`
}

// IncidentValue counts the requests of an incident with a value.
type IncidentValue struct {
	Value         string `json:"value"`
	NumOfRequests int64  `json:"num_of_requests"`
}

// IncidentHeld compares what the origin answered to others before, during and after an incident.
type IncidentHeld struct {
	State    string         `json:"state" enum:"held,look,not held,unknown" doc:"look: the origin served others as before, but humans were blocked; unknown: there were too few requests of others to tell"`
	Sentence string         `json:"sentence"`
	Before   IncidentOthers `json:"before" doc:"Requests to the same host, before the incident, that passed and that the filter does not select. The time is as long as the incident, but at least ten minutes and at most an hour"`
	During   IncidentOthers `json:"during"`
	After    IncidentOthers `json:"after" doc:"Such requests during an equally long time after the incident"`
}

// IncidentOthers are requests that passed and that are no part of an incident.
type IncidentOthers struct {
	NumOfRequests int64    `json:"num_of_requests"`
	NumOfErrors   int64    `json:"num_of_errors" doc:"Requests that were answered with a status of 500 or more"`
	AvgTime       *float64 `json:"avg_time" nullable:"true" doc:"Mean request_time, in seconds, of the requests that took at most ten seconds; null if there are none"`
}
