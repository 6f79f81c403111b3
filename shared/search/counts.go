package search

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
)

// CountsResult has the numbers of requests with a value.
type CountsResult struct {
	Value       *string   // nil: of the requests without a value
	TimePeriods []int64   // starts of the segments with requests, Unix seconds
	N           [][]int64 // by segment: of all requests, then of each selection
}

// PackedCounts are results of counts, which EachCounts reads. They can have a million numbers, and most are 0. In JSON,
// they are a text in base64. All their numbers are varints:
//
//	how many numbers a segment has
//	for each value: 1 if there is one, otherwise 0; the length of its text; the text; the number of its segments
//	for each segment of a value: its distance from the one before; all requests; a mask of the selections that have
//	requests; the requests of each of these
type PackedCounts []byte

// SelectionsText returns the value of the parameter of for lists of conditions.
func SelectionsText(conditions []string) string {
	text, err := json.Marshal(conditions)
	if err != nil {
		panic("search: encode conditions: " + err.Error()) // texts can always be encoded
	}
	return string(text)
}

func (r Request) counts() (query.Shape, error) {
	var conditions []string
	if err := json.Unmarshal([]byte(r.Of), &conditions); err != nil {
		return nil, &ParamError{Param: "of", Message: "it is not a list of conditions in JSON: " + err.Error()}
	}
	shape, err := BindCounts(r.By, conditions, r.listOptions()...)
	if err != nil {
		return nil, err
	}
	shape.SegmentSeconds, err = segmentOf(r.Segment)
	return shape, err
}

// BindCounts returns counts without segments, by a field, of lists of conditions. The error is a *ParamError or a
// *query.FilterError.
func BindCounts(by string, conditions []string, opts ...query.Option) (query.Counts, error) {
	dimensions, err := dimensionsOf("by", by)
	if err != nil {
		return query.Counts{}, err
	}
	if len(dimensions) != 1 {
		return query.Counts{}, &ParamError{
			Param: "by", Message: fmt.Sprintf("counts are by one field, not by %d", len(dimensions)),
		}
	}
	shape := query.Counts{By: dimensions[0]}
	for _, text := range conditions {
		s, err := query.BindSelection(filter.ParseQueryString(text), opts...)
		if err != nil {
			return query.Counts{}, err
		}
		shape.Of = append(shape.Of, s)
	}
	return shape, nil
}

// packCounts packs rows, which are ordered by value.
func packCounts(rows []query.CountsRow) PackedCounts {
	b := make([]byte, 0, 8*len(rows))
	if len(rows) > 0 {
		b = binary.AppendUvarint(b, uint64(len(rows[0].N)))
	}
	for len(rows) > 0 {
		of := 1
		for of < len(rows) && rows[of].Value == rows[0].Value && rows[of].HasValue == rows[0].HasValue {
			of++
		}
		b = appendValue(b, rows[0])
		b = binary.AppendUvarint(b, uint64(of))
		segment := int64(0)
		for _, row := range rows[:of] {
			b = binary.AppendVarint(b, row.Segment-segment)
			b = appendNumbers(b, row.N)
			segment = row.Segment
		}
		rows = rows[of:]
	}
	return b
}

func appendValue(b []byte, row query.CountsRow) []byte {
	hasValue := uint64(0)
	if row.HasValue {
		hasValue = 1
	}
	b = binary.AppendUvarint(b, hasValue)
	b = binary.AppendUvarint(b, uint64(len(row.Value)))
	return append(b, row.Value...)
}

func appendNumbers(b []byte, n []int64) []byte {
	b = binary.AppendUvarint(b, uint64(n[0]))
	mask := uint64(0)
	for i, of := range n[1:] {
		if of != 0 {
			mask |= 1 << i
		}
	}
	b = binary.AppendUvarint(b, mask)
	for _, of := range n[1:] {
		if of != 0 {
			b = binary.AppendUvarint(b, uint64(of))
		}
	}
	return b
}

// mostNumbers is the largest number of numbers of a segment, because a mask has 64 bits.
const mostNumbers = 65

// errCounts is the error of EachCounts.
var errCounts = errors.New("counts are damaged")

// EachCounts calls a function with each of the results of counts in JSON. The result is valid until the function returns.
func EachCounts(results []byte, each func(CountsResult)) error {
	if string(results) == "null" { // of a dry run
		return nil
	}
	text, isText := bytes.CutPrefix(results, []byte(`"`))
	text, isWhole := bytes.CutSuffix(text, []byte(`"`))
	packed, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil || !isText || !isWhole {
		return errCounts
	}
	if len(packed) == 0 {
		return nil
	}
	d := unpacker{rest: packed}
	width := d.uint()
	if width == 0 || width > mostNumbers {
		return errCounts
	}
	r := CountsResult{N: make([][]int64, width)}
	for len(d.rest) > 0 && !d.failed {
		r.Value, r.TimePeriods = nil, r.TimePeriods[:0]
		for i := range r.N {
			r.N[i] = r.N[i][:0]
		}
		if d.result(&r); !d.failed {
			each(r)
		}
	}
	if d.failed {
		return errCounts
	}
	return nil
}

// unpacker reads packed counts. After the first mistake, it reads nothing else.
type unpacker struct {
	rest   []byte
	failed bool
}

func (d *unpacker) skip(n int) {
	if n <= 0 {
		d.rest, d.failed = nil, true
		return
	}
	d.rest = d.rest[n:]
}

func (d *unpacker) uint() uint64 {
	n, length := binary.Uvarint(d.rest)
	d.skip(length)
	return n
}

func (d *unpacker) int() int64 {
	n, length := binary.Varint(d.rest)
	d.skip(length)
	return n
}

func (d *unpacker) text() string {
	length := d.uint()
	if length > uint64(len(d.rest)) {
		d.rest, d.failed = nil, true
		return ""
	}
	text := string(d.rest[:length])
	d.rest = d.rest[length:]
	return text
}

// result reads the next result. Its lists are empty.
func (d *unpacker) result(r *CountsResult) {
	hasValue, text := d.uint() == 1, d.text()
	if hasValue {
		r.Value = &text
	}
	segment := int64(0)
	for left := d.uint(); left > 0 && !d.failed; left-- {
		segment += d.int()
		r.TimePeriods = append(r.TimePeriods, segment)
		r.N[0] = append(r.N[0], int64(d.uint()))
		mask := d.uint()
		for i := range r.N[1:] {
			n := int64(0)
			if mask&(1<<i) != 0 {
				n = int64(d.uint())
			}
			r.N[i+1] = append(r.N[i+1], n)
		}
	}
}
