package scan

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
)

// diffOfDays answers a diff of two periods over days that are rolled up and row groups. The answer has only the values
// that are findings.
func diffOfDays(
	ctx context.Context, f *facets[query.Sides], shape query.Diff, days []rolledUpDay, groups []*group,
) (query.DiffAnswer, error) {
	all := query.DiffAnswer{Terms: make([]query.DiffTerm, len(f.by))} // with hashes instead of texts
	sidesOf := func(day rolledUpDay) (one query.Sides) {              // of a request
		if day.part != nil {
			return day.part.Counts
		}
		if first, _ := day.Times(); shape.Baseline.FromMs <= first && first <= shape.Baseline.ToMs {
			return query.Sides{Baseline: 1}
		}
		return query.Sides{Selected: 1}
	}
	times := func(n int64, one query.Sides) query.Sides {
		return query.Sides{Selected: n * one.Selected, Baseline: n * one.Baseline}
	}
	add := func(to *query.Sides, n query.Sides) {
		to.Selected, to.Baseline = to.Selected+n.Selected, to.Baseline+n.Baseline
	}
	var frequent atomic.Int64
	joined, err := joinDays(ctx, f, days, groups, joining[query.Sides]{
		of: func(day rolledUpDay) func(*rollup.Value) query.Sides {
			one := sidesOf(day)
			return func(v *rollup.Value) query.Sides { return times(v.Requests, one) }
		},
		add: add,
		take: func(i int, totals []valueTotal[query.Sides]) error {
			t := &all.Terms[i]
			t.Distinct += int64(len(totals))
			before := len(t.Values)
			for _, v := range totals {
				if shape.Frequent(v.counts) {
					t.Values = append(t.Values, query.DiffValue{Value: v.placeholder(), Sides: v.counts})
				}
			}
			return shape.CheckValues(int(frequent.Add(int64(len(t.Values) - before))))
		},
	})
	if err != nil {
		return query.DiffAnswer{}, err
	}
	all.Requests = f.all
	for _, day := range days {
		add(&all.Requests, times(day.Requests(), sidesOf(day)))
	}
	if all.Requests == (query.Sides{}) {
		return query.DiffAnswer{}, nil
	}
	found, err := findings(shape, all)
	if err != nil {
		return query.DiffAnswer{}, err
	}
	for i := range all.Terms {
		t := &all.Terms[i]
		t.Requests = f.by[i].present
		for d, head := range joined[i].heads {
			add(&t.Requests, times(head.Requests, sidesOf(days[d])))
		}
		t.Values = nil
		var hashes []textHash
		for _, finding := range found[i] {
			hashes = append(hashes, ofPlaceholder(finding.Value))
		}
		texts, err := joined[i].findTexts(ctx, days, hashes)
		if err != nil {
			return query.DiffAnswer{}, err
		}
		for n, finding := range found[i] {
			t.Values = append(t.Values, query.DiffValue{Value: texts[hashes[n]], Sides: finding.Sides})
		}
		slices.SortFunc(t.Values, func(a, b query.DiffValue) int { return cmp.Compare(a.Value, b.Value) })
	}
	return all, nil
}

// mostTiedFindings is the most findings with the same score that are compared by their texts.
const mostTiedFindings = 1000

// findings returns the findings of each dimension, and those that tie with the last one, of an answer with
// placeholders.
func findings(shape query.Diff, all query.DiffAnswer) ([][]query.Finding, error) {
	limit := shape.Limit
	shape.Limit += mostTiedFindings
	list := query.Findings(shape, all)
	if len(list) == shape.Limit && list[limit-1].Score == list[len(list)-1].Score {
		return nil, fmt.Errorf("%w: %d findings have the same score", ErrUnsupported, mostTiedFindings)
	}
	of := make([][]query.Finding, len(shape.By))
	for n, finding := range list {
		if n >= limit && finding.Score != list[limit-1].Score {
			break
		}
		i := slices.IndexFunc(shape.By, func(d query.Dimension) bool { return d.Identity() == finding.By.Identity() })
		of[i] = append(of[i], finding)
	}
	return of, nil
}

// placeholder returns a text that stands for the text of the value.
func (v *valueTotal[C]) placeholder() string {
	return string(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, v.hash), v.check))
}

// ofPlaceholder returns the hash in a placeholder.
func ofPlaceholder(text string) textHash {
	b := []byte(text)
	return textHash{binary.BigEndian.Uint64(b), binary.BigEndian.Uint32(b[8:])}
}
