package trino_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/trino/trinotest"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/record"
)

// TestGoldensAreValid checks that Trino accepts the grammar, columns and types of every statement for Athena in the
// golden files.
func TestGoldensAreValid(t *testing.T) {
	tables := trinotest.Load(t, nil, trinotest.NothingCompacted)
	checked := 0
	for _, pattern := range []string{"../../sqlgen/testdata/*.txtar", "../../search/testdata/*.txtar"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range archive.Files {
				if part.Name != "athena.sql" || bytes.HasPrefix(part.Data, []byte("-- not possible: ")) {
					continue
				}
				checked++
				if _, err := tables.Query(t.Context(), "EXPLAIN (TYPE VALIDATE) "+string(part.Data)); err != nil {
					t.Errorf("%s: %v", file, err)
				}
			}
		}
	}
	if checked < 60 {
		t.Errorf("only %d statements found", checked)
	}
	t.Logf("%d statements are valid", checked)
}

// TestPartitions checks that a query reads exactly the hours of its period, before and after the watermark. With -short, it
// asks for each shape in one or two of the periods.
func TestPartitions(t *testing.T) {
	tables := trinotest.LoadProjected(t, nil, middle)
	shapes := []query.Shape{
		query.Logs{Limit: 10},
		query.Stats{SegmentSeconds: 3600},
		query.Timeline{SegmentSeconds: 3600},
		query.TopX{Limit: 10},
		query.Facets{},
		query.Diff{Select: querytest.Selection("status>=400")},
		query.Counts{
			SegmentSeconds: 3600, By: querytest.Dimensions("host")[0],
			Of: []query.Selection{{}, querytest.Selection("blocked not is true"), querytest.Selection("status>=400")},
		},
		query.Histogram{SegmentSeconds: 3600, By: &querytest.Dimensions("status")[0]},
		query.Sequences{Key: querytest.Dimensions("ip"), Over: 1, Of: []query.Selection{querytest.Selection("status>=400")}},
	}
	for i, c := range []struct {
		filter      string
		first, last string
	}{
		{ // before the watermark
			"timestamp between 2026-01-01 23:59:59.999 and 2026-01-01 23:59:59.999",
			"2026/01/01/23", "2026/01/01/23",
		},
		{ // on both sides of it
			"timestamp between 2026-01-01 20:30 and 2026-01-02 04:00",
			"2026/01/01/20", "2026/01/02/04",
		},
		{ // after it
			"timestamp between 2026-01-02 05:00 and 2026-01-02 05:59:59.999",
			"2026/01/02/05", "2026/01/02/05",
		},
		{
			"timestamp between 2026-01-01 and 2026-03-01, timestamp between 2026-01-03 10:15 and 2026-01-03 11:15",
			"2026/01/03/10", "2026/01/03/11",
		},
		{
			`timestamp between 2026-02-28 22:00 and 2026-03-01 01:00, not headers["x"]~"a", status in (1,2)`,
			"2026/02/28/22", "2026/03/01/01",
		},
	} {
		for n, shape := range shapes {
			if testing.Short() && (n+i)%3 > 0 {
				continue
			}
			plan, err := tables.Engine().Explain(t.Context(), bind(t, c.filter, shape))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range plan.Partitions {
				got = append(got, p.String())
			}
			if want := hoursBetween(t, c.first, c.last); !slices.Equal(got, want) {
				t.Errorf("%T of %s reads %v, want %v", shape, c.filter, got, want)
			}
		}
	}
}

// TestPartitionsOfReferences checks that links to records read only the hours of the records, even if other hours are
// between them, and that they find the records by their times and hashes.
func TestPartitionsOfReferences(t *testing.T) {
	rows := enginetest.Records(t, 200, 41)
	tables := trinotest.LoadProjected(t, rows, middle)
	slices.SortFunc(rows, func(a, b lake.Row) int { return lake.Compare(&a, &b) })
	first, other, last := &rows[0], &rows[1], &rows[len(rows)-1]
	hour := func(r *lake.Row) string { return lake.PartitionOf(r.TsMs).String() }
	for rule, c := range map[string]struct {
		filter  string
		hours   []string
		records int
	}{
		"a link reads one hour": {
			fmt.Sprintf("record_ref=%q", lake.RefOf(last)), []string{hour(last)}, 1,
		},
		"the hours between two links are not read": {
			fmt.Sprintf("record_ref in (%q, %q)", lake.RefOf(first), lake.RefOf(last)),
			[]string{hour(first), hour(last)}, 2,
		},
		"a link of no record": {
			fmt.Sprintf("record_ref=%q", lake.RefTo(first.TsMs, "none", 1)), []string{hour(first)}, 0,
		},
		"another record is no match": {
			fmt.Sprintf("record_ref=%q, record_ref!=%q", lake.RefOf(first), lake.RefOf(other)),
			[]string{hour(first)}, 1,
		},
	} {
		t.Run(rule, func(t *testing.T) {
			q := bind(t, c.filter, query.Logs{Limit: 10})
			plan, err := tables.Engine().Explain(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range plan.Partitions {
				got = append(got, p.String())
			}
			if !slices.Equal(got, c.hours) {
				t.Errorf("%s reads %v, want %v", c.filter, got, c.hours)
			}
			answer, _, err := tables.Engine().Run(t.Context(), q)
			if err != nil || len(answer.Logs) != c.records {
				t.Errorf("%s finds %d records, %v; want %d", c.filter, len(answer.Logs), err, c.records)
			}
		})
	}
}

func hoursBetween(t *testing.T, first, last string) []string {
	t.Helper()
	at, err := time.Parse("2006/01/02/15", first)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for p := lake.PartitionOf(at.UnixMilli()); ; p++ {
		list = append(list, p.String())
		if p.String() == last {
			return list
		}
	}
}

// footer is the largest number of bytes, besides columns, that are read when an object is opened.
const footer = 96 << 10

// TestBytes checks that every route reads only the columns that it needs. It also measures naive statements: topx with
// one scan for each label, and values of columns taken from the headers and cookies instead. With -short, it does not.
func TestBytes(t *testing.T) {
	rows := ordinaryRecords(t, 24_000, 6*time.Hour)
	tables := trinotest.LoadProjected(t, rows, middle)
	objects, err := tables.Store.Objects(t.Context(), -1<<62, 1<<62)
	if err != nil {
		t.Fatal(err)
	}
	bytesOf := func(columns []string) (sum int64) {
		for _, o := range objects {
			for _, c := range columns {
				sum += o.ColumnBytes[c]
			}
		}
		return sum
	}
	const period = "timestamp between 2026-01-01 21:00 and 2026-01-02 03:00"
	const oneHost = period + `, host="shop.example"`
	fiveFields := query.Logs{Limit: 200, Fields: []string{"timestamp", "ip", "path", "status", "reason"}}
	e := tables.Engine()
	for _, c := range []struct {
		name   string
		filter string
		shape  query.Shape
		most   func(columns int64) int64 // the largest number of bytes, given the bytes of the columns
		naive  string                    // the naive statement
		times  int64                     // the naive statement reads at least this many times as many bytes
	}{
		{"topx", period, query.TopX{Limit: 50}, whole, naiveTopX(), 5},
		{"topx, blocked", period + ", blocked is true", query.TopX{Limit: 50}, whole, "", 0},
		{"facets", period, query.Facets{}, whole, "", 0},
		{
			"histogram", period,
			query.Histogram{SegmentSeconds: 60, By: &querytest.Dimensions("country")[0]},
			whole, "", 0,
		},
		{"stats", period, query.Stats{SegmentSeconds: 60}, whole, naiveStats(), 1},
		{"timeline", period, query.Timeline{SegmentSeconds: 60}, whole, "", 0},
		{"timeline, one host", oneHost, query.Timeline{SegmentSeconds: 60}, whole, naiveTimeline(), 1},
		{
			"timeline, header",
			period + `, headers["x-forwarded-for"]~"^10"`, query.Timeline{SegmentSeconds: 60}, whole, "", 0,
		},
		{"logs, newest 200", period, query.Logs{Limit: 200}, quarter, naiveLogs(), 4},
		{"logs, five fields", period, fiveFields, whole, "", 0},
	} {
		q := bind(t, c.filter, c.shape)
		_, cost, err := e.Run(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		references := int64(1)
		if _, ok := c.shape.(query.Logs); ok {
			references = 2
		}
		columns := bytesOf(q.Columns())
		limit := c.most(columns) + int64(len(objects))*footer*references
		t.Logf("%-20s %8d bytes read, %8d in the columns, limit %8d", c.name, cost.BytesScanned, columns, limit)
		if cost.BytesScanned > limit || cost.BytesScanned == 0 {
			t.Errorf("%s reads %d bytes, want at most %d", c.name, cost.BytesScanned, limit)
		}
		if c.naive == "" || testing.Short() {
			continue
		}
		naive, err := tables.Read(t.Context(), c.naive, func(engine.Cost) {})
		if err != nil {
			t.Fatal(err)
		}
		times := float64(naive.Cost.BytesScanned) / float64(cost.BytesScanned)
		t.Logf("%-20s %8d bytes read: %.1f times as many", "  naive", naive.Cost.BytesScanned, times)
		if naive.Cost.BytesScanned < c.times*cost.BytesScanned {
			t.Errorf("%s reads %d bytes and the naive statement %d, want at least %d times as many",
				c.name, cost.BytesScanned, naive.Cost.BytesScanned, c.times)
		}
	}
}

func whole(columns int64) int64 { return columns }

func quarter(columns int64) int64 { return columns / 4 }

// naiveTopX returns a topx statement with a scan for each label, which reads the user agent, referer and host from the
// headers and svcid from the cookies.
func naiveTopX() string {
	keys := map[string]string{
		"country":      "country",
		"host":         hostHeader,
		"ip":           "ip",
		"organization": "organization",
		"origin_time":  "url",
		"svc_time":     "url",
		"svcid":        naiveHeader("cookies", "svcid"),
		"reason":       "reason",
		"referer":      naiveHeader("headers", "referer"),
		"total_time":   "url",
		"url":          "url",
		"user_agent":   naiveHeader("headers", "user-agent"),
	}
	var scans []string
	for _, label := range query.Labels {
		scans = append(scans, "(SELECT '"+label+"' AS label, key, count(*) AS requests,"+
			" count_if(blocked) AS blocked, count_if(bot) AS bots, count_if(human) AS human,"+
			" count_if(challenge) AS challenges, count_if(monitor) AS monitored,"+
			" sum(bytes_sent) AS sent, sum(request_length) AS received,"+
			" avg(total_us) AS total, avg(svc_us) AS svc, avg(origin_us) AS origin,"+
			" min(asn) AS asn, min(country) AS country, min(organization) AS organization"+
			" FROM ("+naiveTable("*, "+keys[label]+" AS key")+") GROUP BY key ORDER BY blocked DESC LIMIT 50)")
	}
	return strings.Join(scans, "\nUNION ALL\n")
}

// naiveStats returns a stats statement that reads the hosts from the headers.
func naiveStats() string {
	return "SELECT minute, named, count(*) AS requests, sum(bytes_sent) + sum(request_length) AS bandwidth," +
		" avg(total_us) AS total FROM (" +
		naiveTable("*, ts_ms / 60000 AS minute, "+hostHeader+" AS named") + ") GROUP BY minute, named"
}

// naiveTimeline returns a timeline statement that reads the host from the headers and the session from the cookies.
func naiveTimeline() string {
	rows := naiveTable("*, ts_ms / 60000 AS minute, " + naiveHeader("cookies", "svcid") + " AS visitor")
	return "SELECT minute, status, count(*) AS requests, count_if(blocked) AS blocked," +
		" count_if(challenge) AS challenges, count_if(human) AS human," +
		" count_if(element_at(upstream_status, -1) >= 400) AS origin_blocked, count(DISTINCT ip) AS ips," +
		" count(DISTINCT visitor) AS sessions, sum(bytes_sent) AS sent" +
		" FROM (" + rows + ") WHERE " + hostHeader + " = 'shop.example' GROUP BY minute, status"
}

// naiveLogs returns a logs statement that reads every column of every record and returns 200 of them.
func naiveLogs() string {
	var columns []string
	for _, c := range lake.HiveColumns() {
		if strings.Contains(c.Type, "<") { // array, struct
			columns = append(columns, "json_format(CAST("+c.Name+" AS JSON))")
		} else {
			columns = append(columns, c.Name)
		}
	}
	return "SELECT " + strings.Join(columns, ", ") + " FROM (" + naiveTable("*") + ") ORDER BY ts_ms DESC LIMIT 200"
}

var hostHeader = naiveHeader("headers", "host")

func naiveHeader(column, name string) string {
	return "element_at(filter(" + column + ", h -> lower(h.name) = '" + name + "'), 1).value"
}

// naiveTable returns a selection from both tables in the period of TestBytes.
func naiveTable(selection string) string {
	var tables []string
	for _, table := range lake.TableNames {
		tables = append(tables, "SELECT "+selection+" FROM "+table+
			" WHERE datehour BETWEEN '2026/01/01/21' AND '2026/01/02/03'"+
			" AND ts_ms BETWEEN 1767301200000 AND 1767322800000")
	}
	return strings.Join(tables, " UNION ALL ")
}

// TestManyGroups runs 5,000 conditions on 200 different headers and arguments, which only one of three records meets.
func TestManyGroups(t *testing.T) {
	const each = 25
	var (
		text strings.Builder
		all  lake.Row
	)
	text.WriteString("timestamp between 2026-01-01 and 2026-01-03")
	for i := range 100 {
		for n := range each {
			fmt.Fprintf(&text, `, headers["x-%d"]!="never-%d"`, i, n)
			fmt.Fprintf(&text, `, arguments["a%d"]~"v%d(?:x|yy)"`, i, n)
			argument := lake.Pair{Name: fmt.Sprintf("a%d", i), Value: fmt.Sprintf("v%dyy", n)}
			all.Arguments = append(all.Arguments, argument)
		}
	}
	all.TsMs, all.Source, all.Line = enginetest.Start.UnixMilli(), "s", 1
	all.Headers = []lake.Pair{{Name: "X-7", Value: "never"}}
	missing, excluded := all, all
	missing.Line, missing.Arguments = 2, all.Arguments[:len(all.Arguments)-1]
	excluded.Line, excluded.Headers = 3, []lake.Pair{{Name: "X-99", Value: "never-24"}}

	q := bind(t, text.String(), query.Logs{Limit: 10, Fields: []string{"timestamp"}})
	if len(q.Conditions) != 5_000 {
		t.Fatalf("%d conditions", len(q.Conditions))
	}
	tables := trinotest.Load(t, []lake.Row{all, missing, excluded}, trinotest.NothingCompacted)
	began := time.Now()
	answer, _, err := tables.Engine().Run(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("took %v", time.Since(began))
	if len(answer.Logs) != 1 || answer.Logs[0].Line != 1 {
		t.Errorf("%d records match, want only the first one", len(answer.Logs))
	}
}

// ordinaryRecords returns generated records of ordinary traffic that begins at enginetest.Start.
func ordinaryRecords(t *testing.T, n int, length time.Duration) []lake.Row {
	t.Helper()
	g := gen.New(gen.Options{Records: n, Seed: 1, From: enginetest.Start, To: enginetest.Start.Add(length)})
	d := record.NewDecoder()
	rows := make([]lake.Row, 0, n)
	for {
		text, ok := g.Next(nil)
		if !ok {
			return rows
		}
		var row lake.Row
		if _, err := d.Decode(text, &row); err != nil {
			t.Fatal(err)
		}
		row.Source, row.Line = "ordinary", int64(len(rows)+1)
		rows = append(rows, row)
	}
}

func bind(t *testing.T, text string, shape query.Shape) query.Query {
	t.Helper()
	q, err := query.Bind(filter.ParseQueryString(text), shape)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// TestMostExpressions checks that the engine can run queries with the largest number of expressions that sqlgen allows: with
// -short, of two kinds.
func TestMostExpressions(t *testing.T) {
	tables := trinotest.Load(t, enginetest.Records(t, 20, 3), trinotest.NothingCompacted)
	kinds := []struct {
		condition string
		n         int
	}{
		{`trigger_counters>%d`, 116}, // of six members each
		{`not arguments[~"^a%d$"]>1`, 550},
		{`arguments["a%d"]~"x"`, 700},
		{`arguments["a%d"]>1`, 700},
	}
	if testing.Short() {
		kinds = kinds[:2]
	}
	for _, c := range kinds {
		var text strings.Builder
		text.WriteString("timestamp between 2026-01-01 and 2026-01-03")
		for i := range c.n {
			fmt.Fprintf(&text, ", "+c.condition, i)
		}
		q := bind(t, text.String(), query.Stats{SegmentSeconds: 86_400})
		if _, _, err := tables.Engine().Run(t.Context(), q); err != nil {
			t.Errorf("%d times %s: %v", c.n, c.condition, err)
		}
	}
}
