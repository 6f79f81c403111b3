package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestCost(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential, so the race detector finds nothing in it; skipped with -short")
	}
	var out, errs bytes.Buffer
	c := console{out: &out, err: &errs}
	args := []string{"cost", "--requests-per-day", "1000000,1000000000", "--region", "us-east-1"}
	code := run(t.Context(), args, c)
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	for _, want := range []string{
		"1,000,000  1,000,000,000",
		"Athena: scanned by topx, TB", "Athena: scanned by diff, TB",
		"Athena: scanned by exports of logs, TB", "S3: listings for estimates and the status, 1,000",
		"  total", "Assumptions:", "bytes of each record",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, out.String())
		}
	}
	if code := run(t.Context(), []string{"cost", "--queries-per-day=-1"}, c); code != exitUsage {
		t.Errorf("a negative number of queries: exit %d", code)
	}
	if code := run(t.Context(), []string{"cost", "--exports-per-day=-1"}, c); code != exitUsage {
		t.Errorf("a negative number of exports: exit %d", code)
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[float64]string{
		0: "0.00", 12.345: "12.35", 100: "100", 1234: "1,234", 1e9: "1,000,000,000",
	} {
		if got := grouped(n); got != want {
			t.Errorf("grouped(%v) = %s, want %s", n, got, want)
		}
	}
}
