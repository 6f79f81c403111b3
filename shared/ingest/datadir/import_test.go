package datadir

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/gzipped"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/record"
)

func TestImportWritesSortedHourlyObjects(t *testing.T) {
	s := openStore(t, t.TempDir())
	report := importText(t, s, lines(0, 1500), ingest.Options{})
	want := ingest.Report{
		Name: "test.log", Source: report.Source, Format: "orrery", Records: 1500, Rejected: map[record.Code]int64{},
		Objects: 3, Bytes: int64(len(lines(0, 1500))), Judged: 1000,
		Absent: []string{"address", "method", "host"},
	}
	if diff := cmp.Diff(want, report); diff != "" {
		t.Error(diff)
	}
	rows := rowsOf(t, s)
	for i, row := range rows {
		if row.Source != report.Source || row.Line != int64(i+1) || *row.RequestID != fmt.Sprintf("r%d", i) {
			t.Fatalf("row %d is %s:%d %s", i, row.Source, row.Line, *row.RequestID)
		}
	}
	if len(rows) != 1500 {
		t.Errorf("%d rows", len(rows))
	}
	if files := tree(t, filepath.Join(s.dir, "lake", "_staging")); files != "" {
		t.Errorf("files are left: %s", files)
	}
}

func zipped(text string) string { return string(gzipped.Of([]byte(text))) }

func TestImportWithAnyCompressionAndReader(t *testing.T) {
	text := lines(0, 700)
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	forms := map[string]string{
		"plain": text,
		"gzip":  zipped(text[:1000]) + zipped(text[1000:]), // two members, as after appending to the file
		"zstd":  string(encoder.EncodeAll([]byte(text), nil)),
	}
	for first, content := range forms {
		t.Run(first, func(t *testing.T) {
			s := openStore(t, t.TempDir())
			report, err := s.Import(t.Context(), "log", pipe(content), ingest.Options{})
			if err != nil || report.Records != 700 {
				t.Fatal(report, err)
			}
			for second, content := range forms {
				for _, seeks := range []bool{true, false} {
					r := pipe(content)
					if seeks {
						r = strings.NewReader(content)
					}
					report, err := s.Import(t.Context(), "log", r, ingest.Options{})
					if err != nil || report.Records != 0 || report.Known != 700 {
						t.Errorf("then %s, seeks %v: %+v, %v", second, seeks, report, err)
					}
				}
			}
			if got := len(rowsOf(t, s)); got != 700 {
				t.Errorf("%d rows", got)
			}
		})
	}
}

func TestImportIsDeterministic(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: skipped with -short, for the race detector")
	}
	// The rows are in 20 hours, in no order, and too many for the memory.
	var b strings.Builder
	for i := range 3_000 {
		hour, second := i*7919%20, i*31%3600
		at := 1_770_000_000 + hour*3600 + second
		fmt.Fprintf(&b, `{"processing_stage":6,"timestamp":%d,"request_id":"r%d","path":"/%0200d"}`+"\n", at, i, i)
	}
	var trees [2]string
	for i := range trees {
		s := openStore(t, t.TempDir())
		report := importText(t, s, b.String(), ingest.Options{Memory: 1 << 20, Workers: 1 + i*3})
		if report.Records != 3_000 || report.Objects != 21 {
			t.Errorf("%+v", report)
		}
		if got := len(rowsOf(t, s)); got != 3_000 {
			t.Errorf("%d rows", got)
		}
		trees[i] = tree(t, s.dir)
	}
	if diff := cmp.Diff(trees[0], trees[1]); diff != "" {
		t.Errorf("the files with one worker and with four workers differ:\n%s", diff)
	}
}

func TestConcurrentImports(t *testing.T) {
	dir := t.TempDir()
	for _, texts := range [][]string{
		{lines(0, 400), lines(0, 400), lines(3000, 300), lines(3000, 300)},
		{lines(0, 700), lines(0, 700), lines(3000, 300), lines(0, 700)}, // grown
	} {
		var all errgroup.Group
		for _, text := range texts {
			s := openStore(t, dir)
			all.Go(func() error {
				_, err := s.Import(context.Background(), "log", pipe(text), ingest.Options{})
				return err
			})
		}
		if err := all.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	for _, row := range rowsOf(t, openStore(t, dir)) {
		if seen[*row.RequestID] {
			t.Errorf("%s occurs twice", *row.RequestID)
		}
		seen[*row.RequestID] = true
	}
	if len(seen) != 1000 {
		t.Errorf("%d records", len(seen))
	}
}

func TestImportWritesPartsWhenMemoryIsShort(t *testing.T) {
	s := openStore(t, t.TempDir())
	text := strings.Repeat(`{"timestamp":"2026-04-01T10:00:00Z","path":"/x"}`+"\n", 12_000)
	report := importText(t, s, text, ingest.Options{Format: "orrery", Memory: 4 << 20})
	if report.Records != 12_000 || report.Objects < 3 {
		t.Errorf("%+v", report)
	}
	if got := len(rowsOf(t, s)); got != 12_000 {
		t.Errorf("%d rows, want all equal lines", got)
	}
}

func TestImportGrownLogs(t *testing.T) {
	s := openStore(t, t.TempDir())
	text := lines(0, 900)
	steps := []struct {
		name           string
		upTo           int // lines
		records, known int64
	}{
		{"first", 100, 100, 0},
		{"unchanged", 100, 0, 100},
		{"grown", 850, 750, 100},
		{"grown again", 900, 50, 850},
		{"an older copy", 100, 0, 100},
		{"an older copy", 850, 0, 850},
		{"unchanged", 900, 0, 900},
	}
	var source string
	for i, step := range steps {
		part := strings.Join(strings.SplitAfter(text, "\n")[:step.upTo], "")
		r := pipe(part)
		if i%2 == 0 {
			r = strings.NewReader(part)
		}
		report, err := s.Import(t.Context(), "growing", r, ingest.Options{})
		if err != nil || report.Records != step.records || report.Known != step.known {
			t.Errorf("%s: %+v, %v", step.name, report, err)
		}
		if source == "" {
			source = report.Source
		}
		if report.Records > 0 && report.Source != source {
			t.Errorf("%s: source %s, want %s", step.name, report.Source, source)
		}
	}
	want := make([]string, 900)
	for i := range want {
		want[i] = fmt.Sprintf("%s:%d", source, i+1)
	}
	if diff := cmp.Diff(want, places(t, s)); diff != "" {
		t.Error(diff)
	}
}

func TestImportLogsWithCommonBeginning(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: skipped with -short, for the race detector")
	}
	inputs := map[string]func(string) io.Reader{
		"file":        func(text string) io.Reader { return strings.NewReader(text) },
		"pipe":        pipe,
		"zipped file": func(text string) io.Reader { return strings.NewReader(zipped(text)) },
		"zipped pipe": func(text string) io.Reader { return pipe(zipped(text)) },
	}
	for name, input := range inputs {
		t.Run(name, func(t *testing.T) {
			s := openStore(t, t.TempDir())
			importLog := func(text string) ingest.Report {
				report, err := s.Import(t.Context(), "log", input(text), ingest.Options{})
				if err != nil {
					t.Fatal(err)
				}
				return report
			}
			shared := lines(0, 2000) // longer than the head
			first := importLog(shared)
			grown := importLog(shared + lines(5000, 10))
			other := importLog(shared + lines(9000, 20))
			unlike := importLog(shared[:len(shared)-4] + "9\"}\n" + lines(9000, 20))
			if grown.Source != first.Source || grown.Records != 10 {
				t.Errorf("grown: %+v", grown)
			}
			if other.Source == first.Source || other.Records != 20 || other.Known != 2000 {
				t.Errorf("a log that differs after a known point must be a new source: %+v", other)
			}
			if unlike.Source == first.Source || unlike.Records != 2020 || unlike.Known != 0 {
				t.Errorf("a log with only the same beginning must be a new source: %+v", unlike)
			}
			again := importLog(shared + lines(9000, 20))
			if again.Records != 0 || again.Known != 2020 {
				t.Errorf("again: %+v", again)
			}
		})
	}
}

func TestImportLastLineWithoutNewline(t *testing.T) {
	whole := lines(0, 3)
	text := strings.TrimSuffix(whole, "\n")
	half := text[:len(text)-20]
	tests := []struct {
		name     string
		versions []string
		records  int
		rejected []record.Code
	}{
		{"complete, then with newline", []string{text, whole}, 3, []record.Code{}},
		{"complete, then more lines", []string{text, whole + lines(3, 2)}, 5, []record.Code{}},
		{"complete, then more lines, Windows", []string{text, text + "\r\n" + lines(3, 2)}, 5, []record.Code{}},
		{"half, then complete", []string{half, whole}, 3, []record.Code{}},
		{"half twice, then complete", []string{half, half, whole + lines(3, 2)}, 5, []record.Code{}},
		{"only half a line, then complete", []string{text[:30], whole}, 3, []record.Code{}},
		{"complete, then the line continues",
			[]string{text, text + " {}\n" + lines(3, 2)}, 5, []record.Code{ingest.ContinuedLine}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := openStore(t, t.TempDir())
			var last ingest.Report
			for _, version := range test.versions {
				last = importText(t, s, version, ingest.Options{Format: "orrery"})
			}
			if diff := cmp.Diff(test.rejected, append([]record.Code{}, last.Reasons()...)); diff != "" {
				t.Error(diff)
			}
			var want []string
			for i := range test.records {
				want = append(want, fmt.Sprintf("%s:%d", last.Source, i+1))
			}
			if diff := cmp.Diff(want, places(t, s)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestImportTooLongLineThatGrows(t *testing.T) {
	s := openStore(t, t.TempDir())
	text := lines(0, 2) + strings.Repeat("x", 3*record.MaxLine)
	third := lines(2, 1)
	for _, version := range []string{text, text + strings.TrimSuffix(third, "\n"), text + third + lines(3, 1)} {
		report := importText(t, s, version, ingest.Options{})
		if diff := cmp.Diff(map[record.Code]int64{record.TooLarge: 1}, report.Rejected); diff != "" {
			t.Error(diff)
		}
	}
	source := rowsOf(t, s)[0].Source
	if diff := cmp.Diff([]string{source + ":1", source + ":2", source + ":4"}, places(t, s)); diff != "" {
		t.Errorf("the end of the long line became a record: %s", diff)
	}
}

func TestImportKeepsRejectedLinesWithReasons(t *testing.T) {
	s := openStore(t, t.TempDir())
	long := `{"processing_stage":6,"timestamp":"2026-04-01T10:00:00Z","path":"` + strings.Repeat("x", 3_000_000) + `"}`
	text := "\xef\xbb\xbf" + lines(0, 1) + // 1, after a byte order mark
		"not json\r\n" + // 2
		"\n  \n" + // 3, 4 blank
		`{"path":"/"}` + "\n" + // 5
		"\x00\xff\n" + // 6
		long + "\n" + // 7
		`{"processing_stage":6,"timestamp":"1969-12-31T23:59:59Z"}` + "\n" + // 8
		lines(1, 1) + // 9
		`["timestamp"]` // 10
	report := importText(t, s, text, ingest.Options{})
	want := map[record.Code]int64{
		record.BadJSON:        2,
		record.NoTimestamp:    1,
		record.TooLarge:       1,
		ingest.TimeOutOfRange: 1,
		record.NotObject:      1,
	}
	if diff := cmp.Diff(want, report.Rejected); diff != "" {
		t.Error(diff)
	}
	if report.Records != 2 || report.Blank != 2 || report.RejectedLines() != 6 {
		t.Errorf("%+v", report)
	}
	content, err := os.ReadFile(report.Quarantine)
	if err != nil {
		t.Fatal(err)
	}
	type entry struct {
		Line                        int
		Code, Message, Text, Base64 string
		Length                      int
	}
	var got []entry
	for line := range bytes.Lines(content) {
		var k entry
		if err := json.Unmarshal(line, &k); err != nil {
			t.Fatal(err)
		}
		if k.Message == "" {
			t.Errorf("line %d has no message", k.Line)
		}
		k.Message = ""
		got = append(got, k)
	}
	wanted := []entry{
		{Line: 2, Code: "bad_json", Text: "not json"},
		{Line: 5, Code: "no_timestamp", Text: `{"path":"/"}`},
		{Line: 6, Code: "bad_json", Base64: "AP8="},
		{Line: 7, Code: "too_large", Text: long[:64<<10], Length: len(long) + 1},
		{Line: 8, Code: "time_out_of_range", Text: `{"processing_stage":6,"timestamp":"1969-12-31T23:59:59Z"}`},
		{Line: 10, Code: "not_object", Text: `["timestamp"]`},
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{report.Source + ":1", report.Source + ":9"}, places(t, s)); diff != "" {
		t.Error(diff)
	}
}

func TestImportRejectsLinesOnce(t *testing.T) {
	s := openStore(t, t.TempDir())
	text := lines(0, 2) + "garbage\n"
	if first := importText(t, s, text, ingest.Options{}); first.RejectedLines() != 1 {
		t.Errorf("%+v", first)
	}
	before := tree(t, s.dir)
	if again := importText(t, s, text, ingest.Options{}); again.RejectedLines() != 0 || again.Known != 3 {
		t.Errorf("%+v", again)
	}
	if diff := cmp.Diff(before, tree(t, s.dir)); diff != "" {
		t.Errorf("importing again changed files:\n%s", diff)
	}
	more := importText(t, s, text+"more garbage\n", ingest.Options{})
	if more.RejectedLines() != 1 || filepath.Base(more.Quarantine) != more.Source+".2.ndjson" {
		t.Errorf("%+v", more)
	}
	if last := importText(t, s, text+"more garbage\n", ingest.Options{}); last.RejectedLines() != 0 {
		t.Errorf("%+v", last)
	}
}

func TestImportAfterImportWithoutRecords(t *testing.T) {
	s := openStore(t, t.TempDir())
	text := lines(0, 5)
	wrong := importText(t, s, text, ingest.Options{Format: "combined"})
	if wrong.Records != 0 || wrong.RejectedLines() != 5 {
		t.Errorf("%+v", wrong)
	}
	right := importText(t, s, text, ingest.Options{})
	if right.Records != 5 {
		t.Errorf("%+v", right)
	}
	if _, err := os.Stat(s.quarantinePath(right.Source, 1)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the quarantine of the first import still exists: %v", err)
	}
}

func TestImportSetsDefaults(t *testing.T) {
	s := openStore(t, t.TempDir())
	text := `{"processing_stage":6,"timestamp":"2026-04-01T10:00:00Z","host":"a.example"}` + "\n" +
		`{"processing_stage":6,"timestamp":"2026-04-01T10:00:01Z"}` + "\n"
	importText(t, s, text, ingest.Options{Defaults: []ingest.Default{
		{Field: "host", Value: "b.example"},
		{Field: "branch", Value: "prod"},
	}})
	rows := rowsOf(t, s)
	if *rows[0].Host != "a.example" || *rows[1].Host != "b.example" || *rows[0].Branch != "prod" {
		t.Error(records(t, s))
	}
}

func TestImportReportsMistakes(t *testing.T) {
	s := openStore(t, t.TempDir())
	set := func(field, value string) ingest.Options {
		return ingest.Options{Defaults: []ingest.Default{{Field: field, Value: value}}}
	}
	tests := []struct {
		name, text string
		options    ingest.Options
		want       string
	}{
		{"unknown format", lines(0, 1), ingest.Options{Format: "csv"}, `unknown format "csv"`},
		{"unknown field", lines(0, 1), set("hots", "x"), `no field "hots" to set; did you mean "host"?`},
		{"no format detected", "a,b,c\n1,2,3\n", ingest.Options{}, "--format"},
		{"misspelt field", lines(0, 1), set("stauts", "2"), `did you mean "status"?`},
		{"wrong type of value", lines(0, 1), set("status", "x"), `status=x: set status: "x" is not`},
		{"cut gzip", "\x1f\x8b\x08\x00\x00", ingest.Options{}, "the gzip file is cut off"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := s.Import(t.Context(), "x", strings.NewReader(test.text), test.options)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
			if fault.KindOf(err) != fault.Invalid {
				t.Errorf("kind %d", fault.KindOf(err))
			}
		})
	}
	if report := importText(t, s, "", ingest.Options{}); report.Source != "" || report.Records != 0 {
		t.Errorf("empty input: %+v", report)
	}
}

func TestImportInterrupted(t *testing.T) {
	s := openStore(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	_, err := s.Import(ctx, "x", pipe(lines(0, 8_000)), ingest.Options{Progress: func(p ingest.Progress) {
		if p.Bytes == 0 {
			t.Error("progress without bytes")
		}
		cancel()
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if got := rowsOf(t, s); len(got) != 0 {
		t.Errorf("%d rows", len(got))
	}
	if files := tree(t, filepath.Join(s.dir, "lake", "_staging")); files != "" {
		t.Errorf("files are left: %s", files)
	}
	if report := importText(t, s, lines(0, 8_000), ingest.Options{}); report.Records != 8_000 {
		t.Errorf("second import: %+v", report)
	}
}

func TestImportCountsInvalidUTF8(t *testing.T) {
	s := openStore(t, t.TempDir())
	line := `{"processing_stage":6,"timestamp":"2026-04-01T10:00:00Z","path":"/` + "\xff" + `"}`
	if report := importText(t, s, line+"\n", ingest.Options{}); report.Invalid != 1 {
		t.Errorf("%+v", report)
	}
	if row := rowsOf(t, s)[0]; *row.Path != "/\ufffd" || row.RawLine == nil {
		t.Errorf("%q", *row.Path)
	}
}
