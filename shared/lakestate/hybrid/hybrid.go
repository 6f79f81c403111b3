// Package hybrid answers small queries by a scan in this process, which takes a fraction of a second, and all others
// with an engine that runs as a service. The service also answers whatever the scan fails at.
package hybrid

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/engine/scan/scanblob"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/query"
)

// Service is an engine that runs as a service.
type Service interface {
	engine.Starter
	engine.Estimator
	engine.Completeness
}

// Listing lists the objects of the hours from…to, both included, that queries with that watermark read.
type Listing interface {
	Objects(ctx context.Context, watermark, from, to lake.Partition) iter.Seq2[blob.Info, error]
}

// Config is the configuration of an Engine.
type Config struct {
	Service Service
	States  engine.States
	Listing Listing
	Bucket  blob.Ranges           // the bucket of the objects
	Columns engine.ColumnsOfHours // nil: sizes of columns are not known before footers are read
	Now     func() time.Time

	MostBytes   int64         // most bytes of columns of a query for the scan; 0: the service answers all queries
	MostObjects int           // most objects of such a query; 0: DefaultObjects
	Longest     time.Duration // the time after which the service is asked; 0: 8 seconds
	Patience    time.Duration // how long a request for a range may take; 0: scanblob.Patience

	Failed func(error) // is called with the error of a failed scan, unless the query is too large; may be nil
}

// Engine is the service with a scan before it.
type Engine struct {
	Service
	Config

	turn   chan struct{} // holds an element while a scan runs
	mu     sync.Mutex
	listed listed
}

var (
	_ engine.Direct       = (*Engine)(nil)
	_ engine.Estimator    = (*Engine)(nil)
	_ engine.Completeness = (*Engine)(nil)
)

// DefaultObjects is the default of Config.MostObjects. A listing has twice as many.
const DefaultObjects = 512

// byScan is the name of the scan in costs and estimates.
const byScan = "scan"

// memoryBesides is the memory for the footers and the gaps between columns.
const memoryBesides = 64 << 20

// New returns an engine. It sends no request.
func New(c Config) (*Engine, error) {
	if c.Service == nil || c.States == nil || c.Listing == nil || c.Bucket == nil || c.Now == nil {
		return nil, errors.New("hybrid: Service, States, Listing, Bucket and Now must be set")
	}
	if c.MostObjects == 0 {
		c.MostObjects = DefaultObjects
	}
	if c.Longest == 0 {
		c.Longest = 8 * time.Second
	}
	if c.Patience == 0 {
		c.Patience = scanblob.Patience
	}
	return &Engine{Service: c.Service, Config: c, turn: make(chan struct{}, 1)}, nil
}

// Run answers q.
func (e *Engine) Run(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	if answer, cost, ok := e.TryDirect(ctx, q); ok {
		return answer, cost, nil
	}
	return e.Service.Run(ctx, q)
}

// TryDirect answers q by a scan if q is small. One scan runs at a time, because a scan uses all processors and
// connections, and may need most of the memory.
func (e *Engine) TryDirect(caller context.Context, q query.Query) (query.Answer, engine.Cost, bool) {
	ctx, cancel := context.WithTimeout(caller, e.Longest)
	defer cancel()
	answer, cost, err := e.direct(ctx, q)
	if err == nil {
		return answer, cost, true
	}
	isTooLarge := errors.Is(err, scan.ErrUnsupported) || fault.KindOf(err) == fault.EngineLimit
	if e.Failed != nil && caller.Err() == nil && !isTooLarge {
		e.Failed(fmt.Errorf("answer by a scan: %w", err))
	}
	return query.Answer{}, engine.Cost{}, false
}

// direct answers q by a scan. The error is a scan.ErrUnsupported if q is too large for one.
func (e *Engine) direct(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	began := e.Now()
	p, err := e.plan(ctx, q)
	if err != nil {
		return query.Answer{}, engine.Cost{}, err
	}
	answer, read, err := e.scan(ctx, p)
	if err != nil {
		return query.Answer{}, engine.Cost{}, err
	}
	state, err := e.States.State(ctx)
	if err != nil {
		return query.Answer{}, engine.Cost{}, err
	}
	price := float64(read.Requests) * usdPerRequest
	return answer, engine.Cost{
		By: byScan, BytesScanned: read.Bytes, USD: &price, Skipped: state.Skipped(p.query, began),
		Engine: e.Now().Sub(began),
	}, nil
}

// Probe counts the records of the newest hour by a scan. The error is a scan.ErrUnsupported if the hour is too large.
func (e *Engine) Probe(ctx context.Context) (engine.Cost, error) {
	state, err := e.States.State(ctx)
	if err != nil {
		return engine.Cost{}, err
	}
	hour := lake.PartitionOf(state.Extent.MaxTsMs)
	period := filter.During(hour.Start(), (hour+1).Start()-1)
	q, err := query.Bind(filter.ParseQueryString(period), query.Timeline{SegmentSeconds: 3600})
	if err != nil {
		return engine.Cost{}, err
	}
	_, cost, err := e.direct(ctx, q)
	return cost, err
}

// usdPerRequest is the price of a GET request in most regions.
const usdPerRequest = 0.4e-6

func (e *Engine) scan(ctx context.Context, p *plan) (query.Answer, scanblob.Read, error) {
	if len(p.objects) == 0 {
		return query.Answer{}, scanblob.Read{}, nil
	}
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return query.Answer{}, scanblob.Read{}, ctx.Err()
	}
	source := scanblob.New(ctx, e.Bucket, p.objects, e.MostBytes+memoryBesides, e.Patience)
	objects := make([]lake.Object, len(p.objects))
	for i, info := range p.objects {
		objects[i] = lake.Object{Path: info.Name, Bytes: info.Size}
	}
	answer, _, err := scan.Answer(ctx, p.query, objects, scan.Options{Source: source})
	source.Close()
	return answer, source.Read(), err
}

// plan is a query that the scan answers, clamped to the data.
type plan struct {
	query   query.Query
	state   engine.State
	hours   []lake.Partition
	objects []blob.Info
	columns []engine.ColumnSize
	counted map[lake.Partition]engine.ColumnBytes
}

// plan returns how the scan answers q, or a scan.ErrUnsupported if the service does.
func (e *Engine) plan(ctx context.Context, q query.Query) (*plan, error) {
	if !scan.Supports(q) || e.MostBytes == 0 {
		return nil, scan.ErrUnsupported
	}
	state, err := e.States.State(ctx)
	if err != nil {
		return nil, err
	}
	p := &plan{query: q.Clamp(state.Extent), state: state}
	p.hours = engine.HoursOf(p.query)
	var known bool
	if p.objects, known, err = e.list(ctx, state, p.hours); err != nil {
		return nil, err
	}
	if !known {
		return nil, scan.ErrUnsupported
	}
	sizes := map[lake.Partition]engine.Sizes{}
	for _, info := range p.objects {
		hour, ok := lakestate.HourOf(info.Name)
		if !ok {
			return nil, scan.ErrUnsupported
		}
		of := sizes[hour]
		sizes[hour] = engine.Sizes{Objects: of.Objects + 1, Bytes: of.Bytes + info.Size}
	}
	var all engine.ColumnBytes
	if e.Columns != nil && len(sizes) > 0 {
		if all, p.counted, err = e.Columns.Columns(ctx, state.Watermark, sizes); err != nil {
			return nil, err
		}
	}
	var bytes int64
	for _, name := range q.Columns() {
		size := engine.ColumnSize{Name: name}
		if n, known := all[name]; known || len(sizes) == 0 {
			size.Bytes = &n
			bytes += n
		}
		p.columns = append(p.columns, size)
	}
	if bytes > e.MostBytes {
		return nil, scan.ErrUnsupported
	}
	return p, nil
}

// listed is a listing of hours of the lake at a version.
type listed struct {
	version   int64
	watermark lake.Partition
	hours     []lake.Partition
	at        time.Time
	objects   []blob.Info
	known     bool
}

// maxRuns is the number of runs of adjacent hours up to which they are listed.
const maxRuns = 8

// list returns the objects of hours, which are ascending. known is false if there are too many. The query after an
// estimate uses the listing of the estimate.
func (e *Engine) list(
	ctx context.Context, state engine.State, hours []lake.Partition,
) (objects []blob.Info, known bool, _ error) {
	e.mu.Lock()
	last := e.listed
	e.mu.Unlock()
	now := e.Now()
	age := now.Sub(last.at)
	if last.version == state.Version && last.watermark == state.Watermark && slices.Equal(last.hours, hours) &&
		age >= 0 && age < engine.StateAge {
		return last.objects, last.known, nil
	}
	fresh := listed{version: state.Version, watermark: state.Watermark, hours: hours, at: now}
	var err error
	if fresh.objects, fresh.known, err = e.listRuns(ctx, state.Watermark, hours); err != nil {
		return nil, false, err
	}
	e.mu.Lock()
	e.listed = fresh
	e.mu.Unlock()
	return fresh.objects, fresh.known, nil
}

func (e *Engine) listRuns(
	ctx context.Context, watermark lake.Partition, hours []lake.Partition,
) (objects []blob.Info, known bool, _ error) {
	for runs := 0; len(hours) > 0; runs++ {
		n := engine.Adjacent(hours)
		if runs == maxRuns {
			return nil, false, nil
		}
		for info, err := range e.Listing.Objects(ctx, watermark, hours[0], hours[n-1]) {
			if err != nil {
				return nil, false, fmt.Errorf("list the objects of some hours: %w", err)
			}
			if len(objects) == e.MostObjects {
				return nil, false, nil
			}
			objects = append(objects, info)
		}
		hours = hours[n:]
	}
	return objects, true, nil
}

// Estimate returns what Run would read. The bytes of the scan are those of the columns, of the gaps between them, and of
// the footers that are not in memory.
func (e *Engine) Estimate(ctx context.Context, q query.Query) (engine.Estimate, error) {
	p, err := e.plan(ctx, q)
	if err != nil {
		return e.Service.Estimate(ctx, q)
	}
	number, most := len(p.objects), p.most()
	return engine.Estimate{
		By: byScan, Partitions: p.hours, Objects: &number, Columns: p.columns,
		Bytes: &engine.Bytes{Low: engine.LeastOf(p.query, p.state.Extent, p.counted), High: most.Bytes},
		USD:   &engine.USD{High: float64(most.Requests) * usdPerRequest},
	}, nil
}

// EstimateStarted returns what the service would read.
func (e *Engine) EstimateStarted(ctx context.Context, q query.Query) (engine.Estimate, error) {
	return e.Service.Estimate(ctx, q)
}

// most returns the most that the scan reads if no connection breaks.
func (p *plan) most() (most scanblob.Read) {
	for _, o := range p.objects {
		most.Bytes += o.Size + scan.FooterBytes(o.Size)
		// Ranges are longer than the gaps between them, or have gaps of that length between them.
		most.Requests += 3 + int(o.Size/scanblob.GapBytes)
	}
	return most
}

// Explain returns what Run would do. The statements of the service run only if the scan fails.
func (e *Engine) Explain(ctx context.Context, q query.Query) (engine.Plan, error) {
	found, err := e.Service.Explain(ctx, q)
	if err != nil {
		return engine.Plan{}, err
	}
	if _, err := e.plan(ctx, q); err == nil {
		found.By = byScan
		found.SQL = slices.Clone(found.SQL)
		for i := range found.SQL {
			found.SQL[i].Title += engine.IfScanFails
		}
	}
	return found, nil
}
