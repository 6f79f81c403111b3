package answering

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

// allowance is what the questions of an answer may read together. Before a question is asked, the most that it may read
// by its estimate is reserved, and stays reserved, however much it reads. A nil allowance has no limit.
type allowance struct {
	most  int64
	first func(ctx context.Context, ask Ask) error // checks what is known before the first question

	once    sync.Once
	refused error // by first

	mu       sync.Mutex
	reserved []*search.Estimate
}

// allow returns an allowance of so many bytes, or nil for 0. The estimate of the answer is checked before the first
// question is asked, so that nothing is read if it is too much.
func allow[Result any](most int64, of conclusion[Result]) *allowance {
	if most == 0 {
		return nil
	}
	return &allowance{most: most, first: func(ctx context.Context, ask Ask) error {
		meta, err := of.estimate(ctx, ask)
		if err != nil {
			return err
		}
		heavy := &search.HeavyError{
			MaxBytes: most, Estimate: meta.Estimate, Several: true, Unfitted: of.fitting == nil,
		}
		switch known := meta.Estimate.Bytes; {
		case known != nil && known.High <= most:
			return nil
		case known != nil && of.fitting != nil:
			if heavy.Fits, err = of.fitting(ctx, ask, most); err != nil {
				return err
			}
		}
		return heavy
	}}
}

// asking returns a function that asks a question if it may be asked.
func (a *allowance) asking(ask Ask) Ask {
	if a == nil {
		return ask
	}
	return func(ctx context.Context, to string, params map[string]string) ([]byte, error) {
		if params[dryRunName] != "true" {
			if err := a.reserve(ctx, ask, to, params); err != nil {
				return nil, err
			}
		}
		return ask(ctx, to, params)
	}
}

// reserve reserves what a question may read. The error is a *search.HeavyError if that is too much. ask asks for the
// estimate.
func (a *allowance) reserve(ctx context.Context, ask Ask, to string, params map[string]string) error {
	if a == nil {
		return nil
	}
	a.once.Do(func() { a.refused = a.first(ctx, ask) })
	if a.refused != nil {
		return a.refused
	}
	dry := map[string]string{dryRunName: "true"}
	maps.Copy(dry, params)
	body, err := ask(ctx, to, dry)
	if err != nil {
		return err
	}
	answer, err := inquiry.Read(body)
	if err != nil {
		return err
	}
	estimate := answer.Meta.Estimate
	if estimate == nil {
		return errors.New("an answer has no estimate")
	}
	estimate.Unrounded = answer.Unrounded
	a.mu.Lock()
	defer a.mu.Unlock()
	sum := search.Sum(append(slices.Clip(a.reserved), estimate), 0)
	if sum.Bytes == nil || sum.Bytes.High > a.most {
		return &search.HeavyError{MaxBytes: a.most, Estimate: sum, Several: true, Unfitted: true}
	}
	a.reserved = append(a.reserved, estimate)
	return nil
}

// fittingPart returns the function of a conclusion about the requests of a filter in either form, which has a period.
func fittingPart(
	filters string, syntax filter.Syntax, zone string, now time.Time,
	estimate func(ctx context.Context, ask Ask, filters string) (search.Meta, error),
) func(ctx context.Context, ask Ask, most int64) (*search.MetaPeriod, error) {
	return func(ctx context.Context, ask Ask, most int64) (*search.MetaPeriod, error) {
		clock, err := search.ClockOf(now, zone)
		if err != nil {
			return nil, err
		}
		q, conditions, err := inquiry.Bind(syntax.Parse(filters), query.WithClock(clock))
		if err != nil {
			return nil, err
		}
		return search.Fitting(q.Period, most, func(fromMs int64) (search.MetaPeriod, *search.Estimate, error) {
			part := query.Period{FromMs: fromMs, ToMs: q.Period.ToMs}
			meta, err := estimate(ctx, ask, filter.Joined(filter.During(part.FromMs, part.ToMs), conditions))
			return search.PeriodOf(part), meta.Estimate, err
		})
	}
}
