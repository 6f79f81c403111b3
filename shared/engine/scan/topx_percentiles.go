package scan

import (
	"context"
	"slices"
	"sync"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/query"
)

// addKeyPercentiles adds the percentiles to the rows of topx, in a further pass. It counts the durations of the winners
// only: the counts of all keys would need too much memory.
func (r *run) addKeyPercentiles(
	ctx context.Context, days []rolledUpDay, groups []*group, rows []query.TopXRow,
) error {
	winners := map[string][]string{}
	for _, part := range query.TopXParts {
		for _, row := range rows {
			if slices.Contains(part.Labels, row.Label) && !slices.Contains(winners[part.Column], row.Key) {
				winners[part.Column] = append(winners[part.Column], row.Key)
			}
		}
	}
	columns := percentilesOf(winners)
	if err := r.countDurations(ctx, groups, columns); err != nil {
		return err
	}
	if err := r.askDurations(ctx, days, winners, columns); err != nil {
		return err
	}
	for _, of := range columns {
		of.fill(rows)
	}
	return nil
}

// percentilesOf returns the columns with winners.
func percentilesOf(winners map[string][]string) (columns []*percentileKeys) {
	for _, part := range query.TopXParts {
		won := winners[part.Column]
		if len(won) == 0 {
			continue
		}
		of := &percentileKeys{
			part: part, keys: keysOfPart(part), places: map[string]int32{}, counts: make([]durationCounts, len(won)),
		}
		for i, key := range won {
			of.places[key] = int32(i)
		}
		columns = append(columns, of)
	}
	return columns
}

// countDurations counts the durations of the winners in row groups.
func (r *run) countDurations(ctx context.Context, groups []*group, columns []*percentileKeys) error {
	return r.scan(ctx, groups, func(w *worker, _ int) error {
		chosen, err := w.chosen()
		if err != nil || len(chosen) == 0 {
			return err
		}
		for _, of := range columns {
			if err := of.read(w, chosen); err != nil {
				return err
			}
		}
		return nil
	})
}

// percentileKeys holds the winners of the labels whose keys are in the same column.
type percentileKeys struct {
	part   query.TopXPart
	keys   query.Dimension
	places map[string]int32 // of each winner in counts

	mu     sync.Mutex
	counts []durationCounts
}

// keysOfPart returns a dimension with the keys of labels as its values.
func keysOfPart(part query.TopXPart) query.Dimension {
	d := query.Dimension{Sources: []catalog.Source{
		{Column: part.Column, Layout: catalog.Scalar, Type: catalog.String},
	}}
	if part.Column == "reason" {
		d.Sources = append(d.Sources,
			catalog.Source{Column: "monitor_reasons", Layout: catalog.List, Type: catalog.String})
	}
	return d
}

// read counts the durations of the chosen rows of a row group.
func (o *percentileKeys) read(w *worker, chosen []int32) error {
	keys, err := w.valuesOf(o.keys)
	if err != nil {
		return err
	}
	columns, err := w.all(durationColumns...)
	if err != nil {
		return err
	}
	places := make([]int32, keys.entries.Len()) // of each code, plus one; 0: not a winner
	found := false
	for code := range places {
		if place, won := o.places[string(keys.entries.At(int32(code)))]; won {
			places[code], found = place+1, true
		}
	}
	if !found {
		return nil
	}
	local := make([]durations, len(o.places))
	w.pairs.each(&keys, nil, chosen, func(rows, codes []int32) {
		for i, row := range rows {
			if place := places[codes[i]]; place > 0 {
				local[place-1].add(columns, row)
			}
		}
	})
	counts := make([]durationCounts, len(local))
	for place := range local {
		counts[place] = local[place].count()
	}
	return o.join(w.run, counts)
}

// join adds counts of the winners.
func (o *percentileKeys) join(r *run, counts []durationCounts) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	taken := int64(0)
	for place := range counts {
		taken += o.counts[place].join(counts[place])
	}
	return r.reserve(taken)
}

// fill sets the percentiles of the rows.
func (o *percentileKeys) fill(rows []query.TopXRow) {
	for i := range rows {
		if slices.Contains(o.part.Labels, rows[i].Label) {
			rows[i].Percentiles = o.counts[o.places[rows[i].Key]].percentiles()
		}
	}
}
