package sqlitefile

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/orrery/orrery/shared/fault"
)

// OpenReadOnly opens an existing file with a write-ahead log in a folder that this process cannot write. It returns
// fs.ErrNotExist if there is no file or Prepare has not completed it, and another error unless the file has the
// version. The version of a file without Prepare is 0.
func OpenReadOnly(ctx context.Context, path string, version int) (*File, error) {
	const wait, connections = 10 * time.Second, 4
	source := dataSource(path, Options{Mode: ReadOnly, BusyTimeout: wait}) + "&_pragma=user_version" // reads the file
	withLog, err := sqlite.NewConnector(source)
	if err != nil {
		return nil, err
	}
	alone, err := sqlite.NewConnector(source + "&immutable=1")
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector{readOnly{withLog, alone, path}, wait})
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(0) // see readOnly
	f := &File{db, path}
	found, err := versionOf(ctx, f)
	switch {
	case err != nil || found == version:
	case found == 0:
		err = &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	default:
		err = otherVersion(found, version)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// readOnly opens a file for reading in a folder in which SQLite cannot create files. SQLite then reads the write-ahead
// log only if other processes have left both of its files. Without a log, the file is complete by itself.
//
// It is then opened without locks, because SQLite cannot create the file that holds them either. A process that may
// write, through another mount of the folder, does not know of such a connection, so each call needs a new one.
type readOnly struct {
	withLog, alone driver.Connector

	path string
}

// Connect opens a connection.
func (c readOnly) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.withLog.Connect(ctx)
	mounted, forbidden := hasCode(err, sqlite3.SQLITE_CANTOPEN), hasCode(err, sqlite3.SQLITE_READONLY)
	if !mounted && !forbidden {
		return conn, err
	}
	if _, err := os.Stat(c.path); err != nil {
		return nil, err
	}
	log, failed := os.Stat(c.path + "-wal")
	switch {
	case failed == nil && log.Size() > 0: // without it, the newest writes would be missing
		name := filepath.Base(c.path)
		return nil, fault.New(fault.ReadOnly, "the data folder is read-only, and %s-wal has changes that are not in "+
			"%s yet; run orrery imports once as a user who may write", name, name)
	case failed != nil && !errors.Is(failed, fs.ErrNotExist):
		return nil, errors.Join(err, failed)
	}
	return c.alone.Connect(ctx)
}

// Driver returns the driver of the connections.
func (c readOnly) Driver() driver.Driver { return c.withLog.Driver() }

// otherVersion is the error of a file with another version of its format than this program supports.
func otherVersion(found, supported int) error {
	return fmt.Errorf("the file has format %d, but this program supports only format %d: a newer version created it",
		found, supported)
}
