package parquet

import (
	"encoding/binary"
	"hash/maphash"
	"unsafe"
)

// textDictionary numbers texts in the order in which they come.
type textDictionary struct {
	page []byte   // the entries as a dictionary page holds them: length, text
	ends []uint32 // of the entries in page
	// table finds entries by hash: in each slot 32 bits of the hash, then the entry's number plus one. A free slot is 0.
	table []uint64
	seed  maphash.Seed
	// latest finds the texts seen lately by where they lie: rows share the texts that repeat.
	latest [latestSlots]numbered
}

type numbered struct {
	text   string // keeps its memory from becoming another text
	number int32
}

const (
	smallestTable = 1 << 6
	latestSlots   = 1 << 7
	lengthBytes   = 4
)

// shared is the number of a text that stays as it is, and that other rows may share.
func (d *textDictionary) shared(text string) int32 {
	at := uintptr(unsafe.Pointer(unsafe.StringData(text)))
	slot := &d.latest[(at>>3^at>>10)%latestSlots]
	if len(slot.text) != len(text) || unsafe.StringData(slot.text) != unsafe.StringData(text) || len(text) == 0 {
		*slot = numbered{text, d.number(text)}
	}
	return slot.number
}

// number is the number of a text, a new one if it has none yet.
func (d *textDictionary) number(text string) int32 {
	if 2*len(d.ends) >= len(d.table) {
		d.grow()
	}
	hash := maphash.String(d.seed, text) >> 32
	mask := uint64(len(d.table) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		slot := d.table[at]
		if slot == 0 {
			d.page = binary.LittleEndian.AppendUint32(d.page, uint32(len(text)))
			d.page = append(d.page, text...)
			d.ends = append(d.ends, uint32(len(d.page)))
			d.table[at] = hash<<32 | uint64(len(d.ends))
			return int32(len(d.ends) - 1)
		}
		if number := int32(uint32(slot)) - 1; slot>>32 == hash && string(d.text(number)) == text {
			return number
		}
	}
}

// text is the entry of a number.
func (d *textDictionary) text(number int32) []byte {
	from := uint32(0)
	if number > 0 {
		from = d.ends[number-1]
	}
	return d.page[from+lengthBytes : d.ends[number]]
}

// grow makes room for more entries.
func (d *textDictionary) grow() {
	old := d.table
	if old == nil {
		d.seed = maphash.MakeSeed()
	}
	d.table = make([]uint64, max(smallestTable, 2*len(old)))
	mask := uint64(len(d.table) - 1)
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		at := slot >> 32 & mask
		for d.table[at] != 0 {
			at = (at + 1) & mask
		}
		d.table[at] = slot
	}
}

func (d *textDictionary) reset() {
	d.page, d.ends = d.page[:0], d.ends[:0]
	clear(d.table)
	clear(d.latest[:])
}

// intDictionary numbers integers in the order in which they come.
type intDictionary struct {
	entries []int64
	small   [1 << 10]int32 // numbers plus one of the integers from 0 on, which most are
	others  map[int64]int32
}

func (d *intDictionary) number(v int64) int32 {
	if v >= 0 && v < int64(len(d.small)) {
		if d.small[v] == 0 {
			d.entries = append(d.entries, v)
			d.small[v] = int32(len(d.entries))
		}
		return d.small[v] - 1
	}
	number, known := d.others[v]
	if !known {
		if d.others == nil {
			d.others = map[int64]int32{}
		}
		number = int32(len(d.entries))
		d.entries = append(d.entries, v)
		d.others[v] = number
	}
	return number
}

func (d *intDictionary) reset() {
	d.entries = d.entries[:0]
	clear(d.small[:])
	d.others = nil
}

// distinct is the set of entries that a page uses.
type distinct struct {
	bits    []uint64
	numbers []int32 // in no order
}

// of fills the set. entries is how many the dictionary has.
func (d *distinct) of(numbers []int32, entries int) []int32 {
	words := (entries + 63) / 64
	if cap(d.bits) < words {
		d.bits = make([]uint64, words, 2*words)
	}
	d.bits = d.bits[:words]
	clear(d.bits)
	d.numbers = d.numbers[:0]
	for _, n := range numbers {
		word, bit := &d.bits[n/64], uint64(1)<<(n%64)
		if *word&bit == 0 {
			*word |= bit
			d.numbers = append(d.numbers, n)
		}
	}
	return d.numbers
}
