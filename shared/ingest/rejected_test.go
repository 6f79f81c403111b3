package ingest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/logformat"
	"github.com/orrery/orrery/shared/record"
)

// TestRejectedLinesShareTheirDirective: a directive may have tens of kilobytes, and a batch 100,000 lines.
func TestRejectedLinesShareTheirDirective(t *testing.T) {
	format, err := logformat.ByName("w3c")
	if err != nil {
		t.Fatal(err)
	}
	c := converter{format: format, times: Options{}.times(), decoder: record.NewDecoder()}
	var d decodedBatch
	text := "#Fields: date time c-ip\nx\ny\n#Fields: date time cs-method\nz\n"
	if err := c.decode(batch{firstLine: 1, text: []byte(text)}, &d); err != nil {
		t.Fatal(err)
	}
	if len(d.rejected) != 3 || string(d.rejected[2].directive) != "#Fields: date time cs-method" {
		t.Fatalf("%d lines are rejected", len(d.rejected))
	}
	if first, second := d.rejected[0].directive, d.rejected[1].directive; &first[0] != &second[0] {
		t.Error("each line has a copy of its own")
	}
}

func TestNewestCode(t *testing.T) {
	write := func(lines ...rejection) string {
		path := filepath.Join(t.TempDir(), QuarantineFile)
		q := quarantine{path: path, left: QuarantineBytes}
		for _, line := range lines {
			if err := q.add(line); err != nil {
				t.Fatal(err)
			}
		}
		if err := q.close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	first := rejection{line: 1, code: "bad_json", reason: "no JSON", text: []byte("{")}
	long := rejection{line: 2, code: "too_long", reason: "too long", text: []byte(strings.Repeat("x", 5*firstTail))}
	for name, c := range map[string]struct {
		lines []rejection
		want  record.Code
	}{
		"the only line":                 {[]rejection{first}, "bad_json"},
		"the last line":                 {[]rejection{long, first}, "bad_json"},
		"a last line of several blocks": {[]rejection{first, long}, "too_long"},
		"a file that is one long line":  {[]rejection{long}, "too_long"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := NewestCode(write(c.lines...)); got != c.want || err != nil {
				t.Errorf("%q, %v; want %q", got, err, c.want)
			}
		})
	}
	t.Run("a file without lines has none", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "empty")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if code, err := NewestCode(path); code != "" || err != nil {
			t.Errorf("%q, %v", code, err)
		}
	})
	t.Run("a file that is no quarantine is an error", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "other")
		if err := os.WriteFile(path, []byte("\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, err := NewestCode(path); err == nil {
			t.Errorf("%q", code)
		}
	})
	t.Run("a missing file is recognised", func(t *testing.T) {
		if _, err := NewestCode(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	})
}
