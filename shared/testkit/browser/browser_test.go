package browser

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	folder := t.TempDir()
	program := func(name string) string {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil { //nolint:gosec // it must be executable
			t.Fatal(err)
		}
		return path
	}
	given := func(value string) func(string) (string, bool) {
		return func(name string) (string, bool) { return value, name == Variable && value != "" }
	}
	t.Setenv("PATH", folder)
	t.Run("a machine without a browser has an error that names the remedies", func(t *testing.T) {
		_, err := Find(given(""))
		if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), Variable) {
			t.Error(err)
		}
	})
	t.Run("a browser on the path is found, the smallest first", func(t *testing.T) {
		program("chromium")
		want := program("chromium-headless-shell")
		if got, err := Find(given("")); err != nil || got != want {
			t.Errorf("%s, %v", got, err)
		}
	})
	t.Run("the variable wins", func(t *testing.T) {
		want := program("own")
		if got, err := Find(given(want)); err != nil || got != want {
			t.Errorf("%s, %v", got, err)
		}
	})
	t.Run("a variable that names no program is an error", func(t *testing.T) {
		if _, err := Find(given(filepath.Join(folder, "none"))); err == nil || !strings.Contains(err.Error(), Variable) {
			t.Error(err)
		}
	})
	t.Run("the script for tests looks for the same programs", func(t *testing.T) {
		script, err := os.ReadFile(filepath.Join("..", "..", "..", "scripts", "tools", "chromium.sh"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(script), "for name in "+strings.Join(names, " ")+";") {
			t.Errorf("scripts/tools/chromium.sh does not look for %s", names)
		}
	})
}
