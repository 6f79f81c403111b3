package datadir

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest"
)

// retry imports the lines of a source in quarantine again.
func retry(t *testing.T, s *Store, id string, options ingest.Options) RetryReport {
	t.Helper()
	report, err := s.Retry(t.Context(), id, options)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// linesOf returns the sources and the lines of all rows, in order.
func linesOf(t *testing.T, s *Store) []string {
	t.Helper()
	var all []string
	for _, row := range rowsOf(t, s) {
		all = append(all, fmt.Sprintf("%s %03d", row.Source, row.Line))
	}
	slices.Sort(all)
	return all
}

// quarantinedLines returns the numbers of the lines in quarantine with their reasons.
func quarantinedLines(t *testing.T, s *Store) []string {
	t.Helper()
	files, err := s.quarantineFiles("")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range files {
		err := ingest.EachRejected(f.path, func(line ingest.RejectedLine, _ []byte) error {
			all = append(all, fmt.Sprintf("%d %s", line.Line, line.Code))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

var (
	asOrrery   = ingest.Options{Format: "orrery"}
	asCombined = ingest.Options{Format: "combined"}
)

// TestRetriedRecordsBelongToTheirImport: they have the source and the numbers of their lines. The log grows, is
// forgotten and is imported anew, and each line is in the lake once.
func TestRetriedRecordsBelongToTheirImport(t *testing.T) {
	s := openStore(t, t.TempDir())
	text := lines(0, 3) + "garbage\n" + accessLines(2) + lines(3, 1)
	first := importText(t, s, text, asOrrery)
	for run, want := range []RetryReport{{Records: 2, Rejected: 1}, {Rejected: 1}, {Rejected: 1}} {
		options := asCombined
		options.QuarantineLimit = 1 // lines that are in quarantine already stay there
		if got := retry(t, s, first.Source, options); got != want {
			t.Errorf("run %d: %+v, want %+v", run, got, want)
		}
	}
	var want []string
	for _, line := range []int{1, 2, 3, 5, 6, 7} {
		want = append(want, fmt.Sprintf("%s %03d", first.Source, line))
	}
	if diff := cmp.Diff(want, linesOf(t, s)); diff != "" {
		t.Errorf("lines:\n%s", diff)
	}
	sources, err := s.Imports(t.Context())
	if err != nil || len(sources) != 1 || sources[0].Imports != 1 || sources[0].Records != 6 ||
		sources[0].Retried != 2 || sources[0].Rejected != 1 || sources[0].Format != "orrery" {
		t.Errorf("%+v, %v", sources, err)
	}
	compact(t, s, CompactOptions{})
	text += lines(4, 2)
	if grown := importText(t, s, text, ingest.Options{}); grown.Records != 2 || grown.Source != first.Source {
		t.Errorf("the grown log: %+v", grown)
	}
	if again := importText(t, s, text, ingest.Options{}); again.Records != 0 {
		t.Errorf("again: %+v", again)
	}
	if report := forget(t, s, first.Source); report.Records != 8 || len(rowsOf(t, s)) != 0 {
		t.Errorf("%+v, %d rows are left", report, len(rowsOf(t, s)))
	}
	anew := importText(t, s, text, asOrrery)
	retry(t, s, anew.Source, asCombined)
	if got := linesOf(t, s); len(got) != 8 || len(slices.Compact(got)) != 8 {
		t.Errorf("anew: %v", got)
	}
	if _, err := s.Retry(t.Context(), first.Source, asCombined); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a forgotten import: %v", err)
	}
}

// TestRetryOfLogsWithoutRecords: the ledger does not have such a log, so its next import reads all lines again.
func TestRetryOfLogsWithoutRecords(t *testing.T) {
	s := openStore(t, t.TempDir())
	first := importText(t, s, accessLines(2), asOrrery)
	before := tree(t, s.dir)
	for range 2 {
		_, err := s.Retry(t.Context(), first.Source, asCombined)
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "Import the log again") {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(before, tree(t, s.dir)); diff != "" {
		t.Errorf("files have changed:\n%s", diff)
	}
	second := importText(t, s, accessLines(2), asCombined)
	if second.Records != 2 || len(rowsOf(t, s)) != 2 || len(quarantinedLines(t, s)) != 0 {
		t.Errorf("%+v, %v in quarantine", second, quarantinedLines(t, s))
	}
}

// TestRetryLeavesCutLines: the last line of a log that ended within it is read again when the log has grown.
func TestRetryLeavesCutLines(t *testing.T) {
	s := openStore(t, t.TempDir())
	access := accessLines(2)
	text := lines(0, 3) + access
	cut := text[:len(text)-4] // the size would be 51
	first := importText(t, s, zipped(cut), asOrrery)
	again := importText(t, s, zipped(cut), asOrrery) // the ledger does not have this import
	if first.Records != 3 || again.Records != 0 || again.RejectedLines() != 1 {
		t.Fatalf("%+v, %+v", first, again)
	}
	if got, want := retry(t, s, first.Source, asCombined), (RetryReport{Records: 1, Kept: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	importText(t, s, zipped(cut), asOrrery)
	if diff := cmp.Diff([]string{"5 bad_json", "5 bad_json", "5 bad_json"}, quarantinedLines(t, s)); diff != "" {
		t.Errorf("in quarantine before the log has grown:\n%s", diff)
	}
	importText(t, s, zipped(text+lines(3, 1)), asOrrery)
	if diff := cmp.Diff([]string{"5 bad_json"}, quarantinedLines(t, s)); diff != "" {
		t.Errorf("in quarantine after the log has grown:\n%s", diff)
	}
	if got, want := retry(t, s, first.Source, asCombined), (RetryReport{Records: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	rows := linesOf(t, s)
	if len(rows) != 6 || len(slices.Compact(rows)) != 6 {
		t.Errorf("lines %v", rows)
	}
	for _, row := range rowsOf(t, s) {
		if row.BytesSent != nil && *row.BytesSent != 51234 {
			t.Errorf("line %d: %d bytes", row.Line, *row.BytesSent)
		}
	}
}

// TestRetryFollowsDirectives: rejected lines have the directive before them in the log.
func TestRetryFollowsDirectives(t *testing.T) {
	const sections, each = 3, 3
	text := w3cLog(sections, each)
	quoted := `"` + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\"\n\"") + "\"\n"
	for name, text := range map[string]string{"": text, ", with quotes around each line": quoted} {
		t.Run("in quarantine because of the horizon"+name, func(t *testing.T) {
			all := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
			options := ingest.Options{ // the records of the first and the last section are too old
				Format: "w3c", Horizon: time.Hour, Arrival: time.Date(2026, 5, 17, 11, 55, 0, 0, time.UTC),
			}
			for _, cut := range []int{8, 10, 11, len(all)} {
				s := openStore(t, t.TempDir())
				first := importText(t, s, zipped(strings.Join(all[:cut], "")), options)
				importText(t, s, zipped(text), options)
				got := retry(t, s, first.Source, ingest.Options{})
				if want := (RetryReport{Records: 2 * each}); got != want {
					t.Fatalf("cut after %d lines: %+v, in quarantine: %v", cut, got, quarantinedLines(t, s))
				}
				checkW3CRows(t, s, sections, each)
			}
		})
	}
	t.Run("in quarantine because of the format", func(t *testing.T) {
		s := openStore(t, t.TempDir())
		report := importText(t, s, text+lines(0, 1), asOrrery)
		got := retry(t, s, report.Source, ingest.Options{Format: "w3c"})
		if got.Records != sections*each || got.Rejected != 0 || len(quarantinedLines(t, s)) != 0 {
			t.Errorf("%+v, in quarantine: %v", got, quarantinedLines(t, s))
		}
	})
	t.Run("lines without their directive stay", func(t *testing.T) {
		s := openStore(t, t.TempDir())
		report := importText(t, s, lines(0, 1)+"2026-05-17 10:05:03 192.0.2.7 / 200\n", asOrrery)
		got := retry(t, s, report.Source, ingest.Options{Format: "w3c"})
		if got.Records != 0 || got.Rejected != 1 || len(quarantinedLines(t, s)) != 1 {
			t.Errorf("%+v, in quarantine: %v", got, quarantinedLines(t, s))
		}
	})
}

// TestQuarantineOfRepeatedImports: an import that replaces the lines of an earlier one has their space.
func TestQuarantineOfRepeatedImports(t *testing.T) {
	s := openStore(t, t.TempDir())
	text := strings.Repeat("garbage\n", 500)
	importText(t, s, text, asOrrery)
	files, err := s.quarantineFiles("")
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.Truncate(files[0].path, ingest.QuarantineBytes-1000); err != nil {
		t.Fatal(err)
	}
	if report := importText(t, s, text, asOrrery); report.Unsaved != 0 || len(quarantinedLines(t, s)) != 500 {
		t.Errorf("%d lines in quarantine, %+v", len(quarantinedLines(t, s)), report)
	}
}
