package search

import (
	"context"
	"fmt"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// addArrivals completes the meta of an answer to a request for logs with what is known about the arrival of records:
// the number of the late ones, if the request has since, and the change in meta.head after which a later request counts
// them. It returns the bytes that the count has read, which it has added to the meta.
//
// The head has a change only if the data has not changed while the query ran. Otherwise it would not be known which
// records the answer has seen. Later pages have none, because they have the head of the first page. Keys that are
// limited to branches get none, because its number counts the imports of all.
func (s *Service) addArrivals(
	ctx context.Context, r Request, q query.Query, data freshness, result *Result,
) (bytes int64, _ error) {
	arrivals, ok := s.engine.(engine.Arrivals)
	if r.Route != Logs || !ok {
		return 0, nil
	}
	if data.Change != 0 && r.Cursor == "" && r.Branches == nil {
		change, err := arrivals.Sequence(ctx)
		if err != nil {
			return 0, fmt.Errorf("read the number of the latest change: %w", err)
		}
		if change == data.Change {
			result.Meta.Head = tokenOfHead(head{result.Logs.cursor.Head, change})
		}
	}
	since, ok := parseHead(r.Since)
	if !ok || since.Change == 0 {
		return 0, nil
	}
	late, err := s.late(ctx, r, q, since, arrivals)
	if err != nil && ctx.Err() != nil {
		return 0, fmt.Errorf("count late records: %w", err)
	}
	if err == nil && late.Known { // a lack of time or memory for the count does not fail the answer
		n := &late.Records
		result.Meta.Late = &n
	}
	result.Meta.BytesScanned += late.BytesScanned
	return late.BytesScanned, nil
}

// late counts the records that have arrived since a head and are older than it, within the limits of this process.
func (s *Service) late(
	ctx context.Context, r Request, q query.Query, since head, arrivals engine.Arrivals,
) (engine.Late, error) {
	if s.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.timeout)
		defer cancel()
	}
	release, err := s.limiter.Acquire(ctx, r.Caller)
	if err != nil {
		return engine.Late{}, err
	}
	defer release()
	extent, err := s.engine.Extent(ctx)
	if err != nil {
		return engine.Late{}, fmt.Errorf("read the extent of the data: %w", err)
	}
	return arrivals.Late(engine.WithCaller(ctx, r.Caller), lateQuery(q, since).Clamp(extent), since.Change)
}

// lateQuery returns the query for the records that are older than the place of a head.
func lateQuery(q query.Query, since head) query.Query {
	logs := q.Shape.(query.Logs)
	logs.OlderThan, logs.NewerThan = &since.Place, nil
	q.Shape = logs
	return q
}

// addLateBytes adds to an estimate what counting the late records reads.
func (s *Service) addLateBytes(
	ctx context.Context, r Request, q query.Query, extent lake.Extent, e *engine.Estimate,
) error {
	arrivals, ok := s.engine.(engine.Arrivals)
	since, has := parseHead(r.Since)
	if r.Route != Logs || !ok || !has || since.Change == 0 || e.Bytes == nil {
		return nil
	}
	more, err := arrivals.EstimateLate(ctx, lateQuery(q, since).Clamp(extent), since.Change)
	if err != nil {
		return fmt.Errorf("estimate the count of late records: %w", err)
	}
	e.Bytes = &engine.Bytes{Low: e.Bytes.Low + more.Low, High: e.Bytes.High + more.High}
	return nil
}
