package readonlytest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// mountReadOnly mounts a folder over itself, read-only.
func mountReadOnly(t testing.TB, folder string) {
	t.Helper()
	err := syscall.Mount(folder, folder, "", syscall.MS_BIND, "")
	if errors.Is(err, syscall.EPERM) {
		t.Skip("this root may not mount folders")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	if err := syscall.Mount("", folder, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
}

// runAsNobody runs the test around this one again in a process of a user without permissions.
func runAsNobody(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	readable := filepath.Join(folder, "test") // go test keeps its programs in a private folder
	err = errors.Join(os.WriteFile(readable, text, 0o755), os.Chmod(filepath.Dir(folder), 0o755))
	if err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	around, _, _ := strings.Cut(t.Name(), "/")
	again := exec.CommandContext(t.Context(), readable, "-test.run=^"+around+"$", "-test.v")
	again.Dir = folder
	again.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := again.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skip("this root may not become another user")
	}
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+around+" ")) {
		t.Errorf("%v\n%s", err, out)
	}
}
