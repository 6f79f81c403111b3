package answer

// EffectResult compares the blocked requests before and after a moment: all of them, the requests that a rule blocked,
// or the requests blocked for a reason. The difference is the sum of FromRequests, FromRules and Rest.
type EffectResult struct {
	By       string  `json:"by" enum:"all,rule,reason" doc:"What is compared: all blocked requests, the requests that a rule blocked, or the requests blocked for a reason"`
	Value    *string `json:"value" nullable:"true" doc:"The rule or the reason; null for all, and for blocked requests without a reason" example:"acl acl3"`
	Sentence string  `json:"sentence" doc:"The comparison in words, with times in the zone of the request"`

	Difference   int64 `json:"difference" doc:"Blocked requests after the moment, minus those before it"`
	FromRequests int64 `json:"from_requests" doc:"The part of the difference that the number of requests explains: the difference if the same share of the requests had been blocked as before"`
	FromRules    int64 `json:"from_rules" doc:"The part of the difference that the rule explains: what remains of the difference, if that is too large to be chance, otherwise 0. For all, the sum over the rules"`
	Rest         int64 `json:"rest" doc:"The part of the difference that neither the number of requests nor the rules explain"`

	Before EffectSide `json:"before"`
	After  EffectSide `json:"after"`
}

// EffectSide counts the blocked requests of one period.
type EffectSide struct {
	NumOfBlockedRequests int64  `json:"num_of_blocked_requests"`
	NumOfBlockedHumans   *int64 `json:"num_of_blocked_human_requests" nullable:"true" doc:"Blocked requests of humans; null if no blocked request says whether its client is human"`
	Filter               string `json:"filter" doc:"A filter that selects exactly these blocked requests, in the query-string form"`
}

// EffectMeta describes the two periods that an effect compares.
type EffectMeta struct {
	At            string         `json:"at" doc:"The moment, RFC 3339, UTC"`
	LengthSeconds int64          `json:"length_seconds" doc:"Length of each of the two periods"`
	Shortened     bool           `json:"shortened,omitempty" doc:"The periods are shorter than asked for, because there is no later data"`
	Before        EffectSideMeta `json:"before"`
	After         EffectSideMeta `json:"after"`
}

// EffectSideMeta counts all requests of one period.
type EffectSideMeta struct {
	Period        MetaPeriod `json:"period"`
	NumOfRequests int64      `json:"num_of_requests"`
	NumOfHumans   *int64     `json:"num_of_human_requests" nullable:"true" doc:"Requests of humans; null if no request says whether its client is human"`
	Filter        string     `json:"filter" doc:"A filter that selects exactly these requests, in the query-string form"`
}
