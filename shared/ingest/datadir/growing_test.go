package datadir

import (
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/orrery/orrery/shared/ingest"
)

// accessLines returns n lines of a combined log, one a minute.
func accessLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `192.0.2.7 - - [17/May/2026:10:%02d:03 +0000] "GET /%d HTTP/1.1" 200 51234`+"\n", i, i)
	}
	return b.String()
}

func TestImportLeavesUnfinishedLine(t *testing.T) {
	access, whole := accessLines(3), lines(0, 3)
	cut := access[:len(access)-3] // with 512 of 51234 bytes sent: a record with a wrong value
	long := strings.Repeat(" ", 1<<20) + "{"
	tests := []struct {
		name, format string
		versions     []string
		left         []int64
		records      int
	}{
		{"half a number", "combined", []string{cut, access}, []int64{68, 0}, 3},
		{"half a number twice, then the line", "combined", []string{cut, cut, access}, []int64{68, 68, 0}, 3},
		{"the beginning of another line", "combined",
			[]string{accessLines(1), accessLines(1) + "192", access}, []int64{0, 3, 0}, 3},
		{"no newline", "orrery",
			[]string{whole[:len(whole)-1], whole + lines(3, 2)}, []int64{102, 0}, 5},
		{"half of a Windows line ending", "orrery",
			[]string{whole[:len(whole)-1] + "\r", whole[:len(whole)-1] + "\r\n" + lines(3, 1)}, []int64{103, 0}, 4},
		{"only half a line", "orrery", []string{whole[:30], whole}, []int64{30, 0}, 3},
		{"blank lines and half a line", "auto", []string{"\n\r\n" + whole[:30], "\n\r\n" + whole}, []int64{30, 0}, 3},
		{"half a line without a format", "auto", []string{access[:5], access}, []int64{5, 0}, 3},
		{"white space at the end", "orrery", []string{whole + " \t", whole + " \t\n" + lines(3, 1)}, []int64{0, 0}, 4},
		{"too long", "orrery",
			[]string{whole + long, whole + long + lines(3, 1) + lines(4, 1)}, []int64{1<<20 + 1, 0}, 4},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := openStore(t, t.TempDir())
			for i, version := range test.versions {
				report := importText(t, s, version, ingest.Options{Format: test.format, Growing: true})
				if report.Left != test.left[i] {
					t.Errorf("version %d: %+v", i, report)
				}
				if report.RejectedLines() > 0 && test.name != "too long" {
					t.Errorf("version %d: rejected lines %v", i, report.Rejected)
				}
				checkLastLine(t, s, version)
			}
			if got := len(rowsOf(t, s)); got != test.records {
				t.Errorf("%d records", got)
			}
		})
	}
}

// checkLastLine checks that a last line without newline is not a record.
func checkLastLine(t *testing.T, s *Store, text string) {
	t.Helper()
	for _, row := range rowsOf(t, s) {
		if row.Line > int64(strings.Count(text, "\n")) {
			t.Errorf("line %d became a record", row.Line)
		}
	}
}

func TestImportTakesLastLineOfCompleteLog(t *testing.T) {
	text := strings.TrimSuffix(accessLines(3), "\n")
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		content string
		options ingest.Options
	}{
		"not growing": {text, ingest.Options{}},
		"gzip":        {zipped(text), ingest.Options{Growing: true}},
		"zstd":        {string(encoder.EncodeAll([]byte(text), nil)), ingest.Options{Growing: true}},
	} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t, t.TempDir())
			importText(t, s, text, ingest.Options{Growing: true})
			report := importText(t, s, test.content, test.options)
			if report.Records != 1 || report.Known != 2 || report.Left != 0 {
				t.Errorf("after the line was left: %+v", report)
			}
			for _, options := range []ingest.Options{{}, {Growing: true}} {
				if again := importText(t, s, text, options); again.Records != 0 || again.Known != 3 || again.Left != 0 {
					t.Errorf("again: %+v", again)
				}
			}
			fourth := strings.SplitAfter(accessLines(5), "\n")[3]
			grown := importText(t, s, text+"\n"+fourth, ingest.Options{Growing: true})
			if grown.Records != 1 || grown.RejectedLines() != 0 {
				t.Errorf("grown: %+v", grown)
			}
		})
	}
}
