//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	if code != exitFailed || stdout != "" {
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
	code := run(ctx, []string{"up", "--dir", "other"}, console{out: &stdout, err: stderr})
	want := `Starting a deployment in other; other/up.log has the details.
Interrupted. It takes some seconds to stop every process.
orrery: interrupted; all processes are stopped, and the data stays in other
`
	if code != exitInterrupted || stderr.String() != want || stdout.Len() > 0 {
		t.Errorf("exit %d, want %d; output %q; standard error:\n%s", code, exitInterrupted, &stdout, stderr)
	}
	if left, err := filepath.Glob("other/tmp-*"); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

func TestUpScreen(t *testing.T) {
	var plain, terminal bytes.Buffer
	for _, s := range []*upScreen{newUpScreen(&plain), {w: &terminal, moving: true, ended: make(chan struct{})}} {
		s.step("build", false)
		s.step("start", false)
		s.step("build", true)
		s.line("denied: x")
		s.stop()
	}
	withoutTimes := func(b *bytes.Buffer) string {
		var out strings.Builder
		for _, line := range strings.SplitAfter(b.String(), "\n") {
			for _, part := range strings.SplitAfter(line, "\x1b[K") {
				if _, rest, ok := strings.Cut(part, " s  "); ok {
					part = rest
				}
				fmt.Fprint(&out, part)
			}
		}
		return out.String()
	}
	if got, want := withoutTimes(&plain), "build: done\ndenied: x\n"; got != want {
		t.Errorf("without a terminal: %q, want %q", got, want)
	}
	const clear = "\r\x1b[K"
	want := clear + "build …" + clear + "build, start …" + clear + "build: done\n" + "start …" +
		clear + "denied: x\n" + "start …" + clear
	if got := withoutTimes(&terminal); got != want {
		t.Errorf("on a terminal: %q, want %q", got, want)
	}
}
