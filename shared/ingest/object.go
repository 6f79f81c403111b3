package ingest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/orrery/orrery/shared/lake"
)

// writeChunk is how many rows go to a writer at a time.
const writeChunk = 64

// writeObject writes rows, which come in order, as one Parquet file; makes it durable; opens it again and reads every
// page of it. What it returns has been seen on disk. Path is left empty.
func writeObject(path string, rows iter.Seq2[*lake.Row, error]) (lake.Object, error) {
	written, err := writeRows(path, rows)
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

func verify(f *os.File, written int64) (lake.Object, error) {
	info, err := f.Stat()
	if err != nil {
		return lake.Object{}, err
	}
	object, err := lake.Verify(f, info.Size())
	if err != nil {
		return lake.Object{}, err
	}
	if object.Rows != written {
		return lake.Object{}, fmt.Errorf("it has %d rows, %d were written", object.Rows, written)
	}
	return object, nil
}

// writeRows writes a Parquet file and makes it durable. It returns how many rows came.
func writeRows(path string, rows iter.Seq2[*lake.Row, error]) (count int64, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	buffered := bufio.NewWriterSize(f, 1<<20)
	w := lake.NewWriter(buffered)
	chunk := make([]lake.Row, 0, writeChunk)
	for row, err := range rows {
		if err != nil {
			return 0, err
		}
		if chunk = append(chunk, *row); len(chunk) == cap(chunk) {
			if err := w.Write(chunk); err != nil {
				return 0, err
			}
			chunk = chunk[:0]
		}
		count++
	}
	if err := w.Write(chunk); err != nil {
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

// objectFile reads the rows of a Parquet file in order.
type objectFile struct {
	file   *os.File
	reader *lake.Reader
	rows   []lake.Row
	next   int // of rows
	ended  bool
}

func openObject(path string, chunk int) (*objectFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open object: %w", err)
	}
	info, err := f.Stat()
	if err == nil {
		var r *lake.Reader
		if r, err = lake.NewReader(f, info.Size()); err == nil {
			return &objectFile{file: f, reader: r, rows: make([]lake.Row, 0, chunk)}, nil
		}
	}
	return nil, errors.Join(fmt.Errorf("open object %s: %w", path, err), f.Close())
}

// row is the next row, which stays valid until the call after the next chunk; nil at the end.
func (o *objectFile) row() (*lake.Row, error) {
	for o.next == len(o.rows) {
		if o.ended {
			return nil, nil
		}
		n, err := o.reader.Read(o.rows[:cap(o.rows)])
		o.rows, o.next, o.ended = o.rows[:n], 0, errors.Is(err, io.EOF)
		if err != nil && !o.ended {
			return nil, fmt.Errorf("read object %s: %w", o.file.Name(), err)
		}
	}
	o.next++
	return &o.rows[o.next-1], nil
}

func (o *objectFile) close() error { return errors.Join(o.reader.Close(), o.file.Close()) }
