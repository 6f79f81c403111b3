package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/shared/client"
)

// TestWhy explains a record of a folder as text and as JSON.
func TestWhy(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	if _, stderr, code := orrery(t, "", "generate", "--records", "2000", "--data", data, "--from", "2026-01-01", "--to", "2026-01-02"); code != exit.Done {
		t.Fatal(stderr)
	}
	found, stderr, code := orrery(t, "", "query", "logs", "--data", data, "--fields", "record_ref", "--limit", "1", "--format", "json",
		`timestamp between 2026-01-01 and 2026-01-02, blocked is true, reason~"^Block - content filter \["`)
	if code != exit.Done {
		t.Fatal(stderr)
	}
	var logs struct {
		Data struct {
			Results []struct {
				Ref string `json:"record_ref"`
			}
		}
	}
	if err := json.Unmarshal([]byte(found), &logs); err != nil || len(logs.Data.Results) != 1 {
		t.Fatalf("%v: %s", err, found)
	}
	reference := logs.Data.Results[0].Ref
	text, stderr, code := orrery(t, "", "why", "--data", data, reference)
	if code != exit.Done {
		t.Fatal(stderr)
	}
	for _, part := range []string{"Blocked: ", "MATCHED", "WHAT TO DO", "EXEMPTION", "As Terraform:", "TEXT FOR THE CUSTOMER", reference} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
	for line := range strings.Lines(text) {
		if utf8.RuneCountInString(line) > 101 && !strings.HasPrefix(line, "      ") { // a long condition is on one line
			t.Errorf("a line is longer than 100 columns: %s", line)
		}
	}
	asJSON, stderr, code := orrery(t, "", "why", "--data", data, "--output", "json", "--secrets",
		"http://127.0.0.1:8080/#/events/"+reference+"?t=24h")
	if code != exit.Done {
		t.Fatal(stderr)
	}
	a, err := client.DecodeWhy([]byte(asJSON))
	if err != nil || a.Results[0].Reference != reference || strings.Contains(a.Results[0].Sentence, "••••••") {
		t.Errorf("%v: %s", err, asJSON)
	}
	if _, stderr, code := orrery(t, "", "why", "--data", data, "AeCpiJDvZhno"); code != exit.Failed || !strings.Contains(stderr, "is not a reference to a record") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}
