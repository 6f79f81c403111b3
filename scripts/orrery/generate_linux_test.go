package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// newTerminal returns the two ends of a pseudoterminal: that of the person and that of the program.
func newTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	open := func(path string) *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			t.Skipf("this machine has no pseudoterminals: %v", err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	person = open("/dev/ptmx")
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	return person, open("/dev/pts/" + strconv.Itoa(n))
}

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
				console{in: program, out: &out, err: program})
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := exitUsage
			if replaced {
				want = exitDone
			}
			if code != want || (string(text) != "mine") != replaced {
				t.Errorf("exit code %d, the file has %q", code, text)
			}
		})
	}
}

// TestGenerateIsInterruptedAtTheQuestion: Ctrl-C ends the command while nobody answers, and the file stays.
func TestGenerateIsInterruptedAtTheQuestion(t *testing.T) {
	file := filepath.Join(t.TempDir(), "records.ndjson")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, program := newTerminal(t)
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	var out strings.Builder
	code := run(ctx, []string{"generate", "--records", "2", "--output", file}, console{in: program, out: &out, err: program})
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if code != exitInterrupted || string(text) != "mine" {
		t.Errorf("exit code %d, the file has %q", code, text)
	}
}
