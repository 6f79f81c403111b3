// Package hybrid answers small queries by a scan in this process, which takes a fraction of a second, and all others
// with an engine that runs as a service. The service also answers whatever the scan fails at. For logs, the scan looks
// in the newest hours even if the whole period has too much to read.
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
	"github.com/orrery/orrery/shared/engine/rows"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/engine/scan/scanblob"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate/parts"
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
	Kept    *scan.Partials // figures of earlier scans of this process; nil: none are kept
	Rollups blob.Store     // the bucket with the rollups of days; nil: none are used
	Parts   *Parts         // of questions that are too large for a scan, with Rollups; nil: the service answers these

	MostBytes   int64         // most bytes of columns of a query for the scan; 0: it answers no query
	MostObjects int           // most objects of such a query; 0: DefaultObjects
	ManyBytes   int64         // bytes of columns from which on rollups of objects are looked for; 0: DefaultMany
	Longest     time.Duration // the time after which the service is asked; 0: 8 seconds
	Patience    time.Duration // how long a request for a range may take; 0: scanblob.Patience

	Failed func(error) // is called with the error of a failed scan, unless the query is too large; may be nil
}

// Engine is the service with a scan before it.
type Engine struct {
	Service
	Config

	turn    chan struct{} // holds an element while a scan runs
	rollups rollups
	mu      sync.Mutex
	listed  listed
}

var (
	_ engine.Direct       = (*Engine)(nil)
	_ engine.Estimator    = (*Engine)(nil)
	_ engine.Completeness = (*Engine)(nil)
)

// DefaultObjects is the default of Config.MostObjects.
const DefaultObjects = 512

// DefaultMany is the default of Config.ManyBytes. Rollups of objects take a listing, and the figures of each must be
// read first.
const DefaultMany = 32 << 20

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
	if c.ManyBytes == 0 {
		c.ManyBytes = DefaultMany
	}
	if c.Longest == 0 {
		c.Longest = 8 * time.Second
	}
	if c.Patience == 0 {
		c.Patience = scanblob.Patience
	}
	if c.Parts != nil {
		c.Parts.setDefaults()
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
	answer, cost, err := e.direct(caller, q)
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
func (e *Engine) direct(caller context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	began := e.Now()
	ctx, cancel := context.WithTimeout(caller, e.Longest)
	defer cancel()
	p, err := e.plan(ctx, q)
	if err != nil {
		return query.Answer{}, engine.Cost{}, err
	}
	if p.shares != nil {
		var end context.CancelFunc
		ctx, end = context.WithTimeout(caller, e.Parts.Longest)
		defer end()
	}
	b := &bill{objects: map[string]bool{}}
	answer, read, reused, err := e.scan(ctx, p, b)
	if err != nil {
		return query.Answer{}, engine.Cost{}, err
	}
	state, err := e.States.State(ctx)
	if err != nil {
		return query.Answer{}, engine.Cost{}, err
	}
	price := float64(read.Requests)*USDPerRequest + b.usd
	return answer, engine.Cost{
		By: byScan, BytesScanned: read.Bytes, USD: &price, Reused: reused, Skipped: state.Skipped(p.query, began),
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

// USDPerRequest is the price of a GET request in most regions.
const USDPerRequest = 0.4e-6

// scan answers the query of a plan. It returns what it has read, and how many objects it has not read because rollups
// or earlier scans have their figures.
func (e *Engine) scan(
	ctx context.Context, p *plan, b *bill,
) (answer query.Answer, read scanblob.Read, reused int, err error) {
	if len(p.objects) == 0 {
		return query.Answer{}, scanblob.Read{}, 0, nil
	}
	infos := slices.Concat(p.infos, p.rolledUp.infos)
	if p.shares != nil {
		of, err := e.count(ctx, p, b)
		if err != nil {
			return query.Answer{}, scanblob.Read{}, 0, err
		}
		infos = append(infos, of...)
	}
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return query.Answer{}, scanblob.Read{}, 0, ctx.Err()
	}
	source := e.source(ctx, p, infos)
	if logs, ok := p.query.Shape.(query.Logs); ok {
		answer, err = p.logs(ctx, logs, p.objects, source)
	} else {
		o := p.rolledUp.options(source)
		if o.Rollups == nil {
			o.Rollups = e.rollups.known() // so that what is kept has the same hashes
		}
		o.Partials, o.OnlyRollups = e.Kept, len(p.objects) > e.MostObjects
		answer, reused, err = e.figures(ctx, p, o, b)
	}
	source.Close()
	return answer, source.Read().Plus(p.planned).Plus(b.read), reused, err
}

// figures answers a question for figures. It also returns how many objects were not read.
func (e *Engine) figures(
	ctx context.Context, p *plan, o scan.Options, b *bill,
) (answer query.Answer, reused int, err error) {
	if p.shares == nil {
		answer, read, err := scan.Answer(ctx, p.query, p.objects, o)
		return answer, len(p.objects) - len(read), err
	}
	crew := askingCrew{engine: e, jobs: map[string]parts.Job{}, bill: b}
	for i := range p.shares {
		of := &p.shares[i]
		crew.jobs[of.Path] = of.Job
		o.Parts = append(o.Parts, of.Part)
	}
	o.Crew, o.OnlyRollups = crew, true
	unread := map[string]bool{}
	for _, of := range p.read {
		unread[of.Path] = true
	}
	rest := slices.DeleteFunc(slices.Clone(p.objects), func(of lake.Object) bool { return unread[of.Path] })
	answer, read, err := scan.Answer(ctx, p.query, rest, o)
	return answer, len(p.objects) - len(read) - len(b.objects), err
}

func (e *Engine) source(ctx context.Context, p *plan, infos []blob.Info) *scanblob.Source {
	bucket := e.Bucket
	if e.Parts != nil {
		bucket = buckets{e.Bucket, e.Parts.Results, e.Parts.Prefix}
	}
	return scanblob.New(ctx, bucket, infos, p.mostBytes+memoryBesides, e.Patience)
}

// logs finds the newest records in the objects of the plan, and reads them.
func (p *plan) logs(
	ctx context.Context, shape query.Logs, objects []lake.Object, source scan.Source,
) (query.Answer, error) {
	found, err := scan.Newest(ctx, p.query, objects, scan.Options{Source: source})
	if err != nil {
		return query.Answer{}, err
	}
	if p.newestOnly && len(found.Places) < shape.Limit {
		return query.Answer{}, fmt.Errorf("%w: the newest hours have too few records", scan.ErrUnsupported)
	}
	records, err := scan.Records(ctx, source, found.Places, shape.RecordColumns(), rows.MaxLogsMemory)
	return query.Answer{Logs: records, Truncated: len(records) < len(found.Places)}, err
}
