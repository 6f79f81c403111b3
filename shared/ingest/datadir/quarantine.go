package datadir

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filelock"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/ledger"
)

// quarantineAge is how long rejected lines are kept.
const quarantineAge = 90 * 24 * time.Hour

const (
	temporary    = ".new-"        // begins the names of files that are being written
	temporaryAge = 24 * time.Hour // from which on no process is writing them
)

// quarantinePath returns the file of the rejected lines of an import: <source>.ndjson for the first import of a source,
// and <source>.<generation>.ndjson for the later ones.
func (s *Store) quarantinePath(source string, generation int) string {
	name := source + ".ndjson"
	if generation > 1 {
		name = fmt.Sprintf("%s.%d.ndjson", source, generation)
	}
	return filepath.Join(s.quarantineDir(), name)
}

// placeQuarantine moves the file of the rejected lines of an import into place. If there are none, it removes the file
// that an earlier import of the same lines may have left.
func (s *Store) placeQuarantine(staging, source string, generation int, rejected int64) error {
	path := s.quarantinePath(source, generation)
	if rejected > 0 {
		return moveDurably(filepath.Join(staging, ingest.QuarantineFile), path)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove quarantine: %w", err)
	}
	return nil
}

// quarantineFile is a file of rejected lines, of one import.
type quarantineFile struct {
	path       string
	source     string
	generation int
	size       int64
	changed    time.Time
}

// quarantineFiles returns the files of rejected lines in the order of the imports, those of one source or, for "", all.
func (s *Store) quarantineFiles(source string) ([]quarantineFile, error) {
	entries, err := os.ReadDir(s.quarantineDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list quarantine: %w", err)
	}
	var files []quarantineFile
	for _, e := range entries {
		stem, ok := strings.CutSuffix(e.Name(), ".ndjson")
		id, number, later := strings.Cut(stem, ".")
		if !ok || !e.Type().IsRegular() || source != "" && id != source {
			continue
		}
		generation := 1
		if later {
			if generation, err = strconv.Atoi(number); err != nil {
				continue
			}
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list quarantine: %w", err)
		}
		path := filepath.Join(s.quarantineDir(), e.Name())
		files = append(files, quarantineFile{path, id, generation, info.Size(), info.ModTime()})
	}
	slices.SortFunc(files, func(a, b quarantineFile) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.generation, b.generation))
	})
	return files, nil
}

// quarantined returns the size of the files of a source.
func (s *Store) quarantined(source string) (size int64, err error) {
	files, err := s.quarantineFiles(source)
	for _, f := range files {
		size += f.size
	}
	return size, err
}

// pruneQuarantine removes the files that have not changed for quarantineAge, and returns their number.
func (s *Store) pruneQuarantine() (removed int, err error) {
	files, err := s.quarantineFiles("")
	if err != nil {
		return 0, err
	}
	for _, f := range files {
		if s.now().Sub(f.changed) < quarantineAge {
			continue
		}
		if err := removeIfThere(f.path); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, s.removeTemporary()
}

// removeTemporary removes the temporary files of processes that have died.
func (s *Store) removeTemporary() error {
	files, err := filepath.Glob(filepath.Join(s.quarantineDir(), temporary+"*"))
	for i := 0; err == nil && i < len(files); i++ {
		info, failed := os.Stat(files[i])
		if failed == nil && s.now().Sub(info.ModTime()) > temporaryAge {
			err = removeIfThere(files[i])
		}
	}
	return err
}

// removeQuarantine removes the files of the rejected lines of a source.
func (s *Store) removeQuarantine(source string) error {
	files, err := s.quarantineFiles(source)
	for i := 0; err == nil && i < len(files); i++ {
		err = removeIfThere(files[i].path)
	}
	return err
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove quarantine: %w", err)
	}
	return nil
}

// dropCompleted removes the lines from the quarantine of the import before e that e has read again: lines after those
// that the ledger recorded, because the log ended before their ends.
func (s *Store) dropCompleted(ctx context.Context, e ledger.Entry) error {
	if e.Generation == 1 {
		return nil
	}
	path := s.quarantinePath(e.Source, e.Generation-1)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	read, err := s.ledger.LinesAfter(ctx, e.Source, e.Generation-1)
	if err != nil {
		return err
	}
	return rewriteQuarantine(path, func(line ingest.RejectedLine, form []byte) []byte {
		if line.Line > read {
			return nil
		}
		return form
	})
}

// rewriteQuarantine replaces each line of a file by the JSON form that change returns, or removes it for nil. It removes
// a file without lines.
func rewriteQuarantine(path string, change func(line ingest.RejectedLine, form []byte) []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), temporary+"*")
	if err != nil {
		return fmt.Errorf("write quarantine: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	kept, changed := 0, false
	err = ingest.EachRejected(path, func(line ingest.RejectedLine, form []byte) error {
		text := change(line, form)
		changed = changed || !bytes.Equal(text, form)
		if text == nil {
			return nil
		}
		kept++
		_, err := f.Write(text)
		return err
	})
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return err
	}
	if kept > 0 && changed {
		err = f.Close()
		if err == nil {
			err = moveDurably(f.Name(), path)
		}
		return err
	}
	if kept == 0 {
		err = removeIfThere(path)
	}
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// Rejected describes the lines of a source that were rejected for one reason.
type Rejected struct {
	Source ledger.Source // has only the ID if the ledger does not have the source, because it has no records
	Code   string
	Lines  int64
	First  ingest.RejectedLine // an example
}

// Quarantine returns what is in quarantine, by source and reason.
func (s *Store) Quarantine(ctx context.Context) ([]Rejected, error) {
	sources, err := s.Imports(ctx)
	if err != nil {
		return nil, err
	}
	files, err := s.quarantineFiles("")
	if err != nil {
		return nil, err
	}
	var all []Rejected
	for _, f := range files {
		err := ingest.EachRejected(f.path, func(line ingest.RejectedLine, _ []byte) error {
			i := slices.IndexFunc(all, func(r Rejected) bool {
				return r.Source.ID == f.source && r.Code == string(line.Code)
			})
			if i < 0 {
				i = len(all)
				line.Text = bytes.Clone(line.Text)
				all = append(all, Rejected{Source: sourceIn(sources, f.source), Code: string(line.Code), First: line})
			}
			all[i].Lines++
			return nil
		})
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// sourceIn returns the source with that id, or one that has only the id.
func sourceIn(sources []ledger.Source, id string) ledger.Source {
	for _, s := range sources {
		if s.ID == id {
			return s
		}
	}
	return ledger.Source{ID: id}
}

// RetryReport is the result of Retry.
type RetryReport struct {
	Records  int64 // that the lines are now
	Rejected int64 // lines that are still not records
	Kept     int64 // lines that cannot be imported, because they are not whole
}

// Retry imports the lines of a source that are in quarantine, and removes those from it that are records now. If the
// options have no format, that of the source is used, and likewise for the defaults. Each line is imported once: after a
// crash, the next call completes the work.
func (s *Store) Retry(ctx context.Context, source string, options ingest.Options) (report RetryReport, err error) {
	known, err := s.sourceWithID(ctx, source)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return report, err
	}
	if options.Format == "" || options.Format == "auto" {
		options.Format = known.Format
	}
	if options.Defaults == nil {
		for _, setting := range known.Settings {
			field, value, _ := strings.Cut(setting, "=")
			options.Defaults = append(options.Defaults, ingest.Default{Field: field, Value: value})
		}
	}
	files, err := s.quarantineFiles(source)
	if err != nil {
		return report, err
	}
	if len(files) == 0 {
		return report, fault.New(fault.NotFound, "there are no lines of import %q in quarantine", source)
	}
	for _, f := range files {
		if err := s.retryFile(ctx, f, cmp.Or(known.Name, source), options, &report); err != nil {
			return report, fmt.Errorf("import %s: %w", f.path, err)
		}
	}
	return report, nil
}

// retryFile imports the lines of one file. They are a log of their own, whose name has the hash of the text, so that the
// same lines are always the same log, and other lines another one.
func (s *Store) retryFile(
	ctx context.Context, f quarantineFile, name string, options ingest.Options, report *RetryReport,
) (err error) {
	lock, err := filelock.Acquire(ctx, s.lockPath("quarantine-"+f.source))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	text, err := os.CreateTemp(s.quarantineDir(), temporary+"*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, text.Close(), os.Remove(text.Name())) }()
	sum := sha256.New()
	lines, err := writeWhole(io.MultiWriter(text, sum), f.path)
	if err == nil && lines > 0 {
		_, err = text.Seek(0, io.SeekStart)
	}
	if err != nil || lines == 0 {
		return err
	}
	options.Path = filepath.Join(s.quarantineDir(), lettersOf(sum))
	imported, err := s.Import(ctx, "quarantine of "+name, text, options)
	if err != nil {
		return err
	}
	return s.settleRetry(ctx, f, imported, lines, report)
}

// settleRetry removes the lines from a file that its import has accepted, and gives the others their new reasons.
func (s *Store) settleRetry(
	ctx context.Context, f quarantineFile, imported ingest.Report, lines int64, report *RetryReport,
) error {
	again := s.quarantinePath(imported.Source, 1)
	rejected := map[int64][]byte{} // JSON forms by line
	err := ingest.EachRejected(again, func(line ingest.RejectedLine, form []byte) error {
		rejected[line.Line] = bytes.Clone(form)
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	accepted, err := s.sourceWithID(ctx, imported.Source) // its only import may be one of a process that has died
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return err
	}
	if accepted.Records+int64(len(rejected)) != lines {
		return fmt.Errorf("of %d lines, %d are records and %d are rejected; the lines stay in quarantine",
			lines, accepted.Records, len(rejected))
	}
	s.step("retry: before the quarantine is rewritten")
	number := int64(0)
	err = rewriteQuarantine(f.path, func(line ingest.RejectedLine, form []byte) []byte {
		if !retriable(line) {
			report.Kept++
			return form
		}
		number++
		if rejected[number] == nil {
			return nil
		}
		return ingest.WithLine(rejected[number], line.Line)
	})
	if err != nil {
		return err
	}
	report.Rejected += int64(len(rejected))
	report.Records += lines - int64(len(rejected))
	s.step("retry: before the other quarantine is removed")
	return removeIfThere(again)
}

// retriable reports whether a line in quarantine can be imported alone.
func retriable(line ingest.RejectedLine) bool {
	return line.Whole && line.Code != ingest.ContinuedLine && len(bytes.TrimSpace(line.Text)) > 0
}

// writeWhole writes the text of the lines of a file that can be imported, and returns their number.
func writeWhole(w io.Writer, path string) (lines int64, err error) {
	err = ingest.EachRejected(path, func(line ingest.RejectedLine, _ []byte) error {
		if !retriable(line) {
			return nil
		}
		lines++
		_, err := w.Write(append(line.Text, '\n'))
		return err
	})
	return lines, err
}

// lettersOf returns a hash as letters, because digits in the name of a log may be a date or the number of a rotation.
func lettersOf(sum hash.Hash) string {
	text := sum.Sum(nil)[:16]
	name := make([]byte, 0, 2*len(text))
	for _, b := range text {
		name = append(name, 'a'+b>>4, 'a'+b&15)
	}
	return string(name)
}
