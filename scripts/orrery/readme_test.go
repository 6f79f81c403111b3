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

var update = flag.Bool("update", false, "rewrite the outputs shown in README.md")

var (
	consoleBlock = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")
	duration     = regexp.MustCompile(`\d+\.\d s\b`)
)

// TestREADME runs the commands that README.md shows and compares what they print with what it shows.
func TestREADME(t *testing.T) {
	path, err := filepath.Abs("../../README.md")
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
			b.WriteString(line + "\n" + duration.ReplaceAllString(shown(t, command), "0.5 s"))
		}
		b.WriteString("```")
		return []byte(b.String())
	})
	if commands < 7 {
		t.Fatalf("only %d commands found in README.md", commands)
	}
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(text), string(got)); diff != "" {
		t.Errorf("README.md shows other output than its commands give (-README +got):\n%s", diff)
	}
}

// shown runs one command line and returns all it prints.
func shown(t *testing.T, line string) string {
	t.Helper()
	words := split(t, line)
	if words[0] != "orrery" {
		t.Fatalf("README.md shows a command that the test cannot run: %s", line)
	}
	var out bytes.Buffer
	run(t.Context(), words[1:], console{in: strings.NewReader(""), out: &out, err: &out})
	return out.String()
}

// split cuts a command line into words as a shell does, as far as single quotes go.
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
