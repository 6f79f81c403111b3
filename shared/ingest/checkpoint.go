package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/orrery/orrery/shared/lake"
)

// Checkpoints say when an import saves its progress, and where it finds that of an interrupted import of its source.
type Checkpoints struct {
	Every int64 // bytes of text between two checkpoints; 0 for none
	// Unfinished is a directory with a directory of each source of which an import was interrupted, which was the
	// staging directory of that import. An import of the source removes it, whether it can continue from there or not.
	Unfinished string
	// Saved is called after each checkpoint. It makes the names of the files in the staging directory durable.
	Saved func(staging string) error
}

// CheckpointBytes is the number of bytes of text after which an import into a data directory saves its progress.
const CheckpointBytes = 512 << 20

const (
	// checkpointFile is the file of the latest checkpoint in a staging directory.
	checkpointFile = "checkpoint.json"
	// checkpointForm is the version of that file.
	checkpointForm = 1
	// checkpointHours is the maximum number of hours that get an object each at a checkpoint. The rows of more hours
	// become a sorted run, because the objects would be very small.
	checkpointHours = 48
)

// checkpoint is the progress of an import at the end of a batch. All rows up to there are in files of the staging
// directory, which are complete and synced. It has the state of a pipeline that an import needs to continue there. The
// objects are the same, byte for byte, as those of an import that was not interrupted.
type checkpoint struct {
	Form   int
	Source string
	Of     string // what determines the objects, besides the text; see pipeline.determined

	Length int64  // bytes from the beginning of the source
	Sum    []byte // of those bytes
	Lines  int64  // in those bytes

	Parts    int
	Spilled  bool
	Objects  []lake.Object
	Runs     []string
	Hours    []lake.Partition // every hour of the new lines
	Rejected int64            // bytes of the file of rejected lines
	Unsaved  int64            // rejected lines that are not in it
	Has      essentialSet
	Judged   bool
	Early    []earlyRecord // records that have yet to be looked for in the lake
	Report   Report

	waits int // number of files that are not complete
}

// determined returns what determines the objects of the import, besides the text. An import continues from a checkpoint
// only if it is the same.
func (p *pipeline) determined(at position) string {
	var databases []string
	for _, file := range p.options.GeoIP {
		database := file
		if info, err := os.Stat(file); err == nil { // it may be gone since it was opened
			database += fmt.Sprintf(" %d %d", info.Size(), info.ModTime().UnixNano())
		}
		databases = append(databases, database)
	}
	return fmt.Sprintf("rules %d schema %d source %q import %d from %d format %q settings %q databases %q horizon %s "+
		"times %d to %d",
		Rules, lake.SchemaVersion(), p.entry.Source, p.entry.Generation, at.base.Length, p.format.Name(),
		p.options.settings(), databases, p.options.Horizon,
		p.options.From.UnixMilli(), p.options.Until.UnixMilli())
}

// UnfinishedIn returns the source whose import has saved a checkpoint in a staging directory, or "".
func UnfinishedIn(staging string) (source string, err error) {
	c, err := readCheckpoint(staging)
	if c == nil {
		return "", err
	}
	return c.Source, nil
}

// readCheckpoint reads the checkpoint in a directory. It returns nil if there is none that this program can read.
func readCheckpoint(dir string) (*checkpoint, error) {
	raw, err := os.ReadFile(filepath.Join(dir, checkpointFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read checkpoint: %w", err)
	}
	var c checkpoint
	if json.Unmarshal(raw, &c) != nil || c.Form != checkpointForm {
		return nil, nil //nolint:nilerr // the import begins anew
	}
	return &c, nil
}

// reach is called after the last batch before a checkpoint. It queues all rows in memory. When they are written, wrote
// saves the checkpoint. If the files of the checkpoint before are not complete yet, that one will be saved instead.
func (p *pipeline) reach(at sourcePrefix) error {
	p.queueComplete()
	if len(p.buffer.hours) > checkpointHours {
		p.spilled = true
	}
	p.drain()
	if p.saving != nil {
		return nil
	}
	report := p.report
	report.Rejected, report.Misfits = maps.Clone(report.Rejected), maps.Clone(report.Misfits)
	p.saving = &checkpoint{
		Form: checkpointForm, Source: p.entry.Source, Of: p.of, Length: at.length, Sum: at.sum[:], Lines: at.lines,
		Parts: p.parts, Spilled: p.spilled, Objects: slices.Clone(p.objects), Runs: slices.Clone(p.runs),
		Hours: slices.Sorted(maps.Keys(p.buffer.seen)), Rejected: p.bad.size, Unsaved: p.bad.unsaved,
		Has: p.has, Judged: p.judged, Report: report,
		waits: len(p.queue) + p.running,
	}
	if p.overlap.objects != nil {
		p.saving.Early = slices.Clone(p.overlap.first)
	}
	return p.save()
}

// wrote adds a completed job to the checkpoint that waits for it, if any.
func (p *pipeline) wrote(w *completion) error {
	c := p.saving
	if c == nil || w.job.part >= c.Parts {
		return nil
	}
	c.waits--
	if w.job.run {
		c.Runs = append(c.Runs, w.job.name)
	} else {
		c.Objects = append(c.Objects, w.object)
	}
	return p.save()
}

// save saves the checkpoint when its files are complete.
func (p *pipeline) save() error {
	if p.saving.waits > 0 {
		return nil
	}
	if err := p.bad.sync(); err != nil {
		return err
	}
	raw, err := json.Marshal(p.saving)
	if err != nil {
		return fmt.Errorf("save checkpoint: %w", err)
	}
	p.saving = nil
	path := filepath.Join(p.staging, checkpointFile)
	if err := writeSynced(path+".tmp", raw); err != nil {
		return fmt.Errorf("save checkpoint: %w", err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return fmt.Errorf("save checkpoint: %w", err)
	}
	return p.options.Checkpoints.Saved(p.staging)
}

// writeSynced writes and syncs a file.
func writeSynced(path string, content []byte) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(content); err != nil {
		return err
	}
	return f.Sync()
}

// resume continues from the checkpoint of an interrupted import of the source, if there is one and it fits.
func (p *pipeline) resume(ctx context.Context, at position) error {
	p.of = p.determined(at)
	dir := filepath.Join(p.options.Checkpoints.Unfinished, p.entry.Source)
	c, err := readCheckpoint(dir)
	if err != nil {
		return err
	}
	if c != nil && c.fits(p.of, dir) {
		reached, err := p.lines.skipTo(ctx, c, p.staging)
		if err != nil {
			return err
		}
		if reached {
			if err := p.restore(c, dir, at.base.Lines); err != nil {
				return err
			}
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove unfinished import: %w", err)
	}
	return nil
}

// fits reports whether an import can continue from the checkpoint, if the text is the same: whether the objects are
// determined by the same, and all files are in the directory.
func (c *checkpoint) fits(of, dir string) bool {
	if c.Of != of {
		return false
	}
	for _, o := range c.Objects {
		if info, err := os.Stat(filepath.Join(dir, StagedName(o.Path))); err != nil || info.Size() != o.Bytes {
			return false
		}
	}
	for _, name := range c.Runs {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	info, err := os.Stat(filepath.Join(dir, QuarantineFile))
	return c.Report.RejectedLines() == 0 || err == nil && info.Size() >= c.Rejected
}

// skipTo reads up to a checkpoint. It reports whether the text up to there is that of the checkpoint. If it is not,
// skipTo goes back to where the import begins.
func (r *lineReader) skipTo(ctx context.Context, c *checkpoint, scratch string) (bool, error) {
	if _, seeks := r.in.seeker(); !seeks && r.in.spool != nil {
		return false, nil // the text was rewound once, and cannot be again
	}
	if err := r.in.keep(scratch); err != nil {
		return false, err
	}
	begin := r.length
	n, err := copyContext(ctx, r.sum, r.in, c.Length-begin)
	if err != nil {
		return false, err
	}
	if begin+n == c.Length && bytes.Equal(r.sum.Sum(nil), c.Sum) {
		r.in.forget()
		r.length, r.lines, r.marked, r.joins = c.Length, c.Lines, c.Length, false
		return true, nil
	}
	if err := r.in.rewind(); err != nil {
		return false, err
	}
	r.sum = newPrefixSum()
	_, err = copyContext(ctx, r.sum, r.in, begin)
	return false, err
}

// restore moves the files of a checkpoint to the staging directory, and sets the state of the pipeline to that at the
// checkpoint. from is the number of lines before the import.
func (p *pipeline) restore(c *checkpoint, dir string, from int64) error {
	names := slices.Clone(c.Runs)
	for _, o := range c.Objects {
		names = append(names, StagedName(o.Path))
	}
	if c.Report.RejectedLines() > 0 {
		names = append(names, QuarantineFile)
	}
	for _, name := range append(names, checkpointFile) { // which makes the directory one to continue from
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(p.staging, name)); err != nil {
			return fmt.Errorf("continue import: %w", err)
		}
	}
	p.parts, p.spilled, p.objects, p.runs = c.Parts, c.Spilled, c.Objects, c.Runs
	p.has, p.judged, p.report = c.Has, c.Judged, c.Report
	p.report.Resumed = c.Lines - from
	for _, hour := range c.Hours {
		p.buffer.seen[hour] = struct{}{}
	}
	if p.overlap.objects != nil && p.report.Judged > 0 {
		p.overlap.objects = nil
		if p.options.Cautious && p.report.Overlaps() {
			return overlapping(p.report)
		}
	}
	for _, r := range c.Early {
		p.overlap.first = append(p.overlap.first, r)
		p.overlap.hours[lake.PartitionOf(r.TsMs)] = struct{}{}
	}
	if p.report.RejectedLines() > 0 {
		p.bad.unsaved = c.Unsaved
		return p.bad.open(c.Rejected)
	}
	return nil
}
