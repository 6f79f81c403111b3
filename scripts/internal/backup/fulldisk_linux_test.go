package backup

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/fault"
)

// TestFullDisk: the error says which disk is full. The backup before is complete, and a restore leaves nothing.
func TestFullDisk(t *testing.T) {
	disk := t.TempDir()
	err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=400k")
	if errors.Is(err, syscall.EPERM) {
		t.Skip("only root may mount a disk")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	data := filled(t)
	to := filepath.Join(disk, "backup")
	toFolder(t, data, to)
	onProduct(t, data, func(p *local.Product) { importLog(t, p.Store, "large.log", records("large.example", 0, 1400)) })
	full := func(err error) {
		t.Helper()
		if fault.KindOf(err) != fault.Full || !strings.HasPrefix(err.Error(), "the disk of "+disk) {
			t.Errorf("%v", err)
		}
	}
	_, err = ToFolder(t.Context(), data, to, options())
	full(err)
	_, err = ToFile(t.Context(), data, filepath.Join(disk, "backup.tar"), options())
	full(err)
	if m, err := verified(t, to); err != nil || m.Records != 500 {
		t.Errorf("the backup before has %d records, %v", m.Records, err)
	}
	full(restoreInto(t.Context(), to, filepath.Join(disk, "restored"), options()))
	entries, err := os.ReadDir(disk)
	if err != nil || len(entries) != 1 {
		t.Errorf("left: %v, %v", entries, err)
	}
}
