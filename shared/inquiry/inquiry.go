// Package inquiry asks the questions to data routes that one answer is made of, such as those of a report.
package inquiry

import (
	"context"
	"encoding/json"

	"github.com/go-faster/jx"
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
func Read(body []byte) (Answer, error) {
	a, _, err := read(body)
	return a, err
}

// read returns an answer and its results, which share the memory of body.
func read(body []byte) (a Answer, results json.RawMessage, err error) {
	var rest struct{ meta, unrounded jx.Raw }
	raw := func(d *jx.Decoder, into *jx.Raw) error {
		var err error
		*into, err = d.Raw()
		return err
	}
	err = jx.DecodeBytes(body).ObjBytes(func(d *jx.Decoder, key []byte) error {
		switch string(key) {
		case "meta":
			return raw(d, &rest.meta)
		case "unrounded":
			return raw(d, &rest.unrounded)
		case "data":
			return d.ObjBytes(func(d *jx.Decoder, key []byte) error {
				if string(key) == "results" {
					return raw(d, (*jx.Raw)(&results))
				}
				return d.Skip()
			})
		}
		return d.Skip()
	})
	if err == nil && rest.meta != nil {
		err = json.Unmarshal(rest.meta, &a.Meta)
	}
	if err == nil && rest.unrounded != nil {
		err = json.Unmarshal(rest.unrounded, &a.Unrounded)
	}
	return a, results, err
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
