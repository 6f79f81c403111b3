package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/internal/bench/screen"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/testkit/browser"
)

func TestBenchConsoleNeedsABrowser(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv(browser.Variable, "")
	b := &benchCommand{Dir: t.TempDir(), Console: true}
	var out bytes.Buffer
	err := b.Run(t.Context(), terminal.Console{In: strings.NewReader(""), Out: &out, Err: &out})
	if !errors.Is(err, browser.ErrMissing) || out.Len() > 0 {
		t.Errorf("%v, %s", err, out.String())
	}
}

// TestBenchConsole measures the console, in fewer steps than the command does.
func TestBenchConsole(t *testing.T) {
	if os.Getenv("ORRERY_TEST_CONSOLE") == "" {
		t.Skip("ORRERY_TEST_CONSOLE is not set: it needs a browser, see scripts/tools/chromium.sh")
	}
	b := &benchCommand{Dir: t.TempDir(), JSON: true}
	var out, errs bytes.Buffer
	o := screen.Options{Loads: 1, Events: 400, Navigations: 24}
	if err := b.measureConsole(t.Context(), terminal.Console{In: strings.NewReader(""), Out: &out, Err: &errs}, o); err != nil {
		t.Fatal(err)
	}
	var report screen.Report
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	if report.Paint.Min <= 0 || report.Dashboard.Min <= report.Paint.Min || report.Frames.Rows != 400 ||
		report.Frames.P95 < report.Frames.Median || report.Before.Bytes <= 0 || report.After.Nodes <= 0 {
		t.Errorf("%s", out.String())
	}
}
