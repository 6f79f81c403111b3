package query

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/orrery/orrery/shared/fault"
)

// Diff asks which values of some dimensions are more or less frequent among the selected records than among the others,
// the baseline. If there is another period to compare with, the query's period selects the records; otherwise the
// selection does.
type Diff struct {
	By    []Dimension // 1…16
	Limit int         // findings, 1…80
	Least int64       // see Findings

	Against Against // the other period, if there is one

	// Select holds for the selected records. Bind sets it, to a condition on the time, if there is another period.
	Select Selection
	// Baseline is the other period. Bind sets it. It does not overlap the query's period.
	Baseline Period
}

func (Diff) shape() {}

// DefaultDiff are the dimensions of a diff if the request names none.
const DefaultDiff = "asn,country,geo_region,host,ip,method,organization,path,protocol,result,status,tags,user_agent,reason"

// Defaults of a diff.
const (
	DefaultFindings = 20
	DefaultLeast    = 5
)

// Sides counts the selected requests and the requests of the baseline.
type Sides struct{ Selected, Baseline int64 }

// DiffAnswer is the answer to Diff: exact counts, from which Findings are computed. It is empty if no record matches.
type DiffAnswer struct {
	Requests Sides      // of all matching records
	Terms    []DiffTerm // of each dimension, in the order of the query
}

// DiffTerm counts the values of a dimension.
type DiffTerm struct {
	Requests Sides       // of the records that have a value
	Distinct int64       // the number of different values
	Values   []DiffValue // those for which Diff.Frequent holds, or only those that are findings, by their bytes
}

// DiffValue counts the records that have a value.
type DiffValue struct {
	Value string
	Sides
}

// Frequent reports whether a value with these counts can be a finding. Engines leave out the others.
func (s Diff) Frequent(n Sides) bool { return n.Selected >= s.Least || n.Baseline >= s.Least }

// MaxDiffValues is the largest number of values for which Frequent holds, of all dimensions of a query.
const MaxDiffValues = 200_000

// CheckValues returns an error of kind fault.EngineLimit if there are more than MaxDiffValues values.
func (s Diff) CheckValues(n int) error {
	if n <= MaxDiffValues {
		return nil
	}
	return fault.New(fault.EngineLimit, "more than %d values have %d requests or more on one side; "+
		"raise least, name fewer fields in by, or narrow the period", MaxDiffValues, s.Least)
}

// Finding is a value whose share differs between the two sides.
type Finding struct {
	By    Dimension
	Value string
	Sides
	Score float64 // of the G-test, to a tenth; negative if the value is less frequent among the selected records
}

// The least score of a finding is minScore, which a single value exceeds by chance once in a thousand times, plus a
// correction for the number of values that are compared.
const minScore = 10.83

// Findings returns the values whose shares differ most. A finding has a score of at least 10.83 + 2·ln(values), where
// values is the number of different values of all dimensions, and at least shape.Least requests on the side on which
// its share is larger. The order is by the difference of the shares, descending, then by score, dimension and value.
func Findings(shape Diff, a DiffAnswer) []Finding {
	values := int64(0)
	for _, t := range a.Terms {
		values += t.Distinct
	}
	least := minScore + 2*math.Log(float64(max(values, 1)))
	first := newFirstFindings(shape)
	for i, t := range a.Terms {
		for j := range t.Values {
			v := &t.Values[j]
			sign, difference := differenceOf(v.Sides, a.Requests)
			if first.isBefore(difference) || cannotReach(least, v.Sides, a.Requests) {
				continue
			}
			score := float64(sign) * scoreOf(v.Sides, a.Requests)
			side := v.Selected
			if score < 0 {
				side = v.Baseline
			}
			if math.Abs(score) >= least && side >= shape.Least {
				first.add(candidate{v, i, math.Round(score*10) / 10, difference})
			}
		}
	}
	findings := make([]Finding, len(first.list))
	for i, c := range first.list {
		findings[i] = Finding{shape.By[c.dimension], c.value.Value, c.value.Sides, c.score}
	}
	return findings
}

// candidate is a value that may be a finding.
type candidate struct {
	value      *DiffValue
	dimension  int
	score      float64
	difference product
}

// firstFindings holds the first findings of those that were added.
type firstFindings struct {
	limit int
	names []string // of the dimensions
	list  []candidate
}

func newFirstFindings(shape Diff) *firstFindings {
	f := &firstFindings{limit: shape.Limit, names: make([]string, len(shape.By))}
	for i, by := range shape.By {
		f.names[i] = by.String()
	}
	return f
}

// compare is the order of findings. The values of a dimension are added in their order.
func (f *firstFindings) compare(a, b candidate) int {
	return cmp.Or(
		b.difference.compare(a.difference),
		cmp.Compare(math.Abs(b.score), math.Abs(a.score)),
		cmp.Compare(f.names[a.dimension], f.names[b.dimension]),
	)
}

// isBefore reports whether the list is full of candidates with a greater difference.
func (f *firstFindings) isBefore(difference product) bool {
	n := len(f.list)
	return n == f.limit && n > 0 && difference.compare(f.list[n-1].difference) < 0
}

// add inserts a candidate after those that are before or equal to it, unless the list is full of them.
func (f *firstFindings) add(c candidate) {
	n := len(f.list)
	if n == f.limit && (n == 0 || f.compare(f.list[n-1], c) <= 0) {
		return
	}
	at := sort.Search(n, func(i int) bool { return f.compare(f.list[i], c) > 0 })
	if n == f.limit {
		f.list = f.list[:n-1]
	}
	f.list = slices.Insert(f.list, at, c)
}

// cannotReach reports whether the score of a value is certainly less than least. Twice the statistic of Pearson's test
// is an upper bound of the statistic of the G-test, and takes no logarithms.
func cannotReach(least float64, n, all Sides) bool {
	a, b := float64(n.Selected), float64(n.Baseline)
	selected, baseline := float64(all.Selected), float64(all.Baseline)
	cross := a*(baseline-b) - b*(selected-a)
	others := selected + baseline - a - b
	const margin = 1.001 // for rounding
	return 2*margin*cross*cross*(selected+baseline) < least*(a+b)*others*selected*baseline
}

// differenceOf returns the difference between the shares of a value on the two sides: its sign, positive if the
// selected side has the larger share, and its size, multiplied by the requests of both sides.
func differenceOf(n, all Sides) (sign int, size product) {
	a, b := times(n.Selected, all.Baseline), times(n.Baseline, all.Selected)
	sign = a.compare(b)
	if sign < 0 {
		a, b = b, a
	}
	return sign, a.minus(b)
}

// scoreOf returns the size of the score of a value, see Finding, before it is rounded.
func scoreOf(n, all Sides) (score float64) {
	requests := float64(all.Selected + all.Baseline)
	for _, has := range []Sides{n, {all.Selected - n.Selected, all.Baseline - n.Baseline}} {
		row := float64(has.Selected + has.Baseline)
		score += unexpected(has.Selected, row, float64(all.Selected)/requests)
		score += unexpected(has.Baseline, row, float64(all.Baseline)/requests)
	}
	return 2 * score
}

// unexpected returns a term of the G-test: n·ln(n/expected), where the expected number is a share of the row.
func unexpected(n int64, row, share float64) float64 {
	if n == 0 {
		return 0
	}
	return float64(float64(n) * math.Log(float64(n)/(row*share))) // the conversion prevents a fused operation
}

// product is a product of two counts, in 128 bits.
type product struct{ high, low uint64 }

func times(a, b int64) product {
	high, low := bits.Mul64(uint64(a), uint64(b))
	return product{high, low}
}

func (p product) compare(other product) int {
	return cmp.Or(cmp.Compare(p.high, other.high), cmp.Compare(p.low, other.low))
}

func (p product) minus(other product) product {
	low, borrow := bits.Sub64(p.low, other.low, 0)
	high, _ := bits.Sub64(p.high, other.high, borrow)
	return product{high, low}
}

// DiffKind is the kind of a row of the result of the SQL for Diff.
type DiffKind int

const (
	DiffFrequent DiffKind = iota // a value for which Diff.Frequent holds
	DiffOthers                   // the sum of all other values
	DiffAbsent                   // the records without a value
)

// DiffRow is a row of the result of the SQL for Diff.
type DiffRow struct {
	Dimension int // from 1; 0: the row counts all matching records, as absent ones
	Kind      DiffKind
	Value     *string // of DiffFrequent
	Distinct  int64   // the number of different values
	Sides
}

// DiffOf returns the answer for the rows of a result, which are ordered by dimension and value. It returns the error
// of Diff.CheckValues.
func DiffOf(rows []DiffRow, shape Diff) (DiffAnswer, error) {
	var a DiffAnswer
	values := 0
	for _, r := range rows {
		switch {
		case r.Dimension == 0:
			a.Requests = r.Sides
		case r.Kind == DiffFrequent:
			values++
		}
	}
	if err := shape.CheckValues(values); err != nil || a.Requests == (Sides{}) {
		return DiffAnswer{}, err
	}
	a.Terms = make([]DiffTerm, len(shape.By))
	for i := range a.Terms {
		a.Terms[i].Requests = a.Requests
	}
	for _, r := range rows {
		if r.Dimension == 0 {
			continue
		}
		t := &a.Terms[r.Dimension-1]
		switch r.Kind {
		case DiffAbsent:
			t.Requests.Selected -= r.Selected
			t.Requests.Baseline -= r.Baseline
			continue
		case DiffFrequent:
			t.Values = append(t.Values, DiffValue{*r.Value, r.Sides})
		}
		t.Distinct += r.Distinct
	}
	return a, nil
}
