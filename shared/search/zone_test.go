package search

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/sqlgen"
	"github.com/orrery/orrery/shared/zone"
)

func TestZoneOf(t *testing.T) {
	_, err := zoneOf("Berlin")
	var wrong *ParamError
	if !errors.As(err, &wrong) || wrong.Param != "tz" || wrong.Suggestion != "Europe/Berlin" || wrong.Message == "" {
		t.Errorf("%v, want an error of tz that suggests Europe/Berlin", err)
	}
}

// FuzzZone: the text of tz is refused, or names a zone and is not in the SQL.
func FuzzZone(f *testing.F) {
	for _, name := range []string{
		"", "UTC", "Europe/Berlin", "Africa/Casablanca", "Pacific/Chatham", "Europe/Berlin'", "Local", "../UTC", "/etc/localtime",
		"Europe/Berlin' OR 1=1 --", "UTC\x00", "\xff", "right/UTC", "EUROPE/BERLIN", "Europe/Berlin ", strings.Repeat("a/", 99),
	} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		q, err := bind(t.Context(), Request{
			Route: Timeline, TZ: name, Filters: "timestamp between 2024-03-01 and 2024-11-01", Segment: "1d",
		})
		if err != nil {
			var wrong *ParamError
			if !errors.As(err, &wrong) || wrong.Param != "tz" {
				t.Fatalf("%q: %v, want an error of tz", name, err)
			}
			return
		}
		if name != "" && !slices.Contains(zone.Names(), name) {
			t.Fatalf("%q is accepted", name)
		}
		plain := q
		plain.Shape = query.Timeline{SegmentSeconds: 86_400}
		want, err := sqlgen.Athena(plain)
		if err != nil {
			t.Fatal(err)
		}
		got, err := sqlgen.Athena(q)
		if err != nil {
			t.Fatal(err)
		}
		// Every word of the statement is one of a statement without a zone, or of a CASE.
		words := strings.FieldsFunc(want.Statements[0].SQL, notLetter)
		for _, word := range strings.FieldsFunc(got.Statements[0].SQL, notLetter) {
			if !slices.Contains(append(words, "CASE", "WHEN", "THEN", "ELSE", "END"), word) {
				t.Fatalf("tz %q brings %q into the statement", name, word)
			}
		}
		if _, err := sqlgen.DuckDB(q, []lake.Object{{Path: "…"}}); err != nil {
			t.Fatal(err)
		}
	})
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) }

func TestLocalName(t *testing.T) {
	berlin, err := zoneOf("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	first := time.Date(2024, 10, 27, 0, 0, 0, 0, time.UTC).Unix()
	old := time.Date(1890, 1, 1, 12, 0, 0, 0, time.UTC).Unix()
	for start, want := range map[int64]string{
		first:        "2024-10-27 02:00:00+02:00",
		first + 3600: "2024-10-27 02:00:00+01:00",
		old:          "1890-01-01 12:53:28+00:53:28",
	} {
		got := localName(start, berlin)
		if got != want {
			t.Errorf("%d is %s, want %s", start, got, want)
		}
		q, err := bind(t.Context(), Request{Route: Timeline, Filters: "timestamp between " + got + " and " + got})
		if err != nil || q.Period.FromMs != start*1000 {
			t.Errorf("a filter takes %s for %v, %v", got, q.Period, err)
		}
	}
	if got := localName(first, nil); got != "" {
		t.Errorf("without a zone the name is %q", got)
	}
}
