package lake

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// Verify reads a whole object back and says what it holds; Path is left empty. It is an error if a page's checksum
// is wrong or the page does not decode, counts disagree, rows are not in the order of Sort, or lie in more than one
// partition.
func Verify(r io.ReaderAt, size int64) (_ Object, err error) {
	defer contain(&err)
	file, err := parquet.OpenFile(r, size, parquet.SkipBloomFilters(true))
	if err != nil {
		return Object{}, fmt.Errorf("open parquet object: %w", err)
	}
	if !parquet.EqualNodes(file.Schema(), rowSchema) {
		return Object{}, ErrSchema
	}
	if file.NumRows() == 0 {
		return Object{}, errors.New("object holds no rows")
	}
	object := Object{Rows: file.NumRows(), Bytes: size, ColumnBytes: columnBytes(file)}
	var order orderCheck
	for i, group := range file.RowGroups() {
		if err := verifyGroup(group, &order); err != nil {
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

// contain turns a panic into an error: parquet-go v0.32.0 panics on some damaged objects.
func contain(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("damaged parquet object: %v", p)
	}
}

// placeColumns is the columns that say where a row stands, in the order Compare looks at them.
var placeColumns = []string{"ts_ms", "ts_nanos", "source", "line"}

// verifyGroup decodes every page of a row group.
func verifyGroup(group parquet.RowGroup, order *orderCheck) error {
	chunks := group.ColumnChunks()
	places := make([][]parquet.Value, len(placeColumns))
	for leaf, path := range rowSchema.Columns() {
		var keep *[]parquet.Value
		for i, name := range placeColumns {
			if path[0] == name {
				keep = &places[i]
			}
		}
		rows, err := verifyChunk(chunks[leaf], keep)
		if err != nil {
			return fmt.Errorf("column %s: %w", path, err)
		}
		if rows != group.NumRows() {
			return fmt.Errorf("column %s has %d rows instead of %d", path, rows, group.NumRows())
		}
	}
	return order.add(places)
}

// verifyChunk decodes every page of a column and counts the rows; it appends the values to keep, if that is not nil.
func verifyChunk(chunk parquet.ColumnChunk, keep *[]parquet.Value) (rows int64, err error) {
	pages := chunk.Pages()
	defer func() { err = errors.Join(err, pages.Close()) }()
	var values int64
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, err
		}
		rows += page.NumRows()
		values += page.NumValues()
		if keep != nil {
			err = appendValues(keep, page)
		}
		parquet.Release(page)
		if err != nil {
			return 0, err
		}
	}
	if values != chunk.NumValues() {
		return 0, fmt.Errorf("%d values instead of %d", values, chunk.NumValues())
	}
	return rows, nil
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
