package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/orrery/orrery/shared/fault"
)

// Copy writes the content of an existing file, as it is at one instant, to a new file that needs no write-ahead log.
// Other processes may read and write the file meanwhile. The copy is on the disk when Copy returns.
func Copy(ctx context.Context, path, to string) error {
	err := vacuumInto(ctx, path, to)
	if IsFull(err) || fault.IsFull(err) {
		return fault.Wrap(fault.Full, err, "the disk is full, so %s was not copied", filepath.Base(path))
	}
	if err != nil {
		return fmt.Errorf("copy %s: %w", filepath.Base(path), errors.Join(ctx.Err(), err))
	}
	return nil
}

func vacuumInto(ctx context.Context, path, to string) error {
	own, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // SQLite would let others read it
	if err != nil {
		return err
	}
	file, err := Open(path, Options{Mode: ReadWrite, BusyTimeout: 30 * time.Second, Connections: 1})
	if err != nil {
		return errors.Join(err, own.Close())
	}
	_, err = file.ExecContext(ctx, "VACUUM INTO ?", to)
	err = errors.Join(err, file.Close())
	if err == nil {
		err = own.Sync()
	}
	return errors.Join(err, own.Close())
}
