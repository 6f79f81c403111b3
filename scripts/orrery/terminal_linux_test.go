package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal opens both sides of a pseudo-terminal.
func openTerminal() (control, tty *os.File, err error) {
	if control, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	err = unix.IoctlSetPointerInt(int(control.Fd()), unix.TIOCSPTLCK, 0)
	if err == nil {
		var number int
		if number, err = unix.IoctlGetInt(int(control.Fd()), unix.TIOCGPTN); err == nil {
			tty, err = os.OpenFile(filepath.Join("/dev/pts", strconv.Itoa(number)), os.O_RDWR|unix.O_NOCTTY, 0)
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, control.Close())
	}
	return control, tty, nil
}

// terminal opens a pseudo-terminal. The returned function closes it and returns what was written to it.
func terminal(t *testing.T) (tty *os.File, written func() string) {
	t.Helper()
	control, tty, err := openTerminal()
	switch {
	case err != nil && os.Getenv("CI") == "true":
		t.Fatal(err)
	case err != nil:
		t.Skipf("this system has no pseudo-terminals: %v", err)
	}
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
