// Package backup copies a data folder while it is used, and restores it.
//
// A backup is a folder or a tar file. Both have the current objects of the lake, a copy of each database, the index as
// one file, and at the end a manifest with the digests of all files. Objects never change, so a further backup into the
// same folder copies only those that are new. scripts/README.md describes what a backup has of a data folder.
package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/ingest/datadir/ledgersqlite"
	"github.com/orrery/orrery/shared/ingest/datadir/manifest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/sqlitefile"
)

// Options are the options of backups and restores.
type Options struct {
	Program  string                  // the version of this program
	Now      func() time.Time        //
	Progress func(done, total int64) // bytes; nil: is not called
	// onStep, if set, is called before each step that a crash can separate from the next one.
	onStep func(step string)
}

func (o Options) step(name string) {
	if o.onStep != nil {
		o.onStep(name)
	}
}

// Report is the result of a backup.
type Report struct {
	Records int64
	Objects int
	Copied  int      // objects that the backup did not have
	Bytes   int64    // of these
	Removed int      // files of an earlier state that were removed from the backup
	Missing []string // objects that neither the data folder nor the backup has
}

// target is what a backup is written to.
type target interface {
	// scratch returns a private folder for files that are made for the backup.
	scratch() string
	// prepare is called before the first file.
	prepare(in Manifest, total int64) error
	// put adds a file that may be another one in the next backup.
	put(ctx context.Context, name, file string) error
	// object adds an object, or returns errMissing.
	object(ctx context.Context, o lake.Object, file string) error
	// finish completes the backup.
	finish() error
}

// errMissing is the error of an object that neither the data folder nor the backup has.
var errMissing = errors.New("the object is missing")

// take writes a backup of a data folder.
func take(ctx context.Context, data string, to target, o Options) (report Report, err error) {
	store, err := datadir.Open(ctx, data, ledgersqlite.Open, o.Now)
	if err != nil {
		return report, full(err, data)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	files := &state{data: data, scratch: to.scratch()}
	var copying error // of files of the target
	snapshot, err := store.Snapshot(ctx, func() error {
		copying = files.copyConsistent(ctx)
		return copying
	})
	if copying != nil {
		return report, err
	}
	if err != nil {
		return report, full(err, data)
	}
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	o.step("after the snapshot")
	if err := files.copyOthers(ctx, snapshot.Head); err != nil {
		return report, err
	}
	in := Manifest{Version: version, At: o.Now().UTC(), Program: o.Program}
	total := int64(0)
	for _, object := range snapshot.Objects {
		in.Records, total = in.Records+object.Rows, total+object.Bytes
	}
	if in.First, in.Imports, err = files.history(ctx); err != nil {
		return report, err
	}
	if err := to.prepare(in, total); err != nil {
		return report, err
	}
	for _, name := range files.names {
		o.step("before a file")
		if err := to.put(ctx, name, files.path(name)); err != nil {
			return report, err
		}
	}
	for _, object := range snapshot.Objects {
		name := path.Join("lake", object.Path)
		err := to.object(ctx, object, filepath.Join(data, filepath.FromSlash(name)))
		if errors.Is(err, errMissing) {
			report.Missing = append(report.Missing, object.Path)
			continue
		}
		if err != nil {
			return report, err
		}
	}
	report.Records, report.Objects = in.Records, len(snapshot.Objects)
	return report, to.finish()
}

// state is what a backup holds besides the objects, as copies in a scratch folder.
type state struct {
	data, scratch string
	names         []string // in the data folder, with slashes
}

// path returns the copy of a file.
func (s *state) path(name string) string { return filepath.Join(s.scratch, filepath.FromSlash(name)) }

// add prepares the copy of a file and returns its path.
func (s *state) add(name string) (string, error) {
	s.names = append(s.names, name)
	return s.path(name), os.MkdirAll(filepath.Dir(s.path(name)), 0o700)
}

// copyConsistent copies what must agree with the index.
func (s *state) copyConsistent(ctx context.Context) error {
	if err := s.copyDatabase(ctx, local.Databases[0]); err != nil {
		return err
	}
	return s.copyFolder(ctx, local.Folders[0])
}

// copyOthers copies the rest. The values of lists are copied after the database that names them.
func (s *state) copyOthers(ctx context.Context, head []byte) error {
	for _, name := range local.Databases[1:] {
		if err := s.copyDatabase(ctx, name); err != nil {
			return err
		}
	}
	for _, name := range local.Folders[1:] {
		if err := s.copyFolder(ctx, name); err != nil {
			return err
		}
	}
	if err := s.copyFile(ctx, local.Settings); err != nil {
		return err
	}
	file, err := s.add(headName)
	if err != nil {
		return err
	}
	return os.WriteFile(file, head, 0o600)
}

// headName is the index in a data folder.
const headName = "lake/" + manifest.HeadName

// copyDatabase copies a database if there is one.
func (s *state) copyDatabase(ctx context.Context, name string) error {
	from := filepath.Join(s.data, name)
	if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	file, err := s.add(name)
	if err != nil {
		return err
	}
	err = sqlitefile.Copy(ctx, from, file)
	if sqlitefile.IsFullToOpen(err) {
		return full(err, s.data)
	}
	return err
}

// copyFolder copies the files of a folder if there is one, without those that are being written.
func (s *state) copyFolder(ctx context.Context, name string) error {
	entries, err := os.ReadDir(filepath.Join(s.data, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || strings.HasPrefix(e.Name(), ".") || strings.HasSuffix(e.Name(), ".tmp") {
			continue
		}
		if err := s.copyFile(ctx, path.Join(name, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// copyFile copies a file if there is one, with its time.
func (s *state) copyFile(ctx context.Context, name string) error {
	from, err := os.Open(filepath.Join(s.data, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // it was only read
	file, err := s.add(name)
	if err != nil {
		return err
	}
	info, err := from.Stat()
	if err != nil {
		return err
	}
	_, err = write(ctx, file, from, info.ModTime())
	return err
}

// history returns the first import of the ledger and the number of all imports. In a later state of the same folder,
// the first one is the same, and their number is not less.
func (s *state) history(ctx context.Context) (first string, imports int, err error) {
	l, err := ledgersqlite.Open(ctx, s.path(local.Databases[0]), false)
	if err != nil {
		return "", 0, err
	}
	sources, err := l.Sources(ctx)
	if err := errors.Join(err, l.Close()); err != nil {
		return "", 0, err
	}
	for i, source := range sources {
		if i == 0 {
			first = source.ID + " " + source.First.UTC().Format(time.RFC3339Nano)
		}
		imports += source.Imports
	}
	return first, imports, nil
}

// full adds to an error of a full disk what is full, unless the error says that already.
func full(err error, where string) error {
	var known *fullError
	if !fault.IsFull(err) || errors.As(err, &known) {
		return err
	}
	return &fullError{fault.Wrap(fault.Full, err, "the disk of %s is full; free space and run the command again", where)}
}

// fullError says which disk is full.
type fullError struct{ err error }

func (e *fullError) Error() string { return e.err.Error() }

func (e *fullError) Unwrap() error { return e.err }

// interruptible is a reader that ends with a context.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

func (i interruptible) Read(b []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.r.Read(b)
}

// notIn returns an error if a path is in a folder or is the folder.
func notIn(folder, path string) error {
	inside, err := within(folder, path)
	if err == nil && inside {
		err = fmt.Errorf("%s is in the data folder, and would be lost with it; name another place", path)
	}
	return err
}

// within reports whether a path, which need not exist, is in a folder or is the folder.
func within(folder, path string) (bool, error) {
	folder, err := resolve(folder)
	if err != nil {
		return false, err
	}
	if path, err = resolve(path); err != nil {
		return false, err
	}
	relative, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(relative), nil
}

// resolve returns an absolute path without the symbolic links of the part that exists.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if found, err := filepath.EvalSymlinks(path); err == nil {
		return found, nil
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path, nil
	}
	parent, err = resolve(parent)
	return filepath.Join(parent, filepath.Base(path)), err
}
