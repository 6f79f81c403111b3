package local

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"path/filepath"
	"sync"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/sqlitefile"
	"github.com/orrery/orrery/shared/table"
	"github.com/orrery/orrery/shared/table/tablesqlite"
)

// tableFile is the table in a file of a data folder. Each call tries to open the file again if it cannot be written, because
// its folder is read-only or the disk is full. Meanwhile it is only read.
type tableFile struct {
	folder, name string
	layout       tablesqlite.Layout
	opened       func(ctx context.Context, in table.Table) error // is called when the file can be written; nil: nothing is
	onFullDisk   bool                                            // the file can be read without space for another file

	mu    sync.Mutex
	table table.Table          // nil: it is not open
	done  bool                 // table can be written
	files []*tablesqlite.Table // all that were opened: a request may still use an earlier one
}

// open returns the table. Errors: fault.Full, or fault.ReadOnly if the file cannot be read without writing.
func (f *tableFile) open(ctx context.Context) (table.Table, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.done {
		return f.table, nil
	}
	if readOnly(f.folder) {
		return f.openReadOnly(ctx, sqlitefile.ErrReadOnly)
	}
	opened, err := tablesqlite.Open(ctx, f.path(), f.layout)
	if err == nil && f.opened != nil {
		if err = f.opened(ctx, opened); err != nil {
			err = errors.Join(err, opened.Close())
		}
	}
	switch {
	case fault.IsFull(err) && f.onFullDisk:
		return f.openReadOnly(ctx, fault.Wrap(fault.Full, err, "the disk is full, so nothing was written"))
	case fault.IsFull(err):
		return nil, fault.Wrap(fault.Full, err, "the disk is full, so the database cannot be opened")
	case err != nil:
		return nil, err
	}
	f.table, f.done, f.files = opened, true, append(f.files, opened)
	return opened, nil
}

func (f *tableFile) path() string { return filepath.Join(f.folder, f.name) }

// openReadOnly returns the table of a file that cannot be written. It has no items until there is a file.
func (f *tableFile) openReadOnly(ctx context.Context, refusal error) (table.Table, error) {
	if f.table != nil {
		return f.table, nil
	}
	opened, err := tablesqlite.OpenReadOnly(ctx, f.path(), f.layout)
	if errors.Is(err, fs.ErrNotExist) {
		return unwritable{noItems{}, refusal}, nil
	}
	if err != nil {
		return nil, err
	}
	f.table, f.files = unwritable{opened, refusal}, append(f.files, opened)
	return f.table, nil
}

// Close closes the file.
func (f *tableFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, file := range f.files {
		errs = append(errs, file.Close())
	}
	return errors.Join(errs...)
}

// Get implements table.Table.
func (f *tableFile) Get(ctx context.Context, key table.Key) (table.Item, error) {
	in, err := f.open(ctx)
	if err != nil {
		return table.Item{}, err
	}
	return in.Get(ctx, key)
}

// Range implements table.Table.
func (f *tableFile) Range(ctx context.Context, r table.Range) iter.Seq2[table.Item, error] {
	in, err := f.open(ctx)
	if err != nil {
		return func(yield func(table.Item, error) bool) { yield(table.Item{}, err) }
	}
	return in.Range(ctx, r)
}

// Write implements table.Table.
func (f *tableFile) Write(ctx context.Context, changes ...table.Change) error {
	in, err := f.open(ctx)
	if err != nil {
		return err
	}
	return in.Write(ctx, changes...)
}

// unwritable is a table that refuses writes.
type unwritable struct {
	table.Table
	refusal error
}

// Write implements table.Table.
func (u unwritable) Write(context.Context, ...table.Change) error { return u.refusal }

// noItems is a table without items, for reading.
type noItems struct{ table.Table }

// Get implements table.Table.
func (noItems) Get(_ context.Context, key table.Key) (table.Item, error) {
	return table.Item{Key: key}, nil
}

// Range implements table.Table.
func (noItems) Range(context.Context, table.Range) iter.Seq2[table.Item, error] {
	return func(func(table.Item, error) bool) {}
}
