package ingest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
)

const (
	// chunkRows and chunkBytes limit what is read or written at a time.
	chunkRows  = 64
	chunkBytes = 1 << 20
)

// writeObject writes rows, which must be in order, to one Parquet file, syncs it, opens it again and reads all its
// pages. It returns the object as read from the disk, without Path.
func writeObject(path string, rows rowsTo) (lake.Object, error) {
	written, err := writeFile(path, rows)
	if err != nil {
		return lake.Object{}, fmt.Errorf("write object %s: %w", path, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return lake.Object{}, fmt.Errorf("verify object: %w", err)
	}
	object, err := verify(f, written)
	if err := errors.Join(err, f.Close()); err != nil {
		return lake.Object{}, fmt.Errorf("verify object %s: %w", path, err)
	}
	return object, nil
}

// WriteEmpty writes an object without rows to a file, syncs it and reads it back.
func WriteEmpty(path string) error {
	if _, err := writeFile(path, heldRows(nil)); err != nil {
		return fmt.Errorf("write object %s: %w", path, err)
	}
	return Verify(path)
}

// Verify reads all pages of an object in a file. It returns an error if the object is damaged. An object without rows
// is not damaged, nor is one of a newer schema that this program cannot read.
func Verify(path string) error {
	return withObject(path, func(f *os.File, size int64) error {
		_, err := parquet.Verify(f, size)
		if errors.Is(err, parquet.ErrNoRows) || errors.Is(err, parquet.ErrNewerSchema) {
			return nil
		}
		return err
	})
}

// SchemaVersion returns the version of the schema of the object in a file. It reads only the footer.
func SchemaVersion(path string) (version int, err error) {
	err = withObject(path, func(f *os.File, size int64) error {
		version, err = parquet.SchemaVersion(f, size)
		return err
	})
	return version, err
}

// ReadSchemaVersion is SchemaVersion for an object that is not in a file.
func ReadSchemaVersion(r io.ReaderAt, size int64) (int, error) { return parquet.SchemaVersion(r, size) }

// IsNewer reports whether the object in a file has a newer schema than this program, which then cannot merge it. It
// returns false for an object that cannot be read: the merge returns the reason.
func IsNewer(path string) bool {
	version, err := SchemaVersion(path)
	return err == nil && version > lake.SchemaVersion()
}

// withObject opens an object and calls read.
func withObject(path string, read func(f *os.File, size int64) error) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open object: %w", err)
	}
	info, err := f.Stat()
	if err == nil {
		err = read(f, info.Size())
	}
	return errors.Join(err, f.Close())
}

func verify(f *os.File, written int64) (lake.Object, error) {
	info, err := f.Stat()
	if err != nil {
		return lake.Object{}, err
	}
	object, err := parquet.Verify(f, info.Size())
	if err != nil {
		return lake.Object{}, err
	}
	if object.Rows != written {
		return lake.Object{}, fmt.Errorf("it has %d rows, but %d were written", object.Rows, written)
	}
	return object, nil
}

// ExtentOf returns the extent of the object in a file. It reads only the first and the last row.
func ExtentOf(path string) (e lake.Extent, err error) {
	f, err := os.Open(path)
	if err != nil {
		return lake.Extent{}, fmt.Errorf("read the extent of an object: %w", err)
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			e, err = lake.Extent{}, fmt.Errorf("read the extent of object %s: %w", path, err)
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return lake.Extent{}, err
	}
	object, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return lake.Extent{}, err
	}
	defer func() { err = errors.Join(err, object.Close()) }()
	rows := object.NumRows()
	if rows == 0 {
		return lake.Extent{}, nil
	}
	ends, err := object.Rows([]int64{0, rows - 1}, []string{"ts_ms"})
	if err != nil {
		return lake.Extent{}, err
	}
	return lake.Extent{MinTsMs: ends[0].TsMs, MaxTsMs: ends[1].TsMs, Rows: rows}, nil
}

// rowsTo writes rows and returns their number.
type rowsTo func(*parquet.Writer) (int64, error)

// writeFile writes and syncs a Parquet file. It returns the number of rows.
func writeFile(path string, rows rowsTo) (count int64, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	buffered := bufio.NewWriterSize(f, 1<<20)
	w := parquet.NewWriter(buffered)
	if count, err = rows(w); err != nil {
		return 0, err
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	if err := buffered.Flush(); err != nil {
		return 0, err
	}
	return count, f.Sync()
}

// heldRows writes rows of the buffer.
func heldRows(rows []heldRow) rowsTo {
	return func(w *parquet.Writer) (int64, error) {
		var chunk [chunkRows]*lake.Row
		for part := range slices.Chunk(rows, chunkRows) {
			for i, r := range part {
				chunk[i] = r.row
			}
			if err := w.WriteEach(chunk[:len(part)]); err != nil {
				return 0, err
			}
		}
		return int64(len(rows)), nil
	}
}

// rawRows writes the rows of other objects.
func rawRows(rows iter.Seq2[parquet.Raw, error]) rowsTo {
	return func(w *parquet.Writer) (count int64, err error) {
		var chunk [chunkRows]parquet.Raw // copies, because a row is only valid until the next one
		n, size := 0, int64(0)
		for row, err := range rows {
			if err != nil {
				return 0, err
			}
			chunk[n] = append(chunk[n][:0], row...)
			n, size, count = n+1, size+parquet.RawMemory(row), count+1
			if n == chunkRows || size > chunkBytes {
				if err := w.WriteRaw(chunk[:n]); err != nil {
					return 0, err
				}
				n, size = 0, 0
			}
		}
		return count, w.WriteRaw(chunk[:n])
	}
}

// objectFile reads the rows of a Parquet file in order.
type objectFile struct {
	file   *os.File
	reader *parquet.RawReader
	chunk  [chunkRows]parquet.Raw
	rows   []parquet.Raw // the part of chunk that row has not returned yet
	want   int           // number of rows to read next
	ended  bool
}

func openObject(path string) (*objectFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open object: %w", err)
	}
	info, err := f.Stat()
	if err == nil {
		var r *parquet.RawReader
		if r, err = parquet.NewRawReader(f, info.Size()); err == nil {
			return &objectFile{file: f, reader: r, want: 1}, nil
		}
	}
	return nil, errors.Join(fmt.Errorf("open object %s: %w", path, err), f.Close())
}

// row returns the next row, or nil at the end. The row is valid until the next call.
func (o *objectFile) row() (parquet.Raw, error) {
	for len(o.rows) == 0 {
		if o.ended {
			return nil, nil
		}
		n, err := o.reader.Read(o.chunk[:o.want])
		o.rows, o.ended = o.chunk[:n], errors.Is(err, io.EOF)
		if err != nil && !o.ended {
			return nil, fmt.Errorf("read object %s: %w", o.file.Name(), err)
		}
		o.want = nextChunk(o.rows)
	}
	row := o.rows[0]
	o.rows = o.rows[1:]
	return row, nil
}

// nextChunk returns the number of rows to read after these: twice as many, within the limits of a chunk.
func nextChunk(rows []parquet.Raw) int {
	size := int64(1)
	for _, r := range rows {
		size += parquet.RawMemory(r)
	}
	return int(max(1, min(chunkRows, 2*int64(len(rows)), chunkBytes*int64(len(rows))/size)))
}

func (o *objectFile) close() error { return errors.Join(o.reader.Close(), o.file.Close()) }

// StagedName returns the file name of an object in the staging directory.
func StagedName(name string) string { return strings.ReplaceAll(name, "/", "_") }

// SizesIn returns the number of rows of an object, and the compressed sizes of its columns. It reads the first four
// bytes and the footer.
func SizesIn(r io.ReaderAt, size int64) (rows int64, columns map[string]int64, err error) {
	object, err := parquet.OpenColumns(r, size)
	if err != nil {
		return 0, nil, fmt.Errorf("read sizes: %w", err)
	}
	for _, group := range object.RowGroups() {
		rows += int64(group.Rows)
	}
	return rows, object.ColumnBytes(), nil
}
