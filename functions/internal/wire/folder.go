//go:build !noparquet

package wire

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

const folderPrefix = "orrery-"

// ownFolder makes a folder in dir that is this process's alone, and removes those of processes that have ended: one
// that was killed leaves its files behind, and the next in its place would have less room. A folder belongs to the
// process that holds its lock.
func ownFolder(dir string) (string, error) {
	others, err := filepath.Glob(filepath.Join(dir, folderPrefix+"*"))
	if err != nil {
		return "", err
	}
	for _, folder := range others {
		if release, err := lock(folder); err == nil {
			err = errors.Join(os.RemoveAll(folder), release())
			if err != nil {
				return "", err
			}
		}
	}
	for {
		own, err := os.MkdirTemp(dir, folderPrefix)
		if err != nil {
			return "", err
		}
		if _, err := lock(own); err != nil {
			continue // another process took it for one that was left behind
		}
		if _, err := os.Stat(own); err == nil {
			return own, nil
		}
	}
}

// lock holds a folder until release, or until the process ends. An os.File would let go when it is collected.
func lock(folder string) (release func() error, err error) {
	fd, err := syscall.Open(folder, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, syscall.Close(fd))
	}
	return func() error { return syscall.Close(fd) }, nil
}
