package rollup

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"sort"

	"github.com/orrery/orrery/shared/varints"
)

// Keys holds what ranks the keys of a column of topx in a day, and the figures of those that are likely to be winners.
type Keys struct {
	Tallies []Tally // of all keys, or of all that have blocked requests
	All     bool    // they are of all keys

	Slowest [3]Slowest // in the order of query.TimeLabels
	Known   []Key
	Members []Member // all keys
	Timed   bool     // the members have bounds

	// The figures of all keys, in the order of their hashes. A key without requests is in Known. If Rest is nil, there is
	// no section with it.
	Rest []Key
}

// Tally holds the counts that rank a key.
type Tally struct {
	First             uint64 // of its hash
	Requests, Blocked uint32
}

// Slowest are the keys with the highest averages of a time.
type Slowest struct {
	Keys   []SlowKey // the slowest first
	Others float64   // the highest average of the other keys; -Inf: there are no others
}

// SlowKey is a key with its average.
type SlowKey struct {
	Hash
	Average float64
}

// Key is a key with its figures.
type Key struct {
	Hash
	Nameless                 bool // the text, and all of the hash but its first part, are not known
	Text                     string
	Requests                 []FlagCount // by their flags
	BytesSent, RequestLength Sum
	Origin, Svc, Total       Times
	First                    [3]*string // the smallest ASN, country and organization; nil: there is none
}

// FlagCount counts the requests with the same flags.
type FlagCount struct {
	Flags uint8
	Count int64
}

// Times holds the figures of durations, in microseconds.
type Times struct {
	Sum             Sum
	Count, Min, Max int64
}

// TalliesName is the name of the section with the Tallies of the keys of a column.
func TalliesName(column string) string { return "tallies of " + column }

// SlowestName is the name of the section with the Slowest keys of a column by each time.
func SlowestName(column string) string { return "slowest of " + column }

// KnownName is the name of the section with the KnownKeys of a column.
func KnownName(column string) string { return "known of " + column }

// MembersName is the name of the section with the Members of a column.
func MembersName(column string) string { return "members of " + column }

// KeysNames returns the names of all sections about the keys of a column.
func KeysNames(column string) []string {
	return []string{TalliesName(column), SlowestName(column), KnownName(column), MembersName(column), RestName(column)}
}

// AddKeys adds the keys of a column. It sorts them.
func (l *Lists) AddKeys(column string, k Keys) {
	l.add(TalliesName(column), k.tallies())
	e := encoder{}
	for _, s := range k.Slowest {
		e.Uint(uint64(len(s.Keys)))
		for _, key := range s.Keys {
			e.Bytes = key.Hash.append(e.Bytes)
			e.float(key.Average)
		}
		e.float(s.Others)
	}
	l.add(SlowestName(column), e.Bytes)
	l.add(KnownName(column), k.known())
	l.add(MembersName(column), members(k.Members, k.Timed))
	if k.Rest != nil {
		l.add(RestName(column), rest(k.Rest))
	}
}

func (e *encoder) float(f float64) {
	e.Bytes = binary.LittleEndian.AppendUint64(e.Bytes, math.Float64bits(f))
}

const tallyBytes = 16

func (k *Keys) tallies() []byte {
	slices.SortFunc(k.Tallies, func(a, b Tally) int { return cmp.Compare(a.First, b.First) })
	content := make([]byte, 1, 1+len(k.Tallies)*tallyBytes)
	if k.All {
		content[0] = 1
	}
	for _, t := range k.Tallies {
		content = binary.LittleEndian.AppendUint64(content, t.First)
		content = binary.LittleEndian.AppendUint32(content, t.Requests)
		content = binary.LittleEndian.AppendUint32(content, t.Blocked)
	}
	return content
}

// Tallies are the bytes of the section of TalliesName.
type Tallies []byte

// DecodeTallies reads the section of TalliesName. The error is ErrInvalid.
func DecodeTallies(content []byte) (Tallies, error) {
	if len(content)%tallyBytes != 1 {
		return nil, ErrInvalid
	}
	return content, nil
}

// All reports whether every key of the column is there.
func (t Tallies) All() bool { return t[0] == 1 }

// Len returns the number of keys.
func (t Tallies) Len() int { return len(t) / tallyBytes }

// At returns a key. Keys are sorted by hash.
func (t Tallies) At(i int) Tally {
	at := t[1+i*tallyBytes:]
	return Tally{
		binary.LittleEndian.Uint64(at), binary.LittleEndian.Uint32(at[8:]), binary.LittleEndian.Uint32(at[12:]),
	}
}

// Find returns the key with the first part of a hash.
func (t Tallies) Find(first uint64) (Tally, bool) {
	i := sort.Search(t.Len(), func(i int) bool { return binary.LittleEndian.Uint64(t[1+i*tallyBytes:]) >= first })
	if i < t.Len() && t.At(i).First == first {
		return t.At(i), true
	}
	return Tally{}, false
}

// DecodeSlowest reads the section of SlowestName. The error is ErrInvalid.
func DecodeSlowest(content []byte) (all [3]Slowest, _ error) {
	d := decoder{varints.Reader{Bytes: content}}
	for i := range all {
		all[i].Keys = make([]SlowKey, d.Length())
		for k := range all[i].Keys {
			all[i].Keys[k] = SlowKey{d.hash(), d.float()}
		}
		all[i].Others = d.float()
	}
	if d.Failed || len(d.Bytes) > 0 {
		return all, ErrInvalid
	}
	return all, nil
}

func (d *decoder) float() float64 {
	if len(d.Bytes) < 8 {
		d.Failed, d.Bytes = true, nil
		return 0
	}
	f := math.Float64frombits(binary.LittleEndian.Uint64(d.Bytes))
	d.Bytes = d.Bytes[8:]
	return f
}

// known returns the keys with their figures: the numbers of keys, of texts, and of bytes of texts, an index with the place
// of each key by its hash, the ends of the texts, these, and the figures. Keys share texts.
func (k *Keys) known() []byte {
	sorted := make([]*Key, len(k.Known))
	for i := range k.Known {
		sorted[i] = &k.Known[i]
	}
	slices.SortFunc(sorted, func(a, b *Key) int { return a.compare(b.Hash) })
	var texts, ends []byte
	numbers := map[string]uint64{}
	figures := encoder{}
	index := make([]byte, 0, len(k.Known)*indexBytes)
	for _, key := range sorted {
		index = key.Hash.append(index)
		index = binary.LittleEndian.AppendUint32(index, uint32(len(figures.Bytes)))
		figures.key(key, func(text string) uint64 {
			number, known := numbers[text]
			if !known {
				texts = append(texts, text...)
				ends = binary.LittleEndian.AppendUint32(ends, uint32(len(texts)))
				number = uint64(len(numbers)) + 1
				numbers[text] = number
			}
			return number
		})
	}
	e := encoder{}
	e.Uint(uint64(len(k.Known)))
	e.Uint(uint64(len(numbers)))
	e.Uint(uint64(len(texts)))
	return slices.Concat(e.Bytes, index, ends, texts, figures.Bytes)
}

const indexBytes = hashBytes + 4

func (e *encoder) key(k *Key, numberOf func(text string) uint64) {
	e.Text(k.Text)
	e.Uint(uint64(len(k.Requests)))
	for _, n := range k.Requests {
		e.Bytes = append(e.Bytes, n.Flags)
		e.Int(n.Count)
	}
	e.sum(k.BytesSent)
	e.sum(k.RequestLength)
	for _, t := range []Times{k.Origin, k.Svc, k.Total} {
		e.Int(t.Count)
		if t.Count > 0 {
			e.sum(t.Sum)
			e.Int(t.Min)
			e.Int(t.Max)
		}
	}
	for _, text := range k.First {
		if text == nil {
			e.Uint(0)
			continue
		}
		e.Uint(numberOf(*text))
	}
}

// EncodeKnown returns keys with their figures, which DecodeKnown reads.
func EncodeKnown(keys []Key) []byte { return (&Keys{Known: keys}).known() }

// KnownKeys are the keys of a section of KnownName.
type KnownKeys struct{ index, ends, texts, figures []byte }

// DecodeKnown reads the section of KnownName. The error is ErrInvalid.
func DecodeKnown(content []byte) (k KnownKeys, _ error) {
	d := decoder{varints.Reader{Bytes: content}}
	n, texts, length := d.Length(), d.Length(), d.Length()
	if d.Failed || n*indexBytes+4*texts+length > len(d.Bytes) {
		return k, ErrInvalid
	}
	k.index, d.Bytes = d.Bytes[:n*indexBytes], d.Bytes[n*indexBytes:]
	k.ends, d.Bytes = d.Bytes[:4*texts], d.Bytes[4*texts:]
	k.texts, k.figures = d.Bytes[:length], d.Bytes[length:]
	return k, nil
}

// text returns a text by its number, which begins with 1.
func (k *KnownKeys) text(number uint64) (text string, valid bool) {
	if number > uint64(len(k.ends)/4) {
		return "", false
	}
	from, to := uint32(0), binary.LittleEndian.Uint32(k.ends[4*(number-1):])
	if number > 1 {
		from = binary.LittleEndian.Uint32(k.ends[4*(number-2):])
	}
	if from > to || int(to) > len(k.texts) {
		return "", false
	}
	return string(k.texts[from:to]), true
}

// Find returns the key with the first part of a hash, and whether there is one. The error is ErrInvalid.
func (k *KnownKeys) Find(first uint64) (key Key, found bool, _ error) {
	n := len(k.index) / indexBytes
	i := sort.Search(n, func(i int) bool { return binary.LittleEndian.Uint64(k.index[i*indexBytes:]) >= first })
	if i == n || hashAt(k.index[i*indexBytes:]).First != first {
		return Key{}, false, nil
	}
	at := k.index[i*indexBytes:]
	place := binary.LittleEndian.Uint32(at[hashBytes:])
	if int64(place) > int64(len(k.figures)) {
		return Key{}, false, ErrInvalid
	}
	d := decoder{varints.Reader{Bytes: k.figures[place:]}}
	key = d.key(k.text)
	key.Hash = hashAt(at)
	if d.Failed {
		return Key{}, false, ErrInvalid
	}
	return key, true, nil
}

func (d *decoder) key(textOf func(number uint64) (text string, valid bool)) (k Key) {
	k.Text = string(d.Text())
	k.Requests = make([]FlagCount, d.Length())
	for i := range k.Requests {
		k.Requests[i] = FlagCount{d.byte(), d.Int()}
	}
	k.BytesSent, k.RequestLength = d.sum(), d.sum()
	for _, t := range []*Times{&k.Origin, &k.Svc, &k.Total} {
		if t.Count = d.Int(); t.Count > 0 {
			t.Sum, t.Min, t.Max = d.sum(), d.Int(), d.Int()
		}
	}
	for i := range k.First {
		if number := d.Uint(); number > 0 {
			text, valid := textOf(number)
			k.First[i], d.Failed = &text, d.Failed || !valid
		}
	}
	return k
}

func (d *decoder) byte() byte {
	if len(d.Bytes) == 0 {
		d.Failed = true
		return 0
	}
	b := d.Bytes[0]
	d.Bytes = d.Bytes[1:]
	return b
}
