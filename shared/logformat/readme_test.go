package logformat

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/catalog"
)

var (
	rowPattern   = regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]+ \|$`)
	namePattern  = regexp.MustCompile("`([a-z_0-9]+)`")
	fieldPattern = regexp.MustCompile(`(?m)^  ([A-Za-z_0-9]+) `)
)

// section gives a part of README.md, from its heading to the next.
func section(t *testing.T, heading string) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "\n"+heading+"\n")
	if !found {
		t.Fatalf("README.md has no heading %q", heading)
	}
	part, _, _ := strings.Cut(after, "\n#")
	return part
}

// namesIn lists the names in the first column of the tables of a text.
func namesIn(text string) []string {
	var names []string
	for _, row := range rowPattern.FindAllStringSubmatch(text, -1) {
		for _, name := range namePattern.FindAllStringSubmatch(row[1], -1) {
			names = append(names, name[1])
		}
	}
	return names
}

func TestTheReadmeTellsTheFieldsOfEveryFormat(t *testing.T) {
	for _, source := range Formats {
		text := section(t, "## "+source.Name())
		file, ok := logFiles[source.Name()]
		if !ok {
			continue // records as they are
		}
		golden, err := os.ReadFile(filepath.Join("testdata", file+".golden"))
		if err != nil {
			t.Fatal(err)
		}
		told := namesIn(text)
		var found []string
		for _, m := range fieldPattern.FindAllStringSubmatch(string(golden), -1) {
			found = append(found, m[1])
			if _, known := catalog.Lookup(m[1]); known && !slices.Contains(told, m[1]) {
				t.Errorf("%s gives %s, which its table does not tell", source.Name(), m[1])
			}
		}
		for _, name := range told {
			if !slices.Contains(found, name) {
				t.Errorf("the table of %s tells of %s, which no record has", source.Name(), name)
			}
		}
	}
}
