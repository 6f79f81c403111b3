package sqlitefile

import (
	"context"
	"database/sql/driver"
	"errors"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// retryInterval is the time between two attempts to open a connection.
const retryInterval = 5 * time.Millisecond

// connector waits until a connection can be opened. SQLite's own busy timeout does not cover the change of a new file
// to a write-ahead log: of two connections that try it at once, one gets SQLITE_BUSY immediately.
type connector struct {
	driver.Connector
	timeout time.Duration
}

// Connect opens a connection, and retries for as long as other connections lock the file, up to the timeout.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	timeout := time.NewTimer(c.timeout)
	defer timeout.Stop()
	retry := time.NewTicker(retryInterval)
	defer retry.Stop()
	for {
		conn, err := c.Connector.Connect(ctx)
		if !hasCode(err, sqlite3.SQLITE_BUSY) {
			return conn, err
		}
		select {
		case <-retry.C:
		case <-timeout.C:
			return nil, err
		case <-ctx.Done():
			return nil, errors.Join(err, ctx.Err())
		}
	}
}
