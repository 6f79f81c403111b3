package parquet

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"
	"unsafe"

	"github.com/parquet-go/parquet-go/bloom/xxhash"

	"github.com/orrery/orrery/shared/lake"
)

// pageValues collects the values of a leaf for a page, without absent ones. The dictionary, if there is one, grows from
// page to page.
type pageValues interface {
	// add appends values, given as pointers to a string, an int64 or a bool.
	add(values []unsafe.Pointer)
	addRaw(v *RawValue)
	// encode returns the encoded values of the page, in dst's memory if they fit.
	encode(dst []byte, l *leaf) ([]byte, error)
	// bounds returns the least and the greatest value of the page as statistics hold them. The page must have values.
	bounds(set *codeSet) (least, greatest []byte)
	// size returns the size of the page's values before encoding, in bytes.
	size() int
	empty() bool
	endPage()

	// dictionary returns the dictionary of the values' codes, or nil if they have none.
	dictionary() dictionary
	// hashes appends the hashes that a bloom filter must hold.
	hashes(to []uint64) []uint64
	endGroup()
}

type dictionary interface {
	Len() int
	pageSize() int
	appendPage(page []byte) []byte
}

func newPageValues(l *leaf) pageValues {
	switch {
	case l.kind == lake.Text && l.dictionary:
		return &textCodes{}
	case l.kind == lake.Int && l.dictionary:
		return &intCodes{}
	case l.kind == lake.Text:
		return &plainTexts{bloom: l.bloom}
	case l.kind == lake.Int:
		return &ints{}
	}
	return &bools{}
}

const codeBytes = 4

// textCodes is texts as codes of a dictionary.
type textCodes struct {
	codes  []int32
	texts  Dictionary
	number uint32 // of the dictionary of this row group
	recent recentTexts
}

// knownCode is the code of a text in the dictionary with a number. Each text of a merged object is looked up once in
// each dictionary that is written.
type knownCode struct {
	dictionary uint32 // 0: none
	code       int32
}

// dictionaries counts the dictionaries of this process, so that each has another number.
var dictionaries atomic.Uint32

func (t *textCodes) add(values []unsafe.Pointer) {
	for _, p := range values {
		t.codes = append(t.codes, t.recent.code(*(*string)(p), &t.texts))
	}
}

func (t *textCodes) addRaw(v *RawValue) {
	known := v.known
	if known == nil {
		known = &knownCode{}
	}
	if known.dictionary != t.number {
		*known = knownCode{t.number, codeOf(v.text(), &t.texts)}
	}
	t.codes = append(t.codes, known.code)
}

func (t *textCodes) encode(dst []byte, l *leaf) ([]byte, error) {
	return l.encoding.EncodeInt32(dst, t.codes)
}

func (t *textCodes) bounds(set *codeSet) (least, greatest []byte) {
	for i, code := range set.of(t.codes, t.texts.Len()) {
		text := t.texts.At(code)
		if i == 0 || bytes.Compare(text, least) < 0 {
			least = text
		}
		if i == 0 || bytes.Compare(text, greatest) > 0 {
			greatest = text
		}
	}
	return least, greatest
}

func (t *textCodes) size() int              { return codeBytes * len(t.codes) }
func (t *textCodes) empty() bool            { return len(t.codes) == 0 }
func (t *textCodes) endPage()               { t.codes = t.codes[:0] }
func (t *textCodes) dictionary() dictionary { return &t.texts }

func (t *textCodes) endGroup() {
	t.texts.reset()
	t.number = dictionaries.Add(1)
	clear(t.recent[:])
}

func (t *textCodes) hashes(to []uint64) []uint64 {
	for code := range int32(t.texts.Len()) {
		to = append(to, xxhash.Sum64(t.texts.At(code)))
	}
	return to
}

// intCodes is integers as codes of a dictionary.
type intCodes struct {
	unhashed
	codes []int32
	ints  intDictionary
}

func (t *intCodes) add(values []unsafe.Pointer) {
	for _, p := range values {
		t.codes = append(t.codes, t.ints.code(*(*int64)(p)))
	}
}

func (t *intCodes) addRaw(v *RawValue) { t.codes = append(t.codes, t.ints.code(int64(v.number))) }

func (t *intCodes) encode(dst []byte, l *leaf) ([]byte, error) {
	return l.encoding.EncodeInt32(dst, t.codes)
}

func (t *intCodes) bounds(set *codeSet) (least, greatest []byte) {
	used := set.of(t.codes, t.ints.Len())
	low, high := t.ints.entries[used[0]], t.ints.entries[used[0]]
	for _, code := range used {
		low, high = min(low, t.ints.entries[code]), max(high, t.ints.entries[code])
	}
	return storedInt(low), storedInt(high)
}

func (t *intCodes) size() int              { return codeBytes * len(t.codes) }
func (t *intCodes) empty() bool            { return len(t.codes) == 0 }
func (t *intCodes) endPage()               { t.codes = t.codes[:0] }
func (t *intCodes) endGroup()              { t.ints.reset() }
func (t *intCodes) dictionary() dictionary { return &t.ints }

// plainTexts is texts one after the other.
type plainTexts struct {
	page []byte   // length, text
	ends []uint32 // of the texts in page
	// hashed is the hashes of all texts of the group, if there is a bloom filter.
	hashed []uint64
	bloom  bool
}

func (t *plainTexts) add(values []unsafe.Pointer) {
	for _, p := range values {
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

func (t *plainTexts) bounds(*codeSet) (least, greatest []byte) {
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

func (t *plainTexts) size() int              { return len(t.page) }
func (t *plainTexts) empty() bool            { return len(t.ends) == 0 }
func (t *plainTexts) dictionary() dictionary { return nil }
func (t *plainTexts) endGroup()              { t.hashed = t.hashed[:0] }

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

// unhashed is embedded in values without a bloom filter.
type unhashed struct{}

func (unhashed) hashes(to []uint64) []uint64 { return to }

// ints is integers one after the other.
type ints struct {
	unhashed
	page []int64
}

func (t *ints) add(values []unsafe.Pointer) {
	for _, p := range values {
		t.page = append(t.page, *(*int64)(p))
	}
}

func (t *ints) addRaw(v *RawValue) { t.page = append(t.page, int64(v.number)) }

func (t *ints) encode(dst []byte, l *leaf) ([]byte, error) {
	return l.encoding.EncodeInt64(dst, t.page)
}

func (t *ints) bounds(*codeSet) (least, greatest []byte) {
	low, high := t.page[0], t.page[0]
	for _, v := range t.page {
		low, high = min(low, v), max(high, v)
	}
	return storedInt(low), storedInt(high)
}

func (t *ints) size() int              { return 8 * len(t.page) }
func (t *ints) empty() bool            { return len(t.page) == 0 }
func (t *ints) endPage()               { t.page = t.page[:0] }
func (t *ints) dictionary() dictionary { return nil }
func (t *ints) endGroup()              {}

// bools is bits, the first value in the lowest.
type bools struct {
	unhashed
	bits  []byte
	count int
	trues int
}

func (t *bools) add(values []unsafe.Pointer) {
	for _, p := range values {
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

func (t *bools) bounds(*codeSet) (least, greatest []byte) {
	least, greatest = []byte{0}, []byte{0}
	if t.trues > 0 {
		greatest[0] = 1
	}
	if t.trues == t.count {
		least[0] = 1
	}
	return least, greatest
}

func (t *bools) size() int              { return len(t.bits) }
func (t *bools) empty() bool            { return t.count == 0 }
func (t *bools) endPage()               { t.bits, t.count, t.trues = t.bits[:0], 0, 0 }
func (t *bools) dictionary() dictionary { return nil }
func (t *bools) endGroup()              {}
