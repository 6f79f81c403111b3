// Package why explains one request to people: what happened to it, which rule acted and what caused it, whether that
// was probably a mistake, and what to do. It takes a record as the API returns it, and counts of other requests. The
// API, the command and the console show the same explanation. README.md beside this file has the rules of the verdict.
package why

// Explanation is what is known about one request.
type Explanation struct {
	Reference string      `json:"record_ref"`
	Timestamp string      `json:"timestamp"`
	Request   string      `json:"request" example:"GET shop.example/cart?item=••••••"`
	Result    Result      `json:"result" enum:"passed,blocked,challenged,monitored,refused"`
	Sentence  string      `json:"sentence" doc:"What happened to the request, with the names of rules and tags as the log has them"`
	Cause     string      `json:"cause,omitempty" doc:"What caused a rule to act, in plain words; absent if none did" example:"SQL injection in the argument item"`
	Verdict   *Assessment `json:"verdict,omitempty" doc:"Whether the decision was a mistake; absent if no rule acted"`
	Stages    []Stage     `json:"stages" doc:"The way through the gateway; empty if the log does not have it"`
	Matches   []Match     `json:"matches" doc:"The parts of the request that rules matched"`
	Steps     []Step      `json:"steps" doc:"What to do"`
	Exemption *Exemption  `json:"exemption,omitempty" doc:"An exemption from the rule; absent if the rule has no exemptions"`
	Ticket    string      `json:"ticket" doc:"Plain text for a ticket"`
	Customer  string      `json:"customer,omitempty" doc:"Plain text for the person who sent the request; absent if it passed"`
}

// Options are the options of an explanation.
type Options struct {
	Reference string // to the record
	Uncover   bool   // values that may identify a person or give access are shown
	Link      string // of the record in the console; "": none
}

// Explain explains the request of a record. The evidence has the answers to its Questions.
func Explain(r Record, e Evidence, o Options) Explanation {
	shown := r
	if !o.Uncover {
		shown = covered(r)
	}
	x := Explanation{
		Reference: o.Reference,
		Timestamp: r.text("timestamp"),
		Request:   shown.line(),
		Result:    r.Result(),
		Sentence:  sentence(shown),
		Cause:     cause(shown),
		Verdict:   verdictOf(r, e),
		Stages:    stages(r),
		Matches:   matches(shown),
		Steps:     steps(r),
		Exemption: exemption(r),
	}
	x.Ticket, x.Customer = ticket(r, shown, x, o.Link), customer(r, x.Verdict)
	return x
}
