// Package inquiry asks the questions to data routes that one answer is made of, such as those of a report.
package inquiry

import (
	"context"
	"encoding/json"

	"golang.org/x/sync/errgroup"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

// Source answers questions, with all limits and permissions of other questions of the same caller.
type Source interface {
	// Ask returns the answer of a data route in JSON. The error says to a reader why there is none.
	Ask(ctx context.Context, route string, params map[string]string) ([]byte, error)
}

// Few is the number of questions that are asked at the same time where all would be too many. A server on one machine
// runs a few queries at once. Its queue is shared by all callers, and one caller gets half of it at most: all questions
// of two reports of a key would fill that half, and a refused question is a missing part.
const Few = 4

// Many is the number of questions that a deployment asks at the same time. Athena's quota of an account counts queries
// that run and those that wait, 20 or more of all kinds: all questions of two reports would exceed it, and other
// queries be refused meanwhile.
const Many = 8

// Answer is what an answer of a Source has besides its results.
type Answer struct {
	Meta search.Meta `json:"meta"`
	// Unrounded is what the query has read or would read; nil if the bytes of Meta are not rounded.
	Unrounded *search.BytesEstimate `json:"unrounded"`
}

// Scanned returns what the query has read, for search.Sum.
func (a Answer) Scanned() *search.Estimate {
	n := a.Meta.BytesScanned
	return &search.Estimate{Bytes: &search.BytesEstimate{Low: n, High: n}, Unrounded: a.Unrounded}
}

// Read reads an answer of a Source.
func Read(body []byte) (a Answer, err error) {
	err = json.Unmarshal(body, &a)
	return a, err
}

// Each calls a function with each index below n in their order, for atOnce of them at the same time; 0: for all.
func Each(n, atOnce int, ask func(i int)) {
	var group errgroup.Group
	if atOnce > 0 {
		group.SetLimit(atOnce)
	}
	for i := range n {
		group.Go(func() error { ask(i); return nil })
	}
	_ = group.Wait() // the functions return no errors
}

// Bind returns a filter that has a period as a query, and its canonical conditions without the period. The error is a
// *query.FilterError.
func Bind(f filter.Filter, clock query.Option) (q query.Query, conditions string, err error) {
	q, err = query.Bind(f, query.Timeline{}, clock)
	if err != nil {
		return q, "", err
	}
	rest := q.Filter
	rest.Conditions = rest.Conditions[1:] // the canonical form begins with the period
	return q, filter.Format(rest), nil
}
