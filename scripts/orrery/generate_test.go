package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/shared/gen"
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

// TestGenerateScenes: the README lists the scenes, with what they have.
func TestGenerateScenes(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| scene | has |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var want []string
	for _, s := range gen.Scenes {
		want = append(want, "| `"+s.Name+"` | "+s.Doc+" |")
	}
	if table != strings.Join(want, "\n") {
		t.Errorf("the README lists the scenes\n%s\nwant\n%s", table, strings.Join(want, "\n"))
	}
}

// TestGenerateTruth: --truth writes the attacks of the records that the command has written or imported.
func TestGenerateTruth(t *testing.T) {
	dir := t.TempDir()
	truth := filepath.Join(dir, "truth.json")
	scene := []string{
		"generate", "--records", "3000", "--scene", "campaign", "--from", "2026-01-01", "--to", "2026-01-02", "--truth", truth,
	}
	for name, destination := range map[string][]string{
		"file":       {"--output", filepath.Join(dir, "records.zst")},
		"data":       {"--data", filepath.Join(dir, "data")},
		"access log": {"--output", filepath.Join(dir, "access.ndjson"), "--access-log"},
	} {
		t.Run(name, func(t *testing.T) {
			args := append(append(scene[:len(scene):len(scene)], "--force"), destination...)
			out, stderr, code := inProcess(t, args...)
			if code != exit.Done {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			if name == "data" && !strings.Contains(out, "generated-1-3000-20260101T000000-campaign: 3000 records, 0 rejected") {
				t.Errorf("the import printed %s", out)
			}
			text, err := os.ReadFile(truth)
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Scene   string
				Records int
				From    int64
				Attacks []gen.Attack
			}
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			var kinds []string
			for _, a := range got.Attacks {
				kinds = append(kinds, string(a.Kind))
			}
			if strings.Join(kinds, " ") != "scan injection guessing flood" || got.Scene != "campaign" ||
				got.Records != 3000 || got.From != 1_767_225_600_000 {
				t.Errorf("the truth is %s", text)
			}
			if decided := got.Attacks[3].Decisions != nil; decided == (name == "access log") {
				t.Errorf("%s: the flood has decisions: %v", name, decided)
			}
		})
	}
	_, stderr, code := inProcess(t, append(scene, "--output", filepath.Join(dir, "other"))...)
	if code != exit.Usage || !strings.Contains(stderr, truth+" exists; --force replaces it") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
