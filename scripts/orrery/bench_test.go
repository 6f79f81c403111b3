package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
)

// TestCommandsForBench: the benchmark measures the export of the command, with all records, and its report.
func TestCommandsForBench(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	var errs bytes.Buffer
	code := run(t.Context(), []string{"generate", "--records", "300", "--data", data, "--from", "2026-01-01", "--to", "2026-01-02"},
		terminal.Console{In: strings.NewReader(""), Out: &errs, Err: &errs})
	if code != exit.Done {
		t.Fatal(errs.String())
	}
	product, err := openForBench(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := product.Close(); err != nil {
			t.Error(err)
		}
	}()
	var got bytes.Buffer
	if err := product.Export(t.Context(), tourDay, &got); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(got.String(), "\n"); n != 301 || !strings.Contains(got.String(), "request_id") {
		t.Errorf("%d lines, want a head and 300", n)
	}
	got.Reset()
	if err := product.Report(t.Context(), tourDay, &got); err != nil || !strings.Contains(got.String(), "</html>") {
		t.Errorf("%v, a report of %d bytes", err, got.Len())
	}
}
