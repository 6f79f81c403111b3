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
// its folder is read-only or the disk is full. Meanwhile it is only read, if that is possible.
type tableFile struct {
	folder, name string
	layout       tablesqlite.Layout
	opened       func(ctx context.Context, in table.Table) error // is called when the file can be written; nil: nothing is
	optional     bool                                            // if a full disk prevents a new file, there are no items

	mu       sync.Mutex
	table    table.Table          // nil: it is not open
	writable bool                 // table can be written
	files    []*tablesqlite.Table // all that were opened: a request may still use an earlier one
}

// open returns the table. Errors: fault.Full, or fault.ReadOnly if the file cannot be read without writing.
func (f *tableFile) open(ctx context.Context) (table.Table, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.writable {
		return f.table, nil
	}
	if readOnly(f.folder) {
		return f.openReadOnly(ctx, true, sqlitefile.ErrReadOnly)
	}
	err := f.openWritable(ctx)
	if !fault.IsFull(err) {
		return f.table, err
	}
	in, failed := f.openReadOnly(ctx, f.optional, fault.Wrap(fault.Full, err, "the disk is full, so nothing was written"))
	if failed != nil {
		return nil, fault.Wrap(fault.Full, err, "the disk is full, so the database cannot be opened")
	}
	return in, nil
}

// openWritable opens the file for reading and writing.
func (f *tableFile) openWritable(ctx context.Context) error {
	in, err := tablesqlite.Open(ctx, filepath.Join(f.folder, f.name), f.layout)
	if err != nil {
		return err
	}
	if f.opened != nil {
		if err := f.opened(ctx, in); err != nil {
			return errors.Join(err, in.Close())
		}
	}
	f.table, f.writable, f.files = in, true, append(f.files, in)
	return nil
}

// openReadOnly returns the table of a file that cannot be written. If there is no file, it has no items if it is optional.
func (f *tableFile) openReadOnly(ctx context.Context, optional bool, refusal error) (table.Table, error) {
	if f.table != nil {
		return f.table, nil
	}
	in, err := tablesqlite.OpenReadOnly(ctx, filepath.Join(f.folder, f.name), f.layout)
	if optional && errors.Is(err, fs.ErrNotExist) {
		return unwritable{noItems{}, refusal}, nil
	}
	if err != nil {
		return nil, err
	}
	f.table, f.files = unwritable{in, refusal}, append(f.files, in)
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
