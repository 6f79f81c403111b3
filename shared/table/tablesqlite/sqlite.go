// Package tablesqlite is a table in a SQLite file of a data folder. Several processes may open the file at once. When
// Write returns, the changes are on the disk, so a process that is killed later does not lose them. Items do not expire.
package tablesqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/orrery/orrery/shared/sqlitefile"
	"github.com/orrery/orrery/shared/table"
)

// Table implements table.Table over a SQLite file.
type Table struct {
	file     *sqlitefile.File
	layout   Layout
	readOnly bool
}

var _ table.Table = (*Table)(nil)

const (
	connections = 8 // maximum number of concurrent readers and writers in this process
	busyTimeout = 10 * time.Second
)

// Open opens the file at path, whose directory must exist. If the file does not exist, Open creates it, readable by its
// owner only. If an earlier release created it, Open moves its rows.
func Open(ctx context.Context, path string, l Layout) (*Table, error) {
	options := sqlitefile.Options{
		Mode: sqlitefile.Create, WAL: l.log, BusyTimeout: busyTimeout, Connections: connections,
	}
	file, err := sqlitefile.OpenPrepared(ctx, path, options, version, func(tx *sql.Tx) error { return l.create(ctx, tx) })
	if err != nil {
		return nil, fmt.Errorf("open %s %s: %w", l.noun, path, err)
	}
	if err := l.move(ctx, file); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s %s: %w", l.noun, path, err), file.Close())
	}
	return &Table{file, l, false}, nil
}

// OpenReadOnly opens an existing file without writing to it. Its error is fs.ErrNotExist if there is none. If an earlier
// release created the file, each call loads all of its rows.
func OpenReadOnly(ctx context.Context, path string, l Layout) (*Table, error) {
	file, err := l.openReadOnly(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("open %s %s: %w", l.noun, path, err)
	}
	t := &Table{file, l, true}
	if err := t.reading(ctx, func(*sql.Conn) error { return nil }); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s %s: %w", l.noun, path, err), file.Close())
	}
	return t, nil
}

// Close closes the file.
func (t *Table) Close() error { return t.file.Close() }

// reading calls read with a connection on which the items can be read.
func (t *Table) reading(ctx context.Context, read func(*sql.Conn) error) (err error) {
	conn, err := t.file.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if t.readOnly {
		if err := t.layout.load(ctx, conn); err != nil {
			return err
		}
	}
	return read(conn)
}

// Get implements table.Table.
func (t *Table) Get(ctx context.Context, key table.Key) (item table.Item, err error) {
	err = t.reading(ctx, func(conn *sql.Conn) error {
		item, err = get(ctx, conn, key)
		return err
	})
	return item, err
}

func get(ctx context.Context, in sqlitefile.Querier, key table.Key) (table.Item, error) {
	var text string
	err := in.QueryRowContext(ctx, "SELECT attributes FROM items WHERE partition = ? AND sort = ?", key.Partition, key.Sort).
		Scan(&text)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return table.Item{Key: key}, nil
	case err != nil:
		return table.Item{}, err
	}
	return itemOf(key, text)
}

// Range implements table.Table. It reads a page at a time, so that no lock is held while the caller has an item.
func (t *Table) Range(ctx context.Context, r table.Range) iter.Seq2[table.Item, error] {
	return func(yield func(table.Item, error) bool) {
		stopped := false
		err := t.reading(ctx, func(conn *sql.Conn) error {
			pages := pagesOf(r)
			for {
				page, err := pages.next(ctx, conn)
				if err != nil || len(page) == 0 {
					return err
				}
				for _, item := range page {
					if stopped = !yield(item, nil); stopped {
						return nil
					}
				}
			}
		})
		if err != nil && !stopped {
			yield(table.Item{}, err)
		}
	}
}

// Write implements table.Table. Errors: also fault.Full and fault.ReadOnly.
func (t *Table) Write(ctx context.Context, changes ...table.Change) error {
	if t.readOnly {
		return sqlitefile.ErrReadOnly
	}
	return t.file.Write(ctx, func(tx *sql.Tx) error {
		for _, c := range changes {
			if err := write(ctx, tx, c); err != nil {
				return err
			}
		}
		return nil
	})
}

func write(ctx context.Context, tx *sql.Tx, c table.Change) error {
	if c.When != (table.Condition{}) {
		before, err := get(ctx, tx, c.Key)
		if err != nil {
			return err
		}
		if !c.When.Holds(before) {
			return table.ErrConflict
		}
	}
	if c.Attributes == nil {
		_, err := tx.ExecContext(ctx, "DELETE FROM items WHERE partition = ? AND sort = ?", c.Key.Partition, c.Key.Sort)
		return err
	}
	text, err := textOf(c.Attributes)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO items VALUES (?, ?, ?)", c.Key.Partition, c.Key.Sort, text)
	return err
}
