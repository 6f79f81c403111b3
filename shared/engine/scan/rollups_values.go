package scan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
)

// facetsOfDays answers facets over days that are rolled up and row groups. The values of both are matched by their
// hashes, part by part, so that the values of long periods need little memory. Only the values of the answer need
// texts.
func (r *run) facetsOfDays(
	ctx context.Context, shape query.Facets, days []rolledUpDay, groups []*group,
) (query.FacetsAnswer, error) {
	f := newFacets(r, shape.By, flagsOfRows, addFlagged)
	f.question = r.questions()[0]
	all := make([]joinedFacet, len(shape.By))
	joined, err := joinDays(ctx, f, days, groups, joining[query.Flagged]{
		of: func(rolledUpDay) func(*rollup.Value) query.Flagged {
			return func(v *rollup.Value) query.Flagged { return v.Flagged }
		},
		add: func(to *query.Flagged, n query.Flagged) {
			to.Requests += n.Requests
			to.Blocked += n.Blocked
			to.Challenges += n.Challenges
			to.Monitored += n.Monitored
			to.Human += n.Human
		},
		take: func(i int, totals []valueTotal[query.Flagged]) error { return all[i].take(totals, shape) },
	})
	if err != nil {
		return query.FacetsAnswer{}, err
	}
	answer := query.FacetsAnswer{Requests: f.all.Requests, Facets: make([]query.Facet, len(all))}
	for _, day := range days {
		answer.Requests += day.Requests()
	}
	if answer.Requests == 0 {
		return query.FacetsAnswer{}, nil
	}
	for i := range all {
		texts, err := joined[i].findTexts(ctx, days, hashesOf(all[i].first))
		if err != nil {
			return query.FacetsAnswer{}, err
		}
		answer.Facets[i] = all[i].answer(texts, shape)
		answer.Facets[i].Requests = f.by[i].present.Requests
		for _, head := range joined[i].heads {
			answer.Facets[i].Requests += head.Requests
		}
	}
	return answer, nil
}

// valueTotal is a value with its counts in the whole period.
type valueTotal[C any] struct {
	textHash
	counts C
}

const valueTotalBytes = 56

func hashesOf[C any](totals []valueTotal[C]) []textHash {
	hashes := make([]textHash, len(totals))
	for i := range totals {
		hashes[i] = totals[i].textHash
	}
	return hashes
}

// joining says how the values of days and row groups are joined, in counts of type C.
type joining[C any] struct {
	of   func(day rolledUpDay) func(*rollup.Value) C
	add  func(to *C, n C)
	take func(dimension int, totals []valueTotal[C]) error // gets all values of a dimension, part by part
}

// joinDays joins the values of all dimensions.
func joinDays[C any](
	ctx context.Context, f *facets[C], days []rolledUpDay, groups []*group, how joining[C],
) ([]joinedValues[C], error) {
	all := make([]joinedValues[C], len(f.by))
	err := f.count(ctx, groups, func(i int, values *counted[C]) error {
		for slot := range values.table.slots {
			of := &values.table.slots[slot]
			of.check = textHash{of.hash, of.check}.short().check
		}
		all[i].counted = append(all[i].counted, countedValues[C]{values.table, values.texts, values.counts})
		return f.run.reserve(values.bytes())
	})
	if err != nil {
		return nil, err
	}
	var different atomic.Int64
	return all, f.run.each(ctx, len(all), func(w *worker, i int) error {
		j := &all[i]
		j.run, j.dimension, j.number = f.run, f.by[i].dimension, i
		return j.join(w, days, how, func(totals []valueTotal[C]) error {
			if different.Add(int64(len(totals))) > maxDistinct {
				return engine.DistinctError(query.MaxDistinct)
			}
			return how.take(i, totals)
		})
	})
}

// countedValues are values that were counted in row groups.
type countedValues[C any] struct {
	table  textTable // of short hashes
	texts  query.PackedTexts
	counts []C // by the places of the table
}

// short returns the part of a hash that stands for a value in rollups.
func (h textHash) short() textHash {
	short := h.rolledUp().Short()
	return textHash{short.First, short.Check}
}

// joinedValues joins the values of a dimension.
type joinedValues[C any] struct {
	run       *run
	dimension query.Dimension
	number    int // of the dimension
	counted   []countedValues[C]
	heads     []rollup.ValuesHead      // of each day
	texts     []map[rollup.Hash]string // that the days tell
}

// join joins the values, part by part.
func (j *joinedValues[C]) join(
	w *worker, days []rolledUpDay, how joining[C], take func([]valueTotal[C]) error,
) error {
	bits := uint(0)
	undivided := make([]rollup.ValuesPart, len(days))
	j.heads = make([]rollup.ValuesHead, len(days))
	for i, day := range days {
		var err error
		if j.heads[i], err = j.head(day); err != nil {
			return err
		}
		if day.whole != nil && day.whole.HasSection(rollup.ValuesName(j.dimension)) {
			if _, err := j.head(*day.whole); err != nil {
				return err
			}
		}
		bits = max(bits, j.heads[i].PartBits)
		if j.heads[i].PartBits == 0 {
			if undivided[i], err = j.part(day, 0, j.run.ownSection); err != nil {
				return err
			}
		}
	}
	held := reservation{run: j.run}
	defer held.free()
	p := valuesOfPart[C]{joining: how}
	for part := range 1 << bits {
		p.clear()
		for i, day := range days {
			if w.ctx.Err() != nil {
				return context.Cause(w.ctx)
			}
			values := undivided[i]
			if j.heads[i].PartBits > 0 {
				var err error
				if values, err = j.part(day, part, w.nextSection()); err != nil {
					return err
				}
			}
			countsOf := how.of(day)
			err := values.Each(func(v *rollup.Value) {
				if v.Part(bits) == part {
					p.count(textHash{v.First, v.Check}, countsOf(v))
				}
			})
			if err != nil {
				return unusable(err)
			}
			if err := held.hold(p.table.bytes() + int64(cap(p.totals))*valueTotalBytes); err != nil {
				return err
			}
		}
		for i := range j.counted {
			for place, hash := range j.counted[i].table.hashes() {
				if hash.rolledUp().Part(bits) == part {
					p.count(hash, j.counted[i].counts[place])
				}
			}
		}
		if err := take(p.totals); err != nil {
			return err
		}
	}
	return nil
}

// head reads what a day tells about its values, and keeps the texts.
func (j *joinedValues[C]) head(day rolledUpDay) (head rollup.ValuesHead, _ error) {
	content, err := j.run.section(day, rollup.ValuesName(j.dimension), nil)
	if err != nil {
		return head, err
	}
	if head, err = rollup.DecodeValuesHead(content); err != nil {
		return head, unusable(err)
	}
	j.texts = append(j.texts, head.Texts)
	return head, nil
}

// part reads a part of the values of a day.
func (j *joinedValues[C]) part(
	day rolledUpDay, part int, read func(day rolledUpDay, name string) ([]byte, error),
) (of rollup.ValuesPart, err error) {
	whole := day
	if name := rollup.PlacesName(j.dimension, part); day.whole != nil && day.HasSection(name) {
		whole = *day.whole
		if of.Places, err = read(day, name); err != nil {
			return of, err
		}
	}
	of.Values, err = read(whole, rollup.ValuesPartName(j.dimension, part))
	return of, err
}

// valuesOfPart are the values of one part.
type valuesOfPart[C any] struct {
	joining[C]
	table  textTable
	totals []valueTotal[C]
}

// clear removes all values. Their memory is used again.
func (p *valuesOfPart[C]) clear() {
	clear(p.table.slots)
	p.table.n, p.totals = 0, p.totals[:0]
}

func (p *valuesOfPart[C]) count(hash textHash, n C) {
	place := p.table.add(hash)
	if place == len(p.totals) {
		p.totals = append(p.totals, valueTotal[C]{hash, n})
		return
	}
	p.add(&p.totals[place].counts, n)
}

// findTexts finds the texts of values: in the values that were counted, in the rollups, or in the records of days that
// have them.
func (j *joinedValues[C]) findTexts(
	ctx context.Context, days []rolledUpDay, hashes []textHash,
) (texts map[textHash]string, _ error) {
	texts = map[textHash]string{}
	missing := map[textHash]bool{}
	for _, hash := range hashes {
		if text, found := j.textOf(hash); found {
			texts[hash] = text
		} else {
			missing[hash] = true
		}
	}
	for i := range days {
		if len(missing) == 0 {
			return texts, nil
		}
		has, err := j.has(days[i], i, missing)
		if err != nil {
			return nil, err
		}
		if !has {
			continue
		}
		if err := j.learnTexts(ctx, &days[i], missing, texts); err != nil {
			return nil, err
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("%w: the texts of %d values of rollups are nowhere", ErrUnsupported, len(missing))
	}
	return texts, nil
}

func (j *joinedValues[C]) textOf(hash textHash) (text string, found bool) {
	for i := range j.counted {
		of := &j.counted[i]
		if of.table.n == 0 {
			continue
		}
		if slot := of.table.slot(hash); slot.place != 0 {
			return string(of.texts.At(slot.place - 1)), true
		}
	}
	for _, texts := range j.texts {
		if text, found := texts[hash.rolledUp()]; found {
			return text, true
		}
	}
	return "", false
}

// has reports whether a day has any of some values.
func (j *joinedValues[C]) has(day rolledUpDay, i int, values map[textHash]bool) (has bool, _ error) {
	parts := map[int]bool{}
	for hash := range values {
		parts[hash.rolledUp().Part(j.heads[i].PartBits)] = true
	}
	for part := range parts {
		of, err := j.part(day, part, j.run.ownSection)
		if err != nil {
			return false, err
		}
		err = of.Each(func(v *rollup.Value) { has = has || values[textHash{v.First, v.Check}] })
		if err != nil {
			return false, unusable(err)
		}
	}
	return has, nil
}

// learnTexts looks for missing texts in the records of a day.
func (j *joinedValues[C]) learnTexts(
	ctx context.Context, day *rolledUpDay, missing map[textHash]bool, texts map[textHash]string,
) error {
	if day.part == nil {
		if err := j.run.open(ctx, day); err != nil {
			return err
		}
		return j.run.readTexts(ctx, j.dimension, day.groups, missing, texts)
	}
	var hashes []rollup.Hash
	for hash := range missing {
		hashes = append(hashes, hash.rolledUp())
	}
	found, err := j.run.crew.Texts(ctx, *day.part, j.number, hashes)
	for hash, text := range found {
		known := textHash{hash.First, hash.Check}
		texts[known] = text
		delete(missing, known)
	}
	return err
}

// readTexts looks for missing texts of values of a dimension in row groups.
func (r *run) readTexts(
	ctx context.Context, d query.Dimension, groups []*group, missing map[textHash]bool, texts map[textHash]string,
) error {
	var mu sync.Mutex
	lacks := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(missing) > 0
	}
	return r.scan(ctx, groups, func(w *worker, _ int) error {
		if !lacks() {
			return nil
		}
		of, err := w.elementsOf(d)
		if err != nil {
			return err
		}
		w.meet(of.entries, func(int32) bool { return true })
		mu.Lock()
		defer mu.Unlock()
		for i, code := range w.met {
			if hash := w.hashes[i].short(); missing[hash] {
				texts[hash] = string(of.entries.At(code))
				delete(missing, hash)
			}
		}
		return nil
	})
}

// joinedFacet holds the values that can be in the answer.
type joinedFacet struct {
	query.Facet // without its values
	first       []valueTotal[query.Flagged]
}

// mostTied is the most values with the same counts that are compared by their texts.
const mostTied = 10_000

// take takes the values of a part that can be in the answer.
func (f *joinedFacet) take(totals []valueTotal[query.Flagged], shape query.Facets) error {
	compare := orderOf(shape)
	f.Distinct += int64(len(totals))
	full := len(f.first) >= shape.Limit
	for i := range totals {
		t := &totals[i]
		f.Sum += t.counts.Requests
		f.SumBlocked += t.counts.Blocked
		if !full || compare(t.counts, f.first[shape.Limit-1].counts) <= 0 {
			f.first = append(f.first, *t)
		}
	}
	slices.SortFunc(f.first, func(a, b valueTotal[query.Flagged]) int { return compare(a.counts, b.counts) })
	end := min(shape.Limit, len(f.first))
	for end < len(f.first) && end > 0 && compare(f.first[end].counts, f.first[end-1].counts) == 0 {
		end++
	}
	if end > shape.Limit+mostTied {
		return fmt.Errorf("%w: %d values have the same counts", ErrUnsupported, end-shape.Limit)
	}
	f.first = slices.Clip(f.first[:end:end])
	return nil
}

// answer returns the facet with its values.
func (f *joinedFacet) answer(texts map[textHash]string, shape query.Facets) query.Facet {
	compare := orderOf(shape)
	slices.SortFunc(f.first, func(a, b valueTotal[query.Flagged]) int {
		return cmp.Or(compare(a.counts, b.counts), cmp.Compare(texts[a.textHash], texts[b.textHash]))
	})
	facet := f.Facet
	for _, v := range f.first[:min(len(f.first), shape.Limit)] {
		facet.Values = append(facet.Values, query.FacetValue{Value: texts[v.textHash], Flagged: v.counts})
	}
	return facet
}
