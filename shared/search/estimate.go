package search

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/query"
)

// Estimate is what a query would read and cost, as far as it is known before the query runs. For a caller who is
// limited to branches, it has no numbers of others: no partitions, objects, rows and sizes of columns.
type Estimate struct {
	Partitions *int            `json:"partitions,omitempty" doc:"Hours of the data; absent for a key that is limited to branches, like objects, rows and the sizes of columns"`
	Objects    *int            `json:"objects,omitempty" doc:"Parquet objects; absent if not known"`
	Rows       *int64          `json:"rows,omitempty" doc:"Records in these objects; absent if not known"`
	Bytes      *BytesEstimate  `json:"bytes" doc:"What meta.bytes_scanned will be; null if not known; rounded up to 10 MB for a key that is limited to branches"`
	Columns    []ColumnSize    `json:"columns" doc:"The columns that are read"`
	CostUSD    *PriceEstimate  `json:"cost_usd,omitempty" doc:"What meta.cost_usd will be; absent if the engine charges nothing or the bytes are not known"`
	WaitMS     *MillisEstimate `json:"wait_ms" doc:"Milliseconds to the answer, by the median speed of the last 100 answers of this process; null if there are none, the bytes are not known, or values are not counted"`
	Warnings   []string        `json:"warnings" doc:"What is not known, and why"`

	Lacking []LackingColumn `json:"lacking,omitempty" doc:"Columns that some of the objects do not have, because an earlier version wrote them: their fields are absent in the records there; absent for a key that is limited to branches"`

	Unrounded *BytesEstimate `json:"-"` // of Bytes, for Sum; nil if they are not rounded. Callers do not see it.
}

// LackingColumn is a column that some objects do not have.
type LackingColumn struct {
	Name    string `json:"name"`
	Objects int    `json:"objects"`
}

// String returns a warning with the remedy.
func (c LackingColumn) String() string {
	objects := "1 object"
	if c.Objects != 1 {
		objects = fmt.Sprintf("%d objects", c.Objects)
	}
	return fmt.Sprintf("an earlier version wrote %s of the period without %s, which is absent in all of their records; "+
		"to have it, forget these imports and import the logs again", objects, c.Name)
}

// BytesEstimate is a range of bytes.
type BytesEstimate struct {
	Low  int64 `json:"low"`
	High int64 `json:"high"`
}

// PriceEstimate is a range of prices.
type PriceEstimate struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// MillisEstimate is a range of times.
type MillisEstimate struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// ColumnSize is the size of a column in the objects that are read.
type ColumnSize struct {
	Name  string `json:"name"`
	Bytes *int64 `json:"bytes,omitempty" doc:"Compressed; absent if not known"`
}

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
	q, err := s.bind(ctx, r)
	if err != nil {
		return nil, err
	}
	_, e, err := s.estimateOf(ctx, r, q)
	if err != nil {
		return nil, queryError(r, q, err)
	}
	return e, nil
}

// noEstimate is the warning of an engine that is no engine.Estimator.
const noEstimate = "the engine does not know what a query reads before it runs"

// estimateOf returns the name of the method that would answer, and the estimate.
func (s *Service) estimateOf(ctx context.Context, r Request, q query.Query) (by string, _ *Estimate, _ error) {
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
		if found, err = estimator.Estimate(ctx, oneMore(q).Clamp(extent)); err != nil {
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
		Objects: found.Objects, Rows: found.Rows,
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
		e.Bytes = &BytesEstimate{b.Low, b.High}
	}
	if p := found.USD; p != nil {
		e.CostUSD = &PriceEstimate{p.Low, p.High}
	}
	for _, c := range found.Lacking {
		e.Lacking = append(e.Lacking, LackingColumn(c))
	}
	if r.Branches != nil {
		e.hideOthers()
	}
	for _, c := range e.Lacking {
		e.Warnings = append(e.Warnings, c.String())
	}
	stopsEarly := r.Route == Values && r.Counts != "true"
	if perMS, known := s.speed.median(); known && e.Bytes != nil && !stopsEarly {
		e.WaitMS = &MillisEstimate{wholeMicros(float64(e.Bytes.Low) / perMS), wholeMicros(float64(e.Bytes.High) / perMS)}
	}
	return e
}

// hideOthers removes the numbers from which a caller who is limited to branches could learn about others. Bytes and
// prices remain, because they are the caller's own bill, but only in steps.
func (e *Estimate) hideOthers() {
	e.Partitions, e.Objects, e.Rows, e.Lacking = nil, nil, nil, nil
	for i := range e.Columns {
		e.Columns[i].Bytes = nil
	}
	if e.Bytes == nil {
		return
	}
	if e.CostUSD != nil {
		e.CostUSD = &PriceEstimate{priceInSteps(e.CostUSD.Low, e.Bytes.Low), priceInSteps(e.CostUSD.High, e.Bytes.High)}
	}
	e.roundBytes()
}

func (e *Estimate) roundBytes() {
	e.Unrounded, e.Bytes = e.Bytes, &BytesEstimate{inSteps(e.Bytes.Low), inSteps(e.Bytes.High)}
}

// hideOthers does the same for an answer.
func (m *Meta) hideOthers() {
	m.Objects, m.RowsConsidered = nil, nil
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

// hideOthers removes the time of the oldest record, and rounds that of the newest one down to its minute.
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

// priceInSteps returns the price of the bytes rounded up, where price is that of the bytes.
func priceInSteps(price float64, bytes int64) float64 {
	if bytes <= billStep {
		return price
	}
	return price / float64(bytes) * float64(inSteps(bytes))
}

func wholeMicros(ms float64) float64 {
	return milliseconds(time.Duration(ms * float64(time.Millisecond)).Round(time.Microsecond))
}

// speed knows how fast the last answers of this process were.
type speed struct {
	mu    sync.Mutex
	perMS []float64 // bytes per millisecond, the oldest first
}

// maxSpeeds is the number of answers that a median is of.
const maxSpeeds = 100

// add records an answer. An answer that read nothing says nothing about the speed.
func (s *speed) add(cost engine.Cost, elapsedMS float64) {
	if cost.BytesScanned <= 0 || elapsedMS <= 0 || cost.Cached != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.perMS = append(s.perMS, float64(cost.BytesScanned)/elapsedMS)
	s.perMS = s.perMS[max(0, len(s.perMS)-maxSpeeds):]
}

// median returns the median of the last answers, or false if there are none.
func (s *speed) median() (perMS float64, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.perMS) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(s.perMS))
	return sorted[len(sorted)/2], true
}
