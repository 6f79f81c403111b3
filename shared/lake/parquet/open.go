package parquet

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
		return nil, ErrSchema
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
