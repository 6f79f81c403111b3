package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// Run answers q. If an object cannot be read, compaction may have replaced it, so Run asks the index once more. An
// object that still cannot be read is left out and named in Cost.Skipped.
func (e *Engine) Run(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	var skipped []string
	for attempt := 0; ; attempt++ {
		objects, err := e.objects(ctx, q)
		if err != nil {
			return query.Answer{}, engine.Cost{}, e.failure(ctx, err)
		}
		objects = without(objects, skipped)
		answer, way, err := e.answerPatiently(ctx, q, objects)
		if err == nil {
			cost := costOf(q, way.read, int64(len(answer.Logs)))
			cost.By, cost.Reused, cost.Skipped = way.by, way.reused, names(skipped)
			return answer, cost, nil
		}
		if !e.mayBeObject(ctx, err) {
			return query.Answer{}, engine.Cost{}, e.failure(ctx, err)
		}
		if attempt == 0 {
			continue
		}
		damaged := e.damaged(ctx, q, objects, err)
		if len(damaged) == 0 {
			return query.Answer{}, engine.Cost{}, e.failure(ctx, err)
		}
		skipped = append(skipped, damaged...)
	}
}

// objects lists the objects that can hold matching records at this moment. The index lists the objects of the
// partitions; objects that do not overlap the spans are left out.
func (e *Engine) objects(ctx context.Context, q query.Query) ([]lake.Object, error) {
	span := q.TimeBounds().Span()
	if span.Empty() {
		return nil, nil
	}
	all, err := e.index.Objects(ctx, lake.PartitionOf(span.FromMs), lake.PartitionOf(span.ToMs))
	if err != nil {
		return nil, fmt.Errorf("list objects: %w", err)
	}
	return touching(q, all), nil
}

// touching returns the objects that overlap the spans of a query.
func touching(q query.Query, objects []lake.Object) (touched []lake.Object) {
	reach := q.TimeBounds()
	for _, o := range objects {
		if o.Rows > 0 && reach.Touches(o.MinTsMs, o.MaxTsMs) {
			touched = append(touched, o)
		}
	}
	return touched
}

func without(objects []lake.Object, skipped []string) []lake.Object {
	return slices.DeleteFunc(objects, func(o lake.Object) bool { return slices.Contains(skipped, o.Path) })
}

// names returns the names of objects. Callers may know these, but not the folder they are in.
func names(paths []string) []string {
	var list []string
	for _, path := range paths {
		list = append(list, lake.NameOf(path))
	}
	return list
}

// The ways to answer, which Cost.By and Plan.By name.
const (
	byScan   = "scan"   // a scan of the columns
	byRows   = "rows"   // the places of the records are found, then the records are read row by row
	byDuckDB = "duckdb" // DuckDB alone
)

// by returns the way to answer q that is tried first.
func (e *Engine) by(q query.Query) string {
	_, logs := q.Shape.(query.Logs)
	_, values := q.Shape.(query.Values)
	switch {
	case logs:
		return byRows
	case values || e.scans(q):
		return byScan
	}
	return byDuckDB
}

// scans reports whether the scan is asked first: for figures, or for the places of the newest records. DuckDB is asked
// if the scan returns scan.ErrUnsupported.
func (e *Engine) scans(q query.Query) bool {
	return e.duckDB == nil || !e.onlySQL && (scan.Supports(q) || scan.SupportsNewest(q))
}

// way is how a query was answered.
type way struct {
	by     string
	read   []lake.Object
	reused int // objects that were not read, because figures of earlier queries were reused
}

// answerPatiently is answer that waits while other queries use the memory. It waits without memory of its own, so
// queries do not wait for each other.
func (e *Engine) answerPatiently(
	ctx context.Context, q query.Query, objects []lake.Object,
) (answer query.Answer, way way, err error) {
	waiting, stop := context.WithTimeout(ctx, e.patience)
	defer stop()
	for {
		answer, way, err = e.answer(ctx, q, objects)
		if !errors.Is(err, scan.ErrBusy) || e.scan.Shared.Wait(waiting, engine.CallerOf(ctx), e.scan.Memory) != nil {
			return answer, way, err
		}
	}
}

// defaultPatience is how long a query waits for memory that other queries use. An ordinary query takes less time.
const defaultPatience = 20 * time.Second

// answer answers q over exactly the given objects.
func (e *Engine) answer(ctx context.Context, q query.Query, objects []lake.Object) (query.Answer, way, error) {
	by := e.by(q)
	if len(objects) == 0 {
		return query.Answer{}, way{by: by}, nil
	}
	if err := e.checkPatterns(ctx, q, objects); err != nil {
		return query.Answer{}, way{}, err
	}
	if by == byRows {
		answer, read, err := e.logs(ctx, q, objects)
		return answer, way{by: by, read: read}, err
	}
	return e.figures(ctx, q, objects)
}

// checkPatterns refuses a query whose patterns would take too long, by the scan and by DuckDB alike.
func (e *Engine) checkPatterns(ctx context.Context, q query.Query, objects []lake.Object) error {
	err := scan.CheckPatterns(ctx, q, objects, e.scan)
	switch {
	case errors.Is(err, scan.ErrBusy):
		return busy(err)
	case errors.Is(err, scan.ErrUnsupported):
		return engine.ResourcesError(err)
	}
	return err
}

// figures answers a query for figures by a scan, which is several times faster than DuckDB, or by DuckDB if the scan
// does not support the query.
func (e *Engine) figures(ctx context.Context, q query.Query, objects []lake.Object) (query.Answer, way, error) {
	if e.scans(q) {
		answer, read, err := scan.Answer(ctx, q, objects, e.scan)
		if !errors.Is(err, scan.ErrUnsupported) {
			return answer, way{byScan, read, len(objects) - len(read)}, err
		}
		if e.duckDB == nil {
			return query.Answer{}, way{}, needsDuckDB(err)
		}
	}
	if err := checkObjects(ctx, objects); err != nil {
		return query.Answer{}, way{}, err
	}
	answer, err := e.duckDB.Answer(ctx, q, objects)
	return answer, way{by: byDuckDB, read: objects}, err
}

// checkObjects checks that no file has been replaced by another one, as the scan does when it opens objects.
func checkObjects(ctx context.Context, objects []lake.Object) error {
	for _, o := range objects {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := scan.Check(o); err != nil {
			return err
		}
	}
	return nil
}

// damaged returns the paths of the objects that caused an error: the object that the error names, or every object with
// an unreadable column that q touches.
func (e *Engine) damaged(ctx context.Context, q query.Query, objects []lake.Object, failed error) []string {
	var named *engine.ObjectError
	if errors.As(failed, &named) {
		return []string{named.Path}
	}
	if e.duckDB == nil {
		return nil
	}
	var bad []string
	for _, o := range objects {
		if err := e.duckDB.Probe(ctx, o, q.Columns()); err != nil && ctx.Err() == nil {
			bad = append(bad, o.Path)
		}
	}
	return bad
}
