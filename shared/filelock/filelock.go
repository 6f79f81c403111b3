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

// Lock is an exclusive lock on a file, between processes and between the goroutines of one process. The operating
// system releases it when the process ends, and the garbage collector may release it when the Lock is unreachable.
// Release keeps the file: if it were removed, two processes could hold the lock.
type Lock struct{ file *os.File }

// ErrLocked means that another holder has the lock.
var ErrLocked = errors.New("locked by another process")

// retryAfter is how long Acquire waits between two attempts.
const retryAfter = 20 * time.Millisecond

// Acquire waits until it holds the lock on a file or the context ends. It creates the file and its directory if needed.
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

// TryAcquire takes the lock on a file or returns ErrLocked. It creates the file and its directory if needed.
func TryAcquire(path string) (*Lock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make directory of lock: %w", err)
	}
	return tryAcquire(path, os.O_CREATE)
}

// TryAcquireExisting takes the lock on a file or returns ErrLocked. It creates nothing: the file must exist. On Unix a
// symbolic link is an error.
func TryAcquireExisting(path string) (*Lock, error) { return tryAcquire(path, noFollow) }

func tryAcquire(path string, flags int) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := lockFile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Lock{file: f}, nil
}

// Release releases the lock.
func (l *Lock) Release() error {
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("release lock: %w", err)
	}
	return nil
}
