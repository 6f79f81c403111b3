package logformat

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/testkit/goldentest"
)

var fieldPattern = regexp.MustCompile(`(?m)^  ([A-Za-z_0-9]+) `)

func TestReadmeListsFieldsOfEveryFormat(t *testing.T) {
	for _, format := range Formats {
		documented := goldentest.NamesIn(goldentest.Section(t, "README.md", "## "+format.Name()))
		file, ok := logFiles[format.Name()]
		if !ok {
			continue // the format orrery, which is the records themselves
		}
		records, err := os.ReadFile(filepath.Join("testdata", file+".golden"))
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, m := range fieldPattern.FindAllStringSubmatch(string(records), -1) {
			found = append(found, m[1])
			if _, known := catalog.Lookup(m[1]); known && !slices.Contains(documented, m[1]) {
				t.Errorf("%s sets %s, which its table does not list", format.Name(), m[1])
			}
		}
		for _, name := range documented {
			if !slices.Contains(found, name) {
				t.Errorf("the table of %s lists %s, which no record has", format.Name(), name)
			}
		}
	}
}
