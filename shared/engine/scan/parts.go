package scan

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
)

// Part is a share of a query that another process counts: a span of its period, and of a diff one side. The process
// puts what it has counted into a rollup, from which Answer answers the query as from rollups of days.
type Part struct {
	Query   query.Query // about the records of the part
	Objects []lake.Object
	Path    string      // of the rollup in Options.Source
	Counts  query.Sides // of a diff: what a record of the part counts
}

// Crew asks the processes that have counted parts for what their rollups lack.
type Crew interface {
	// Keys returns the keys of columns of topx with these hashes that a part has.
	Keys(ctx context.Context, of Part, wanted map[string][]uint64) (map[string][]rollup.Key, error)
	// Durations returns the counts of the durations of winners of topx, by columns, that a part has: those that
	// DurationsOfPart has returned.
	Durations(ctx context.Context, of Part, winners map[string][]string) (map[string][]byte, error)
	// Texts returns the texts of values of a dimension, whose number is given, that a part has.
	Texts(ctx context.Context, of Part, dimension int, hashes []rollup.Hash) (map[rollup.Hash]string, error)
}

// DividesInParts reports whether a query can be answered from parts.
func DividesInParts(q query.Query) bool {
	switch shape := q.Shape.(type) {
	case query.Stats:
		return shape.By == nil
	case query.Counts:
		return shape.SegmentSeconds%rollup.Minute == 0
	case query.TopX, query.Timeline, query.Facets, query.Histogram, query.Diff:
		return true
	}
	return false
}

// SpansOf returns the time in which records can match a query, divided where the two periods of a diff adjoin.
func SpansOf(q query.Query) []query.Period {
	spans := q.Spans()
	diff, isDiff := q.Shape.(query.Diff)
	if !isDiff || diff.Against.Kind == query.AgainstNothing || len(spans) > 1 {
		return spans
	}
	within := func(p query.Period) query.Period {
		return query.Period{FromMs: max(p.FromMs, spans[0].FromMs), ToMs: min(p.ToMs, spans[0].ToMs)}
	}
	return slices.DeleteFunc([]query.Period{within(q.Period), within(diff.Baseline)}, query.Period.Empty)
}

// PartsOf returns the parts of a query about a span, which is one of SpansOf or a part of it. The different addresses
// of two spans do not add up, so no span may cut a segment of a timeline.
func PartsOf(q query.Query, span query.Period) []Part {
	q.Scope.Period = span
	if topX, ok := q.Shape.(query.TopX); ok {
		topX.Percentiles = false // the crew is asked for the durations of winners later
		q.Shape = topX
	}
	diff, isDiff := q.Shape.(query.Diff)
	if !isDiff {
		return []Part{{Query: q}}
	}
	of := func(conditions []query.Condition, counts query.Sides) Part {
		side := q
		side.Shape, side.Conditions = query.Facets{By: diff.By, Limit: 1}, conditions
		return Part{Query: side, Counts: counts}
	}
	selected := slices.Concat(q.Conditions, diff.Select.Conditions)
	switch {
	case diff.Against.Kind == query.AgainstNothing: // the others are all but the selected records
		return []Part{
			of(q.Conditions, query.Sides{Baseline: 1}), of(selected, query.Sides{Selected: 1, Baseline: -1}),
		}
	case diff.Baseline.FromMs <= span.FromMs && span.ToMs <= diff.Baseline.ToMs:
		return []Part{of(q.Conditions, query.Sides{Baseline: 1})}
	}
	return []Part{of(q.Conditions, query.Sides{Selected: 1})}
}

// start returns the start of a part in Unix seconds, rounded down.
func (p *Part) start() int64 { return query.SegmentStart(p.Query.Scope.FromMs, 1) }

// partSizes are the sizes of the lists of parts. What they lack takes a question to another process.
var partSizes = listSizes{texts: 100, undivided: 2048, known: 800, slowest: 256, blocked: sizes.blocked, few: sizes.few}

// CountPart counts the records of a part, of which q is the query. Errors are those of RollUp, and the one of facets
// with too many values.
func CountPart(
	ctx context.Context, q query.Query, objects []lake.Object, o Options,
) (day *rollup.Day, lists rollup.Lists, _ error) {
	r, groups, end, err := partRun(ctx, q, objects, o)
	if err != nil {
		return nil, lists, err
	}
	defer end()
	r.sizes = partSizes
	start := (&Part{Query: q}).start()
	day = &rollup.Day{Start: start, Objects: identities(objects), HashID: r.key.ID()}
	switch shape := q.Shape.(type) {
	case query.Stats:
		err = r.countHosts(ctx, shape, groups, day, &lists)
	case query.Timeline:
		var t *timeline
		if t, err = r.countTimeline(ctx, nil, groups); err == nil {
			day.Segments = t.rolledUp(shape.SegmentSeconds)
		}
	case query.Histogram:
		err = r.countCells(ctx, shape, groups, &lists)
	case query.Counts:
		err = r.countPart(ctx, shape, groups, &lists)
	case query.TopX:
		err = r.listKeys(ctx, groups, shape.Labels, &lists)
	case query.Facets:
		var requests int64
		requests, err = r.listValues(ctx, groups, shape.By, nil, &lists)
		day.Segments = []rollup.Segment{{Start: start, Seconds: rollup.Hour, Requests: requests}}
	default:
		err = fmt.Errorf("%w: %T has no parts", ErrUnsupported, shape)
	}
	return day, lists, err
}

// partRun begins a scan of the records of a part. The caller must call end, unless there is an error.
func partRun(
	ctx context.Context, q query.Query, objects []lake.Object, o Options,
) (r *run, groups []*group, end func(), _ error) {
	o.Partials = nil
	r = newRun(ctx, q, o)
	groups, err := r.survey(ctx, objects)
	if err != nil {
		r.giveBack()
		return nil, nil, nil, err
	}
	return r, groups, func() { r.end(groups); r.giveBack() }, nil
}

// KeysOfPart returns the keys of columns of topx with these hashes that a part has. Its errors are those of CountPart.
func KeysOfPart(
	ctx context.Context, q query.Query, objects []lake.Object, wanted map[string][]uint64, o Options,
) (map[string][]rollup.Key, error) {
	r, groups, end, err := partRun(ctx, q, objects, o)
	if err != nil {
		return nil, err
	}
	defer end()
	shape, isTopX := q.Shape.(query.TopX)
	if !isTopX {
		return nil, fmt.Errorf("%w: %T has no keys", ErrUnsupported, q.Shape)
	}
	t, err := r.learnKeys(ctx, shape, groups, wanted)
	if err != nil {
		return nil, err
	}
	found := map[string][]rollup.Key{}
	for _, k := range t.keys {
		for _, hash := range wanted[k.column] {
			if key := k.keyOf(hash); key != nil {
				found[k.column] = append(found[k.column], *key)
			}
		}
	}
	return found, nil
}

// TextsOfPart returns the texts of values of a dimension of facets, whose number is given, that a part has. Its errors
// are those of CountPart.
func TextsOfPart(
	ctx context.Context, q query.Query, objects []lake.Object, dimension int, hashes []rollup.Hash, o Options,
) (map[rollup.Hash]string, error) {
	r, groups, end, err := partRun(ctx, q, objects, o)
	if err != nil {
		return nil, err
	}
	defer end()
	shape, isFacets := q.Shape.(query.Facets)
	if !isFacets || dimension < 0 || dimension >= len(shape.By) {
		return nil, fmt.Errorf("%w: %T has no dimension %d", ErrUnsupported, q.Shape, dimension)
	}
	missing, texts := map[textHash]bool{}, map[textHash]string{}
	for _, hash := range hashes {
		missing[textHash{hash.First, hash.Check}] = true
	}
	if err := r.readTexts(ctx, shape.By[dimension], groups, missing, texts); err != nil {
		return nil, err
	}
	found := map[rollup.Hash]string{}
	for hash, text := range texts {
		found[hash.rolledUp()] = text
	}
	return found, nil
}

// countedParts returns the parts with their rollups, as days.
func (r *run) countedParts(parts []Part) (days []rolledUpDay, _ error) {
	paths := make([]string, len(parts))
	for i := range parts {
		paths[i] = parts[i].Path
	}
	r.expectRollups(paths)
	for i := range parts {
		p := &parts[i]
		day, version := r.rollups.day(r.source, p.Path, p.start())
		if day == nil || day.HashID != r.key.ID() || !isOf(day, p.Objects) {
			return nil, fmt.Errorf("%w: the rollup of a part is missing or damaged", ErrUnsupported)
		}
		days = append(days, rolledUpDay{Day: day, path: p.Path, version: version, objects: p.Objects, part: p})
	}
	return days, nil
}

// askKeys asks the crew for keys of parts, which it learns.
func (t *topX) askKeys(ctx context.Context, byPart map[int][]dayKey) error {
	asking, ctx := errgroup.WithContext(ctx)
	var mu sync.Mutex
	for d, wanted := range byPart {
		columns := map[string][]uint64{}
		for _, key := range wanted {
			column := t.keys[key.column].column
			columns[column] = append(columns[column], key.hash)
		}
		asking.Go(func() error {
			found, err := t.run.crew.Keys(ctx, *t.days[d].part, columns)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			for _, key := range wanted {
				t.remember(key, keyWith(found[t.keys[key.column].column], key.hash))
			}
			return nil
		})
	}
	return asking.Wait()
}

func keyWith(keys []rollup.Key, hash uint64) *rollup.Key {
	i := slices.IndexFunc(keys, func(k rollup.Key) bool { return k.Hash.First == hash })
	if i < 0 {
		return nil
	}
	return &keys[i]
}
