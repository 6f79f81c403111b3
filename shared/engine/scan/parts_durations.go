package scan

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
	"github.com/orrery/orrery/shared/varints"
)

// durationsName is the name of the section with the counts of durations in a part of stats: those of each host, in the
// order of the hosts, or those of each segment.
const durationsName = "durations"

// countHosts counts the hosts of a part of stats, and the durations if there are percentiles.
func (r *run) countHosts(
	ctx context.Context, shape query.Stats, groups []*group, day *rollup.Day, lists *rollup.Lists,
) error {
	hosts, all := r.hostGroupings(shape)
	groupings := []*grouping{hosts}
	if all != nil {
		groupings = append(groupings, all)
	}
	if err := r.group(ctx, groups, groupings...); err != nil {
		return err
	}
	var durations []durationCounts
	day.Hosts, durations = hosts.rolledUp()
	if !shape.Percentiles {
		return nil
	}
	w := varints.Writer{}
	if all != nil {
		w.Uint(uint64(len(all.groups)))
		for i := range all.groups {
			w.Int(all.groups[i].segment)
			writeDurations(&w, all.groups[i].durations)
		}
	} else {
		for _, of := range durations {
			writeDurations(&w, of)
		}
	}
	lists.Add(durationsName, w.Bytes)
	return nil
}

// listDurations adds the counts of the durations of a day.
func (r *run) listDurations(ctx context.Context, groups []*group, lists *rollup.Lists) error {
	shape := query.Stats{SegmentSeconds: rollup.DayLength, Percentiles: true}
	r.query.Shape = shape
	return r.countHosts(ctx, shape, groups, &rollup.Day{}, lists)
}

// joinHosts joins the hosts of a day, and the durations if there are percentiles.
func (r *run) joinHosts(day rolledUpDay, hosts, all *grouping) error {
	found := hosts.ofDay(day.Day)
	if all == nil && !hosts.percentiles {
		return hosts.join(found)
	}
	content, err := r.section(day, durationsName, nil)
	if err != nil {
		return err
	}
	in := varints.Reader{Bytes: content}
	if all == nil {
		for i := range found.groups {
			found.groups[i].durations = readDurations(&in)
		}
	} else {
		segments := &groupsOfRows{groups: make([]groupOfRows, in.Length())}
		for i := range segments.groups {
			of := &segments.groups[i]
			of.segment, of.value = all.segments.Start(in.Int()*1000), parquet.Absent // a day has one
			of.durations = readDurations(&in)
		}
		if err := all.join(segments); err != nil {
			return err
		}
	}
	if in.Failed || len(in.Bytes) > 0 {
		return unusable(rollup.ErrInvalid)
	}
	return hosts.join(found)
}

func writeDurations(w *varints.Writer, counts durationCounts) {
	for _, of := range counts {
		w.Uint(uint64(len(of)))
		last := int64(0)
		for _, c := range of {
			w.Int(c.Us - last)
			w.Int(c.N)
			last = c.Us
		}
	}
}

func readDurations(in *varints.Reader) (counts durationCounts) {
	for i := range counts {
		counts[i] = make([]query.DurationCount, in.Length())
		last := int64(0)
		for k := range counts[i] {
			last += in.Int()
			counts[i][k] = query.DurationCount{Us: last, N: in.Int()}
		}
	}
	return counts
}

// DurationsOfPart returns the counts of the durations of winners of topx, by columns, that a part has. Its errors are
// those of CountPart.
func DurationsOfPart(
	ctx context.Context, q query.Query, objects []lake.Object, winners map[string][]string, o Options,
) (map[string][]byte, error) {
	r, groups, end, err := partRun(ctx, q, objects, o)
	if err != nil {
		return nil, err
	}
	defer end()
	columns := percentilesOf(winners)
	if err := r.countDurations(ctx, groups, columns); err != nil {
		return nil, err
	}
	found := map[string][]byte{}
	for _, of := range columns {
		w := varints.Writer{}
		for _, counts := range of.counts {
			writeDurations(&w, counts)
		}
		found[of.part.Column] = w.Bytes
	}
	return found, nil
}

// askDurations asks the crew for the durations of winners in the parts, and joins them.
func (r *run) askDurations(
	ctx context.Context, days []rolledUpDay, winners map[string][]string, columns []*percentileKeys,
) error {
	asking, ctx := errgroup.WithContext(ctx)
	for _, day := range days {
		asking.Go(func() error {
			found, err := r.crew.Durations(ctx, *day.part, winners)
			for _, of := range columns {
				if err == nil {
					err = of.joinEncoded(r, found[of.part.Column])
				}
			}
			return err
		})
	}
	return asking.Wait()
}

// joinEncoded adds counts that DurationsOfPart has returned.
func (o *percentileKeys) joinEncoded(r *run, content []byte) error {
	in := varints.Reader{Bytes: content}
	counts := make([]durationCounts, len(o.counts))
	for i := range counts {
		counts[i] = readDurations(&in)
	}
	if in.Failed || len(in.Bytes) > 0 {
		return fmt.Errorf("%w: a part has wrong durations", ErrUnsupported)
	}
	return o.join(r, counts)
}
