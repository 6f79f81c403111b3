// Package readonlytest makes folders read-only in tests.
package readonlytest

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// BothWays runs a test with folders that are read-only by a mount and by their permissions, as far as this user can.
// The test must use the testing.T that it is called with.
func BothWays(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Run("as another user", runAsNobody)
	}
	test(t)
}

// Folder makes a folder read-only until the test ends. Files that are open can still be written. Permissions do not
// stop root, so for root Folder mounts the folder read-only. If that is not possible, it skips the test.
func Folder(t testing.TB, folder string) {
	t.Helper()
	if os.Geteuid() == 0 {
		mountReadOnly(t, folder)
		return
	}
	const writing = 0o222
	changed := map[string]fs.FileMode{}
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil || info.Mode().Perm()&writing == 0 {
			return err
		}
		changed[path] = info.Mode()
		return os.Chmod(path, info.Mode()&^writing)
	})
	t.Cleanup(func() {
		for path, mode := range changed {
			if err := os.Chmod(path, mode); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}
