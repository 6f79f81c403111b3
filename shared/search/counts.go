package search

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/varints"
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
//	for each segment of a value: its distance from the one before; its numbers, as varints.Writer.Sparse writes them
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
	if len(conditions) > query.MostCounted {
		return query.Counts{}, &ParamError{
			Param: "of", Message: fmt.Sprintf("it has %d lists of conditions, more than %d", len(conditions), query.MostCounted),
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
	w := varints.Writer{Bytes: make([]byte, 0, 8*len(rows))}
	if len(rows) > 0 {
		w.Uint(uint64(len(rows[0].N)))
	}
	for of := range query.CountsByValue(rows) {
		w.Bool(of[0].HasValue)
		w.Text(of[0].Value)
		w.Uint(uint64(len(of)))
		segment := int64(0)
		for _, row := range of {
			w.Int(row.Segment - segment)
			w.Sparse(row.N)
			segment = row.Segment
		}
	}
	return w.Bytes
}

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
	d := varints.Reader{Bytes: packed}
	width := d.Uint()
	if width == 0 || width > varints.MostSparse {
		return errCounts
	}
	numbers := make([]int64, width)
	r := CountsResult{N: make([][]int64, width)}
	for len(d.Bytes) > 0 {
		r.Value, r.TimePeriods = nil, r.TimePeriods[:0]
		for i := range r.N {
			r.N[i] = r.N[i][:0]
		}
		hasValue, text := d.Bool(), string(d.Text())
		if hasValue {
			r.Value = &text
		}
		segment := int64(0)
		for left := d.Length(); left > 0 && !d.Failed; left-- {
			segment += d.Int()
			r.TimePeriods = append(r.TimePeriods, segment)
			d.Sparse(numbers)
			for i, n := range numbers {
				r.N[i] = append(r.N[i], n)
			}
		}
		if !d.Failed {
			each(r)
		}
	}
	if d.Failed {
		return errCounts
	}
	return nil
}
