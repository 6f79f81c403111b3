package local

import (
	"context"
	"errors"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

var _ engine.ValueFinder = (*Engine)(nil)

// FindValues finds values by a scan, in the newest objects first. Like Run, it asks the index once more if an object
// cannot be read, and then leaves the object out.
func (e *Engine) FindValues(
	ctx context.Context, q query.Query, enough func() bool,
) (engine.FoundValues, engine.Cost, error) {
	var skipped []string
	for attempt := 0; ; attempt++ {
		objects, err := e.objects(ctx, q)
		if err != nil {
			return engine.FoundValues{}, engine.Cost{}, e.failure(ctx, err)
		}
		objects = without(objects, skipped)
		found, err := scan.Values(ctx, q, objects, enough, e.scan)
		switch {
		case err == nil:
			return engine.FoundValues{
				ValuesAnswer: found.ValuesAnswer,
				Exact:        len(found.Looked) == len(objects) && len(skipped) == 0,
				Looked:       len(found.Looked),
				Of:           len(objects) + len(skipped),
			}, costOfValues(q, found, skipped), nil
		case errors.Is(err, scan.ErrUnsupported):
			return engine.FoundValues{}, engine.Cost{}, tooManyValues(err)
		case !e.mayBeObject(ctx, err):
			return engine.FoundValues{}, engine.Cost{}, e.failure(ctx, err)
		}
		if attempt == 0 {
			continue
		}
		damaged := e.damaged(ctx, q, objects, err)
		if len(damaged) == 0 {
			return engine.FoundValues{}, engine.Cost{}, e.failure(ctx, err)
		}
		skipped = append(skipped, damaged...)
	}
}

// costOfValues returns the cost of finding values: the dictionaries read, and the columns of some objects.
func costOfValues(q query.Query, found scan.FoundValues, skipped []string) engine.Cost {
	cost := costOf(q, found.Columns, 0)
	cost.BytesScanned += found.Dictionary
	objects, rows := len(found.Looked), lake.Rows(found.Looked)
	cost.Objects, cost.RowsConsidered = &objects, &rows
	cost.By, cost.Skipped = byScan, names(skipped)
	return cost
}

func tooManyValues(unsupported error) error {
	if errors.Is(unsupported, scan.ErrBusy) {
		return busy(unsupported)
	}
	return fault.Wrap(fault.EngineLimit, unsupported,
		"too many different values to count; give a longer prefix, or a shorter period")
}
