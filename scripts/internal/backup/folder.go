package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/orrery/orrery/shared/filelock"
	"github.com/orrery/orrery/shared/ingest/datadir/manifest"
	"github.com/orrery/orrery/shared/lake"
)

// Names in a backup folder, besides the manifest.
const (
	lockName    = "lock"
	scratchName = "tmp"
	filesName   = "files" // files that may be others in the next backup, by their digests
	lakeName    = "lake"
)

// ToFolder writes a backup of a data folder into a folder, or brings the backup there up to date. The folder has either
// the earlier backup or the new one, even if the process is killed. Files that the new one does not need are removed.
func ToFolder(ctx context.Context, data, to string, o Options) (report Report, err error) {
	if err := notIn(data, to); err != nil {
		return report, err
	}
	if err := mayHold(to); err != nil {
		return report, err
	}
	f := &folder{path: to, options: o, report: &report, dirs: map[string]bool{}}
	if err := f.open(); err != nil {
		return report, full(err, to)
	}
	taken, err := take(ctx, data, f, o)
	report.Records, report.Objects, report.Missing = taken.Records, taken.Objects, taken.Missing
	return report, full(errors.Join(err, f.close()), to)
}

// mayHold returns an error if a folder has other things than a backup.
func mayHold(path string) error {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !slices.Contains([]string{manifestName, lockName, scratchName, filesName, lakeName}, e.Name()) {
			return fmt.Errorf("%s holds other things than a backup, such as %s; name an empty folder or a new one",
				path, e.Name())
		}
	}
	return nil
}

// folder is a backup folder that is written.
type folder struct {
	path    string
	options Options
	report  *Report
	lock    *filelock.Lock
	own     *filelock.Folder
	before  map[string]File // files of the backup that is there, by their paths
	was     Manifest
	now     Manifest
	dirs    map[string]bool // in which files are new
	done    int64
	total   int64
}

// open locks the folder and reads the backup that is there.
func (f *folder) open() (err error) {
	if f.lock, err = lockFolder(f.path, filelock.TryAcquire); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.lock.Release())
		}
	}()
	raw, err := os.ReadFile(filepath.Join(f.path, manifestName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f.before = map[string]File{}
	if err == nil {
		if f.was, err = parseManifest(f.path, raw); err != nil {
			return err
		}
	}
	for _, file := range f.was.Files {
		f.before[file.Path] = file
	}
	f.own, err = filelock.OwnFolder(filepath.Join(f.path, scratchName))
	return err
}

// lockFolder locks a backup folder.
func lockFolder(path string, acquire func(string) (*filelock.Lock, error)) (*filelock.Lock, error) {
	lock, err := acquire(filepath.Join(path, lockName))
	if errors.Is(err, filelock.ErrLocked) {
		err = fmt.Errorf("another process is writing or restoring the backup in %s; wait until it ends", path)
	}
	return lock, err
}

func (f *folder) scratch() string { return f.own.Path }

// prepare refuses to replace the backup of another data folder or of a later state.
func (f *folder) prepare(in Manifest, total int64) error {
	if f.was.First != "" && (f.was.First != in.First || f.was.Imports > in.Imports) {
		return fmt.Errorf("the backup in %s is of another data folder, or has imports that this one lacks; "+
			"name another folder for the backup, or delete that one", f.path)
	}
	f.now, f.total = in, total
	return nil
}

func (f *folder) put(ctx context.Context, name, file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	entry, err := digest(ctx, file)
	if err != nil {
		return err
	}
	entry.Path, entry.Modified = name, info.ModTime().UTC()
	return f.store(entry, file, filesName+"/"+entry.SHA256)
}

func (f *folder) object(ctx context.Context, o lake.Object, file string) error {
	defer f.progress(o.Bytes)
	name := lakeName + "/" + o.Path
	before, listed := f.before[name]
	info, err := os.Stat(file)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return err
	}
	unchanged := missing || info.Size() != o.Bytes || before.Modified.Equal(info.ModTime()) // or it was damaged since
	if listed && unchanged && before.Bytes == o.Bytes && f.has(before) {
		f.now.Files = append(f.now.Files, before)
		return nil
	}
	if missing {
		return errMissing
	}
	left := File{Path: name, Bytes: info.Size()} // perhaps by an interrupted backup
	if f.has(left) {
		if same, err := f.adopt(ctx, left, file, info); same || err != nil {
			return err
		}
	}
	from, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // it was only read
	copied := filepath.Join(f.scratch(), "object")
	entry, err := write(ctx, copied, from, info.ModTime())
	if err != nil {
		return err
	}
	entry.Path = name
	f.report.Copied++
	f.report.Bytes += entry.Bytes
	place := name
	if listed { // the file of the earlier backup stays until the new one is complete
		place = filesName + "/" + entry.SHA256
	}
	return f.store(entry, copied, place)
}

// adopt adds an object that the folder has already if it equals a file.
func (f *folder) adopt(ctx context.Context, left File, file string, info fs.FileInfo) (same bool, err error) {
	there, err := digest(ctx, f.file(left.Path))
	if err != nil {
		return false, err
	}
	here, err := digest(ctx, file)
	if err != nil || here.SHA256 != there.SHA256 {
		return false, err
	}
	here.Path, here.Modified = left.Path, info.ModTime().UTC()
	f.now.Files = append(f.now.Files, here)
	f.dirs[filepath.Dir(f.file(left.Path))] = true
	return true, nil
}

// has reports whether the folder has a file with the size of an entry.
func (f *folder) has(entry File) bool {
	info, err := os.Stat(f.file(entry.place()))
	return err == nil && info.Mode().IsRegular() && info.Size() == entry.Bytes
}

// store moves a file of the scratch folder to its place, unless the folder has it.
func (f *folder) store(entry File, file, place string) error {
	if place != entry.Path {
		entry.Stored = place
	}
	f.now.Files = append(f.now.Files, entry)
	if entry.Stored != "" && f.has(entry) { // its name is its digest
		return nil
	}
	to := f.file(place)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if err := syncFile(file); err != nil {
		return err
	}
	f.options.step("before a rename")
	f.dirs[filepath.Dir(to)] = true
	return os.Rename(file, to)
}

func (f *folder) file(place string) string { return filepath.Join(f.path, filepath.FromSlash(place)) }

func (f *folder) progress(bytes int64) {
	if f.done += bytes; f.options.Progress != nil {
		f.options.Progress(f.done, f.total)
	}
}

// finish writes the manifest, which replaces the earlier backup by the new one, and removes what it does not need.
func (f *folder) finish() error {
	if err := syncDirs(f.path, f.dirs); err != nil {
		return err
	}
	raw, err := json.Marshal(f.now)
	if err != nil {
		return err
	}
	next := filepath.Join(f.scratch(), manifestName)
	if err := errors.Join(os.WriteFile(next, append(raw, '\n'), 0o600), syncFile(next)); err != nil {
		return err
	}
	f.options.step("before the manifest")
	if err := os.Rename(next, filepath.Join(f.path, manifestName)); err != nil {
		return err
	}
	if err := manifest.SyncDir(f.path); err != nil {
		return err
	}
	return f.prune()
}

// prune removes the files that the manifest does not list, and empty folders.
func (f *folder) prune() error {
	needed := map[string]bool{}
	for _, entry := range f.now.Files {
		needed[f.file(entry.place())] = true
	}
	for _, top := range []string{lakeName, filesName} {
		var dirs []string
		err := filepath.WalkDir(f.file(top), func(path string, e fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case e.IsDir():
				dirs = append(dirs, path)
				return nil
			case needed[path]:
				return nil
			}
			f.options.step("before a removal")
			f.report.Removed++
			return os.Remove(path)
		})
		if err != nil {
			return err
		}
		for _, dir := range slices.Backward(dirs) {
			_ = os.Remove(dir) // it fails for folders with files
		}
	}
	return nil
}

func (f *folder) close() error {
	err := f.own.Remove()
	_ = os.Remove(filepath.Join(f.path, scratchName)) // it fails if a process that was killed has left files
	return errors.Join(err, f.lock.Release())
}

// syncFile writes a file to the disk.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// syncDirs writes folders and their parents up to root to the disk.
func syncDirs(root string, dirs map[string]bool) error {
	synced := map[string]bool{}
	for dir := range dirs {
		for ; !synced[dir]; dir = filepath.Dir(dir) {
			if err := manifest.SyncDir(dir); err != nil {
				return err
			}
			if synced[dir] = true; dir == filepath.Clean(root) {
				break
			}
		}
	}
	return nil
}
