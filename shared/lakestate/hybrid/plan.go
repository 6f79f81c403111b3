package hybrid

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/engine/scan/scanblob"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate/parts"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
)

// plan is a query that the scan answers, clamped to the data.
type plan struct {
	query   query.Query
	state   engine.State
	hours   []lake.Partition
	infos   []blob.Info
	objects []lake.Object // the same
	columns []engine.ColumnSize
	counted map[lake.Partition]engine.ColumnBytes

	rolledUp rolledUp
	read     []lake.Object                  // the objects that are not rolled up
	shares   []share                        // of the question about these, if others count them; nil: they do not
	toCount  map[lake.Partition][]blob.Info // the objects of the parts
	planned  scanblob.Read                  // to know them
	sections int64                          // bytes of the rollups of the others

	bytes       int64 // of the columns of these objects; of the whole objects if the sizes of columns are not known
	columnBytes int64 // of the columns whose sizes are known

	mostBytes  int64 // that the scan may read
	newestOnly bool  // the plan has only objects of the newest hours, which may have too few logs
}

// certain reports whether the scan can answer the query. Otherwise it tries to, because the newest records are often
// enough.
func (p *plan) certain(e *Engine) bool {
	return p.shares != nil || !p.newestOnly && p.mostBytes == e.MostBytes
}

// lessTried is by how much fewer bytes than Config.MostBytes a scan may read for logs if the columns of all objects
// have more.
const lessTried = 4

// plan returns how the scan answers q, or a scan.ErrUnsupported if the service does.
func (e *Engine) plan(ctx context.Context, q query.Query) (*plan, error) {
	logs := scan.SupportsNewest(q)
	if !scan.Supports(q) && !logs || e.MostBytes == 0 && (logs || e.Parts == nil) {
		return nil, scan.ErrUnsupported
	}
	state, err := e.States.State(ctx)
	if err != nil {
		return nil, err
	}
	p := &plan{query: q.Clamp(state.Extent), state: state, mostBytes: e.MostBytes}
	p.hours = engine.HoursOf(p.query)
	most, rollsUp := e.MostObjects, false
	var subsets []rollup.Subset // none: the query is about all records
	if e.Rollups != nil {
		subsets, rollsUp = scan.RollsUp(ctx, p.query)
	}
	if e.Parts != nil && scan.DividesInParts(p.query) {
		most = mostRolledUp
	}
	if rollsUp {
		most = mostRolledUp
		if p.rolledUp, err = e.rolledUp(ctx, p, subsets); err != nil {
			return nil, err
		}
	}
	var known bool
	if p.infos, known, err = e.list(ctx, state, p.hours, most); err != nil {
		return nil, err
	}
	for n := len(p.hours) / fewerHours; logs && !known && n > 0; n /= fewerHours {
		p.newestOnly = true
		if p.infos, known, err = e.list(ctx, state, p.hours[len(p.hours)-n:], most); err != nil {
			return nil, err
		}
	}
	if !known {
		return nil, scan.ErrUnsupported
	}
	if p.objects, err = parts.Listed(p.infos); err != nil {
		return nil, err
	}
	e.leaveOutRolledUp(ctx, p)
	if err := e.weigh(ctx, p); err != nil {
		return nil, err
	}
	if rollsUp && len(subsets) == 0 && (p.bytes > e.ManyBytes || len(p.read) > e.MostObjects) {
		if err := e.addObjects(ctx, p); err != nil {
			return nil, err
		}
		if err := e.weigh(ctx, p); err != nil {
			return nil, err
		}
	}
	few := len(p.read) <= e.MostObjects && e.MostBytes > 0
	switch {
	case few && p.columnBytes+p.sections <= e.MostBytes:
		return p, nil
	case few && logs:
		p.mostBytes /= lessTried
		return p, nil
	}
	if divided, err := e.divide(ctx, p); err != nil || divided {
		return p, err
	}
	return nil, scan.ErrUnsupported
}

// weigh finds out how much of the objects must be read that are not rolled up.
func (e *Engine) weigh(ctx context.Context, p *plan) error {
	sizes := map[lake.Partition]engine.Sizes{}
	p.bytes, p.columnBytes, p.columns = 0, 0, nil
	for _, o := range p.read {
		of := sizes[o.Partition]
		sizes[o.Partition] = engine.Sizes{Objects: of.Objects + 1, Bytes: of.Bytes + o.Bytes}
		p.bytes += o.Bytes
	}
	var all engine.ColumnBytes
	if e.Columns != nil && len(sizes) > 0 {
		var err error
		if all, p.counted, err = e.Columns.Columns(ctx, p.state.Watermark, sizes); err != nil {
			return err
		}
	}
	whole := p.query.Columns()
	if _, logs := p.query.Shape.(query.Logs); logs { // of the other columns, only pages with records of the answer are read
		whole = p.query.FindingColumns()
	}
	for _, name := range p.query.Columns() {
		size := engine.ColumnSize{Name: name}
		if n, known := all[name]; known || len(sizes) == 0 {
			size.Bytes = &n
			if slices.Contains(whole, name) {
				p.columnBytes += n
			}
		}
		p.columns = append(p.columns, size)
	}
	if all != nil {
		p.bytes = p.columnBytes
	}
	return nil
}

// fewerHours is by how much fewer hours are listed for logs if more have too many objects.
const fewerHours = 4

// listed is a listing of hours of the lake at a version.
type listed struct {
	version   int64
	watermark lake.Partition
	hours     []lake.Partition
	most      int
	at        time.Time
	objects   []blob.Info
	known     bool
}

// maxRuns is the number of runs of adjacent hours up to which they are listed.
const maxRuns = 8

// list returns the objects of hours, which are ascending. known is false if there are more than most. The query after
// an estimate uses the listing of the estimate.
func (e *Engine) list(
	ctx context.Context, state engine.State, hours []lake.Partition, most int,
) (objects []blob.Info, known bool, _ error) {
	e.mu.Lock()
	last := e.listed
	e.mu.Unlock()
	now := e.Now()
	age := now.Sub(last.at)
	if last.version == state.Version && last.watermark == state.Watermark && last.most == most &&
		slices.Equal(last.hours, hours) && age >= 0 && age < engine.StateAge {
		return last.objects, last.known, nil
	}
	fresh := listed{version: state.Version, watermark: state.Watermark, hours: hours, most: most, at: now}
	var err error
	if fresh.objects, fresh.known, err = e.listRuns(ctx, state.Watermark, hours, most); err != nil {
		return nil, false, err
	}
	e.mu.Lock()
	e.listed = fresh
	e.mu.Unlock()
	return fresh.objects, fresh.known, nil
}

func (e *Engine) listRuns(
	ctx context.Context, watermark lake.Partition, hours []lake.Partition, most int,
) (objects []blob.Info, known bool, _ error) {
	for runs := 0; len(hours) > 0; runs++ {
		n := engine.Adjacent(hours)
		if runs == maxRuns {
			return nil, false, nil
		}
		for info, err := range e.Listing.Objects(ctx, watermark, hours[0], hours[n-1]) {
			if err != nil {
				return nil, false, fmt.Errorf("list the objects of some hours: %w", err)
			}
			if len(objects) == most {
				return nil, false, nil
			}
			objects = append(objects, info)
		}
		hours = hours[n:]
	}
	return objects, true, nil
}
