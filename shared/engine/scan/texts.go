package scan

import (
	"hash/maphash"

	"github.com/orrery/orrery/shared/lake/parquet"
)

// texts numbers the different texts of all row groups, in the order in which they come.
type texts struct {
	bytes []byte
	ends  []uint32 // of the texts in bytes
	// table finds texts by hash: in each slot 32 bits of the hash, then the text's number plus one. A free slot is 0.
	table []uint64
}

// seed is that of all hashes of texts, which live in one process.
var seed = maphash.MakeSeed()

func hashOf(text []byte) uint32 { return uint32(maphash.Bytes(seed, text) >> 32) }

const (
	smallestTable = 1 << 6
	// textBytes is what a text takes beside its bytes: its end, and its share of the table.
	textBytes = 4 + 2*8
)

func (t *texts) len() int { return len(t.ends) }

// at is the text of a number.
func (t *texts) at(number int32) []byte {
	from := uint32(0)
	if number > 0 {
		from = t.ends[number-1]
	}
	return t.bytes[from:t.ends[number]]
}

// number is the number of a text, a new one if it has none yet.
func (t *texts) number(text []byte, hash uint32) int32 {
	if 2*len(t.ends) >= len(t.table) {
		t.grow()
	}
	mask := uint64(len(t.table) - 1)
	for at := uint64(hash) & mask; ; at = (at + 1) & mask {
		slot := t.table[at]
		if slot == 0 {
			t.bytes = append(t.bytes, text...)
			t.ends = append(t.ends, uint32(len(t.bytes)))
			t.table[at] = uint64(hash)<<32 | uint64(len(t.ends))
			return int32(len(t.ends) - 1)
		}
		if number := int32(uint32(slot)) - 1; uint32(slot>>32) == hash && string(t.at(number)) == string(text) {
			return number
		}
	}
}

func (t *texts) grow() {
	old := t.table
	t.table = make([]uint64, max(smallestTable, 2*len(old)))
	mask := uint64(len(t.table) - 1)
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		at := slot >> 32 & mask
		for t.table[at] != 0 {
			at = (at + 1) & mask
		}
		t.table[at] = slot
	}
}

// joined is one list of the different entries of two dictionaries.
type joined struct {
	first, second *parquet.Texts
	places        []int32 // of the entries of second in the list
	added         []int32 // those of them that are not in first
}

func join(first, second *parquet.Texts) joined {
	j := joined{first: first, second: second, places: make([]int32, second.Len())}
	known := make(map[string]int32, first.Len())
	for i := range int32(first.Len()) {
		known[string(first.At(i))] = i
	}
	for i := range j.places {
		place, ok := known[string(second.At(int32(i)))]
		if !ok {
			place = int32(first.Len() + len(j.added))
			j.added = append(j.added, int32(i))
		}
		j.places[i] = place
	}
	return j
}

func (j *joined) Len() int { return j.first.Len() + len(j.added) }

func (j *joined) At(place int32) []byte {
	if n := int32(j.first.Len()); place >= n {
		return j.second.At(j.added[place-n])
	}
	return j.first.At(place)
}
