package local

import (
	"context"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

var _ engine.Arrivals = (*Engine)(nil)

// maxAtOnce is the number of late records in the millisecond of a place up to which they are counted.
const maxAtOnce = 10_000

// Mark returns the number of the latest change of the index, or 0 if the index does not number its changes.
func (e *Engine) Mark(ctx context.Context) (int64, error) {
	numbered, ok := e.index.(engine.NumberedIndex)
	if !ok {
		return 0, nil
	}
	return numbered.Sequence(ctx)
}

// Late reads only objects that were published since the mark. The number is not known if a compaction since the mark
// has merged records from before and after it.
func (e *Engine) Late(ctx context.Context, q query.Query, mark int64) (n int64, known bool, _ error) {
	now, err := e.Mark(ctx)
	if err != nil {
		return 0, false, e.failure(ctx, err)
	}
	if mark == 0 || now < mark { // the folder has been replaced
		return 0, false, nil
	}
	objects, err := e.objects(ctx, q)
	if err != nil {
		return 0, false, e.failure(ctx, err)
	}
	var since []lake.Object
	for _, o := range objects {
		switch {
		case o.LastChange <= mark:
		case o.FirstChange <= mark:
			return 0, false, nil
		default:
			since = append(since, o)
		}
	}
	if len(since) == 0 {
		return 0, true, nil
	}
	n, known, err = e.count(ctx, q, since)
	switch {
	case err == nil:
		return n, known, nil
	case e.mayBeObject(ctx, err):
		return 0, false, nil
	}
	return 0, false, e.failure(ctx, err)
}

// count counts the records in objects that a query for the records before a place matches: those of the milliseconds
// before it as figures, and those of its own millisecond as records.
func (e *Engine) count(ctx context.Context, q query.Query, objects []lake.Object) (n int64, known bool, _ error) {
	logs := q.Shape.(query.Logs)
	earlier, at := q, q
	if place := logs.OlderThan; place != nil {
		earlier.Scope.ToMs = min(q.Scope.ToMs, place.TsMs-1)
		at.Scope.FromMs = max(q.Scope.FromMs, place.TsMs)
	} else {
		at.Scope.ToMs = at.Scope.FromMs - 1
	}
	if !earlier.Scope.Empty() {
		earlier.Shape = query.Facets{Limit: 1}
		answer, _, _, err := e.answer(ctx, earlier, objects)
		if err != nil {
			return 0, false, err
		}
		n += answer.Facets.Requests
	}
	if !at.Scope.Empty() {
		logs.Limit, logs.Fields = maxAtOnce, []string{"timestamp"}
		at.Shape = logs
		answer, _, _, err := e.answer(ctx, at, objects)
		if err != nil || len(answer.Logs) == maxAtOnce || answer.Truncated {
			return 0, false, err
		}
		n += int64(len(answer.Logs))
	}
	return n, true, nil
}
