package filelock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const (
	markFile   = ".orrery-process" // in the folder of a process, which holds the lock on it
	workFolder = "work"            // next to the mark: holds everything else
)

// Folder is a folder for the files of one process.
type Folder struct {
	Path string // where the files are

	whole string // the folder with the mark and Path
	lock  *Lock
}

// OwnFolder creates a folder below all for this process alone, and removes the folders of processes that have ended: a
// process that was killed leaves its files behind, and they take space from its successor. It removes only folders that
// contain the mark. A folder belongs to the process that holds the lock on its mark, so a Folder must stay reachable as
// long as it is used. OwnFolder creates all unless it exists. A symbolic link to a folder is an error.
func OwnFolder(all string) (*Folder, error) {
	if err := makeFolder(all); err != nil {
		return nil, err
	}
	if err := removeEnded(all); err != nil {
		return nil, err
	}
	for {
		whole, err := os.MkdirTemp(all, "")
		if err != nil {
			return nil, err
		}
		lock, err := lockOwn(whole)
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(whole))
		}
		if lock == nil {
			continue
		}
		f := &Folder{Path: filepath.Join(whole, workFolder), whole: whole, lock: lock}
		if err := os.Mkdir(f.Path, 0o700); err != nil {
			return nil, errors.Join(err, f.Remove())
		}
		return f, nil
	}
}

// lockOwn creates and locks the mark of a new folder. It returns nil if another process removes the folder meanwhile.
func lockOwn(whole string) (*Lock, error) {
	mark := filepath.Join(whole, markFile)
	lock, err := TryAcquire(mark)
	if errors.Is(err, ErrLocked) {
		return nil, nil // it is about to remove the folder
	}
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(mark); errors.Is(err, os.ErrNotExist) {
		return nil, lock.Release() // it has removed the folder before the mark was locked
	}
	return lock, nil
}

// Remove removes the folder and its files. Nothing of it may be in use.
func (f *Folder) Remove() error {
	err := os.RemoveAll(f.Path)
	// The mark is removed when it is closed, because some systems cannot remove an open file. No process makes the
	// folder its own.
	return errors.Join(err, f.lock.Release(), os.RemoveAll(f.whole))
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
		whole := filepath.Join(all, entry.Name())
		lock, err := TryAcquireExisting(filepath.Join(whole, markFile))
		if err != nil {
			continue // locked by its process, or without a mark
		}
		// The mark is removed last, so that the next process completes an interrupted removal.
		err = os.RemoveAll(filepath.Join(whole, workFolder))
		if err == nil {
			_ = os.RemoveAll(whole) // a system that cannot remove an open file leaves the mark
		}
		if err := errors.Join(err, lock.Release()); err != nil {
			return err
		}
	}
	return nil
}
