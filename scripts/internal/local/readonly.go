package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filelock"
)

// readOnly reports whether this process may create no files in a folder.
func readOnly(folder string) bool {
	f, err := os.CreateTemp(folder, ".writable-*")
	if err != nil {
		return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
	}
	return errors.Join(f.Close(), os.Remove(f.Name())) != nil
}

// makeSpill returns a folder for temporary files of the queries of this process, or nil if it cannot be made. Then a
// query that needs more memory than it may take is refused. Two processes must not have the same folder: their DuckDBs
// would write to the same files.
func makeSpill(data string) (*filelock.Folder, error) {
	if readOnly(data) {
		return nil, nil
	}
	all := filepath.Join(data, "spill")
	if linked, err := filepath.EvalSymlinks(all); err == nil {
		all = linked // to a disk with more space
	}
	spill, err := filelock.OwnFolder(all)
	if fault.IsFull(err) {
		return nil, nil
	}
	return spill, err
}
