package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
)

// TestGenerateAsksOnATerminal: an existing file is replaced only if the answer is yes.
func TestGenerateAsksOnATerminal(t *testing.T) {
	for answer, replaced := range map[string]bool{"y\n": true, "Yes\n": true, "n\n": false, "\n": false, "\x04": false} {
		t.Run(strconv.Quote(answer), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "records.ndjson")
			if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
			person, program := newTerminal(t)
			if _, err := person.WriteString(answer); err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			code := run(t.Context(), []string{"generate", "--records", "2", "--output", file},
				terminal.Console{In: program, Out: &out, Err: program})
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := exit.Usage
			if replaced {
				want = exit.Done
			}
			if code != want || (string(text) != "mine") != replaced {
				t.Errorf("exit code %d, the file has %q", code, text)
			}
		})
	}
}

// TestGenerateIsInterruptedAtTheQuestion: Ctrl-C ends the command while it waits for the answer, and the file is not
// replaced.
func TestGenerateIsInterruptedAtTheQuestion(t *testing.T) {
	file := filepath.Join(t.TempDir(), "records.ndjson")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, program := newTerminal(t)
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	var out strings.Builder
	args := []string{"generate", "--records", "2", "--output", file}
	code := run(ctx, args, terminal.Console{In: program, Out: &out, Err: program})
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if code != exit.Interrupted || string(text) != "mine" {
		t.Errorf("exit code %d, the file has %q", code, text)
	}
}

// TestEscapesOfFiltersAreNotPrinted: a filter with the escape character of terminals is printed escaped on a terminal,
// and as it is elsewhere.
func TestEscapesOfFiltersAreNotPrinted(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"filters":"host=\"\u001b[2K\""}`)
	}))
	defer server.Close()
	const text = "timestamp between 2026-01-01 and 2026-01-02, host=\"\x1b[2K\""
	for name, args := range map[string][]string{
		"parse": {"parse", text}, "explain": {"explain", "logs", text, "--engine", "duckdb"},
		"filter get": {"filter", "get", "a", "--url", server.URL},
	} {
		t.Run(name, func(t *testing.T) {
			person, program := newTerminal(t)
			const end = "the end of the test"
			shown := make(chan string)
			go func() { // the terminal holds only a few kilobytes
				var all strings.Builder
				lines := bufio.NewReader(person)
				for line := ""; !strings.Contains(line, end); {
					var err error
					if line, err = lines.ReadString('\n'); err != nil {
						break
					}
					all.WriteString(line)
				}
				shown <- all.String()
			}()
			code := run(t.Context(), args, terminal.Console{In: strings.NewReader(""), Out: program, Err: io.Discard})
			if _, err := fmt.Fprintln(program, end); err != nil {
				t.Fatal(err)
			}
			if got := <-shown; code != exit.Done || strings.ContainsRune(got, '\x1b') || !strings.Contains(got, `\u{1b}[2K`) {
				t.Errorf("exit code %d: %q", code, got)
			}
			if stdout, _, _ := runHere(t.Context(), "", args...); !strings.ContainsRune(stdout, '\x1b') {
				t.Errorf("a program reads %q", stdout)
			}
		})
	}
}
