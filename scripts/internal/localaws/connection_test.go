package localaws

import (
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/filelock"
)

func TestReadConnection(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadConnection(dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("in an empty folder: %v, want ErrNotRunning", err)
	}
	lock, err := filelock.TryAcquire(lockFile(dir))
	if err != nil {
		t.Fatal(err)
	}
	want := Connection{"http://127.0.0.1:1/x", "orr_a", "http://127.0.0.1:1", Region, map[string]string{"A": "b"}}
	for range 2 { // the second call replaces the file
		if err := writeConnection(dir, want); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ReadConnection(dir)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if info, err := os.Stat(connectionFile(dir)); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2 {
		t.Error(files, err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadConnection(dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("after the deployment was killed: %v, want ErrNotRunning", err)
	}
}
