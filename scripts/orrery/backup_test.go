package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
)

// TestBackupAndRestore: a restored folder prints the same records, whatever the backup is written to.
func TestBackupAndRestore(t *testing.T) {
	data, dir := tourData(t), t.TempDir()
	all := func(folder string) string {
		t.Helper()
		stdout, stderr, code := inProcess(t, "query", "logs", tourDay, "--all", "--data", folder)
		if code != exit.Done || strings.Count(stdout, "\n") != 3000 {
			t.Fatalf("%s: exit %d, %d lines, %s", folder, code, strings.Count(stdout, "\n"), stderr)
		}
		return stdout
	}
	want := all(data)
	does := commandsOn(t, data)
	folder, file := filepath.Join(dir, "backup"), filepath.Join(dir, "backup.tar")
	does(exit.Done, "backed up 3000 records in 24 objects: copied 24 objects (", "backup", folder)
	does(exit.Done, "backed up 3000 records in 24 objects: copied 0 objects (0 B)\n", "backup", folder)
	does(exit.Done, "copied 24 objects (", "backup", file)
	does(exit.Usage, "backup.tar exists; --force replaces it", "backup", file)
	does(exit.Done, "copied 24 objects (", "backup", "--force", file)
	does(exit.Done, " is complete: 3000 records in ", "backup", "--verify", file)
	does(exit.Done, " is complete: 3000 records in ", "backup", "--verify", folder)
	does(exit.Failed, "is in the data folder", "backup", filepath.Join(data, "backup"))
	does(exit.Failed, "is not empty", "restore", folder)
	stream, stderr, code := inProcess(t, "backup", "-", "--data", data)
	if code != exit.Done || !strings.Contains(stderr, "copied 24 objects (") {
		t.Errorf("to standard output: exit %d, %s", code, stderr)
	}
	restored := filepath.Join(dir, "restored")
	for name, from := range map[string]string{"folder": folder, "file": file, "stream": "-"} {
		to := filepath.Join(restored, name)
		var out, errs bytes.Buffer
		console := terminal.Console{In: strings.NewReader(stream), Out: &out, Err: &errs}
		code := run(t.Context(), []string{"restore", from, "--data", to}, console)
		if code != exit.Done || !strings.Contains(out.String(), ": 3000 records from 2026-01-01T00:01:09Z to 2026-01-01T23:59:59Z\n") {
			t.Fatalf("%s: exit %d, %s%s", name, code, out.String(), errs.String())
		}
		if all(to) != want {
			t.Errorf("%s: the restored folder has other records", name)
		}
	}
	if err := os.RemoveAll(filepath.Join(data, "lake", "fresh")); err != nil {
		t.Fatal(err)
	}
	does(exit.Incomplete, " is missing, so the backup lacks it", "backup", filepath.Join(dir, "lacking"))
	commandsOn(t, filepath.Join(dir, "none"))(exit.Failed, "there is no data in", "backup", folder)
}

// TestBackupOfAServer: a server that is asked meanwhile is backed up.
func TestBackupOfAServer(t *testing.T) {
	data, to := tourData(t), filepath.Join(t.TempDir(), "backup.tar")
	s := startServer(t, data, "--no-demo")
	does := commandsOn(t, data)
	does(exit.Done, "backed up 3000 records", "backup", to)
	if records := s.results("logs", tourDay, "limit", "50"); len(records) != 50 {
		t.Errorf("%d records", len(records))
	}
	if err := s.interrupt(); err != nil {
		t.Error(err)
	}
	commandsOn(t, filepath.Join(t.TempDir(), "restored"))(exit.Done, ": 3000 records from ", "restore", to)
}
