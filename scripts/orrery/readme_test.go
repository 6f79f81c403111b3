package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "update the outputs in the READMEs")

var consoleBlock = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")

// replacements replaces the parts of the output that differ from run to run by the text in the pages.
var replacements = []struct {
	pattern *regexp.Regexp
	text    string
}{
	{regexp.MustCompile(`\d+\.\d s\b`), "0.5 s"},
	{regexp.MustCompile(`orr_[a-z2-7]{26}`), "orr_7q3xk5m2vbn4wy6tzhcd3elrpa"},
	{regexp.MustCompile(`\b[0-9a-f]{12}\b`), "5a0d3c71f2e9"},
	{regexp.MustCompile(`\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`), "2026-01-31T10:00:00Z"},
}

// TestREADME runs the commands in the READMEs and compares their output with the pages.
func TestREADME(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential, so the race detector finds nothing in it; skipped with -short")
	}
	for page, least := range map[string]int{"../../README.md": 7, "../README.md": 3} {
		t.Run(page, func(t *testing.T) { testPage(t, page, least) })
	}
}

// testPage runs the commands of a page, which must have at least as many as least.
func testPage(t *testing.T, page string, least int) {
	path, err := filepath.Abs(page)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	commands := 0
	got := consoleBlock.ReplaceAllFunc(text, func(block []byte) []byte {
		var b strings.Builder
		b.WriteString("```console\n")
		for _, line := range strings.Split(string(consoleBlock.FindSubmatch(block)[1]), "\n") {
			command, ok := strings.CutPrefix(line, "$ ")
			if !ok {
				continue
			}
			commands++
			b.WriteString(line + "\n" + shown(t, command))
		}
		b.WriteString("```")
		return []byte(b.String())
	})
	if commands < least {
		t.Fatalf("only %d commands found in %s", commands, page)
	}
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(text), string(got)); diff != "" {
		t.Errorf("%s differs from the output of its commands (-page +got):\n%s", page, diff)
	}
}

// shown runs one command line and returns its output, with replacements.
func shown(t *testing.T, line string) string {
	t.Helper()
	words := split(t, line)
	if words[0] != "orrery" {
		t.Fatalf("a page contains a command that the test cannot run: %s", line)
	}
	var out bytes.Buffer
	run(t.Context(), words[1:], console{in: strings.NewReader(""), out: &out, err: &out})
	text := out.String()
	for _, as := range replacements {
		text = as.pattern.ReplaceAllString(text, as.text)
	}
	return text
}

// split splits a command line into words like a shell. It supports single quotes.
func split(t *testing.T, line string) []string {
	t.Helper()
	parts := strings.Split(line, "'")
	if len(parts)%2 == 0 {
		t.Fatalf("unbalanced quotes: %s", line)
	}
	var words []string
	for i, part := range parts {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}
