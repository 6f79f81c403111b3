package query

import (
	"fmt"
	"iter"
)

// Counts asks for the number of requests per segment and value of a dimension, and for the number of them in each of
// several selections. A single pass over the records counts everything.
type Counts struct {
	SegmentSeconds int64 // segments are aligned to the Unix epoch
	By             Dimension
	Of             []Selection // at most MostCounted
}

func (Counts) shape() {}

// MostCounted is the largest number of selections of counts. With all requests, there are 64 numbers.
const MostCounted = 63

// CountsRow has the numbers of one value in one segment. Segments without requests have no rows.
type CountsRow struct {
	Segment  int64 // start, Unix seconds
	Value    string
	HasValue bool    // false for the requests without a value
	N        []int64 // of all requests, then of the selections
}

// CountsByValue returns the rows of each value. The rows are ordered by value.
func CountsByValue(rows []CountsRow) iter.Seq[[]CountsRow] {
	return func(yield func([]CountsRow) bool) {
		for len(rows) > 0 {
			of := 1
			for of < len(rows) && rows[of].Value == rows[0].Value && rows[of].HasValue == rows[0].HasValue {
				of++
			}
			if !yield(rows[:of]) {
				return
			}
			rows = rows[of:]
		}
	}
}

// String returns a text that is equal for two shapes only if they have the same answers.
func (c Counts) String() string {
	of := make([]string, len(c.Of))
	for i, s := range c.Of {
		of[i] = ConditionsIdentity(s.Conditions)
	}
	return fmt.Sprintf("%d by %s of %q", c.SegmentSeconds, c.By.Identity(), of)
}

// columns lists the columns from which the numbers are counted.
func (c Counts) columns() []string {
	columns := dimensionColumns([]Dimension{c.By})
	for _, s := range c.Of {
		columns = append(columns, columnsOf(s.Conditions)...)
	}
	return columns
}

// Selections returns the selections of the shape, whose conditions are tested besides those of the query.
func (q Query) Selections() []Selection {
	switch s := q.Shape.(type) {
	case Diff:
		return []Selection{s.Select}
	case Counts:
		return s.Of
	case Sequences:
		return s.Of
	}
	return nil
}
