package local

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filelock"
	"github.com/orrery/orrery/shared/report/running"
)

// writable reports whether files can be created in a folder.
func writable(folder string) bool {
	f, err := os.CreateTemp(folder, ".writable-*")
	if err != nil {
		return false
	}
	return f.Close() == nil && os.Remove(f.Name()) == nil
}

// makeSpill returns a folder for temporary files of the queries of this process, or nil if it cannot be made. Then a
// query that needs more memory than it may take is refused. Two processes must not have the same folder: their DuckDBs
// would write to the same files.
func makeSpill(data string, canWrite bool) (*filelock.Folder, error) {
	if !canWrite {
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

// documentFile is a database of documents. If it cannot be opened because the disk is full, the next call tries again, and
// meanwhile the others of the folder can be read.
type documentFile struct {
	connect func(context.Context) (document.Store, io.Closer, error)

	mu    sync.Mutex
	store document.Store // nil: it is not open
	file  io.Closer
}

// openDocuments opens a database of documents. The disk may be full.
func openDocuments(
	ctx context.Context, connect func(context.Context) (document.Store, io.Closer, error),
) (*documentFile, error) {
	d := &documentFile{connect: connect}
	if _, err := d.open(ctx); err != nil && !fault.IsFull(err) {
		return nil, err
	}
	return d, nil
}

// open returns the database. Errors: fault.Full.
func (d *documentFile) open(ctx context.Context) (document.Store, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.store != nil {
		return d.store, nil
	}
	store, file, err := d.connect(ctx)
	switch {
	case fault.IsFull(err):
		return nil, fault.Wrap(fault.Full, err, "the disk is full, so the database cannot be opened")
	case err != nil:
		return nil, err
	}
	d.store, d.file = store, file
	return store, nil
}

// Close closes the database.
func (d *documentFile) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.file == nil {
		return nil
	}
	return d.file.Close()
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

// Configurations implements running.Documents. Only databases of package documentsqlite have it.
func (d *documentFile) Configurations(ctx context.Context, kind document.Kind) ([]string, error) {
	store, err := d.open(ctx)
	if err != nil {
		return nil, err
	}
	return store.(running.Documents).Configurations(ctx, kind)
}

// List implements document.Store.
func (d *documentFile) List(ctx context.Context, kind document.Kind, config string) ([]document.Named, error) {
	store, err := d.open(ctx)
	if err != nil {
		return nil, err
	}
	return store.List(ctx, kind, config)
}

// noDocuments is the store of documents of a read-only folder. A database cannot be opened without writing; queries of
// traffic still work.
type noDocuments struct{ err error }

var (
	noPlanets = noDocuments{fault.New(fault.Unavailable,
		"this data folder is read-only, so its planet settings cannot be opened")}
	noFilters = noDocuments{fault.New(fault.Unavailable,
		"this data folder is read-only, so its saved filters cannot be opened")}
)

func (n noDocuments) Newest(context.Context, document.ID) (document.Version, error) {
	return document.Version{}, n.err
}

func (n noDocuments) Version(context.Context, document.ID, int) (document.Version, error) {
	return document.Version{}, n.err
}

func (n noDocuments) Versions(context.Context, document.ID) ([]document.Info, error) {
	return nil, n.err
}

func (n noDocuments) Append(context.Context, document.ID, document.Version) error { return n.err }

func (n noDocuments) List(context.Context, document.Kind, string) ([]document.Named, error) {
	return nil, n.err
}
