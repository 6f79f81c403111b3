package local

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/incident/asking"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
	"github.com/orrery/orrery/shared/rollup/rollupfile"
)

// RollUpReport is the result of RollUp.
type RollUpReport struct {
	Days    int   // whose rollups are new
	Weeks   int   // whose rollups are new
	Records int64 // of these days
	Removed int   // days whose rollup did not match their objects, and that have none now
}

// RollUp writes the missing rollups of all days, and of weeks that ended a day before the newest one, but for the
// oldest week. Of the newest day, it rolls up the hours that lateHours says. It first removes rollups that do not match
// the objects of their day or week, for example because records were forgotten. If it is interrupted, it can be called
// again. progress, unless nil, is called after each day and week.
func (p *Product) RollUp(ctx context.Context, progress func(done, total int)) (report RollUpReport, _ error) {
	return p.rollUpAll(ctx, true, progress)
}

// RenewRollups is like RollUp for the days that have a rollup. Of weeks, it only removes rollups.
func (p *Product) RenewRollups(ctx context.Context) error {
	_, err := p.rollUpAll(ctx, false, nil)
	return err
}

// Expire is Store.Expire. If the disk is too full for it, it first removes the rollups of the days and weeks that are
// older than keep, which nobody needs after it. RollUp makes them again if the days stay, because the removal was not
// confirmed.
func (p *Product) Expire(ctx context.Context, keep time.Duration, confirmed bool) (datadir.Removal, error) {
	removal, err := p.Store.Expire(ctx, keep, confirmed)
	if keep == 0 || !fault.IsFull(err) {
		return removal, err
	}
	limit := time.Now().Add(-keep)
	weeks, failed := removeBefore(limit, p.rollups.Weeks(), rollup.WeekLength)
	days, failedDays := removeBefore(limit, p.rollups, rollup.DayLength)
	if failed = errors.Join(failed, failedDays); failed != nil || weeks+days == 0 {
		return removal, errors.Join(err, failed)
	}
	return p.Store.Expire(ctx, keep, confirmed)
}

// removeBefore removes the rollups of the days or weeks in a folder that end before a time, and returns their number.
func removeBefore(limit time.Time, from rollupfile.Folder, length int64) (removed int, _ error) {
	starts, err := from.Days()
	if err != nil {
		return 0, fmt.Errorf("list rollups: %w", err)
	}
	for _, start := range starts {
		if start+length > limit.Unix() {
			break
		}
		if err := from.Remove(start); err != nil {
			return removed, fmt.Errorf("remove a rollup: %w", err)
		}
		removed++
	}
	return removed, nil
}

func (p *Product) rollUpAll(
	ctx context.Context, missing bool, progress func(done, total int),
) (report RollUpReport, _ error) {
	if p.Store == nil {
		return report, errors.New("a cluster holds the records")
	}
	objects, err := p.Store.Index().Objects(ctx, math.MinInt64, math.MaxInt64)
	if err != nil {
		return report, fmt.Errorf("list objects: %w", err)
	}
	counted, err := asking.Counted()
	if err != nil {
		return report, fmt.Errorf("bind the counts of rollups: %w", err)
	}
	kept := scan.NewRollups(p.rollups)
	all := p.toRollUp(kept, counted, objects)
	removedDays, err := all.days.removeOld()
	if err != nil {
		return report, err
	}
	if _, err := all.weeks.removeOld(); err != nil {
		return report, err
	}
	if !missing {
		clear(all.weeks.objects)
		maps.DeleteFunc(all.days.objects, func(start int64, _ []lake.Object) bool {
			return !slices.Contains(removedDays, start)
		})
	}
	report.Removed = len(removedDays)
	done, total := 0, len(all.days.objects)+len(all.weeks.objects)
	if total > 0 {
		if _, err := p.rollups.MakeHashKey(); err != nil {
			return report, fmt.Errorf("make the key of rollups: %w", err)
		}
	}
	for _, of := range []*spans{&all.days, &all.weeks} {
		for _, start := range slices.Sorted(maps.Keys(of.objects)) {
			written, err := of.rollUp(ctx, scan.Options{Rollups: kept}, start, counted)
			switch {
			case err != nil:
				return report, err
			case written && of == &all.weeks:
				report.Weeks++
			case written:
				report.Days++
				report.Records += lake.Rows(of.objects[start])
				if slices.Contains(removedDays, start) {
					report.Removed--
				}
			}
			if done++; progress != nil {
				progress(done, total)
			}
		}
	}
	return report, nil
}

// spans are days or weeks that can be rolled up.
type spans struct {
	folder  rollupfile.Folder
	length  int64
	objects map[int64][]lake.Object // by the starts of those that lack rollups, once removeOld was called

	isRolledUp func(start int64, objects []lake.Object) bool
}

// toRollUp returns the days and the weeks with objects that can be rolled up.
func (p *Product) toRollUp(kept *scan.Rollups, counted query.Counts, objects []lake.Object) (all struct{ days, weeks spans }) {
	days, weeks := scan.ByDay(objects), scan.ByWeek(objects)
	if starts := slices.Sorted(maps.Keys(days)); len(starts) > 0 {
		oldest, newest := starts[0], starts[len(starts)-1]
		if days[newest] = closedHours(days[newest]); len(days[newest]) == 0 {
			delete(days, newest)
		} else {
			days[newest] = objectsOf(kept, newest, rollup.DayLength, days[newest], growth)
		}
		maps.DeleteFunc(weeks, func(start int64, _ []lake.Object) bool {
			// The oldest hours may be removed, one after the other. Late records of the day before the newest are
			// frequent.
			return start == rollup.WeekOf(oldest) || start+rollup.WeekLength >= newest
		})
		for start, of := range weeks {
			weeks[start] = objectsOf(kept, start, rollup.WeekLength, of, late)
		}
	}
	all.days = spans{p.rollups, rollup.DayLength, days, func(start int64, objects []lake.Object) bool {
		return isRolledUp(kept.Day, start, objects, func(day *rollup.Day) bool {
			lacks := func(shape query.Counts) bool {
				_, known := day.HasCounts(shape)
				return !known
			}
			lacksCounts := day.Subset.HasCounts() && slices.ContainsFunc(rollup.Counted(counted), lacks)
			return day.HasAllRests() && !lacksCounts
		})
	}}
	all.weeks = spans{p.rollups.Weeks(), rollup.WeekLength, weeks, func(start int64, objects []lake.Object) bool {
		return isRolledUp(kept.Week, start, objects, func(*rollup.Day) bool { return true })
	}}
	return all
}

// lateHours is the number of the newest hours that are not rolled up, because they may still get records.
const lateHours = 2

// closedHours returns the objects of the newest day but for lateHours.
func closedHours(objects []lake.Object) (closed []lake.Object) {
	var newest lake.Partition
	for _, o := range objects {
		newest = max(newest, o.Partition)
	}
	for _, o := range objects {
		if o.Partition <= newest-lateHours {
			closed = append(closed, o)
		}
	}
	return closed
}

// The records that a rollup may lack before it is replaced, as a part of those that it has. The newest day is rolled up
// a few times while it grows. A week is not for a few late records.
const (
	growth = 1. / 2
	late   = 1. / 100
)

// objectsOf returns the objects that the rollup of a day or of a week should have: those that it has already, as long as
// the others have few records, and otherwise all.
func objectsOf(kept *scan.Rollups, start, length int64, all []lake.Object, few float64) []lake.Object {
	has := kept.RolledUp(start, length, all)
	if lacks := lake.Rows(all) - lake.Rows(has); float64(lacks) < few*float64(lake.Rows(has)) {
		return has
	}
	return all
}

// removeOld removes the rollups that do not match their objects, and returns the starts of their days or weeks. It
// leaves the objects of those without rollups.
func (s *spans) removeOld() (removed []int64, _ error) {
	there, err := s.folder.Days()
	if err != nil {
		return nil, fmt.Errorf("list rollups: %w", err)
	}
	for _, start := range there {
		if objects, can := s.objects[start]; can && s.isRolledUp(start, objects) {
			delete(s.objects, start)
			continue
		}
		if err := s.folder.Remove(start); err != nil {
			return nil, fmt.Errorf("remove a rollup: %w", err)
		}
		removed = append(removed, start)
	}
	return removed, nil
}

// isRolledUp reports whether a day or a week has all its rollups, and they are of these objects. find is Day or Week of
// scan.Rollups.
func isRolledUp(
	find func(start int64, subset rollup.Subset, objects []lake.Object) *rollup.Day,
	start int64, objects []lake.Object, isCurrent func(*rollup.Day) bool,
) bool {
	is := func(subset rollup.Subset) bool {
		day := find(start, subset, objects)
		return day != nil && isCurrent(day)
	}
	day := find(start, rollup.Subset{}, objects)
	return is(rollup.Subset{}) && day.IsDivided() &&
		!slices.ContainsFunc(day.Parts(), func(subset rollup.Subset) bool { return !is(subset) })
}

// rollUp writes the rollup of a day or of a week. It does not if the records must be counted each time, because an
// object is damaged or the disk is full, for example.
func (s *spans) rollUp(ctx context.Context, o scan.Options, start int64, counted query.Counts) (written bool, _ error) {
	of := scan.ToRollUp{Start: start, Length: s.length, Objects: s.objects[start], Counted: counted}
	err := scan.RollUpAll(ctx, of, o, s.folder.Write)
	switch {
	case err == nil:
		return true, nil
	case scan.CannotRollUp(err) || fault.IsFull(err):
		return false, nil
	}
	return false, fmt.Errorf("roll up a day: %w", err)
}
