// Package scan answers queries by reading the columns of the lake's objects as they are stored. It counts figures
// (stats, timeline, topx, facets, histogram, diff) and finds the newest records (logs). It counts texts by their codes
// in the dictionaries, tests conditions once for an entry of a dictionary and not for every record, and looks at a text
// again only to join row groups. It needs no SQL and no C.
//
// Package query defines the answers, and tests compare them with query/reference. Another engine answers what the scan
// does not support, or what it cannot do within its memory.
package scan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// Options configures a scan.
type Options struct {
	Workers    int   // row groups read at the same time; 0: one per processor
	Memory     int64 // bytes for what an answer keeps, besides one row group per worker; 0: 256 MB
	NoFallback bool  // no other engine is there: the scan also answers queries that another engine answers faster

	Shared *engine.Memory // where Memory is taken from, for the caller of the context; nil: it is not shared
	Pools  *WorkerPools   // whose workers scan; nil: each scan has workers of its own

	Source Source // of the objects of Answer; nil: their paths are of files

	Partials *Partials // figures of earlier scans; nil: none are kept
	Rollups  *Rollups  // of whole days; nil: there are none

	// RolledUp has the names of rollups in Source, by the starts of their days in Unix seconds: that of the only subset that
	// the query is about, or that of all records and, if the query is about several subsets, then those of each of them, ""
	// for none, in the order of RollsUp.
	RolledUp map[int64][]string

	// RolledUpObjects has the names of rollups of objects, by the paths of these.
	RolledUpObjects map[string]string
	// OnlyRollups has the scan fail if rollups lack something, or if many days lack figures of keys. Otherwise it reads
	// the records in their place.
	OnlyRollups bool

	Parts []Part // of the query, besides the objects
	Crew  Crew   // that has counted them

	fromRecords bool                    // although there are rollups
	hash        func(key []byte) uint64 // of texts, for tests
}

const defaultMemory = 256 << 20

// ErrUnsupported reports that another engine must answer the query: the scan needs more memory than allowed, a sum
// passes 64 bits on the way, or an object's records are not in the order of time. Without Options.NoFallback, it is
// also the error if patterns must be tried on very many different texts.
var ErrUnsupported = errors.New("the scan does not support the query")

// ErrBusy is an ErrUnsupported: the memory that the scan needs is allowed, but other queries, usually of the same
// caller, use it now.
var ErrBusy = fmt.Errorf("%w: other queries use the memory", ErrUnsupported)

// maxValues limits the values and patterns in the conditions of a query. Each is compared with every entry of a
// dictionary, so many of them are slow. Lists of manyTexts or more are one value, because they are hashed.
const maxValues = 64

// manyTexts is the length of a list of texts from which on its texts are hashed. Bloom filters exclude few row groups for
// such a list, so a scan answers it faster than an engine that uses them.
const manyTexts = 16

// Supports reports whether Answer is a fast way to answer q: q asks for figures, and its conditions are cheap for a
// scan. With Options.NoFallback, Answer answers other queries for figures, too.
func Supports(q query.Query) bool {
	switch q.Shape.(type) {
	case query.Diff, query.Counts:
		dear := func(s query.Selection) bool { return !cheap(s.Conditions) }
		return cheap(q.Conditions) && !slices.ContainsFunc(q.Selections(), dear)
	case query.Sequences: // its selections exclude no records, so bloom filters are no use to another engine
		dear := func(s query.Selection) bool { return !scanned(s.Conditions) }
		return cheap(q.Conditions) && !slices.ContainsFunc(q.Selections(), dear)
	case query.Stats, query.Timeline, query.TopX, query.Facets, query.Histogram:
		return cheap(q.Conditions)
	}
	return false
}

// SupportsNewest reports whether Newest is a fast way to find the records of q: q asks for logs, and its conditions are
// cheap for a scan, or its period is a moment, which few row groups have. With Options.NoFallback, Newest finds the
// records of other queries for logs, too.
func SupportsNewest(q query.Query) bool {
	_, logs := q.Shape.(query.Logs)
	span := q.TimeBounds().Span()
	return logs && (cheap(q.Conditions) || span.ToMs-span.FromMs < momentMs && scanned(q.Conditions))
}

// momentMs is the length of a period that a row group of a scan contains, but for few.
const momentMs = 1000

// cheap reports whether a scan tests conditions fast: they are few, and on columns with dictionaries. Conditions on
// a few addresses and the like are not for a scan, because an engine with bloom filters reads next to nothing for
// them, unless the records of networks or patterns are wanted, too.
func cheap(conditions []query.Condition) bool {
	return scanned(conditions) && !slices.ContainsFunc(conditions, isBloomed)
}

// isBloomed reports whether bloom filters exclude most row groups without a record that meets a condition.
func isBloomed(c query.Condition) bool {
	if c.Any != nil || len(c.Terms) != 1 || c.Negated {
		return false
	}
	in, exact := c.Terms[0].Test.(query.TextIn)
	stored, ok := parquet.ColumnOf(c.Terms[0].Source.Column, valueMember(c.Terms[0].Source))
	return ok && exact && stored.HasBloomFilter() && len(in.Values) < manyTexts
}

// scanned reports whether conditions are few, and on columns with dictionaries.
func scanned(conditions []query.Condition) bool {
	values := 0
	for _, c := range conditions {
		for _, t := range c.AllTerms() {
			if t.Source.Layout == catalog.Place { // the time decides, except for records of the same millisecond
				continue
			}
			stored, ok := parquet.ColumnOf(t.Source.Column, valueMember(t.Source))
			isText := t.Source.Type == catalog.String || t.Source.Type == catalog.Any
			if !ok || isText && !stored.HasDictionary() {
				return false
			}
			values += valuesOf(t)
		}
	}
	return values <= maxValues
}

// valuesOf returns the number of values or patterns of a term, at least 1.
func valuesOf(t query.Term) int {
	n := 1
	switch test := t.Test.(type) {
	case query.TextIn:
		if n = len(test.Values); n >= manyTexts {
			n = 1
		}
	case query.IntIn:
		n = len(test.Values)
	case query.Matches:
		n = len(test.Patterns)
	}
	return max(n, 1)
}

// Answer answers q, a query for figures, over exactly these objects. It returns the objects that it has read; the
// figures of the others are those of rollups or earlier scans. Cancelling ctx stops it within milliseconds.
//
// Errors: ErrUnsupported, *engine.ObjectError, ctx's own, engine.SegmentDistinctError, and the error of
// query.Diff.CheckValues.
func Answer(
	ctx context.Context, q query.Query, objects []lake.Object, o Options,
) (answer query.Answer, read []lake.Object, err error) {
	answer, read, rolledUp, err := answerOnce(ctx, q, objects, o)
	if rolledUp && errors.Is(err, ErrUnsupported) && !o.OnlyRollups {
		o.fromRecords = true
		answer, read, _, err = answerOnce(ctx, q, objects, o)
	}
	return answer, read, err
}

// answerOnce is Answer that fails if rollups lack something that records have. It reports whether it has used any.
func answerOnce(
	ctx context.Context, q query.Query, objects []lake.Object, o Options,
) (answer query.Answer, read []lake.Object, rolledUp bool, err error) {
	r := newRun(ctx, q, o)
	defer r.giveBack()
	days, objects := r.rolledUp(objects)
	parts, err := r.countedParts(o.Parts)
	if err != nil {
		return answer, nil, true, err
	}
	days = append(days, parts...)
	r.chooseHash(len(days) > 0)
	if err := r.expectSections(days); err != nil {
		return answer, nil, true, err
	}
	groups, err := r.survey(ctx, objects)
	if err != nil {
		return answer, nil, len(days) > 0, err
	}
	answer, err = r.answer(ctx, days, groups)
	objects = slices.Clip(objects) // the caller's
	opened := map[string]bool{}    // two subsets of a day have the same objects
	for _, day := range r.opened {
		groups = append(groups, day.groups...)
		for _, o := range day.objects {
			if !opened[o.Path] {
				objects = append(objects, o)
			}
			opened[o.Path] = true
		}
	}
	r.end(groups)
	if err != nil {
		return query.Answer{}, nil, len(days) > 0, err
	}
	return answer, r.haveRead(objects, groups), len(days) > 0, nil
}

// haveRead returns the objects that a scan has read, and counts row groups. An object without row groups of the period
// counts as read.
func (r *run) haveRead(objects []lake.Object, groups []*group) []lake.Object {
	if r.partials == nil {
		return objects
	}
	spared := map[string]bool{} // by path: no row group was read
	for _, g := range groups {
		before, met := spared[g.file.path]
		spared[g.file.path] = !g.read && (before || !met)
		if g.read {
			r.partials.counted.Add(1)
		} else {
			r.partials.reused.Add(1)
		}
	}
	var read []lake.Object
	for _, o := range objects {
		if !spared[o.Path] {
			read = append(read, o)
		}
	}
	return read
}

// answer answers the query of the scan over row groups and the days that are rolled up.
func (r *run) answer(ctx context.Context, days []rolledUpDay, groups []*group) (query.Answer, error) {
	switch shape := r.query.Shape.(type) {
	case query.Stats:
		rows, err := r.stats(ctx, shape, days, groups)
		return query.Answer{Stats: rows}, err
	case query.Timeline:
		rows, err := r.timeline(ctx, days, groups)
		return query.Answer{Timeline: rows}, err
	case query.TopX:
		rows, err := r.topX(ctx, shape, days, groups)
		if err == nil && shape.Percentiles {
			err = r.addKeyPercentiles(ctx, days, groups, rows)
		}
		return query.Answer{TopX: rows}, err
	case query.Facets:
		facets, err := r.facets(ctx, shape, days, groups)
		return query.Answer{Facets: facets}, err
	case query.Histogram:
		series, err := r.histogram(ctx, shape, days, groups)
		return query.Answer{Histogram: series}, err
	case query.Diff:
		counts, err := r.diff(ctx, shape, days, groups)
		return query.Answer{Diff: counts}, err
	case query.Counts:
		rows, err := r.counts(ctx, shape, days, groups)
		return query.Answer{Counts: rows}, err
	case query.Sequences:
		list, err := r.sequences(ctx, shape, groups)
		return query.Answer{Sequences: list}, err
	}
	panic(fmt.Sprintf("scan: no answer for %T", r.query.Shape))
}
