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

// nothingCompacted is a watermark before every hour: all are read from the fresh table.
const nothingCompacted lake.Partition = math.MinInt64

// How old a probe's answer may be: of the newest record, which new objects raise, and of everything.
const (
	newestAge = 10 * time.Second
	wholeAge  = time.Hour
)

// probe asks the cluster for the state of a lake that nothing compacts. Asking about everything lists every
// hour that the table could have, so that is done once an hour, beside those who wait for answers; in between only the
// newest hours are asked about.
type probe struct {
	client  *Client
	flights singleflight.Group

	mu            sync.Mutex
	extent        lake.Extent
	whole, newest time.Time // when each was asked for; zero: never
	asked         int64
}

// State implements engine.States.
func (p *probe) State(ctx context.Context) (engine.State, error) {
	now := p.client.Now()
	p.mu.Lock()
	never, wholeDue, newestDue := p.whole.IsZero(), now.Sub(p.whole) > wholeAge, now.Sub(p.newest) > newestAge
	p.mu.Unlock()
	if wholeDue {
		done := p.flights.DoChan("whole", func() (any, error) { return nil, p.askWhole(context.WithoutCancel(ctx), now) })
		if never {
			if err := waitFor(ctx, done); err != nil {
				return engine.State{}, err
			}
		}
	}
	if newestDue && !never {
		done := p.flights.DoChan("newest", func() (any, error) { return nil, p.askNewest(context.WithoutCancel(ctx), now) })
		if err := waitFor(ctx, done); err != nil {
			return engine.State{}, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return engine.State{Extent: p.extent, Watermark: nothingCompacted, Version: p.asked}, nil
}

func waitFor(ctx context.Context, done <-chan singleflight.Result) error {
	select {
	case r := <-done:
		return r.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *probe) askWhole(ctx context.Context, now time.Time) error {
	extent, err := p.ask(ctx, "")
	if err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.extent, p.whole, p.newest, p.asked = extent, now, now, p.asked+1
	}
	return err
}

// askNewest asks about the last hours, and about those from the newest record known.
func (p *probe) askNewest(ctx context.Context, now time.Time) error {
	since := now.Add(-2 * time.Hour).UnixMilli()
	p.mu.Lock()
	if p.extent.Rows > 0 {
		since = min(since, p.extent.MaxTsMs)
	}
	p.mu.Unlock()
	extent, err := p.ask(ctx, fmt.Sprintf(" WHERE %s >= '%s'", lake.PartitionKey, lake.PartitionOf(since)))
	if err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.extent, p.newest, p.asked = joined(p.extent, extent), now, p.asked+1
	}
	return err
}

// ask asks for the time that records cover, and how many there are.
func (p *probe) ask(ctx context.Context, where string) (lake.Extent, error) {
	table, err := p.client.Query(ctx, "SELECT min(ts_ms), max(ts_ms), count(*) FROM "+lake.FreshTable+where)
	if err != nil {
		return lake.Extent{}, err
	}
	if len(table) != 1 || len(table[0]) != 3 {
		return lake.Extent{}, fmt.Errorf("%d rows tell of the time that records cover", len(table))
	}
	var figures [3]int64
	for i, cell := range table[0] {
		if cell == nil { // no records
			continue
		}
		if figures[i], err = strconv.ParseInt(*cell, 10, 64); err != nil {
			return lake.Extent{}, err
		}
	}
	return lake.Extent{MinTsMs: figures[0], MaxTsMs: figures[1], Rows: figures[2]}, nil
}

// joined is an earlier extent with what the newest hours have now.
func joined(earlier, newest lake.Extent) lake.Extent {
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
