package datadir

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filelock"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/ledger"
)

// quarantineAge is how long rejected lines are kept, unless records are kept for a shorter time.
const quarantineAge = ingest.QuarantineDays * 24 * time.Hour

const (
	temporary    = ".new-"        // begins the names of files that are being written
	temporaryAge = 24 * time.Hour // from which on no process is writing them
)

// quarantinePath returns the file of the rejected lines of an import.
func (s *Store) quarantinePath(source string, generation int) string {
	return filepath.Join(s.quarantineDir(), ingest.QuarantineName(source, generation))
}

// placeQuarantine moves the file of the rejected lines of an import into place. If there are none, it removes the file
// that an earlier import of the same lines may have left.
func (s *Store) placeQuarantine(staging, source string, generation int, rejected int64) error {
	path := s.quarantinePath(source, generation)
	if rejected > 0 {
		return s.moveDated(filepath.Join(staging, ingest.QuarantineFile), path)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove quarantine: %w", err)
	}
	return nil
}

// moveDated is moveDurably for a file of rejected lines, whose age begins now by the clock of the Store.
func (s *Store) moveDated(from, to string) error {
	now := s.now()
	if err := os.Chtimes(from, now, now); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("date quarantine: %w", err)
	}
	return moveDurably(from, to)
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
		id, generation, ok := ingest.ParseQuarantineName(e.Name())
		if !ok || !e.Type().IsRegular() || source != "" && id != source {
			continue
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

// quarantined returns the size of the files of a source, without that of the import with a generation.
func (s *Store) quarantined(source string, without int) (size int64, err error) {
	files, err := s.quarantineFiles(source)
	for _, f := range files {
		if f.generation != without {
			size += f.size
		}
	}
	return size, err
}

// pruneQuarantine removes the files that have not changed for quarantineAge, or for the time that records are kept, and
// returns their number.
func (s *Store) pruneQuarantine(ctx context.Context) (removed int, err error) {
	age := quarantineAge
	keep, err := s.keeping(ctx)
	if err != nil {
		return 0, err
	}
	if keep > 0 {
		age = min(age, keep)
	}
	files, err := s.quarantineFiles("")
	if err != nil {
		return 0, err
	}
	for _, f := range files {
		if s.now().Sub(f.changed) < age {
			continue
		}
		if err := removeIfThere(f.path); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, s.removeTemporary()
}

// pruneInterval is the time after which an import prunes the quarantine again. Pruning lists all of its files.
const pruneInterval = time.Hour

// pruneSometimes prunes the quarantine and the unfinished imports after an import, unless an earlier one has done so a
// short time ago. If it fails, the next import or compaction tries again.
func (s *Store) pruneSometimes(ctx context.Context) {
	now := s.now()
	s.mu.Lock()
	recent := !s.pruned.IsZero() && now.Sub(s.pruned) < pruneInterval
	s.mu.Unlock()
	if recent {
		return
	}
	if _, err := s.pruneQuarantine(ctx); err != nil {
		return
	}
	if err := s.pruneUnfinished(ctx); err != nil {
		return
	}
	s.mu.Lock()
	s.pruned = now
	s.mu.Unlock()
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

// dropCompleted removes the lines from the quarantine of the imports before e that e has read again: lines after those
// that the ledger recorded, because the log ended before their ends. They are the last lines of the newest files.
func (s *Store) dropCompleted(ctx context.Context, e ledger.Entry) error {
	if e.Generation == 1 {
		return nil
	}
	files, err := s.quarantineFiles(e.Source)
	if err != nil {
		return err
	}
	for _, f := range slices.Backward(files) {
		if f.generation >= e.Generation {
			continue
		}
		recorded, err := s.ledger.LinesAfter(ctx, e.Source, f.generation)
		if err != nil {
			return err
		}
		last, err := ingest.NewestLine(f.path)
		if err == nil && last <= recorded {
			return nil
		}
		if err == nil {
			err = f.rewrite(func(line ingest.RejectedLine) bool { return line.Line <= recorded })
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // a parallel import may have pruned the file
			return err
		}
	}
	return nil
}

// rewrite removes the lines from a file for which keep returns false. The others are as old as before. It removes a
// file without lines.
func (q quarantineFile) rewrite(keep func(line ingest.RejectedLine) bool) (err error) {
	f, err := os.CreateTemp(filepath.Dir(q.path), temporary+"*")
	if err != nil {
		return fmt.Errorf("write quarantine: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	kept := 0
	err = ingest.EachRejected(q.path, func(line ingest.RejectedLine, form []byte) error {
		if !keep(line) {
			return nil
		}
		kept++
		_, err := f.Write(form)
		return err
	})
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return err
	}
	if kept == 0 {
		return errors.Join(removeIfThere(q.path), f.Close(), os.Remove(f.Name()))
	}
	if err = f.Close(); err == nil {
		err = os.Chtimes(f.Name(), q.changed, q.changed)
	}
	if err != nil {
		return err
	}
	return moveDurably(f.Name(), q.path)
}

// Quarantine returns what is in quarantine, by source and reason.
func (s *Store) Quarantine(ctx context.Context) ([]ingest.Rejected, error) {
	sources, err := s.Imports(ctx)
	if err != nil {
		return nil, err
	}
	files, err := s.quarantineFiles("")
	if err != nil {
		return nil, err
	}
	var all []ingest.Rejected
	for _, f := range files {
		all, err = ingest.AddRejected(all, sourceIn(sources, f.source), f.path)
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
	Expired  int64 // lines that are removed, because their records are older than what is kept
	Rejected int64 // lines that are still not records
	Kept     int64 // lines that cannot be imported, because they are not whole
}

// Retry imports the lines of a source that are in quarantine, and removes those from it that are records now. The
// records belong to the source, with the numbers of their lines, so that Forget takes them out, too. If the options
// have no format, that of the source is used, and likewise for the defaults. Each line is imported once: one change of
// the ledger decides about the records and the quarantine, and after a crash the next command completes it.
//
// An error of kind fault.Invalid means that the ledger does not have the source, because no line of its log was a
// record. The next import of the log reads all of its lines again.
func (s *Store) Retry(ctx context.Context, id string, options ingest.Options) (report RetryReport, err error) {
	if err := s.toWrite(ctx); err != nil {
		return report, err
	}
	files, err := s.quarantineFiles(id)
	if err != nil {
		return report, err
	}
	source, err := s.sourceWithID(ctx, id)
	switch {
	case err != nil && fault.KindOf(err) != fault.NotFound:
		return report, err
	case len(files) == 0:
		return report, noRejectedLines(id)
	case err != nil || !source.Forgotten.IsZero():
		return report, notRecorded(id)
	}
	lock, err := filelock.Acquire(ctx, s.lockPath(source.Family))
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	if files, err = s.quarantineFiles(id); err != nil { // no import of the source changes them now
		return report, err
	}
	for _, f := range files {
		if err := s.retryFile(ctx, f, options, &report); err != nil {
			return report, fmt.Errorf("import %s: %w", f.path, err)
		}
	}
	return report, nil
}

// noRejectedLines is the error of a retry without lines.
func noRejectedLines(id string) error {
	return fault.New(fault.NotFound, "there are no lines of import %q in quarantine", id)
}

// notRecorded is the error of a retry of lines of a log that the ledger does not have.
func notRecorded(id string) error {
	return fault.New(fault.Invalid, "no line of log %s is imported, so its next import reads all of its lines again, and "+
		"those of its quarantine would be counted twice. The lines stay there. Import the log again with the right "+
		"--format; then its records leave the quarantine", id)
}

// retryFile imports the lines of one file while the lock of the family is held.
func (s *Store) retryFile(
	ctx context.Context, f quarantineFile, options ingest.Options, report *RetryReport,
) (err error) {
	source, err := s.sourceWithID(ctx, f.source)
	if err != nil {
		return err
	}
	if !source.Forgotten.IsZero() {
		return notRecorded(f.source)
	}
	staging, err := s.makeStaging(ctx, source.Family)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.discard(ctx, source.Family, staging)) }()
	retry := ingest.Retry{File: f.path, Generation: f.generation}
	if retry.Newest, err = s.ledger.Newest(ctx, f.source); err != nil {
		return err
	}
	if retry.Lines, err = s.ledger.LinesAfter(ctx, f.source, f.generation); err != nil {
		return err
	}
	options = optionsOf(source, options)
	if options.KeptFrom, err = s.keptFrom(ctx); err != nil {
		return err
	}
	retried, err := ingest.ConvertRejected(ctx, retry, staging, options)
	if err != nil {
		return err
	}
	s.step("retry: before the quarantine is replaced")
	if retried.Left > 0 {
		retried.Entry.Name, retried.Entry.At = source.Name, s.now()
		err = s.finish(ctx, ingest.Conversion{Entry: retried.Entry, New: true}, staging)
	} else {
		err = s.placeRetried(staging, retried.Entry)
	}
	if err != nil {
		return err
	}
	report.Records += retried.Records
	report.Expired += retried.Expired
	report.Rejected += retried.Rejected
	report.Kept += retried.Kept
	return nil
}

// optionsOf returns the options of a retry with the format and the defaults of the source, if they have none.
func optionsOf(source ledger.Source, options ingest.Options) ingest.Options {
	if options.Format == "" || options.Format == "auto" {
		options.Format = source.Format
	}
	if options.Defaults == nil {
		for _, setting := range source.Settings {
			field, value, _ := strings.Cut(setting, "=")
			options.Defaults = append(options.Defaults, ingest.Default{Field: field, Value: value})
		}
	}
	return options
}

// placeRetried replaces the file whose lines a retry has imported by one with those that stay in quarantine. It may be
// repeated.
func (s *Store) placeRetried(staging string, e ledger.Entry) error {
	path, staged := s.quarantinePath(e.Source, e.Retries), filepath.Join(staging, ingest.RetriedFile)
	info, err := os.Stat(staged)
	switch {
	case errors.Is(err, fs.ErrNotExist): // it has been moved
		return nil
	case err != nil:
		return fmt.Errorf("replace quarantine: %w", err)
	case info.Size() > 0:
		return s.moveDated(staged, path)
	}
	return removeIfThere(path)
}
