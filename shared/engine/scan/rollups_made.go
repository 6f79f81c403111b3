package scan

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
)

// RollUp counts what the rollup of a day has, or that of an object of an hour. It starts at a time, has a length, both
// in seconds, and exactly these objects. counted are the counts of hosts that it has for each minute. There are no
// lists and no counts if there are more different values than memory allows.
//
// Errors: ErrUnsupported, *engine.ObjectError, ctx's own.
func RollUp(
	ctx context.Context, start, length int64, objects []lake.Object, counted query.Counts, o Options,
) (day *rollup.Day, lists rollup.Lists, _ error) {
	period := query.Period{FromMs: start * 1000, ToMs: (start+length)*1000 - 1}
	o.Partials = nil
	r := newRun(ctx, query.Query{
		Period: period, Scope: query.Scope{Period: period}, Shape: query.Stats{SegmentSeconds: rollup.Hour, GroupByHostname: true},
	}, o)
	defer r.giveBack()
	groups, err := r.survey(ctx, objects)
	if err != nil {
		return nil, lists, err
	}
	defer r.end(groups)
	day = &rollup.Day{Start: start, Objects: identities(objects), HashID: r.key.ID()}
	if day.Hosts, err = r.rolledUpHosts(ctx, groups); err != nil {
		return nil, lists, err
	}
	for _, seconds := range rollup.Lengths {
		if seconds > length {
			continue
		}
		r.query.Shape = query.Timeline{SegmentSeconds: seconds}
		segments, err := r.rolledUpSegments(ctx, groups, seconds)
		if err != nil {
			return nil, lists, err
		}
		day.Segments = append(day.Segments, segments...)
	}
	if counted, rows := day.Requests(), rowsOf(objects); counted != rows {
		return nil, lists, fmt.Errorf("%w: %d of %d records are of the day", ErrUnsupported, counted, rows)
	}
	if lists, err = r.lists(ctx, groups); err != nil {
		return nil, lists, err
	}
	return day, lists, r.listCounts(ctx, groups, start, counted, &lists)
}

func rowsOf(objects []lake.Object) (rows int64) {
	for _, o := range objects {
		rows += o.Rows
	}
	return rows
}

func (r *run) rolledUpHosts(ctx context.Context, groups []*group) ([]rollup.Host, error) {
	g := newGrouping(r, (*worker).hostnames, false)
	if err := r.group(ctx, groups, g); err != nil {
		return nil, err
	}
	places, texts := g.sorted(parquet.Absent)
	hosts := make([]rollup.Host, len(places))
	for i, p := range places {
		of := &g.groups[p.group]
		hosts[i] = rollup.Host{
			Hour: p.segment, Requests: of.traffic.requests, Timed: of.traffic.timed,
			Bandwidth: of.traffic.bandwidth.rolledUp(), TimeUs: of.traffic.timeUs.rolledUp(),
		}
		if of.value != parquet.Absent {
			hosts[i].Name, hosts[i].Named = texts[of.value], true
		}
	}
	return hosts, nil
}

func (r *run) rolledUpSegments(ctx context.Context, groups []*group, seconds int64) ([]rollup.Segment, error) {
	t, err := r.countTimeline(ctx, nil, groups)
	if err != nil {
		return nil, err
	}
	segments := make([]rollup.Segment, 0, len(t.segments))
	for start, s := range t.segments {
		segments = append(segments, rollup.Segment{
			Start: start, Seconds: seconds, Requests: s.requests, Blocked: s.blocked, Challenges: s.challenges, Human: s.human,
			OriginBlocked: s.originBlocked, IPs: s.ips, Sessions: s.sessions, BytesSent: s.bytesSent.rolledUp(),
			Statuses: query.SortedStatuses(s.statuses), Origins: query.SortedStatuses(s.origins),
		})
	}
	slices.SortFunc(segments, func(a, b rollup.Segment) int { return cmp.Compare(a.Start, b.Start) })
	return segments, nil
}
