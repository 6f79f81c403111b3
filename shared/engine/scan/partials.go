package scan

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
)

// Partials keeps what scans have counted in row groups. If the same question is asked about another period, a scan
// reads only row groups of new objects, and those that this period cuts elsewhere. Partials is safe for concurrent use.
// A nil Partials keeps nothing.
type Partials struct {
	kept            lru[partialKey, partial]
	reused, counted atomic.Int64
}

// NewPartials returns Partials that keep so many bytes at most: those that were used last. One query keeps no more than
// half of them.
func NewPartials(most int64) *Partials {
	return &Partials{kept: lru[partialKey, partial]{most: most}}
}

// PartialCounts are the figures of Partials.
type PartialCounts struct {
	Reused, Counted int64 // row groups since the start: those whose figures were there, and those that were read
	Bytes           int64 // that the figures take now
}

// Counts returns the figures of p.
func (p *Partials) Counts() PartialCounts {
	if p == nil {
		return PartialCounts{}
	}
	bytes, _ := p.kept.sizes()
	return PartialCounts{Reused: p.reused.Load(), Counted: p.counted.Load(), Bytes: bytes}
}

// Forget forgets all figures.
func (p *Partials) Forget() {
	if p != nil {
		p.kept.clear()
	}
}

// partialKey names what a query asks of a row group.
type partialKey struct {
	group    groupID
	cut      query.Period // the part of the row group that is in the period; zero: all of it
	question string
}

// partialKeyBytes is about the memory of a key and its place in the list.
const partialKeyBytes = 256

// partial holds figures of a row group. They are not changed once they are kept; topx adds to what it knows of keys.
type partial interface{ bytes() int64 }

// noRows is the partial of a row group without matching rows.
type noRows struct{}

func (noRows) bytes() int64 { return 0 }

// questions name what the query asks of a row group: its conditions, and what else the partials depend on. There is one
// for topx for each column with keys, one for other shapes that have partials, and none for the rest.
func (r *run) questions() (all []string) {
	switch shape := r.query.Shape.(type) {
	case query.Stats:
		by := "hosts"
		if shape.By != nil {
			by = shape.By.Identity()
		}
		all = append(all, fmt.Sprintf("stats %s %t %t", by, shape.Percentiles, shape.Percentiles && shape.GroupByHostname))
	case query.Timeline:
		all = append(all, "timeline")
	case query.Histogram:
		by := "nothing"
		if shape.By != nil {
			by = shape.By.Identity()
		}
		all = append(all, fmt.Sprintf("histogram of %s by %s", shape.Measure, by))
	case query.Facets:
		all = append(all, "facets"+identityOf(shape.By))
	case query.Diff:
		all = append(all, "diff"+identityOf(shape.By)+"\n"+query.ConditionsIdentity(shape.Select.Conditions)+"\n")
	case query.Counts:
		return []string{r.countsQuestion(shape, r.query.Conditions)}
	case query.TopX:
		for _, part := range partsOf(shape) {
			all = append(all, fmt.Sprintf("topx %s %t", part.Column, ranksByTime(part.Labels)))
		}
	}
	for i := range all {
		all[i] += fmt.Sprintf(" %s %x\n%s", r.query.SegmentsIdentity(), r.hashID(), r.conditions)
	}
	return all
}

// countsQuestion names what counts with conditions ask of a row group.
func (r *run) countsQuestion(shape query.Counts, conditions []query.Condition) string {
	return fmt.Sprintf("counts %s\n %x\n%s", shape, r.hashID(), query.ConditionsIdentity(conditions))
}

func identityOf(dimensions []query.Dimension) (id string) {
	for _, d := range dimensions {
		id += ", " + d.Identity()
	}
	return id
}

// partialOf returns what is kept of a row group, or nil.
func (r *run) partialOf(g *group, question string) partial {
	cut, ok := r.cut(g)
	if r.partials == nil || !ok {
		return nil
	}
	p, _ := r.partials.kept.find(partialKey{g.id(), cut, question})
	return p
}

// cut returns the part of a row group that is within the reach of the query; zero for all of it. It is false if two
// spans of the reach have a part each.
func (r *run) cut(g *group) (part query.Period, ok bool) {
	if r.covers(g) {
		return query.Period{}, true
	}
	for _, span := range r.reach.Spans() {
		if g.MinTsMs > span.ToMs || g.MaxTsMs < span.FromMs {
			continue
		}
		if ok {
			return query.Period{}, false
		}
		part, ok = query.Period{FromMs: max(span.FromMs, g.MinTsMs), ToMs: min(span.ToMs, g.MaxTsMs)}, true
	}
	return part, ok
}

// mayKeep reports whether the figures of a row group may be kept.
func (r *run) mayKeep(g *group) bool {
	_, ok := r.cut(g)
	return ok && r.partials != nil
}

// keptOf returns the partials that are kept and usable, and the row groups that must be read. If usable is nil, all are
// usable.
func keptOf[P partial](r *run, groups []*group, question string, usable func(P) bool) (kept []P, left []*group) {
	for _, g := range groups {
		of := r.partialOf(g, question)
		if of == (noRows{}) {
			continue
		}
		if p, ok := of.(P); ok && (usable == nil || usable(p)) {
			kept = append(kept, p)
		} else {
			left = append(left, g)
		}
	}
	return kept, left
}

// mayStore reports whether a partial of so many bytes may be kept, so that the query does not keep more than its share.
// It counts the bytes as kept.
func (r *run) mayStore(g *group, bytes int64) bool {
	return r.mayKeep(g) && r.isOfItsShare(bytes)
}

// isOfItsShare reports whether the query may keep a partial of so many bytes besides the others. It counts them as
// kept.
func (r *run) isOfItsShare(bytes int64) bool {
	bytes += partialKeyBytes
	if r.stored.Add(bytes) > r.partials.kept.most/2 {
		r.stored.Add(-bytes)
		return false
	}
	return true
}

// store keeps a partial of a row group, in place of one that is kept already.
func (r *run) store(g *group, question string, p partial) {
	cut, _ := r.cut(g)
	r.partials.kept.add(partialKey{g.id(), cut, question}, p, p.bytes()+partialKeyBytes)
}

// storeIf keeps a partial if it may be kept.
func (r *run) storeIf(g *group, question string, p partial) {
	if r.partials != nil && r.mayStore(g, p.bytes()) {
		r.store(g, question, p)
	}
}

// covers reports whether all times of a row group are within the reach of the query.
func (r *run) covers(g *group) bool { return r.coversTimes(g.MinTsMs, g.MaxTsMs) }

func (r *run) coversTimes(minMs, maxMs int64) bool {
	for _, span := range r.reach.Spans() {
		if span.FromMs <= minMs && maxMs <= span.ToMs {
			return true
		}
	}
	return false
}

// counting is a pass that finds partials of type P.
type counting[P partial] struct {
	question string                                   // "": no partials are kept
	anyOrder bool                                     // rows may be out of the order of time
	usable   func(P) bool                             // reports whether a partial that was kept can be used; nil: always
	count    func(w *worker, rows []int32) (P, error) // makes the partial of the matching rows of a row group
	join     func(P) error                            // adds a partial to the answer
}

// run joins the partials of all row groups: those that are kept, and those that it counts and then keeps.
func (c counting[P]) run(ctx context.Context, r *run, groups []*group) error {
	kept, left := []P(nil), groups
	if c.question != "" {
		kept, left = keptOf(r, groups, c.question, c.usable)
	}
	if err := r.each(ctx, len(kept), func(_ *worker, i int) error { return c.join(kept[i]) }); err != nil {
		return err
	}
	return r.scan(ctx, left, func(w *worker, i int) error {
		rows, err := w.chosen()
		if err != nil && (!c.anyOrder || !errors.Is(err, errOrder)) {
			return err
		}
		if len(rows) == 0 {
			c.store(r, left[i], noRows{})
			return nil
		}
		p, err := c.count(w, rows)
		if err != nil {
			return err
		}
		c.store(r, left[i], p)
		return c.join(p)
	})
}

func (c counting[P]) store(r *run, g *group, p partial) {
	if c.question != "" {
		r.storeIf(g, c.question, p)
	}
}

// ToRead returns the objects that Answer would read for q: those that are not rolled up and have a row group whose
// figures are not kept. It does not open objects. Answer may have to read further ones, for keys of topx that come
// first for the first time.
func ToRead(ctx context.Context, q query.Query, objects []lake.Object, o Options) []lake.Object {
	r := newRun(ctx, q, o)
	defer r.giveBack()
	days, objects := r.rolledUp(objects)
	r.chooseHash(len(days) > 0)
	questions := r.questions()
	if shape, ok := q.Shape.(query.TopX); ok && shape.Percentiles { // they are not kept
		return objects
	}
	if r.partials == nil || len(questions) == 0 {
		return objects
	}
	return slices.DeleteFunc(slices.Clone(objects), func(object lake.Object) bool { return r.hasKept(object, questions) })
}

// RollsUp reports whether rollups can answer q, and of which subsets they must be; none: of all records.
func RollsUp(ctx context.Context, q query.Query) (of []rollup.Subset, ok bool) {
	r := newRun(ctx, q, Options{Rollups: NewRollups("")})
	defer r.giveBack()
	return r.subsets, r.rollsUp()
}

// Unrolled returns the objects that are not rolled up for q, and how many bytes of the rollups of the others Answer
// reads.
func Unrolled(ctx context.Context, q query.Query, objects []lake.Object, o Options) (rest []lake.Object, bytes int64) {
	r := newRun(ctx, q, o)
	defer r.giveBack()
	days, rest := r.rolledUp(objects)
	for _, parts := range r.sectionsOf(days) {
		for _, part := range parts {
			bytes += part.Length
		}
	}
	return rest, bytes
}

// hasKept reports whether the partials of all row groups of an object are kept. It is false if the object was not
// opened yet.
func (r *run) hasKept(object lake.Object, questions []string) bool {
	info, err := os.Stat(object.Path)
	if err != nil {
		return false
	}
	version := versionOf(object.Path, info)
	footer, known := footers.find(version)
	if !known {
		return false
	}
	groups := r.groups(footer, version)
	for _, g := range groups {
		if m := r.minutes; m != nil && r.partialOf(g, m.question) != nil {
			continue
		}
		if slices.ContainsFunc(questions, func(question string) bool { return r.partialOf(g, question) == nil }) {
			return false
		}
	}
	return len(groups) > 0
}
