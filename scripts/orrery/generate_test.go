package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
)

// TestGenerateKeepsAFile: an existing file is replaced only if the user asks for it with --force.
func TestGenerateKeepsAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "records.ndjson")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	generate := []string{"generate", "--records", "2", "--output", file}
	_, stderr, code := inProcess(t, generate...)
	text, err := os.ReadFile(file)
	if code != exit.Usage || !strings.Contains(stderr, file+" exists; --force replaces it") || string(text) != "mine" {
		t.Errorf("exit code %d, %s; the file has %q, %v", code, stderr, text, err)
	}
	_, stderr, code = inProcess(t, append(generate, "--force")...)
	text, err = os.ReadFile(file)
	if code != exit.Done || strings.Count(string(text), "\n") != 2 {
		t.Errorf("exit code %d, %s; the file has %q, %v", code, stderr, text, err)
	}
}
