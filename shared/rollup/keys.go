package rollup

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"sort"
)

// Keys holds what ranks the keys of a column of topx in a day, and the figures of those that are likely to be winners.
type Keys struct {
	Tallies []Tally // of all keys, or of all that have blocked requests
	All     bool    // they are of all keys

	Slowest [3]Slowest // in the order of query.TimeLabels
	Known   []Key
	Members []Hash // all keys
}

// Tally holds the counts that rank a key.
type Tally struct {
	Hash
	Requests, Blocked uint32
}

// Slowest are the keys with the highest averages of a time.
type Slowest struct {
	Keys   []Hash
	Others float64 // the highest average of the other keys; -Inf: there are no others
}

// Key is a key with its figures.
type Key struct {
	Hash
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

// AddKeys adds the keys of a column. It sorts them.
func (l *Lists) AddKeys(column string, k Keys) {
	l.add(TalliesName(column), k.tallies())
	e := encoder{}
	for _, s := range k.Slowest {
		e.uint(uint64(len(s.Keys)))
		for _, hash := range s.Keys {
			e.bytes = hash.append(e.bytes)
		}
		e.bytes = binary.LittleEndian.AppendUint64(e.bytes, math.Float64bits(s.Others))
	}
	l.add(SlowestName(column), e.bytes)
	l.add(KnownName(column), k.known())
	l.add(MembersName(column), members(k.Members))
}

const tallyBytes = hashBytes + 8

func (k *Keys) tallies() []byte {
	slices.SortFunc(k.Tallies, func(a, b Tally) int { return a.compare(b.Hash) })
	content := make([]byte, 1, 1+len(k.Tallies)*tallyBytes)
	if k.All {
		content[0] = 1
	}
	for _, t := range k.Tallies {
		content = t.Hash.append(content)
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
	return Tally{hashAt(at), binary.LittleEndian.Uint32(at[hashBytes:]), binary.LittleEndian.Uint32(at[hashBytes+4:])}
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
	d := decoder{bytes: content}
	for i := range all {
		all[i].Keys = make([]Hash, d.length())
		for k := range all[i].Keys {
			all[i].Keys[k] = d.hash()
		}
		if len(d.bytes) < 8 {
			return all, ErrInvalid
		}
		all[i].Others = math.Float64frombits(binary.LittleEndian.Uint64(d.bytes))
		d.bytes = d.bytes[8:]
	}
	if d.failed || len(d.bytes) > 0 {
		return all, ErrInvalid
	}
	return all, nil
}

// known returns the keys with their figures: their number, an index with the place of each by its hash, the texts that
// several of them share, and their figures.
func (k *Keys) known() []byte {
	slices.SortFunc(k.Known, func(a, b Key) int { return a.compare(b.Hash) })
	texts, numbers := encoder{}, map[string]uint64{}
	figures := encoder{}
	index := make([]byte, 0, len(k.Known)*indexBytes)
	for _, key := range k.Known {
		index = key.Hash.append(index)
		index = binary.LittleEndian.AppendUint32(index, uint32(len(figures.bytes)))
		figures.key(&key, func(text string) uint64 {
			number, known := numbers[text]
			if !known {
				texts.text(text)
				number = uint64(len(numbers)) + 1
				numbers[text] = number
			}
			return number
		})
	}
	e := encoder{}
	e.uint(uint64(len(k.Known)))
	e.uint(uint64(len(numbers)))
	e.bytes = slices.Concat(e.bytes, texts.bytes, index, figures.bytes)
	return e.bytes
}

const indexBytes = hashBytes + 4

func (e *encoder) key(k *Key, numberOf func(text string) uint64) {
	e.text(k.Text)
	e.uint(uint64(len(k.Requests)))
	for _, n := range k.Requests {
		e.bytes = append(e.bytes, n.Flags)
		e.int(n.Count)
	}
	e.sum(k.BytesSent)
	e.sum(k.RequestLength)
	for _, t := range []Times{k.Origin, k.Svc, k.Total} {
		e.int(t.Count)
		if t.Count > 0 {
			e.sum(t.Sum)
			e.int(t.Min)
			e.int(t.Max)
		}
	}
	for _, text := range k.First {
		if text == nil {
			e.uint(0)
			continue
		}
		e.uint(numberOf(*text))
	}
}

// KnownKeys are the keys of a section of KnownName.
type KnownKeys struct {
	texts          []string
	index, figures []byte
}

// DecodeKnown reads the section of KnownName. The error is ErrInvalid.
func DecodeKnown(content []byte) (k KnownKeys, _ error) {
	d := decoder{bytes: content}
	n := d.length()
	k.texts = make([]string, d.length())
	for i := range k.texts {
		k.texts[i] = d.text()
	}
	if d.failed || n*indexBytes > len(d.bytes) {
		return k, ErrInvalid
	}
	k.index, k.figures = d.bytes[:n*indexBytes], d.bytes[n*indexBytes:]
	return k, nil
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
	if int(place) > len(k.figures) {
		return Key{}, false, ErrInvalid
	}
	d := decoder{bytes: k.figures[place:]}
	key = d.key(k.texts)
	key.Hash = hashAt(at)
	if d.failed {
		return Key{}, false, ErrInvalid
	}
	return key, true, nil
}

func (d *decoder) key(texts []string) (k Key) {
	k.Text = d.text()
	k.Requests = make([]FlagCount, d.length())
	for i := range k.Requests {
		k.Requests[i] = FlagCount{d.byte(), d.int()}
	}
	k.BytesSent, k.RequestLength = d.sum(), d.sum()
	for _, t := range []*Times{&k.Origin, &k.Svc, &k.Total} {
		if t.Count = d.int(); t.Count > 0 {
			t.Sum, t.Min, t.Max = d.sum(), d.int(), d.int()
		}
	}
	for i := range k.First {
		switch number := d.uint(); {
		case number > uint64(len(texts)):
			d.failed = true
		case number > 0:
			k.First[i] = &texts[number-1]
		}
	}
	return k
}

func (d *decoder) byte() byte {
	if len(d.bytes) == 0 {
		d.failed = true
		return 0
	}
	b := d.bytes[0]
	d.bytes = d.bytes[1:]
	return b
}

// members returns a set of hashes: the number of leading bits, for each combination of these the end of its hashes, and
// the next 24 bits of each hash. A hash that is not in the set is found in it with a probability of 2⁻²⁰ or less.
func members(all []Hash) []byte {
	slices.SortFunc(all, Hash.compare)
	lead := max(0, bits.Len(uint(len(all)))-4)
	content := []byte{byte(lead)}
	ends, rest := []byte{}, make([]byte, 0, memberBytes*len(all))
	next := 0
	for prefix := range 1 << lead {
		for ; next < len(all) && int(all[next].First>>1>>(63-lead)) == prefix; next++ {
			m := memberOf(all[next].First, lead)
			rest = append(rest, byte(m>>16), byte(m>>8), byte(m))
		}
		ends = binary.LittleEndian.AppendUint32(ends, uint32(next))
	}
	return slices.Concat(content, ends, rest)
}

const memberBytes = 3

// memberOf returns the 24 bits that follow the leading bits of a hash.
func memberOf(first uint64, lead int) uint32 { return uint32(first << lead >> 40) }

// Members is a set of hashes, the section of MembersName.
type Members struct {
	lead       int
	ends, rest []byte
}

// DecodeMembers reads the section of MembersName. The error is ErrInvalid.
func DecodeMembers(content []byte) (m Members, _ error) {
	if len(content) == 0 || content[0] > 32 {
		return m, ErrInvalid
	}
	m.lead = int(content[0])
	ends := 4 << m.lead
	if len(content) < 1+ends {
		return m, ErrInvalid
	}
	m.ends, m.rest = content[1:1+ends], content[1+ends:]
	if len(m.rest) != memberBytes*int(binary.LittleEndian.Uint32(m.ends[ends-4:])) {
		return m, ErrInvalid
	}
	return m, nil
}

// Has reports whether a key with the first part of a hash may be among the keys. If it reports false, none is.
func (m Members) Has(first uint64) bool {
	prefix := int(first >> 1 >> (63 - m.lead))
	from := uint32(0)
	if prefix > 0 {
		from = binary.LittleEndian.Uint32(m.ends[4*(prefix-1):])
	}
	to := binary.LittleEndian.Uint32(m.ends[4*prefix:])
	want := memberOf(first, m.lead)
	for at := int(from) * memberBytes; at < min(int(to)*memberBytes, len(m.rest)); at += memberBytes {
		if uint32(m.rest[at])<<16|uint32(m.rest[at+1])<<8|uint32(m.rest[at+2]) == want {
			return true
		}
	}
	return false
}
