// Package scan answers figures about traffic (stats, timeline, topx) by reading the columns of the lake's objects as
// they are stored: texts are counted by their codes in the dictionaries, conditions are decided once for an entry and
// not for every record, and a text is looked at again only where row groups meet. It needs no SQL and no C.
//
// Package query defines the figures, and tests compare the answers with query/reference. What the scan cannot answer,
// within its memory or at all, is left to another engine.
package scan

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// Options are what a deployment decides.
type Options struct {
	Workers int   // row groups read at once; 0: one per processor
	Memory  int64 // bytes that an answer may take while it is made, beside a row group per worker; 0: 256 MB
}

const defaultMemory = 256 << 20

// ErrUnsupported reports that another engine must answer the query: the scan would need more memory than allowed, a sum
// passes 64 bits on the way, patterns are tried on very many different texts, or an object's records are not in the
// order of time.
var ErrUnsupported = errors.New("the scan does not support the query")

// maxValues is how many values and patterns the conditions of a query may have: each is compared with every entry of
// a dictionary, which many would make slow.
const maxValues = 64

// Supports reports whether queries like q are for the scan: figures, under few conditions on columns with dictionaries.
// Those about single addresses and the like are not: an engine with bloom filters reads next to nothing for them.
func Supports(q query.Query) bool {
	switch q.Shape.(type) {
	case query.Stats, query.Timeline, query.TopX:
	default:
		return false
	}
	values := 0
	for _, c := range q.Conditions {
		for _, t := range c.Terms {
			stored, ok := parquet.ColumnOf(t.Source.Column, valueMember(t.Source))
			isText := t.Source.Type == catalog.String || t.Source.Type == catalog.Any
			if !ok || isText && !stored.HasDictionary() {
				return false
			}
			if _, exact := t.Test.(query.TextIn); exact && !c.Negated && stored.HasBloomFilter() {
				return false
			}
			values += valuesOf(t)
		}
	}
	return values <= maxValues
}

func valuesOf(t query.Term) int {
	n := 1
	switch test := t.Test.(type) {
	case query.TextIn:
		n = len(test.Values)
	case query.IntIn:
		n = len(test.Values)
	case query.Matches:
		n = len(test.Patterns)
	}
	return max(n, 1)
}

// Answer answers q over exactly these objects, which Supports must accept. Cancelling ctx stops it within
// milliseconds.
//
// Errors: ErrUnsupported, *engine.ObjectError, ctx's own.
func Answer(ctx context.Context, q query.Query, objects []lake.Object, o Options) (query.Answer, error) {
	r := &run{query: q, workers: o.Workers, memory: o.Memory}
	if r.workers == 0 {
		r.workers = runtime.GOMAXPROCS(0)
	}
	if r.memory == 0 {
		r.memory = defaultMemory
	}
	groups, err := r.survey(ctx, objects)
	if err != nil {
		return query.Answer{}, err
	}
	switch shape := q.Shape.(type) {
	case query.Stats:
		rows, err := r.stats(ctx, shape, groups)
		return query.Answer{Stats: rows}, err
	case query.Timeline:
		rows, err := r.timeline(ctx, shape, groups)
		return query.Answer{Timeline: rows}, err
	case query.TopX:
		rows, err := r.topX(ctx, shape, groups)
		return query.Answer{TopX: rows}, err
	}
	panic(fmt.Sprintf("scan: no answer for %T", q.Shape))
}
