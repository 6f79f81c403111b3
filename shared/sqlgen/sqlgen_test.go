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
	"github.com/orrery/orrery/shared/query"
)

const period = "timestamp between 2026-01-01 23:00 and 2026-01-02 01:00"

// TestOnlyLiteralConvertsValues: text becomes a fragment only in literal.go, which quotes it, and in fragment.go, which
// converts only names and types of the tables.
func TestOnlyLiteralConvertsValues(t *testing.T) {
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
				t.Errorf("%s:%d converts text to SQL: %s", file, i+1, strings.TrimSpace(l))
			}
		}
	}
}

func TestNamePanicsOnInvalidNames(t *testing.T) {
	for _, invalid := range []string{"", "a b", "a'", "A", "a.b", "1a"} {
		if !panics(func() { name(invalid) }) {
			t.Errorf("%q is accepted as a name", invalid)
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

// TestTableReferences: on Athena a reference is a billed scan. stats, timeline and topx have one. logs and topx with
// percentiles have two. A diff of two periods with a gap has one for each, which do not read the same records.
func TestTableReferences(t *testing.T) {
	for name, shape := range shapes {
		s, err := Athena(bind(t, period+", status=404", shape))
		if err != nil {
			t.Fatal(err)
		}
		scans, branches := 1, 1
		switch {
		case strings.HasPrefix(name, "logs") || name == "topx with percentiles":
			scans = 2
		case name == "diff of days":
			branches = 2
		}
		if got := strings.Count(all(s), lake.FreshTable); got != scans*branches || s.Scans != scans {
			t.Errorf("%s refers to the table %d times in %d scans, want %d in %d", name, got, s.Scans, scans*branches, scans)
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

// TestEmptyScope: the statement of an empty scope is valid and reads nothing.
func TestEmptyScope(t *testing.T) {
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

// TestManyConditionsAreFewExpressions: thousands of conditions stay within Athena's limits, and their SQL is valid.
func TestManyConditionsAreFewExpressions(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	for name, condition := range map[string]func(i int) string{
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
		t.Run(name, func(t *testing.T) {
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
				t.Errorf("%d connectives: the conditions are separate expressions", n)
			}
			for _, array := range regexp.MustCompile(`ARRAY\[[^\[\]]*\]`).FindAllString(sql, -1) {
				if n := strings.Count(array, ","); n >= 2*athenaMaxArray {
					t.Errorf("an array of about %d elements", n)
				}
			}
			if name == "texts" || name == "tags to find" {
				parseTrino(t, name, sql)
			}
		})
	}
}

func TestStatementSizeLimit(t *testing.T) {
	var text strings.Builder
	text.WriteString(period)
	for i := range 8_000 {
		fmt.Fprintf(&text, `, url!="%s%d"`, strings.Repeat("x", 40), i)
	}
	q := bind(t, text.String(), shapes["stats by hostname"])
	_, err := Athena(q)
	var limit *LimitError
	if !errors.As(err, &limit) {
		t.Fatalf("error is %v, want a LimitError", err)
	}
	if limit.Limit != athenaMaxBytes || limit.Got <= limit.Limit || limit.Error() == "" {
		t.Errorf("error is %+v, want the size of the statement and the limit %d", limit, athenaMaxBytes)
	}
	if _, err := DuckDB(q, nil); err != nil {
		t.Errorf("DuckDB has no such limit: %v", err)
	}
}

// TestDeterministic: equal queries give equal SQL, because Athena reuses results by the text of the statement.
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
	sql, err := Probe(lake.Object{Path: "/a'b.parquet"}, []string{"ip", "tags"})
	want := "SELECT\n  bit_xor(hash(ip, tags))\nFROM read_parquet([\n  '/a''b.parquet'\n])"
	if err != nil || sql != want {
		t.Errorf("%v\n%s\nwant\n%s", err, sql, want)
	}
}

// TestObjectsOfOlderSchema: a query lists objects of an older schema apart only if it needs a column that they lack.
func TestObjectsOfOlderSchema(t *testing.T) {
	all := func(left ...string) map[string]int64 {
		columns := map[string]int64{}
		for _, name := range lake.ColumnNames {
			if !slices.Contains(left, name) {
				columns[name] = 0
			}
		}
		return columns
	}
	objects := []lake.Object{
		{Path: "/new", ColumnBytes: all()},
		{Path: "/old", ColumnBytes: all("trigger_counters", "tags", "raw_line")},
		{Path: "/unknown"},
	}
	text := period + `, tags="x", trigger_counters["acl"]>1`
	s, err := DuckDB(bind(t, text, query.Logs{Limit: 5}), objects)
	if err != nil {
		t.Fatal(err)
	}
	const counters = "CAST(NULL AS STRUCT(acl BIGINT, cf BIGINT, cf_restrict BIGINT, dr BIGINT, gf BIGINT, " +
		"rl BIGINT)) AS trigger_counters"
	for _, part := range []string{
		"FROM (\n  SELECT\n    ts_ms, ts_nanos, source, line, tags, trigger_counters, filename, file_row_number\n" +
			"  FROM read_parquet([\n    '/new',\n    '/unknown'\n  ])\n",
		"  UNION ALL\n  SELECT\n    ts_ms, ts_nanos, source, line, CAST(NULL AS VARCHAR[]) AS tags, " + counters +
			", filename, file_row_number\n  FROM read_parquet([\n    '/old'\n  ])\n",
		") AS traffic\nWHERE ",
	} {
		if sql := s.Statements[0].SQL; !strings.Contains(sql, part) {
			t.Errorf("the statement does not have\n%s\n%s", part, sql)
		}
	}
	if s, err = DuckDB(bind(t, period, query.Logs{Limit: 5}), objects); err != nil {
		t.Fatal(err)
	}
	if sql := s.Statements[0].SQL; !strings.Contains(sql, "'/new',\n  '/old',\n  '/unknown'\n])") {
		t.Errorf("objects are listed apart without need:\n%s", sql)
	}
	sql, err := Probe(objects[1], []string{"ip", "tags"})
	if err != nil || !strings.Contains(sql, "hash(ip)") {
		t.Errorf("%v\n%s", err, sql)
	}
}

func TestUnknownShapePanics(t *testing.T) {
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

// TestExpressionLimit: more expressions than Athena's compiler accepts are a LimitError. Conditions that are merged
// into one expression count once.
func TestExpressionLimit(t *testing.T) {
	for _, c := range []struct {
		name      string
		condition string
		n         int
		limit     int // 0 for no error
	}{
		{"the most positive expressions", `arguments["a%d"]~"x"`, 700, 0},
		{"too many positive expressions", `arguments["a%d"]~"x"`, 701, 700},
		{"the most negated expressions", `arguments["a%d"]!~"x"`, 550, 0},
		{"too many negated expressions", `arguments["a%d"]!~"x"`, 600, 550},
		{"each member counts", `trigger_counters>%d`, 117, 700},
		{"conditions on one key count once", `arguments["a"]!~"x%d"`, 5_000, 0},
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
			switch {
			case c.limit == 0:
				if err != nil {
					t.Errorf("error is %v, want none", err)
				}
			case !errors.As(err, &limit) || limit.Limit != c.limit || limit.Got <= c.limit:
				t.Errorf("error is %v, want the limit %d", err, c.limit)
			}
			if _, err := DuckDB(q, nil); err != nil {
				t.Errorf("DuckDB has no such limit: %v", err)
			}
		})
	}
}
