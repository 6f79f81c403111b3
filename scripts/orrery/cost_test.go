package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestCostPrintsABillForEachLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"cost", "--requests-per-day", "1000000,1000000000", "--region", "us-east-1"}, console{out: &out, err: &errs})
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	for _, want := range []string{"1,000,000  1,000,000,000", "Athena: scanned, TB", "  in all", "Assumed:", "bytes of each record"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, out.String())
		}
	}
	if code := run(t.Context(), []string{"cost", "--queries-per-day=-1"}, console{out: &out, err: &errs}); code != exitUsage {
		t.Errorf("fewer than no queries: exit %d", code)
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[float64]string{0: "0.00", 12.345: "12.35", 100: "100", 1234: "1,234", 1e9: "1,000,000,000"} {
		if got := grouped(n); got != want {
			t.Errorf("%v is printed %s, not %s", n, got, want)
		}
	}
}
