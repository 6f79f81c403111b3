package search

import (
	"context"
	"fmt"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/query"
)

// addArrivals completes the meta of an answer to a request for logs with what is known about the arrival of records:
// the number of the late ones, if the request has since, and the mark in meta.head by which a later request counts them.
//
// The head has a mark only if the data has not changed while the query ran. Otherwise it would not be known which
// records the answer has seen. Later pages have none, because they have the head of the first page. Keys that are
// limited to branches get none, because it counts the imports of all.
func (s *Service) addArrivals(ctx context.Context, r Request, q query.Query, data freshness, result *Result) error {
	arrivals, ok := s.engine.(engine.Arrivals)
	if r.Route != Logs || !ok {
		return nil
	}
	if data.Mark != 0 && r.Cursor == "" && r.Branches == nil {
		mark, err := arrivals.Mark(ctx)
		if err != nil {
			return fmt.Errorf("read the mark of the data: %w", err)
		}
		if mark == data.Mark {
			result.Meta.Head = tokenOfHead(head{result.Logs.cursor.Head, mark})
		}
	}
	since, ok := parseHead(r.Since)
	if !ok || since.Mark == 0 {
		return nil
	}
	n, known, err := s.late(ctx, r, q, since, arrivals)
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("count late records: %w", err)
	}
	if err == nil && known { // the answer is there, even if they cannot be counted for lack of time or memory
		late := &n
		result.Meta.Late = &late
	}
	return nil
}

// late counts the records that have arrived since a head and are older than it, within the limits of this process.
func (s *Service) late(
	ctx context.Context, r Request, q query.Query, since head, arrivals engine.Arrivals,
) (n int64, known bool, _ error) {
	if s.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.timeout)
		defer cancel()
	}
	release, err := s.limiter.Acquire(ctx, r.Caller)
	if err != nil {
		return 0, false, err
	}
	defer release()
	extent, err := s.engine.Extent(ctx)
	if err != nil {
		return 0, false, fmt.Errorf("read the extent of the data: %w", err)
	}
	logs := q.Shape.(query.Logs)
	logs.OlderThan, logs.NewerThan = &since.Place, nil
	q.Shape = logs
	return arrivals.Late(engine.WithCaller(ctx, r.Caller), q.Clamp(extent), since.Mark)
}
