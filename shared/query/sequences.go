package query

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Sequences asks for the requests of each key in the order of their times. A key has a value of each of the fields Key;
// requests without one of these values are in no sequence.
type Sequences struct {
	Key  []Dimension // at most MaxKeyParts; each is single; none: all requests have the same key
	With []Dimension // further values of each request, at most MaxWith; each is single
	Also []Dimension // likewise, at most MaxAlso; equal values need not have equal numbers
	Of   []Selection // at most MaxSelected
	Over int64       // only keys with more requests than that are wanted
}

func (Sequences) shape() {}

// MaxKeyParts is the maximum number of fields of a key.
const MaxKeyParts = 4

// The maximum numbers of further values of a request in a sequence.
const (
	MaxWith = 5
	MaxAlso = 4
)

// MaxSelected is the maximum number of selections of sequences, so that their bits are a number of every engine.
const MaxSelected = 30

// MaxSequenced limits the requests in all sequences of an answer, so that it fits in the memory of a function. An answer
// with more is an error.
const MaxSequenced = 1_000_000

// SequencesAnswer is the answer to Sequences.
type SequencesAnswer struct {
	Sequences []Sequence // by key
	Values    []string   // the different values of With, in ascending order
	Texts     Texts      // the values of Also; a list has each value of a field once
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
	Also     [MaxAlso]int32 // likewise, of SequencesAnswer.Texts
}

// Sort sorts the requests of a sequence, which are usually almost in their order.
func (a *SequencesAnswer) Sort(s Sequence) {
	list := s.Requests
	for i, moves := 1, 0; i < len(list); i++ {
		one, at := list[i], i
		for ; at > 0 && list[at-1].TsNs >= one.TsNs && a.compare(list[at-1], one) > 0; at-- {
			list[at] = list[at-1]
		}
		list[at] = one
		if moves += i - at; moves > len(list) {
			slices.SortFunc(list, a.compare)
			return
		}
	}
}

// compare orders the requests of a sequence.
func (a *SequencesAnswer) compare(x, y SequenceRequest) int {
	if x.TsNs != y.TsNs {
		return cmp.Compare(x.TsNs, y.TsNs)
	}
	if c := cmp.Or(cmp.Compare(x.Selected, y.Selected), slices.Compare(x.With[:], y.With[:])); c != 0 {
		return c
	}
	for i, number := range x.Also {
		switch other := y.Also[i]; {
		case number == other:
		case number < 0 || other < 0:
			return cmp.Compare(number, other)
		default:
			if c := bytes.Compare(a.Texts.At(number), a.Texts.At(other)); c != 0 {
				return c
			}
		}
	}
	return 0
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
	With     []*string // those of Sequences.With, then of Also; nil: the request has no such value
}

// SequencesOf returns the sequences of rows, which may be in any order.
func (s Sequences) SequencesOf(rows []SequenceRow) SequencesAnswer {
	with, also := map[string]int32{}, map[string]int32{}
	for _, r := range rows {
		addTexts(with, r.With[:len(s.With)])
		addTexts(also, r.With[len(s.With):])
	}
	a := SequencesAnswer{Values: numbered(with)}
	var list PackedTexts
	for _, value := range numbered(also) {
		list.Add([]byte(value))
	}
	a.Texts.Append(list)
	places := map[string]int{} // in a.Sequences, by key
	for _, r := range rows {
		request := SequenceRequest{TsNs: Nanoseconds(r.TsMs, r.TsNanos), Selected: r.Selected, With: NoWith, Also: NoAlso}
		setNumbers(request.With[:], with, r.With[:len(s.With)])
		setNumbers(request.Also[:], also, r.With[len(s.With):])
		key := keyText(r.Key)
		place, known := places[key]
		if !known {
			place = len(a.Sequences)
			places[key] = place
			a.Sequences = append(a.Sequences, Sequence{Key: append([]string(nil), r.Key...)})
		}
		of := &a.Sequences[place]
		of.Requests = append(of.Requests, request)
	}
	slices.SortFunc(a.Sequences, func(x, y Sequence) int { return slices.Compare(x.Key, y.Key) })
	for _, one := range a.Sequences {
		a.Sort(one)
	}
	return a
}

func addTexts(all map[string]int32, list []*string) {
	for _, text := range list {
		if text != nil {
			all[*text] = 0
		}
	}
}

// numbered gives texts their numbers, and returns the texts in ascending order.
func numbered(texts map[string]int32) []string {
	list := slices.Sorted(maps.Keys(texts))
	for i, text := range list {
		texts[text] = int32(i)
	}
	return list
}

func setNumbers(into []int32, of map[string]int32, list []*string) {
	for i, text := range list {
		if text != nil {
			into[i] = of[*text]
		}
	}
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

// The numbers of a request without further values.
var (
	NoWith = [MaxWith]int32{-1, -1, -1, -1, -1}
	NoAlso = [MaxAlso]int32{-1, -1, -1, -1}
)

// String returns a text that is equal for two shapes only if they have the same answers.
func (s Sequences) String() string {
	of := make([]string, len(s.Of))
	for i, selection := range s.Of {
		of[i] = ConditionsIdentity(selection.Conditions)
	}
	return fmt.Sprintf(
		"over %d by %q with %q also %q of %q", s.Over, identities(s.Key), identities(s.With), identities(s.Also), of,
	)
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
	columns := append([]string{"ts_ms", "ts_nanos"}, dimensionColumns(slices.Concat(s.Key, s.With, s.Also))...)
	for _, selection := range s.Of {
		columns = append(columns, columnsOf(selection.Conditions)...)
	}
	return columns
}
