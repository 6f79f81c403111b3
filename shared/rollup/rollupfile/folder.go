// Package rollupfile keeps rollups in a folder.
package rollupfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/rollup"
)

// Folder is a folder of rollups, each in a file that is named for its day.
type Folder string

const (
	extension = ".rollup"
	temporary = ".tmp" // the end of the name of a file that is being written
)

// Path returns the path of the rollup of a day that starts at a time in Unix seconds.
func (f Folder) Path(start int64) string {
	return filepath.Join(string(f), time.Unix(start, 0).UTC().Format(time.DateOnly)+extension)
}

// Read reads the rollup of a day. Errors are rollup.ErrInvalid and those of the file system.
func (f Folder) Read(start int64) (*rollup.Day, error) {
	content, err := os.ReadFile(f.Path(start))
	if err != nil {
		return nil, err
	}
	day, err := rollup.Decode(content)
	if err == nil && day.Start != start {
		err = fmt.Errorf("%w: it is of another day", rollup.ErrInvalid)
	}
	return day, err
}

// Write writes a rollup and reads it again. Then it replaces the rollup of its day, if there is one. Interrupted, it
// leaves the earlier rollup.
func (f Folder) Write(d *rollup.Day) (err error) {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(string(f), "*"+temporary)
	if err != nil {
		return fmt.Errorf("write rollup: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write rollup: %w", err), removeFile(file.Name()))
		}
	}()
	_, err = file.Write(d.Encode())
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	written, err := os.ReadFile(file.Name())
	if err == nil {
		_, err = rollup.Decode(written)
	}
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), f.Path(d.Start))
}

// Remove removes the rollup of a day, if there is one.
func (f Folder) Remove(start int64) error { return removeFile(f.Path(start)) }

func removeFile(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// abandoned is the age of a file that an interrupted Write has left.
const abandoned = time.Hour

// Days lists the starts of the days that have a rollup, in Unix seconds, ascending. It removes what interrupted calls of
// Write have left.
func (f Folder) Days() (starts []int64, err error) {
	entries, err := os.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if info, gone := e.Info(); gone == nil && strings.HasSuffix(e.Name(), temporary) && time.Since(info.ModTime()) > abandoned {
			err = errors.Join(err, removeFile(filepath.Join(string(f), e.Name())))
		}
		name, found := strings.CutSuffix(e.Name(), extension)
		if day, err := time.Parse(time.DateOnly, name); found && err == nil {
			starts = append(starts, day.Unix())
		}
	}
	return starts, err
}
