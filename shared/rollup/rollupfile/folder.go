// Package rollupfile keeps rollups in a folder.
package rollupfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/rollup"
	"github.com/orrery/orrery/shared/wholefile"
)

// Folder is a folder of rollups. The rollup of a day is in a file that is named for the day, and those of its subsets
// are in a folder that is named for it.
type Folder string

const extension = ".rollup"

// Weeks returns the folder of the rollups of weeks, which are named for their first days.
func (f Folder) Weeks() Folder { return Folder(filepath.Join(string(f), "weeks")) }

// Path returns the path of the rollup of a subset of a day that starts at a time in Unix seconds.
func (f Folder) Path(start int64, subset rollup.Subset) string {
	if subset == (rollup.Subset{}) {
		return f.dayPath(start) + extension
	}
	return f.PathOf(start, subset.ID())
}

// PathOf is Path, given the ID of the subset.
func (f Folder) PathOf(start int64, id string) string {
	return filepath.Join(f.dayPath(start), id+extension)
}

func (f Folder) dayPath(start int64) string {
	return filepath.Join(string(f), time.Unix(start, 0).UTC().Format(time.DateOnly))
}

// Write writes a rollup with its lists, and reads it again. Then it replaces the rollup of its subset of the day, if
// there is one. Interrupted, it leaves the earlier rollup.
func (f Folder) Write(d *rollup.Day, lists rollup.Lists) error {
	path := f.Path(d.Start, d.Subset)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return wholefile.Replace(path, d.EncodeWith(lists))
}

// keyName is the name of the file with the key of the hashes.
const keyName = "hash-key"

// HashKeyPath returns the path of the file with the key of the hashes.
func (f Folder) HashKeyPath() string { return filepath.Join(string(f), keyName) }

// HashKey returns the key of the hashes in the lists of all days. Without one, the error is fs.ErrNotExist.
func (f Folder) HashKey() (key rollup.HashKey, err error) {
	content, err := os.ReadFile(f.HashKeyPath())
	if err == nil && len(content) != len(key) {
		err = fmt.Errorf("%w: the length of %s is wrong", rollup.ErrInvalid, keyName)
	}
	copy(key[:], content)
	return key, err
}

// MakeHashKey returns the key of the hashes. If there is none, or it is damaged, it makes one.
func (f Folder) MakeHashKey() (key rollup.HashKey, err error) {
	if key, err = f.HashKey(); err == nil {
		return key, nil
	}
	if errors.Is(err, rollup.ErrInvalid) {
		if err := removeFile(f.HashKeyPath()); err != nil {
			return key, err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	rand.Read(key[:])
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return key, err
	}
	if err := wholefile.Create(f.HashKeyPath(), key[:]); err != nil && !errors.Is(err, fs.ErrExist) {
		return key, err
	} // otherwise another process has made one
	return f.HashKey()
}

// Remove removes the rollups of a day and of its subsets, if there are any.
func (f Folder) Remove(start int64) error {
	return errors.Join(removeFile(f.Path(start, rollup.Subset{})), os.RemoveAll(f.dayPath(start)))
}

func removeFile(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// removeAbandoned removes a file that an interrupted Write has left.
func removeAbandoned(folder string, e fs.DirEntry) error {
	if info, gone := e.Info(); gone == nil && strings.HasSuffix(e.Name(), wholefile.Extension) && time.Since(info.ModTime()) > abandoned {
		return removeFile(filepath.Join(folder, e.Name()))
	}
	return nil
}

// abandoned is the age of a file that an interrupted Write has left.
const abandoned = time.Hour

// Days lists the starts of the days that have a rollup, or one of a subset, in Unix seconds, ascending. It removes what
// interrupted calls of Write have left of days.
func (f Folder) Days() (starts []int64, err error) {
	entries, err := os.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		err = errors.Join(err, removeAbandoned(string(f), e))
		name, isFile := strings.CutSuffix(e.Name(), extension)
		if day, err := time.Parse(time.DateOnly, name); err == nil && isFile != e.IsDir() {
			starts = append(starts, day.Unix())
			if e.IsDir() {
				subsets, failed := os.ReadDir(filepath.Join(string(f), name))
				err = errors.Join(err, failed)
				for _, of := range subsets {
					err = errors.Join(err, removeAbandoned(filepath.Join(string(f), name), of))
				}
			}
		}
	}
	return slices.Compact(starts), err // the folder of a day sorts before its file, and nothing between them
}
