package datadir

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/testkit/testlevel"
)

// w3cLog returns a log in the format w3c with the given number of sections of lines. Every other section has its fields
// in another order. The path of each request is its number, and its status is 200 in even and 404 in odd sections.
func w3cLog(sections, linesPerSection int) string {
	var b strings.Builder
	n := 0
	for section := range sections {
		fields, line := "#Fields: date time c-ip cs-uri-stem sc-status", "2026-05-17 10:05:03 192.0.2.7 /%d 200\n"
		if section%2 == 1 {
			fields, line = "#Fields: sc-status cs-uri-stem date time", "404 /%d 2026-05-17 11:05:03\n"
		}
		fmt.Fprintf(&b, "#Software: test\n%s\n", fields)
		for range linesPerSection {
			fmt.Fprintf(&b, line, n)
			n++
		}
	}
	return b.String()
}

// checkW3CRows compares the records of a log of w3cLog with its lines.
func checkW3CRows(t *testing.T, s *Store, sections, linesPerSection int) {
	t.Helper()
	paths := map[string]int{}
	for _, row := range rowsOf(t, s) {
		paths[*row.Path]++
		number := 0
		if _, err := fmt.Sscanf(*row.Path, "/%d", &number); err != nil {
			t.Fatal(err)
		}
		section := number / linesPerSection
		want := []int64{200, 404}[section%2]
		if *row.Status != want || row.Line != int64(number+2*(section+1)+1) {
			t.Fatalf("request %d has status %d and is line %d", number, *row.Status, row.Line)
		}
	}
	if len(paths) != sections*linesPerSection {
		t.Errorf("%d of %d requests", len(paths), sections*linesPerSection)
	}
}

func TestImportFollowsDirectives(t *testing.T) {
	t.Run("anywhere in a log of many batches", func(t *testing.T) {
		const sections, each = 7, 5000
		s := openStore(t, t.TempDir())
		report := importText(t, s, w3cLog(sections, each), ingest.Options{})
		if report.Format != "w3c" || report.RejectedLines() != 0 || report.Records != sections*each ||
			report.Blank != 2*sections {
			t.Errorf("%+v", report)
		}
		checkW3CRows(t, s, sections, each)
	})
	t.Run("in a log that grows by any number of lines", func(t *testing.T) {
		const sections, each = 3, 3
		text := w3cLog(sections, each)
		for at := range len(text) {
			if text[at] != '\n' && at%testlevel.Of(29, 29, 7) != 0 {
				continue
			}
			s := openStore(t, t.TempDir())
			first := importText(t, s, text[:at+1], ingest.Options{Format: "w3c", Growing: true})
			second := importText(t, s, text, ingest.Options{Format: "w3c"})
			if first.RejectedLines()+second.RejectedLines() != 0 {
				t.Fatalf("cut after %d bytes: %v, %v", at+1, first.Rejected, second.Rejected)
			}
			checkW3CRows(t, s, sections, each)
		}
	})
	t.Run("in the complete part of a compressed log that grows", func(t *testing.T) {
		const sections, each = 3, 3
		text := w3cLog(sections, each)
		cut := strings.LastIndex(text, "#Fields: ") + len("#Fields: date time c-")
		s := openStore(t, t.TempDir())
		importText(t, s, zipped(text[:cut]), ingest.Options{})
		if report := importText(t, s, zipped(text), ingest.Options{}); report.RejectedLines() != 0 {
			t.Errorf("%+v", report)
		}
		checkW3CRows(t, s, sections, each)
	})
}
