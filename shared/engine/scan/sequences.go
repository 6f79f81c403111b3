package scan

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// sequences returns the requests of each key that has enough of them.
func (r *run) sequences(ctx context.Context, shape query.Sequences, groups []*group) (query.SequencesAnswer, error) {
	s := &sequencing{run: r, shape: shape, numbers: map[keyCodes]int32{}}
	err := r.scan(ctx, groups, func(w *worker, _ int) error {
		rows, err := w.chosen()
		if err != nil || len(rows) == 0 {
			return err
		}
		part, err := s.count(w, rows)
		if err != nil {
			return err
		}
		return s.join(part)
	})
	if err != nil {
		return query.SequencesAnswer{}, err
	}
	return s.answer()
}

// keyCodes are the codes of the parts of a key.
type keyCodes [query.MaxKeyParts]int32

// sequencing collects the requests of all row groups.
type sequencing struct {
	run   *run
	shape query.Sequences

	mu      sync.Mutex
	texts   parquet.Dictionary // of keys and of further values
	numbers map[keyCodes]int32 // of keys, by the codes of their texts
	keys    []keyCodes
	n       []int64 // requests of each key
	parts   []*sequenced
}

// sequenced has the requests of a row group.
type sequenced struct {
	texts    parquet.Dictionary
	keys     []keyCodes // codes of texts
	n        []int64    // requests of each key
	requests []keyedRequest
	all      []int32 // for each key, its place in sequencing.keys; join sets it
	codes    []int32 // for each text, its code in sequencing.texts; join sets it
}

// keyedRequest is a request with the number of its key. The further values are codes of texts.
type keyedRequest struct {
	key int32
	query.SequenceRequest
}

const keyedRequestBytes = 40

// count collects rows of a row group.
func (s *sequencing) count(w *worker, rows []int32) (*sequenced, error) {
	times, err := w.all("ts_ms", "ts_nanos")
	if err != nil {
		return nil, err
	}
	selected, err := w.selections(rows, s.shape.Of)
	if err != nil {
		return nil, err
	}
	p := &sequenced{requests: make([]keyedRequest, len(rows))}
	keys, absent := make([]keyCodes, len(rows)), make([]bool, len(rows))
	for part, d := range s.shape.Key {
		err := p.each(w, d, rows, func(i int, code int32) {
			keys[i][part] = code
			absent[i] = absent[i] || code == parquet.Absent
		})
		if err != nil {
			return nil, err
		}
	}
	for i, row := range rows {
		p.requests[i].SequenceRequest = query.SequenceRequest{
			TsNs: query.Nanoseconds(times[0].Ints[row], times[1].Ints[row]), Selected: uint32(selected[row]), With: query.NoValues,
		}
	}
	for value, d := range s.shape.With {
		if err := p.each(w, d, rows, func(i int, code int32) { p.requests[i].With[value] = code }); err != nil {
			return nil, err
		}
	}
	numbers, kept := map[keyCodes]int32{}, p.requests[:0]
	for i, request := range p.requests {
		if absent[i] {
			continue
		}
		number, known := numbers[keys[i]]
		if !known {
			number = int32(len(p.keys))
			numbers[keys[i]] = number
			p.keys, p.n = append(p.keys, keys[i]), append(p.n, 0)
		}
		p.n[number]++
		request.key = number
		kept = append(kept, request)
	}
	p.requests = kept
	return p, nil
}

// each calls set with the code of the value of each row in the texts of the row group, or parquet.Absent.
func (p *sequenced) each(w *worker, d query.Dimension, rows []int32, set func(i int, code int32)) error {
	values, err := w.valuesOf(d)
	if err != nil {
		return err
	}
	known := make([]int32, values.entries.Len())
	for i, row := range rows {
		code := values.codes[row]
		if code != parquet.Absent {
			code, _ = addEntry(&p.texts, values.entries, code, known)
		}
		set(i, code)
	}
	return nil
}

// join adds the requests of a row group.
func (s *sequencing) join(p *sequenced) error {
	known := make([]int32, p.texts.Len())
	p.codes, p.all = make([]int32, p.texts.Len()), make([]int32, len(p.keys))
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := int64(cap(p.requests)) * keyedRequestBytes
	for entry := range p.codes {
		code, bytes := addEntry(&s.texts, &p.texts, int32(entry), known)
		p.codes[entry], taken = code, taken+bytes
	}
	p.texts = parquet.Dictionary{}
	for i, key := range p.keys {
		for part := range s.shape.Key {
			key[part] = p.codes[key[part]]
		}
		number, met := s.numbers[key]
		if !met {
			number = int32(len(s.keys))
			s.numbers[key] = number
			s.keys, s.n = append(s.keys, key), append(s.n, 0)
			taken += numberedBytes
		}
		p.all[i] = number
		s.n[number] += p.n[i]
	}
	s.parts = append(s.parts, p)
	return s.run.reserve(taken)
}

// answer returns the sequences of the keys that have enough requests.
func (s *sequencing) answer() (query.SequencesAnswer, error) {
	total := int64(0)
	var order []int32 // the wanted keys
	for number, n := range s.n {
		if n > s.shape.Over {
			total += n
			order = append(order, int32(number))
		}
	}
	if total > query.MaxSequenced {
		return query.SequencesAnswer{}, engine.SequencesError(query.MaxSequenced)
	}
	if err := s.run.reserve(total * keyedRequestBytes); err != nil {
		return query.SequencesAnswer{}, err
	}
	slices.SortFunc(order, func(a, b int32) int {
		for part := range s.shape.Key {
			if c := bytes.Compare(s.texts.At(s.keys[a][part]), s.texts.At(s.keys[b][part])); c != 0 {
				return c
			}
		}
		return 0
	})
	if total == 0 {
		return query.SequencesAnswer{}, nil
	}
	a := query.SequencesAnswer{Sequences: make([]query.Sequence, len(order))}
	places, all := make([]int32, len(s.n)), make([]query.SequenceRequest, total) // places of keys in the answer, plus one
	for place, number := range order {
		places[number] = int32(place) + 1
		var key []string
		for part := range s.shape.Key {
			key = append(key, string(s.texts.At(s.keys[number][part])))
		}
		n := s.n[number]
		a.Sequences[place] = query.Sequence{Key: key, Requests: all[:0:n]}
		all = all[n:]
	}
	used := make([]bool, s.texts.Len())
	for _, p := range s.parts {
		for _, request := range p.requests {
			place := places[p.all[request.key]]
			if place == 0 {
				continue
			}
			for i := range s.shape.With {
				if code := request.With[i]; code != parquet.Absent {
					request.With[i] = p.codes[code]
					used[p.codes[code]] = true
				}
			}
			of := &a.Sequences[place-1]
			of.Requests = append(of.Requests, request.SequenceRequest)
		}
	}
	a.Values = s.number(used, a.Sequences)
	for _, sequence := range a.Sequences {
		if !slices.IsSortedFunc(sequence.Requests, query.SequenceRequest.Compare) {
			slices.SortFunc(sequence.Requests, query.SequenceRequest.Compare)
		}
	}
	return a, nil
}

// number replaces the codes of further values by their numbers among those that are used, in ascending order.
func (s *sequencing) number(used []bool, list []query.Sequence) (values []string) {
	var codes []int32
	for code, is := range used {
		if is {
			codes = append(codes, int32(code))
		}
	}
	slices.SortFunc(codes, func(a, b int32) int { return bytes.Compare(s.texts.At(a), s.texts.At(b)) })
	numbers := make([]int32, len(used))
	for i, code := range codes {
		numbers[code] = int32(i)
		values = append(values, string(s.texts.At(code)))
	}
	for _, sequence := range list {
		for i := range sequence.Requests {
			for j, code := range sequence.Requests[i].With {
				if code != parquet.Absent {
					sequence.Requests[i].With[j] = numbers[code]
				}
			}
		}
	}
	return values
}
