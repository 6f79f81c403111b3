package search

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/go-faster/jx"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
)

// CountsResult has the numbers of requests with a value.
type CountsResult struct {
	Value       *string   `json:"value"`        // null: of the requests without a value
	TimePeriods []int64   `json:"time_periods"` // starts of the segments with requests, Unix seconds
	N           [][]int64 `json:"n"`            // by segment: of all requests, then of each selection
}

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

// countsOf returns the results, each where its value is first.
func countsOf(rows []query.CountsRow) []CountsResult {
	type value struct {
		text     string
		hasValue bool
	}
	results := []CountsResult{}
	index := map[value]int{}
	for _, row := range rows {
		i, known := index[value{row.Value, row.HasValue}]
		if !known {
			i = len(results)
			index[value{row.Value, row.HasValue}] = i
			results = append(results, CountsResult{N: make([][]int64, len(row.N))})
			if row.HasValue {
				results[i].Value = &row.Value
			}
		}
		r := &results[i]
		r.TimePeriods = append(r.TimePeriods, row.Segment)
		for of, n := range row.N {
			r.N[of] = append(r.N[of], n)
		}
	}
	return results
}

// EachCounts calls a function with each of the results of counts in JSON. The result is valid until the function returns.
func EachCounts(results []byte, each func(CountsResult)) error {
	var r CountsResult
	d := jx.DecodeBytes(results)
	if d.Next() == jx.Null { // of a dry run
		return nil
	}
	return d.Arr(func(d *jx.Decoder) error {
		r = CountsResult{TimePeriods: r.TimePeriods[:0], N: r.N[:0]}
		err := d.ObjBytes(func(d *jx.Decoder, key []byte) error {
			switch string(key) {
			case "value":
				if d.Next() == jx.Null {
					return d.Null()
				}
				text, err := d.Str()
				r.Value = &text
				return err
			case "time_periods":
				return readInts(d, &r.TimePeriods)
			case "n":
				return d.Arr(func(d *jx.Decoder) error {
					r.N = slices.Grow(r.N, 1)[:len(r.N)+1]
					of := &r.N[len(r.N)-1]
					*of = (*of)[:0]
					return readInts(d, of)
				})
			}
			return d.Skip()
		})
		if err == nil {
			each(r)
		}
		return err
	})
}

func readInts(d *jx.Decoder, into *[]int64) error {
	return d.Arr(func(d *jx.Decoder) error {
		n, err := d.Int64()
		*into = append(*into, n)
		return err
	})
}
