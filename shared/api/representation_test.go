package api

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/content/contenttest"
	"github.com/orrery/orrery/shared/api/examples"
	"github.com/orrery/orrery/shared/api/representation"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/search"
)

// logsPath is a request of whole records; the period has all of them.
const logsPath = "/api/v4.0/data/logs?filters=timestamp%20between%202026-01-01%20and%202026-01-02"

func TestRepresentationOfAnAnswer(t *testing.T) {
	s := newTestServer(t)
	const stats = statsPath + "&"
	const logs = logsPath + "&fields=ip&"
	for name, c := range map[string]struct {
		path, accept string
		want         string // type of the answer, or status
	}{
		"json is the default":                    {logs, "", content.JSON},
		"a browser gets json":                    {logs, "text/html,application/xml;q=0.9,*/*;q=0.8", content.JSON},
		"any text is json":                       {logs, "text/*", content.JSON},
		"plain text is json":                     {logs, "application/json;q=0.9,text/plain", content.JSON},
		"json comes before csv":                  {logs, "text/csv, application/json", content.JSON},
		"accept selects csv":                     {logs, "text/csv; charset=utf-8", "text/csv; charset=utf-8"},
		"accept selects ndjson":                  {logs, "application/x-ndjson", content.NDJSON},
		"the quality decides":                    {logs, "application/json;q=0.1, application/x-ndjson;q=0.2", content.NDJSON},
		"the format comes before accept":         {logs + "format=csv", content.JSON, "text/csv; charset=utf-8"},
		"json as a format comes before accept":   {logs + "format=json", "text/csv", content.JSON},
		"the format makes any accept acceptable": {logs + "format=ndjson", "image/png", content.NDJSON},
		"no acceptable form":                     {logs, "image/png", "406"},
		"figures have csv":                       {stats, "text/csv", "text/csv; charset=utf-8"},
		"figures have no ndjson":                 {stats, "application/x-ndjson", "406"},
		"figures have no ndjson as a format":     {stats + "format=ndjson", "", "406"},
		"figures take what is also accepted":     {stats, "application/x-ndjson, text/csv;q=0.1", "text/csv; charset=utf-8"},
		"an unknown format":                      {logs + "format=xml", "", "422"},
		"an empty format":                        {logs + "format=", "", "422"},
		"a repeated format":                      {logs + "format=csv&format=csv", "", "422"},
		"an unknown option of csv":               {logs + "format=csv&csv=safe", "", "422"},
		"an option of csv for another form":      {logs + "format=ndjson&csv=raw", "", "422"},
		"errors of csv are json":                 {logs + "limit=0", "text/csv", "422"},
	} {
		t.Run(name, func(t *testing.T) {
			var headers []string
			if c.accept != "" {
				headers = []string{"Accept: " + c.accept}
			}
			r := s.send(t, get(strings.TrimRight(c.path, "&"), headers...))
			got := r.Header.Get("Content-Type")
			if r.StatusCode >= 400 {
				if got != content.JSON {
					t.Errorf("an error of type %s", got)
				}
				got = fmt.Sprint(r.StatusCode)
			}
			if got != c.want {
				t.Errorf("%s, want %s: %.200s", got, c.want, r.body)
			}
		})
	}
}

// TestRouteWithoutTable: a route whose results have no table has JSON only, and no parameters for others.
func TestRouteWithoutTable(t *testing.T) {
	list := representation.OffersOf("a route without a table")
	if params := list.Parameters(); slices.Contains(list, content.CSV) || params != nil {
		t.Errorf("offers %v, parameters %v", list, params)
	}
	for _, to := range []search.Route{search.Stats, search.Timeline, search.TopX, search.Facets, search.Histogram} {
		if list := representation.OffersOf(to); !slices.Contains(list, content.CSV) || len(list.Parameters()) != 2 {
			t.Errorf("%s offers %v", to, list)
		}
	}
}

// withRecords returns a server with further records.
func withRecords(t *testing.T, lines ...string) *testServer {
	t.Helper()
	o := newOracle(t)
	for i, line := range lines {
		row := &lake.Row{Source: "more", Line: int64(i + 1)}
		if _, err := record.NewDecoder().Decode([]byte(line), row); err != nil {
			t.Fatal(err)
		}
		o.rows = append(o.rows, row)
	}
	service := newSearch(t, o, 0)
	return newServer(t, func(c *Config) { c.Search, c.Queries = service, service })
}

// tableOf reads an answer in CSV.
func tableOf(t *testing.T, r reply) [][]string {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(r.body)).ReadAll()
	if err != nil || len(rows) == 0 {
		t.Fatalf("%s: %v: %s", r.Status, err, r.body)
	}
	return rows
}

const hostile = `{"timestamp":"2026-01-01T11:00:00Z","host":"=cmd|'/c calc'!A0","user_agent":"+1","path":"-2",` +
	`"reason":"@x","referer":"\t=1","url":"a\r\nb","query":"?a=\"1,2\"","tags":["=a"],"unheard_of":{"of":"<=>"}}`

func TestRecordsAsTable(t *testing.T) {
	s := withRecords(t, hostile)
	const fields = "host,user_agent,path,reason,referer,url,query,tags"
	path := logsPath + "&limit=1&format=csv"
	for name, c := range map[string]struct {
		path string
		want []string
	}{
		"cells that begin like a formula get an apostrophe": {
			path + "&fields=" + fields,
			[]string{"'=cmd|'/c calc'!A0", "'+1", "'-2", "'@x", "'\t=1", "a\nb", `?a="1,2"`, `["=a"]`},
		},
		"with csv=raw they stay as they are": {
			path + "&csv=raw&fields=" + fields,
			[]string{"=cmd|'/c calc'!A0", "+1", "-2", "@x", "\t=1", "a\nb", `?a="1,2"`, `["=a"]`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			rows := tableOf(t, s.send(t, get(c.path)))
			if diff := cmp.Diff([][]string{strings.Split(fields, ","), c.want}, rows); diff != "" {
				t.Errorf("table (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("members without a column are in the last one", func(t *testing.T) {
		rows := tableOf(t, s.send(t, get(path)))
		last := len(rows[0]) - 1
		if rows[0][last] != "other" || rows[1][last] != `{"unheard_of":{"of":"<=>"}}` {
			t.Errorf("last column %s: %s", rows[0][last], rows[1][last])
		}
	})
	t.Run("every record has a line, also without a value", func(t *testing.T) {
		r := s.send(t, get(logsPath+"&fields=referer&format=csv"))
		if n := bytes.Count(r.body, []byte("\r\n")); n != 7 || len(tableOf(t, r)) != 7 {
			t.Errorf("%d lines: %q", n, r.body)
		}
	})
	t.Run("without records there is a head", func(t *testing.T) {
		r := s.send(t, get("/api/v4.0/data/logs?filters=timestamp%20between%202020-01-01%20and%202020-01-02&fields=ip"+
			"&format=csv"))
		if string(r.body) != "ip\r\n" {
			t.Errorf("%q", r.body)
		}
	})
}

// TestTablesHaveTheResults: a table has the results of the answer in JSON.
func TestTablesHaveTheResults(t *testing.T) {
	s := withRecords(t, hostile)
	filters := "?filters=" + url.QueryEscape("timestamp between 2026-01-01 10:00 and 2026-01-01 11:00")
	for _, path := range []string{
		"logs", "logs&fields=timestamp,ip,headers", "topx", "stats", "stats&group_by=hostname", "timeline",
		"histogram&by=status", "histogram",
	} {
		t.Run(path, func(t *testing.T) {
			route, parameters, _ := strings.Cut(path, "&")
			address := "/api/v4.0/data/" + route + filters + "&" + parameters
			address = strings.TrimRight(address, "&")
			var plain answering.Container[map[string]json.RawMessage]
			if err := json.Unmarshal(s.send(t, get(address)).body, &plain); err != nil {
				t.Fatal(err)
			}
			rows := tableOf(t, s.send(t, get(address+"&format=csv&csv=raw")))
			if len(rows)-1 != len(plain.Data.Results) {
				t.Fatalf("%d rows of %d results", len(rows)-1, len(plain.Data.Results))
			}
			for i, result := range plain.Data.Results {
				compareRow(t, rows[0], rows[i+1], result)
			}
		})
	}
}

// compareRow compares the cells of a row with the members of a result.
func compareRow(t *testing.T, head, row []string, result map[string]json.RawMessage) {
	t.Helper()
	for name, value := range result {
		i := slices.Index(head, name)
		if i < 0 {
			if i = slices.Index(head, "other"); i < 0 || !strings.Contains(row[i], fmt.Sprintf("%q:%s", name, value)) {
				t.Errorf("no column has the member %s", name)
			}
			continue
		}
		var text string
		switch {
		case strings.HasSuffix(name, "status_codes"):
			continue // has an example
		case value[0] == '"':
			if err := json.Unmarshal(value, &text); err != nil {
				t.Fatal(err)
			}
		case string(value) != "null":
			text = string(value)
		}
		if got := row[i]; got != strings.ReplaceAll(text, "\r\n", "\n") {
			t.Errorf("%s is %q in the table, %q in JSON", name, got, text)
		}
	}
}

func TestTableIsCompressedAndHasAHead(t *testing.T) {
	s := newTestServer(t)
	path := logsPath + "&format=csv"
	plain := s.send(t, get(path))
	for _, e := range []content.Coding{content.Zstd, content.Gzip} {
		r := s.send(t, get(path, "Accept-Encoding: "+string(e)))
		if got := contenttest.Decompress(t, e, r.body); r.Header.Get("Content-Encoding") != string(e) || !bytes.Equal(got, plain.body) {
			t.Errorf("%s: %q", e, got)
		}
	}
	head := s.send(t, examples.Message{Head: "HEAD " + path + " HTTP/1.1\nHost: localhost"})
	plain.Header.Del("Date")
	head.Header.Del("Date")
	if diff := cmp.Diff(plain.Header, head.Header); diff != "" || len(head.body) > 0 {
		t.Errorf("headers of GET and HEAD (-GET +HEAD):\n%s", diff)
	}
}

// TestTableThatIsTooLargeIsAnError: the limit is about the bytes of the table, not about the bytes of its records.
func TestTableThatIsTooLargeIsAnError(t *testing.T) {
	h := &searchSpy{finds: search.Result{Meta: search.Meta{
		Period: search.MetaPeriod{From: "2026-01-01T20:00:00Z", To: "2026-01-01T22:00:00Z"},
	}}}
	quotes := strings.Repeat(`"`, 200)
	for range 11_000 {
		h.finds.Stats = append(h.finds.Stats, search.StatsResult{Hostname: &quotes})
	}
	s := newServer(t, func(c *Config) { c.Search = h })
	if r := s.send(t, get("/api/v4.0/data/stats?filters=x&format=csv")); r.StatusCode != 422 {
		t.Errorf("%s with %d bytes", r.Status, len(r.body))
	}
	if r := s.send(t, get("/api/v4.0/data/stats?filters=x&format=csv", "Accept-Encoding: gzip")); r.StatusCode != 200 {
		t.Errorf("compressed: %s", r.Status)
	}
}

// TestSaturatedSumsOfATable: a table has no meta, so a header names the columns with sums that may be larger.
func TestSaturatedSumsOfATable(t *testing.T) {
	for name, c := range map[string]struct {
		saturated []string
		want      string
	}{
		"without such sums there is no header": {nil, ""},
		"the columns are listed":               {[]string{"avg_latency", "sum_of_bandwidth"}, "avg_latency, sum_of_bandwidth"},
	} {
		t.Run(name, func(t *testing.T) {
			h := &searchSpy{}
			h.finds.Meta.Saturated = c.saturated
			h.finds.Meta.Period = search.MetaPeriod{From: "2026-01-01T00:00:00Z", To: "2026-01-02T00:00:00Z"}
			s := newServer(t, func(c *Config) { c.Search = h })
			r := s.send(t, get("/api/v4.0/data/stats?filters=x&format=csv"))
			if got := r.Header.Get("X-Orrery-Saturated"); r.StatusCode != http.StatusOK || got != c.want {
				t.Errorf("%s, %q, want %q", r.Status, got, c.want)
			}
		})
	}
}

// TestHeadersOfATable: a table and lines have no meta, so headers report what it reports about completeness and cost.
func TestHeadersOfATable(t *testing.T) {
	full := search.Meta{
		Period:   search.MetaPeriod{From: "2026-01-01T00:00:00Z", To: "2026-01-02T00:00:00Z"},
		Complete: new(string), Exact: new(bool), Skipped: []string{"a", "b"}, Saturated: []string{"c"}, Demo: true,
		Truncated: &search.Truncated{Reason: "bytes"}, NumOfRequests: new(int64), Head: "head",
		Cached: &search.Cached{AgeSeconds: 61}, BytesScanned: 12_345_678, CostUSD: new(float64),
		Percentiles: &search.PercentilesMeta{Error: 0.01},
		Estimate: &search.Estimate{
			Bytes:   &search.BytesEstimate{Low: 10, High: 20_000_000},
			CostUSD: &search.PriceEstimate{Low: 0.00005, High: 0.0001},
		},
	}
	*full.Complete, *full.NumOfRequests, *full.CostUSD = "2026-01-02T00:00:00Z", 7, 0.0000617
	next := "next"
	following := &next
	full.Next = &following
	late := new(int64)
	*late = 3
	full.Late = &late
	for name, c := range map[string]struct {
		meta search.Meta
		want map[string]string
	}{
		"every member has its header": {full, map[string]string{
			"X-Orrery-Complete-Through": "2026-01-02T00:00:00Z", "X-Orrery-Skipped": "2", "X-Orrery-Truncated": "bytes",
			"X-Orrery-Saturated": "c", "X-Orrery-Next": "next", "X-Orrery-Head": "head", "X-Orrery-Demo": "true",
			"X-Orrery-Num-Of-Requests": "7", "X-Orrery-Exact": "false", "X-Orrery-Cached-Age": "61",
			"X-Orrery-Bytes-Scanned": "12345678", "X-Orrery-Cost-Usd": "0.0000617",
			"X-Orrery-Estimated-Bytes": "10-20000000", "X-Orrery-Estimated-Cost-Usd": "0.00005-0.0001",
			"X-Orrery-Late": "3", "X-Orrery-Percentiles-Error": "0.01",
		}},
		"an unknown number of late records is not absent": {
			search.Meta{Period: full.Period, Late: new(*int64)}, map[string]string{
				"X-Orrery-Skipped": "0", "X-Orrery-Bytes-Scanned": "0", "X-Orrery-Late": "unknown",
			},
		},
		"absent members have none": {search.Meta{Period: full.Period}, map[string]string{
			"X-Orrery-Skipped": "0", "X-Orrery-Bytes-Scanned": "0",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, format := range []string{"csv", "ndjson"} {
				h := &searchSpy{finds: search.Result{Meta: c.meta}}
				s := newServer(t, func(c *Config) { c.Search = h })
				r := s.send(t, get("/api/v4.0/data/logs?filters=x&format="+format))
				got := map[string]string{}
				for name := range r.Header {
					if strings.HasPrefix(name, "X-Orrery-") {
						got[name] = r.Header.Get(name)
					}
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("%s: %s, headers (-want +got):\n%s", format, r.Status, diff)
				}
			}
		})
	}
}

// TestReadmeListsTheHeadersOfTables: the guide and the OpenAPI document have every header.
func TestReadmeListsTheHeadersOfTables(t *testing.T) {
	document := string(newTestServer(t).send(t, get("/openapi.json")).body)
	_, headers := representation.OffersOf(search.Logs).Documented()
	delete(headers, "Content-Disposition") // is in a sentence
	for name := range headers {
		if !strings.Contains(readme(t), "\n| `"+name+"` |") {
			t.Errorf("README.md does not list %s", name)
		}
		if !strings.Contains(document, `"`+name+`"`) {
			t.Errorf("the document does not list %s", name)
		}
	}
}

// TestLocationKeepsTheRepresentation: the location of a query has the representation that was asked for, and others on request.
func TestLocationKeepsTheRepresentation(t *testing.T) {
	s := newTestServer(t)
	const raw = logsPath + "&fields=ip&format=csv&csv=raw"
	started := s.send(t, get(raw, "Prefer: respond-async"))
	location := started.Header.Get("Location")
	if location != "queries/"+queryID+"?format=csv&csv=raw" {
		t.Fatalf("%s %s", started.Status, location)
	}
	place := "/api/v4.0/data/" + location
	direct, later := s.send(t, get(raw)), s.finished(t, place)
	if diff := cmp.Diff(string(direct.body), string(later.body)); diff != "" {
		t.Errorf("the answer (-direct +later):\n%s", diff)
	}
	for _, name := range []string{"Content-Type", "Content-Disposition", "X-Orrery-Complete-Through"} {
		if got, want := later.Header.Get(name), direct.Header.Get(name); got != want || want == "" {
			t.Errorf("%s: %q, direct %q", name, got, want)
		}
	}
	bare := "/api/v4.0/data/queries/" + queryID
	if r := s.send(t, get(bare, "Accept: application/x-ndjson")); r.Header.Get("Content-Type") != content.NDJSON {
		t.Errorf("%s %s", r.Status, r.Header.Get("Content-Type"))
	}
	cancel := examples.Message{Head: "DELETE " + place + " HTTP/1.1\nHost: localhost"}
	if r := s.send(t, cancel); r.StatusCode != http.StatusNoContent {
		t.Errorf("DELETE of the location: %s %s", r.Status, r.body)
	}

	s = newTestServer(t, "query that ends") // of stats
	if r := s.send(t, get(bare, "Accept: application/x-ndjson")); r.StatusCode != http.StatusNotAcceptable {
		t.Errorf("a representation that the route of the query does not offer: %s", r.Status)
	}
	s = newTestServer(t, "slow query")
	if r := s.send(t, get(statsPath+"&format=csv")); r.Header.Get("Location") != "queries/"+queryID+"?format=csv" {
		t.Errorf("after a timeout: %s %s", r.Status, r.Header.Get("Location"))
	}
}
