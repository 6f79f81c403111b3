package query

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Sequences asks for the requests of each key in the order of their times. A key has a value of each of the fields Key;
// requests without one of these values are in no sequence.
type Sequences struct {
	Key  []Dimension // at most MaxKeyParts; each is single; none: all requests have the same key
	With []Dimension // further values of each request, at most MaxWith; each is single
	Of   []Selection // at most 30
	Over int64       // only keys with more requests than that are wanted
}

func (Sequences) shape() {}

// MaxKeyParts is the maximum number of fields of a key.
const MaxKeyParts = 4

// MaxWith is the maximum number of further values of a request in a sequence.
const MaxWith = 6

// MaxSequenced limits the requests in all sequences of an answer, so that it fits in the memory of a function. An answer
// with more is an error.
const MaxSequenced = 1_000_000

// SequencesAnswer is the answer to Sequences.
type SequencesAnswer struct {
	Sequences []Sequence // by key
	Values    []string   // the different further values, in ascending order
}

// Sequence has the requests of a key, by time. At equal times, the selections and then the values decide their order.
type Sequence struct {
	Key      []string
	Requests []SequenceRequest
}

// SequenceRequest is a request in a sequence.
type SequenceRequest struct {
	TsNs     int64          // Unix nanoseconds
	Selected uint32         // bit i is set if selection i has the request
	With     [MaxWith]int32 // the further values, as numbers of SequencesAnswer.Values; -1: none
}

// Compare orders the requests of a sequence.
func (r SequenceRequest) Compare(other SequenceRequest) int {
	return cmp.Or(
		cmp.Compare(r.TsNs, other.TsNs), cmp.Compare(r.Selected, other.Selected), slices.Compare(r.With[:], other.With[:]),
	)
}

// Requests returns the number of requests in all sequences.
func (a SequencesAnswer) Requests() (n int) {
	for _, s := range a.Sequences {
		n += len(s.Requests)
	}
	return n
}

// SequenceRow is a request of a sequence with its texts.
type SequenceRow struct {
	Key      []string
	TsMs     int64
	TsNanos  int64 // within the millisecond
	Selected uint32
	With     []*string // nil: the request has no such value
}

// SequencesOf returns the sequences of rows, which may be in any order.
func SequencesOf(rows []SequenceRow) SequencesAnswer {
	numbers := map[string]int32{}
	for _, r := range rows {
		for _, value := range r.With {
			if value != nil {
				numbers[*value] = 0
			}
		}
	}
	var a SequencesAnswer
	for value := range numbers {
		a.Values = append(a.Values, value)
	}
	slices.Sort(a.Values)
	for i, value := range a.Values {
		numbers[value] = int32(i)
	}
	places := map[string]int{} // in a.Sequences, by key
	for _, r := range rows {
		request := SequenceRequest{TsNs: Nanoseconds(r.TsMs, r.TsNanos), Selected: r.Selected, With: NoValues}
		for i, value := range r.With {
			if value != nil {
				request.With[i] = numbers[*value]
			}
		}
		key := keyText(r.Key)
		place, known := places[key]
		if !known {
			place = len(a.Sequences)
			places[key] = place
			a.Sequences = append(a.Sequences, Sequence{Key: append([]string(nil), r.Key...)})
		}
		s := &a.Sequences[place]
		s.Requests = append(s.Requests, request)
	}
	slices.SortFunc(a.Sequences, func(x, y Sequence) int { return slices.Compare(x.Key, y.Key) })
	for _, s := range a.Sequences {
		slices.SortFunc(s.Requests, SequenceRequest.Compare)
	}
	return a
}

// Nanoseconds returns the time of a record in Unix nanoseconds.
func Nanoseconds(tsMs, tsNanos int64) int64 { return tsMs*1_000_000 + tsNanos }

// keyText returns a text that is equal for two keys only if all their parts are.
func keyText(parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	var text []byte
	for _, part := range parts {
		text = append(append(strconv.AppendInt(text, int64(len(part)), 10), ' '), part...)
	}
	return string(text)
}

// NoValues are the numbers of a request without further values.
var NoValues = [MaxWith]int32{-1, -1, -1, -1, -1, -1}

// String returns a text that is equal for two shapes only if they have the same answers.
func (s Sequences) String() string {
	of := make([]string, len(s.Of))
	for i, selection := range s.Of {
		of[i] = ConditionsIdentity(selection.Conditions)
	}
	return fmt.Sprintf("over %d by %q with %q of %q", s.Over, identities(s.Key), identities(s.With), of)
}

func identities(list []Dimension) string {
	all := make([]string, len(list))
	for i, d := range list {
		all[i] = d.Identity()
	}
	return strings.Join(all, ", ")
}

// columns lists the columns from which the sequences are made.
func (s Sequences) columns() []string {
	columns := append([]string{"ts_ms", "ts_nanos"}, dimensionColumns(slices.Concat(s.Key, s.With))...)
	for _, selection := range s.Of {
		columns = append(columns, columnsOf(selection.Conditions)...)
	}
	return columns
}
