package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/manifest"
	"github.com/orrery/orrery/shared/record"
)

// Options says how to read a log.
type Options struct {
	Format   string    // a source's name; "" or "auto" to tell it from the first lines
	Defaults []Default // for fields that a record lacks
	Progress func(Progress)
	Memory   int64 // about how many bytes of rows wait to be written; 0 for DefaultMemory
	Workers  int   // goroutines that decode and write; 0 for DefaultWorkers
}

const (
	// DefaultMemory keeps the process under 768 MB with two workers; see README.md.
	DefaultMemory = 96 << 20
	// DefaultWorkers is how many goroutines decode and write.
	DefaultWorkers = 2
	// maxPartitions is in how many hours the records of one import may lie, more than two years: every hour becomes a
	// file, so that a log with random times would make millions.
	maxPartitions = 20_000
)

// Progress is how far an import has come.
type Progress struct {
	Bytes   int64 // of the input as given, compressed or not
	Records int64
}

// Report is what an import did.
type Report struct {
	Name     string
	Source   string // id in the ledger; "" when the input was empty
	Format   string
	Records  int64                 // new records
	Rejected map[record.Code]int64 // new lines that are no records, by reason
	Blank    int64                 // new lines without text
	Known    int64                 // lines imported before
	Invalid  int64                 // records with text that is no Unicode: U+FFFD stands for it, the original is kept

	Partitions int
	Objects    int
	Bytes      int64  // decompressed bytes of new lines
	Quarantine string // file with the rejected lines; "" when there are none
	Elapsed    time.Duration
}

// RejectedLines is how many lines were rejected for any reason.
func (r Report) RejectedLines() int64 {
	var n int64
	for _, count := range r.Rejected {
		n += count
	}
	return n
}

// Import reads a log into the lake. What was imported before is left out: the same log again changes nothing, a grown
// one adds its new lines. When it returns, either all of it is visible to readers, or nothing.
//
// An error of kind fault.Invalid means that the format or a default is wrong. Rejected lines are no error.
func (s *Store) Import(ctx context.Context, name string, r io.Reader, options Options) (Report, error) {
	began := s.now()
	if s.locked != nil {
		return Report{}, s.locked
	}
	if err := checkDefaults(options.Defaults); err != nil {
		return Report{}, err
	}
	report, err := s.importLocked(ctx, name, r, options)
	if err != nil {
		return Report{}, fmt.Errorf("import %s: %w", name, err)
	}
	report.Elapsed = s.now().Sub(began)
	return report, nil
}

// importLocked holds the lock that imports of one source share, and its staging directory.
func (s *Store) importLocked(ctx context.Context, name string, r io.Reader, options Options) (report Report, err error) {
	in, err := openInput(r)
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	head, err := in.head()
	if err != nil || len(head) == 0 {
		return Report{Name: name}, err
	}
	key := lockKey(head)
	lock, err := manifest.Acquire(ctx, s.lockPath(key))
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	staging, err := s.makeStaging(ctx, key)
	if err != nil {
		return Report{}, err
	}
	report, err = s.importStaged(ctx, name, in, head, key, options)
	return report, errors.Join(err, os.RemoveAll(staging))
}

// makeStaging makes the directory for objects in the making, empty. Only the holder of the lock may; what a dead
// process had committed there is published first.
func (s *Store) makeStaging(ctx context.Context, key string) (string, error) {
	update, err := s.begin(ctx)
	if err != nil {
		return "", err
	}
	if err := update.Close(); err != nil {
		return "", err
	}
	staging := filepath.Join(s.stagingRoot(), key)
	if err := errors.Join(os.RemoveAll(staging), os.MkdirAll(staging, 0o755)); err != nil {
		return "", fmt.Errorf("make staging directory: %w", err)
	}
	return staging, nil
}

// importStaged is the whole import, step by step.
func (s *Store) importStaged(ctx context.Context, name string, in *input, head []byte, key string, options Options) (Report, error) {
	if len(head) < headBytes { // all of it
		older, err := s.ledger.beginning(ctx, key, head)
		if err != nil {
			return Report{}, err
		}
		if older != "" {
			return Report{Name: name, Source: older, Known: countLines(head)}, nil
		}
	}
	at, err := s.findPosition(ctx, in, filepath.Join(s.stagingRoot(), key), head)
	if err != nil {
		return Report{}, err
	}
	source, err := chooseSource(options.Format, head, at)
	if err != nil {
		return Report{}, err
	}
	e, err := s.newEntry(ctx, name, head, key, source, at)
	if err != nil {
		return Report{}, err
	}
	p := newPipeline(in, at, e, source, filepath.Join(s.stagingRoot(), key), options)
	if err := p.run(ctx); err != nil {
		return Report{}, err
	}
	report := p.report
	report.Name, report.Source, report.Format, report.Known = name, e.source, source.Name(), at.base.lines
	if report.RejectedLines() > 0 {
		report.Quarantine = s.quarantinePath(e.source, e.generation)
	}
	return report, s.finish(ctx, p, e, at)
}

// countLines counts lines, of which the last need not be ended.
func countLines(text []byte) int64 {
	n := int64(bytes.Count(text, []byte{'\n'}))
	if !bytes.HasSuffix(text, []byte{'\n'}) {
		n++
	}
	return n
}

// chooseSource tells the format: as asked, as before, or as the first lines look.
func chooseSource(format string, head []byte, at position) (Source, error) {
	switch {
	case format != "" && format != "auto":
		return SourceByName(format)
	case !at.fresh:
		return SourceByName(at.base.format)
	}
	return detect(head)
}

// newEntry begins the ledger's entry: the next import of the source that the input continues, or the first of a new
// one. An input that goes another way than a known source from some point on is a new source.
func (s *Store) newEntry(ctx context.Context, name string, head []byte, key string, source Source, at position) (entry, error) {
	e := entry{name: name, format: source.Name(), generation: 1, staging: key, at: s.now()}
	if !at.fresh && at.base.latest {
		e.source, e.generation, e.parts = at.base.source, at.base.generation+1, at.base.parts
		return e, nil
	}
	id, err := s.sourceID(ctx, head)
	e.source, e.head = id, head
	return e, err
}

// finish commits what the pipeline has staged and publishes it. From the commit on it is not interrupted: whoever
// comes next would have to finish it.
func (s *Store) finish(ctx context.Context, p *pipeline, e entry, at position) error {
	reached := p.reached()
	e.length, e.sum, e.lines = reached.length, reached.sum, reached.lines
	e.terminated = reached == p.lines.whole
	e.records, e.rejected = p.report.Records, p.report.RejectedLines()
	e.objects, e.parts = p.objects, p.parts
	if e.head != nil {
		e.head = e.head[:min(int64(len(e.head)), e.length)]
	}
	nothingNew := e.length == at.base.length || at.fresh && e.records == 0
	if nothingNew {
		if e.rejected == 0 {
			return nil
		}
		return s.placeQuarantine(p.staging, e.source, e.generation, e.rejected)
	}
	s.step("import: before the commit point")
	update, err := s.begin(ctx)
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	if err = s.ledger.commit(ctx, e); err == nil {
		s.step("import: after the commit point")
		err = s.publish(ctx, update, e)
	}
	return errors.Join(err, update.Close())
}

// countPartitions is how many hours the objects lie in.
func countPartitions(objects []lake.Object) int {
	hours := map[lake.Partition]struct{}{}
	for _, o := range objects {
		hours[o.Partition] = struct{}{}
	}
	return len(hours)
}

// Reasons lists the codes of rejected lines, in alphabetical order.
func (r Report) Reasons() []record.Code { return slices.Sorted(maps.Keys(r.Rejected)) }
