//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
)

// upCheckout changes to a folder that `orrery up` takes for a checkout, with these scripts.
func upCheckout(t *testing.T, scripts map[string]string) {
	t.Helper()
	buildBinary(t) // needs the real checkout
	t.Chdir(t.TempDir())
	files := map[string]string{"cdk.json": "{}"}
	for name, text := range scripts {
		files[filepath.Join("scripts", name)] = "#!/bin/sh\n" + text
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

const hanging = "exec sleep 1000\n"

func TestUpShowsTheEndOfTheLog(t *testing.T) {
	upCheckout(t, map[string]string{
		"build.sh":              "seq -f 'line %g' 30\nexit 3\n",
		"servers/localstack.sh": `[ "$1" = stop ] || ` + hanging,
	})
	stdout, stderr, code := orrery(t, "", "up")
	if code != exit.Failed || stdout != "" {
		t.Errorf("exit %d, output %q", code, stdout)
	}
	for _, want := range []string{
		"The end of .orrery-up/up.log:\n  line 11\n", "  line 30\n", "orrery: scripts/build.sh --arch",
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("standard error lacks %q:\n%s", want, stderr)
		}
	}
}

// interruptingWriter calls interrupt when a text has been written.
type interruptingWriter struct {
	lockedBuffer
	text      string
	interrupt func()
}

func (w *interruptingWriter) Write(p []byte) (int, error) {
	n, err := w.lockedBuffer.Write(p)
	if strings.Contains(w.String(), w.text) {
		w.interrupt()
	}
	return n, err
}

func TestUpAcknowledgesAnInterrupt(t *testing.T) {
	upCheckout(t, map[string]string{
		"build.sh":              hanging,
		"servers/localstack.sh": `[ "$1" = stop ] || ` + hanging,
	})
	ctx, interrupt := context.WithCancel(t.Context())
	stderr := &interruptingWriter{text: "Starting a deployment", interrupt: interrupt}
	var stdout bytes.Buffer
	code := run(ctx, []string{"up", "--dir", "other"}, terminal.Console{Out: &stdout, Err: stderr})
	want := `Starting a deployment in other; other/up.log has the details.
Interrupted. It takes some seconds to stop every process.
orrery: interrupted; all processes are stopped, and the data stays in other
`
	if code != exit.Interrupted || stderr.String() != want || stdout.Len() > 0 {
		t.Errorf("exit %d, want %d; output %q; standard error:\n%s", code, exit.Interrupted, &stdout, stderr)
	}
	if left, err := filepath.Glob("other/tmp-*"); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

// TestUpIgnoresASecondSignal: signals during the clean-up do not shorten it, so that no process is left.
func TestUpIgnoresASecondSignal(t *testing.T) {
	// The processes of the scripts inherit the files 3 and 4. The server is slow to stop: it waits for a line.
	upCheckout(t, map[string]string{
		"build.sh": "echo builds >&3\n" + hanging,
		"servers/localstack.sh": `case $1 in
start) mkdir -p "$2"; sleep 1000 & echo starts >&3; wait ;;
stop) echo stops >&3; read -r line <&4; echo stopped >&3 ;;
esac
`,
	})
	handleHangup()
	for _, signals := range [][2]syscall.Signal{
		{syscall.SIGINT, syscall.SIGINT},
		{syscall.SIGTERM, syscall.SIGTERM},
		{syscall.SIGHUP, syscall.SIGHUP},
		{syscall.SIGINT, syscall.SIGTERM},
	} {
		t.Run(signals[0].String()+", "+signals[1].String(), func(t *testing.T) {
			events, inherited := pipe(t)
			waits, release := pipe(t)
			command := exec.Command(buildBinary(t), "up", "--dir", strings.ReplaceAll(t.Name(), "/", "-"))
			command.Env, command.ExtraFiles = environment(), []*os.File{inherited, waits}
			output, err := command.StderrPipe()
			if err == nil {
				err = command.Start()
			}
			if err = errors.Join(err, inherited.Close(), waits.Close()); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = command.Process.Kill() })
			event, message := bufio.NewScanner(events), bufio.NewScanner(output)
			signal := func(s syscall.Signal) {
				if err := command.Process.Signal(s); err != nil {
					t.Error(err)
				}
			}
			var got []string
			next := func(lines *bufio.Scanner) {
				if lines.Scan() {
					got = append(got, lines.Text())
				}
			}
			next(event)
			next(event)
			slices.Sort(got) // they start at the same time
			next(message)
			signal(signals[0])
			next(message)
			next(event)
			signal(signals[1])
			if _, err := release.WriteString("\n"); err != nil {
				t.Error(err)
			}
			next(event)
			next(message)
			dir := command.Args[3]
			want := []string{
				"builds", "starts", "Starting a deployment in " + dir + "; " + dir + "/up.log has the details.",
				"Interrupted. It takes some seconds to stop every process.", "stops", "stopped",
				"orrery: interrupted; all processes are stopped, and the data stays in " + dir,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			_ = command.Wait() // the exit code is in the state
			if code := command.ProcessState.ExitCode(); code != exit.Interrupted {
				t.Errorf("exit code %d: %s", code, command.ProcessState)
			}
			// Reading the file ends when all processes that have it open have ended.
			if err := events.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			if event.Scan() || event.Err() != nil {
				t.Errorf("a process is left: %s %v", event.Text(), event.Err())
			}
		})
	}
}

// pipe returns the ends of a pipe that is closed at the end of the test.
func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}
