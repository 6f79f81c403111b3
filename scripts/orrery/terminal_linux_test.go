package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
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

// terminal opens a pseudoterminal. The returned function closes it and returns what was written to it.
func terminal(t *testing.T) (tty *os.File, written func() string) {
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
	tty, written := terminal(t)
	var out bytes.Buffer
	code := run(t.Context(), args, console{in: strings.NewReader(""), out: &out, err: tty})
	shown := written()
	if code != exitDone || !regexp.MustCompile(`records \(2500/-\)(?s:.*)\r +\r$`).MatchString(shown) {
		t.Errorf("exit code %d, on the terminal %q", code, shown)
	}
	var plain, stderr bytes.Buffer
	code = run(t.Context(), args, console{in: strings.NewReader(""), out: &plain, err: &stderr})
	if code != exitDone || stderr.Len() > 0 || plain.String() != out.String() {
		t.Errorf("without a terminal: exit code %d, %q; %d bytes, %d on a terminal", code, &stderr, plain.Len(), out.Len())
	}
}
