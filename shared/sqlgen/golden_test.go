package sqlgen

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
)

var update = flag.Bool("update", false, "rewrite the golden files; read the diff before you commit it")

// shapes are the shapes that a golden file may name.
var shapes = map[string]query.Shape{
	"logs":                               query.Logs{Limit: 200},
	"logs of fields":                     query.Logs{Limit: 1000, Fields: []string{"timestamp", "ip", "upstream_data", "gf_triggers"}},
	"stats":                              query.Stats{SegmentSeconds: 60},
	"stats by hostname":                  query.Stats{SegmentSeconds: 300, GroupByHostname: true},
	"stats with percentiles":             query.Stats{SegmentSeconds: 60, Percentiles: true},
	"stats by hostname with percentiles": query.Stats{SegmentSeconds: 60, GroupByHostname: true, Percentiles: true},
	"stats by a value":                   query.Stats{SegmentSeconds: 3600, By: &querytest.Dimensions("country")[0]},
	"stats by a list with percentiles": query.Stats{
		SegmentSeconds: 3600, By: &querytest.Dimensions("tags")[0], Percentiles: true,
	},
	"topx with percentiles": query.TopX{Limit: 50, Percentiles: true},

	"logs of a page": query.Logs{Limit: 200, Fields: []string{"ip"}, OlderThan: &pageEnd, NewerThan: &pageBegin},
	"timeline":       query.Timeline{SegmentSeconds: 3600},
	"topx":           query.TopX{Limit: 50},
	"facets":         query.Facets{Limit: 10},
	"histogram":      query.Histogram{SegmentSeconds: 3600},
	"histogram of a value": query.Histogram{
		SegmentSeconds: 300, Measure: query.MeasureChallenges, By: &querytest.Dimensions("status")[0],
	},
	"histogram of a list": query.Histogram{
		SegmentSeconds: 60, Measure: query.MeasureBytesSent, Limit: 3, By: &querytest.Dimensions("tags")[0],
	},
	"timeline of days in a zone": query.Timeline{SegmentSeconds: 86_400, Zone: querytest.Zone("Europe/Berlin")},
	"stats of hours in a zone": query.Stats{
		SegmentSeconds: 3600, Zone: querytest.Zone("Pacific/Chatham"), By: &querytest.Dimensions("country")[0],
	},
	"histogram of weeks in a zone": query.Histogram{
		SegmentSeconds: 7 * 86_400, Zone: querytest.Zone("America/Sao_Paulo"), Measure: query.MeasureBlocked,
	},
	"facets of networks": query.Facets{Limit: 3, By: querytest.Dimensions("ip/24,ip/48")},
	"facets of every kind": query.Facets{
		Limit: 3, ByBlocked: true, By: querytest.Dimensions(querytest.MixedDimensions),
	},
	"diff": query.Diff{Least: 5, Select: querytest.Selection(`blocked is true, headers["x"]!="1"`)},
	"counts": query.Counts{
		SegmentSeconds: 3600, By: querytest.Dimensions("host")[0],
		Of: []query.Selection{
			querytest.Selection("blocked not is true, challenge not is true"), querytest.Selection(`user_agent~"(?i)nikto|sqlmap"`),
		},
	},
	"counts of a list": query.Counts{
		SegmentSeconds: 60, By: querytest.Dimensions("tags")[0], Of: []query.Selection{{}, querytest.Selection("status=404")},
	},
	"counts without selections": query.Counts{
		SegmentSeconds: 60, By: querytest.Dimensions(`security_config["revision"]`)[0],
	},
	"sequences": query.Sequences{
		Key: querytest.Dimensions("ip,asn"), With: querytest.Dimensions("session,ip/24"), Over: 60,
		Of: []query.Selection{{}, querytest.Selection("blocked is true, processing_stage<3")},
	},
	"sequence of all": query.Sequences{With: querytest.Dimensions("path")},
	"sequences by a header": query.Sequences{
		Key: []query.Dimension{querytest.Dimensions(`headers["x-api-key"]`)[0].AsOne()}, With: querytest.Dimensions("ip"),
	},
	"diff of days": query.Diff{
		By: querytest.Dimensions("status,tags"), Against: query.Against{Kind: query.AgainstEarlier, BackMs: 7 * 86_400_000},
	},
	"diff of adjoining periods": query.Diff{
		By: querytest.Dimensions("status"), Against: query.Against{Kind: query.AgainstPrevious},
	},
}

// pageBegin and pageEnd are the places between which a page of logs is.
var (
	pageBegin = query.Place{TsMs: 1767307500000, TsNanos: 5, Source: "it's", Line: 3}
	pageEnd   = query.Place{TsMs: 1767312600000, TsNanos: 999_999, Source: "a", Line: 70}
)

// anyOf binds alternatives.
func anyOf(t *testing.T, texts []string) query.Condition {
	t.Helper()
	var filters []filter.Filter
	for _, text := range texts {
		filters = append(filters, filter.ParseQueryString(text))
	}
	c, err := query.BindAnyOf(filters)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestGolden prints whole statements. A golden file holds a filter, a shape, the watermark, and the SQL of both
// printers.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 8 {
		t.Fatalf("found %d golden files: %v", len(files), err)
	}
	for _, file := range files {
		base := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(strings.ReplaceAll(base, "_", " "), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in := map[string]string{}
			for _, f := range archive.Files {
				in[f.Name] = strings.TrimSpace(string(f.Data))
			}
			q := bind(t, in["filter"], shapes[in["shape"]])
			if in["any of"] != "" {
				q.Conditions = append(q.Conditions, anyOf(t, strings.Split(in["any of"], "\n")))
			}
			if in["watermark"] != "" {
				at, err := time.Parse("2006-01-02 15:04", in["watermark"])
				if err != nil {
					t.Fatal(err)
				}
				q.Scope.Watermark = lake.PartitionOf(at.UnixMilli())
			}
			athena, duckDB := printed(t, q)
			asked := []txtar.File{{Name: "filter", Data: []byte(in["filter"] + "\n")}}
			if in["any of"] != "" {
				asked = append(asked, txtar.File{Name: "any of", Data: []byte(in["any of"] + "\n")})
			}
			out := txtar.Format(&txtar.Archive{Comment: archive.Comment, Files: append(asked, []txtar.File{
				{Name: "shape", Data: []byte(in["shape"] + "\n")},
				{Name: "watermark", Data: []byte(in["watermark"] + "\n")},
				{Name: "athena.sql", Data: []byte(athena)},
				{Name: "duckdb.sql", Data: []byte(duckDB)},
			}...)})
			compareGolden(t, file, out)
		})
	}
}

// TestConditions prints the conditions of one filter at a time, in both dialects, into one golden file.
func TestConditions(t *testing.T) {
	const file = "testdata/conditions.golden"
	golden, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, l := range strings.Split(string(golden), "\n") {
		text, isFilter := strings.CutPrefix(l, "filter   ")
		switch {
		case isFilter:
			q := bind(t, text+", timestamp between 2026-01-01 and 2026-01-02", shapes["stats"])
			fmt.Fprintf(&out, "filter   %s\n", text)
			for _, p := range []*printer{{dialect: athena{}, query: q}, {dialect: duckDB{}, query: q}} {
				start := strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", p.dialect), "sqlgen."))
				for _, b := range p.conditions() {
					fmt.Fprintf(&out, "%-8s %s\n", start, b)
					start = "     and"
				}
				for _, w := range p.warnings {
					fmt.Fprintf(&out, "warning  %s\n", w)
				}
				if p.err != nil {
					t.Errorf("%s: %v", text, p.err)
				}
			}
			out.WriteByte('\n')
		case strings.HasPrefix(l, "#"):
			out.WriteString(l + "\n")
		}
	}
	compareGolden(t, file, []byte(strings.TrimSuffix(out.String(), "\n")))
}

func compareGolden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-golden +printed):\n%s", file, diff)
	}
}

// printed returns all statements of both printers.
func printed(t testing.TB, q query.Query) (athena, duckDB string) {
	t.Helper()
	a, err := Athena(q)
	if err != nil {
		t.Fatal(err)
	}
	d, err := DuckDB(q, []lake.Object{
		{Path: "/data/fresh/2026/01/01/23/a-0.parquet"},
		{Path: "/data/fresh/2026/01/02/00/a-0.parquet"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return all(a), all(d)
}

func all(s Script) string {
	var out strings.Builder
	for _, one := range s.Statements {
		fmt.Fprintf(&out, "/* %s */\n%s\n", one.Title, one.SQL)
	}
	return out.String()
}

// lists are the lists of values that the filters name.
var lists = map[string]query.List{
	"exits":    {Name: "exits", Version: 3, Values: query.NewListValues("e1", []string{"192.0.2.7", "2001:db8::7"})},
	"networks": {Name: "networks", Version: 1, Values: query.NewListValues("e2", []string{"192.0.2.0/24", "198.51.100.7", "203.0.112.0/23", "2001:db8::/29"})},
	"systems":  {Name: "systems", Version: 1, Values: query.NewListValues("e3", []string{"AS3320"})},
	"codes":    {Name: "codes", Version: 1, Values: query.NewListValues("e4", []string{"403", "429"})},
}

func bind(t testing.TB, text string, shape query.Shape) query.Query {
	t.Helper()
	q, err := query.Bind(filter.Parse(text), shape, query.WithLists(lists))
	if err != nil {
		t.Fatalf("bind %s: %v", text, err)
	}
	return q
}
