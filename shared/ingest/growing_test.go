package ingest

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"
)

// accessLines are lines of a combined log, each a minute later than the one before.
func accessLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `192.0.2.7 - - [17/May/2026:10:%02d:03 +0000] "GET /%d HTTP/1.1" 200 51234`+"\n", i, i)
	}
	return b.String()
}

func TestAnUnfinishedLineIsLeftForTheNextImport(t *testing.T) {
	access, whole := accessLines(3), lines(0, 3)
	cut := access[:len(access)-3] // 512 of 51234 bytes sent: a record, but a wrong one
	long := strings.Repeat(" ", 1<<20) + "{"
	tests := []struct {
		name, format string
		versions     []string
		left         []int64
		records      int
	}{
		{"figures that go on", "combined", []string{cut, access}, []int64{68, 0}, 3},
		{"again, then whole", "combined", []string{cut, cut, access}, []int64{68, 68, 0}, 3},
		{"another begins", "combined", []string{accessLines(1), accessLines(1) + "192", access}, []int64{0, 3, 0}, 3},
		{"everything but the newline", "orrery", []string{whole[:len(whole)-1], whole + lines(3, 2)}, []int64{81, 0}, 5},
		{"half of Windows' line end", "orrery",
			[]string{whole[:len(whole)-1] + "\r", whole[:len(whole)-1] + "\r\n" + lines(3, 1)}, []int64{82, 0}, 4},
		{"nothing but half a line", "orrery", []string{whole[:30], whole}, []int64{30, 0}, 3},
		{"blank lines and half a line", "auto", []string{"\n\r\n" + whole[:30], "\n\r\n" + whole}, []int64{30, 0}, 3},
		{"half a line of no format yet", "auto", []string{access[:5], access}, []int64{5, 0}, 3},
		{"space at the end", "orrery", []string{whole + " \t", whole + " \t\n" + lines(3, 1)}, []int64{0, 0}, 4},
		{"too long", "orrery", []string{whole + long, whole + long + lines(3, 1) + lines(4, 1)}, []int64{1<<20 + 1, 0}, 4},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := openStore(t, t.TempDir())
			for i, version := range test.versions {
				report := importText(t, s, version, Options{Format: test.format, Growing: true})
				if report.Left != test.left[i] {
					t.Errorf("version %d: %+v", i, report)
				}
				if report.RejectedLines() > 0 && test.name != "too long" {
					t.Errorf("version %d: rejected %v", i, report.Rejected)
				}
				checkLastLine(t, s, version)
			}
			if got := len(rowsOf(t, s)); got != test.records {
				t.Errorf("%d records", got)
			}
		})
	}
}

// checkLastLine checks that no record was made of the line that a log ends in without a newline.
func checkLastLine(t *testing.T, s *Store, text string) {
	t.Helper()
	for _, row := range rowsOf(t, s) {
		if row.Line > int64(strings.Count(text, "\n")) {
			t.Errorf("line %d became a record", row.Line)
		}
	}
}

func TestTheLastLineOfACompleteLogIsTaken(t *testing.T) {
	text := strings.TrimSuffix(accessLines(3), "\n")
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		content string
		options Options
	}{
		"said to be complete": {text, Options{}},
		"gzip":                {zipped(t, text), Options{Growing: true}},
		"zstd":                {string(encoder.EncodeAll([]byte(text), nil)), Options{Growing: true}},
	} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t, t.TempDir())
			importText(t, s, text, Options{Growing: true})
			report := importText(t, s, test.content, test.options)
			if report.Records != 1 || report.Known != 2 || report.Left != 0 {
				t.Errorf("after it was left: %+v", report)
			}
			for _, options := range []Options{{}, {Growing: true}} {
				if again := importText(t, s, text, options); again.Records != 0 || again.Known != 3 || again.Left != 0 {
					t.Errorf("again: %+v", again)
				}
			}
			grown := importText(t, s, text+"\n"+strings.SplitAfter(accessLines(5), "\n")[3], Options{Growing: true})
			if grown.Records != 1 || grown.RejectedLines() != 0 {
				t.Errorf("grown: %+v", grown)
			}
		})
	}
}

// FuzzGrowth reads a log when it has been written up to some byte, and its rest when it is complete: the lines are
// those of one reading, whatever the log and the byte.
func FuzzGrowth(f *testing.F) {
	wrapped := "\xef\xbb\xbf\"" + strings.TrimSuffix(accessLines(1), "\n") + "\"\n"
	for _, text := range []string{accessLines(3), lines(0, 3), wrapped, "\n \r\n\n", "\r"} {
		for _, cut := range []int{0, 1, len(text) / 2, len(text) - 1, len(text)} {
			f.Add(text, cut)
			f.Add(strings.ReplaceAll(text, "\n", "\r\n"), cut)
			f.Add(strings.TrimSuffix(text, "\n"), cut)
		}
	}
	f.Fuzz(func(t *testing.T, text string, cut int) {
		if cut < 0 || cut > len(text) {
			return
		}
		want, all := readLines(t, text, position{sum: sha256.New(), fresh: true}, Options{})
		got, first := readLines(t, text[:cut], position{sum: sha256.New(), fresh: true}, Options{Growing: true})
		if end := strings.LastIndexByte(text[:cut], '\n') + 1; first.all != first.whole || first.all.length != int64(end) {
			t.Fatalf("the first reading reached %+v", first.all)
		}
		base := Entry{Length: first.all.length, Lines: first.all.lines, Terminated: true}
		rest, last := readLines(t, text[base.Length:], position{base: base, sum: first.sum}, Options{})
		maps.Copy(got, rest)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("cut after %d bytes (-once +twice):\n%s", cut, diff)
		}
		if last.all != all.all || last.whole != all.whole {
			t.Errorf("cut after %d bytes: reached %+v, not %+v", cut, last.all, all.all)
		}
	})
}

// readLines reads the lines of a text that follows a position, by their numbers.
func readLines(t *testing.T, text string, at position, options Options) (map[int64]string, *lineReader) {
	t.Helper()
	r := newLineReader(&input{text: bufio.NewReaderSize(strings.NewReader(text), headBytes)}, at, options)
	batches := make(chan batch)
	var group errgroup.Group
	group.Go(func() error { return r.run(t.Context(), batches) })
	got := map[int64]string{}
	for b := range batches {
		number := b.firstLine
		for line := range strings.Lines(string(b.text)) {
			if before, twice := got[number]; twice {
				t.Errorf("line %d is %q and %q", number, before, line)
			}
			got[number] = line
			number++
		}
		b.release()
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	return got, r
}
