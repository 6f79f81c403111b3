package writing

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

const (
	workFolders = "orrery-functions" // in the temporary folder: holds a folder for each process
	markFile    = ".orrery-function" // in the folder of a process, which holds its lock
	workFolder  = "work"             // beside the mark: everything else
)

// ownFolder makes a folder below temp that is this process's alone, and removes those of processes that have ended:
// one that was killed leaves its files behind, and the next in its place would have less room. Only folders that carry
// the mark are removed. A folder belongs to the process that holds the lock on its mark.
func ownFolder(temp string) (string, error) {
	all := filepath.Join(temp, workFolders)
	if err := makeFolder(all); err != nil {
		return "", err
	}
	if err := removeEnded(all); err != nil {
		return "", err
	}
	for {
		own, err := os.MkdirTemp(all, "")
		if err != nil {
			return "", err
		}
		mark := filepath.Join(own, markFile)
		_, err = lock(mark, syscall.O_CREAT)
		if errors.Is(err, syscall.EWOULDBLOCK) {
			continue // another process takes it for one that was left behind
		}
		if err != nil {
			return "", err
		}
		if _, err := os.Lstat(mark); errors.Is(err, os.ErrNotExist) {
			continue // another process has removed it already
		}
		work := filepath.Join(own, workFolder)
		return work, os.Mkdir(work, 0o700)
	}
}

// makeFolder makes a folder unless it is there. A symbolic link to one is an error.
func makeFolder(path string) error {
	if err := os.Mkdir(path, 0o700); err == nil || !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a folder", path)
	}
	return err
}

// removeEnded removes the marked folders that no process holds.
func removeEnded(all string) error {
	entries, err := os.ReadDir(all)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !entry.IsDir() { // nor a symbolic link to a folder
			continue
		}
		folder := filepath.Join(all, entry.Name())
		release, err := lock(filepath.Join(folder, markFile), 0)
		if err != nil {
			continue // held by its process, or not marked
		}
		// The mark goes last: a removal that is cut short is finished by the next process.
		err = os.RemoveAll(filepath.Join(folder, workFolder))
		if err == nil {
			err = os.RemoveAll(folder)
		}
		if err := errors.Join(err, release()); err != nil {
			return err
		}
	}
	return nil
}

// lock holds a file until release, or until the process ends. An os.File would let go when it is collected. A symbolic
// link is an error, and so is a file that is not there unless flags make it.
func lock(path string, flags int) (release func() error, err error) {
	fd, err := syscall.Open(path, syscall.O_RDWR|syscall.O_CLOEXEC|syscall.O_NOFOLLOW|flags, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, syscall.Close(fd))
	}
	return func() error { return syscall.Close(fd) }, nil
}
