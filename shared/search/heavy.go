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
	twice    bool        // the query has a second period, whose length is that of the first
}

func (e *HeavyError) Error() string { return "max_bytes: " + e.Message() }

// Message returns what is wrong, and what to do.
func (e *HeavyError) Message() string {
	if e.Estimate.Bytes == nil {
		return noEstimate + ": ask without max_bytes"
	}
	text := fmt.Sprintf("the query may read %d bytes, more than %d; ", e.Estimate.Bytes.High, e.MaxBytes)
	switch {
	case e.twice:
		return text + "ask for a shorter period, or allow more bytes"
	case e.Fits == nil:
		return text + "no part of the period of at least a minute fits: allow more bytes"
	}
	return text + fmt.Sprintf("the period from %s to %s fits", e.Fits.From, e.Fits.To)
}

// maxBytes returns the parameter max_bytes, or 0 without one.
func (r Request) maxBytes() (int64, error) {
	if r.MaxBytes == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(r.MaxBytes, 10, 64)
	if err != nil || n < 1 {
		return 0, &ParamError{
			Param: "max_bytes", Message: fmt.Sprintf("%q is not a whole number of bytes, at least 1", r.MaxBytes), Suggestion: "100000000",
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
	most, err := r.maxBytes()
	if err != nil || most == 0 || e.Bytes != nil && e.Bytes.High <= most {
		return err
	}
	diff, ok := q.Shape.(query.Diff)
	heavy := &HeavyError{MaxBytes: most, Estimate: e, twice: ok && diff.Against != (query.Against{})}
	if e.Bytes != nil && !heavy.twice {
		if heavy.Fits, err = s.fitting(ctx, r, q, most, started); err != nil {
			return err
		}
	}
	return heavy
}

// fitting looks, in eight steps, for the longest end of the period that begins at a whole minute and for which the query
// reads at most so many bytes. It returns nil if it finds none.
func (s *Service) fitting(
	ctx context.Context, r Request, q query.Query, most int64, started bool,
) (*MetaPeriod, error) {
	extent, err := s.engine.Extent(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the extent of the data: %w", err)
	}
	data := q.Clamp(extent).Scope.Period
	var fits *MetaPeriod
	const minute = int64(time.Minute / time.Millisecond)
	heavy, light := data.FromMs, data.ToMs
	for range 8 {
		from := (heavy + (light-heavy)/2 + minute - 1) / minute * minute
		if from <= heavy || from >= light {
			break
		}
		part := q
		part.Period.FromMs, part.Scope.FromMs = from, from
		_, e, err := s.estimateOf(ctx, r, part, started)
		if err != nil {
			return nil, err
		}
		if e.Bytes == nil || e.Bytes.High > most {
			heavy = from
			continue
		}
		fitting := PeriodOf(part.Period)
		light, fits = from, &fitting
	}
	return fits, nil
}
