// Package listfile keeps the values of lists in a folder.
package listfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/valuelist"
	"github.com/orrery/orrery/shared/wholefile"
)

// Folder is a folder of objects, each in a file that is named for its digest.
type Folder string

var _ valuelist.Objects = Folder("")

func (f Folder) path(digest string) string { return filepath.Join(string(f), digest) }

// Put implements valuelist.Objects. Interrupted, it leaves no object.
func (f Folder) Put(_ context.Context, digest string, content []byte) error {
	if _, err := os.Stat(f.path(digest)); err == nil {
		return nil
	}
	err := f.write(digest, content)
	switch {
	case fault.IsFull(err):
		return fault.Wrap(fault.Full, err, "the disk is full, so the list was not written")
	case errors.Is(err, fs.ErrPermission):
		return fault.Wrap(fault.ReadOnly, err, "the folder of lists cannot be written")
	case err != nil:
		return fmt.Errorf("write the values of a list: %w", err)
	}
	return nil
}

func (f Folder) write(digest string, content []byte) error {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	return wholefile.Replace(f.path(digest), content)
}

// Get implements valuelist.Objects.
func (f Folder) Get(_ context.Context, digest string) ([]byte, error) {
	content, err := os.ReadFile(f.path(digest))
	if err != nil {
		return nil, fmt.Errorf("read the values of a list: %w", err)
	}
	return content, nil
}
