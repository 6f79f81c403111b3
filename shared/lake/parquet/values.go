package parquet

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"unsafe"

	"github.com/parquet-go/parquet-go/bloom/xxhash"

	"github.com/orrery/orrery/shared/lake"
)

// values collects the values of a leaf that are there, page by page; the dictionary, if there is one, grows from page
// to page.
type values interface {
	// add takes in values, each at the place of a string, an int64 or a bool.
	add(places []unsafe.Pointer)
	addRaw(v *RawValue)
	// encode returns the values of the page as it holds them, in dst's memory if they fit.
	encode(dst []byte, l *leaf) ([]byte, error)
	// bounds is the least and the greatest value of the page, which has some, as statistics hold them.
	bounds(seen *distinct) (least, greatest []byte)
	// size is how many bytes the page's values take before they are encoded.
	size() int
	empty() bool
	endPage()

	// dictionary is the dictionary page and how many entries it has; nil without a dictionary.
	dictionary() (page []byte, entries int)
	// hashes appends what a bloom filter must hold.
	hashes(to []uint64) []uint64
	endGroup()
}

func valuesOf(l *leaf) values {
	switch {
	case l.kind == lake.Text && l.dictionary:
		return &textNumbers{}
	case l.kind == lake.Int && l.dictionary:
		return &intNumbers{}
	case l.kind == lake.Text:
		return &plainTexts{bloom: l.bloom}
	case l.kind == lake.Int:
		return &ints{}
	}
	return &bools{}
}

// compareStored orders two values as statistics hold them.
func (l *leaf) compareStored(a, b []byte) int {
	if l.kind == lake.Int {
		return cmp.Compare(int64(binary.LittleEndian.Uint64(a)), int64(binary.LittleEndian.Uint64(b)))
	}
	return bytes.Compare(a, b)
}

func storedInt(v int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(v)) }

const numberBytes = 4

// textNumbers is texts as their numbers in a dictionary.
type textNumbers struct {
	numbers []int32
	texts   textDictionary
}

func (t *textNumbers) add(places []unsafe.Pointer) {
	for _, p := range places {
		t.numbers = append(t.numbers, t.texts.shared(*(*string)(p)))
	}
}

func (t *textNumbers) addRaw(v *RawValue) {
	t.numbers = append(t.numbers, t.texts.number(v.text()))
}

func (t *textNumbers) encode(dst []byte, l *leaf) ([]byte, error) {
	return l.encoding.EncodeInt32(dst, t.numbers)
}

func (t *textNumbers) bounds(seen *distinct) (least, greatest []byte) {
	for i, n := range seen.of(t.numbers, len(t.texts.ends)) {
		text := t.texts.text(n)
		if i == 0 || bytes.Compare(text, least) < 0 {
			least = text
		}
		if i == 0 || bytes.Compare(text, greatest) > 0 {
			greatest = text
		}
	}
	return least, greatest
}

func (t *textNumbers) size() int                 { return numberBytes * len(t.numbers) }
func (t *textNumbers) empty() bool               { return len(t.numbers) == 0 }
func (t *textNumbers) endPage()                  { t.numbers = t.numbers[:0] }
func (t *textNumbers) dictionary() ([]byte, int) { return t.texts.page, len(t.texts.ends) }
func (t *textNumbers) endGroup()                 { t.texts.reset() }

func (t *textNumbers) hashes(to []uint64) []uint64 {
	for n := range t.texts.ends {
		to = append(to, xxhash.Sum64(t.texts.text(int32(n))))
	}
	return to
}

// intNumbers is integers as their numbers in a dictionary.
type intNumbers struct {
	unhashed
	numbers []int32
	ints    intDictionary
	page    []byte
}

func (t *intNumbers) add(places []unsafe.Pointer) {
	for _, p := range places {
		t.numbers = append(t.numbers, t.ints.number(*(*int64)(p)))
	}
}

func (t *intNumbers) addRaw(v *RawValue) {
	t.numbers = append(t.numbers, t.ints.number(int64(v.number)))
}

func (t *intNumbers) encode(dst []byte, l *leaf) ([]byte, error) {
	return l.encoding.EncodeInt32(dst, t.numbers)
}

func (t *intNumbers) bounds(seen *distinct) (least, greatest []byte) {
	used := seen.of(t.numbers, len(t.ints.entries))
	low, high := t.ints.entries[used[0]], t.ints.entries[used[0]]
	for _, n := range used {
		low, high = min(low, t.ints.entries[n]), max(high, t.ints.entries[n])
	}
	return storedInt(low), storedInt(high)
}

func (t *intNumbers) size() int   { return numberBytes * len(t.numbers) }
func (t *intNumbers) empty() bool { return len(t.numbers) == 0 }
func (t *intNumbers) endPage()    { t.numbers = t.numbers[:0] }
func (t *intNumbers) endGroup()   { t.ints.reset() }

func (t *intNumbers) dictionary() ([]byte, int) {
	t.page = t.page[:0]
	for _, v := range t.ints.entries {
		t.page = binary.LittleEndian.AppendUint64(t.page, uint64(v))
	}
	return t.page, len(t.ints.entries)
}

// plainTexts is texts one after the other.
type plainTexts struct {
	page []byte   // length, text
	ends []uint32 // of the texts in page
	// hashed is the hashes of all texts of the group, if there is a bloom filter.
	hashed []uint64
	bloom  bool
}

func (t *plainTexts) add(places []unsafe.Pointer) {
	for _, p := range places {
		t.addText(*(*string)(p))
	}
}

func (t *plainTexts) addRaw(v *RawValue) { t.addText(v.text()) }

func (t *plainTexts) addText(text string) {
	t.page = binary.LittleEndian.AppendUint32(t.page, uint32(len(text)))
	t.page = append(t.page, text...)
	t.ends = append(t.ends, uint32(len(t.page)))
}

func (t *plainTexts) encode([]byte, *leaf) ([]byte, error) { return t.page, nil }

func (t *plainTexts) bounds(*distinct) (least, greatest []byte) {
	least = t.page[lengthBytes:t.ends[0]]
	greatest = least
	t.each(func(text []byte) {
		if bytes.Compare(text, least) < 0 {
			least = text
		}
		if bytes.Compare(text, greatest) > 0 {
			greatest = text
		}
	})
	return least, greatest
}

func (t *plainTexts) size() int                 { return len(t.page) }
func (t *plainTexts) empty() bool               { return len(t.ends) == 0 }
func (t *plainTexts) dictionary() ([]byte, int) { return nil, 0 }
func (t *plainTexts) endGroup()                 { t.hashed = t.hashed[:0] }

func (t *plainTexts) endPage() {
	if t.bloom {
		t.each(func(text []byte) { t.hashed = append(t.hashed, xxhash.Sum64(text)) })
	}
	t.page, t.ends = t.page[:0], t.ends[:0]
}

func (t *plainTexts) each(f func(text []byte)) {
	from := uint32(0)
	for _, end := range t.ends {
		f(t.page[from+lengthBytes : end])
		from = end
	}
}

func (t *plainTexts) hashes(to []uint64) []uint64 { return append(to, t.hashed...) }

// unhashed is the part of values that no bloom filter looks at.
type unhashed struct{}

func (unhashed) hashes(to []uint64) []uint64 { return to }

// ints is integers one after the other.
type ints struct {
	unhashed
	page []int64
}

func (t *ints) add(places []unsafe.Pointer) {
	for _, p := range places {
		t.page = append(t.page, *(*int64)(p))
	}
}

func (t *ints) addRaw(v *RawValue) { t.page = append(t.page, int64(v.number)) }

func (t *ints) encode(dst []byte, l *leaf) ([]byte, error) {
	return l.encoding.EncodeInt64(dst, t.page)
}

func (t *ints) bounds(*distinct) (least, greatest []byte) {
	low, high := t.page[0], t.page[0]
	for _, v := range t.page {
		low, high = min(low, v), max(high, v)
	}
	return storedInt(low), storedInt(high)
}

func (t *ints) size() int                 { return 8 * len(t.page) }
func (t *ints) empty() bool               { return len(t.page) == 0 }
func (t *ints) endPage()                  { t.page = t.page[:0] }
func (t *ints) dictionary() ([]byte, int) { return nil, 0 }
func (t *ints) endGroup()                 {}

// bools is bits, the first value in the lowest.
type bools struct {
	unhashed
	bits  []byte
	count int
	trues int
}

func (t *bools) add(places []unsafe.Pointer) {
	for _, p := range places {
		t.addBool(*(*bool)(p))
	}
}

func (t *bools) addRaw(v *RawValue) { t.addBool(v.number != 0) }

func (t *bools) addBool(v bool) {
	if t.count%8 == 0 {
		t.bits = append(t.bits, 0)
	}
	if v {
		t.bits[t.count/8] |= 1 << (t.count % 8)
		t.trues++
	}
	t.count++
}

func (t *bools) encode([]byte, *leaf) ([]byte, error) { return t.bits, nil }

func (t *bools) bounds(*distinct) (least, greatest []byte) {
	least, greatest = []byte{0}, []byte{0}
	if t.trues > 0 {
		greatest[0] = 1
	}
	if t.trues == t.count {
		least[0] = 1
	}
	return least, greatest
}

func (t *bools) size() int                 { return len(t.bits) }
func (t *bools) empty() bool               { return t.count == 0 }
func (t *bools) endPage()                  { t.bits, t.count, t.trues = t.bits[:0], 0, 0 }
func (t *bools) dictionary() ([]byte, int) { return nil, 0 }
func (t *bools) endGroup()                 {}
