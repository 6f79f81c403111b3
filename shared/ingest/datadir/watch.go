package datadir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/source"
)

const (
	// SettleTime is how long a file must be unchanged before it is imported.
	SettleTime = 2 * time.Second
	// BusyTime is how long the new lines of a plain file that is never unchanged for SettleTime wait for their import.
	// It is also how long the Watcher waits before it tries again what has failed once.
	BusyTime = 10 * time.Second
	// busyShare is how many times as long as the last import of such a file the next one waits, because every import
	// reads the file from its beginning. maxWait is the longest time that new lines wait for that reason, and that the
	// Watcher waits before it tries again what has failed.
	busyShare = 10
	maxWait   = 10 * time.Minute
)

// Watcher imports the files of a directory and its subdirectories. It does not move or remove files: the ledger records
// which have been imported. When a file has grown, the Watcher imports its new lines. It leaves a last line without
// newline until then, as with Options.Growing. It imports nothing of a log that was forgotten. It ignores files that
// are still being written: their names begin with '.' or '_', or end in .part or .tmp. Of a plain log that is written
// to all the time, it imports the complete lines every BusyTime.
//
// A file that is refused for its content is imported again when it has changed. After any other failure, such as that
// of a full disk, the Watcher tries again after BusyTime, and waits twice as long after each further failure, up to
// maxWait.
type Watcher struct {
	store    *Store
	dir      string // absolute
	begun    bool   // the data directory can be changed and has a raw directory
	options  ingest.Options
	others   []Watched
	seen     map[string]fileState
	polled   time.Time         // when the latest poll began; zero before the first one has ended
	readable time.Time         // when the latest poll began that could read all folders; zero: none could
	reported map[string]string // errors that the latest poll has met, by path; they are reported once
}

// Watched is a set of files with options of its own, in or outside the raw directory.
type Watched struct {
	// List returns the absolute paths of the files that exist, and an error if it cannot list all of them, as
	// source.Source.List does.
	List    func() ([]string, error)
	Options ingest.Options // as for NewWatcher
}

// Watch adds files to those that the Watcher imports. It must be called before Run and Poll. Of a file of several sets,
// the options of the first count. The raw directory is the last set.
func (w *Watcher) Watch(files Watched) {
	files.Options.Growing = true
	w.others = append(w.others, files)
}

// fileState is the state of a file at the latest poll.
type fileState struct {
	size    int64
	changed time.Time
	since   time.Time         // time of the first poll with this size and modification time
	done    bool              // the file was imported or refused; it is not imported again until it changes
	unsaved bool              // the file was imported, which the ledger does not know yet
	put     time.Time         // the file, or what is not imported of it, was put there at this time or later
	waits   time.Time         // time of the first poll with something that is not imported
	wait    time.Duration     // from waits to the import of a file that is written to all the time
	retry   time.Time         // after a failure that may pass, the time before which the file is not imported
	said    map[string]string // what was reported and need not be reported again, by path; see saying
}

// FileResult is the result of importing one file, or one member of an archive. For a folder, Err is why its files
// cannot be imported.
type FileResult struct {
	Path   string // of a member, the path of the archive and the member's name
	Report ingest.Report
	Err    error // why the file cannot be imported
	Again  bool  // Err may pass, and the Watcher tries again
	Busy   bool  // the file is written to all the time: a last line without newline is probably being written
}

// saying returns what a result of a file in a state reports. A result that reports the same as the one before is not
// reported again.
func (r FileResult) saying(state fileState) string {
	switch {
	case r.Report.Forgotten != "":
		return "forgotten " + r.Report.Forgotten
	case r.Again:
		return causeOf(r.Err)
	}
	return fmt.Sprint(state.size, state.changed, r.Busy, r.Err)
}

// causeOf returns the cause of an error that may pass. Errors of one cause may have different texts, because a full
// disk may stop an import at any step.
func causeOf(err error) string {
	var system syscall.Errno
	switch {
	case fault.IsFull(err):
		return "full"
	case errors.Is(err, fs.ErrPermission):
		return "permission"
	case errors.As(err, &system):
		return system.Error()
	}
	return err.Error()
}

// NewWatcher returns a Watcher of the raw directory of the store, which the first Poll creates if needed. The options
// apply to every file. The Watcher sets their Arrival.
func NewWatcher(store *Store, options ingest.Options) (*Watcher, error) {
	dir, err := filepath.Abs(store.RawDir())
	if err != nil {
		return nil, fmt.Errorf("find watched directory: %w", err)
	}
	options.Growing = true
	store.setWatched(time.Time{})
	return &Watcher{store: store, dir: dir, options: options, seen: map[string]fileState{}}, nil
}

// Run polls at every tick until the context ends or the channel is closed. It calls report with the result of each
// file. If a poll fails, Run reports the error as that of the raw directory, once for each cause, and polls again after
// BusyTime, and after twice as long for each further failure.
func (w *Watcher) Run(ctx context.Context, ticks <-chan time.Time, report func(FileResult)) {
	var retry time.Time
	wait, said := BusyTime, ""
	for {
		select {
		case <-ctx.Done():
			return
		case now, ok := <-ticks:
			if !ok {
				return
			}
			if now.Before(retry) {
				continue
			}
			err := w.Poll(ctx, now, report)
			if ctx.Err() != nil {
				return
			}
			if err == nil {
				wait, said = BusyTime, ""
				continue
			}
			if cause := causeOf(err); cause != said {
				said = cause
				report(FileResult{Path: w.dir, Err: err, Again: true})
			}
			retry, wait = now.Add(wait), min(2*wait, maxWait)
		}
	}
}

// Poll imports the files that have not changed for SettleTime, and plain files that have new lines for BusyTime, and
// calls report with the result of each. What cannot be read is reported by the first poll that meets it, and the others
// continue. Poll returns errors of the ledger, and that of a data directory that cannot be changed.
func (w *Watcher) Poll(ctx context.Context, now time.Time, report func(FileResult)) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	p := &poll{Watcher: w, now: now, report: report, present: map[string]bool{}, failed: map[string]error{}}
	for _, other := range w.others {
		if err := p.files(ctx, other); err != nil {
			return err
		}
	}
	err := source.Walk(w.dir, func(path string, e fs.DirEntry) error { return p.look(ctx, path, e, w.options) })
	if err := p.fail(err); err != nil {
		return fmt.Errorf("watch %s: %w", w.dir, err)
	}
	p.reportFailed()
	if len(p.failed) == 0 { // otherwise a file that was not seen may be there, and still wait
		maps.DeleteFunc(w.seen, func(path string, _ fileState) bool { return !p.present[path] })
		w.readable = now
	}
	w.polled = now
	through := w.readable // the zero time if nobody knows what there is
	for _, state := range w.seen {
		if !state.done && state.put.Before(through) {
			through = state.put
		}
	}
	w.store.setWatched(through)
	return nil
}

// begin makes the raw directory, once the data directory can be changed.
func (w *Watcher) begin(ctx context.Context) error {
	if w.begun {
		return nil
	}
	if err := w.store.toWrite(ctx); err != nil {
		return err
	}
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return fmt.Errorf("make watched directory: %w", err)
	}
	w.begun = true
	return nil
}

// poll is one poll.
type poll struct {
	*Watcher
	now     time.Time
	report  func(FileResult)
	present map[string]bool  // files
	failed  map[string]error // of files and folders that cannot be read
}

// files looks at the files of a set that no set before has.
func (p *poll) files(ctx context.Context, files Watched) error {
	paths, err := files.List()
	if other := p.fail(err); other != nil {
		p.failed[""] = errors.Join(p.failed[""], other)
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since it was listed
		}
		if err != nil {
			p.failed[path] = err
			continue
		}
		if err := p.look(ctx, path, fs.FileInfoToDirEntry(info), files.Options); err != nil {
			return err
		}
	}
	return nil
}

// fail notes what could not be read when files were listed, and returns any other error.
func (p *poll) fail(err error) (other error) {
	unreadable, other := source.Unreadable(err)
	for _, u := range unreadable {
		p.failed[u.Path] = u.Err
	}
	return other
}

// reportFailed reports what the poll before has not met.
func (p *poll) reportFailed() {
	before := p.reported
	p.reported = map[string]string{}
	for _, path := range slices.Sorted(maps.Keys(p.failed)) {
		err := p.failed[path]
		if p.reported[path] = err.Error(); before[path] != err.Error() {
			p.report(FileResult{Path: path, Err: err, Again: true})
		}
	}
}

// nameOf returns the name of a file in the ledger: its path in the raw directory, or its absolute path.
func (w *Watcher) nameOf(path string) string {
	if name, err := filepath.Rel(w.dir, path); err == nil && filepath.IsLocal(name) {
		path = name
	}
	return filepath.ToSlash(path)
}

// look records the state of a file, and imports the file if its state has not changed for SettleTime, or if it is a
// plain file that has new lines for BusyTime.
func (p *poll) look(ctx context.Context, path string, e fs.DirEntry, options ingest.Options) error {
	if p.present[path] {
		return nil // of a set before
	}
	info, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		p.failed[path] = err
		return nil //nolint:nilerr // it is reported
	}
	p.present[path] = true
	w, now := p.Watcher, p.now
	last, known := w.seen[path]
	if !known || last.size != info.Size() || !last.changed.Equal(info.ModTime()) {
		put := last.put // it is still waiting
		switch {
		case !known && w.polled.IsZero(): // it was put there before anything looked
			put = info.ModTime()
		case !known || last.done:
			put = w.polled // the latest poll has not seen it
		}
		next := fileState{
			size: info.Size(), changed: info.ModTime(), since: now, put: put, waits: now, wait: BusyTime,
			retry: last.retry, said: last.said,
		}
		if known {
			next.wait = last.wait
		}
		if known && !last.done {
			next.waits = last.waits
		}
		last = next
		if last.done, err = w.store.ledger.WatchedAs(ctx, w.nameOf(path), last.size, last.changed); err != nil {
			return err
		}
	}
	if !last.done && !now.Before(last.retry) {
		busy := now.Sub(last.since) < SettleTime
		if !busy || now.Sub(last.waits) >= last.wait && isPlain(path) {
			if last, err = p.take(ctx, path, last, options, busy); err != nil {
				return err
			}
		}
	}
	w.seen[path] = last
	if !last.unsaved {
		return nil
	}
	if err := w.store.ledger.RememberWatched(ctx, w.nameOf(path), last.size, last.changed); err != nil {
		return err
	}
	last.unsaved = false
	w.seen[path] = last
	return nil
}

// isPlain reports whether a file can be imported before it is complete.
func isPlain(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false // it is reported once the file is unchanged
	}
	plain := ingest.IsPlain(f)
	return f.Close() == nil && plain
}

// take imports a file, reports what is news, and returns the state of the file afterwards. A busy file has changed
// within SettleTime. If its last line is left, it is imported once more when it has not changed for that long, so that
// the line is reported then.
func (p *poll) take(
	ctx context.Context, path string, state fileState, options ingest.Options, busy bool,
) (fileState, error) {
	w, began := p.Watcher, p.store.now()
	results, err := w.importFile(ctx, p.nameOf(path), path, state, options, busy)
	if ctx.Err() != nil {
		return state, ctx.Err()
	}
	wait, again, left := state.wait, false, false
	state.wait = min(max(BusyTime, busyShare*w.store.now().Sub(began)), maxWait)
	if err != nil {
		state.wait = min(2*wait, maxWait)
	}
	for i := range results {
		r := &results[i]
		r.Busy, r.Again = busy, r.Err != nil && fault.KindOf(r.Err) != fault.Invalid
		again, left = again || r.Again, left || r.Report.Left > 0
	}
	state.done, state.retry = false, time.Time{}
	switch {
	case again:
		state.retry = p.now.Add(wait)
	case busy && left:
		state.put, state.waits = p.now, p.now
	default:
		state.done, state.unsaved = true, err == nil
	}
	state.said = p.reportNews(results, state, again)
	return state, nil
}

// reportNews reports those results of a file in a state that differ from what was reported before. It returns what need
// not be reported again: everything if the file will be tried again, and otherwise only that a log was forgotten.
func (p *poll) reportNews(results []FileResult, state fileState, again bool) (said map[string]string) {
	said = map[string]string{}
	for _, r := range results {
		text := r.saying(state)
		if state.said[r.Path] != text {
			p.report(r)
		}
		if again || r.Report.Forgotten != "" {
			said[r.Path] = text
		}
	}
	return said
}

// importFile imports a file, which may be an archive with several logs. The horizon is that before the last change of
// the file, so that no record becomes too old because no Watcher was running. Of a busy file it imports what was there
// when the Watcher looked at it.
func (w *Watcher) importFile(
	ctx context.Context, name, path string, state fileState, options ingest.Options, busy bool,
) (results []FileResult, err error) {
	f, err := os.Open(path)
	if err != nil {
		return []FileResult{{Path: path, Err: err}}, err
	}
	defer func() {
		err = errors.Join(err, f.Close())
		failed := func(r FileResult) bool { return r.Err != nil }
		if err != nil && !slices.ContainsFunc(results, failed) {
			results = append(results, FileResult{Path: path, Err: err})
		}
	}()
	options.Path = path
	options.Arrival = w.store.now()
	if state.changed.Before(options.Arrival) {
		options.Arrival = state.changed
	}
	var in io.Reader = f
	if busy {
		in = io.NewSectionReader(f, 0, state.size)
	}
	err = w.store.importAll(ctx, name, in, options, true, func(log string, r ingest.Report, err error) {
		results = append(results, FileResult{Path: path + strings.TrimPrefix(log, name), Report: r, Err: err})
	})
	return results, err
}
