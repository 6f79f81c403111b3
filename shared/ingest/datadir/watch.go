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
)

// SettleTime is for how long a file's size must not have changed before it is taken.
const SettleTime = 2 * time.Second

// Watcher imports what is dropped into a directory and its sub-directories. Files stay where they are: the ledger knows
// which have been taken, and a file that has grown is taken again for its rest. A last line without newline waits for
// that, as by Options.Growing. Names that begin with '.' or '_', or end in .part or .tmp, are of files still being
// written.
type Watcher struct {
	store   *Store
	dir     string
	options ingest.Options
	seen    map[string]sighting
}

// sighting is a file as it looked.
type sighting struct {
	size    int64
	changed time.Time
	since   time.Time // since when it has looked so
	done    bool      // it was taken, or could not be: not tried again until it changes
}

// Taken is what became of one file.
type Taken struct {
	Path   string
	Report ingest.Report
	Err    error // the file cannot be imported as it is
}

// NewWatcher watches the raw directory of the store, which is made if needed. The options are for every file.
func NewWatcher(store *Store, options ingest.Options) (*Watcher, error) {
	if store.locked != nil {
		return nil, store.locked
	}
	if err := os.MkdirAll(store.RawDir(), 0o755); err != nil {
		return nil, fmt.Errorf("make watched directory: %w", err)
	}
	options.Growing = true
	return &Watcher{store: store, dir: store.RawDir(), options: options, seen: map[string]sighting{}}, nil
}

// Run polls at every tick and tells of each file taken, until the context ends or the ticks do.
func (w *Watcher) Run(ctx context.Context, ticks <-chan time.Time, tell func(Taken)) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case now, ok := <-ticks:
			if !ok {
				return nil
			}
			if err := w.Poll(ctx, now, tell); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
}

// Poll looks once and imports the files that have not changed for SettleTime. An error is one of the directory or the
// ledger; one of a file is told.
func (w *Watcher) Poll(ctx context.Context, now time.Time, tell func(Taken)) error {
	present := map[string]bool{}
	err := filepath.WalkDir(w.dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path != w.dir {
			return nil // gone since it was listed
		}
		if err != nil {
			return err
		}
		if path != w.dir && unfinished(e.Name()) {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !e.Type().IsRegular() {
			return nil
		}
		present[path] = true
		return w.look(ctx, path, e, now, tell)
	})
	if err != nil {
		return fmt.Errorf("watch %s: %w", w.dir, err)
	}
	for path := range w.seen {
		if !present[path] {
			delete(w.seen, path)
		}
	}
	return nil
}

// unfinished tells names of files still being written.
func unfinished(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || strings.HasSuffix(name, ".part") || strings.HasSuffix(name, ".tmp")
}

// look notes how a file looks, and takes it if it has looked so for long enough.
func (w *Watcher) look(ctx context.Context, path string, e fs.DirEntry, now time.Time, tell func(Taken)) error {
	info, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	last, known := w.seen[path]
	if !known || last.size != info.Size() || !last.changed.Equal(info.ModTime()) {
		last = sighting{size: info.Size(), changed: info.ModTime(), since: now}
		name, err := filepath.Rel(w.dir, path)
		if err != nil {
			return err
		}
		if last.done, err = w.store.ledger.WatchedAs(ctx, filepath.ToSlash(name), last.size, last.changed); err != nil {
			return err
		}
	} else if !last.done && now.Sub(last.since) >= SettleTime {
		last.done = true
		if err := w.take(ctx, path, last, tell); err != nil {
			return err
		}
	}
	w.seen[path] = last
	return nil
}

// take imports a file. One that cannot be imported as it is, is told and left until it changes.
func (w *Watcher) take(ctx context.Context, path string, looked sighting, tell func(Taken)) error {
	name, err := filepath.Rel(w.dir, path)
	if err != nil {
		return err
	}
	name = filepath.ToSlash(name)
	report, err := w.importFile(ctx, name, path)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		if err := w.store.ledger.RememberWatched(ctx, name, looked.size, looked.changed); err != nil {
			return err
		}
	}
	tell(Taken{Path: path, Report: report, Err: err})
	return nil
}

func (w *Watcher) importFile(ctx context.Context, name, path string) (report ingest.Report, err error) {
	f, err := os.Open(path)
	if err != nil {
		return ingest.Report{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return w.store.Import(ctx, name, f, w.options)
}
