package ingest

import (
	"bufio"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
)

// FuzzGrowth reads a log up to some byte, as if it were still growing, and then the rest of the complete log. The lines
// must be the same as when the complete log is read once.
func FuzzGrowth(f *testing.F) {
	access := strings.Repeat(`192.0.2.7 - - [17/May/2026:10:05:03 +0000] "GET /a HTTP/1.1" 200 51234`+"\n", 3)
	native := strings.Repeat(`{"processing_stage":6,"timestamp":"2026-04-01T10:00:00Z","request_id":"r1","status":200}`+"\n", 3)
	wrapped := "\xef\xbb\xbf\"" + access[:strings.IndexByte(access, 10)] + "\"\n"
	for _, text := range []string{access, native, wrapped, "\n \r\n\n", "\r"} {
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
		want, all := readLines(t, text, position{sum: newPrefixSum(), fresh: true}, Options{})
		got, first := readLines(t, text[:cut], position{sum: newPrefixSum(), fresh: true}, Options{Growing: true})
		end := int64(strings.LastIndexByte(text[:cut], '\n') + 1)
		if first.all != first.whole || first.all.length != end {
			t.Fatalf("the first reading ended at %+v, want %d bytes", first.all, end)
		}
		base := Entry{Length: first.all.length, Lines: first.all.lines, Terminated: true}
		rest, last := readLines(t, text[base.Length:], position{base: base, sum: first.sum}, Options{})
		maps.Copy(got, rest)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("cut after %d bytes (-once +twice):\n%s", cut, diff)
		}
		if last.all != all.all || last.whole != all.whole {
			t.Errorf("cut after %d bytes: ended at %+v, want %+v", cut, last.all, all.all)
		}
	})
}

// readLines reads a text that follows a position, and returns its lines by number.
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
				t.Errorf("line %d was read twice: %q and %q", number, before, line)
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
