package logs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Open opens a log and returns its name and its size in bytes, which is -1 unless it is a regular file.
func Open(file string, stdin io.Reader) (name string, in io.ReadCloser, size int64, err error) {
	if file == "-" {
		return "standard input", io.NopCloser(stdin), -1, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return "", nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder; name the logs in it, such as %s", file, filepath.Join(file, "*.gz"))
	}
	if err != nil {
		return "", nil, 0, errors.Join(err, f.Close())
	}
	size = info.Size()
	if !info.Mode().IsRegular() {
		size = -1
	}
	return filepath.Base(file), f, size, nil
}
