package watch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/logformat"
)

// TestLogOfWatching: the log of a watching server has a warning for what a person may want to change.
func TestLogOfWatching(t *testing.T) {
	overlapping := ingest.Report{Records: 200, Judged: 200, Seen: 150, SeenIn: "first", Source: "second"}
	left := ingest.Report{Records: 3, Left: 12}
	for name, test := range map[string]struct {
		result datadir.FileResult
		want   []string // in one warning; nil: no warning
	}{
		"a part of an imported log": {
			datadir.FileResult{Report: overlapping},
			[]string{`"seen":150`, `"in":"first"`, `"import":"second"`, "orrery forget"},
		},
		"records that are new":         {datadir.FileResult{Report: ingest.Report{Records: 200, Judged: 200, Seen: 3}}, nil},
		"half a line at the end":       {datadir.FileResult{Report: left}, []string{`"bytes":12`, "--take-last"}},
		"half a line of a growing log": {datadir.FileResult{Report: left, Busy: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			logResult(slog.New(slog.NewJSONHandler(&out, nil)), test.result)
			var warnings []string
			for line := range strings.Lines(out.String()) {
				if strings.Contains(line, `"level":"WARN"`) {
					warnings = append(warnings, line)
				}
			}
			if test.want == nil && len(warnings) > 0 || test.want != nil && len(warnings) != 1 {
				t.Fatalf("warnings %q", warnings)
			}
			for _, want := range test.want {
				if !strings.Contains(warnings[0], want) {
					t.Errorf("%s lacks %s", warnings[0], want)
				}
			}
		})
	}
}

// TestLogOfObjectsThatAreNoRecords: the log has the members of a log in JSON of no known format, and mappings that fit.
func TestLogOfObjectsThatAreNoRecords(t *testing.T) {
	_, err := logformat.Detect([]byte(`{"timestamp":"2026-05-17T10:05:03Z","client ip":"203.0.113.7","status":404}`))
	var out bytes.Buffer
	logResult(slog.New(slog.NewJSONHandler(&out, nil)), datadir.FileResult{Path: "a.log", Err: fmt.Errorf("import: %w", err)})
	var entry struct{ Members, Remedy, Source string }
	if err := json.Unmarshal(out.Bytes(), &entry); err != nil {
		t.Fatal(err)
	}
	if entry.Members != `timestamp, "client ip", status` || entry.Remedy != `orrery import --map 'ip="client ip"' FILE` ||
		entry.Source != `map = { ip = "\"client ip\"" }` {
		t.Errorf("logged %s", out.String())
	}
}

// TestLogOfFailures: the log tells a failure that is tried again from a refusal.
func TestLogOfFailures(t *testing.T) {
	for again, want := range map[bool]string{
		true:  `"msg":"not imported yet; it is tried again","file":"a.log","error":"cause"`,
		false: `"msg":"not imported","file":"a.log","error":"cause"`,
	} {
		var out bytes.Buffer
		result := datadir.FileResult{Path: "a.log", Err: errors.New("cause"), Again: again}
		logResult(slog.New(slog.NewJSONHandler(&out, nil)), result)
		if !strings.Contains(out.String(), want) || !strings.Contains(out.String(), `"level":"ERROR"`) {
			t.Errorf("logged %s", out.String())
		}
	}
}
