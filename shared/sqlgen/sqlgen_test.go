package sqlgen

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/lake"
)

const period = "timestamp between 2026-01-01 23:00 and 2026-01-02 01:00"

// TestOnlyOneFileMakesSQLOfValues: text becomes a fragment in literal.go, which quotes it, and in fragment.go, which
// takes names and types of the tables alone.
func TestOnlyOneFileMakesSQLOfValues(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	conversion := regexp.MustCompile(`\bfragment\([^"]`)
	for _, file := range files {
		if file == "literal.go" || file == "fragment.go" || strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range strings.Split(string(source), "\n") {
			if m := conversion.FindString(l); m != "" && !strings.Contains(l, "func") {
				t.Errorf("%s:%d makes SQL of text: %s", file, i+1, strings.TrimSpace(l))
			}
		}
	}
}

func TestNameRefusesWhatIsNone(t *testing.T) {
	for _, odd := range []string{"", "a b", "a'", "A", "a.b", "1a"} {
		if !panics(func() { name(odd) }) {
			t.Errorf("%q passes as a name", odd)
		}
	}
	for _, c := range lake.ColumnNames {
		name(c)
	}
}

func panics(do func()) (did bool) {
	defer func() { did = recover() != nil }()
	do()
	return false
}

// TestTableReferences: on Athena a reference is a billed scan. stats, timeline and topx have one, logs two.
func TestTableReferences(t *testing.T) {
	for name, shape := range shapes {
		s, err := Athena(bind(t, period+", status=404", shape))
		if err != nil {
			t.Fatal(err)
		}
		want := 1
		if strings.HasPrefix(name, "logs") {
			want = 2
		}
		if got := strings.Count(all(s), lake.FreshTable); got != want {
			t.Errorf("%s refers to the table %d times, want %d", name, got, want)
		}
	}
}

// TestWatermark: every hour of the span is read from exactly one of the tables, wherever the watermark is.
func TestWatermark(t *testing.T) {
	bounds := regexp.MustCompile(`FROM (traffic_\w+)\s+WHERE datehour BETWEEN '([^']+)' AND '([^']+)'`)
	q := bind(t, period, shapes["timeline"])
	first := lake.PartitionOf(q.Scope.FromMs)
	for watermark := first - 2; watermark < first+6; watermark++ {
		q.Scope.Watermark = watermark
		s, err := Athena(q)
		if err != nil {
			t.Fatal(err)
		}
		read := map[string]string{}
		for _, m := range bounds.FindAllStringSubmatch(all(s), -1) {
			for hour := first - 5; hour < first+9; hour++ {
				if m[2] <= hour.String() && hour.String() <= m[3] {
					read[hour.String()] += m[1]
				}
			}
		}
		want := map[string]string{}
		for hour := first; hour <= first+2; hour++ {
			want[hour.String()] = lake.FreshTable
			if hour < watermark {
				want[hour.String()] = lake.CompactTable
			}
		}
		if diff := cmp.Diff(want, read); diff != "" {
			t.Errorf("watermark %s (-want +read):\n%s", watermark, diff)
		}
	}
}

// TestNothingToRead: a scope without an instant still is a statement, that reads nothing.
func TestNothingToRead(t *testing.T) {
	q := bind(t, period, shapes["topx"])
	q = q.Clamp(lake.Extent{})
	s, err := Athena(q)
	if err != nil {
		t.Fatal(err)
	}
	parseTrino(t, "an empty scope", s.Statements[0].SQL)
	if s, err = DuckDB(q, nil); err != nil || !strings.Contains(all(s), "read_parquet([])") {
		t.Errorf("no objects: %v\n%s", err, all(s))
	}
}

// TestManyValuesAreFewExpressions: thousands of conditions stay within Athena's limits, and parse.
func TestManyValuesAreFewExpressions(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	for kind, condition := range map[string]func(i int) string{
		"texts":            func(i int) string { return fmt.Sprintf(`ip!="192.0.2.%d"`, i) },
		"patterns":         func(i int) string { return fmt.Sprintf(`path!~"/x%d$"`, i) },
		"patterns to find": func(i int) string { return fmt.Sprintf(`path~"x%d?"`, i) },
		"patterns in tags": func(i int) string { return fmt.Sprintf(`tags~"x%d?"`, i) },
		"any of patterns":  func(i int) string { return fmt.Sprintf(`url~("x%d?", "y")`, i) },
		"pairs":            func(i int) string { return fmt.Sprintf(`headers["x-%d"]!="%d"`, i%180, i) },
		"pairs to find":    func(i int) string { return fmt.Sprintf(`headers["x-%d"]="%d"`, i%180, i) },
		"keyed patterns":   func(i int) string { return fmt.Sprintf(`headers["x"]~"x%d?"`, i) },
		"tags to find":     func(i int) string { return fmt.Sprintf(`tags="t%d"`, i) },
		"codes to find":    func(i int) string { return fmt.Sprintf(`upstream_status=%d`, i) },
		"addresses":        func(i int) string { return fmt.Sprintf(`upstream_data["addr"]~"x%d?"`, i) },
	} {
		t.Run(kind, func(t *testing.T) {
			var text strings.Builder
			text.WriteString(period)
			for i := range 3_000 {
				text.WriteString(", " + condition(i))
			}
			q := bind(t, text.String(), shapes["stats by hostname"])
			s, err := Athena(q)
			if err != nil {
				t.Fatal(err)
			}
			sql := s.Statements[0].SQL
			if n := strings.Count(sql, "AND ") + strings.Count(sql, "OR "); n > 60 {
				t.Errorf("%d connectives: the conditions are written one by one", n)
			}
			for _, array := range regexp.MustCompile(`ARRAY\[[^\[\]]*\]`).FindAllString(sql, -1) {
				if n := strings.Count(array, ","); n >= 2*athenaMaxArray {
					t.Errorf("an array of about %d elements", n)
				}
			}
			if kind == "texts" || kind == "tags to find" {
				parseTrino(t, kind, sql)
			}
		})
	}
}

func TestStatementOverTheLimitIsRefused(t *testing.T) {
	var text strings.Builder
	text.WriteString(period)
	for i := range 8_000 {
		fmt.Fprintf(&text, `, url!="%s%d"`, strings.Repeat("x", 40), i)
	}
	q := bind(t, text.String(), shapes["stats by hostname"])
	var limit *LimitError
	if _, err := Athena(q); !errors.As(err, &limit) || limit.Limit != athenaMaxBytes || limit.Got <= limit.Limit || limit.Error() == "" {
		t.Errorf("error %v, want a LimitError with the figure", err)
	}
	if _, err := DuckDB(q, nil); err != nil {
		t.Errorf("DuckDB has no such limit: %v", err)
	}
}

// TestDeterministic: equal queries give equal text, which is what Athena's reuse of results goes by.
func TestDeterministic(t *testing.T) {
	text := period + `, tags in ("b", "a"), headers["x"]~"1", status>=400, not trigger_counters>3`
	var seen []string
	for range 5 {
		for _, shape := range []string{"logs", "stats", "timeline", "topx"} {
			a, d := printed(t, bind(t, text, shapes[shape]))
			seen = append(seen, a+d)
		}
	}
	slices.Sort(seen)
	if n := len(slices.Compact(seen)); n != 4 {
		t.Errorf("four queries have %d texts", n)
	}
}

func TestProbe(t *testing.T) {
	sql, err := Probe("/a'b.parquet", []string{"ip", "tags"})
	want := "SELECT\n  bit_xor(hash(ip, tags))\nFROM read_parquet([\n  '/a''b.parquet'\n])"
	if err != nil || sql != want {
		t.Errorf("%v\n%s\nwant\n%s", err, sql, want)
	}
}

func TestUnknownShapesAreOurMistake(t *testing.T) {
	q := bind(t, period, shapes["stats"])
	q.Shape = nil
	for _, print := range []func(){
		func() { _, _ = Athena(q) },
		func() { _, _ = DuckDB(q, nil) },
		func() { q.Columns() },
	} {
		if !panics(print) {
			t.Error("a query without a shape is printed")
		}
	}
}

// TestMostExpressions: what Athena's compiler would not take is refused with the figure; what merges is no number.
func TestMostExpressions(t *testing.T) {
	for _, c := range []struct {
		name      string
		condition string
		n         int
		limit     int // 0: it is taken
	}{
		{"positive", `arguments["a%d"]~"x"`, 700, 0},
		{"positive, too many", `arguments["a%d"]~"x"`, 701, 700},
		{"negated", `arguments["a%d"]!~"x"`, 550, 0},
		{"negated, too many", `arguments["a%d"]!~"x"`, 600, 550},
		{"of several members", `trigger_counters>%d`, 117, 700},
		{"of one key", `arguments["a"]!~"x%d"`, 5_000, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Builder{}
			text.WriteString(period)
			for i := range c.n {
				fmt.Fprintf(&text, ", "+c.condition, i)
			}
			q := bind(t, text.String(), shapes["logs"])
			_, err := Athena(q)
			var limit *LimitError
			if errors.As(err, &limit); c.limit == 0 && err != nil || c.limit > 0 && (limit == nil || limit.Limit != c.limit || limit.Got <= c.limit) {
				t.Errorf("error is %v, want the limit %d", err, c.limit)
			}
			if _, err := DuckDB(q, nil); err != nil {
				t.Errorf("DuckDB has no such limit: %v", err)
			}
		})
	}
}
