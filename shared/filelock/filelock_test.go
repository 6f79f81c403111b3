package filelock_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/orrery/orrery/shared/filelock"
)

func TestTryAcquire(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks", "a.lock")
	lock, err := filelock.TryAcquire(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := filelock.TryAcquire(path); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("second lock: %v, want ErrLocked", err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := filelock.TryAcquire(path)
	if err != nil {
		t.Fatalf("after release: %v", err)
	}
	if err := again.Release(); err != nil {
		t.Error(err)
	}
}

func TestAcquireEndsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lock")
	lock, err := filelock.TryAcquire(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := filelock.Acquire(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("acquire: %v, want context.Canceled", err)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
}

func TestTryAcquireExisting(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.lock")
	if _, err := filelock.TryAcquireExisting(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v, want fs.ErrNotExist", err)
	}
	lock, err := filelock.TryAcquire(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := filelock.TryAcquireExisting(path); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("locked file: %v, want ErrLocked", err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := filelock.TryAcquireExisting(link); err == nil {
		t.Error("a symbolic link was followed")
	}
	lock, err = filelock.TryAcquireExisting(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
}
