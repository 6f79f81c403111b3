package rollup

import (
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/varints"
)

// RestName is the name of the section with the Rest of the keys of a column.
func RestName(column string) string { return "rest of " + column }

// Rest has the figures of all keys of a column, but for the texts of the keys, in the order of the Members.
type Rest struct {
	keys []Key    // without texts; those without requests are in the section of KnownName
	ends []uint32 // the ends of the hashes, which the Members lack
}

const (
	restBits = 24 // the last bits of the first part of a hash, which a Rest has
	restEnd  = 1<<restBits - 1
)

var (
	restWriter = sync.OnceValue(func() *zstd.Encoder {
		w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic(err) // only options can be wrong
		}
		return w
	})
	restReader = sync.OnceValue(func() *zstd.Decoder {
		r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(mostRest))
		if err != nil {
			panic(err)
		}
		return r
	})
)

// mostRest is the most bytes of a Rest before compression.
const mostRest = 64 << 20

// rest returns the figures of keys, column by column, and compressed.
func rest(keys []Key) []byte {
	if len(keys) == 0 {
		return nil
	}
	e := encoder{}
	e.Uint(uint64(len(keys)))
	for i := range keys {
		end := keys[i].Hash.First & restEnd
		e.Bytes = append(e.Bytes, byte(end), byte(end>>8), byte(end>>16))
	}
	for i := range keys {
		e.Uint(uint64(len(keys[i].Requests)))
	}
	eachRest(keys, func(k *Key) {
		for _, n := range k.Requests {
			e.Bytes = append(e.Bytes, n.Flags)
		}
	})
	eachRest(keys, func(k *Key) {
		for _, n := range k.Requests {
			e.Int(n.Count)
		}
	})
	for _, of := range restSums {
		e.restSums(keys, of)
	}
	for _, of := range restTimes {
		eachRest(keys, func(k *Key) { e.Int(of(k).Count) })
		e.restSums(keys, func(k *Key) *Sum {
			if t := of(k); t.Count > 0 {
				return &t.Sum
			}
			return nil
		})
		eachRest(keys, func(k *Key) {
			if t := of(k); t.Count > 1 { // otherwise both are the sum
				e.Int(t.Min)
				e.Int(t.Max)
			}
		})
	}
	e.restTexts(keys)
	return restWriter().EncodeAll(e.Bytes, nil)
}

// The figures of a key that a Rest has in columns of their own.
var (
	restSums = []func(*Key) *Sum{
		func(k *Key) *Sum { return &k.BytesSent }, func(k *Key) *Sum { return &k.RequestLength },
	}
	restTimes = []func(*Key) *Times{
		func(k *Key) *Times { return &k.Origin },
		func(k *Key) *Times { return &k.Svc },
		func(k *Key) *Times { return &k.Total },
	}
)

// eachRest calls do with the keys that have figures.
func eachRest(keys []Key, do func(*Key)) {
	for i := range keys {
		if len(keys[i].Requests) > 0 {
			do(&keys[i])
		}
	}
}

// restSums writes a column of sums; nil: there is none.
func (e *encoder) restSums(keys []Key, of func(*Key) *Sum) {
	eachRest(keys, func(k *Key) {
		if s := of(k); s != nil {
			e.Int(s.High)
		}
	})
	eachRest(keys, func(k *Key) {
		if s := of(k); s != nil {
			e.Uint(s.Low)
		}
	})
}

// restTexts writes the first ASN, country and organization of each key: all texts, the combinations of their numbers,
// and the number of the combination of each key.
func (e *encoder) restTexts(keys []Key) {
	type combination [3]uint64 // 0: there is none
	var texts []string
	var combinations []combination
	numbers, places := map[string]uint64{}, map[combination]uint64{}
	var of []uint64
	eachRest(keys, func(k *Key) {
		var c combination
		for i, text := range k.First {
			if text == nil {
				continue
			}
			number, known := numbers[*text]
			if !known {
				texts = append(texts, *text)
				number = uint64(len(texts))
				numbers[*text] = number
			}
			c[i] = number
		}
		place, known := places[c]
		if !known {
			place = uint64(len(combinations))
			combinations, places[c] = append(combinations, c), place
		}
		of = append(of, place)
	})
	e.Uint(uint64(len(texts)))
	for _, text := range texts {
		e.Text(text)
	}
	e.Uint(uint64(len(combinations)))
	for _, c := range combinations {
		for _, number := range c {
			e.Uint(number)
		}
	}
	for _, place := range of {
		e.Uint(place)
	}
}

// HasRest reports whether the section of RestName has figures. known is true as well if there are too many.
func (d *Day) HasRest(column string) (has, known bool) {
	s, known := d.Section(RestName(column))
	return s.Length > 0, known
}

// HasAllRests reports whether the rollup of a day has the sections of RestName that it should have.
func (d *Day) HasAllRests() bool {
	return !d.Subset.HasRest() || !slices.ContainsFunc(query.TimeLabels, func(of query.Label) bool {
		_, known := d.HasRest(of.Column)
		return !known && d.HasSection(MembersName(of.Column))
	})
}

// DecodeRest reads the section of RestName. The error is ErrInvalid.
func DecodeRest(content []byte) (r Rest, _ error) {
	plain, err := restReader().DecodeAll(content, nil)
	if err != nil {
		return r, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	d := decoder{varints.Reader{Bytes: plain}}
	n := d.Length()
	if d.Failed || 3*n > len(d.Bytes) {
		return r, ErrInvalid
	}
	r.keys, r.ends = make([]Key, n), make([]uint32, n)
	for i := range r.ends {
		r.ends[i] = uint32(d.Bytes[3*i]) | uint32(d.Bytes[3*i+1])<<8 | uint32(d.Bytes[3*i+2])<<16
	}
	d.Bytes = d.Bytes[3*n:]
	counts, total := make([]int, n), 0
	for i := range counts {
		counts[i] = d.Length()
		total += counts[i]
	}
	if d.Failed || total > len(d.Bytes) {
		return r, ErrInvalid
	}
	requests := make([]FlagCount, total)
	for i := range requests {
		requests[i].Flags = d.byte()
	}
	for i := range requests {
		requests[i].Count = d.Int()
	}
	for i, n := range counts {
		r.keys[i].Requests, requests = requests[:n:n], requests[n:]
	}
	for _, of := range restSums {
		d.restSums(r.keys, of)
	}
	for _, of := range restTimes {
		eachRest(r.keys, func(k *Key) { of(k).Count = d.Int() })
		d.restSums(r.keys, func(k *Key) *Sum {
			if t := of(k); t.Count > 0 {
				return &t.Sum
			}
			return nil
		})
		eachRest(r.keys, func(k *Key) {
			switch t := of(k); {
			case t.Count > 1:
				t.Min, t.Max = d.Int(), d.Int()
			case t.Count == 1:
				t.Min, t.Max = int64(t.Sum.Low), int64(t.Sum.Low)
			}
		})
	}
	if !d.restTexts(r.keys) || d.Failed || len(d.Bytes) > 0 {
		return r, ErrInvalid
	}
	return r, nil
}

func (d *decoder) restSums(keys []Key, of func(*Key) *Sum) {
	eachRest(keys, func(k *Key) {
		if s := of(k); s != nil {
			s.High = d.Int()
		}
	})
	eachRest(keys, func(k *Key) {
		if s := of(k); s != nil {
			s.Low = d.Uint()
		}
	})
}

func (d *decoder) restTexts(keys []Key) (valid bool) {
	texts := make([]*string, 1+d.Length())
	for i := range texts[1:] {
		text := string(d.Text())
		texts[1+i] = &text
	}
	combinations := make([][3]*string, d.Length())
	for i := range combinations {
		for of := range combinations[i] {
			number := d.Uint()
			if number >= uint64(len(texts)) {
				return false
			}
			combinations[i][of] = texts[number]
		}
	}
	valid = true
	eachRest(keys, func(k *Key) {
		place := d.Uint()
		if valid = valid && place < uint64(len(combinations)); valid {
			k.First = combinations[place]
		}
	})
	return valid
}

// At returns the key at a place of the Members, if it has the first part of a hash and is not in the section of
// KnownName.
func (r *Rest) At(place int, first uint64) (key Key, found bool) {
	if place >= len(r.keys) || uint64(r.ends[place]) != first&restEnd || len(r.keys[place].Requests) == 0 {
		return Key{}, false
	}
	key = r.keys[place]
	key.Nameless, key.Hash.First, key.Requests = true, first, slices.Clone(key.Requests)
	return key, true
}
