package local

import (
	"context"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

var _ engine.Arrivals = (*Engine)(nil)

// maxAtOnce limits how many late records are counted in the millisecond of a place.
const maxAtOnce = 10_000

// Sequence returns the number of the latest change of the index, or 0 if the index does not number its changes.
func (e *Engine) Sequence(ctx context.Context) (int64, error) {
	numbered, ok := e.index.(engine.NumberedIndex)
	if !ok {
		return 0, nil
	}
	return numbered.Sequence(ctx)
}

// Late reads only objects that were published since the change. The number is not known if a compaction since then has
// merged records from before and after it.
func (e *Engine) Late(ctx context.Context, q query.Query, change int64) (engine.Late, error) {
	objects, known, err := e.arrived(ctx, q, change)
	if err != nil {
		return engine.Late{}, e.failure(ctx, err)
	}
	if !known {
		return engine.Late{}, nil
	}
	late, err := e.count(ctx, q, objects)
	switch {
	case err == nil:
		return late, nil
	case e.mayBeObject(ctx, err):
		return engine.Late{}, nil
	}
	return engine.Late{}, e.failure(ctx, err)
}

// EstimateLate returns what Late would read, from the list of the objects.
func (e *Engine) EstimateLate(ctx context.Context, q query.Query, change int64) (sum engine.Bytes, _ error) {
	objects, known, err := e.arrived(ctx, q, change)
	if err != nil {
		return sum, e.failure(ctx, err)
	}
	if !known {
		return sum, nil
	}
	for _, part := range lateParts(q) {
		touched := touching(part, objects)
		columns, records := columnSizes(part, touched)
		bytes := bytesToRead(part, touched, columns, records)
		sum.Low, sum.High = sum.Low+bytes.Low, sum.High+bytes.High
	}
	return sum, nil
}

// arrived lists the objects of a query that were published since a change. It returns false if they are not known.
func (e *Engine) arrived(
	ctx context.Context, q query.Query, change int64,
) (since []lake.Object, known bool, _ error) {
	now, err := e.Sequence(ctx)
	if err != nil || change == 0 || now < change { // now < change: the folder has been replaced
		return nil, false, err
	}
	objects, err := e.objects(ctx, q)
	if err != nil {
		return nil, false, err
	}
	for _, o := range objects {
		switch {
		case o.LastChange <= change:
		case o.FirstChange <= change:
			return nil, false, nil
		default:
			since = append(since, o)
		}
	}
	return since, true, nil
}

// count counts the records in objects that match q, a query for the records before a place.
func (e *Engine) count(ctx context.Context, q query.Query, objects []lake.Object) (engine.Late, error) {
	var late engine.Late
	for _, part := range lateParts(q) {
		answer, way, err := e.answer(ctx, part, touching(part, objects))
		if err != nil {
			return late, err
		}
		late.BytesScanned += costOf(part, way.read, int64(len(answer.Logs))).BytesScanned
		if len(answer.Logs) == maxAtOnce || answer.Truncated {
			return late, nil
		}
		late.Records += int64(len(answer.Logs))
		for _, s := range answer.Histogram {
			late.Records += s.Total
		}
	}
	late.Known = true
	return late, nil
}

// lateParts divides a query for the records before a place into two parts: the first counts the records of the
// milliseconds before the place, the second finds the records of the place's own millisecond. A part that covers no
// time is left out.
func lateParts(q query.Query) (parts []query.Query) {
	logs := q.Shape.(query.Logs)
	earlier, at := q, q
	if place := logs.OlderThan; place != nil {
		earlier.Scope.ToMs = min(q.Scope.ToMs, place.TsMs-1)
		at.Scope.FromMs = max(q.Scope.FromMs, place.TsMs)
	} else {
		at.Scope.ToMs = at.Scope.FromMs - 1
	}
	if !earlier.Scope.Empty() {
		longest := query.Segments[len(query.Segments)-1]
		earlier.Shape = query.Histogram{SegmentSeconds: longest, Measure: query.MeasureRequests}
		parts = append(parts, earlier)
	}
	if !at.Scope.Empty() {
		logs.Limit, logs.Fields = maxAtOnce, []string{"timestamp"}
		at.Shape = logs
		parts = append(parts, at)
	}
	return parts
}
