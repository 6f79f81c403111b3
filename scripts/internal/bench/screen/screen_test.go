package screen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

var measured = Report{
	Loads: 7, Paint: Times{Min: 80, Median: 301}, Dashboard: Times{Min: 400, Median: 1000},
	Frames:      Frames{Rows: 2600, Frames: 514, Median: 16.7, P95: 33.4, Max: 50},
	Navigations: 200, Before: Memory{Bytes: 4e6, Nodes: 900, Listeners: 50}, After: Memory{Bytes: 4.2e6, Nodes: 910, Listeners: 50},
}

func TestTable(t *testing.T) {
	t.Run("a figure above its goal is marked", func(t *testing.T) {
		var table strings.Builder
		if err := measured.WriteTable(&table); err != nil {
			t.Fatal(err)
		}
		for what, met := range map[string]string{
			"first contentful paint": "NO", "dashboard complete": "yes", "2600 events scrolled, p95 of 514 frames": "yes",
			"memory after 200 navigations": "yes",
		} {
			_, line, found := strings.Cut(table.String(), "\n"+what)
			line, _, _ = strings.Cut(line, "\n")
			if !found || !strings.HasSuffix(line, "  "+met) {
				t.Errorf("%s: %q, want %s", what, line, met)
			}
		}
	})
	t.Run("the report as JSON has the figures and the table", func(t *testing.T) {
		text, err := json.Marshal(measured)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{`"p95_ms":33.4`, `"table":[{"what":"first contentful paint"`} {
			if !bytes.Contains(text, []byte(part)) {
				t.Errorf("%s lacks %s", text, part)
			}
		}
	})
}

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		list []float64
		part float64
		want float64
	}{
		{[]float64{1}, 0.95, 1}, {[]float64{1, 2, 3, 4}, 0.5, 2}, {[]float64{1, 2, 3, 4, 5}, 0.5, 3},
		{[]float64{1, 2, 3, 4}, 1, 4}, {[]float64{1, 2, 3, 4}, 0.95, 4},
	} {
		if got := quantile(c.list, c.part); got != c.want {
			t.Errorf("%g of %v: %g, want %g", c.part, c.list, got, c.want)
		}
	}
}

// TestREADME checks that the README of the benchmark has the goals.
func TestREADME(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range measured.Rows() {
		what, _, _ := strings.Cut(row.What, ",")
		what = strings.Replace(what, fmt.Sprint(measured.Frames.Rows), "2500", 1)
		if !strings.Contains(string(page), fmt.Sprintf("| %s | %s |", what, row.Goal)) {
			t.Errorf("README.md lacks the row | %s | %s |", what, row.Goal)
		}
	}
}
