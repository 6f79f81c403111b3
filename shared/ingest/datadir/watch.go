package datadir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/source"
)

// SettleTime is how long a file must be unchanged before it is imported.
const SettleTime = 2 * time.Second

// Watcher imports the files of a directory and its subdirectories. It does not move or remove files: the ledger records
// which have been imported. When a file has grown, the Watcher imports its new lines. It leaves a last line without
// newline until then, as with Options.Growing. It imports nothing of a log that was forgotten. It ignores files that are still being written: their names begin with
// '.' or '_', or end in .part or .tmp.
type Watcher struct {
	store   *Store
	dir     string
	options ingest.Options
	others  []Watched
	seen    map[string]fileState
	polled  time.Time // when the latest poll began; zero before the first one has ended
}

// Watched is a set of files outside the raw directory.
type Watched struct {
	List    func() ([]string, error) // returns the absolute paths of the files that exist
	Options ingest.Options           // as for NewWatcher
}

// Watch adds files to those that the Watcher imports. It must be called before Run and Poll. Of a file of several sets,
// the options of the first count.
func (w *Watcher) Watch(files Watched) {
	files.Options.Growing = true
	w.others = append(w.others, files)
}

// fileState is the state of a file at the latest poll.
type fileState struct {
	size    int64
	changed time.Time
	since   time.Time // time of the first poll with this size and modification time
	done    bool      // the file was imported or refused; it is not imported again until it changes
	put     time.Time // the file, or what is not imported of it, was put there at this time or later
}

// FileResult is the result of importing one file, or one member of an archive.
type FileResult struct {
	Path   string // of a member, the path of the archive and the member's name
	Report ingest.Report
	Err    error // why the file cannot be imported
}

// NewWatcher returns a Watcher of the raw directory of the store, which it creates if needed. The options apply to
// every file. The Watcher sets their Arrival.
func NewWatcher(store *Store, options ingest.Options) (*Watcher, error) {
	if store.readOnly != nil {
		return nil, store.readOnly
	}
	if err := os.MkdirAll(store.RawDir(), 0o700); err != nil {
		return nil, fmt.Errorf("make watched directory: %w", err)
	}
	options.Growing = true
	store.setWatched(time.Time{})
	return &Watcher{store: store, dir: store.RawDir(), options: options, seen: map[string]fileState{}}, nil
}

// Run polls at every tick until the context ends or the channel is closed. It calls report with the result of each
// file.
func (w *Watcher) Run(ctx context.Context, ticks <-chan time.Time, report func(FileResult)) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case now, ok := <-ticks:
			if !ok {
				return nil
			}
			if err := w.Poll(ctx, now, report); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
}

// Poll imports the files that have not changed for SettleTime, and calls report with the result of each. It returns
// errors of the directory and of the ledger; an error of a file is part of its result.
func (w *Watcher) Poll(ctx context.Context, now time.Time, report func(FileResult)) error {
	present := map[string]bool{}
	err := filepath.WalkDir(w.dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path != w.dir {
			return nil // removed since it was listed
		}
		if err != nil {
			return err
		}
		if path != w.dir && source.Unfinished(e.Name()) {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !e.Type().IsRegular() {
			return nil
		}
		present[path] = true
		return w.look(ctx, path, e, w.options, now, report)
	})
	if err != nil {
		return fmt.Errorf("watch %s: %w", w.dir, err)
	}
	for _, other := range w.others {
		if err := w.pollOther(ctx, other, present, now, report); err != nil {
			return err
		}
	}
	for path := range w.seen {
		if !present[path] {
			delete(w.seen, path)
		}
	}
	w.polled = now
	through := now
	for _, state := range w.seen {
		if !state.done && state.put.Before(through) {
			through = state.put
		}
	}
	w.store.setWatched(through)
	return nil
}

// pollOther looks at the files of a set that no other set has.
func (w *Watcher) pollOther(
	ctx context.Context, files Watched, present map[string]bool, now time.Time, report func(FileResult),
) error {
	paths, err := files.List()
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || present[path] {
			continue // removed since it was listed, or of another set
		}
		present[path] = true
		if err := w.look(ctx, path, fs.FileInfoToDirEntry(info), files.Options, now, report); err != nil {
			return err
		}
	}
	return nil
}

// nameOf returns the name of a file in the ledger: its path in the raw directory, or its absolute path.
func (w *Watcher) nameOf(path string) string {
	if name, err := filepath.Rel(w.dir, path); err == nil && filepath.IsLocal(name) {
		path = name
	}
	return filepath.ToSlash(path)
}

// look records the state of a file, and imports the file if its state has not changed for SettleTime.
func (w *Watcher) look(
	ctx context.Context, path string, e fs.DirEntry, options ingest.Options, now time.Time, report func(FileResult),
) error {
	info, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	last, known := w.seen[path]
	if !known || last.size != info.Size() || !last.changed.Equal(info.ModTime()) {
		put := last.put // it is still waiting
		switch {
		case w.polled.IsZero(): // it was put there before anything looked
			put = info.ModTime()
		case !known || last.done:
			put = w.polled // the latest poll has not seen it
		}
		last = fileState{size: info.Size(), changed: info.ModTime(), since: now, put: put}
		if last.done, err = w.store.ledger.WatchedAs(ctx, w.nameOf(path), last.size, last.changed); err != nil {
			return err
		}
	} else if !last.done && now.Sub(last.since) >= SettleTime {
		last.done = true
		if err := w.take(ctx, path, last, options, report); err != nil {
			return err
		}
	}
	w.seen[path] = last
	return nil
}

// take imports a file and reports the result.
func (w *Watcher) take(
	ctx context.Context, path string, state fileState, options ingest.Options, report func(FileResult),
) error {
	name := w.nameOf(path)
	results, err := w.importFile(ctx, name, path, state.changed, options)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		if err := w.store.ledger.RememberWatched(ctx, name, state.size, state.changed); err != nil {
			return err
		}
	}
	for _, r := range results {
		report(r)
	}
	return nil
}

// importFile imports a file, which may be an archive with several logs. The horizon is that before the last change of
// the file, so that no record becomes too old because no Watcher was running.
func (w *Watcher) importFile(
	ctx context.Context, name, path string, changed time.Time, options ingest.Options,
) (results []FileResult, err error) {
	f, err := os.Open(path)
	if err != nil {
		return []FileResult{{Path: path, Err: err}}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	options.Path = path
	options.Arrival = w.store.now()
	if changed.Before(options.Arrival) {
		options.Arrival = changed
	}
	err = w.store.importAll(ctx, name, f, options, true, func(log string, r ingest.Report, err error) {
		results = append(results, FileResult{Path: path + strings.TrimPrefix(log, name), Report: r, Err: err})
	})
	return results, err
}
