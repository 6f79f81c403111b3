// Package wholefile writes files that are never there in part: a file has all of its contents or does not exist,
// whenever a reader looks and wherever the program is killed.
package wholefile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// OnStep, if set, is called before each step of writing a file after which a crash may come, with the path of the file.
// Tests set it before anything is written, and end the process in it.
var OnStep func(step, path string)

func step(name, path string) {
	if OnStep != nil {
		OnStep(name, path)
	}
}

// Extension ends the names of files that are being written. Prefix begins them.
const Extension = ".tmp"

// errDiffers is an error of the disk or of its driver: nothing else changes a file with such a name.
var errDiffers = errors.New("the file does not have the contents that were written")

// Replace writes a file that only its owner can read and write, and replaces the one that has its name. The new
// contents are on the disk and have been read again before that. The name is durable once the folder is synced.
func Replace(path string, content []byte) error { return write(path, content, os.Rename) }

// Create is like Replace if there is no file of that name. Otherwise the error is fs.ErrExist.
func Create(path string, content []byte) error {
	return write(path, content, func(from, to string) error {
		if err := os.Link(from, to); err != nil {
			return err
		}
		return os.Remove(from)
	})
}

// write writes a file under another name in the same folder, and moves it to its place.
func write(path string, content []byte, move func(from, to string) error) (err error) {
	step("before a file", path)
	file, err := os.CreateTemp(filepath.Dir(path), Prefix(path)+"*"+Extension) // with mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			if gone := os.Remove(file.Name()); !errors.Is(gone, fs.ErrNotExist) {
				err = errors.Join(err, gone)
			}
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	step("while a file is written", path)
	if _, err = file.Write(content); err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	written, err := os.ReadFile(file.Name())
	if err != nil {
		return err
	}
	if !bytes.Equal(written, content) {
		return errDiffers
	}
	step("before a file is moved", path)
	return move(file.Name(), path)
}

// Prefix returns the beginning of the temporary names that Replace and Create use for a path.
func Prefix(path string) string { return "." + filepath.Base(path) + "-" }
