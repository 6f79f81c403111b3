package local

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filelock"
	"github.com/orrery/orrery/shared/report/worker"
)

// readOnly reports whether this process may create no files in a folder.
func readOnly(folder string) bool {
	f, err := os.CreateTemp(folder, ".writable-*")
	if err != nil {
		return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
	}
	return errors.Join(f.Close(), os.Remove(f.Name())) != nil
}

// makeSpill returns a folder for temporary files of the queries of this process, or nil if it cannot be made. Then a
// query that needs more memory than it may take is refused. Two processes must not have the same folder: their DuckDBs
// would write to the same files.
func makeSpill(data string) (*filelock.Folder, error) {
	if readOnly(data) {
		return nil, nil
	}
	all := filepath.Join(data, "spill")
	if linked, err := filepath.EvalSymlinks(all); err == nil {
		all = linked // to a disk with more space
	}
	spill, err := filelock.OwnFolder(all)
	if fault.IsFull(err) {
		return nil, nil
	}
	return spill, err
}

// documentFile is a database of documents. Each call tries to open it again if it cannot be written, because its
// folder is read-only or the disk is full. Meanwhile it is read if the folder is read-only, and others of the folder
// if the disk is full.
type documentFile struct {
	folder  string
	connect func(ctx context.Context, readOnly bool) (document.Store, io.Closer, error)

	mu       sync.Mutex
	store    document.Store // nil: it is not open
	readOnly bool           // store cannot be written
	files    []io.Closer    // of all stores: a request may still use an earlier one
}

// openDocuments opens a database of documents in a data folder, which may be read-only, or on a full disk.
func openDocuments(
	ctx context.Context, folder string, connect func(context.Context, bool) (document.Store, io.Closer, error),
) (*documentFile, error) {
	d := &documentFile{folder: folder, connect: connect}
	if _, err := d.open(ctx); err != nil && !fault.IsFull(err) && fault.KindOf(err) != fault.ReadOnly {
		return nil, err
	}
	return d, nil
}

// open returns the database. Errors: fault.Full, or fault.ReadOnly if it cannot be read without writing.
func (d *documentFile) open(ctx context.Context) (document.Store, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.store != nil && (!d.readOnly || readOnly(d.folder)) {
		return d.store, nil
	}
	onlyReads := readOnly(d.folder)
	store, file, err := d.connect(ctx, onlyReads)
	switch {
	case onlyReads && errors.Is(err, fs.ErrNotExist):
		return noDocuments{}, nil
	case fault.IsFull(err):
		return nil, fault.Wrap(fault.Full, err, "the disk is full, so the database cannot be opened")
	case err != nil:
		return nil, err
	}
	d.store, d.readOnly, d.files = store, onlyReads, append(d.files, file)
	return store, nil
}

// Close closes the database.
func (d *documentFile) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for _, file := range d.files {
		errs = append(errs, file.Close())
	}
	return errors.Join(errs...)
}

// Newest implements document.Store.
func (d *documentFile) Newest(ctx context.Context, id document.ID) (document.Version, error) {
	store, err := d.open(ctx)
	if err != nil {
		return document.Version{}, err
	}
	return store.Newest(ctx, id)
}

// Version implements document.Store.
func (d *documentFile) Version(ctx context.Context, id document.ID, number int) (document.Version, error) {
	store, err := d.open(ctx)
	if err != nil {
		return document.Version{}, err
	}
	return store.Version(ctx, id, number)
}

// Versions implements document.Store.
func (d *documentFile) Versions(ctx context.Context, id document.ID) ([]document.Info, error) {
	store, err := d.open(ctx)
	if err != nil {
		return nil, err
	}
	return store.Versions(ctx, id)
}

// Append implements document.Store.
func (d *documentFile) Append(ctx context.Context, id document.ID, v document.Version) error {
	store, err := d.open(ctx)
	if err != nil {
		return err
	}
	return store.Append(ctx, id, v)
}

// Configurations implements worker.Documents. Only databases of package documentsqlite have it.
func (d *documentFile) Configurations(ctx context.Context, kind document.Kind) ([]string, error) {
	store, err := d.open(ctx)
	if err != nil {
		return nil, err
	}
	return store.(worker.Documents).Configurations(ctx, kind)
}

// List implements document.Store.
func (d *documentFile) List(ctx context.Context, kind document.Kind, config string) ([]document.Named, error) {
	store, err := d.open(ctx)
	if err != nil {
		return nil, err
	}
	return store.List(ctx, kind, config)
}

// noDocuments is the store of a read-only folder that has no database of documents.
type noDocuments struct{}

func (noDocuments) Newest(_ context.Context, id document.ID) (document.Version, error) {
	return document.Version{}, document.NotFound(id, 0)
}

func (noDocuments) Version(_ context.Context, id document.ID, number int) (document.Version, error) {
	return document.Version{}, document.NotFound(id, number)
}

func (noDocuments) Versions(_ context.Context, id document.ID) ([]document.Info, error) {
	return nil, document.NotFound(id, 0)
}

func (noDocuments) Append(context.Context, document.ID, document.Version) error { return errReadOnly }

func (noDocuments) List(context.Context, document.Kind, string) ([]document.Named, error) {
	return nil, nil
}

func (noDocuments) Configurations(context.Context, document.Kind) ([]string, error) { return nil, nil }

var errReadOnly = fault.New(fault.ReadOnly, "the data folder is read-only, so nothing was written")
