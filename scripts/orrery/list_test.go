package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
)

// TestLists writes a list, asks with it, reads an earlier version, and deletes it.
func TestLists(t *testing.T) {
	data := tourData(t)
	file := filepath.Join(t.TempDir(), "list.txt")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	must := func(args ...string) (stdout, stderr string) {
		t.Helper()
		stdout, stderr, code := orrery(t, "", append(args, "--data", data)...)
		if code != exit.Done {
			t.Fatalf("%s: exit code %d, %s", strings.Join(args, " "), code, stderr)
		}
		return stdout, stderr
	}
	count := func(condition string) int {
		t.Helper()
		stdout, _ := must("query", "logs", "--limit", "2500", "--format", "ndjson", "--fields", "country", tourDay+", "+condition)
		return strings.Count(stdout, "\n")
	}
	write("# ours\nGermany\n\nFrance\nGermany\n")
	if _, stderr := must("list", "put", "ours", file); !strings.Contains(stderr, "ours has 2 values (texts), version 1\nETag: \"1-") {
		t.Error(stderr)
	}
	want := count(`country in (Germany, France)`)
	if got := count("country in @ours"); got != want || want == 0 {
		t.Errorf("%d records, want %d", got, want)
	}
	write("Brazil")
	must("list", "put", "ours", file)
	if got, want := count("country in @ours"), count("country=Brazil"); got != want || want == 0 {
		t.Errorf("%d records of the new version, want %d", got, want)
	}
	if got := count("country in @ours:1"); got != want {
		t.Errorf("%d records of version 1, want %d", got, want)
	}
	if stdout, _ := must("list", "get", "ours", "--version", "1"); stdout != "France\nGermany\n" {
		t.Errorf("%q", stdout)
	}
	if stdout, _ := must("list", "list"); !strings.Contains(stdout, "ours  texts  1       2\n") {
		t.Error(stdout)
	}
	if stdout, _ := must("list", "versions", "ours"); strings.Count(stdout, "\n") != 3 {
		t.Error(stdout)
	}
	must("list", "delete", "ours")
	write("a\tb\n")
	for name, args := range map[string][]string{
		"a list that is deleted": {"query", "logs", tourDay + ", country in @ours"},
		"a control character":    {"list", "put", "ours", file},
		"a file that is missing": {"list", "put", "ours", file + "x"},
		"a name":                 {"list", "put", "Ours", file},
	} {
		if _, stderr, code := orrery(t, "", append(args, "--data", data)...); code == exit.Done || stderr == "" {
			t.Errorf("%s: %d %s", name, code, stderr)
		}
	}
}
