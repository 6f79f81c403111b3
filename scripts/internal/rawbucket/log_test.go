package rawbucket

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/gzipped"
)

// testTime is the time of the last change of the files of tests, and of their records.
var testTime = time.Date(2026, 11, 21, 10, 5, 3, 0, time.UTC)

// record is a line of a log.
const record = `{"processing_stage":6,"timestamp":"2026-11-21T10:00:00Z","path":"/a"}` + "\n"

// readFile writes a file and reads it as a log.
func readFile(t *testing.T, name, content string, growing bool) (*Log, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, testTime, testTime); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return Read(t.Context(), f, name, growing)
}

func mustRead(t *testing.T, name, content string) *Log {
	t.Helper()
	l, err := readFile(t, name, content, true)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func zipped(text string) string { return string(gzipped.Of([]byte(text))) }

func TestReadLeavesUnfinishedLine(t *testing.T) {
	long := record + `{"processing_stage":6,"timestamp":"2026-11-21T10:00:01Z","path":"` + strings.Repeat("x", 200_000)
	for _, test := range []struct {
		rule, content string
		growing       bool
		left          int
	}{
		{"a complete line is put", record, true, 0},
		{"an unfinished line is left", record + record[:20], true, 20},
		{"an unfinished line may be long", long, true, len(long) - len(record)},
		{"of a complete file, the line is put", record + record[:20], false, 0},
		{"white space at the end is put", record + "  \t", true, 0},
		{"a compressed file is put as a whole", zipped(record + record[:20]), true, 0},
	} {
		t.Run(test.rule, func(t *testing.T) {
			l, err := readFile(t, "a", test.content, test.growing)
			if err != nil {
				t.Fatal(err)
			}
			if l.Left != int64(test.left) || l.Size != int64(len(test.content)-test.left) {
				t.Errorf("%d of %d bytes are put and %d left, want %d left",
					l.Size, len(test.content), l.Left, test.left)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	for _, test := range []struct {
		rule, content string
		want          string
	}{
		{"an empty file", "", "is empty"},
		{"one unfinished line", strings.TrimSuffix(record, "\n"), "--take-last"},
		{"an unknown format", "nothing\n", "look like a known log format; a deployment detects the format itself"},
		{"an archive", "PK\x03\x04", "this is a zip archive, not a log, and nothing of it was put. " +
			"Unpack it and put the logs in it: unzip FILE"},
		{"another compression", "\xfd7zXZ\x00", "xz -dc FILE | orrery put --name FILE -"},
		{"an archive in a gzip file", zipped("PK\x03\x04"), "a zip archive, compressed with gzip"},
		{"a gzip file that is cut off", zipped(record)[:40], "gzip -dc FILE | orrery put --name FILE -"},
		{"a damaged gzip file", zipped(record)[:len(zipped(record))-8] + "12345678", "put an intact copy"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			_, err := readFile(t, "a", test.content, true)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
			if err != nil && strings.Contains(strings.ReplaceAll(err.Error(), "`orrery import` has", ""), "import") {
				t.Errorf("the error is about an import: %v", err)
			}
		})
	}
}

func TestReadSplitsLargeLogs(t *testing.T) {
	text := strings.Repeat(record, partSize/len(record)*2)
	l := mustRead(t, "a", text)
	var sizes []int64
	for _, p := range l.parts {
		sizes = append(sizes, p.size)
	}
	if diff := cmp.Diff([]int64{partSize, int64(len(text)) - partSize}, sizes); diff != "" {
		t.Error(diff)
	}
}

func TestReadEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f, remove, err := Spool(t.Context(), strings.NewReader(record))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Read(ctx, f, "a", false); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(f.Name()); !os.IsNotExist(err) {
		t.Errorf("the temporary file is left: %v", err)
	}
}
