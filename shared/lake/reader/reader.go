package reader

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/orrery/orrery/shared/lake"
)

// Reader reads the rows of one object in order.
type Reader struct {
	in *parquet.GenericReader[lake.Row]
}

// New opens an object of the given size.
func New(r io.ReaderAt, size int64) (_ *Reader, err error) {
	defer contain(&err)
	file, err := openParquet(r, size, parquet.SkipPageIndex(true))
	if err != nil {
		return nil, err
	}
	return &Reader{in: parquet.NewGenericReader[lake.Row](file)}, nil
}

// Read fills rows and returns how many; io.EOF comes with the last ones or after them.
func (r *Reader) Read(rows []lake.Row) (n int, err error) {
	defer contain(&err)
	clear(rows)
	n, err = r.in.Read(rows)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, fmt.Errorf("read parquet rows: %w", err)
	}
	return n, err
}

// Close releases the reader's buffers; rows already read stay valid.
func (r *Reader) Close() error { return r.in.Close() }
