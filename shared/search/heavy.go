package search

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/orrery/orrery/shared/query"
)

// HeavyError is the error of a request whose query may read more than its max_bytes.
type HeavyError struct {
	MaxBytes int64
	Estimate *Estimate
	Fits     *MetaPeriod // the newest part of the period for which a query may not read more; nil: none was found
	Several  bool        // the request is for an answer to several questions
	Unfitted bool        // no part of the period was looked for
}

func (e *HeavyError) Error() string { return "max_bytes: " + e.Message() }

// Message returns what is wrong, and what to do.
func (e *HeavyError) Message() string {
	if e.Estimate.Bytes == nil {
		return noEstimate + ": ask without max_bytes"
	}
	who := "the query"
	if e.Several {
		who = "its questions"
	}
	text := fmt.Sprintf("%s may read %d bytes, more than %d; ", who, e.Estimate.Bytes.High, e.MaxBytes)
	switch {
	case e.Unfitted:
		return text + "ask for a shorter period, or allow more bytes"
	case e.Fits == nil:
		return text + "no part of the period of at least a minute fits: allow more bytes"
	}
	return text + fmt.Sprintf("the period from %s to %s fits", e.Fits.From, e.Fits.To)
}

// MaxBytesParam is the name of the parameter for a limit.
const MaxBytesParam = "max_bytes"

// MaxBytes reads the parameter max_bytes, which is 0 if the text is empty. The error is a *ParamError.
func MaxBytes(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, &ParamError{
			Param: MaxBytesParam, Message: fmt.Sprintf("%q is not a whole number of bytes, at least 1", text), Suggestion: "100000000",
		}
	}
	return n, nil
}

// estimateWithin returns what estimateOf returns, or a *HeavyError if the query may read more than the request allows. A dry
// run reads nothing, so any query is allowed.
func (s *Service) estimateWithin(
	ctx context.Context, r Request, q query.Query, started bool,
) (by string, e *Estimate, err error) {
	by, e, err = s.estimateOf(ctx, r, q, started)
	if err == nil && !r.dryRun() {
		err = s.affordable(ctx, r, q, e, started)
	}
	return by, e, err
}

// affordable returns a *HeavyError if the estimate of the query is more than the request allows.
func (s *Service) affordable(ctx context.Context, r Request, q query.Query, e *Estimate, started bool) error {
	most, err := MaxBytes(r.MaxBytes)
	if err != nil || most == 0 || e.Bytes != nil && e.Bytes.High <= most {
		return err
	}
	diff, ok := q.Shape.(query.Diff)
	heavy := &HeavyError{MaxBytes: most, Estimate: e, Unfitted: ok && diff.Against != (query.Against{})}
	if e.Bytes != nil && !heavy.Unfitted {
		if heavy.Fits, err = s.fitting(ctx, r, q, most, started); err != nil {
			return err
		}
	}
	return heavy
}

// fitting looks for the part of the data that Fitting returns.
func (s *Service) fitting(
	ctx context.Context, r Request, q query.Query, most int64, started bool,
) (*MetaPeriod, error) {
	extent, err := s.engine.Extent(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the extent of the data: %w", err)
	}
	data := q.Clamp(extent).Scope.Period
	return Fitting(data, most, func(fromMs int64) (MetaPeriod, *Estimate, error) {
		part := q
		part.Period.FromMs, part.Scope.FromMs = fromMs, fromMs
		_, e, err := s.estimateOf(ctx, r, part, started)
		return PeriodOf(part.Period), e, err
	})
}

// Fitting looks, in eight steps, for the longest end of a period that begins at a whole minute and for which a query reads
// at most so many bytes. It returns nil if it finds none. estimate returns the estimate of the part of the period from a
// time on, and that part.
func Fitting(
	p query.Period, most int64, estimate func(fromMs int64) (MetaPeriod, *Estimate, error),
) (fits *MetaPeriod, _ error) {
	const minute = int64(time.Minute / time.Millisecond)
	heavy, light := p.FromMs, p.ToMs
	for range 8 {
		from := (heavy + (light-heavy)/2 + minute - 1) / minute * minute
		if from <= heavy || from >= light {
			break
		}
		part, e, err := estimate(from)
		if err != nil {
			return nil, err
		}
		if e.Bytes == nil || e.Bytes.High > most {
			heavy = from
			continue
		}
		light, fits = from, &part
	}
	return fits, nil
}
