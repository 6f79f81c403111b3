package trino

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
)

// nothingCompacted is a watermark before every hour, so that all hours are read from the fresh table.
const nothingCompacted lake.Partition = math.MinInt64

// The age after which a probe queries the extent again: of the newest hours, and of all hours.
const (
	newestAge = 10 * time.Second
	wholeAge  = time.Hour
)

// probe queries the cluster for the state of a lake without compaction. A query over all hours makes the cluster list
// every hour that the table could have. The probe therefore runs it once an hour, in the background, and otherwise
// queries only the newest hours.
type probe struct {
	client  *Client
	flights singleflight.Group

	mu            sync.Mutex
	extent        lake.Extent
	whole, newest time.Time // when each was queried; zero: never
	version       int64     // the number of queries that have succeeded
}

// State implements engine.States.
func (p *probe) State(ctx context.Context) (engine.State, error) {
	now := p.client.Now()
	p.mu.Lock()
	never, wholeDue, newestDue := p.whole.IsZero(), now.Sub(p.whole) > wholeAge, now.Sub(p.newest) > newestAge
	p.mu.Unlock()
	if wholeDue {
		done := p.flights.DoChan("whole", func() (any, error) {
			return nil, p.readWhole(context.WithoutCancel(ctx), now)
		})
		if never {
			if err := waitFor(ctx, done); err != nil {
				return engine.State{}, err
			}
		}
	}
	if newestDue && !never {
		done := p.flights.DoChan("newest", func() (any, error) {
			return nil, p.readNewest(context.WithoutCancel(ctx), now)
		})
		if err := waitFor(ctx, done); err != nil {
			return engine.State{}, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return engine.State{Extent: p.extent, Watermark: nothingCompacted, Version: p.version}, nil
}

func waitFor(ctx context.Context, done <-chan singleflight.Result) error {
	select {
	case r := <-done:
		return r.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// readWhole reads the extent of all hours.
func (p *probe) readWhole(ctx context.Context, now time.Time) error {
	extent, err := p.query(ctx, "")
	if err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.extent, p.whole, p.newest, p.version = extent, now, now, p.version+1
	}
	return err
}

// readNewest reads the extent of the last two hours and of the hours since the newest known record.
func (p *probe) readNewest(ctx context.Context, now time.Time) error {
	since := now.Add(-2 * time.Hour).UnixMilli()
	p.mu.Lock()
	if p.extent.Rows > 0 {
		since = min(since, p.extent.MaxTsMs)
	}
	p.mu.Unlock()
	extent, err := p.query(ctx, fmt.Sprintf(" WHERE %s >= '%s'", lake.PartitionKey, lake.PartitionOf(since)))
	if err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.extent, p.newest, p.version = union(p.extent, extent), now, p.version+1
	}
	return err
}

// query returns the period and the number of the records that match a WHERE clause.
func (p *probe) query(ctx context.Context, where string) (lake.Extent, error) {
	table, err := p.client.Query(ctx, "SELECT min(ts_ms), max(ts_ms), count(*) FROM "+lake.FreshTable+where)
	if err != nil {
		return lake.Extent{}, err
	}
	if len(table) != 1 || len(table[0]) != 3 {
		return lake.Extent{}, fmt.Errorf("the query for the extent returns %d rows", len(table))
	}
	var figures [3]int64
	for i, cell := range table[0] {
		if cell == nil { // there are no records
			continue
		}
		if figures[i], err = strconv.ParseInt(*cell, 10, 64); err != nil {
			return lake.Extent{}, err
		}
	}
	return lake.Extent{MinTsMs: figures[0], MaxTsMs: figures[1], Rows: figures[2]}, nil
}

// union returns an earlier extent enlarged by the extent of the newest hours. Its number of rows is a lower bound.
func union(earlier, newest lake.Extent) lake.Extent {
	switch {
	case newest.Rows == 0:
		return earlier
	case earlier.Rows == 0:
		return newest
	}
	return lake.Extent{
		MinTsMs: min(earlier.MinTsMs, newest.MinTsMs),
		MaxTsMs: max(earlier.MaxTsMs, newest.MaxTsMs),
		Rows:    max(earlier.Rows, newest.Rows),
	}
}
