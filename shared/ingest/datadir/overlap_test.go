package datadir

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/ingest"
)

// TestCautiousImportNoticesOverlaps: a part of an imported log is another log, whose records would be counted twice.
func TestCautiousImportNoticesOverlaps(t *testing.T) {
	all := strings.SplitAfter(lines(0, 3000), "\n")
	part := func(from, to int) string { return strings.Join(all[from:to], "") }
	host := []ingest.Default{{Field: "host", Value: "blog.example"}}
	other := strings.ReplaceAll(part(1500, 2500), "/p/", "/q/")
	for _, test := range []struct {
		name, text   string
		compacts     bool
		options      ingest.Options
		judged, seen int
		stops        bool
	}{
		{"the last lines", part(1000, 2000), false, ingest.Options{}, 1000, 1000, true},
		{"the last lines, compacted", part(1000, 2000), true, ingest.Options{}, 1000, 1000, true},
		{"the last lines with a field set", part(1000, 2000), false, ingest.Options{Defaults: host}, 1000, 1000, true},
		{"a few of the last lines", part(1980, 2000), false, ingest.Options{}, 20, 20, true},
		{"too few lines to judge", part(1981, 2000), false, ingest.Options{}, 19, 19, false},
		{"more than half are new", part(1501, 3000), false, ingest.Options{}, 1000, 499, false},
		{"more than half are there", part(1499, 3000), false, ingest.Options{}, 1000, 501, true},
		{"only later lines are there", lines(5000, 1000) + part(0, 2000), false, ingest.Options{}, 1000, 0, false},
		{"other requests at the same times", other, false, ingest.Options{}, 1000, 0, false},
		{"equal lines count as often as they are there", strings.Repeat(all[7], 30), false, ingest.Options{}, 30, 1, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := openStore(t, t.TempDir())
			source := importFile(t, s, "a.log", part(0, 1000), ingest.Options{}).Source
			importFile(t, s, "a.log", part(0, 2000), ingest.Options{})
			if test.compacts {
				compact(t, s, CompactOptions{})
			}
			test.options.Cautious = true
			_, err := s.Import(t.Context(), "part.log", strings.NewReader(test.text), test.options)
			var doubt *ingest.UnconfirmedError
			if errors.As(err, &doubt) != test.stops || err != nil && !test.stops {
				t.Fatal(err)
			}
			if test.stops && (!strings.Contains(err.Error(), source) || len(rowsOf(t, s)) != 2000) {
				t.Errorf("%d rows after %v", len(rowsOf(t, s)), err)
			}
			if !test.stops {
				return
			}
			test.options.Cautious = false
			report := importFile(t, s, "part.log", test.text, test.options)
			if report.Judged != test.judged || report.Seen != test.seen || !report.Overlaps() ||
				report.Records != int64(strings.Count(test.text, "\n")) {
				t.Errorf("not cautious: %+v", report)
			}
		})
	}
}

// TestOverlapsOfDamagedObjects: an object that cannot be read prevents no import.
func TestOverlapsOfDamagedObjects(t *testing.T) {
	s := openStore(t, t.TempDir())
	importFile(t, s, "a.log", lines(0, 100), ingest.Options{})
	if err := os.WriteFile(objectPaths(t, s)[0], []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	report, err := s.Import(t.Context(), "b.log", strings.NewReader(lines(0, 100)), ingest.Options{Cautious: true})
	if err != nil || report.Seen != 0 || report.Judged != 100 {
		t.Errorf("%+v, %v", report, err)
	}
}
