package filter_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/orrery/orrery/shared/filter"
)

var fence = regexp.MustCompile("(?ms)^```(filter|json filter|error)\n(.*?)^```$")

// TestREADME parses every example of the language reference.
func TestREADME(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, which runs with -short")
	}
	examples := map[string]int{}
	for _, m := range fence.FindAllStringSubmatch(readFile(t, "README.md"), -1) {
		kind, text := m[1], strings.TrimSuffix(m[2], "\n")
		examples[kind]++
		if kind == "error" {
			text, want, found := strings.Cut(text, "\n---\n")
			if !found {
				t.Fatalf("an error example without ---:\n%s", m[2])
			}
			if diff := cmp.Diff(want+"\n", filter.Draw(text, filter.Parse(text).Problems)); diff != "" {
				t.Errorf("%s\n(-README +drawn):\n%s", text, diff)
			}
			continue
		}
		f := filter.Parse(text)
		if len(f.Problems) > 0 {
			t.Errorf("an example has mistakes:\n%s", filter.Draw(text, f.Problems))
		}
		if (f.Syntax == filter.JSON) != (kind == "json filter") {
			t.Errorf("an example is tagged %q:\n%s", kind, text)
		}
		checkRoundTrip(t, f)
	}
	if examples["filter"] < 10 || examples["json filter"] < 4 || examples["error"] < 3 {
		t.Errorf("only these examples were found: %v", examples)
	}
}

// TestREADMECodes compares the table of codes in the language reference with the codes of errors.go and jsonerrors.go.
func TestREADMECodes(t *testing.T) {
	readme := readFile(t, "README.md")
	_, table, _ := strings.Cut(readme, "<!-- codes -->")
	table, _, _ = strings.Cut(table, "<!-- /codes -->")
	documented := all(regexp.MustCompile("(?m)^\\| `(\\w+)`"), table)

	defined := all(regexp.MustCompile(`Code: "(\w+)"`), readFile(t, "errors.go")+readFile(t, "jsonerrors.go"))
	slices.Sort(defined)
	if diff := cmp.Diff(slices.Compact(defined), documented); diff != "" {
		t.Errorf("codes in alphabetical order (-defined +documented):\n%s", diff)
	}
}

func all(pattern *regexp.Regexp, text string) []string {
	var found []string
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
