package rollup

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"

	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/varints"
)

// Values holds all values of a dimension in a day.
type Values struct {
	Requests int64 // that have a value
	Values   []Value
	Texts    map[Hash]string // of the most frequent ones, by short hashes
}

// Value is a value with its requests. Its hash is a short one.
type Value struct {
	Hash
	query.Flagged
}

// ValuesHead is what a day tells about the values of a dimension besides the values.
type ValuesHead struct {
	Requests int64
	Distinct int64
	PartBits uint // the values are in 1<<PartBits parts, by the first bits of their hashes
	Texts    map[Hash]string
}

// maxPartBits limits the number of parts.
const maxPartBits = 8

// ValuesName is the name of the section with the ValuesHead of a dimension.
func ValuesName(d query.Dimension) string { return "values of " + d.Identity() }

// ValuesPartName is the name of the section with a part of the values of a dimension.
func ValuesPartName(d query.Dimension, part int) string {
	return fmt.Sprintf("%s, part %d", ValuesName(d), part)
}

// PlacesName is the name of the section with a part of the values of a dimension in a subset of a day.
func PlacesName(d query.Dimension, part int) string {
	return fmt.Sprintf("places of %s, part %d", ValuesName(d), part)
}

// Part returns the number of the part with a hash, of 1<<bits parts.
func (h Hash) Part(bits uint) int { return int(h.First >> (64 - bits)) }

// AddValues adds the values of a dimension in 1<<bits parts. It sorts them.
func (l *Lists) AddValues(d query.Dimension, v Values, bits uint) {
	l.addHead(d, &v, bits)
	next := 0
	for part := range 1 << bits {
		e := encoder{}
		for ; next < len(v.Values) && v.Values[next].Part(bits) == part; next++ {
			e.Bytes = v.Values[next].Hash.appendShort(e.Bytes)
			e.flagged(v.Values[next].Flagged)
		}
		l.add(ValuesPartName(d, part), e.Bytes)
	}
}

// addHead adds the ValuesHead. It sorts the values.
func (l *Lists) addHead(d query.Dimension, v *Values, bits uint) {
	slices.SortFunc(v.Values, func(a, b Value) int { return a.Hash.compare(b.Hash) })
	head := encoder{}
	head.Int(v.Requests)
	head.Int(int64(len(v.Values)))
	head.Uint(uint64(bits))
	head.Uint(uint64(len(v.Texts)))
	for _, of := range v.Values {
		if text, known := v.Texts[of.Hash]; known {
			head.Bytes = of.Hash.appendShort(head.Bytes)
			head.Text(text)
		}
	}
	l.add(ValuesName(d), head.Bytes)
}

// Lists reports whether there are the values of a dimension. A nil Lists has none.
func (l *Lists) Lists(d query.Dimension) bool {
	if l == nil {
		return false
	}
	_, found := named(l.Sections, ValuesName(d))
	return found
}

// AddPlaces adds the values of a dimension in a subset of a day. It sorts them. Instead of their hashes, it keeps their
// places among the values of the whole day, and it removes the texts that the whole day has. If the whole day lacks any
// of the values, the error is ErrInvalid.
func (l *Lists) AddPlaces(d query.Dimension, v Values, whole *Lists) error {
	head, err := DecodeValuesHead(whole.content(ValuesName(d)))
	if err != nil {
		return err
	}
	maps.DeleteFunc(v.Texts, func(of Hash, _ string) bool {
		_, known := head.Texts[of]
		return known
	})
	l.addHead(d, &v, head.PartBits)
	left := v.Values
	for part := range 1 << head.PartBits {
		all := whole.content(ValuesPartName(d, part))
		e := encoder{varints.Writer{Bytes: binary.LittleEndian.AppendUint32(nil, crc32.Checksum(all, checksums))}}
		place, last := uint64(0), uint64(0)
		err := EachValue(all, func(of *Value) {
			if len(left) > 0 && left[0].Hash == of.Hash {
				e.Uint(place - last)
				e.flagged(left[0].Flagged)
				last, left = place, left[1:]
			}
			place++
		})
		if err != nil {
			return err
		}
		l.add(PlacesName(d, part), e.Bytes)
	}
	if len(left) > 0 {
		return fmt.Errorf("%w: a day lacks values of its subset", ErrInvalid)
	}
	return nil
}

// ValuesPart is a part of the values of a dimension in a day, or in a subset of it.
type ValuesPart struct {
	Values []byte // of the day with all records: the section of ValuesPartName
	Places []byte // of the subset: the section of PlacesName; nil for all values of the day
}

// Each calls found with the values, sorted by hash. A value is valid until found returns. The error is ErrInvalid.
func (p ValuesPart) Each(found func(*Value)) error {
	if p.Places == nil {
		return EachValue(p.Values, found)
	}
	if len(p.Places) < 4 || binary.LittleEndian.Uint32(p.Places) != crc32.Checksum(p.Values, checksums) {
		return fmt.Errorf("%w: it is a subset of another one", ErrInvalid)
	}
	d := decoder{varints.Reader{Bytes: p.Places[4:]}}
	left := len(d.Bytes) > 0
	place, next := uint64(0), uint64(0)
	if left {
		next = d.Uint()
	}
	err := EachValue(p.Values, func(v *Value) {
		if left && place == next && !d.Failed {
			rest, valid := flagged(d.Bytes, &v.Flagged)
			if d.Bytes = rest; !valid {
				d.Failed = true
				return
			}
			found(v)
			if left = len(rest) > 0; left {
				next += d.Uint()
			}
		}
		place++
	})
	if err == nil && (left || d.Failed) {
		err = ErrInvalid
	}
	return err
}

func (h Hash) compare(other Hash) int {
	return cmp.Or(cmp.Compare(h.First, other.First), cmp.Compare(h.Check, other.Check))
}

// The first byte of counts: all requests of a value have the same flags, which are its low four bits, or each count
// follows. Unless the value has one request, their number follows.
const (
	severalRequests = 1 << 4
	mixedRequests   = 1 << 5
)

func (e *encoder) flagged(f query.Flagged) {
	flags := byte(0)
	for i, n := range []int64{f.Blocked, f.Challenges, f.Monitored, f.Human} {
		switch n {
		case 0:
		case f.Requests:
			flags |= 1 << i
		default:
			e.Bytes = append(e.Bytes, mixedRequests)
			for _, n := range []int64{f.Requests, f.Blocked, f.Challenges, f.Monitored, f.Human} {
				e.Int(n)
			}
			return
		}
	}
	if f.Requests == 1 {
		e.Bytes = append(e.Bytes, flags)
		return
	}
	e.Bytes = append(e.Bytes, flags|severalRequests)
	e.Int(f.Requests)
}

// DecodeValuesHead reads the section of ValuesName. The error is ErrInvalid.
func DecodeValuesHead(content []byte) (head ValuesHead, _ error) {
	d := decoder{varints.Reader{Bytes: content}}
	head.Requests, head.Distinct, head.PartBits = d.Int(), d.Int(), uint(d.Uint())
	head.Texts = map[Hash]string{}
	for range d.Length() {
		hash := d.shortHash()
		head.Texts[hash] = string(d.Text())
	}
	if d.Failed || len(d.Bytes) > 0 || head.PartBits > maxPartBits {
		return ValuesHead{}, ErrInvalid
	}
	return head, nil
}

func (d *decoder) hash() (h Hash) {
	if len(d.Bytes) < hashBytes {
		d.Failed, d.Bytes = true, nil
		return h
	}
	h = hashAt(d.Bytes)
	d.Bytes = d.Bytes[hashBytes:]
	return h
}

func (d *decoder) shortHash() (h Hash) {
	if len(d.Bytes) < shortHashBytes {
		d.Failed, d.Bytes = true, nil
		return h
	}
	h = shortHashAt(d.Bytes)
	d.Bytes = d.Bytes[shortHashBytes:]
	return h
}

// EachValue calls found with the values of a section of ValuesPartName, sorted by hash. A value is valid until found
// returns. The error is ErrInvalid.
func EachValue(content []byte, found func(*Value)) error {
	var v Value
	for len(content) > shortHashBytes {
		v.Hash = shortHashAt(content)
		rest, valid := flagged(content[shortHashBytes:], &v.Flagged)
		if !valid {
			return ErrInvalid
		}
		content = rest
		found(&v)
	}
	if len(content) > 0 {
		return ErrInvalid
	}
	return nil
}

// flagged reads counts, and returns what follows them. valid is false if they are cut.
func flagged(content []byte, f *query.Flagged) (rest []byte, valid bool) {
	if len(content) == 0 {
		return nil, false
	}
	kind := content[0]
	content = content[1:]
	if kind == mixedRequests {
		for _, to := range []*int64{&f.Requests, &f.Blocked, &f.Challenges, &f.Monitored, &f.Human} {
			n, length := binary.Varint(content)
			if length <= 0 {
				return nil, false
			}
			*to, content = n, content[length:]
		}
		return content, true
	}
	*f = query.Flagged{Requests: 1}
	if kind&severalRequests != 0 {
		n, length := binary.Varint(content)
		if length <= 0 {
			return nil, false
		}
		f.Requests, content = n, content[length:]
	}
	if kind&^severalRequests != 0 {
		for i, to := range []*int64{&f.Blocked, &f.Challenges, &f.Monitored, &f.Human} {
			if kind&(1<<i) != 0 {
				*to = f.Requests
			}
		}
	}
	return content, true
}
