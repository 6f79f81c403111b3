package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
)

// Question is a question about data. Its members are the parameters of the routes. A route refuses parameters that it
// does not have.
type Question struct {
	Filters  string   `json:"filters,omitempty"`   // a filter in either form, with a period or a record_ref
	Limit    int      `json:"limit,omitempty"`     // 0 for the default of the route
	Fields   string   `json:"fields,omitempty"`    // logs: the fields to return, with commas between them; "" for all
	Segment  string   `json:"segment,omitempty"`   // stats, timeline, histogram: the length of a segment, such as 5m
	TZ       string   `json:"tz,omitempty"`        // the time zone of segments, such as Europe/Berlin
	GroupBy  string   `json:"group_by,omitempty"`  // stats: hostname, or another field
	Figures  string   `json:"figures,omitempty"`   // stats, topx: percentiles
	By       string   `json:"by,omitempty"`        // facets, histogram, diff: the fields to group by, with commas between them
	Measure  string   `json:"measure,omitempty"`   // histogram: the measure, such as requests
	Order    string   `json:"order,omitempty"`     // facets: requests or blocked
	Cursor   string   `json:"cursor,omitempty"`    // logs: the place of the next page, from Meta.Next
	Since    string   `json:"since,omitempty"`     // logs: only records that are newer than an earlier answer, which had this Meta.Head
	Select   string   `json:"select,omitempty"`    // diff: conditions of the requests to compare with all others
	Against  string   `json:"against,omitempty"`   // diff, effect: the other period, such as previous
	Least    int      `json:"least,omitempty"`     // diff: the smallest number of requests of a finding; 0 for the default
	Field    string   `json:"field,omitempty"`     // values: the field
	Prefix   string   `json:"prefix,omitempty"`    // values: text that the values begin with
	Contains string   `json:"contains,omitempty"`  // values: text that the values contain
	Counts   bool     `json:"counts,omitempty"`    // values: count the requests of each value
	At       string   `json:"at,omitempty"`        // effect: the moment, as filters write a time
	Length   string   `json:"length,omitempty"`    // effect: the length of the periods, such as 1h
	Rule     string   `json:"rule,omitempty"`      // whatif: the rule that is tried
	Rules    []string `json:"rules,omitempty"`     // whatif: rules that are tried together, instead of Rule
	Attack   string   `json:"attack,omitempty"`    // whatif: conditions of the requests that a limit is to stop
	Marks    bool     `json:"marks,omitempty"`     // timeline, histogram: Meta.Marks has the changes of the settings
	MaxBytes int64    `json:"max_bytes,omitempty"` // a query that may read more does not run; 0: no limit
	DryRun   bool     `json:"dry_run,omitempty"`   // the query does not run; Meta.Estimate has what it would read and cost
	// More has further parameters of the route, by name.
	More map[string]any `json:"-"`
}

// body returns the body of a POST route.
func (q Question) body() ([]byte, error) {
	body, err := json.Marshal(q)
	if err != nil || len(q.More) == 0 {
		return body, err
	}
	parameters := map[string]any{}
	if err := json.Unmarshal(body, &parameters); err != nil {
		return nil, err
	}
	maps.Copy(parameters, q.More)
	return json.Marshal(parameters)
}

// Answer is the answer to a question.
type Answer[Result any] struct {
	Results []Result
	Meta    Meta
}

// Record is a record of the logs as JSON. Its members depend on the request; json.Unmarshal reads those that a program
// needs.
type Record = json.RawMessage

// Logs returns the newest records.
func (c *Client) Logs(ctx context.Context, q Question) (Answer[Record], error) {
	return ask[Record](ctx, c, "logs", q)
}

// Records returns all records, newest first, and reads one page after the other. Question.Limit is the length of a
// page. An error ends the sequence.
func (c *Client) Records(ctx context.Context, q Question) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for {
			page, err := c.Logs(ctx, q)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, r := range page.Results {
				if !yield(r, nil) {
					return
				}
			}
			switch {
			case page.Meta.Next == nil:
				return
			case *page.Meta.Next == q.Cursor:
				yield(nil, fmt.Errorf("the server answers with the same cursor again: %q", q.Cursor))
				return
			}
			q.Cursor = *page.Meta.Next
		}
	}
}

// Stats returns the traffic of each segment.
func (c *Client) Stats(ctx context.Context, q Question) (Answer[Stats], error) {
	return ask[Stats](ctx, c, "stats", q)
}

// Timeline returns the security statistics of each segment.
func (c *Client) Timeline(ctx context.Context, q Question) (Answer[Timeline], error) {
	return ask[Timeline](ctx, c, "timeline", q)
}

// TopX returns the most blocked keys of each label.
func (c *Client) TopX(ctx context.Context, q Question) (Answer[TopX], error) {
	return ask[TopX](ctx, c, "topx", q)
}

// Facets returns the most frequent values of fields.
func (c *Client) Facets(ctx context.Context, q Question) (Answer[Facet], error) {
	return ask[Facet](ctx, c, "facets", q)
}

// Histogram returns counts for each segment, split by the values of a field.
func (c *Client) Histogram(ctx context.Context, q Question) (Answer[Bar], error) {
	return ask[Bar](ctx, c, "histogram", q)
}

// Diff returns the values whose shares differ between two sides, see Meta.Diff.
func (c *Client) Diff(ctx context.Context, q Question) (Answer[Finding], error) {
	return ask[Finding](ctx, c, "diff", q)
}

// Values returns values of a field. Question.Filters is a period, or empty.
func (c *Client) Values(ctx context.Context, q Question) (Answer[Value], error) {
	return ask[Value](ctx, c, "values", q)
}

// WhyRequest returns the request for the explanation of a record. With secrets, values that may identify a person or give
// access are not covered.
func WhyRequest(reference string, secrets bool) Request {
	query := url.Values{"record_ref": {reference}}
	if secrets {
		query.Set("secrets", "true")
	}
	return Request{Method: http.MethodGet, Path: "/data/why?" + query.Encode()}
}

// Why returns why the request of a record was stopped. The only result is the explanation.
func (c *Client) Why(ctx context.Context, reference string, secrets bool) (Answer[Explanation], error) {
	response, err := c.Do(ctx, WhyRequest(reference, secrets))
	if err != nil {
		return Answer[Explanation]{}, err
	}
	return DecodeWhy(response.Body)
}

// DecodeWhy reads the answer to a WhyRequest.
func DecodeWhy(body []byte) (Answer[Explanation], error) {
	a, err := decodeAnswer[Explanation](body)
	if err == nil && len(a.Results) != 1 {
		err = fmt.Errorf("the answer has %d explanations, want one", len(a.Results))
	}
	return a, err
}

// Incidents returns the incidents of a period of at most 31 days.
func (c *Client) Incidents(ctx context.Context, q Question) (Answer[Incident], error) {
	return ask[Incident](ctx, c, "incidents", q)
}

// Effect compares the blocked requests before and after the moment Question.At; see Meta.Effect. Question.Filters is empty,
// or has no period.
func (c *Client) Effect(ctx context.Context, q Question) (Answer[Effect], error) {
	return ask[Effect](ctx, c, "effect", q)
}

// WhatIf returns what the rule Question.Rule would have done to the requests that the filter selects, and to the attack
// Question.Attack. With Question.Rules, the first result is about all rules together, and each further result about one
// rule.
func (c *Client) WhatIf(ctx context.Context, q Question) (Answer[WhatIf], error) {
	return ask[WhatIf](ctx, c, "whatif", q)
}

// ask sends a question to the POST route, which accepts filters of any length.
func ask[Result any](ctx context.Context, c *Client, route string, q Question) (Answer[Result], error) {
	body, err := q.body()
	if err != nil {
		return Answer[Result]{}, err
	}
	response, err := c.Do(ctx, Request{Method: http.MethodPost, Path: "/data/" + route, Body: body})
	if err != nil {
		return Answer[Result]{}, err
	}
	return decodeAnswer[Result](response.Body)
}

func decodeAnswer[Result any](body []byte) (Answer[Result], error) {
	var a struct {
		Data struct {
			Results []Result `json:"results"`
		} `json:"data"`
		Meta Meta `json:"meta"`
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return Answer[Result]{}, fmt.Errorf("the answer does not have the format of the API: %w", err)
	}
	return Answer[Result]{a.Data.Results, a.Meta}, nil
}
