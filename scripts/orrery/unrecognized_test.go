package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/lake"
)

// TestUnrecognizedLog: the error has the first line, what each known format misses in it, and the flags that help.
func TestUnrecognizedLog(t *testing.T) {
	log := filepath.Join(t.TempDir(), "app.log")
	text := "2026-05-17 10:05:03 INFO request \x1b[2Kdone in 12 ms\nanother line\n"
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := inProcess(t, "import", "--data", t.TempDir(), log)
	if code != exitFailed || stdout != "" {
		t.Errorf("exit code %d, printed %q", code, stdout)
	}
	for _, flag := range []string{"--log-format", "--pattern"} {
		if !strings.Contains(stderr, flag) {
			t.Errorf("%s is not named", flag)
		}
	}
	golden := filepath.Join("testdata", "unrecognized.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(stderr), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), stderr); diff != "" {
		t.Errorf("%s differs (-want +got); run the test with -update and read the diff:\n%s", golden, diff)
	}
}

// TestWelcomeOfTheLastMillisecond: the commands to try have only times that a filter may have.
func TestWelcomeOfTheLastMillisecond(t *testing.T) {
	last := time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli() - 1
	for _, newest := range []int64{last, last - 999, last - 1000, last - 86_400_000} {
		var out bytes.Buffer
		new(serveCommand).welcome(&out, "http://localhost", lake.Extent{MinTsMs: 0, MaxTsMs: newest, Rows: 2}, false)
		if text := out.String(); strings.Contains(text, "10000-01-01") || !strings.Contains(text, "timestamp between 1970") {
			t.Errorf("the newest record is of %d: %s", newest, text)
		}
	}
}
