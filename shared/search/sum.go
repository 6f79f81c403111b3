package search

import (
	"cmp"
	"slices"
)

// Sum returns the estimate of several queries together, if atOnce of them run at the same time; 0: all. What is not
// known of one of them is not known of all. The queries may read the same objects, so there are at least as many
// objects as of each. The bytes of a caller who is limited to branches are rounded up once: the queries have one bill.
func Sum(list []*Estimate, atOnce int) *Estimate {
	sum := &Estimate{
		Partitions: mostOf(list, func(e *Estimate) *int { return e.Partitions }),
		Objects:    mostOf(list, func(e *Estimate) *int { return e.Objects }),
		Rows:       mostOf(list, func(e *Estimate) *int64 { return e.Rows }),
		Bytes:      &BytesEstimate{}, WaitMS: &MillisEstimate{}, Columns: []ColumnSize{}, Warnings: []string{},
	}
	longest, rounded := MillisEstimate{}, false
	for _, e := range list {
		sum.Reused = max(sum.Reused, e.Reused)
		addAmounts(sum, e)
		rounded = rounded || e.Unrounded != nil
		if e.WaitMS != nil {
			longest.Low, longest.High = max(longest.Low, e.WaitMS.Low), max(longest.High, e.WaitMS.High)
		}
		for _, c := range e.Columns {
			addColumn(sum, c)
		}
		for _, w := range e.Warnings {
			if !slices.Contains(sum.Warnings, w) {
				sum.Warnings = append(sum.Warnings, w)
			}
		}
	}
	switch {
	case sum.Bytes == nil:
		sum.CostUSD = nil
	case rounded:
		roundBytes(sum)
	}
	if atOnce == 0 {
		atOnce = len(list)
	}
	if w := sum.WaitMS; w != nil { // a query that waits for a place can be the longest
		n := float64(max(1, min(atOnce, len(list))))
		sum.WaitMS = &MillisEstimate{Low: max(longest.Low, w.Low/n), High: w.High/n + longest.High*(1-1/n)}
	}
	return sum
}

// addAmounts adds what a query reads, waits and costs to e.
func addAmounts(e, one *Estimate) {
	switch bytes := cmp.Or(one.Unrounded, one.Bytes); {
	case bytes == nil:
		e.Bytes = nil
	case e.Bytes != nil:
		e.Bytes = &BytesEstimate{Low: e.Bytes.Low + bytes.Low, High: e.Bytes.High + bytes.High}
	}
	switch {
	case one.WaitMS == nil:
		e.WaitMS = nil
	case e.WaitMS != nil:
		e.WaitMS = &MillisEstimate{Low: e.WaitMS.Low + one.WaitMS.Low, High: e.WaitMS.High + one.WaitMS.High}
	}
	if one.CostUSD == nil { // nothing is charged, or the bytes are not known
		return
	}
	if e.CostUSD == nil {
		e.CostUSD = &PriceEstimate{}
	}
	e.CostUSD = &PriceEstimate{Low: e.CostUSD.Low + one.CostUSD.Low, High: e.CostUSD.High + one.CostUSD.High}
}

// addColumn adds a column that a query reads to e.
func addColumn(e *Estimate, one ColumnSize) {
	at := slices.IndexFunc(e.Columns, func(c ColumnSize) bool { return c.Name == one.Name })
	switch {
	case at < 0:
		e.Columns = append(e.Columns, one)
	case e.Columns[at].Bytes == nil || one.Bytes == nil:
		e.Columns[at].Bytes = nil
	default:
		bytes := *e.Columns[at].Bytes + *one.Bytes
		e.Columns[at].Bytes = &bytes
	}
}

// mostOf returns the largest of the known numbers, or nil if one is not known.
func mostOf[N int | int64](list []*Estimate, of func(*Estimate) *N) *N {
	var most *N
	for _, e := range list {
		n := of(e)
		if n == nil {
			return nil
		}
		if most == nil || *n > *most {
			most = n
		}
	}
	return most
}
