package lake

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// Verify reads a whole object back and says what it holds; Path is left empty. It is an error if a page does not
// decode, counts disagree, rows are not in the order of Sort, or lie in more than one partition.
func Verify(r io.ReaderAt, size int64) (Object, error) {
	file, err := parquet.OpenFile(r, size, parquet.SkipBloomFilters(true))
	if err != nil {
		return Object{}, fmt.Errorf("open parquet object: %w", err)
	}
	if file.NumRows() == 0 {
		return Object{}, errors.New("object holds no rows")
	}
	object := Object{Rows: file.NumRows(), Bytes: size, ColumnBytes: columnBytes(file)}
	reader := parquet.NewGenericReader[Row](file)
	defer func() { _ = reader.Close() }() // only buffers
	rows := make([]Row, 256)
	var count int64
	var last Row
	for {
		clear(rows)
		n, err := reader.Read(rows)
		for i := range rows[:n] {
			if count > 0 && Compare(&last, &rows[i]) > 0 {
				return Object{}, fmt.Errorf("row %d is out of order", count)
			}
			if count == 0 {
				object.MinTsMs = rows[i].TsMs
			}
			last = rows[i]
			count++
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return Object{}, fmt.Errorf("read row %d: %w", count, err)
		}
	}
	if count != object.Rows {
		return Object{}, fmt.Errorf("footer says %d rows, found %d", object.Rows, count)
	}
	object.MaxTsMs = last.TsMs
	object.Partition = PartitionOf(object.MinTsMs)
	if other := PartitionOf(object.MaxTsMs); other != object.Partition {
		return Object{}, fmt.Errorf("rows lie in partitions %s to %s", object.Partition, other)
	}
	return object, nil
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
