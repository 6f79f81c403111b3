package scan

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// sequences returns the requests of each key that has enough of them.
func (r *run) sequences(ctx context.Context, shape query.Sequences, groups []*group) (query.SequencesAnswer, error) {
	s := &sequencing{run: r, shape: shape, numbers: newKeyNumbers(shape)}
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
	return s.answer(ctx)
}

// keyCodes are the codes of the parts of a key.
type keyCodes [query.MaxKeyParts]int32

// keyNumbers gives each key a number. Numbers count from 0.
type keyNumbers struct {
	single []int32            // of keys with at most one part, by its code; plus one
	others map[keyCodes]int32 // nil: keys have at most one part
	n      int32
}

func newKeyNumbers(shape query.Sequences) keyNumbers {
	if len(shape.Key) < 2 {
		return keyNumbers{}
	}
	return keyNumbers{others: map[keyCodes]int32{}}
}

// of returns the number of a key, and whether the key is new.
func (k *keyNumbers) of(key keyCodes) (number int32, isNew bool) {
	if k.others != nil {
		number, known := k.others[key]
		if !known {
			number = k.n
			k.others[key] = number
			k.n++
		}
		return number, !known
	}
	if missing := int(key[0]) + 1 - len(k.single); missing > 0 {
		k.single = append(k.single, make([]int32, missing)...)
	}
	place := &k.single[key[0]]
	if isNew = *place == 0; isNew {
		k.n++
		*place = k.n
	}
	return *place - 1, isNew
}

// sequencing collects the requests of all row groups.
type sequencing struct {
	run   *run
	shape query.Sequences

	mu      sync.Mutex
	texts   parquet.Dictionary // of keys and of further values whose numbers are compared
	numbers keyNumbers
	keys    []keyCodes
	n       []int64 // requests of each key
	parts   []*sequenced
}

// sequenced has the requests of a row group. Their further values are codes of texts and numbers of also.
type sequenced struct {
	firstMs  int64             // before the first of them
	texts    query.PackedTexts // of keys and of further values; several may be equal
	hashes   []uint32          // of texts
	also     query.PackedTexts
	keys     []keyCodes // codes of texts
	n        []int64    // requests of each key
	requests []query.SequenceRequest
	key      []int32 // of each request

	all   []int32 // for each key, its place in sequencing.keys; join sets it
	codes []int32 // for each text, its code in sequencing.texts; join sets it
	at    []int32 // for each key, where its next request goes, or -1; answer sets it
	base  int32   // the number of the first text of also; answer sets it
	used  []bool  // the texts that are further values of the answer
}

const keyedRequestBytes = 48 + 4

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
	p := &sequenced{
		firstMs: w.group.MinTsMs, requests: make([]query.SequenceRequest, len(rows)), key: make([]int32, len(rows)),
	}
	coded := map[string][]int32{} // of each dimension, the codes of rows
	codesOf := func(d query.Dimension) ([]int32, error) {
		codes, known := coded[d.Identity()]
		if known {
			return codes, nil
		}
		codes = make([]int32, len(rows))
		coded[d.Identity()] = codes
		return codes, w.addTexts(&p.texts, d, rows, func(i int, code int32) { codes[i] = code })
	}
	keys := make([][]int32, len(s.shape.Key))
	for part, d := range s.shape.Key {
		if keys[part], err = codesOf(d); err != nil {
			return nil, err
		}
	}
	for i, row := range rows {
		p.requests[i] = query.SequenceRequest{
			TsNs: query.Nanoseconds(times[0].Ints[row], times[1].Ints[row]), Selected: uint32(selected[row]),
			With: query.NoWith, Also: query.NoAlso,
		}
	}
	for value, d := range s.shape.With {
		codes, err := codesOf(d)
		if err != nil {
			return nil, err
		}
		for i, code := range codes {
			p.requests[i].With[value] = code
		}
	}
	for value, d := range s.shape.Also {
		err := w.addTexts(&p.also, d, rows, func(i int, number int32) { p.requests[i].Also[value] = number })
		if err != nil {
			return nil, err
		}
	}
	p.hashes = make([]uint32, p.texts.Len())
	for i := range p.hashes {
		p.hashes[i] = parquet.Hash(p.texts.At(int32(i)))
	}
	p.divide(keys, newKeyNumbers(s.shape))
	return p, nil
}

// addTexts adds the values of rows to a list, each value once. It calls set with the number of the value of each row, or
// parquet.Absent.
func (w *worker) addTexts(list *query.PackedTexts, d query.Dimension, rows []int32, set func(i int, number int32)) error {
	values, err := w.valuesOf(d)
	if err != nil {
		return err
	}
	known, next := cleared(w.numbers, values.entries.Len()), int32(list.Len()) // known has the numbers plus one
	met, bytes := w.met[:0], 0
	for i, row := range rows {
		number := values.codes[row]
		if number != parquet.Absent {
			of := &known[number]
			if *of == 0 {
				next++
				*of = next
				met, bytes = append(met, number), bytes+len(values.entries.At(number))
			}
			number = *of - 1
		}
		set(i, number)
	}
	list.Grow(len(met), bytes)
	for _, entry := range met {
		list.Add(values.entries.At(entry))
	}
	w.numbers, w.met = known, met
	return nil
}

// divide finds the key of each request, by the codes of the parts of the keys. It removes requests without a key.
func (p *sequenced) divide(parts [][]int32, numbers keyNumbers) {
	kept := 0
requests:
	for i := range p.requests {
		var key keyCodes
		for part, codes := range parts {
			if key[part] = codes[i]; key[part] == parquet.Absent {
				continue requests
			}
		}
		number, isNew := numbers.of(key)
		if isNew {
			p.keys, p.n = append(p.keys, key), append(p.n, 0)
		}
		p.n[number]++
		p.key[kept], p.requests[kept] = number, p.requests[i]
		kept++
	}
	p.key, p.requests = p.key[:kept], p.requests[:kept]
}

// join adds the requests of a row group.
func (s *sequencing) join(p *sequenced) error {
	p.codes, p.all = make([]int32, p.texts.Len()), make([]int32, len(p.keys))
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := int64(cap(p.requests))*keyedRequestBytes + p.also.Memory() - s.texts.Memory()
	for i, hash := range p.hashes {
		p.codes[i] = s.texts.Code(p.texts.At(int32(i)), hash)
	}
	taken += s.texts.Memory()
	p.texts, p.hashes = query.PackedTexts{}, nil
	for i, key := range p.keys {
		for part := range s.shape.Key {
			key[part] = p.codes[key[part]]
		}
		number, isNew := s.numbers.of(key)
		if isNew {
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
func (s *sequencing) answer(ctx context.Context) (query.SequencesAnswer, error) {
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
	if err := s.run.reserve(total * keyedRequestBytes); err != nil || total == 0 {
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
	a := query.SequencesAnswer{Sequences: make([]query.Sequence, len(order))}
	all := make([]query.SequenceRequest, total)
	at := slices.Repeat([]int32{-1}, len(s.n)) // where the next request of each key goes
	next := int32(0)
	for place, number := range order {
		var key []string
		for part := range s.shape.Key {
			key = append(key, string(s.texts.At(s.keys[number][part])))
		}
		end := next + int32(s.n[number])
		a.Sequences[place] = query.Sequence{Key: key, Requests: all[next:end:end]}
		at[number], next = next, end
	}
	slices.SortStableFunc(s.parts, func(a, b *sequenced) int { return cmp.Compare(a.firstMs, b.firstMs) })
	for _, p := range s.parts {
		p.at, p.base = make([]int32, len(p.keys)), a.Texts.Append(p.also)
		for key, number := range p.all {
			if p.at[key] = at[number]; at[number] >= 0 {
				at[number] += int32(p.n[key])
			}
		}
	}
	err := s.run.each(ctx, len(s.parts), func(_ *worker, i int) error {
		s.parts[i].put(all)
		return nil
	})
	if err != nil {
		return query.SequencesAnswer{}, err
	}
	err = s.finish(ctx, &a)
	return a, err
}

// put copies the requests of a row group to their places in the answer.
func (p *sequenced) put(all []query.SequenceRequest) {
	p.used = make([]bool, len(p.codes))
	for i, r := range p.requests {
		at := &p.at[p.key[i]]
		if *at < 0 {
			continue
		}
		for value, code := range r.With {
			if code != parquet.Absent {
				p.used[code] = true
				r.With[value] = p.codes[code]
			}
		}
		for value, number := range r.Also {
			if number != parquet.Absent {
				r.Also[value] = p.base + number
			}
		}
		all[*at] = r
		*at++
	}
	p.requests, p.key = nil, nil
}

// finish numbers the further values, and sorts the requests of each key.
func (s *sequencing) finish(ctx context.Context, a *query.SequencesAnswer) error {
	used := make([]bool, s.texts.Len())
	for _, p := range s.parts {
		for entry, is := range p.used {
			if is {
				used[p.codes[entry]] = true
			}
		}
	}
	var codes []int32
	for code, is := range used {
		if is {
			codes = append(codes, int32(code))
		}
	}
	slices.SortFunc(codes, func(a, b int32) int { return bytes.Compare(s.texts.At(a), s.texts.At(b)) })
	numbers := make([]int32, len(used)) // of the codes
	for i, code := range codes {
		numbers[code] = int32(i)
		a.Values = append(a.Values, string(s.texts.At(code)))
	}
	const share = 1 << 10 // sequences that are finished at once
	return s.run.each(ctx, (len(a.Sequences)+share-1)/share, func(_ *worker, i int) error {
		for _, sequence := range a.Sequences[i*share : min((i+1)*share, len(a.Sequences))] {
			for r := range sequence.Requests {
				with := &sequence.Requests[r].With
				for value, code := range with {
					if code != parquet.Absent {
						with[value] = numbers[code]
					}
				}
			}
			a.Sort(sequence)
		}
		return nil
	})
}
