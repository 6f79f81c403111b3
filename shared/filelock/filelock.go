// Package filelock locks files between processes.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Lock is an exclusive lock on a file, between processes and between goroutines of one. The operating system
// releases it when its holder dies. The file stays: removing it would let two holders in.
type Lock struct{ file *os.File }

// ErrLocked is the failure of TryAcquire when another holds the lock.
var ErrLocked = errors.New("locked by another process")

// retryAfter is how long Acquire waits between two tries.
const retryAfter = 20 * time.Millisecond

// Acquire waits until it holds the lock on the file, which it makes if needed, or until the context ends.
func Acquire(ctx context.Context, path string) (*Lock, error) {
	for {
		l, err := TryAcquire(path)
		if !errors.Is(err, ErrLocked) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for lock %s: %w", path, ctx.Err())
		case <-time.After(retryAfter):
		}
	}
}

// TryAcquire takes the lock or returns ErrLocked.
func TryAcquire(path string) (*Lock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("make directory of lock: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := lockFile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Lock{file: f}, nil
}

// Release gives the lock back.
func (l *Lock) Release() error {
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("release lock: %w", err)
	}
	return nil
}
