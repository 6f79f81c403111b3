package backup

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/fault"
)

// smallDisk mounts a disk of so many bytes.
func smallDisk(t *testing.T, size string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size="+size)
	if errors.Is(err, syscall.EPERM) {
		t.Skip("only root may mount a disk")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// isFull checks that an error says which disk is full.
func isFull(t *testing.T, err error, disk string) {
	t.Helper()
	if fault.KindOf(err) != fault.Full || !strings.HasPrefix(err.Error(), "the disk of "+disk) {
		t.Errorf("%v", err)
	}
}

// TestFullDisk: the error says which disk is full. The backup before is complete, and a restore leaves nothing.
func TestFullDisk(t *testing.T) {
	disk := smallDisk(t, "400k")
	data := filled(t)
	to := filepath.Join(disk, "backup")
	toFolder(t, data, to)
	onProduct(t, data, func(p *local.Product) { importLog(t, p.Store, "large.log", records("large.example", 0, 1400)) })
	_, err := ToFolder(t.Context(), data, to, options())
	isFull(t, err, disk)
	_, err = ToFile(t.Context(), data, filepath.Join(disk, "backup.tar"), options())
	isFull(t, err, disk)
	output, err := os.Create(filepath.Join(disk, "output.tar"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = ToStream(t.Context(), data, output, options())
	isFull(t, err, "standard output")
	if err := errors.Join(output.Close(), os.Remove(output.Name())); err != nil {
		t.Fatal(err)
	}
	if m, err := verified(t, to); err != nil || m.Records != 500 {
		t.Errorf("the backup before has %d records, %v", m.Records, err)
	}
	isFull(t, restoreInto(t.Context(), to, filepath.Join(disk, "restored"), options()), disk)
	entries, err := os.ReadDir(disk)
	if err != nil || len(entries) != 1 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

// TestFullDiskOfTheData: a backup to another disk says that the disk of the data folder is full, whichever database it
// cannot open.
func TestFullDiskOfTheData(t *testing.T) {
	disk := smallDisk(t, "8m")
	data := filepath.Join(disk, "data")
	if err := os.CopyFS(data, os.DirFS(filled(t))); err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 8<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	for _, prepare := range []func(){
		func() {},
		func() { // the ledger can be opened, and no other database
			free, err := os.Stat(ballast)
			if err == nil {
				err = os.Truncate(ballast, free.Size()-40<<10)
			}
			if err != nil {
				t.Fatal(err)
			}
		},
	} {
		prepare()
		to := t.TempDir()
		_, err := ToFolder(t.Context(), data, filepath.Join(to, "backup"), options())
		isFull(t, err, data)
		_, err = ToFile(t.Context(), data, filepath.Join(to, "backup.tar"), options())
		isFull(t, err, data)
		_, err = ToStream(t.Context(), data, io.Discard, options())
		isFull(t, err, data)
	}
}
