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
)

// RollUpReport is the result of RollUp.
type RollUpReport struct {
	Days    int // whose rollups are new
	Removed int // days whose rollup did not match their objects, and that have none now
}

// RollUp writes the missing rollups of all days but the newest. It first removes rollups that do not match the objects of
// their day, for example because records were forgotten. If it is interrupted, it can be called again. progress, unless
// nil, is called after each day.
func (p *Product) RollUp(ctx context.Context, progress func(done, total int)) (report RollUpReport, _ error) {
	return p.rollUpDays(ctx, true, progress)
}

// RenewRollups is like RollUp for the days that have a rollup.
func (p *Product) RenewRollups(ctx context.Context) error {
	_, err := p.rollUpDays(ctx, false, nil)
	return err
}

// Expire is Store.Expire. If the disk is too full for it, it first removes the rollups of the days that are older than keep,
// which nobody needs after it. RollUp makes them again if the days stay, because the removal was not confirmed.
func (p *Product) Expire(ctx context.Context, keep time.Duration, confirmed bool) (datadir.Removal, error) {
	removal, err := p.Store.Expire(ctx, keep, confirmed)
	if keep == 0 || !fault.IsFull(err) {
		return removal, err
	}
	removed, failed := p.removeRollupsBefore(time.Now().Add(-keep))
	if failed != nil || removed == 0 {
		return removal, errors.Join(err, failed)
	}
	return p.Store.Expire(ctx, keep, confirmed)
}

// removeRollupsBefore removes the rollups of the days that end before a time, and returns the number of the days.
func (p *Product) removeRollupsBefore(limit time.Time) (removed int, _ error) {
	days, err := p.rollups.Days()
	if err != nil {
		return 0, fmt.Errorf("list rollups: %w", err)
	}
	for _, start := range days {
		if start+24*rollup.Hour > limit.Unix() {
			break
		}
		if err := p.rollups.Remove(start); err != nil {
			return removed, fmt.Errorf("remove a rollup: %w", err)
		}
		removed++
	}
	return removed, nil
}

func (p *Product) rollUpDays(
	ctx context.Context, missing bool, progress func(done, total int),
) (report RollUpReport, _ error) {
	if p.Store == nil {
		return report, errors.New("a cluster holds the records")
	}
	objects, err := p.Store.Index().Objects(ctx, math.MinInt64, math.MaxInt64)
	if err != nil {
		return report, fmt.Errorf("list objects: %w", err)
	}
	days := scan.ByDay(objects)
	newest := int64(math.MinInt64)
	for start := range days {
		newest = max(newest, start)
	}
	there, err := p.rollups.Days()
	if err != nil {
		return report, fmt.Errorf("list rollups: %w", err)
	}
	if !missing {
		maps.DeleteFunc(days, func(start int64, _ []lake.Object) bool { return !slices.Contains(there, start) })
	}
	if len(days) > 0 {
		if _, err := p.rollups.MakeHashKey(); err != nil {
			return report, fmt.Errorf("make the key of rollups: %w", err)
		}
	}
	counted, err := asking.Counted()
	if err != nil {
		return report, fmt.Errorf("bind the counts of rollups: %w", err)
	}
	kept := scan.NewRollups(p.rollups)
	for _, start := range there {
		if start < newest && isRolledUp(kept, start, days[start], counted) {
			delete(days, start)
			continue
		}
		if err := p.rollups.Remove(start); err != nil {
			return report, fmt.Errorf("remove a rollup: %w", err)
		}
		report.Removed++
	}
	delete(days, newest)
	done := 0
	for _, start := range slices.Sorted(maps.Keys(days)) {
		written, err := p.rollUp(ctx, scan.Options{Rollups: kept}, start, days[start], counted)
		if err != nil {
			return report, err
		}
		if written {
			report.Days++
			if slices.Contains(there, start) {
				report.Removed--
			}
		}
		if done++; progress != nil {
			progress(done, len(days))
		}
	}
	return report, nil
}

// isRolledUp reports whether a day has all its rollups, and they are of these objects.
func isRolledUp(kept *scan.Rollups, start int64, objects []lake.Object, counted query.Counts) bool {
	is := func(day *rollup.Day) bool {
		if day == nil {
			return false
		}
		_, known := day.HasCounts(counted)
		return known
	}
	day := kept.Day(start, rollup.Subset{}, objects)
	return is(day) && day.Divided && !slices.ContainsFunc(day.Parts(), func(subset rollup.Subset) bool {
		return !is(kept.Day(start, subset, objects))
	})
}

// rollUp writes the rollups of a day. It does not if the records must be counted each time, because an object is damaged
// or the disk is full, for example.
func (p *Product) rollUp(
	ctx context.Context, o scan.Options, start int64, objects []lake.Object, counted query.Counts,
) (written bool, _ error) {
	err := scan.RollUpDay(ctx, scan.ToRollUp{Start: start, Objects: objects, Counted: counted}, o, p.rollups.Write)
	switch {
	case err == nil:
		return true, nil
	case scan.CannotRollUp(err) || fault.IsFull(err):
		return false, nil
	}
	return false, fmt.Errorf("roll up a day: %w", err)
}
