package search

import (
	"archive/zip"
	"errors"
	"go/build"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/sqlgen"
)

func TestZoneOf(t *testing.T) {
	t.Run("every listed zone can be loaded", func(t *testing.T) {
		if len(zones) < 500 {
			t.Fatalf("only %d zones are listed", len(zones))
		}
		for _, name := range zones {
			if zone, err := zoneOf(name); err != nil || zone.String() != name {
				t.Errorf("%s: %v, %v", name, zone, err)
			}
		}
	})
	t.Run("the list has the zones of the Go release", func(t *testing.T) {
		archive, err := zip.OpenReader(filepath.Join(build.Default.GOROOT, "lib", "time", "zoneinfo.zip"))
		if errors.Is(err, os.ErrNotExist) {
			t.Skip("this Go release is installed without its zones")
		}
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = archive.Close() }()
		var names []string
		for _, file := range archive.File {
			if name := file.Name; !strings.HasSuffix(name, "/") && name != "Factory" {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		if diff := cmp.Diff(names, zones); diff != "" {
			t.Errorf("zones.txt differs (-release +list):\n%s", diff)
		}
	})
	t.Run("an unknown name is refused with the nearest one", func(t *testing.T) {
		for name, want := range map[string]string{
			"Europe/Berlim":     "Europe/Berlin",
			"europe/berlin":     "Europe/Berlin",
			"Berlin":            "Europe/Berlin",
			"sao_paulo":         "America/Sao_Paulo",
			"Local":             "Asia/Oral",
			"+01:00":            "",
			"../../etc/passwd":  "",
			"posix/Asia/Tokyo":  "",
			"'; DROP TABLE x--": "",
		} {
			_, err := zoneOf(name)
			var wrong *ParamError
			if !errors.As(err, &wrong) || wrong.Param != "tz" || wrong.Suggestion != want || wrong.Message == "" {
				t.Errorf("%q: %v, want an error of tz that suggests %q", name, err, want)
			}
		}
	})
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
		q, err := bind(Request{
			Route: Timeline, TZ: name, Filters: "timestamp between 2024-03-01 and 2024-11-01", Segment: "1d",
		})
		if err != nil {
			var wrong *ParamError
			if !errors.As(err, &wrong) || wrong.Param != "tz" {
				t.Fatalf("%q: %v, want an error of tz", name, err)
			}
			return
		}
		if name != "" && !slices.Contains(zones, name) {
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
	for start, want := range map[int64]string{
		first:        "2024-10-27 02:00:00+02:00",
		first + 3600: "2024-10-27 02:00:00+01:00",
	} {
		if got := localName(start, berlin); got != want {
			t.Errorf("%d is %s, want %s", start, got, want)
		}
	}
	if got := localName(first, nil); got != "" {
		t.Errorf("without a zone the name is %q", got)
	}
}
