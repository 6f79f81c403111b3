package logformat

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
)

// sameRequest is a request in one of the formats.
type sameRequest struct {
	name, format string
	lines        string // directives, then the record
}

// sameRequests returns one request in every format.
func sameRequests(t *testing.T) []sameRequest {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/same-request.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var list []sameRequest
	for _, file := range archive.Files {
		format, lines, _ := strings.Cut(strings.TrimSuffix(string(file.Data), "\n"), "\n")
		list = append(list, sameRequest{file.Name, format, lines})
	}
	return list
}

// rowOf returns the row of the last of some lines. The lines before it are directives. An import sets the host of a line
// without one.
func rowOf(t *testing.T, format, lines string) lake.Row {
	t.Helper()
	f, err := ByName(format)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(lines, "\n")
	for _, directive := range all[:len(all)-1] {
		next, ok := f.(Directed).After([]byte(directive))
		if !ok {
			t.Fatalf("%s is not a directive", directive)
		}
		f = next
	}
	text, err := Convert(f, nil, []byte(all[len(all)-1]))
	if err != nil {
		t.Fatal(err)
	}
	var row lake.Row
	if notes, err := record.NewDecoder().Decode(text, &row); err != nil || notes != (record.Notes{}) {
		t.Fatalf("%s: %+v, %v", text, notes, err)
	}
	if err := record.SetDefault(&row, "host", "shop.example"); err != nil {
		t.Fatal(err)
	}
	f.Complete(&row)
	return row
}

func TestSameRequestInEveryFormat(t *testing.T) {
	const path = "/a%20b//c.html"
	query, url, ip := "?x=1&y=a%2Bb&flag", "shop.example"+path, "203.0.113.7"
	want := lake.Row{
		Query: &query, URL: &url, IP: &ip,
		Arguments: []lake.Pair{{Name: "x", Value: "1"}, {Name: "y", Value: "a+b"}, {Name: "flag"}},
		PathParts: []lake.Pair{
			{Name: "part1", Value: "a%20b"}, {Name: "part2", Value: "c.html"}, {Name: "path", Value: path},
		},
	}
	tested := map[string]bool{"orrery": true} // records have these fields themselves
	for _, test := range sameRequests(t) {
		tested[test.format] = true
		t.Run(test.name, func(t *testing.T) {
			got := rowOf(t, test.format, test.lines)
			if *got.Path != path || *got.Host != "shop.example" {
				t.Errorf("path %s, host %s", *got.Path, *got.Host)
			}
			derived := lake.Row{
				Query: got.Query, URL: got.URL, IP: got.IP, Arguments: got.Arguments, PathParts: got.PathParts,
			}
			if diff := cmp.Diff(want, derived); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for _, f := range Formats {
		if !tested[f.Name()] {
			t.Errorf("%s is not tested", f.Name())
		}
	}
}

// TestDashIsAbsentInEveryFormat checks that no field of a record is a dash, although each line has a value that is one.
func TestDashIsAbsentInEveryFormat(t *testing.T) {
	for _, test := range sameRequests(t) {
		row := rowOf(t, test.format, test.lines)
		text := string(record.AppendJSON(nil, &row, nil))
		if strings.Contains(text, `"-"`) {
			t.Errorf("%s: %s", test.name, text)
		}
	}
}

func TestQuotesAroundLinesOfEveryFormat(t *testing.T) {
	for _, test := range sameRequests(t) {
		t.Run(test.name, func(t *testing.T) {
			lines := strings.Split(test.lines, "\n")
			last := len(lines) - 1
			want := rowOf(t, test.format, test.lines)
			for name, quoted := range map[string]string{
				"unchanged": `"` + lines[last] + `"`,
				"as in CSV": `"` + strings.ReplaceAll(lines[last], `"`, `""`) + `"`,
				"escaped":   `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(lines[last]) + `"`,
			} {
				got := rowOf(t, test.format, strings.Join(slices.Concat(lines[:last], []string{quoted}), "\n"))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

// TestClientsOfEveryFormat rejects clients that are neither an address nor a host name.
func TestClientsOfEveryFormat(t *testing.T) {
	for _, test := range sameRequests(t) {
		if test.format == "aws-waf" || test.format == "caddy" || test.format == "envoy" || test.format == "istio" {
			continue // their clients are addresses that a program wrote, or a part of a header
		}
		f, err := ByName(test.format)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(test.lines, "\n")
		for _, directive := range lines[:len(lines)-1] {
			f, _ = f.(Directed).After([]byte(directive))
		}
		for _, client := range []string{`203.0.113.7'`, `300.0.113.7`, `203.0.113`} {
			line := strings.Replace(lines[len(lines)-1], "203.0.113.7", client, 1)
			if got, err := Convert(f, nil, []byte(line)); err == nil {
				t.Errorf("%s: %s is accepted: %s", test.name, client, got)
			}
		}
	}
}
