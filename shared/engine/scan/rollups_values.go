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
// hashes, part by part, so that the values of long periods need little memory. Only the values of the answer need texts.
func (r *run) facetsOfDays(
	ctx context.Context, shape query.Facets, days []rolledUpDay, groups []*group,
) (query.FacetsAnswer, error) {
	all := make([]joinedValues, len(shape.By))
	f := newFacets(r, shape.By, flagsOfRows, addFlagged)
	f.question = r.questions()[0]
	err := f.count(ctx, groups, func(i int, values *counted[query.Flagged]) error {
		for slot := range values.table.slots {
			of := &values.table.slots[slot]
			of.check = textHash{of.hash, of.check}.short().check
		}
		all[i].counted = append(all[i].counted, countedValues{values.table, values.texts, values.counts})
		return r.reserve(values.bytes())
	})
	if err != nil {
		return query.FacetsAnswer{}, err
	}
	answer := query.FacetsAnswer{Requests: f.all.Requests, Facets: make([]query.Facet, len(all))}
	for _, day := range days {
		answer.Requests += day.Requests()
	}
	var different atomic.Int64
	err = r.each(ctx, len(all), func(w *worker, i int) error {
		all[i].run, all[i].dimension, all[i].shape = r, shape.By[i], shape
		if err := all[i].join(w, days); err != nil {
			return err
		}
		if different.Add(all[i].facet.Distinct) > maxDistinct {
			return engine.DistinctError(query.MaxDistinct)
		}
		return nil
	})
	if err != nil {
		return query.FacetsAnswer{}, err
	}
	for i := range all {
		if err := all[i].findTexts(ctx, days); err != nil {
			return query.FacetsAnswer{}, err
		}
		answer.Facets[i] = all[i].answer()
		answer.Facets[i].Requests += f.by[i].present.Requests
	}
	return answer, nil
}

// countedValues are values that were counted in row groups.
type countedValues struct {
	table  textTable // of short hashes
	texts  textList
	counts []query.Flagged // by the places of the table
}

// joinedValues joins the values of a dimension.
type joinedValues struct {
	run       *run
	dimension query.Dimension
	shape     query.Facets
	counted   []countedValues
	heads     []rollup.ValuesHead // of each day

	facet query.Facet  // without its values
	first []valueTotal // that can be in the answer
	texts map[textHash]string
}

// valueTotal is a value with its requests of the whole period.
type valueTotal struct {
	textHash
	query.Flagged
}

const valueTotalBytes = 56

// short returns the part of a hash that stands for a value in rollups.
func (h textHash) short() textHash {
	short := h.rolledUp().Short()
	return textHash{short.First, short.Check}
}

// mostTied is the most values with the same counts that are compared by their texts.
const mostTied = 10_000

// join joins the values, part by part.
func (j *joinedValues) join(w *worker, days []rolledUpDay) error {
	bits := uint(0)
	whole := make([][]byte, len(days)) // the values of days that are not divided
	j.heads = make([]rollup.ValuesHead, len(days))
	for i, day := range days {
		content, err := j.run.section(day, rollup.ValuesName(j.dimension), nil)
		if err != nil {
			return err
		}
		if j.heads[i], err = rollup.DecodeValuesHead(content); err != nil {
			return unusable(err)
		}
		j.facet.Requests += j.heads[i].Requests
		bits = max(bits, j.heads[i].PartBits)
		if j.heads[i].PartBits == 0 {
			if whole[i], err = j.run.section(day, rollup.ValuesPartName(j.dimension, 0), nil); err != nil {
				return err
			}
		}
	}
	held := reservation{run: j.run}
	defer held.free()
	p := valuesOfPart{held: &held}
	for part := range 1 << bits {
		p.clear()
		name := rollup.ValuesPartName(j.dimension, part)
		for i, day := range days {
			if w.ctx.Err() != nil {
				return context.Cause(w.ctx)
			}
			content := whole[i]
			if content == nil {
				var err error
				if content, err = w.section(0, day, name); err != nil {
					return err
				}
			}
			if err := p.addRolledUp(content, bits, part); err != nil {
				return err
			}
		}
		for i := range j.counted {
			for place, hash := range j.counted[i].table.hashes() {
				if hash.rolledUp().Part(bits) == part {
					p.add(hash, &j.counted[i].counts[place])
				}
			}
		}
		if err := j.take(p.totals); err != nil {
			return err
		}
	}
	return nil
}

// valuesOfPart are the values of one part.
type valuesOfPart struct {
	held   *reservation
	table  textTable
	totals []valueTotal
}

// clear removes all values. Their memory is used again.
func (p *valuesOfPart) clear() {
	clear(p.table.slots)
	p.table.n, p.totals = 0, p.totals[:0]
}

func (p *valuesOfPart) addRolledUp(content []byte, bits uint, part int) error {
	err := rollup.EachValue(content, func(v *rollup.Value) {
		if v.Part(bits) == part {
			p.add(textHash{v.First, v.Check}, &v.Flagged)
		}
	})
	if err != nil {
		return unusable(err)
	}
	return p.held.hold(p.table.bytes() + int64(cap(p.totals))*valueTotalBytes)
}

func (p *valuesOfPart) add(hash textHash, n *query.Flagged) {
	place := p.table.add(hash)
	if place == len(p.totals) {
		p.totals = append(p.totals, valueTotal{hash, *n})
		return
	}
	to := &p.totals[place]
	to.Requests += n.Requests
	to.Blocked += n.Blocked
	to.Challenges += n.Challenges
	to.Monitored += n.Monitored
	to.Human += n.Human
}

// take takes the values of a part that can be in the answer.
func (j *joinedValues) take(totals []valueTotal) error {
	compare := orderOf(j.shape)
	j.facet.Distinct += int64(len(totals))
	full := len(j.first) >= j.shape.Limit
	for i := range totals {
		t := &totals[i]
		j.facet.Sum += t.Requests
		j.facet.SumBlocked += t.Blocked
		if !full || compare(t.Flagged, j.first[j.shape.Limit-1].Flagged) <= 0 {
			j.first = append(j.first, *t)
		}
	}
	slices.SortFunc(j.first, func(a, b valueTotal) int { return compare(a.Flagged, b.Flagged) })
	end := min(j.shape.Limit, len(j.first))
	for end < len(j.first) && end > 0 && compare(j.first[end].Flagged, j.first[end-1].Flagged) == 0 {
		end++
	}
	if end > j.shape.Limit+mostTied {
		return fmt.Errorf("%w: %d values have the same counts", ErrUnsupported, end-j.shape.Limit)
	}
	j.first = slices.Clip(j.first[:end:end])
	return nil
}

// findTexts finds the texts of the values that can be in the answer: in the values that were counted, in the rollups, or
// in the records of days that have them.
func (j *joinedValues) findTexts(ctx context.Context, days []rolledUpDay) error {
	j.texts = map[textHash]string{}
	missing := map[textHash]bool{}
	for _, v := range j.first {
		if text, found := j.textOf(v.textHash); found {
			j.texts[v.textHash] = text
		} else {
			missing[v.textHash] = true
		}
	}
	for i := range days {
		if len(missing) == 0 {
			return nil
		}
		has, err := j.has(days[i], i, missing)
		if err != nil {
			return err
		}
		if !has {
			continue
		}
		if err := j.run.open(ctx, &days[i]); err != nil {
			return err
		}
		if err := j.readTexts(ctx, days[i].groups, missing); err != nil {
			return err
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%w: the texts of %d values of rollups are nowhere", ErrUnsupported, len(missing))
	}
	return nil
}

func (j *joinedValues) textOf(hash textHash) (text string, found bool) {
	for i := range j.counted {
		of := &j.counted[i]
		if of.table.n == 0 {
			continue
		}
		if slot := of.table.slot(hash); slot.place != 0 {
			return string(of.texts.At(slot.place - 1)), true
		}
	}
	for _, head := range j.heads {
		if text, found := head.Texts[hash.rolledUp()]; found {
			return text, true
		}
	}
	return "", false
}

// has reports whether a day has any of some values.
func (j *joinedValues) has(day rolledUpDay, i int, values map[textHash]bool) (has bool, _ error) {
	parts := map[int]bool{}
	for hash := range values {
		parts[hash.rolledUp().Part(j.heads[i].PartBits)] = true
	}
	for part := range parts {
		content, err := j.run.section(day, rollup.ValuesPartName(j.dimension, part), nil)
		if err != nil {
			return false, err
		}
		err = rollup.EachValue(content, func(v *rollup.Value) { has = has || values[textHash{v.First, v.Check}] })
		if err != nil {
			return false, unusable(err)
		}
	}
	return has, nil
}

// readTexts looks for missing texts in row groups.
func (j *joinedValues) readTexts(ctx context.Context, groups []*group, missing map[textHash]bool) error {
	var mu sync.Mutex
	lacks := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(missing) > 0
	}
	return j.run.scan(ctx, groups, func(w *worker, _ int) error {
		if !lacks() {
			return nil
		}
		of, err := w.elementsOf(j.dimension)
		if err != nil {
			return err
		}
		w.meet(of.entries, func(int32) bool { return true })
		mu.Lock()
		defer mu.Unlock()
		for i, code := range w.met {
			if hash := w.hashes[i].short(); missing[hash] {
				j.texts[hash] = string(of.entries.At(code))
				delete(missing, hash)
			}
		}
		return nil
	})
}

// answer returns the facet.
func (j *joinedValues) answer() query.Facet {
	compare := orderOf(j.shape)
	slices.SortFunc(j.first, func(a, b valueTotal) int {
		return cmp.Or(compare(a.Flagged, b.Flagged), cmp.Compare(j.texts[a.textHash], j.texts[b.textHash]))
	})
	facet := j.facet
	for _, v := range j.first[:min(len(j.first), j.shape.Limit)] {
		facet.Values = append(facet.Values, query.FacetValue{Value: j.texts[v.textHash], Flagged: v.Flagged})
	}
	return facet
}
