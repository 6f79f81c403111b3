//go:build !noparquet

package lake

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// Verify reads a whole object back and says what it holds; Path is left empty. It is an error if a page's checksum
// is wrong or the page does not decode, counts disagree, rows are not in the order of Sort, or lie in more than one
// partition.
func Verify(r io.ReaderAt, size int64) (_ Object, err error) {
	defer contain(&err)
	file, err := openParquet(r, size)
	if err != nil {
		return Object{}, err
	}
	if file.NumRows() == 0 {
		return Object{}, errors.New("object holds no rows")
	}
	object := Object{Rows: file.NumRows(), Bytes: size, ColumnBytes: columnBytes(file)}
	var order orderCheck
	for i, group := range file.RowGroups() {
		if err := verifyGroup(group, &file.Metadata().RowGroups[i], &order); err != nil {
			return Object{}, fmt.Errorf("row group %d: %w", i, err)
		}
	}
	if order.rows != object.Rows {
		return Object{}, fmt.Errorf("the footer says %d rows, there are %d", object.Rows, order.rows)
	}
	object.MinTsMs, object.MaxTsMs = order.first, order.last.TsMs
	object.Partition = PartitionOf(object.MinTsMs)
	if other := PartitionOf(object.MaxTsMs); other != object.Partition {
		return Object{}, fmt.Errorf("rows lie in partitions %s to %s", object.Partition, other)
	}
	return object, nil
}

// placeColumns is the columns that say where a row stands, in the order Compare looks at them.
var placeColumns = []string{"ts_ms", "ts_nanos", "source", "line"}

// verifyGroup decodes every page of a row group.
func verifyGroup(group parquet.RowGroup, footer *format.RowGroup, order *orderCheck) error {
	chunks := group.ColumnChunks()
	places := make([][]parquet.Value, len(placeColumns))
	for leaf, path := range rowSchema.Columns() {
		var keep *[]parquet.Value
		for i, name := range placeColumns {
			if path[0] == name {
				keep = &places[i]
			}
		}
		pages, err := verifyChunk(chunks[leaf], keep)
		if err == nil {
			err = verifyIndex(chunks[leaf], &footer.Columns[leaf].MetaData, pages, group.NumRows())
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", path, err)
		}
	}
	return order.add(places)
}

// verifyChunk decodes every page of a column and returns how many rows each has; it appends the values to keep, if
// that is not nil.
func verifyChunk(chunk parquet.ColumnChunk, keep *[]parquet.Value) (rows []int64, err error) {
	pages := chunk.Pages()
	defer func() { err = errors.Join(err, pages.Close()) }()
	var values int64
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, page.NumRows())
		values += page.NumValues()
		if keep != nil {
			err = appendValues(keep, page)
		}
		parquet.Release(page)
		if err != nil {
			return nil, err
		}
	}
	if values != chunk.NumValues() {
		return nil, fmt.Errorf("%d values instead of %d", values, chunk.NumValues())
	}
	return rows, nil
}

// verifyIndex compares the page index, by which single rows are found, with the pages: they follow one another
// without a gap from the footer's first page to the end of the chunk.
func verifyIndex(chunk parquet.ColumnChunk, footer *format.ColumnMetaData, pageRows []int64, groupRows int64) error {
	index, err := chunk.OffsetIndex()
	if err != nil {
		return err
	}
	if index.NumPages() != len(pageRows) {
		return fmt.Errorf("%d pages, %d in the index", len(pageRows), index.NumPages())
	}
	offset, row := footer.DataPageOffset, int64(0)
	for i, rows := range pageRows {
		if index.Offset(i) != offset || index.FirstRowIndex(i) != row {
			return fmt.Errorf("the index is wrong about page %d", i)
		}
		offset += index.CompressedPageSize(i)
		row += rows
	}
	start := footer.DataPageOffset
	if footer.DictionaryPageOffset != 0 {
		start = footer.DictionaryPageOffset
	}
	if offset != start+footer.TotalCompressedSize {
		return errors.New("the pages do not end where the column does")
	}
	if row != groupRows {
		return fmt.Errorf("%d rows instead of %d", row, groupRows)
	}
	return nil
}

func appendValues(values *[]parquet.Value, page parquet.Page) error {
	have := len(*values)
	*values = append(*values, make([]parquet.Value, page.NumValues())...)
	read, err := page.Values().ReadValues((*values)[have:])
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if int64(read) != page.NumValues() {
		return fmt.Errorf("page has %d values instead of %d", read, page.NumValues())
	}
	for i := have; i < len(*values); i++ {
		(*values)[i] = (*values)[i].Clone() // the page's memory is used again
	}
	return nil
}

// orderCheck looks at the place of every row.
type orderCheck struct {
	rows  int64
	first int64 // ts_ms of the first row
	last  Row
}

func (o *orderCheck) add(places [][]parquet.Value) error {
	for i := range places[0] {
		row := Row{TsMs: places[0][i].Int64(), TsNanos: places[1][i].Int64(), Source: places[2][i].String(), Line: places[3][i].Int64()}
		if o.rows == 0 {
			o.first = row.TsMs
		} else if Compare(&o.last, &row) > 0 {
			return fmt.Errorf("row %d is out of order", o.rows)
		}
		o.last = row
		o.rows++
	}
	return nil
}

func columnBytes(file *parquet.File) map[string]int64 {
	bytes := make(map[string]int64, len(Columns))
	for _, group := range file.Metadata().RowGroups {
		for i := range group.Columns {
			meta := &group.Columns[i].MetaData
			bytes[meta.PathInSchema[0]] += meta.TotalCompressedSize
		}
	}
	return bytes
}
