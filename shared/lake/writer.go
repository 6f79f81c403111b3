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

	// SchemaVersion is raised when a column changes its meaning; it stands in every object's metadata.
	SchemaVersion = 1

	versionKey = "orrery.schema_version"
	writerName = "orrery"
)

// Writer writes one Parquet object. Rows must come in the order of Sort and from one partition; Verify checks
// both, the writer does not.
type Writer struct {
	out *parquet.GenericWriter[Row]
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
	if _, err := w.out.Write(rows); err != nil {
		return fmt.Errorf("write parquet rows: %w", err)
	}
	return nil
}

// Close writes the footer. It does not close the underlying writer.
func (w *Writer) Close() error {
	if err := w.out.Close(); err != nil {
		return fmt.Errorf("write parquet footer: %w", err)
	}
	return nil
}
