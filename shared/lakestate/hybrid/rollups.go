package hybrid

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
	"github.com/orrery/orrery/shared/rollup/rollupblob"
)

// mostRolledUp is the most objects that are listed for a query that rollups can answer: two years of compacted hours.
const mostRolledUp = 20_000

// rollupsAge is how long a listing of the rollups is used. A rollup that is too new is not missed, and one that is too
// old is of other objects.
const rollupsAge = time.Minute

// rollups are what an engine knows about the rollups in the bucket.
type rollups struct {
	mu   sync.Mutex
	scan *scan.Rollups // nil: there is no key of hashes yet
	days map[lake.Day]rollupblob.Stored
	at   time.Time
}

// rolledUp are the rollups of days and of objects that may answer a query.
type rolledUp struct {
	scan    *scan.Rollups
	infos   []blob.Info
	names   map[int64][]string // by the starts of days, in Unix seconds
	objects map[string]string  // by the names of objects
}

func (r rolledUp) options(source scan.Source) scan.Options {
	return scan.Options{Source: source, Rollups: r.scan, RolledUp: r.names, RolledUpObjects: r.objects}
}

// rolledUp returns the rollups of the days of a plan that can answer its query, which is about subsets.
func (e *Engine) rolledUp(ctx context.Context, p *plan, subsets []rollup.Subset) (found rolledUp, _ error) {
	var days []lake.Day
	for _, hour := range p.hours {
		if day := hour.Day(); (len(days) == 0 || days[len(days)-1] != day) && p.takes(day) {
			days = append(days, day)
		}
	}
	if len(days) == 0 {
		return found, nil
	}
	all, in, err := e.rollups.read(ctx, e.Rollups, e.Now())
	if err != nil || in == nil {
		return found, err
	}
	found.scan, found.names = in, map[int64][]string{}
	for _, day := range days {
		start := day.First().Start() / 1000
		for _, info := range all[day].Of(subsets) {
			if info.Size > 0 {
				found.infos = append(found.infos, info)
			}
			found.names[start] = append(found.names[start], info.Name)
		}
	}
	return found, nil
}

// takes reports whether the query may be answered from the rollup of a day: its period covers the merged records of
// the day, or its counts add up parts of a day.
func (p *plan) takes(day lake.Day) bool {
	if _, counts := p.query.Shape.(query.Counts); counts {
		return true
	}
	from, to := max(day.First().Start(), p.state.Extent.MinTsMs), min((day+1).First(), p.state.Watermark).Start()-1
	covers := func(span query.Period) bool { return span.FromMs <= from && to <= span.ToMs }
	return slices.ContainsFunc(p.query.Spans(), covers)
}

// read returns the days that are rolled up, and their rollups for a scan.
func (r *rollups) read(
	ctx context.Context, bucket blob.Store, now time.Time,
) (days map[lake.Day]rollupblob.Stored, _ *scan.Rollups, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if age := now.Sub(r.at); !r.at.IsZero() && age >= 0 && age < rollupsAge {
		return r.days, r.scan, nil
	}
	if days, err = rollupblob.Days(ctx, bucket); err != nil {
		return nil, nil, err
	}
	if r.scan == nil {
		key, err := rollupblob.HashKey(ctx, bucket)
		switch {
		case err == nil:
			r.scan = scan.NewRemoteRollups(key)
		case !errors.Is(err, blob.ErrNotFound) && !errors.Is(err, rollup.ErrInvalid):
			return nil, nil, err
		}
	}
	r.days, r.at = days, now
	return days, r.scan, nil
}

// known returns the rollups for a scan if their key has been read.
func (r *rollups) known() *scan.Rollups {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.scan
}

// addObjects adds the rollups of objects that must be read otherwise.
func (e *Engine) addObjects(ctx context.Context, p *plan) error {
	if len(p.read) == 0 {
		return nil
	}
	_, in, err := e.rollups.read(ctx, e.Rollups, e.Now())
	if err != nil || in == nil {
		return err
	}
	from, to := p.read[0].Partition, p.read[0].Partition
	for _, o := range p.read {
		from, to = min(from, o.Partition), max(to, o.Partition)
	}
	all, err := rollupblob.Objects(ctx, e.Rollups, from, to)
	if err != nil {
		return err
	}
	p.rolledUp.scan, p.rolledUp.objects = in, map[string]string{}
	for _, o := range p.read {
		if info := all[rollupblob.OfObject(o.Path)]; info.Size > 0 {
			p.rolledUp.infos = append(p.rolledUp.infos, info)
			p.rolledUp.objects[o.Path] = info.Name
		}
	}
	e.leaveOutRolledUp(ctx, p)
	return nil
}

// leaveOutRolledUp finds the objects that must be read although days are rolled up.
func (e *Engine) leaveOutRolledUp(ctx context.Context, p *plan) {
	if p.read = p.objects; len(p.rolledUp.infos) == 0 {
		return
	}
	source := e.source(ctx, p, p.rolledUp.infos)
	defer source.Close()
	p.read, p.sections = scan.Unrolled(ctx, p.query, p.objects, p.rolledUp.options(source))
	p.planned = p.planned.Plus(source.Read())
}
