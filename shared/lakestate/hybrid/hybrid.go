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
	"github.com/orrery/orrery/shared/rollup"
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
	Parts   *Parts         // of questions that are too large for a scan; nil: the service answers these; it needs Rollups

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
	c := &counted{objects: map[string]bool{}}
	answer, read, reused, err := e.scan(ctx, p, c)
	if err != nil {
		return query.Answer{}, engine.Cost{}, err
	}
	state, err := e.States.State(ctx)
	if err != nil {
		return query.Answer{}, engine.Cost{}, err
	}
	price := float64(read.Requests)*USDPerRequest + c.usd
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
	ctx context.Context, p *plan, c *counted,
) (answer query.Answer, read scanblob.Read, reused int, err error) {
	if len(p.objects) == 0 {
		return query.Answer{}, scanblob.Read{}, 0, nil
	}
	infos := slices.Concat(p.infos, p.rolledUp.infos)
	if p.shares != nil {
		of, err := e.count(ctx, p, c)
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
		answer, reused, err = e.figures(ctx, p, o, c)
	}
	source.Close()
	return answer, source.Read().Plus(p.planned).Plus(c.read), reused, err
}

// figures answers a question for figures. It also returns how many objects were not read.
func (e *Engine) figures(
	ctx context.Context, p *plan, o scan.Options, c *counted,
) (answer query.Answer, reused int, err error) {
	if p.shares == nil {
		answer, read, err := scan.Answer(ctx, p.query, p.objects, o)
		return answer, len(p.objects) - len(read), err
	}
	crew := askingCrew{engine: e, jobs: map[string]parts.Job{}, counted: c}
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
	return answer, len(p.objects) - len(read) - len(c.objects), err
}

func (e *Engine) source(ctx context.Context, p *plan, infos []blob.Info) *scanblob.Source {
	var bucket blob.Ranges = e.Bucket
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

// plan is a query that the scan answers, clamped to the data.
type plan struct {
	query   query.Query
	state   engine.State
	hours   []lake.Partition
	infos   []blob.Info
	objects []lake.Object // the same
	columns []engine.ColumnSize
	counted map[lake.Partition]engine.ColumnBytes

	rolledUp rolledUp
	read     []lake.Object // the objects that are not rolled up
	shares   []share       // of the question about these, if others count them; nil: they do not
	planned  scanblob.Read // to know them
	sections int64         // bytes of the rollups of the others

	bytes       int64 // of the columns of these objects; of the whole objects if the sizes of columns are not known
	columnBytes int64 // of the columns whose sizes are known

	mostBytes  int64 // that the scan may read
	newestOnly bool  // the plan has only objects of the newest hours, which may have too few logs
}

// certain reports whether the scan can answer the query. Otherwise it tries to, because the newest records are often
// enough.
func (p *plan) certain(e *Engine) bool { return !p.newestOnly && p.mostBytes == e.MostBytes }

// lessTried is by how much fewer bytes than Config.MostBytes a scan may read for logs if the columns of all objects
// have more.
const lessTried = 4

// plan returns how the scan answers q, or a scan.ErrUnsupported if the service does.
func (e *Engine) plan(ctx context.Context, q query.Query) (*plan, error) {
	logs := scan.SupportsNewest(q)
	if !scan.Supports(q) && !logs || e.MostBytes == 0 && (logs || e.Parts == nil) {
		return nil, scan.ErrUnsupported
	}
	state, err := e.States.State(ctx)
	if err != nil {
		return nil, err
	}
	p := &plan{query: q.Clamp(state.Extent), state: state, mostBytes: e.MostBytes}
	p.hours = engine.HoursOf(p.query)
	most, rollsUp := e.MostObjects, false
	var subsets []rollup.Subset // none: the query is about all records
	if e.Rollups != nil {
		subsets, rollsUp = scan.RollsUp(ctx, p.query)
	}
	if e.Parts != nil && scan.DividesInParts(p.query) {
		most = mostRolledUp
	}
	if rollsUp {
		most = mostRolledUp
		if p.rolledUp, err = e.rolledUp(ctx, p, subsets); err != nil {
			return nil, err
		}
	}
	var known bool
	if p.infos, known, err = e.list(ctx, state, p.hours, most); err != nil {
		return nil, err
	}
	for n := len(p.hours) / fewerHours; logs && !known && n > 0; n /= fewerHours {
		p.newestOnly = true
		if p.infos, known, err = e.list(ctx, state, p.hours[len(p.hours)-n:], most); err != nil {
			return nil, err
		}
	}
	if !known {
		return nil, scan.ErrUnsupported
	}
	if p.objects, err = parts.Listed(p.infos); err != nil {
		return nil, err
	}
	e.leaveOutRolledUp(ctx, p)
	if err := e.weigh(ctx, p); err != nil {
		return nil, err
	}
	if rollsUp && len(subsets) == 0 && (p.bytes > e.ManyBytes || len(p.read) > e.MostObjects) {
		if err := e.addObjects(ctx, p); err != nil {
			return nil, err
		}
		if err := e.weigh(ctx, p); err != nil {
			return nil, err
		}
	}
	few := len(p.read) <= e.MostObjects && e.MostBytes > 0
	switch {
	case few && p.columnBytes+p.sections <= e.MostBytes:
		return p, nil
	case few && logs:
		p.mostBytes /= lessTried
		return p, nil
	}
	if divided, err := e.divide(ctx, p); err != nil || divided {
		return p, err
	}
	return nil, scan.ErrUnsupported
}

// weigh finds out how much of the objects must be read that are not rolled up.
func (e *Engine) weigh(ctx context.Context, p *plan) error {
	sizes := map[lake.Partition]engine.Sizes{}
	p.bytes, p.columnBytes, p.columns = 0, 0, nil
	for _, o := range p.read {
		of := sizes[o.Partition]
		sizes[o.Partition] = engine.Sizes{Objects: of.Objects + 1, Bytes: of.Bytes + o.Bytes}
		p.bytes += o.Bytes
	}
	var all engine.ColumnBytes
	if e.Columns != nil && len(sizes) > 0 {
		var err error
		if all, p.counted, err = e.Columns.Columns(ctx, p.state.Watermark, sizes); err != nil {
			return err
		}
	}
	whole := p.query.Columns()
	if _, logs := p.query.Shape.(query.Logs); logs { // of the other columns, only pages with records of the answer are read
		whole = p.query.FindingColumns()
	}
	for _, name := range p.query.Columns() {
		size := engine.ColumnSize{Name: name}
		if n, known := all[name]; known || len(sizes) == 0 {
			size.Bytes = &n
			if slices.Contains(whole, name) {
				p.columnBytes += n
			}
		}
		p.columns = append(p.columns, size)
	}
	if all != nil {
		p.bytes = p.columnBytes
	}
	return nil
}

// fewerHours is by how much fewer hours are listed for logs if more have too many objects.
const fewerHours = 4

// listed is a listing of hours of the lake at a version.
type listed struct {
	version   int64
	watermark lake.Partition
	hours     []lake.Partition
	most      int
	at        time.Time
	objects   []blob.Info
	known     bool
}

// maxRuns is the number of runs of adjacent hours up to which they are listed.
const maxRuns = 8

// list returns the objects of hours, which are ascending. known is false if there are more than most. The query after
// an estimate uses the listing of the estimate.
func (e *Engine) list(
	ctx context.Context, state engine.State, hours []lake.Partition, most int,
) (objects []blob.Info, known bool, _ error) {
	e.mu.Lock()
	last := e.listed
	e.mu.Unlock()
	now := e.Now()
	age := now.Sub(last.at)
	if last.version == state.Version && last.watermark == state.Watermark && last.most == most &&
		slices.Equal(last.hours, hours) && age >= 0 && age < engine.StateAge {
		return last.objects, last.known, nil
	}
	fresh := listed{version: state.Version, watermark: state.Watermark, hours: hours, most: most, at: now}
	var err error
	if fresh.objects, fresh.known, err = e.listRuns(ctx, state.Watermark, hours, most); err != nil {
		return nil, false, err
	}
	e.mu.Lock()
	e.listed = fresh
	e.mu.Unlock()
	return fresh.objects, fresh.known, nil
}

func (e *Engine) listRuns(
	ctx context.Context, watermark lake.Partition, hours []lake.Partition, most int,
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
			if len(objects) == most {
				return nil, false, nil
			}
			objects = append(objects, info)
		}
		hours = hours[n:]
	}
	return objects, true, nil
}

// Estimate returns what Run would read. The bytes of the scan are those of the columns, of the gaps between them, and
// of the footers that are not in memory.
func (e *Engine) Estimate(ctx context.Context, q query.Query) (engine.Estimate, error) {
	p, err := e.plan(ctx, q)
	if err != nil {
		return e.Service.Estimate(ctx, q)
	}
	if !p.certain(e) {
		return e.estimateTried(ctx, q)
	}
	number := len(p.read)
	most, usd := e.most(p)
	bytes := engine.Bytes{High: most.Bytes}
	if e.Kept == nil && p.shares == nil { // otherwise the process that answers may have all figures
		bytes.Low = engine.LeastOf(p.query, p.state.Extent, p.counted)
	}
	return engine.Estimate{
		By: byScan, Partitions: p.hours, Objects: &number, Reused: len(p.objects) - number, Columns: p.columns, Bytes: &bytes,
		USD: &engine.USD{High: usd},
	}, nil
}

// estimateTried returns the estimate of the service without its least price, because the scan may answer in its place.
func (e *Engine) estimateTried(ctx context.Context, q query.Query) (engine.Estimate, error) {
	found, err := e.Service.Estimate(ctx, q)
	if err == nil && found.USD != nil {
		found.USD = &engine.USD{High: found.USD.High}
	}
	return found, err
}

// EstimateStarted returns what the service would read.
func (e *Engine) EstimateStarted(ctx context.Context, q query.Query) (engine.Estimate, error) {
	return e.Service.Estimate(ctx, q)
}

// most returns the most that the scan reads if no connection breaks. The columns of figures are announced together. For
// logs, those that decide are announced first, then the page index, then the pages with records, and the ranges of each
// may have gaps that are in memory already. It also returns the price.
func (e *Engine) most(p *plan) (most scanblob.Read, usd float64) {
	defer func() { usd += float64(most.Requests) * USDPerRequest }()
	announced := 1
	if _, logs := p.query.Shape.(query.Logs); logs {
		announced = 3
	}
	if p.shares != nil {
		return e.mostOfParts(p)
	}
	for _, o := range p.read {
		most.Bytes += int64(announced)*o.Bytes + scan.FooterBytes(o.Bytes)
		// Ranges are longer than the gaps between them, or have gaps of that length between them.
		most.Requests += 2 + announced*(1+int(o.Bytes/scanblob.GapBytes))
	}
	for _, info := range p.rolledUp.infos {
		most.Bytes += info.Size
		most.Requests += 2 + int(info.Size/scanblob.GapBytes)
	}
	return most, 0
}

// Explain returns what Run would do. The statements of the service run only if the scan fails.
func (e *Engine) Explain(ctx context.Context, q query.Query) (engine.Plan, error) {
	found, err := e.Service.Explain(ctx, q)
	if err != nil {
		return engine.Plan{}, err
	}
	if p, err := e.plan(ctx, q); err == nil && p.certain(e) {
		found.By = byScan
		found.SQL = slices.Clone(found.SQL)
		for i := range found.SQL {
			found.SQL[i].Title += engine.IfScanFails
		}
	}
	return found, nil
}
