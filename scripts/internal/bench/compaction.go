package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/orrery/orrery/shared/gen"
)

// Compacted is work over records that are imported: the merging of the objects of hours, or the writing of rollups.
type Compacted struct {
	Objects    int     `json:"objects,omitempty"` // that were merged
	Records    int64   `json:"records"`
	CPUSeconds float64 `json:"cpu_seconds"`
	PeakBytes  int64   `json:"peak_memory_bytes,omitempty"`
}

// compactedPerSecond is the goal of compaction and rollups together, in records per second of processor time.
const compactedPerSecond = 25_000

// hourLogs is the number of logs with records of the hour of compactHour. Each has an object.
const hourLogs = 64

// compact merges the objects of each hour.
func compact(ctx context.Context, product Product) (c Compacted, err error) {
	memory, before := watchMemory(), cpuTime()
	if c.Records, err = product.Compact(ctx); err != nil {
		return c, fmt.Errorf("compact the data: %w", err)
	}
	c.CPUSeconds, c.PeakBytes = (cpuTime() - before).Seconds(), memory.peak()
	return c, nil
}

// compactHour measures the compaction of an hour of many logs, with clients that come once.
func compactHour(ctx context.Context, o Options, temp string, made *Import) (err error) {
	made.Hour.Objects = hourLogs
	product, err := o.Open(ctx, filepath.Join(temp, "hour"))
	if err != nil {
		return fmt.Errorf("open the data: %w", err)
	}
	defer func() { err = errors.Join(err, product.Close()) }()
	if product.Compact == nil {
		return nil
	}
	announce(o, fmt.Sprintf("importing and compacting an hour of %d logs", hourLogs))
	quiet := o
	quiet.Progress = nil
	quiet = quiet.withDefaults()
	path := filepath.Join(temp, "hour"+logSuffix)
	for i := range uint64(hourLogs) {
		of := gen.Options{
			Records: max(o.Records/80, 1), Seed: seed + i, From: Day, To: Day.Add(time.Hour), Tail: 20,
		}
		if _, err := writeLog(ctx, quiet, path, of, asRecord); err != nil {
			return err
		}
		if err := importFrom(ctx, product, fmt.Sprintf("log-%d", i), path); err != nil {
			return err
		}
	}
	made.Hour, err = compact(ctx, product)
	made.Hour.Objects = hourLogs
	return err
}

func importFrom(ctx context.Context, product Product, name, path string) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := product.Import(ctx, name, recordFormat, file); err != nil {
		return fmt.Errorf("import %s: %w", path, err)
	}
	return nil
}

// compactionRows has the compaction of the hour together with the writing of rollups of full days.
func (r Report) compactionRows() []Row {
	merging, rolling := r.Import.Hour, r.Week.RollUp
	if merging.Records == 0 || rolling.Records == 0 {
		return nil
	}
	seconds := merging.CPUSeconds / float64(merging.Records)
	perSecond := 1 / (seconds + rolling.CPUSeconds/float64(rolling.Records))
	ours := fmt.Sprintf("%.0f records/s of processor time, %.0f without rollups", perSecond, 1/seconds)
	if merging.PeakBytes > 0 {
		ours += fmt.Sprintf(", %.0f MB", mb(merging.PeakBytes))
	}
	return []Row{{
		What: fmt.Sprintf("compaction of an hour of %d logs, with rollups", hourLogs), Ours: ours,
		Goal: fmt.Sprintf("≥ %d", compactedPerSecond),
		Met:  r.met(perSecond >= compactedPerSecond),
	}}
}
