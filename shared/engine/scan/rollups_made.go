package scan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
)

// ToRollUp says what a rollup is of.
type ToRollUp struct {
	Start, Length int64         // of a day, of a week, or of an hour, in seconds
	Objects       []lake.Object // all objects of the day or of the week, or one of the hour
	Subset        rollup.Subset // of their records
	Counted       query.Counts  // the counts of hosts that the rollup has for each minute, unless it is of a week
}

// RollUp makes a rollup. The rollup of all records of a day says which subsets are worth rollups of their own. There
// are no lists and no counts if there are more different values than memory allows.
//
// Errors: ErrUnsupported, *engine.ObjectError, ctx's own.
func RollUp(ctx context.Context, of ToRollUp, o Options) (*rollup.Day, rollup.Lists, error) {
	made, err := rollUp(ctx, of, o, nil)
	return made.day, made.lists, err
}

// madeRollup is a rollup that was made.
type madeRollup struct {
	day      *rollup.Day
	lists    rollup.Lists
	requests map[rollup.Subset]int64 // of the subsets of the day
}

// rollUp is RollUp, given the lists of the whole day or week if the rollup is of a subset.
func rollUp(ctx context.Context, of ToRollUp, o Options, whole *rollup.Lists) (made madeRollup, _ error) {
	period := query.Period{FromMs: of.Start * 1000, ToMs: (of.Start+of.Length)*1000 - 1}
	conditions, err := of.Subset.Conditions()
	if err != nil {
		return made, err
	}
	o.Partials = nil
	r := newRun(ctx, query.Query{
		Period: period, Scope: query.Scope{Period: period}, Conditions: conditions,
		Shape: query.Stats{SegmentSeconds: rollup.Hour, GroupByHostname: true},
	}, o)
	defer r.giveBack()
	groups, err := r.survey(ctx, of.Objects)
	if err != nil {
		return made, err
	}
	defer r.end(groups)
	r.sizes, r.isPart = sizesOf(of), whole != nil
	made.day = &rollup.Day{Start: of.Start, Subset: of.Subset, Objects: identities(of.Objects), HashID: r.key.ID()}
	if of.Length >= rollup.DayLength && of.Subset.HasKeys() {
		r.before = o.Rollups.before(of.Start, of.Subset)
	}
	if of.Length > rollup.DayLength {
		err := r.rollUpWeek(ctx, of, groups, whole, &made)
		return made, err
	}
	hosts, cells, err := r.rolledUpHours(ctx, groups)
	if err != nil {
		return made, err
	}
	made.day.Hosts = hosts
	if made.day.Segments, err = r.rolledUpSegments(ctx, groups, of.Length); err != nil {
		return made, err
	}
	if err := r.checkAll(ctx, of, groups, &made); err != nil {
		return made, err
	}
	if made.lists, _, err = r.lists(ctx, of, groups, whole); err != nil {
		return made, err
	}
	for i, m := range query.Measures {
		made.lists.Add(cellsNameOf(m), cellsSection(cells[i]))
	}
	if by := made.day.Branches(); of.Length == rollup.DayLength && by.NeedsUnions() {
		if err := r.listUnions(ctx, groups, of.Start, by, &made.lists); err != nil && !areTooMany(err) {
			return made, err
		}
	}
	if of.Length == rollup.DayLength && rollup.HasDurations(of.Subset) {
		if err := r.listDurations(ctx, groups, &made.lists); err != nil {
			return made, err
		}
	}
	if !of.Subset.HasCounts() {
		return made, nil
	}
	for _, shape := range rollup.Counted(of.Counted) {
		if err := r.listCounts(ctx, groups, of.Start, shape, &made.lists); err != nil {
			return made, err
		}
	}
	return made, nil
}

// rollUpWeek makes the lists of a week, and counts its requests. The figures of hours are only those of days.
func (r *run) rollUpWeek(
	ctx context.Context, of ToRollUp, groups []*group, whole *rollup.Lists, made *madeRollup,
) error {
	lists, requests, err := r.lists(ctx, of, groups, whole)
	if err != nil || len(lists.Sections) == 0 {
		return err
	}
	made.lists = lists
	made.day.Segments = []rollup.Segment{{Start: of.Start, Seconds: rollup.WeekLength, Requests: requests}}
	return r.checkAll(ctx, of, groups, made)
}

// checkAll checks that the rollup of all records of objects has counted them, and finds out which subsets a day or a
// week has.
func (r *run) checkAll(ctx context.Context, of ToRollUp, groups []*group, made *madeRollup) error {
	if of.Subset != (rollup.Subset{}) {
		return nil
	}
	if counted, rows := made.day.Requests(), lake.Rows(of.Objects); counted != rows {
		return fmt.Errorf("%w: %d of %d records are of the day", ErrUnsupported, counted, rows)
	}
	if of.Length < rollup.DayLength {
		return nil
	}
	made.requests = map[rollup.Subset]int64{}
	for _, field := range rollup.SubsetFields {
		if field == rollup.FilterField {
			made.day.Divisions = append(made.day.Divisions, rollup.FilterDivision())
			continue
		}
		by, err := r.divide(ctx, field, groups, made.requests)
		if err != nil {
			return err
		}
		made.day.Divisions = append(made.day.Divisions, by)
	}
	return nil
}

// CannotRollUp reports whether an error of RollUp or RollUpAll is there whenever these objects are rolled up.
func CannotRollUp(err error) bool {
	return errors.Is(err, ErrUnsupported) || errors.As(err, new(*engine.ObjectError))
}

// areTooMany reports whether an error is that there are too many values, so that a rollup goes without them.
func areTooMany(err error) bool {
	return errors.Is(err, ErrUnsupported) || errors.As(err, new(*fault.Error))
}

// RollUpAll makes the rollups of a day or of a week and of its subsets, and passes them to write. The rollup of all
// records is the last, because it names the others. Its errors are those of RollUp and of write.
func RollUpAll(ctx context.Context, of ToRollUp, o Options, write func(*rollup.Day, rollup.Lists) error) error {
	of.Subset = rollup.Subset{}
	whole, err := rollUp(ctx, of, o, nil)
	if err != nil {
		return err
	}
	o.Pools = new(WorkerPools)
	for some := range whole.parts() {
		if err := rollUpParts(ctx, of, o, some, &whole.lists, write); err != nil {
			return err
		}
	}
	return write(whole.day, whole.lists)
}

// parts yields lists of the subsets that have rollups of their own. The subsets in a list are rolled up at the same
// time, so each column is read once for all of them. Together they have at most half of the requests of the day, unless
// the list has one subset. So they need about as much memory as the day.
func (m *madeRollup) parts() iter.Seq[[]rollup.Subset] {
	return func(yield func([]rollup.Subset) bool) {
		var some []rollup.Subset
		requests := int64(0)
		for _, subset := range m.day.Parts() {
			if n := m.requests[subset]; len(some) > 0 && requests+n > m.day.Requests()/2 {
				if !yield(some) {
					return
				}
				some, requests = nil, 0
			}
			some, requests = append(some, subset), requests+m.requests[subset]
		}
		if len(some) > 0 {
			yield(some)
		}
	}
}

// rollUpParts makes and writes the rollups of some subsets.
func rollUpParts(
	ctx context.Context, of ToRollUp, o Options, parts []rollup.Subset, whole *rollup.Lists,
	write func(*rollup.Day, rollup.Lists) error,
) error {
	made := make([]madeRollup, len(parts))
	all, ctx := errgroup.WithContext(ctx)
	for i, subset := range parts {
		all.Go(func() (err error) {
			of := of
			of.Subset = subset
			made[i], err = rollUp(ctx, of, o, whole)
			return err
		})
	}
	if err := all.Wait(); err != nil {
		return err
	}
	for _, part := range made {
		if err := write(part.day, part.lists); err != nil {
			return err
		}
	}
	return nil
}

// mostSubsets is the most subsets of a day by the values of a field.
const mostSubsets = 20

// divide finds out which subsets a day has by the values of a field, and adds their requests.
func (r *run) divide(
	ctx context.Context, field string, groups []*group, requests map[rollup.Subset]int64,
) (by rollup.Division, _ error) {
	dimensions, err := query.ParseDimensions(field)
	if err != nil {
		return by, fmt.Errorf("parse the field of subsets: %w", err)
	}
	shape := query.Facets{By: dimensions, Limit: mostSubsets}
	r.query.Shape = shape
	found, err := r.facetsOf(ctx, shape, groups, nil)
	if err != nil {
		if areTooMany(err) {
			err = nil
		}
		return by, err
	}
	left := found.Requests
	for _, facet := range found.Facets {
		for _, v := range facet.Values {
			subset := rollup.Subset{Field: field, Value: v.Value}
			if _, err := subset.Conditions(); err != nil {
				continue // no filter can have the value, so nobody asks for it
			}
			by.Subsets, requests[subset] = append(by.Subsets, subset), v.Requests
			left -= v.Requests
		}
	}
	by.Complete = left == 0
	return by, nil
}

// rolledUpHours returns the hosts of each hour and, for each measure, the cells of the hours in each row group.
func (r *run) rolledUpHours(
	ctx context.Context, groups []*group,
) (hosts []rollup.Host, cells [][]*cellsOfRows, _ error) {
	g := newGrouping(r, (*worker).hostnames, false)
	columns := r.query.Columns()
	for _, m := range query.Measures {
		of := r.query
		of.Shape = query.Histogram{Measure: m}
		columns = append(columns, of.Columns()...)
		cells = append(cells, make([]*cellsOfRows, len(groups)))
	}
	slices.Sort(columns)
	err := r.scanColumns(ctx, groups, slices.Compact(columns), func(w *worker, i int) error {
		rows, err := w.chosen()
		if err != nil || len(rows) == 0 {
			return err
		}
		found, err := g.count(w, rows)
		if err == nil {
			err = g.join(found)
		}
		for n, m := range query.Measures {
			if err == nil {
				cells[n][i], err = w.cellsOf(rows, query.Histogram{Measure: m})
			}
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	hosts, _ = g.rolledUp()
	return hosts, cells, nil
}

// rolledUp returns the hosts of each segment, and the counts of their durations.
func (g *grouping) rolledUp() (hosts []rollup.Host, durations []durationCounts) {
	places, texts := g.sorted(parquet.Absent)
	hosts, durations = make([]rollup.Host, len(places)), make([]durationCounts, len(places))
	for i, p := range places {
		of := &g.groups[p.group]
		hosts[i] = rollup.Host{
			Hour: p.segment, Requests: of.traffic.requests, Timed: of.traffic.timed,
			Bandwidth: of.traffic.bandwidth.rolledUp(), TimeUs: of.traffic.timeUs.rolledUp(),
		}
		if of.value != parquet.Absent {
			hosts[i].Name, hosts[i].Named = texts[of.value], true
		}
		durations[i] = of.durations
	}
	return hosts, durations
}

// rolledUpSegments returns the segments of all lengths, up to the length of the day or the hour.
func (r *run) rolledUpSegments(ctx context.Context, groups []*group, longest int64) (all []rollup.Segment, _ error) {
	var lengths []int64
	for _, seconds := range rollup.Lengths {
		if seconds <= longest {
			lengths = append(lengths, seconds)
		}
	}
	timelines, err := r.countTimelines(ctx, groups, lengths)
	if err != nil {
		return nil, err
	}
	for i, t := range timelines {
		all = append(all, t.rolledUp(lengths[i])...)
		t.forget() // the texts are not needed any more
	}
	return all, nil
}

func (t *timeline) rolledUp(seconds int64) []rollup.Segment {
	segments := make([]rollup.Segment, 0, len(t.segments))
	for start, s := range t.segments {
		segments = append(segments, rollup.Segment{
			Start: start, Seconds: seconds, Requests: s.requests, Blocked: s.blocked, Challenges: s.challenges, Human: s.human,
			OriginBlocked: s.originBlocked, IPs: s.ips, Sessions: s.sessions, BytesSent: s.bytesSent.rolledUp(),
			Statuses: s.statuses.sorted(), Origins: s.origins.sorted(),
		})
	}
	slices.SortFunc(segments, func(a, b rollup.Segment) int { return cmp.Compare(a.Start, b.Start) })
	return segments
}
