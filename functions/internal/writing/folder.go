package writing

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/orrery/orrery/shared/filelock"
)

const (
	workFolders = "orrery-functions" // in the temporary folder: holds one folder per process
	markFile    = ".orrery-function" // in the folder of a process, which holds the lock on it
	workFolder  = "work"             // next to the mark: holds everything else
)

// ownLocks holds the locks on the marks of this process until it ends. Without a reference the garbage collector would
// close the files, which releases the locks, and the next process would remove the folders.
var ownLocks []*filelock.Lock

// ownFolder creates a folder below temp for this process alone, and removes the folders of processes that have ended: a
// process that was killed leaves its files behind, and they take space from its successor. It removes only folders that
// contain the mark. A folder belongs to the process that holds the lock on its mark.
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
		lock, err := filelock.TryAcquire(mark)
		if errors.Is(err, filelock.ErrLocked) {
			continue // another process is about to remove the folder
		}
		if err != nil {
			return "", err
		}
		if _, err := os.Lstat(mark); errors.Is(err, os.ErrNotExist) {
			if err := lock.Release(); err != nil {
				return "", err
			}
			continue // another process has removed the folder before the mark was locked
		}
		ownLocks = append(ownLocks, lock)
		work := filepath.Join(own, workFolder)
		return work, os.Mkdir(work, 0o700)
	}
}

// makeFolder creates a folder unless it exists. A symbolic link to a folder is an error.
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

// removeEnded removes the folders with a mark that no process has locked.
func removeEnded(all string) error {
	entries, err := os.ReadDir(all)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !entry.IsDir() { // a symbolic link to a folder is not followed
			continue
		}
		folder := filepath.Join(all, entry.Name())
		lock, err := filelock.TryAcquireExisting(filepath.Join(folder, markFile))
		if err != nil {
			continue // locked by its process, or without a mark
		}
		// The mark is removed last, so that the next process completes an interrupted removal.
		err = os.RemoveAll(filepath.Join(folder, workFolder))
		if err == nil {
			err = os.RemoveAll(folder)
		}
		if err := errors.Join(err, lock.Release()); err != nil {
			return err
		}
	}
	return nil
}
