package tablesqlite

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/orrery/orrery/shared/sqlitefile"
)

// Layout is the layout of a file: the table of items, and the tables that earlier releases have in its place. They are views
// of the items, or triggers keep them in step, so that the release before reads what this one writes.
type Layout struct {
	noun    string   // of what the file has
	log     bool     // whether the file has a write-ahead log
	earlier []string // names of the tables of earlier releases
	tables  string   // statements that create these tables or views, with triggers
	moved   string   // a statement to execute once the rows are moved
}

// version is the version of the format of every file. Releases without a table of items have the same.
const version = 1

// The attributes are JSON. Long ones are in overflow pages, which a search for a key does not read.
const items = `
CREATE TABLE items (
  partition TEXT NOT NULL,
  sort TEXT NOT NULL,
  attributes TEXT NOT NULL,
  PRIMARY KEY (partition, sort)
) STRICT, WITHOUT ROWID;`

// create creates the tables of a new file.
func (l Layout) create(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, items+l.tables)
	return err
}

// move moves the rows of a file of an earlier release to the table of items.
func (l Layout) move(ctx context.Context, file *sqlitefile.File) error {
	if done, err := hasItems(ctx, file); done || err != nil {
		return err
	}
	return file.Write(ctx, func(tx *sql.Tx) error {
		if done, err := hasItems(ctx, tx); done || err != nil { // another process was first
			return err
		}
		var rename, insert, drop strings.Builder
		for _, name := range l.earlier {
			columns, err := columnsOf(ctx, tx, name)
			if err != nil {
				return err
			}
			fmt.Fprintf(&rename, "ALTER TABLE %[1]s RENAME TO earlier_%[1]s;", name)
			insert.WriteString(copyRows("earlier_"+name, name, columns))
			fmt.Fprintf(&drop, "DROP TABLE earlier_%s;", name)
		}
		_, err := tx.ExecContext(ctx, rename.String()+items+l.tables+insert.String()+drop.String()+l.moved)
		return err
	})
}

// load creates temporary tables on a connection, with the items of a file of an earlier release. They hide the tables of the
// file.
func (l Layout) load(ctx context.Context, conn *sql.Conn) error {
	if done, err := hasItems(ctx, conn); done || err != nil {
		return err
	}
	var insert strings.Builder
	for _, name := range l.earlier {
		columns, err := columnsOf(ctx, conn, name)
		if err != nil {
			return err
		}
		insert.WriteString(copyRows("main."+name, "temp."+name, columns))
	}
	temporary := strings.ReplaceAll(items+l.tables, "CREATE ", "CREATE TEMP ")
	_, err := conn.ExecContext(ctx, "PRAGMA temp_store = MEMORY;"+temporary+insert.String())
	return err
}

// openReadOnly opens an existing file, with a new connection for each call.
func (l Layout) openReadOnly(ctx context.Context, path string) (*sqlitefile.File, error) {
	if l.log {
		return sqlitefile.OpenReadOnly(ctx, path, version)
	}
	switch info, err := os.Stat(path); {
	case err != nil:
		return nil, err
	case info.Size() == 0: // a process could not create it, or is about to
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	options := sqlitefile.Options{Mode: sqlitefile.ReadOnly, BusyTimeout: busyTimeout, Connections: connections}
	file, err := sqlitefile.Open(path, options)
	if err == nil {
		file.SetMaxIdleConns(0)
	}
	return file, err
}

// hasItems reports whether a file has the table of items.
func hasItems(ctx context.Context, in sqlitefile.Querier) (has bool, err error) {
	const count = "SELECT count(*) FROM main.sqlite_master WHERE type = 'table' AND name = 'items'"
	err = in.QueryRowContext(ctx, count).Scan(&has)
	return has, err
}

// columnsOf returns the columns of a table. Some releases have fewer.
func columnsOf(ctx context.Context, in sqlitefile.Querier, name string) (columns string, err error) {
	const list = "SELECT coalesce(group_concat(name, ', '), '') FROM pragma_table_info(?, 'main')"
	err = in.QueryRowContext(ctx, list, name).Scan(&columns)
	if err == nil && columns == "" {
		err = fmt.Errorf("it has no table %s", name)
	}
	return columns, err
}

// copyRows returns the statement that copies rows. The versions of a document are in the order of their numbers, which are
// the second column.
func copyRows(from, to, columns string) string {
	return fmt.Sprintf("INSERT INTO %s (%s) SELECT %[2]s FROM %[3]s ORDER BY 2;", to, columns, from)
}
