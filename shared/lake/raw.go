//go:build !noparquet

package lake

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io"

	"github.com/parquet-go/parquet-go"
)

// Raw is a row as its columns hold it: value after value, with the levels that say what is absent and what repeats.
// Objects are merged in this form, which is several times cheaper than making a Row of every row and taking it apart.
type Raw = parquet.Row

// The places in a Raw of the columns that say where a row stands: all are required, and come before any list.
const (
	rawTsMs, rawTsNanos, rawSource, rawLine = 0, 1, 3, 4
	valueBytes                              = 24
)

// RawPartition is the partition that the row lies in.
func RawPartition(r Raw) Partition { return PartitionOf(r[rawTsMs].Int64()) }

// RawMemory is about how many bytes the row keeps in memory.
func RawMemory(r Raw) int64 {
	n := valueBytes * len(r)
	for i := range r {
		if r[i].Kind() == parquet.ByteArray {
			n += len(r[i].ByteArray())
		}
	}
	return int64(n)
}

// CompareRaw orders rows as Compare does.
func CompareRaw(a, b Raw) int {
	return cmp.Or(
		cmp.Compare(a[rawTsMs].Int64(), b[rawTsMs].Int64()),
		cmp.Compare(a[rawTsNanos].Int64(), b[rawTsNanos].Int64()),
		cmp.Compare(string(a[rawSource].ByteArray()), string(b[rawSource].ByteArray())),
		cmp.Compare(a[rawLine].Int64(), b[rawLine].Int64()),
	)
}

// RawSum is a checksum over every value of rows in their order. Sums with one seed can be compared; a seed lives in
// one process.
type RawSum struct {
	Seed maphash.Seed
	Sum  uint64
	text []byte
}

// Add takes in a row: what the sum was, then every value with its levels, so that absent, empty and zero differ.
func (s *RawSum) Add(row Raw) {
	text := binary.LittleEndian.AppendUint64(s.text[:0], s.Sum)
	for i := range row {
		v := &row[i]
		text = append(text, byte(v.RepetitionLevel()), byte(v.DefinitionLevel()), byte(v.Kind()))
		switch {
		case v.IsNull():
		case v.Kind() == parquet.ByteArray:
			b := v.ByteArray()
			text = append(binary.AppendUvarint(text, uint64(len(b))), b...)
		case v.Kind() == parquet.Boolean:
			text = append(text, byte(v.Uint64()))
		default:
			text = binary.LittleEndian.AppendUint64(text, v.Uint64())
		}
	}
	s.text, s.Sum = text, maphash.Bytes(s.Seed, text)
}

// RawReader reads the rows of one object in order, as they are.
type RawReader struct {
	in    *parquet.GenericReader[Row]
	group int64
}

// NewRawReader opens an object of the given size.
func NewRawReader(r io.ReaderAt, size int64) (_ *RawReader, err error) {
	defer contain(&err)
	file, err := openParquet(r, size, parquet.SkipPageIndex(true))
	if err != nil {
		return nil, err
	}
	out := &RawReader{in: parquet.NewGenericReader[Row](file)}
	for _, g := range file.Metadata().RowGroups {
		out.group = max(out.group, g.TotalByteSize)
	}
	return out, nil
}

// GroupBytes is the size of the largest row group before compression: reading takes no more memory than that, beside
// the rows read.
func (r *RawReader) GroupBytes() int64 { return r.group }

// Read fills rows, reusing their memory, and returns how many; io.EOF comes with the last ones or after them. The
// texts of earlier rows stay valid until the next Read.
func (r *RawReader) Read(rows []Raw) (n int, err error) {
	defer contain(&err)
	n, err = r.in.ReadRows(rows)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, fmt.Errorf("read parquet rows: %w", err)
	}
	return n, err
}

// Close releases the reader's buffers.
func (r *RawReader) Close() error { return r.in.Close() }
