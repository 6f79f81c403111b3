package bench

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/lake"
)

// Import holds the figures of importing the data. They are measured once and stored with the data.
type Import struct {
	Records        int64   `json:"records"`
	BytesPerRecord float64 `json:"ndjson_bytes_per_record"`
	PerSecond      float64 `json:"records_per_second"`          // with all cores
	Cores          int     `json:"cores"`                       // of PerSecond
	PerSecondOne   float64 `json:"records_per_second_one_core"` // on a quarter of the records, best of three
	PeakBytes      int64   `json:"peak_memory_bytes,omitempty"` // of the import with all cores
	Objects        int     `json:"objects"`                     // after the import
	Bytes          int64   `json:"bytes"`                       // of these objects
	CompactSeconds float64 `json:"compact_seconds"`             // to merge them to one object per hour
	MeasuredAt     string  `json:"measured_at"`                 // RFC 3339

	Uniform bool `json:"uniform,omitempty"` // Options.Uniform of the data

	Days  int          `json:"days"`            // of the long period; 0: DefaultDays
	Texts []TextImport `json:"texts,omitempty"` // of a quarter of the records as lines of text
	Long  int64        `json:"long_records"`    // records of the long period
	Full  int64        `json:"full_records"`    // records of the full days
	Tail  int64        `json:"tail_records"`    // records of the day with a tail
	Crowd int64        `json:"crowd_records"`   // records of the hour of the crowd

	Hour Compacted `json:"hour_compaction"` // of an hour of many logs
}

// TextImport holds the figures of importing lines of text on one core.
type TextImport struct {
	Name      string  `json:"name"`
	Format    string  `json:"format"`
	PerSecond float64 `json:"lines_per_second"` // best of three
}

// seed is the seed of the records, so that the data is the same everywhere.
const seed = 1

// ensureData creates the data unless the folder has it, and returns the figures of its import. It writes the file of
// the figures after each part, so that after an interruption, or in the folder of an older benchmark, it creates only
// the missing parts. A part that was interrupted continues, unless its figures are measured.
func ensureData(ctx context.Context, o Options) (Import, error) {
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return Import{}, err
	}
	made, err := readImport(o)
	if err != nil {
		return made, err
	}
	if made.Records != 0 && made.Records != int64(o.Records) {
		return Import{}, fmt.Errorf("%s holds a benchmark of %d records, not of %d: choose another folder or remove it",
			o.Dir, made.Records, o.Records)
	}
	if days := cmp.Or(made.Days, DefaultDays); made.Records != 0 && days != o.Days {
		return Import{}, fmt.Errorf("%s holds a benchmark of %d days, not of %d: choose another folder or remove it",
			o.Dir, days, o.Days)
	}
	if made.Records != 0 && made.Uniform != o.Uniform {
		return Import{}, fmt.Errorf("%s holds a benchmark whose keys are drawn by another law: choose another folder or remove it", o.Dir)
	}
	for _, part := range []struct {
		made bool
		make func(ctx context.Context, o Options, temp string, made *Import) error
	}{
		{made.Records != 0, makeDay},
		{len(made.Texts) == len(textFormats), importTexts},
		{made.Long != 0, makeLong},
		{made.Full != 0, makeFullDays},
		{made.Tail != 0, makeTail},
		{made.Crowd != 0, makeCrowd},
		{made.Hour.Objects != 0, compactHour},
	} {
		if part.made {
			continue
		}
		if err := inTemporaryFolder(o, func(temp string) error { return part.make(ctx, o, temp, &made) }); err != nil {
			return Import{}, err
		}
		if err := errors.Join(writeImport(o, made), removeLogs(o)); err != nil {
			return Import{}, err
		}
	}
	return made, nil
}

func inTemporaryFolder(o Options, do func(temp string) error) (err error) {
	temp, err := os.MkdirTemp(o.Dir, ".making-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	return do(temp)
}

// makeDay makes the data of the day and measures its import.
func makeDay(ctx context.Context, o Options, temp string, made *Import) error {
	if err := os.RemoveAll(dataDir(o)); err != nil { // of an interrupted benchmark
		return err
	}
	quarter, whole := filepath.Join(temp, "quarter.ndjson.gz"), filepath.Join(temp, "whole.ndjson.gz")
	sample := quarterOf(o)
	if _, err := writeLog(ctx, o, quarter, o.records(sample, Day), asRecord); err != nil {
		return err
	}
	bytes, err := writeLog(ctx, o, whole, o.records(o.Records, Day), asRecord)
	if err != nil {
		return err
	}
	one, err := importOnOneCore(ctx, o, recordFormat, quarter, filepath.Join(temp, "data"))
	if err != nil {
		return err
	}
	memory := watchMemory()
	all, err := importLog(ctx, o, recordFormat, whole, dataDir(o))
	if err != nil {
		return err
	}
	*made = Import{
		Records: int64(o.Records), BytesPerRecord: float64(bytes) / float64(o.Records),
		PerSecond: perSecond(o.Records, all), Cores: runtime.GOMAXPROCS(0), PerSecondOne: perSecond(sample, one),
		PeakBytes: memory.peak(), Days: o.Days, Uniform: o.Uniform, MeasuredAt: time.Now().UTC().Format(time.RFC3339),
	}
	return compactData(ctx, o, made)
}

// quarterOf returns the number of records that are imported on one core.
func quarterOf(o Options) int { return max(o.Records/4, 1) }

// makeLong makes the data of the long period.
func makeLong(ctx context.Context, o Options, temp string, made *Import) error {
	if err := makeData(ctx, o, temp, longDir(o), o.records(o.Records, o.longStart())); err != nil {
		return err
	}
	made.Long = int64(o.Records)
	return nil
}

// records describes records from a time until the end of the day.
func (o Options) records(n int, from time.Time) gen.Options {
	return gen.Options{Records: n, Seed: seed, From: from, To: Day.Add(24 * time.Hour), Uniform: o.Uniform}
}

// makeData makes the data of a folder: compacted records. The log of the records stays beside the folder until the data
// is complete, so that after an interruption the import of the log continues.
func makeData(ctx context.Context, o Options, temp, dir string, of gen.Options) (err error) {
	whole := fmt.Sprintf("%s-%d-%d%s", dir, of.From.Unix(), of.Records, logSuffix)
	if _, err := os.Stat(whole); errors.Is(err, fs.ErrNotExist) {
		if err := os.RemoveAll(dir); err != nil { // of an older benchmark
			return err
		}
		generated := filepath.Join(temp, filepath.Base(whole))
		if _, err := writeLog(ctx, o, generated, of, asRecord); err != nil {
			return err
		}
		if err := os.Rename(generated, whole); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	if _, err := importLog(ctx, o, recordFormat, whole, dir); err != nil {
		return err
	}
	product, err := o.Open(ctx, dir)
	if err != nil {
		return fmt.Errorf("open the data: %w", err)
	}
	defer func() { err = errors.Join(err, product.Close()) }()
	if product.Compact == nil {
		return nil
	}
	announce(o, "compacting "+filepath.Base(dir))
	_, err = compact(ctx, product)
	return err
}

// logSuffix is the end of the names of the logs of data that is not complete.
const logSuffix = ".ndjson.gz"

// removeLogs removes the logs of data that is complete.
func removeLogs(o Options) error {
	logs, err := filepath.Glob(filepath.Join(o.Dir, "*"+logSuffix))
	for _, path := range logs {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// compactData records the imported objects and compacts them.
func compactData(ctx context.Context, o Options, made *Import) (err error) {
	product, err := o.Open(ctx, dataDir(o))
	if err != nil {
		return fmt.Errorf("open the data: %w", err)
	}
	defer func() { err = errors.Join(err, product.Close()) }()
	imported, err := storedIn(ctx, product.Index, Day)
	if err != nil {
		return err
	}
	made.Objects, made.Bytes = len(imported.objects), imported.bytes
	if product.Compact == nil {
		return nil
	}
	announce(o, "compacting "+filepath.Base(dataDir(o)))
	began := time.Now()
	if _, err := compact(ctx, product); err != nil {
		return err
	}
	made.CompactSeconds = time.Since(began).Seconds()
	return nil
}

func perSecond(records int, d time.Duration) float64 {
	return math.Round(float64(records) / d.Seconds())
}

// writeLog writes records, each as a line in a format, compressed with gzip. It returns the number of bytes before
// compression.
func writeLog(ctx context.Context, o Options, path string, of gen.Options, line lineOf) (bytes int64, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	compressed, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
	if err != nil {
		return 0, err
	}
	bar := newBar(o, of.Records, fmt.Sprintf("generating %d records in %s", of.Records, filepath.Base(path)))
	buffered := bufio.NewWriterSize(compressed, 1<<20)
	source := gen.New(of)
	var record, text []byte
	for n := 0; ; n++ {
		var more bool
		if record, more = source.Next(record[:0]); !more {
			break
		}
		if text, err = line(text[:0], record); err != nil {
			return 0, err
		}
		text = append(text, '\n')
		bytes += int64(len(text))
		if _, err := buffered.Write(text); err != nil {
			return 0, err
		}
		if n%1000 == 0 {
			if err := errors.Join(ctx.Err(), bar.Set(n)); err != nil {
				return 0, err
			}
		}
	}
	return bytes, errors.Join(bar.Finish(), buffered.Flush(), compressed.Close(), f.Sync())
}

// importsOnOneCore is how often a quarter of the records is imported if there are goals. The fastest import counts.
const importsOnOneCore = 3

// importOnOneCore measures imports into temporary folders and returns the fastest.
func importOnOneCore(
	ctx context.Context, o Options, format, path, dir string,
) (quickest time.Duration, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	imports := importsOnOneCore
	if o.Records != FullRecords {
		imports = 1
	}
	for i := range imports {
		took, err := importLog(ctx, o, format, path, filepath.Join(dir, strconv.Itoa(i)))
		if err != nil {
			return 0, err
		}
		if i == 0 || took < quickest {
			quickest = took
		}
	}
	return quickest, nil
}

// importLog measures one import, from opening the log until the objects are verified and published.
func importLog(ctx context.Context, o Options, format, path, dir string) (took time.Duration, err error) {
	product, err := o.Open(ctx, dir)
	if err != nil {
		return 0, fmt.Errorf("open %s: %w", dir, err)
	}
	defer func() { err = errors.Join(err, product.Close()) }()
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	what := fmt.Sprintf("importing %s with %d threads", filepath.Base(path), runtime.GOMAXPROCS(0))
	bar := newBar(o, int(info.Size()), what)
	began := time.Now()
	if err := product.Import(ctx, "bench", format, shownFile{f, bar}); err != nil {
		return 0, fmt.Errorf("import %s: %w", path, err)
	}
	return time.Since(began), bar.Finish()
}

func importFile(o Options) string { return filepath.Join(o.Dir, "import.json") }

// readImport reads the figures of the import. They are zero if the data is missing or incomplete.
func readImport(o Options) (Import, error) {
	text, err := os.ReadFile(importFile(o))
	if errors.Is(err, fs.ErrNotExist) {
		return Import{}, nil
	}
	if err != nil {
		return Import{}, err
	}
	var kept Import
	if err := json.Unmarshal(text, &kept); err != nil {
		return Import{}, fmt.Errorf("read %s: %w", importFile(o), err)
	}
	return kept, nil
}

// writeImport writes the figures of the import. They mark the parts of the data that are complete.
func writeImport(o Options, made Import) error {
	text, err := json.MarshalIndent(made, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(importFile(o), append(text, '\n'), 0o644)
}

// stored describes the objects in the lake.
type stored struct {
	objects []lake.Object
	rows    int64
	bytes   int64
}

// storedIn lists the objects from a time until the end of the day.
func storedIn(ctx context.Context, index engine.Index, from time.Time) (stored, error) {
	last := lake.PartitionOf(Day.Add(24*time.Hour).UnixMilli() - 1)
	objects, err := index.Objects(ctx, lake.PartitionOf(from.UnixMilli()), last)
	if err != nil {
		return stored{}, fmt.Errorf("list the objects: %w", err)
	}
	s := stored{objects: objects}
	for _, object := range objects {
		s.rows += object.Rows
		s.bytes += object.Bytes
	}
	if s.rows == 0 {
		return stored{}, errors.New("the lake is empty after the import")
	}
	return s, nil
}

// paths returns the paths of the objects of a range of partitions.
func (s stored) paths(from, to lake.Partition) []string {
	var list []string
	for _, object := range s.objects {
		if object.Partition >= from && object.Partition <= to {
			list = append(list, object.Path)
		}
	}
	return list
}
