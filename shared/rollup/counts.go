package rollup

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/varints"
)

// Minute is the length, in seconds, of the segments of Counts.
const Minute = 60

// MaxCounts limits the counts of a day. If it has more values and minutes, its section is empty.
const MaxCounts = 1 << 20

// countedFields are the fields by whose values the requests of minutes are counted.
const countedFields = `host,branch,security_config["revision"]`

var countedBy = sync.OnceValue(func() []query.Dimension {
	all, err := query.ParseDimensions(countedFields)
	if err != nil {
		panic(err)
	}
	return all
})

// CountsBy reports whether rollups have counts by the values of a dimension.
func CountsBy(d query.Dimension) bool {
	return slices.ContainsFunc(countedBy(), func(of query.Dimension) bool { return of.Identity() == d.Identity() })
}

// Counted returns all counts of a rollup: those by host, and the requests by branch and by revision of the settings.
func Counted(hosts query.Counts) []query.Counts {
	all := []query.Counts{hosts}
	for _, d := range countedBy() {
		if d.Identity() != hosts.By.Identity() {
			all = append(all, query.Counts{By: d})
		}
	}
	return all
}

// CountsName is the name of the section with the counts of a shape, whatever its segments are.
func CountsName(shape query.Counts) string {
	shape.SegmentSeconds = Minute
	return fmt.Sprintf("counts %x", sha256.Sum256([]byte(shape.String())))
}

// AddCounts adds the counts of a shape for the day that starts at a time in Unix seconds. Each row
// is about one minute; the rows are ordered by value, then by minute.
func (l *Lists) AddCounts(shape query.Counts, start int64, rows []query.CountsRow) {
	e := encoder{}
	e.Uint(uint64(len(shape.Of)))
	for of := range query.CountsByValue(rows) {
		e.Bool(of[0].HasValue)
		e.Text(of[0].Value)
		e.Uint(uint64(len(of)))
		last := start
		for _, row := range of {
			e.Uint(uint64((row.Segment - last) / Minute))
			last = row.Segment
			e.Sparse(row.N)
		}
	}
	l.add(CountsName(shape), e.Bytes)
}

// AddNoCounts adds the section of a day with more values and minutes than MaxCounts.
func (l *Lists) AddNoCounts(shape query.Counts) { l.add(CountsName(shape), nil) }

// HasCounts reports whether a day has the counts of a shape. known is true as well if it has too many of them.
func (d *Day) HasCounts(shape query.Counts) (has, known bool) {
	s, known := d.Section(CountsName(shape))
	return s.Length > 0, known
}

// EachCount reads the section of CountsName with so many numbers of each minute. It calls value for each value, and then
// count for each of its minutes; the numbers are valid until count returns. The error is ErrInvalid.
func EachCount(
	content []byte, start int64, numbers int, value func(text []byte, hasValue bool), count func(minute int64, n []int64),
) error {
	d := decoder{varints.Reader{Bytes: content}}
	n := make([]int64, numbers)
	if d.Uint()+1 != uint64(numbers) {
		return ErrInvalid
	}
	for len(d.Bytes) > 0 {
		hasValue := d.Bool()
		value(d.Text(), hasValue)
		minute := start
		for range d.Length() {
			minute += int64(d.Uint()) * Minute
			if d.Sparse(n); d.Failed {
				return ErrInvalid
			}
			count(minute, n)
		}
	}
	if d.Failed {
		return ErrInvalid
	}
	return nil
}
