package datadir

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/filelock"
)

// CompleteThrough returns a time such that every log that was handed in before it is completely in the data, or was
// refused. A log is handed in when its Import begins, in any process. A file of the watched folder is handed in when it
// is put there, but only the Store of the Watcher knows of the files that wait. An import of a process that has died
// does not count: whoever began it has to begin it again. CompleteThrough returns the zero time if the Watcher has not
// seen the folder yet. While a folder cannot be read, it returns the time of the last poll that could read all.
func (s *Store) CompleteThrough(context.Context) (time.Time, error) {
	through := s.now()
	s.mu.Lock()
	if s.watching && s.watched.Before(through) {
		through = s.watched
	}
	s.mu.Unlock()
	entries, err := os.ReadDir(s.runningDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, fmt.Errorf("list running imports: %w", err)
	}
	for _, e := range entries {
		began, ok := beganAt(e.Name())
		if !ok || !began.Before(through) {
			continue
		}
		lock, err := filelock.TryAcquireExisting(filepath.Join(s.runningDir(), e.Name()))
		switch {
		case err == nil: // its process has died
			if err := lock.Release(); err != nil {
				return time.Time{}, err
			}
		case errors.Is(err, fs.ErrNotExist): // it has ended
		default: // it is running, or this user may not find out
			through = began
		}
	}
	return through, nil
}

// runningDir is the directory of the locks that running imports hold: <began in milliseconds>-<unique>.lock.
func (s *Store) runningDir() string { return filepath.Join(s.dir, "locks", "imports") }

// beganAt returns the time in the name of a lock of a running import.
func beganAt(name string) (time.Time, bool) {
	text, _, _ := strings.Cut(name, "-")
	ms, err := strconv.ParseInt(text, 10, 64)
	return time.UnixMilli(ms), err == nil && strings.HasSuffix(name, ".lock")
}

// announce makes an import visible to CompleteThrough until the returned function is called. The import counts as begun
// when its lock is held. The time in its name is earlier.
func (s *Store) announce(ctx context.Context) (end func() error, err error) {
	for {
		name := strconv.FormatInt(s.now().UnixMilli(), 10) + "-" + rand.Text()
		path := filepath.Join(s.runningDir(), name+".lock")
		lock, err := filelock.Acquire(ctx, path)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(path); err == nil {
			return func() error {
				err := lock.Release()
				_ = os.Remove(path) // the next Open removes what is left
				return err
			}, nil
		}
		// Open took the file for that of a process that had died, before it was locked.
		if err := lock.Release(); err != nil {
			return nil, err
		}
	}
}

// forgetImports removes the locks of imports whose processes have died.
func (s *Store) forgetImports() error {
	entries, err := os.ReadDir(s.runningDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list running imports: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(s.runningDir(), e.Name())
		lock, err := filelock.TryAcquireExisting(path)
		if errors.Is(err, filelock.ErrLocked) || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		_ = os.Remove(path) // a system that cannot remove an open file leaves it
		if err := lock.Release(); err != nil {
			return err
		}
	}
	return nil
}

// setWatched records a time such that every file that was put into the watched folder before it was imported or
// refused. The zero time means that a Watcher has begun.
func (s *Store) setWatched(through time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watching, s.watched = true, through
}
