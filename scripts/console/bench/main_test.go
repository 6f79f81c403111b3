package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/orrery/orrery/scripts/internal/bench/screen"
	"github.com/orrery/orrery/shared/testkit/browser"
)

func TestNeedsABrowser(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv(browser.Variable, "")
	var out bytes.Buffer
	if err := measure(t.Context(), options{dir: t.TempDir(), days: 1, records: 1}, &out, screen.Options{}); !errors.Is(err, browser.ErrMissing) || out.Len() > 0 {
		t.Errorf("%v, %s", err, out.String())
	}
}

// TestMeasure measures the console, in fewer steps than the command does.
func TestMeasure(t *testing.T) {
	if os.Getenv("ORRERY_TEST_CONSOLE") == "" {
		t.Skip("ORRERY_TEST_CONSOLE is not set: it needs a browser, see scripts/tools/chromium.sh")
	}
	var out bytes.Buffer
	o := options{dir: t.TempDir(), days: 2, records: 20_000, json: true}
	if err := measure(t.Context(), o, &out, screen.Options{Loads: 1, Events: 400, Navigations: 24}); err != nil {
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
