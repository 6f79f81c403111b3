package search

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/query"
)

// Estimate returns what Search would read and cost for the same request, without running it.
//
// Errors are those that Search returns before it runs the query.
func (s *Service) Estimate(ctx context.Context, r Request) (*Estimate, error) {
	r = s.at(r, s.now())
	if r.Route == Values {
		data, err := s.freshness(ctx)
		if err != nil {
			return nil, err
		}
		r = s.withPeriod(r, data)
	}
	r, q, err := s.bind(ctx, r)
	if err != nil {
		return nil, err
	}
	_, e, err := s.estimateOf(ctx, r, q, false)
	if err != nil {
		return nil, queryError(r, q, err)
	}
	return e, nil
}

// noEstimate is the warning of an engine that is no engine.Estimator.
const noEstimate = "the engine does not know what a query reads before it runs"

// estimateOf returns the name of the method that would answer, and the estimate. started means that the caller does not
// wait for the answer.
func (s *Service) estimateOf(
	ctx context.Context, r Request, q query.Query, started bool,
) (by string, _ *Estimate, _ error) {
	found := engine.Estimate{By: s.engine.Name(), Warnings: []string{noEstimate}}
	for _, column := range q.Columns() {
		found.Columns = append(found.Columns, engine.ColumnSize{Name: column})
	}
	estimator, estimates := s.engine.(engine.Estimator)
	_, finds := s.engine.(engine.ValueFinder)
	switch {
	case r.Route == Values && !finds:
		found = engine.Estimate{By: s.engine.Name(), Bytes: &engine.Bytes{}, Warnings: []string{noValueFinder}}
	case estimates:
		extent, err := s.engine.Extent(ctx)
		if err != nil {
			return "", nil, fmt.Errorf("read the extent of the data: %w", err)
		}
		estimate := estimator.Estimate
		if direct, ok := s.engine.(engine.Direct); ok && started {
			estimate = direct.EstimateStarted
		}
		if found, err = estimate(ctx, oneMore(q).Clamp(extent)); err != nil {
			return "", nil, err
		}
		if err := s.addLateBytes(ctx, r, q, extent, &found); err != nil {
			return "", nil, err
		}
	}
	return found.By, s.published(r, found), nil
}

// published returns an estimate as the caller may see it.
func (s *Service) published(r Request, found engine.Estimate) *Estimate {
	e := &Estimate{
		Objects: found.Objects, Rows: found.Rows, Reused: found.Reused,
		Columns:  make([]ColumnSize, len(found.Columns)),
		Warnings: append([]string{}, found.Warnings...),
	}
	for i, c := range found.Columns {
		e.Columns[i] = ColumnSize(c)
	}
	if _, ok := s.engine.(engine.Estimator); ok {
		hours := len(found.Partitions)
		e.Partitions = &hours
	}
	if b := found.Bytes; b != nil {
		e.Bytes = &BytesEstimate{Low: b.Low, High: b.High}
	}
	if p := found.USD; p != nil {
		e.CostUSD = &PriceEstimate{Low: p.Low, High: p.High}
	}
	for _, c := range found.Lacking {
		e.Lacking = append(e.Lacking, LackingColumn(c))
	}
	if r.Branches != nil {
		hideOthers(e)
	}
	for _, c := range e.Lacking {
		e.Warnings = append(e.Warnings, c.String())
	}
	stopsEarly := r.Route == Values && r.Counts != "true"
	if perMS, known := s.speed.median(found.By); known && e.Bytes != nil && !stopsEarly {
		e.WaitMS = &MillisEstimate{Low: wholeMicros(float64(e.Bytes.Low) / perMS), High: wholeMicros(float64(e.Bytes.High) / perMS)}
	}
	return e
}

// hideOthers removes the numbers from which a caller who is limited to branches could learn about others. Bytes and
// prices remain, because they are the caller's own bill, but only in steps.
func hideOthers(e *Estimate) {
	e.Partitions, e.Objects, e.Rows, e.Reused, e.Lacking = nil, nil, nil, 0, nil
	for i := range e.Columns {
		e.Columns[i].Bytes = nil
	}
	if e.Bytes == nil {
		return
	}
	if e.CostUSD != nil {
		e.CostUSD = &PriceEstimate{Low: priceInSteps(e.CostUSD.Low, e.Bytes.Low), High: priceInSteps(e.CostUSD.High, e.Bytes.High)}
	}
	roundBytes(e)
}

func roundBytes(e *Estimate) {
	e.Unrounded, e.Bytes = e.Bytes, &BytesEstimate{Low: inSteps(e.Bytes.Low), High: inSteps(e.Bytes.High)}
}

// hideOthersIn does the same for an answer.
func hideOthersIn(m *Meta) {
	m.Objects, m.ObjectsReused, m.RowsConsidered = nil, 0, nil
	if m.CostUSD != nil {
		price := priceInSteps(*m.CostUSD, m.BytesScanned)
		m.CostUSD = &price
	}
	unrounded := m.BytesScanned
	m.Unrounded, m.BytesScanned = &unrounded, inSteps(unrounded)
	if len(m.Skipped) > 0 {
		m.Skipped = []string{hiddenObjects}
	}
}

// hideOthers removes the time of the oldest record, and rounds the time of the newest one down to its minute.
func (f *freshness) hideOthers() {
	f.Oldest = nil
	if f.Newest != nil {
		minute := time.UnixMilli(*f.Newest).Truncate(time.Minute).UnixMilli()
		f.Newest = &minute
	}
}

// hiddenObjects is in Meta.Skipped instead of the names of objects.
const hiddenObjects = "(objects with records of the period)"

// billStep is the unit of bytes that a caller who is limited to branches sees. It is also the least that Athena charges
// a query for.
const billStep = 10_000_000

// inSteps rounds up to whole steps, at least one: no bytes would mean that nobody has records in the period.
func inSteps(bytes int64) int64 { return max(1, (bytes+billStep-1)/billStep) * billStep }

// stepsPerUSD is the number of steps of prices in a dollar. Athena charges one step for billStep bytes. The price of a
// scan in a function, on the other hand, is the price of its requests, whose number depends on the number of objects.
const stepsPerUSD = 20_000

// priceInSteps returns the price of the bytes rounded up. price is the price of the bytes.
func priceInSteps(price float64, bytes int64) float64 {
	if bytes > billStep {
		price = price / float64(bytes) * float64(inSteps(bytes))
	}
	const rounding = 1e-6
	return float64(int64(math.Ceil(price*stepsPerUSD-rounding))) / stepsPerUSD
}

func wholeMicros(ms float64) float64 {
	return milliseconds(time.Duration(ms * float64(time.Millisecond)).Round(time.Microsecond))
}

// speed knows how fast the last answers of this process were.
type speed struct {
	mu    sync.Mutex
	perMS map[string][]float64 // bytes per millisecond by the method that answered, the oldest first
}

// maxSpeeds is the number of answers that a median is of.
const maxSpeeds = 100

// add records an answer. An answer that read nothing says nothing about the speed.
func (s *speed) add(by string, cost engine.Cost, elapsedMS float64) {
	if cost.BytesScanned <= 0 || elapsedMS <= 0 || cost.Cached != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.perMS == nil {
		s.perMS = map[string][]float64{}
	}
	all := append(s.perMS[by], float64(cost.BytesScanned)/elapsedMS)
	s.perMS[by] = all[max(0, len(all)-maxSpeeds):]
}

// median returns the median of the last answers of a method, or false if there are none.
func (s *speed) median(by string) (perMS float64, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.perMS[by]) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(s.perMS[by]))
	return sorted[len(sorted)/2], true
}
