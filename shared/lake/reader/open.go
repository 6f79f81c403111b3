// Package reader reads objects of the lake for queries: all rows, single ones, or whole columns. It does so with
// parquet-go's reader of files, which package lake lets be: what links it grows by a third.
package reader

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/orrery/orrery/shared/lake"
)

// rowSchema is the schema of every object of this version.
var rowSchema = parquet.SchemaOf(lake.Row{})

// openParquet reads footer and page index of an object and checks that it is one of ours.
func openParquet(r io.ReaderAt, size int64, options ...parquet.FileOption) (*parquet.File, error) {
	file, err := parquet.OpenFile(r, size, append(options, parquet.SkipBloomFilters(true))...)
	if err != nil {
		return nil, fmt.Errorf("open parquet object: %w", err)
	}
	if !parquet.EqualNodes(file.Schema(), rowSchema) {
		return nil, lake.ErrSchema
	}
	for _, group := range file.Metadata().RowGroups {
		for i := range group.Columns {
			// Another codec's decoder may ask for any amount of memory for what a damaged footer takes for its data.
			if codec := group.Columns[i].MetaData.Codec; codec != format.Zstd {
				return nil, fmt.Errorf("open parquet object: a column is compressed by %s", codec)
			}
		}
	}
	return file, nil
}

// contain turns a panic into an error: parquet-go v0.32.0 panics on some damaged objects.
func contain(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("damaged parquet object: %v", p)
	}
}
