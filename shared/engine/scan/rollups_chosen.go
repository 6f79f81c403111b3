package scan

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
	"github.com/orrery/orrery/shared/rollup/rollupfile"
)

// rolledUpDay is a day, a week, or an object of an hour, with its rollup.
type rolledUpDay struct {
	*rollup.Day
	path    string
	version fileVersion
	objects []lake.Object
	groups  []*group     // of the objects, once they are opened
	part    *Part        // nil: it is none
	whole   *rolledUpDay // the day with all records, if this is a subset

	together []rollup.Subset // of the day that a timeline is about, in the order of their rollups, if they are several
}

// rolledUp returns the weeks, the other days, and of others the objects, whose rollups can answer the query, the first
// one first. It also returns the objects that are left.
func (r *run) rolledUp(objects []lake.Object) (days []rolledUpDay, rest []lake.Object) {
	if r.rollups == nil || r.fromRecords || !r.rollsUp() {
		return nil, objects
	}
	days, objects = r.rolledUpWeeks(objects)
	found, objects := r.rolledUpDays(objects)
	days = append(days, found...)
	byHour := map[lake.Partition]int{}
	for _, o := range objects {
		byHour[o.Partition]++
	}
	for _, o := range objects {
		day, ok := r.rolledUpObject(o, byHour[o.Partition] == 1)
		if ok {
			days = append(days, day)
		} else {
			rest = append(rest, o)
		}
	}
	slices.SortStableFunc(days, func(a, b rolledUpDay) int { return cmp.Compare(a.Start, b.Start) })
	return days, rest
}

// rolledUpWeeks returns the weeks whose rollups can answer the query, and the objects that are left.
func (r *run) rolledUpWeeks(objects []lake.Object) (weeks []rolledUpDay, rest []lake.Object) {
	switch r.query.Shape.(type) {
	case query.TopX, query.Facets, query.Diff:
	default:
		return nil, objects
	}
	if r.source != nil {
		return nil, objects
	}
	return r.rolledUpSpans(ByWeek(objects), func(start int64) []string {
		return rollupsIn(r.rollups.folder.Weeks(), start, r.subsets)
	})
}

// rolledUpDays returns the days whose rollups can answer the query, and the objects that are left.
func (r *run) rolledUpDays(objects []lake.Object) (days []rolledUpDay, rest []lake.Object) {
	byDay, at := ByDay(objects), map[int64][]string{}
	var paths []string
	for start := range byDay {
		at[start] = r.rollupsAt(start, r.subsets)
		paths = append(paths, at[start]...)
	}
	for _, o := range objects {
		paths = append(paths, r.rolledUpObjects[o.Path])
	}
	r.expectRollups(paths)
	return r.rolledUpSpans(byDay, func(start int64) []string { return at[start] })
}

// rolledUpSpans returns the days or weeks whose rollups can answer the query, and the objects that are left. at is
// rollupsAt.
func (r *run) rolledUpSpans(
	spans map[int64][]lake.Object, at func(start int64) []string,
) (found []rolledUpDay, rest []lake.Object) {
	for _, start := range slices.Sorted(maps.Keys(spans)) {
		days, left := r.rolledUpAs(at(start), start, spans[start], r.subsets)
		found, rest = append(found, days...), append(rest, left...)
	}
	return found, rest
}

// rolledUpObject returns the rollup of an object if it can answer the query. alone says that no other object of the
// hour is left.
func (r *run) rolledUpObject(o lake.Object, alone bool) (of rolledUpDay, ok bool) {
	if r.rest != nil {
		return of, false
	}
	of, left := r.rollupOf(r.rolledUpObjects[o.Path], o.Partition.Start()/1000, []lake.Object{o})
	return of, len(left) == 0 && of.Has(r.subsets) && r.answers(of.Day, alone)
}

// rolledUpAs returns the rollups of a day or of a week that together can answer the query about subsets. If the day has
// no records of the subsets, there are none. It also returns the objects that must be read: all of them if no rollup can
// answer, and otherwise those that the rollups do not have. paths is the result of rollupsAt.
func (r *run) rolledUpAs(
	paths []string, start int64, objects []lake.Object, subsets []rollup.Subset,
) (found []rolledUpDay, rest []lake.Object) {
	if len(paths) == 0 {
		return nil, objects
	}
	of := func(path string) (day rolledUpDay, answers bool) {
		day, rest = r.rollupOf(path, start, objects)
		return day, day.Day != nil && r.answers(day.Day, !sharesSegment(day.Day, r.query.Shape, rest))
	}
	day, answers := of(paths[0])
	if day.Day == nil {
		return nil, objects
	}
	for _, others := range r.rest {
		switch {
		case day.Lacks(others):
			return nil, rest
		case !day.Has(others):
			return nil, objects
		}
	}
	switch {
	case day.Has(subsets) && answers:
		return []rolledUpDay{day}, rest
	case day.Has(subsets):
		return nil, objects
	case day.Lacks(subsets):
		return nil, rest
	case len(paths) == 1 || !day.Tells(subsets):
		return nil, objects
	}
	there := day.Of(subsets)
	for i, subset := range subsets {
		if !slices.Contains(there, subset) {
			continue
		}
		part, answers := of(paths[i+1])
		if !answers || part.Subset != subset || !slices.Equal(part.Day.Objects, day.Day.Objects) {
			return nil, objects
		}
		part.whole = &day
		found = append(found, part)
	}
	if len(found) > 1 && !addsUp(r.query.Shape) {
		if !hasUnions(day.Day, there) {
			return nil, objects
		}
		for i := range found {
			found[i].together = there
		}
	}
	return found, rest
}

// sharesSegment reports whether a segment of a timeline has records of a rollup and of other objects.
func sharesSegment(day *rollup.Day, shape query.Shape, others []lake.Object) bool {
	timeline, ok := shape.(query.Timeline)
	return ok && slices.ContainsFunc(day.Segments, func(s rollup.Segment) bool {
		return s.Seconds == timeline.SegmentSeconds && slices.ContainsFunc(others, func(o lake.Object) bool {
			return query.SegmentStart(o.Partition.Start(), s.Seconds) == s.Start
		})
	})
}

// daysOf returns the days of a week with their rollups, or nil if it is a day itself, or if one of them has no rollup.
func (r *run) daysOf(week *rolledUpDay) (days []rolledUpDay) {
	if r.source != nil || len(week.Segments) != 1 || week.Segments[0].Seconds != rollup.WeekLength {
		return nil
	}
	subsets := r.subsets
	if week.Subset != (rollup.Subset{}) {
		subsets = []rollup.Subset{week.Subset}
	}
	for start, of := range ByDay(week.objects) {
		found, rest := r.rolledUpAs(rollupsIn(r.rollups.folder, start, subsets), start, of, subsets)
		if len(rest) > 0 {
			return nil
		}
		days = append(days, found...)
	}
	return days
}

// rollupOf returns a rollup of some of the objects, and the other objects. If there is no such rollup, these are all
// objects. The path may be "".
func (r *run) rollupOf(path string, start int64, objects []lake.Object) (of rolledUpDay, rest []lake.Object) {
	if path == "" {
		return of, objects
	}
	day, version := r.rollups.day(r.source, path, start)
	if day == nil {
		return of, objects
	}
	has, rest, ok := objectsOf(r.asked(day), objects)
	if !ok || len(has) == 0 {
		return of, objects
	}
	return rolledUpDay{Day: day, path: path, version: version, objects: has}, rest
}

// rollupsAt returns the paths of the rollup of a day and of the rollups of its subsets. A path is "" if there is no
// rollup.
func (r *run) rollupsAt(start int64, subsets []rollup.Subset) []string {
	if r.source != nil {
		return r.rolledUpAt[start]
	}
	return rollupsIn(r.rollups.folder, start, subsets)
}

// rollupsIn is rollupsAt for a day or a week of a folder.
func rollupsIn(folder rollupfile.Folder, start int64, subsets []rollup.Subset) (paths []string) {
	paths = append(paths, folder.Path(start, rollup.Subset{}))
	for _, subset := range subsets {
		paths = append(paths, folder.Path(start, subset))
	}
	return paths
}

// open lists the row groups of a day that is rolled up, because records of it are needed, too.
func (r *run) open(ctx context.Context, day *rolledUpDay) error {
	if day.groups != nil {
		return nil
	}
	groups, err := r.survey(ctx, day.objects)
	if err != nil {
		return err
	}
	day.groups = groups
	r.opened = append(r.opened, *day)
	return nil
}

// ofSubset returns a scan of the records of a subset. The caller must call giveBack.
func (r *run) ofSubset(ctx context.Context, subset rollup.Subset) (*run, error) {
	conditions, err := subset.Conditions()
	if err != nil {
		return nil, err
	}
	q, o := r.query, r.options
	q.Conditions, o.Partials = conditions, nil
	return newRun(ctx, q, o), nil
}

// releaseDay frees the memory of what has been read of the objects of a day. Many days may be needed for a few keys
// each.
func (r *run) releaseDay(day rolledUpDay) {
	if r.source == nil {
		return
	}
	for _, o := range day.objects {
		r.source.Release(o.Path)
	}
}
