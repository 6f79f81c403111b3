package incident_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/incident"
)

// TestREADME: the README has the tables of signals, kinds and dismissals.
func TestREADME(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, s := range incident.Signals {
		rate := float64(s.LeastRate) / 1000
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %d | %d | %d | %g |\n", s.Name, s.Doc, s.Least, s.Ratio, s.LongRatio, rate))
	}
	for _, k := range incident.Kinds {
		rows = append(rows, fmt.Sprintf("| `%s` | %s |\n", k.Kind, k.Doc))
	}
	for _, d := range incident.Dismissals {
		rows = append(rows, "* "+d.Doc+"\n")
	}
	for _, row := range rows {
		if !strings.Contains(string(text), row) {
			t.Errorf("README.md has no row %s", row)
		}
	}
}
