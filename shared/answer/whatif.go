package answer

// WhatIfResult is what a rule would have done to the requests of a period.
type WhatIfResult struct {
	Rule     string  `json:"rule" doc:"The rule in the shorter form, or in JSON if the shorter form cannot express it. The result of all rules together has all rules" example:"limit 60 per 1m by ip"`
	Place    *int    `json:"place" nullable:"true" doc:"Index of the rule in rules, from 0; null if the request has rule instead of rules, and in the result of all rules together"`
	Name     *string `json:"name" nullable:"true" doc:"Name of the rule; null if it has none"`
	Action   string  `json:"action" enum:"block,challenge,monitor"`
	Sentence string  `json:"sentence" doc:"The outcome in words, with times in the zone of the request"`

	NumOfRequests        int64   `json:"num_of_requests" doc:"Requests on which the rule would have acted"`
	NumOfBlockedRequests int64   `json:"num_of_blocked_requests" doc:"How many of these requests the gateway blocked anyway"`
	NumOfEarlierRequests int64   `json:"num_of_earlier_requests" doc:"How many of the others the rules before it would have stopped; 0 unless several rules are tried"`
	NumOfNewRequests     int64   `json:"num_of_new_requests" doc:"The remaining requests, for which the rule would change the outcome. The following numbers are about them"`
	NumOfIP              int64   `json:"num_of_ip" doc:"Client addresses"`
	NumOfSessions        int64   `json:"num_of_sessions"`
	NumOfHumans          *int64  `json:"num_of_human_requests" nullable:"true" doc:"Requests of humans; null if no request on which the rule would have acted says whether its client is human"`
	NumOfHumanIP         *int64  `json:"num_of_human_ip" nullable:"true" doc:"Client addresses of humans; null if num_of_human_requests is null"`
	First                *string `json:"first" nullable:"true" doc:"Time of the first of these requests, RFC 3339, UTC; null if there is none"`
	Last                 *string `json:"last" nullable:"true"`

	Threshold         *int64 `json:"threshold" nullable:"true" doc:"Threshold of a limit; null for other rules"`
	NumOfKeys         *int64 `json:"num_of_keys" nullable:"true" doc:"Keys that have a request on which the limit would have acted; null for other rules"`
	NumOfPhaseUnknown *int64 `json:"num_of_phase_unknown" nullable:"true" doc:"Keys whose first window may have begun at another time, because their requests of the 24 hours before the period have no pause; null for other rules"`

	SegmentSeconds int64           `json:"segment_seconds" doc:"Length of the segments"`
	Segments       []WhatIfSegment `json:"segments" doc:"Segments with requests on which the rule would have acted"`
	Facets         []WhatIfFacet   `json:"facets" doc:"What the newly stopped requests have in common"`
	Affected       []WhatIfClient  `json:"affected" doc:"At most twenty keys of a limit, or addresses; the most newly stopped requests of humans come first, then the most newly stopped requests"`
	Curve          []WhatIfPoint   `json:"curve" doc:"What other thresholds would do; empty unless the rule is a limit that counts requests and has no ban"`
	Attack         *WhatIfAttack   `json:"attack" doc:"What the limit does to the attack in the request; null if the request has none, or too many requests would have to be read"`
	Unknown        []string        `json:"unknown" doc:"What the log does not tell"`
	JSON           *string         `json:"json" nullable:"true" doc:"The limit in the form of the gateway's API; null for other rules, and if its conditions need more than a limit"`
	Forms          []WhatIfForm    `json:"forms" doc:"The parts of the rule in the forms of the gateway, in the order in which they are added; empty if the gateway has no such conditions or fields"`
}

// WhatIfSegment counts requests on which a rule acts in a segment.
type WhatIfSegment struct {
	TimePeriod       int64 `json:"time_period" doc:"Segment start, Unix seconds"`
	NumOfRequests    int64 `json:"num_of_requests"`
	NumOfNewRequests int64 `json:"num_of_new_requests"`
}

// WhatIfFacet has the most frequent values of a field in the newly stopped requests.
type WhatIfFacet struct {
	Field  string        `json:"field" example:"path"`
	Values []WhatIfValue `json:"values" doc:"The most frequent values, at most ten"`
}

// WhatIfValue counts newly stopped requests with a value.
type WhatIfValue struct {
	Value            string `json:"value"`
	NumOfNewRequests int64  `json:"num_of_new_requests"`
}

// WhatIfClient is a client whose requests are newly stopped.
type WhatIfClient struct {
	Key              []WhatIfPart `json:"key"`
	NumOfNewRequests int64        `json:"num_of_new_requests"`
	NumOfHumans      *int64       `json:"num_of_human_requests" nullable:"true"`
	First            string       `json:"first" doc:"Time of the first newly stopped request, RFC 3339, UTC"`
	Last             string       `json:"last"`
	Filter           string       `json:"filter" doc:"A filter that selects all requests of the client to which the rule applies, in the query-string form; it leaves out conditions of which only one must hold"`
	RecordRef        *string      `json:"record_ref" nullable:"true" doc:"Reference to a request of the client in the same millisecond as the first newly stopped request; null if no filter can select it, and in the result of one of several rules"`
}

// WhatIfPart is a part of a key.
type WhatIfPart struct {
	Field string `json:"field" example:"ip"`
	Value string `json:"value"`
}

// WhatIfAttack is what a limit does to an attack, and to others. Requests that a global filter blocked do not reach
// limits and are not counted.
type WhatIfAttack struct {
	Filter         string `json:"filter" doc:"The conditions of the attack's requests, in the query-string form" example:"path=\"/login\", human is false"`
	Sentence       string `json:"sentence" example:"The limit would have blocked 93 % of the attack and 3 of 4,112 other people."`
	NumOfRequests  int64  `json:"num_of_requests" doc:"Requests of the attack to which the limit applies"`
	NumOfActed     int64  `json:"num_of_acted_requests" doc:"How many of these requests the limit would have acted on"`
	Others         string `json:"others" enum:"people,addresses" doc:"What the others are: people if the log says which requests humans sent, otherwise addresses of any client"`
	NumOfOtherIP   int64  `json:"num_of_other_ip" doc:"Number of others: addresses with a request that is neither part of the attack nor blocked today"`
	NumOfStoppedIP int64  `json:"num_of_stopped_other_ip" doc:"Others with such a request that the limit newly stops"`

	Knee *WhatIfKnee `json:"knee" doc:"The best threshold; null if there is no curve, or no threshold stops a larger share of the attack than of the others"`
}

// WhatIfKnee is the threshold with the largest difference between the share of the attack on which it acts and the share
// of the others that it newly stops.
type WhatIfKnee struct {
	Threshold         int64  `json:"threshold"`
	Sentence          string `json:"sentence" example:"At 60 a minute: 93 % of the attack and 3 of 4,112 other people."`
	NumOfAttack       int64  `json:"num_of_attack_requests" doc:"Requests of the attack on which the limit acts at this threshold"`
	NumOfStoppedOther int64  `json:"num_of_stopped_other_ip" doc:"Others that the limit newly stops at this threshold"`
	Rule              string `json:"rule" doc:"The rule with this threshold, in the shorter form" example:"limit 60 per 1m by ip"`

	Forms []WhatIfForm `json:"forms" doc:"The rule with this threshold in the forms of the gateway"`
}

// WhatIfForm is a part of a rule in three forms that mean the same.
type WhatIfForm struct {
	To        string `json:"to" doc:"What this part of the rule adds" example:"a new rate limit"`
	JSON      string `json:"json" doc:"The JSON that the API of the gateway takes"`
	Terraform string `json:"terraform" doc:"A resource for the provider link11dev/link11waap"`
	Curl      string `json:"curl" doc:"The command that sends the JSON to the gateway, with variables for domain, configuration and key"`
}

// WhatIfPoint is what a limit with another threshold would do.
type WhatIfPoint struct {
	Threshold        int64  `json:"threshold"`
	NumOfRequests    int64  `json:"num_of_requests"`
	NumOfNewRequests int64  `json:"num_of_new_requests"`
	NumOfIP          int64  `json:"num_of_ip" doc:"Addresses with newly stopped requests"`
	NumOfHumans      *int64 `json:"num_of_human_requests" nullable:"true" doc:"Newly stopped requests of humans"`
	NumOfHumanIP     *int64 `json:"num_of_human_ip" nullable:"true"`
	NumOfAttack      *int64 `json:"num_of_attack_requests" nullable:"true" doc:"Requests of the attack on which the limit acts at this threshold; null if the request has no attack"`
	NumOfOtherIP     *int64 `json:"num_of_stopped_other_ip" nullable:"true" doc:"Others that the limit newly stops at this threshold; null if the request has no attack"`
}
