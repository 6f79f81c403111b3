package parquet

import (
	"errors"
	"fmt"
	"io"
	"unsafe"

	"github.com/parquet-go/parquet-go/format"

	"github.com/orrery/orrery/shared/lake"
)

// ErrNoRows reports that an object has no rows.
var ErrNoRows = errors.New("object holds no rows")

// Verify reads a whole object and returns its description, without the Path. It returns an error if a page's checksum
// is wrong or the page cannot be decoded, if counts disagree, or if rows are out of order or in more than one
// partition. It does not read the columns that only a newer schema has.
func Verify(r io.ReaderAt, size int64) (_ lake.Object, err error) {
	defer contain(&err)
	in, err := openObject(r, size)
	if err != nil {
		return lake.Object{}, err
	}
	object := lake.Object{Rows: in.footer.NumRows, Bytes: size, ColumnBytes: in.columnBytes()}
	if object.Rows == 0 {
		return lake.Object{}, ErrNoRows
	}
	var order orderCheck
	for i := range in.footer.RowGroups {
		if err := in.verifyGroup(i, &order); err != nil {
			return lake.Object{}, fmt.Errorf("row group %d: %w", i, err)
		}
	}
	if order.rows != object.Rows {
		return lake.Object{}, fmt.Errorf("the footer has %d rows, the object has %d", object.Rows, order.rows)
	}
	object.MinTsMs, object.MaxTsMs = order.first, order.last.TsMs
	object.Partition = lake.PartitionOf(object.MinTsMs)
	if other := lake.PartitionOf(object.MaxTsMs); other != object.Partition {
		return lake.Object{}, fmt.Errorf("rows are in partitions %s to %s", object.Partition, other)
	}
	return object, nil
}

// sortKeys are the columns by which rows are sorted.
type sortKeys struct {
	ints    [leafLine + 1][]int64 // by leaf
	sources []string
}

// add keeps the values of a page if rows are sorted by its column.
func (k *sortKeys) add(p *pageReader) {
	switch p.leaf.number {
	case leafTsMs, leafTsNanos, leafLine:
		for i := range p.numPresent {
			v, at := p.value(i)
			k.ints[p.leaf.number] = append(k.ints[p.leaf.number], v.ints[at])
		}
	case leafSource:
		for i := range p.numPresent {
			v, at := p.value(i)
			text := v.texts.At(int32(at))
			k.sources = append(k.sources, unsafe.String(unsafe.SliceData(text), len(text)))
		}
	}
}

// verifyGroup decodes every page of a row group.
func (o *object) verifyGroup(group int, order *orderCheck) error {
	var keys sortKeys
	shared := pageReaders.Get().(*pageReader)
	defer pageReaders.Put(shared)
	for i := range leaves {
		if !o.has(&leaves[i]) {
			continue
		}
		p := shared
		if i == leafSource {
			p = newPageReader(readAhead, shared.buffer)
			p.retain = true
		}
		if err := o.verifyChunk(group, &leaves[i], p, &keys); err != nil {
			return fmt.Errorf("column %s: %w", leaves[i].path, err)
		}
	}
	return order.add(&keys)
}

// verifyChunk decodes every page of a column and compares the pages with the footer and the page index.
func (o *object) verifyChunk(group int, l *leaf, p *pageReader, keys *sortKeys) error {
	if err := o.pages(p, group, l); err != nil {
		return err
	}
	var values int64
	var rows []int64 // of each page
	for {
		err := p.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		rows = append(rows, p.numRows())
		values += int64(p.numValues)
		keys.add(p)
	}
	meta := &o.chunk(group, l).MetaData
	if values != meta.NumValues {
		return fmt.Errorf("%d values instead of %d", values, meta.NumValues)
	}
	index, err := o.pageLocations(group, l)
	if err != nil {
		return err
	}
	if err := o.checkPageBounds(group, l, len(index)); err != nil {
		return err
	}
	return verifyIndex(index, meta, rows, o.footer.RowGroups[group].NumRows)
}

// verifyIndex compares the page index, by which single rows are found, with the pages: they follow one another
// without a gap from the footer's first page to the end of the chunk.
func verifyIndex(index []format.PageLocation, footer *format.ColumnMetaData, pageRows []int64, groupRows int64) error {
	if len(index) != len(pageRows) {
		return fmt.Errorf("%d pages, %d in the index", len(pageRows), len(index))
	}
	offset, row := footer.DataPageOffset, int64(0)
	for i, rows := range pageRows {
		if index[i].Offset != offset || index[i].FirstRowIndex != row {
			return fmt.Errorf("the index is wrong about page %d", i)
		}
		offset += int64(index[i].CompressedPageSize)
		row += rows
	}
	if offset != chunkStart(footer)+footer.TotalCompressedSize {
		return errors.New("the pages do not end where the column does")
	}
	if row != groupRows {
		return fmt.Errorf("%d rows instead of %d", row, groupRows)
	}
	return nil
}

// orderCheck checks that rows come in order.
type orderCheck struct {
	rows  int64
	first int64 // ts_ms of the first row
	last  lake.Row
}

func (o *orderCheck) add(keys *sortKeys) error {
	times, nanos, lines := keys.ints[leafTsMs], keys.ints[leafTsNanos], keys.ints[leafLine]
	for i := range times {
		row := lake.Row{TsMs: times[i], TsNanos: nanos[i], Source: keys.sources[i], Line: lines[i]}
		if o.rows == 0 {
			o.first = row.TsMs
		} else if lake.Compare(&o.last, &row) > 0 {
			return fmt.Errorf("row %d is out of order", o.rows)
		}
		o.last = row
		o.rows++
	}
	return nil
}

// columnBytes returns the size of each column of the object that the present schema knows.
func (o *object) columnBytes() map[string]int64 {
	bytes := make(map[string]int64, len(lake.Columns))
	for group := range o.footer.RowGroups {
		for i := range leaves {
			if l := &leaves[i]; o.has(l) {
				bytes[l.path[0]] += o.chunk(group, l).MetaData.TotalCompressedSize
			}
		}
	}
	return bytes
}
