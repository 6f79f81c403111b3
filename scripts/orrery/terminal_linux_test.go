package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unicode"

	"golang.org/x/sys/unix"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
)

// newTerminal returns the two ends of a pseudoterminal: that of the person and that of the program. They are closed
// after the test.
func newTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	open := func(path string) *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY, 0)
		switch {
		case err != nil && os.Getenv("CI") == "true":
			t.Fatal(err)
		case err != nil:
			t.Skipf("this machine has no pseudoterminals: %v", err)
		}
		t.Cleanup(func() { _ = f.Close() }) // it may be closed already
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

// openTerminal opens a pseudoterminal. The returned function closes it and returns what was written to it.
func openTerminal(t *testing.T) (tty *os.File, written func() string) {
	t.Helper()
	control, tty := newTerminal(t)
	var text bytes.Buffer
	read := make(chan error, 1)
	go func() {
		_, err := io.Copy(&text, control)
		read <- err
	}()
	return tty, func() string {
		if err := tty.Close(); err != nil {
			t.Error(err)
		}
		if err := <-read; err != nil && !errors.Is(err, syscall.EIO) { // as Linux reports that the other side is closed
			t.Error(err)
		}
		if err := control.Close(); err != nil {
			t.Error(err)
		}
		return text.String()
	}
}

// TestQueryAllShowsProgress: on a terminal, the records that were printed are counted, in a line that is cleared at the
// end. Elsewhere nothing is shown.
func TestQueryAllShowsProgress(t *testing.T) {
	args := []string{
		"query", "logs", tourDay, "--data", tourData(t), "--all", "--fields", "timestamp", "--format", "ndjson",
	}
	tty, written := openTerminal(t)
	var out bytes.Buffer
	code := run(t.Context(), args, terminal.Console{In: strings.NewReader(""), Out: &out, Err: tty})
	shown := written()
	if code != exit.Done || !regexp.MustCompile(`records \(2500/-\)(?s:.*)\r +\r$`).MatchString(shown) {
		t.Errorf("exit code %d, on the terminal %q", code, shown)
	}
	var plain, stderr bytes.Buffer
	code = run(t.Context(), args, terminal.Console{In: strings.NewReader(""), Out: &plain, Err: &stderr})
	if code != exit.Done || stderr.Len() > 0 || plain.String() != out.String() {
		t.Errorf("without a terminal: exit code %d, %q; %d bytes, %d on a terminal", code, &stderr, plain.Len(), out.Len())
	}
}

// TestAnswersAreShownOnATerminal: a terminal gets no control or direction characters of records in any format. What
// goes elsewhere is exact.
func TestAnswersAreShownOnATerminal(t *testing.T) {
	folder := t.TempDir()
	data, log := filepath.Join(folder, "data"), filepath.Join(folder, "a.ndjson")
	const hostile = "\u009b2J\u007f\u202e\u2066\u200b\ufeff\u2028\u0085\U000e0001"
	record, err := json.Marshal(map[string]any{
		"timestamp": "2026-01-01T10:00:00Z", "ip": "192.0.2.1", "method": "GET", "host": "a.example", "status": 200,
		"path": "/\x1b[2J\r" + hostile,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, append(record, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := inProcess(t, "import", "--data", data, log); code != exit.Done {
		t.Fatal(stderr)
	}
	for _, form := range []string{"csv", "json", "ndjson", "csv --all", "json --all", "ndjson --all", "table"} {
		t.Run(form, func(t *testing.T) {
			args := append([]string{
				"query", "logs", "timestamp between 2026-01-01 and 2026-01-02", "--data", data, "--fields", "path", "--format",
			}, strings.Fields(form)...)
			tty, written := openTerminal(t)
			var stderr bytes.Buffer
			code := run(t.Context(), args, terminal.Console{In: strings.NewReader(""), Out: tty, Err: &stderr})
			shown := written()
			if code != exit.Done || !strings.Contains(shown, `\u{9b}2J\u{7f}\u{202e}\u{2066}\u{200b}\u{feff}`) {
				t.Errorf("exit code %d, %s: %q", code, &stderr, shown)
			}
			rest := strings.NewReplacer("\r\n", "", "\n", "").Replace(shown)
			if i := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsGraphic(r) }); i >= 0 {
				t.Errorf("the terminal gets %q", rest[i:])
			}
			if form == "table" {
				return
			}
			exact, _, code := inProcess(t, args...)
			if code != exit.Done || !strings.Contains(strings.ReplaceAll(exact, `\u2028`, "\u2028"), hostile) {
				t.Errorf("exit code %d, elsewhere: %q", code, exact)
			}
		})
	}
}
