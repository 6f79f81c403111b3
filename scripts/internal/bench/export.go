package bench

import (
	"bytes"
	"context"
	"fmt"
	"time"
)

// Export holds the figures of printing all records of the day as CSV.
type Export struct {
	Records   int64   `json:"records"` // printed
	Bytes     int64   `json:"bytes"`
	Seconds   float64 `json:"seconds"`
	PeakBytes int64   `json:"peak_memory_bytes,omitempty"`
}

// exportAll measures the export of the day.
func exportAll(ctx context.Context, o Options, day opened) (Export, error) {
	bar := newBar(o, int(day.stored.rows), "exporting")
	lines := lineCounter{show: bar.Set64}
	memory := watchMemory()
	began := time.Now()
	if err := day.product.Export(ctx, period(Day, 24*time.Hour), &lines); err != nil {
		return Export{}, fmt.Errorf("export the day: %w", err)
	}
	took := time.Since(began)
	e := Export{Records: lines.count - 1, Bytes: lines.bytes, Seconds: took.Seconds(), PeakBytes: memory.peak()}
	return e, bar.Finish()
}

// lineCounter counts the lines of a table in CSV. Cells of generated records contain no line ends.
type lineCounter struct {
	count, bytes int64
	show         func(int64) error
}

func (c *lineCounter) Write(text []byte) (int, error) {
	c.count += int64(bytes.Count(text, []byte{'\n'}))
	c.bytes += int64(len(text))
	return len(text), c.show(c.count)
}
