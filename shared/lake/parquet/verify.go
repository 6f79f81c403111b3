package parquet

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/format"

	"github.com/orrery/orrery/shared/lake"
)

// Verify reads a whole object back and says what it holds; Path is left empty. It is an error if a page's checksum
// is wrong or the page does not decode, counts disagree, rows are not in the order of Sort, or lie in more than one
// partition.
func Verify(r io.ReaderAt, size int64) (_ lake.Object, err error) {
	defer contain(&err)
	file, err := openStored(r, size)
	if err != nil {
		return lake.Object{}, err
	}
	object := lake.Object{Rows: file.footer.NumRows, Bytes: size, ColumnBytes: file.columnBytes()}
	if object.Rows == 0 {
		return lake.Object{}, errors.New("object holds no rows")
	}
	var order orderCheck
	for i := range file.footer.RowGroups {
		if err := file.verifyGroup(i, &order); err != nil {
			return lake.Object{}, fmt.Errorf("row group %d: %w", i, err)
		}
	}
	if order.rows != object.Rows {
		return lake.Object{}, fmt.Errorf("the footer says %d rows, there are %d", object.Rows, order.rows)
	}
	object.MinTsMs, object.MaxTsMs = order.first, order.last.TsMs
	object.Partition = lake.PartitionOf(object.MinTsMs)
	if other := lake.PartitionOf(object.MaxTsMs); other != object.Partition {
		return lake.Object{}, fmt.Errorf("rows lie in partitions %s to %s", object.Partition, other)
	}
	return object, nil
}

// places is the columns that say where the rows of a group stand.
type places struct {
	integers [rawLine + 1][]int64 // by leaf
	sources  []string
}

// keep takes in the values of a page, if its leaf says where rows stand.
func (k *places) keep(p *pages) {
	for i := range p.there {
		switch v := p.at(i); p.leaf.number {
		case rawTsMs, rawTsNanos, rawLine:
			k.integers[p.leaf.number] = append(k.integers[p.leaf.number], int64(v.number))
		case rawSource:
			k.sources = append(k.sources, v.text())
		default:
			return
		}
	}
}

// verifyGroup decodes every page of a row group.
func (s *stored) verifyGroup(group int, order *orderCheck) error {
	var all places
	room := &pageRoom{}
	last := pages{room: room, brief: true}
	for i := range leaves {
		p := &last
		if i == rawSource {
			p = &pages{room: room} // the sources are kept
		}
		if err := s.verifyChunk(group, &leaves[i], p, &all); err != nil {
			return fmt.Errorf("column %s: %w", leaves[i].path, err)
		}
	}
	return order.add(&all)
}

// verifyChunk decodes every page of a column and compares what they hold with footer and page index.
func (s *stored) verifyChunk(group int, l *leaf, p *pages, all *places) error {
	if err := s.begin(p, group, l); err != nil {
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
		rows = append(rows, p.rows())
		values += int64(p.count)
		all.keep(p)
	}
	meta := &s.footer.RowGroups[group].Columns[l.number].MetaData
	if values != meta.NumValues {
		return fmt.Errorf("%d values instead of %d", values, meta.NumValues)
	}
	index, err := s.pageIndex(group, l)
	if err != nil {
		return err
	}
	return verifyIndex(index, meta, rows, s.footer.RowGroups[group].NumRows)
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

// orderCheck looks at the place of every row.
type orderCheck struct {
	rows  int64
	first int64 // ts_ms of the first row
	last  lake.Row
}

func (o *orderCheck) add(all *places) error {
	times, nanos, lines := all.integers[rawTsMs], all.integers[rawTsNanos], all.integers[rawLine]
	for i := range times {
		row := lake.Row{TsMs: times[i], TsNanos: nanos[i], Source: all.sources[i], Line: lines[i]}
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

func (s *stored) columnBytes() map[string]int64 {
	bytes := make(map[string]int64, len(lake.Columns))
	for _, group := range s.footer.RowGroups {
		for i := range group.Columns {
			meta := &group.Columns[i].MetaData
			bytes[meta.PathInSchema[0]] += meta.TotalCompressedSize
		}
	}
	return bytes
}
