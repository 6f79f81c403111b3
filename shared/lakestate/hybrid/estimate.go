package hybrid

import (
	"context"
	"slices"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/engine/scan/scanblob"
	"github.com/orrery/orrery/shared/query"
)

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
	if p.shares != nil {
		return e.mostOfParts(p)
	}
	announced := 1
	if _, logs := p.query.Shape.(query.Logs); logs {
		announced = 3
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

// partRate is how many bytes of columns a process of the crew counts in a second, at least, unless most of the records
// are different from each other. Estimates use it.
const (
	partRate    = 20e6
	partSeconds = 0.2 // besides
)

// mostOfParts returns the most that is read to count the parts of a plan: their columns, and of each object the footer
// and a row group that two windows share. It also returns the price without that of the requests.
func (e *Engine) mostOfParts(p *plan) (most scanblob.Read, usd float64) {
	const rowGroup = 4 << 20
	for hour, objects := range p.toCount {
		most.Bytes += p.columnBytesOf(hour, objects)
	}
	for i := range p.shares {
		for _, o := range p.shares[i].Part.Objects {
			most.Bytes += scan.FooterBytes(o.Bytes) + min(o.Bytes, rowGroup)
			most.Requests += 2 + int(o.Bytes/scanblob.GapBytes)
		}
	}
	seconds := float64(most.Bytes)/partRate + partSeconds*float64(len(p.shares))
	return most, seconds*e.Parts.GB*USDPerGBSecond + float64(len(p.shares))*USDPerPut
}
