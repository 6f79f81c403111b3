// Package sqlitefile opens SQLite files that several processes may use at once.
package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/orrery/orrery/shared/fault"
)

// Mode is how a file is opened, as in SQLite's URI parameter "mode".
type Mode string

// The modes.
const (
	ReadOnly  Mode = "ro"  // the file must exist and is never written
	ReadWrite Mode = "rw"  // the file must exist
	Create    Mode = "rwc" // the file is created if it does not exist
)

// Options are the settings of a file that differ between stores.
type Options struct {
	Mode        Mode
	WAL         bool          // a write-ahead log allows reads during a write, but is another file in the folder
	ForeignKeys bool          // foreign keys are enforced
	BusyTimeout time.Duration // how long a call waits for the locks of other connections
	Connections int           // maximum number of connections of this process
}

// Querier is a File, a connection or a transaction.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// File is an open file. Every commit is on the disk when it returns.
type File struct {
	*sql.DB
	path string
}

// Open returns the file at path. The first call opens it, so errors such as a missing directory are reported then. Only
// the owner can read and write a file that Open creates; SQLite gives its write-ahead log the same permissions.
func Open(path string, o Options) (*File, error) {
	if o.Mode == Create {
		create(path)
	}
	opener, err := sqlite.NewConnector(dataSource(path, o))
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector{opener, o.BusyTimeout})
	db.SetMaxOpenConns(o.Connections)
	db.SetMaxIdleConns(o.Connections)
	return &File{db, path}, nil
}

// OpenPrepared is Open and Prepare.
func OpenPrepared(
	ctx context.Context, path string, o Options, version int, create func(*sql.Tx) error,
) (*File, error) {
	f, err := Open(path, o)
	if err != nil {
		return nil, err
	}
	if err := f.Prepare(ctx, version, create); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// create creates an empty file that only its owner can read and write, unless there is a file. It does not open path,
// because closing it would release the locks that other connections of this process hold on it. If it fails, SQLite
// creates the file or reports why it cannot.
func create(path string) {
	if _, err := os.Lstat(path); err == nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // with mode 0600
	if err != nil {
		return
	}
	if f.Close() == nil {
		_ = os.Link(f.Name(), path)
	}
	_ = os.Remove(f.Name())
}

// dataSource returns the data source name of a file. SQLite applies the settings to each connection. Immediate
// transactions wait for the lock at their start instead of failing later.
func dataSource(path string, o Options) string {
	settings := url.Values{
		"mode":          {string(o.Mode)},
		"_synchronous":  {"FULL"},
		"_busy_timeout": {strconv.FormatInt(o.BusyTimeout.Milliseconds(), 10)},
		"_foreign_keys": {strconv.FormatBool(o.ForeignKeys)},
		"_txlock":       {"immediate"},
	}
	if o.WAL {
		settings.Set("_journal_mode", "WAL")
	}
	location := url.URL{Path: filepath.ToSlash(path)}
	file := url.URL{Scheme: "file", Opaque: location.EscapedPath(), RawQuery: settings.Encode()}
	return file.String()
}

// Prepare calls create in a transaction if the file is new, and marks the file with the version of its format (PRAGMA
// user_version). It returns an error if the file has another version.
func (f *File) Prepare(ctx context.Context, version int, create func(*sql.Tx) error) error {
	return f.Write(ctx, func(tx *sql.Tx) error {
		found, err := versionOf(ctx, tx)
		switch {
		case err != nil || found == version:
			return err
		case found != 0:
			return otherVersion(found, version)
		}
		if err := create(tx); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version))
		return err
	})
}

// versionOf returns the version with which Prepare has marked a file, or 0.
func versionOf(ctx context.Context, in Querier) (version int, err error) {
	err = in.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	return version, err
}

// Rows returns what scan reads from each row of a query.
func Rows[T any](
	ctx context.Context, in Querier, scan func(*sql.Rows) (T, error), query string, args ...any,
) (list []T, err error) {
	rows, err := in.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, rows.Err()
}

const nothingWritten = "the data folder is read-only, so nothing was written"

// ErrReadOnly is the error of a write to a file that is opened for reading.
var ErrReadOnly = fault.New(fault.ReadOnly, nothingWritten)

// Write calls change in a transaction, and commits it if change succeeds. Errors: fault.Full if the disk is full,
// fault.ReadOnly if the file cannot be written, and those of change.
func (f *File) Write(ctx context.Context, change func(*sql.Tx) error) error {
	err := f.write(ctx, change)
	switch {
	case IsFull(err):
		return fault.Wrap(fault.Full, err, "the disk is full, so nothing was written")
	case hasCode(err, sqlite3.SQLITE_READONLY):
		return fault.Wrap(fault.ReadOnly, err, nothingWritten)
	}
	return err
}

func (f *File) write(ctx context.Context, change func(*sql.Tx) error) error {
	tx, err := f.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(f.path), err)
	}
	if err := change(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// IsFull reports whether err is SQLite's error for a disk without space.
func IsFull(err error) bool { return hasCode(err, sqlite3.SQLITE_FULL) || IsFullToOpen(err) }

// IsFullToOpen reports whether err is SQLite's error for a file that cannot be opened because its disk has no space for
// the file of shared memory of a write-ahead log. The first process that opens the file makes that, even if it only reads.
func IsFullToOpen(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE
}

// hasCode reports whether err has a primary code of SQLite, which is the low byte of an extended one.
func hasCode(err error, primary int) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == primary
}
