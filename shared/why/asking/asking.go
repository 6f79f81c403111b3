// Package asking finds the record of a request, asks about other requests, and explains the request by the answers.
package asking

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/why"
)

// Source answers questions, with all limits and permissions of other questions of the same caller.
type Source interface {
	// Ask returns the answer of a data route in JSON.
	Ask(ctx context.Context, route string, params map[string]string) ([]byte, error)
}

// Explained is an explanation, and a description of the answers that it is based on.
type Explained struct {
	why.Explanation
	Meta search.Meta
}

// Explain explains the request of o.Reference. The questions about other requests are asked at the same time. The error
// is a *search.ParamError if the text is not a reference, of kind fault.NotFound if the caller can see no such record,
// or the error of the first question without an answer.
func Explain(ctx context.Context, from Source, o why.Options) (Explained, error) {
	r, metas, err := read(ctx, from, o.Reference)
	if err != nil {
		return Explained{}, err
	}
	questions := why.Questions(r)
	answers, err := askAll(ctx, from, questions, "false")
	if err != nil {
		return Explained{}, err
	}
	var e why.Evidence
	for i, q := range questions {
		*e.Of(q) = tallyOf(answers[i])
		metas = append(metas, answers[i].described)
	}
	return Explained{why.Explain(r, e, o), metaOf(metas)}, nil
}

// Estimate returns what is known about the questions of an explanation before they are asked. It reads the record, on
// which they depend. It returns the errors of Explain.
func Estimate(ctx context.Context, from Source, reference string) (search.Meta, error) {
	r, metas, err := read(ctx, from, reference)
	if err != nil {
		return search.Meta{}, err
	}
	answers, err := askAll(ctx, from, why.Questions(r), "true")
	for _, one := range answers {
		if one.Meta.Estimate != nil {
			one.Meta.Estimate.Unrounded = one.Unrounded
		}
		metas = append(metas, one.described)
	}
	sum := metaOf(metas)
	sum.DryRun, sum.Exact = true, nil
	return sum, err
}

// read returns a record, and the description of its answer.
func read(ctx context.Context, from Source, reference string) (why.Record, []described, error) {
	if _, err := lake.ParseRef(reference); err != nil {
		return nil, nil, &search.ParamError{
			Param:   "record_ref",
			Message: fmt.Sprintf("%q is not a reference to a record; copy the whole record_ref of an answer of logs", reference),
		}
	}
	found, err := ask[json.RawMessage](ctx, from, search.Logs, map[string]string{
		"filters": `record_ref="` + reference + `"`, "limit": "1",
	})
	if err != nil {
		return nil, nil, err
	}
	if len(found.Data.Results) == 0 {
		return nil, nil, fault.New(fault.NotFound, "there is no record with this record_ref")
	}
	r, err := why.ReadRecord(found.Data.Results[0])
	return r, []described{found.described}, err
}

// askAll asks questions at the same time. dryRun is true or false.
func askAll(ctx context.Context, from Source, questions []why.Question, dryRun string) ([]answerOf[answer.FacetResult], error) {
	answers := make([]answerOf[answer.FacetResult], len(questions))
	group, asked := errgroup.WithContext(ctx)
	for i, q := range questions {
		group.Go(func() (err error) {
			answers[i], err = ask[answer.FacetResult](asked, from, search.Facets, map[string]string{
				"filters": q.Filters, "by": q.By, "order": search.OrderBlocked, "limit": most, "dry_run": dryRun,
			})
			return err
		})
	}
	return answers, group.Wait()
}

// most is how many values of a field are asked for. Only the values of the field reason are counted.
const most = "10"

// described is what an answer has besides its results.
type described struct {
	Meta      search.Meta           `json:"meta"`
	Unrounded *search.BytesEstimate `json:"unrounded"` // what the query has read, if the bytes of Meta are rounded
}

// answerOf is an answer of a data route.
type answerOf[Result any] struct {
	Data struct {
		Results []Result `json:"results"`
	} `json:"data"`
	described
}

func ask[Result any](
	ctx context.Context, from Source, route search.Route, params map[string]string,
) (a answerOf[Result], err error) {
	body, err := from.Ask(ctx, string(route), params)
	if err != nil {
		return a, err
	}
	if err = json.Unmarshal(body, &a); err != nil {
		err = fmt.Errorf("read the answer of %s: %w", route, err)
	}
	return a, err
}

// tallyOf returns the counts of an answer.
func tallyOf(a answerOf[answer.FacetResult]) why.Tally {
	var t why.Tally
	if n := a.Meta.NumOfRequests; n != nil {
		t.Requests = *n
	}
	for _, facet := range a.Data.Results {
		for _, v := range facet.Values {
			switch {
			case facet.By == "human" && v.Value == true, facet.By == "bot" && v.Value == false:
				t.People = v.NumOfRequests
			case facet.By == "blocked" && v.Value == true:
				t.Blocked = v.NumOfRequests
			case facet.By == "blocked":
				t.Passed = v.NumOfRequests - v.NumOfChallenges
			case facet.By == "reason" && v.NumOfBlockedRequests > 0:
				t.Rules++
			}
		}
		switch facet.By {
		case "human", "bot":
			t.Known = facet.NumOfRequests
		case "ip":
			t.Addresses = facet.Distinct
		}
	}
	return t
}

// metaOf describes all answers together. The filter and the period are those of the record.
func metaOf(list []described) search.Meta {
	sum := list[0].Meta
	sum.Next, sum.Head = nil, ""
	var read, estimates []*search.Estimate
	cost, paid, exact := 0.0, false, true
	for i, one := range list {
		n := one.Meta.BytesScanned
		read = append(read, &search.Estimate{Bytes: &search.BytesEstimate{Low: n, High: n}, Unrounded: one.Unrounded})
		if one.Meta.Estimate != nil {
			estimates = append(estimates, one.Meta.Estimate)
		}
		if one.Meta.CostUSD != nil {
			cost, paid = cost+*one.Meta.CostUSD, true
		}
		exact = exact && (one.Meta.Exact == nil || *one.Meta.Exact)
		if i == 0 {
			continue
		}
		sum.EngineMS, sum.QueueMS = sum.EngineMS+one.Meta.EngineMS, sum.QueueMS+one.Meta.QueueMS
		sum.ElapsedMS = max(sum.ElapsedMS, list[0].Meta.ElapsedMS+one.Meta.ElapsedMS) // they are asked after the first one, at once
		for _, object := range one.Meta.Skipped {
			if !slices.Contains(sum.Skipped, object) {
				sum.Skipped = append(sum.Skipped, object)
			}
		}
	}
	sum.BytesScanned, sum.Exact = search.Sum(read, 0).Bytes.High, &exact
	sum.Objects, sum.RowsConsidered, sum.ObjectsReused, sum.Cached = nil, nil, 0, nil // of one question each
	if len(estimates) == len(list) {
		sum.Estimate = search.Sum(estimates, 0)
	}
	if paid {
		sum.CostUSD = &cost
	}
	if len(list) > 1 {
		sum.Engine = list[1].Meta.Engine // which reads more than a record
	}
	return sum
}
