package parquet

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"unsafe"
)

// Texts is a list of texts in one piece of memory.
type Texts struct {
	bytes   []byte
	offsets []uint32 // where each text begins, and where the last one ends
}

// Len returns the number of texts.
func (t *Texts) Len() int { return max(0, len(t.offsets)-1) }

// At returns a text, which must not be changed.
func (t *Texts) At(i int32) []byte { return t.bytes[t.offsets[i]:t.offsets[i+1]] }

func (t *Texts) add(text []byte) {
	if len(t.offsets) == 0 {
		t.offsets = append(t.offsets, 0)
	}
	t.bytes = append(t.bytes, text...)
	t.offsets = append(t.offsets, uint32(len(t.bytes)))
}

func (t *Texts) reset() { t.bytes, t.offsets = t.bytes[:0], t.offsets[:0] }

// Dictionary gives each distinct text a code. Codes count from 0, in the order in which texts are added; At returns the
// text of a code. The zero Dictionary is empty.
type Dictionary struct {
	Texts
	// slots is a hash table with linear probing. A slot holds the hash of a text and, in its lower half, the text's
	// code plus one. An empty slot is 0.
	slots []uint64
}

const (
	minSlots    = 1 << 6
	lengthBytes = 4 // of the length before a text in a page
)

// hashSeed makes hashes of texts differ between processes, so that a client cannot choose texts that collide.
var hashSeed = maphash.MakeSeed()

// Hash returns the hash that Code needs. It is valid in this process only.
func Hash(text []byte) uint32 { return uint32(maphash.Bytes(hashSeed, text) >> 32) }

// Code returns the code of a text with the given hash. It adds the text if it is new.
func (d *Dictionary) Code(text []byte, hash uint32) int32 {
	n := d.Len()
	if 2*n >= len(d.slots) {
		d.grow()
	}
	mask := uint64(len(d.slots) - 1)
	for i := uint64(hash) & mask; ; i = (i + 1) & mask {
		slot := d.slots[i]
		if slot == 0 {
			d.add(text)
			d.slots[i] = uint64(hash)<<32 | uint64(n+1)
			return int32(n)
		}
		if code := int32(uint32(slot)) - 1; uint32(slot>>32) == hash && string(d.At(code)) == string(text) {
			return code
		}
	}
}

// Append adds texts, which must all be new. Their codes follow the codes of the earlier texts.
func (d *Dictionary) Append(texts *Texts) error {
	for i := range int32(texts.Len()) {
		text, n := texts.At(i), int32(d.Len())
		if d.Code(text, Hash(text)) != n {
			return fmt.Errorf("a dictionary has two entries %.40q", text)
		}
	}
	return nil
}

// Memory estimates the memory of the dictionary in bytes: for each text its bytes, its offset and two slots.
func (d *Dictionary) Memory() int64 { return int64(len(d.bytes) + d.Len()*(4+2*8)) }

func (d *Dictionary) grow() {
	old := d.slots
	d.slots = make([]uint64, max(minSlots, 2*len(old)))
	mask := uint64(len(d.slots) - 1)
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		i := slot >> 32 & mask
		for d.slots[i] != 0 {
			i = (i + 1) & mask
		}
		d.slots[i] = slot
	}
}

func (d *Dictionary) reset() {
	d.Texts.reset()
	clear(d.slots)
}

// pageSize returns the size of the dictionary page.
func (d *Dictionary) pageSize() int { return len(d.bytes) + lengthBytes*d.Len() }

func (d *Dictionary) appendPage(page []byte) []byte {
	for i := range int32(d.Len()) {
		text := d.At(i)
		page = append(binary.LittleEndian.AppendUint32(page, uint32(len(text))), text...)
	}
	return page
}

// recentTexts caches the codes of texts by their addresses. Rows share the memory of repeated texts, so most texts need
// not be hashed.
type recentTexts [1 << 7]struct {
	text string // keeps its memory from being reused for another text
	code int32
}

// code returns the code of a text that is not changed later.
func (r *recentTexts) code(text string, d *Dictionary) int32 {
	data := unsafe.StringData(text)
	address := uintptr(unsafe.Pointer(data))
	recent := &r[(address>>3^address>>10)%uintptr(len(r))]
	if len(recent.text) != len(text) || unsafe.StringData(recent.text) != data || len(text) == 0 {
		recent.text, recent.code = text, codeOf(text, d)
	}
	return recent.code
}

func codeOf(text string, d *Dictionary) int32 {
	bytes := unsafe.Slice(unsafe.StringData(text), len(text))
	return d.Code(bytes, Hash(bytes))
}

// intDictionary is a Dictionary of integers.
type intDictionary struct {
	entries []int64
	small   [1 << 10]int32 // codes plus one of the integers from 0 on, which are the most frequent
	others  map[int64]int32
}

func (d *intDictionary) Len() int { return len(d.entries) }

func (d *intDictionary) code(v int64) int32 {
	if v >= 0 && v < int64(len(d.small)) {
		if d.small[v] == 0 {
			d.entries = append(d.entries, v)
			d.small[v] = int32(len(d.entries))
		}
		return d.small[v] - 1
	}
	code, known := d.others[v]
	if !known {
		if d.others == nil {
			d.others = map[int64]int32{}
		}
		code = int32(len(d.entries))
		d.entries = append(d.entries, v)
		d.others[v] = code
	}
	return code
}

func (d *intDictionary) reset() {
	d.entries = d.entries[:0]
	clear(d.small[:])
	d.others = nil
}

func (d *intDictionary) pageSize() int { return 8 * len(d.entries) }

func (d *intDictionary) appendPage(page []byte) []byte {
	for _, v := range d.entries {
		page = binary.LittleEndian.AppendUint64(page, uint64(v))
	}
	return page
}

// codeSet is the set of codes that a page uses.
type codeSet struct {
	bits  []uint64
	codes []int32 // in no order
}

// of returns the distinct codes among codes, which belong to a dictionary of the given length. They are valid until the
// next call.
func (s *codeSet) of(codes []int32, length int) []int32 {
	words := (length + 63) / 64
	if cap(s.bits) < words {
		s.bits = make([]uint64, words, 2*words)
	}
	s.bits = s.bits[:words]
	clear(s.bits)
	s.codes = s.codes[:0]
	for _, code := range codes {
		word, bit := &s.bits[code/64], uint64(1)<<(code%64)
		if *word&bit == 0 {
			*word |= bit
			s.codes = append(s.codes, code)
		}
	}
	return s.codes
}
