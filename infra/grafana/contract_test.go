package grafana

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/testkit/reference"
)

// now is the end of every range.
var now = time.Date(2026, 3, 31, 21, 34, 56, 789_000_000, time.UTC)

// ranges are the lengths of the ranges that are tested.
var ranges = map[string]time.Duration{
	"15 minutes": 15 * time.Minute,
	"an hour":    time.Hour,
	"6 hours":    6 * time.Hour,
	"a day":      24 * time.Hour,
	"2 days":     48 * time.Hour,
	"a week":     7 * 24 * time.Hour,
	"90 days":    90 * 24 * time.Hour,
	"8 years":    8 * 366 * 24 * time.Hour,
}

// records generates a dense hour before now, and 90 days with fewer records.
func records(t *testing.T) []*lake.Row {
	t.Helper()
	var rows []*lake.Row
	for _, length := range []time.Duration{90 * 24 * time.Hour, time.Hour} {
		g := gen.New(gen.Options{Records: 2000, Seed: 7, From: now.Add(-length), To: now})
		d := record.NewDecoder()
		for {
			line, ok := g.Next(nil)
			if !ok {
				break
			}
			row := &lake.Row{Source: length.String(), Line: int64(len(rows))}
			if _, err := d.Decode(line, row); err != nil {
				t.Fatal(err)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// memory is an engine over records in memory.
type memory struct{ rows []*lake.Row }

func (memory) Name() string { return "memory" }

func (memory) CompleteThrough(context.Context) (time.Time, error) { return now.Add(-time.Minute), nil }

func (m memory) Extent(context.Context) (lake.Extent, error) {
	return lake.Extent{
		MinTsMs: now.AddDate(0, -3, 0).UnixMilli(), MaxTsMs: now.UnixMilli(), Rows: int64(len(m.rows)),
	}, nil
}

func (m memory) Run(_ context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	return reference.Evaluate(&q, m.rows), engine.Cost{By: "scan", BytesScanned: 1}, nil
}

func (memory) Explain(context.Context, query.Query) (engine.Plan, error) {
	return engine.Plan{}, errors.New("nothing to explain")
}

// costly is a search of a managed engine with an unreadable object, whose answers have every member of meta.
type costly struct{ answering.Searcher }

func (c costly) Search(ctx context.Context, r search.Request) (search.Result, error) {
	result, err := c.Searcher.Search(ctx, r)
	price := 0.00005
	result.Meta.CostUSD, result.Meta.Skipped = &price, []string{"fresh/2026/03/31/20/a.parquet"}
	return result, err
}

// serve starts the API. It requires a key.
func serve(t *testing.T, gaps bool) *httptest.Server {
	t.Helper()
	service, err := search.New(memory{records(t)}, search.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	c := api.Config{
		Search: service, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now },
		Keys:   keys.Static{keys.HashOf("grafana"): {Name: "grafana", Scopes: []keys.Scope{keys.DataRead}}},
		Serves: []string{"topx", "stats", "timeline", "facets", "histogram", "logs", "fields"},
	}
	if gaps {
		c.Search = costly{service}
	}
	handler, err := api.New(c)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

// choice has the selections in the lists and the text of the field.
type choice map[string]string

// everything is the initial choice.
func everything() choice { return choice{"host": always, "country": always, "where": ""} }

var (
	interval = regexp.MustCompile(`\$__customInterval\(([^)]*)\)`)
	chosen   = regexp.MustCompile(`\$\{(\w+):raw\}`)
)

// expanded replaces the macros of Infinity and the variables of the dashboard in a text.
func expanded(t *testing.T, text string, length time.Duration, c choice) string {
	t.Helper()
	const iso = "2006-01-02T15:04:05.000Z"
	text = strings.ReplaceAll(text, "${__timeFrom:date:iso}", now.Add(-length).Format(iso))
	text = strings.ReplaceAll(text, "${__timeTo:date:iso}", now.Format(iso))
	text = interval.ReplaceAllStringFunc(text, func(macro string) string {
		parts := strings.Split(interval.FindStringSubmatch(macro)[1], ",")
		if len(parts)%2 == 0 {
			t.Errorf("%s has an even number of arguments", macro)
		}
		for i := 0; i+1 < len(parts); i += 2 {
			if length <= lengthOf(t, parts[i]) {
				return parts[i+1]
			}
		}
		return parts[len(parts)-1]
	})
	text = chosen.ReplaceAllStringFunc(text, func(variable string) string {
		value, known := c[chosen.FindStringSubmatch(variable)[1]]
		if !known {
			t.Errorf("there is no variable %s", variable)
		}
		return value
	})
	if strings.Contains(text, "$") {
		t.Errorf("%q has an unknown macro", text)
	}
	return text
}

func lengthOf(t *testing.T, text string) time.Duration {
	t.Helper()
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil {
			t.Fatal(err)
		}
		return time.Duration(n) * 24 * time.Hour
	}
	length, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return length
}

// ask sends the request of a target as Infinity does, and returns the answer.
func ask(t *testing.T, base string, query target, length time.Duration, c choice) string {
	t.Helper()
	values := url.Values{}
	for _, p := range query.URLOptions.Params {
		values.Add(p.Key, expanded(t, p.Value, length, c))
	}
	request, err := http.NewRequestWithContext(t.Context(), query.URLOptions.Method,
		base+query.URL+"?"+values.Encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/json;q=0.9,text/plain")
	request.Header.Set("Accept-Encoding", "gzip")
	request.Header.Set("Authorization", "Bearer grafana")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }() // it has been read
	body := response.Body
	if response.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(body); err != nil {
			t.Fatal(err)
		}
	}
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK || !gjson.ValidBytes(text) {
		t.Fatalf("%s: %s", response.Status, text)
	}
	return string(text)
}

// rowsOf returns the rows of an answer as Infinity finds them: the elements of a list, or one object.
func rowsOf(t *testing.T, answer, root string) []gjson.Result {
	t.Helper()
	found := gjson.Get(answer, root)
	switch {
	case found.IsArray():
		return found.Array()
	case found.IsObject():
		return []gjson.Result{found}
	}
	t.Fatalf("%s is not in the answer: %.300s", root, answer)
	return nil
}

// TestColumnsAreInTheAnswers sends the requests of all panels for every range, and finds every column in a row, with a
// value of its type.
func TestColumnsAreInTheAnswers(t *testing.T) {
	server := serve(t, false)
	for name, length := range ranges {
		t.Run(name, func(t *testing.T) {
			for i, p := range panels {
				query := p.object(i+1, gridPos{}).Targets[0]
				answer := ask(t, server.URL, query, length, everything())
				rows := rowsOf(t, answer, query.RootSelector)
				if n := len(rows); n == 0 || n > 400*10 {
					t.Errorf("%s: %d rows", p.title, n)
				}
				for _, c := range p.columns {
					if !c.rare {
						checkColumn(t, p.title, rows, c)
					}
				}
			}
		})
	}
}

func TestRareColumnsAreInTheAnswers(t *testing.T) {
	server := serve(t, true)
	found := 0
	for i, p := range panels {
		query := p.object(i+1, gridPos{}).Targets[0]
		for _, c := range p.columns {
			if !c.rare {
				continue
			}
			found++
			for _, length := range ranges {
				answer := ask(t, server.URL, query, length, everything())
				checkColumn(t, p.title, rowsOf(t, answer, query.RootSelector), c)
			}
		}
	}
	if found == 0 {
		t.Error("there are no rare columns")
	}
}

// checkColumn checks that some row has the column, and that its values have the type of the column.
func checkColumn(t *testing.T, panel string, rows []gjson.Result, c column) {
	t.Helper()
	found := false
	for _, row := range rows {
		value := gjson.Get(row.Raw, c.selector)
		if !value.Exists() || value.Type == gjson.Null {
			continue
		}
		found = true
		fits := false
		switch c.of {
		case text:
			fits = value.Type == gjson.String
		case number, seconds:
			fits = value.Type == gjson.Number
		case instant:
			_, err := time.Parse(time.RFC3339, value.String())
			fits = err == nil
		}
		if !fits {
			t.Errorf("%s: column %s is not of type %s: %s", panel, c.selector, c.of, value.Raw)
			return
		}
	}
	if !found {
		t.Errorf("%s: no row has the column %s", panel, c.selector)
	}
}

// TestSeriesAreDistinct: the text columns of a chart distinguish its series, and times ascend, as the conversion to
// series requires. With one value there are the series other and absent, too.
func TestSeriesAreDistinct(t *testing.T) {
	server := serve(t, false)
	for i, p := range panels {
		if p.kind != chart {
			continue
		}
		query := p.object(i+1, gridPos{}).Targets[0]
		for i, sent := range query.URLOptions.Params {
			if sent.Key == "limit" {
				query.URLOptions.Params[i].Value = "1"
			}
		}
		seen, last := map[string]bool{}, int64(0)
		for _, row := range rowsOf(t, ask(t, server.URL, query, time.Hour, everything()), query.RootSelector) {
			at := row.Get(timeColumn.selector).Int()
			point := fmt.Sprint(at)
			for _, c := range p.columns {
				if c.of == text {
					point += " " + row.Get(c.selector).Raw
				}
			}
			if seen[point] || at < last {
				t.Fatalf("%s: %s is there twice, or its time is before the last one", p.title, point)
			}
			seen[point], last = true, at
		}
	}
}

// TestVariables: the choices of a list are conditions, and a choice limits the requests of a panel.
func TestVariables(t *testing.T) {
	server := serve(t, false)
	total := func(c choice) (n int64) {
		query := panels[0].object(1, gridPos{}).Targets[0]
		for _, row := range rowsOf(t, ask(t, server.URL, query, time.Hour, c), query.RootSelector) {
			n += row.Get("num_of_requests").Int()
		}
		return n
	}
	all := total(everything())
	if all < 2000 {
		t.Fatalf("%d requests", all)
	}
	for _, v := range variables {
		t.Run(v.name, func(t *testing.T) {
			query := v.object()["query"].(object)["infinityQuery"].(target)
			choices := rowsOf(t, ask(t, server.URL, query, time.Hour, nil), query.RootSelector)
			if len(choices) < 2 {
				t.Fatalf("%d choices", len(choices))
			}
			sum := int64(0)
			for _, one := range choices {
				c := everything()
				c[v.name] = one.Get("condition").String()
				n := total(c)
				if n == 0 || n >= all {
					t.Errorf("%s: %d requests of %d", one.Raw, n, all)
				}
				sum += n
			}
			if sum > all {
				t.Errorf("the choices have %d requests of %d", sum, all)
			}
		})
	}
	t.Run("where", func(t *testing.T) {
		c := everything()
		c["where"] = `, blocked is true, path~"^/"`
		if n := total(c); n == 0 || n >= all {
			t.Errorf("%d requests of %d", n, all)
		}
	})
}

// TestHealthCheck sends the request of the health check as the data source is provisioned: it is sent with the key, to
// an allowed host, and checks the key.
func TestHealthCheck(t *testing.T) {
	server := serve(t, false)
	provisioned, err := os.ReadFile("datasource.yaml")
	if err != nil {
		t.Fatal(err)
	}
	setting := func(name string) string {
		m := regexp.MustCompile(`(?m)^\s+` + name + `:\s+(?:- )?(\S+)$`).FindSubmatch(provisioned)
		if m == nil {
			t.Fatalf("datasource.yaml has no %s", name)
		}
		return strings.NewReplacer("$ORRERY_URL", server.URL, "$ORRERY_KEY", "grafana").Replace(string(m[1]))
	}
	if setting("customHealthCheckEnabled") != "true" || setting("auth_method") != "bearerToken" {
		t.Error("there is no health check, or it has no key")
	}
	address := setting("customHealthCheckUrl")
	if host := setting("allowedHosts"); !strings.HasPrefix(address, host+"/") {
		t.Errorf("%s is not of the allowed host %s", address, host)
	}
	for key, want := range map[string]int{setting("bearerToken"): http.StatusOK, "unknown": http.StatusUnauthorized} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+key)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil || response.StatusCode != want {
			t.Errorf("with the key %s: %s, want %d; %v", key, response.Status, want, err)
		}
	}
}

// variableOf matches a variable in the address of a link, with its format.
var variableOf = regexp.MustCompile(`\$\{([\w.]+)(?::([\w:]+))?\}`)

// followed replaces the variables in the address of a link as Grafana does for a row of a table.
func followed(t *testing.T, address string, row map[string]string, length time.Duration, c choice) string {
	t.Helper()
	return variableOf.ReplaceAllStringFunc(address, func(variable string) string {
		m := variableOf.FindStringSubmatch(variable)
		name, format := m[1], m[2]
		field, ofRow := strings.CutPrefix(name, "__data.fields.")
		value, known := c[name]
		switch {
		case ofRow:
			value, known = row[field]
		case name == "console":
			value, known = consoleAddress, true
		case format == "date:iso" && name == "__from":
			return now.Add(-length).Format("2006-01-02T15:04:05.000Z")
		case format == "date:iso" && name == "__to":
			return now.Format("2006-01-02T15:04:05.000Z")
		}
		if !known {
			t.Errorf("the link %s has the unknown variable %s", address, variable)
		}
		if format == "percentencode" {
			return strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
		}
		return value
	})
}

// firstLink returns the first link of a panel, or "".
func firstLink(p panelObject) string {
	for _, o := range p.FieldConfig["overrides"].([]object) {
		for _, property := range o["properties"].([]object) {
			if property["id"] == "links" {
				return property["value"].([]object)[0]["url"].(string)
			}
		}
	}
	return ""
}

// TestRowsLinkToTheConsole follows the links of all rows. Each leads to the events in the console, either with a filter
// and a period that match as many requests as the row counts, or with the reference of its record.
func TestRowsLinkToTheConsole(t *testing.T) {
	server := serve(t, false)
	const events = consoleAddress + "/#/events"
	c := everything()
	c["where"] = `, path~"^/"`
	asked := func(t *testing.T, route, filters, selector string) gjson.Result {
		t.Helper()
		query := targetOf(route, "", nil, "", nil)
		query.URLOptions.Params[0].Value = filters
		return gjson.Get(ask(t, server.URL, query, 0, nil), selector)
	}
	followedRows := map[string]int{} // by route
	for i, p := range panels {
		o := p.object(i+1, gridPos{})
		address := firstLink(o)
		if address == "" {
			continue
		}
		t.Run(p.title, func(t *testing.T) {
			for _, row := range rowsOf(t, ask(t, server.URL, o.Targets[0], time.Hour, c), p.root) {
				shown := map[string]string{}
				for _, column := range p.columns {
					shown[column.title] = row.Get(column.selector).String()
				}
				to := followed(t, address, shown, time.Hour, c)
				followedRows[p.route]++
				if ref, ok := strings.CutPrefix(to, events+"/"); ok {
					found := asked(t, "logs", fmt.Sprintf("%s, record_ref=%q", everyTime, ref), "data.results.#.timestamp")
					if want := `["` + shown["time"] + `"]`; found.Raw != want {
						t.Fatalf("%s leads to the records of %s, want %s", to, found.Raw, want)
					}
					continue
				}
				members, err := url.ParseQuery(strings.TrimPrefix(to, events+"?"))
				if err != nil || !strings.HasPrefix(to, events+"?") || len(members) != 2 {
					t.Fatalf("%s is not an address of events: %v", to, err)
				}
				from, until, _ := strings.Cut(members.Get("t"), "..")
				filters := fmt.Sprintf("timestamp between %s and %s, %s", from, until, members.Get("f"))
				found := asked(t, "facets", filters, "meta.num_of_requests").String()
				if found != shown["blocked"] || found == "0" {
					t.Fatalf("%s leads to %s requests, and the row has %s", to, found, shown["blocked"])
				}
			}
		})
	}
	if followedRows["facets"] < 20 || followedRows["logs"] < 20 {
		t.Errorf("rows with links: %v", followedRows)
	}
}

const everyTime = "timestamp between 2000-01-01 and 2100-01-01"
