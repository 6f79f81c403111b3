package bench

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/search"
)

var update = flag.Bool("update", false, "update the table in README.md")

// TestREADME compares the table of goals in README.md with the rows of a report. The last column has measured figures.
// The test does not compare them, and -update keeps them.
func TestREADME(t *testing.T) {
	const begin, end = "<!-- rows -->\n", "<!-- end of rows -->\n"
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("README.md has no place for the table")
	}
	old, _, _ := strings.Cut(rest, end)
	measured := map[string]string{}
	for line := range strings.Lines(old) {
		if cells := strings.Split(line, " | "); len(cells) == 3 {
			measured[strings.TrimPrefix(cells[0], "| ")] = strings.TrimSuffix(cells[2], " |\n")
		}
	}
	var table strings.Builder
	table.WriteString("| row | goal | measured |\n|---|---|---|\n")
	for _, row := range reportOfEveryRow().Rows() {
		goal, _, _ := strings.Cut(row.Goal, " = ") // without the figure of a measurement
		fmt.Fprintf(&table, "| %s | %s | %s |\n", row.What, goal, measured[row.What])
	}
	want := before + begin + table.String() + end + after
	if *update {
		if err := os.WriteFile("README.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(page)); diff != "" {
		t.Errorf("README.md differs from the rows; go test -update writes it (-want +page):\n%s", diff)
	}
}

// reportOfEveryRow returns a report without measurements that has all rows.
func reportOfEveryRow() Report {
	o := Options{}.withDefaults()
	data := stored{objects: []lake.Object{{Partition: lake.PartitionOf(Day.UnixMilli())}}}
	var compared []Comparison
	for _, q := range questions(o, data, data, needle{id: "x", tsMs: Day.UnixMilli()}, request{}) {
		c := Comparison{
			Name: q.name, What: q.what, goal: q.goal, MemoryBytes: 1, Estimated: &search.BytesEstimate{},
		}
		if q.naive != nil {
			c.Naive = &Times{}
		}
		compared = append(compared, c)
	}
	var texts []TextImport
	for _, f := range textFormats {
		texts = append(texts, TextImport{Name: f.name})
	}
	var growth []Growth
	var populations Populations
	for _, q := range growthQuestions {
		growth = append(growth, Growth{Name: q.name})
		populations.Tail = append(populations.Tail, Timed{Name: q.name})
	}
	var again []Again
	for _, q := range againQuestions {
		for _, f := range againFilters {
			again = append(again, Again{Name: q.name + ", " + f.name, share: q.share})
		}
	}
	var rolledUp []RolledUp
	for _, p := range append(o.rolledUpPeriods(""), o.yearPeriod()) {
		for _, q := range rolledUpQuestions {
			rolledUp = append(rolledUp, RolledUp{Question: q.name, Period: p.name, GoalMs: p.goalMs})
		}
	}
	var tried []Tried
	for _, rule := range triedRules {
		tried = append(tried, Tried{Name: rule.name})
	}
	for _, name := range []string{"topx", "facets", "diff", "histogram"} {
		populations.Crowd = append(populations.Crowd, Timed{Name: name})
	}
	return Report{
		Records: FullRecords, Questions: compared, Tried: tried,
		Import: Import{
			Cores: 2, PeakBytes: 1, Texts: texts, Crowd: crowdTimes * FullRecords,
			Hour: Compacted{Records: 1},
		},
		Export: Export{PeakBytes: 1}, Week: WeekReport{
			Seconds: 1, MemoryBytes: 1, Days: o.Days, TimelineMemoryBytes: 1, Growth: growth, Again: again,
			RolledUp: rolledUp, RollUp: Compacted{Records: 1},
		},
		Load:      Load{Clients: o.Clients, Seconds: float64(o.Duration / time.Second), PeakBytes: 1},
		Neighbour: Neighbour{Filters: o.Filters, PeakBytes: 1}, Populations: populations,
	}
}
