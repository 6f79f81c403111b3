package backup

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

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/filelock"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/ingest/datadir/ledgersqlite"
	"github.com/orrery/orrery/shared/ingest/datadir/manifest"
)

// visitor is called with each file of a backup. If it does not read all of the file, the backup is damaged.
type visitor func(name string, content io.Reader) error

// Source is a backup that is read.
type Source struct {
	name string
	each func(ctx context.Context, visit visitor) (Manifest, error)
}

// From returns the backup in a folder or a tar file.
func From(path string) (Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Source{}, err
	}
	if info.IsDir() {
		return Source{path, func(ctx context.Context, visit visitor) (Manifest, error) {
			return eachInFolder(path, visit)
		}}, nil
	}
	return Source{path, func(ctx context.Context, visit visitor) (m Manifest, err error) {
		f, err := os.Open(path)
		if err != nil {
			return m, err
		}
		defer func() { _ = f.Close() }() // it was only read
		return eachInTar(path, f, visit)
	}}, nil
}

// FromStream returns the backup in a stream, which can be read once.
func FromStream(r io.Reader) Source {
	const name = "standard input"
	return Source{name, func(_ context.Context, visit visitor) (Manifest, error) { return eachInTar(name, r, visit) }}
}

// eachInFolder calls visit with each file of the backup in a folder.
func eachInFolder(path string, visit visitor) (m Manifest, err error) {
	lock, err := lockFolder(path, filelock.TryAcquireExisting)
	switch {
	case err == nil:
		defer func() { err = errors.Join(err, lock.Release()) }()
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		// a copy of a backup, or one that this process may only read: no process changes it
	default:
		return m, err
	}
	raw, err := os.ReadFile(filepath.Join(path, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("there is no complete backup in %s: %s is missing", path, manifestName)
	}
	if err != nil {
		return m, err
	}
	if m, err = parseManifest(path, raw); err != nil {
		return m, err
	}
	for _, entry := range m.Files {
		if err := visitFile(filepath.Join(path, filepath.FromSlash(entry.place())), entry.Path, visit); err != nil {
			return m, err
		}
	}
	return m, nil
}

func visitFile(path, name string, visit visitor) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the manifest shows that it is missing
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	return visit(name, f)
}

// Verify reads all files of a backup and compares them with its manifest.
func Verify(ctx context.Context, from Source, o Options) (Manifest, error) {
	found := map[string]File{}
	m, err := from.each(ctx, func(name string, content io.Reader) error {
		f, err := copyTo(ctx, io.Discard, content)
		found[name] = f
		return err
	})
	if err != nil {
		return m, err
	}
	return m, compare(from.name, m, found)
}

// compare returns an error that names the files of a backup that are damaged or missing.
func compare(name string, m Manifest, found map[string]File) error {
	var wrong []string
	extra := maps.Clone(found)
	for _, want := range m.Files {
		got, has := found[want.Path]
		switch {
		case !has:
			wrong = append(wrong, want.Path+" is missing")
		case got.Bytes != want.Bytes || got.SHA256 != want.SHA256:
			wrong = append(wrong, want.Path+" is damaged")
		}
		delete(extra, want.Path)
	}
	for name := range extra {
		wrong = append(wrong, name+" does not belong to it")
	}
	if len(wrong) == 0 {
		return nil
	}
	slices.Sort(wrong)
	return fmt.Errorf("the backup in %s is damaged:\n  %s", name, strings.Join(wrong, "\n  "))
}

// Restored is the result of Restore.
type Restored struct {
	Manifest Manifest
	From, To time.Time // of the records; zero if there are none
}

// Restore makes a data folder from a backup. The folder must be empty or missing, except for the user's settings and logs,
// which are kept. Until it is complete, no program opens it. If the process is killed, Restore can be called again; after
// an error the folder is as it was.
func Restore(ctx context.Context, from Source, data string, o Options) (r Restored, err error) {
	made, lock, err := begin(data)
	if err != nil {
		return r, full(err, data)
	}
	defer func() {
		if err != nil {
			err = errors.Join(full(err, data), clearRestored(data), os.Remove(markOf(data)), lock.Release(),
				os.RemoveAll(filepath.Join(data, locksName)))
			if made {
				_ = os.Remove(data) // it fails if another process has written a file
			}
		}
	}()
	o.step("after the mark")
	settings := filepath.Join(data, local.Settings)
	_, kept := os.Lstat(settings) // nil: they are
	dirs := map[string]bool{}
	found := map[string]File{}
	done := int64(0)
	r.Manifest, err = from.each(ctx, func(name string, content io.Reader) error {
		o.step("before a file")
		to := filepath.Join(data, filepath.FromSlash(name))
		if name == local.Settings { // no restore removes them
			to = markOf(data) + settingsSuffix
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		dirs[filepath.Dir(to)] = true
		f, err := write(ctx, to, content, o.Now())
		found[name] = f
		if done += f.Bytes; o.Progress != nil {
			o.Progress(done, -1)
		}
		return err
	})
	if err == nil {
		err = compare(from.name, r.Manifest, found)
	}
	if err != nil {
		return r, err
	}
	for _, f := range r.Manifest.Files {
		if f.Path == local.Settings {
			continue
		}
		if err := os.Chtimes(filepath.Join(data, filepath.FromSlash(f.Path)), f.Modified, f.Modified); err != nil {
			return r, err
		}
	}
	if err := r.settle(ctx, data, o); err != nil {
		return r, err
	}
	if _, restored := found[local.Settings]; restored {
		o.step("before the settings")
		if err := placeSettings(markOf(data)+settingsSuffix, settings, kept == nil); err != nil {
			return r, err
		}
	}
	if err := syncDirs(data, dirs); err != nil {
		return r, err
	}
	o.step("before the mark is removed")
	if err := os.Remove(markOf(data)); err != nil {
		return r, err
	}
	return r, errors.Join(manifest.SyncDir(data), lock.Release())
}

// locksName is the folder of locks in a data folder.
const locksName = "locks"

// settingsSuffix ends the name of the settings until all else is restored. It begins with the mark.
const settingsSuffix = ".toml"

// placeSettings renames the restored settings, or removes them if the user has settings of their own.
func placeSettings(from, to string, keep bool) error {
	if keep {
		return os.Remove(from)
	}
	return os.Rename(from, to)
}

func markOf(data string) string { return filepath.Join(data, local.RestoringMark) }

// begin makes the folder if needed, and marks and locks it. It removes the files that an interrupted restore
// has left.
func begin(data string) (made bool, lock *filelock.Lock, err error) {
	entries, err := os.ReadDir(data)
	if errors.Is(err, fs.ErrNotExist) {
		made, err = true, os.MkdirAll(data, 0o700)
	}
	if err != nil {
		return made, nil, err
	}
	again := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == local.RestoringMark })
	for _, e := range entries {
		if !again && !slices.Contains([]string{local.Settings, "raw", locksName}, e.Name()) {
			return made, nil, fmt.Errorf("%s is not empty: it has %s; a backup is restored into an empty or new folder, "+
				"which may have only %s and raw", data, e.Name(), local.Settings)
		}
	}
	if lock, err = filelock.TryAcquire(filepath.Join(data, locksName, "restore.lock")); err != nil {
		if errors.Is(err, filelock.ErrLocked) {
			err = fmt.Errorf("another process is restoring a backup into %s; wait until it ends", data)
		}
		return made, nil, err
	}
	err = os.WriteFile(markOf(data), nil, 0o600)
	if err == nil {
		err = manifest.SyncDir(data)
	}
	if err == nil && again {
		err = clearRestored(data)
	}
	if err != nil {
		return made, nil, errors.Join(err, lock.Release())
	}
	return made, lock, nil
}

// clearRestored removes what a restore has written into a folder, except for the mark, its lock and the settings.
func clearRestored(data string) error {
	entries, err := os.ReadDir(data)
	if err != nil {
		return err
	}
	for _, e := range entries {
		isOf := func(database string) bool { return strings.HasPrefix(e.Name(), database) } // or its log
		database := slices.ContainsFunc(local.Databases, isOf)
		settings := e.Name() == local.RestoringMark+settingsSuffix
		if database || settings || e.Name() != local.Settings && slices.Contains(restored(), e.Name()) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(data, e.Name())))
		}
	}
	return err
}

// settle opens the folder once, which writes the manifests of the hours and shows that ledger and index are usable.
func (r *Restored) settle(ctx context.Context, data string, o Options) error {
	store, err := datadir.Open(ctx, data, ledgersqlite.Open, o.Now)
	if err != nil {
		return err
	}
	extent, err := store.Index().Extent(ctx)
	if extent.Rows > 0 {
		r.From, r.To = time.UnixMilli(extent.MinTsMs).UTC(), time.UnixMilli(extent.MaxTsMs).UTC()
	}
	return errors.Join(err, store.Close())
}
