package parquet

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"unsafe"

	"github.com/orrery/orrery/shared/lake"
)

// Raw is a row as its columns hold it: the values of every leaf with their repetition and definition levels. Objects
// are merged in this form, which is several times cheaper than assembling and shredding a Row.
type Raw []RawValue

// RawValue is one value of a Raw, which may be absent.
type RawValue struct {
	bytes    *byte      // of a text
	number   uint64     // an integer, the length of a text, 1 for true
	known    *knownCode // of a text of a dictionary; otherwise nil
	leaf     uint16
	kind     lake.Kind // 0 for an absent value
	rep, def byte
}

// text returns a text, which is valid as long as the Raw is.
func (v *RawValue) text() string { return unsafe.String(v.bytes, int(v.number)) }

func (v *RawValue) setText(text []byte) {
	v.bytes, v.number = unsafe.SliceData(text), uint64(len(text))
}

// The numbers of the leaves that rows are sorted by. Their values have the same indices in a Raw: all are required, and
// come before any list.
const (
	leafTsMs, leafTsNanos, leafSource, leafLine = 0, 1, 3, 4
	valueBytes                                  = 24
)

// RawPartition returns the partition of the row.
func RawPartition(r Raw) lake.Partition { return lake.PartitionOf(int64(r[leafTsMs].number)) }

// RawPlace returns the source and the line of the row. The source is valid as long as the Raw is.
func RawPlace(r Raw) (source string, line int64) {
	return r[leafSource].text(), int64(r[leafLine].number)
}

// RawMemory estimates the size of the row in memory in bytes.
func RawMemory(r Raw) int64 {
	n := valueBytes * len(r)
	for i := range r {
		if r[i].kind == lake.Text {
			n += int(r[i].number)
		}
	}
	return int64(n)
}

// CompareRaw orders rows as Compare does.
func CompareRaw(a, b Raw) int {
	return cmp.Or(
		cmp.Compare(int64(a[leafTsMs].number), int64(b[leafTsMs].number)),
		cmp.Compare(int64(a[leafTsNanos].number), int64(b[leafTsNanos].number)),
		cmp.Compare(a[leafSource].text(), b[leafSource].text()),
		cmp.Compare(int64(a[leafLine].number), int64(b[leafLine].number)),
	)
}

// RawSum is a checksum over every value of rows in their order. Sums with the same seed can be compared. A seed is
// valid in one process only.
type RawSum struct {
	Seed maphash.Seed
	Sum  uint64
	text []byte
}

// Add adds a row. The new sum is a hash of the old one and of every value with its levels, so that absent, empty and
// zero values differ.
func (s *RawSum) Add(row Raw) {
	text := binary.LittleEndian.AppendUint64(s.text[:0], s.Sum)
	for i := range row {
		v := &row[i]
		text = append(text, v.rep, v.def, byte(v.kind))
		switch v.kind {
		case lake.Text:
			text = append(binary.AppendUvarint(text, v.number), v.text()...)
		case lake.Bool:
			text = append(text, byte(v.number))
		case lake.Int:
			text = binary.LittleEndian.AppendUint64(text, v.number)
		}
	}
	s.text, s.Sum = text, maphash.Bytes(s.Seed, text)
}
