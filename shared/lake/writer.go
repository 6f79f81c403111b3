package lake

import (
	"fmt"
	"io"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

const (
	// RowsPerGroup is how many rows a row group holds. Dictionaries repeat in every group, so large groups are
	// small files; 122,880 is also DuckDB's unit of parallel work.
	RowsPerGroup = 122_880

	// groupBytes is how much a row group may hold in memory, its dictionaries included, before it is written however
	// few its rows are. Ordinary groups stay far below; records of many kilobytes would pile up otherwise.
	groupBytes = 32 << 20
	// stepBytes is how many bytes of rows are added before the size is looked at again.
	stepBytes = 1 << 20

	// SchemaVersion is raised when a column changes its meaning; it stands in every object's metadata.
	SchemaVersion = 1

	versionKey = "orrery.schema_version"
	writerName = "orrery"
)

// Writer writes one Parquet object. Rows must come in the order of Sort and from one partition; Verify checks
// both, the writer does not.
type Writer struct {
	out     *parquet.GenericWriter[Row]
	flushed int64 // size of the object up to the last whole group
}

// NewWriter makes a writer of one object to w. The object is whole only after Close.
func NewWriter(w io.Writer) *Writer { return newWriter(w, RowsPerGroup) }

func newWriter(w io.Writer, rowsPerGroup int64) *Writer {
	return &Writer{out: parquet.NewGenericWriter[Row](w,
		parquet.CreatedBy(writerName, strconv.Itoa(SchemaVersion), ""),
		parquet.KeyValueMetadata(versionKey, strconv.Itoa(SchemaVersion)),
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}),
		parquet.MaxRowsPerRowGroup(rowsPerGroup),
		// Integers without an encoding of their own: parquet-go knows no tag for it on pointers.
		parquet.DefaultEncodingFor(parquet.Int64, &parquet.DeltaBinaryPacked),
		parquet.DataPageVersion(1),
		parquet.DataPageStatistics(true),
		parquet.SortingWriterConfig(parquet.SortingColumns(parquet.Ascending("ts_ms"))),
		parquet.BloomFilters(
			parquet.SplitBlockFilter(10, "request_id"),
			parquet.SplitBlockFilter(10, "ip"),
			parquet.SplitBlockFilter(10, "session"),
		),
	)}
}

// Write appends rows.
func (w *Writer) Write(rows []Row) error {
	for len(rows) > 0 {
		n, size := 0, int64(0)
		for ; n < len(rows) && size < stepBytes; n++ {
			size += rows[n].Memory()
		}
		if _, err := w.out.Write(rows[:n]); err != nil {
			return fmt.Errorf("write parquet rows: %w", err)
		}
		rows = rows[n:]
		if err := w.endGroup(); err != nil {
			return err
		}
	}
	return nil
}

// WriteRaw appends rows read as they are; what they become does not differ from what Write makes of them.
func (w *Writer) WriteRaw(rows []Raw) error {
	for len(rows) > 0 {
		n, size := 0, int64(0)
		for ; n < len(rows) && size < stepBytes; n++ {
			size += RawMemory(rows[n])
		}
		if _, err := w.out.WriteRows(rows[:n]); err != nil {
			return fmt.Errorf("write parquet rows: %w", err)
		}
		rows = rows[n:]
		if err := w.endGroup(); err != nil {
			return err
		}
	}
	return nil
}

// endGroup ends the row group if it holds as much as a group may.
func (w *Writer) endGroup() error {
	if w.out.Size()-w.flushed < groupBytes {
		return nil
	}
	if err := w.out.Flush(); err != nil {
		return fmt.Errorf("write row group: %w", err)
	}
	w.flushed = w.out.Size()
	return nil
}

// Close writes the footer. It does not close the underlying writer.
func (w *Writer) Close() error {
	if err := w.out.Close(); err != nil {
		return fmt.Errorf("write parquet footer: %w", err)
	}
	return nil
}
