package lake_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/testkit/goldentest"
)

// TestREADMEColumns compares the table of columns in the README with Row.
func TestREADMEColumns(t *testing.T) {
	const open, end = "<!-- columns -->\n", "<!-- /columns -->\n"
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(readme), open)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatal("README.md does not contain the marks of the column table")
	}
	goldentest.Compare(t, "README.md", before+open+columnTable()+end+after)
}

func columnTable() string {
	var b strings.Builder
	b.WriteString("| column | type | stored |\n|---|---|---|\n")
	row := reflect.TypeFor[lake.Row]()
	for i, c := range lake.Columns {
		fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", c.Name, c.Type, stored(row.Field(i)))
	}
	return b.String()
}

// stored returns how a column is stored, from its struct tag.
func stored(field reflect.StructField) string {
	words := strings.Split(field.Tag.Get("parquet"), ",")[1:]
	if element := field.Tag.Get("parquet-element"); element != "" {
		words = append(words, "elements "+strings.Trim(element, ","))
	}
	if len(words) == 0 {
		return "plain"
	}
	return strings.Join(words, ", ")
}
