package api

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/examples"
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/problem"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/planet/planettest"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

func TestFiltersAreComplete(t *testing.T) {
	const want = `path~"^/a;b{1,2}[x|y]\\d<>^` + "`" + `$", timestamp between 2026-01-01T00:00:00 02:00 and 2026-01-02`
	offset := strings.Replace(want, "00 02:00", "00+02:00", 1)
	tests := map[string]string{
		"partly encoded, as by browsers": strings.ReplaceAll(want, " ", "%20"),
		"spaces as plus":                 strings.ReplaceAll(want, " ", "+"),
		"completely encoded":             percent(want),
		"encoded in lower case":          strings.ToLower(percent(want)),
		"an unencoded plus of an offset": strings.ReplaceAll(offset, " ", "%20"),
	}
	for name, sent := range tests {
		t.Run(name, func(t *testing.T) {
			h := &searchSpy{}
			s := newServer(t, func(c *Config) { c.Search = h })
			r := s.sendRaw(t, "GET", "GET /api/v4.0/data/logs?_=17&filters="+sent+"&limit=7 HTTP/1.1\r\n"+
				"Host: localhost\r\nConnection: close\r\n\r\n")
			if body := r.body; r.StatusCode != http.StatusOK {
				t.Fatalf("%s\n%s", r.Status, body)
			}
			asked := search.Request{Route: search.Logs, Filters: want, Limit: "7", Now: present}
			if diff := cmp.Diff(asked, h.request); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
	if q, err := query.Bind(filter.Parse(want), query.Logs{}); err != nil || q.Period.FromMs != 1767218400000 {
		t.Errorf("the offset is lost: %+v, %v", q.Period, err)
	}
}

func percent(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "%%%02X", s[i])
	}
	return b.String()
}

func TestParametersReachTheSearch(t *testing.T) {
	tests := map[string]struct {
		request examples.Message
		want    search.Request
	}{
		"the header syntax forces the string form": {
			get("/api/v4.0/data/topx?filters={}", "syntax: string_query"),
			search.Request{Route: search.TopX, Filters: "{}", Syntax: filter.QueryString},
		},
		"the short base path": {
			get("/api/v4/data/stats?filters=x&segment=1h&group_by=hostname"),
			search.Request{Route: search.Stats, Filters: "x", Segment: "1h", GroupBy: "hostname"},
		},
		"POST with a JSON filter": {
			post("/api/v4.0/data/logs", content.JSON,
				`{"filters": {"AND": [ {"a": 1.0} ]}, "limit": 12, "fields": ["ip", "host"]}`),
			search.Request{Route: search.Logs, Filters: `{"AND": [ {"a": 1.0} ]}`, Limit: "12", Fields: "ip,host"},
		},
		"POST with an integer in another notation": {
			post("/api/v4.0/data/logs", content.JSON, `{"filters": "x", "limit": 1.20e1}`),
			search.Request{Route: search.Logs, Filters: "x", Limit: "12"},
		},
		"POST with a cache breaker": {
			post("/api/v4.0/data/logs", content.JSON, `{"_": 1, "filters": "x", "_t": [], "_": null}`),
			search.Request{Route: search.Logs, Filters: "x"},
		},
		"POST with text": {
			post("/api/v4/data/timeline?_=1", "application/json; charset=UTF-8",
				`{"filters": "a=\"b\"", "segment": "5m"}`),
			search.Request{Route: search.Timeline, Filters: `a="b"`, Segment: "5m"},
		},
		"POST with a number of seconds": {
			post("/api/v4/data/timeline", content.JSON, `{"filters": "x", "segment": 300}`),
			search.Request{Route: search.Timeline, Filters: "x", Segment: "300"},
		},
		"POST with digits in place of an integer": {
			post("/api/v4/data/logs", content.JSON, `{"filters": "x", "limit": "10"}`),
			search.Request{Route: search.Logs, Filters: "x", Limit: "10"},
		},
		"POST with digits in place of the least number": {
			post("/api/v4/data/diff", content.JSON, `{"filters": "x", "against": "1d", "least": "7"}`),
			search.Request{Route: search.Diff, Filters: "x", Against: "1d", Least: "7"},
		},
		"POST with text in place of booleans": {
			post("/api/v4/data/values", content.JSON, `{"field": "host", "counts": "true"}`),
			search.Request{Route: search.Values, Field: "host", Counts: "true"},
		},
		"POST with a dry run as text": {
			post("/api/v4/data/topx", content.JSON, `{"filters": "x", "dry_run": "false"}`),
			search.Request{Route: search.TopX, Filters: "x", DryRun: "false"},
		},
		"POST with a number in place of a part of a value": {
			post("/api/v4/data/values", content.JSON, `{"field": "status", "prefix": 40}`),
			search.Request{Route: search.Values, Field: "status", Prefix: "40"},
		},
		"POST with digits in place of a number of seconds": {
			post("/api/v4/data/timeline", content.JSON, `{"filters": "x", "segment": "300"}`),
			search.Request{Route: search.Timeline, Filters: "x", Segment: "300"},
		},
		"POST with names as text": {
			post("/api/v4/data/logs", content.JSON, `{"filters": "x", "fields": "ip,host"}`),
			search.Request{Route: search.Logs, Filters: "x", Fields: "ip,host"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			h := &searchSpy{}
			s := newServer(t, func(c *Config) { c.Search = h })
			if r := s.send(t, test.request); r.StatusCode != http.StatusOK {
				t.Fatalf("%s\n%s", r.Status, r.body)
			}
			test.want.Now = present
			if diff := cmp.Diff(test.want, h.request); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

// present is the present of relative times in the tests.
var present = search.Present(planettest.At)

func post(path, contentType, body string) examples.Message {
	return examples.Message{Head: "POST " + path + " HTTP/1.1\nHost: localhost\nContent-Type: " + contentType, Body: body}
}

func TestInvalidBodies(t *testing.T) {
	tests := map[string]struct {
		path, contentType, body string
		want                    int
	}{
		"a repeated member":     {"/data/logs", content.JSON, `{"filters": "x", "filters": "y"}`, 422},
		"no filters":            {"/data/logs", content.JSON, `{}`, 422},
		"null filters":          {"/data/logs", content.JSON, `{"filters": null}`, 422},
		"a list":                {"/data/logs", content.JSON, `[]`, 422},
		"limit with a fraction": {"/data/logs", content.JSON, `{"filters": "x", "limit": 1.5}`, 422},
		"limit null":            {"/data/logs", content.JSON, `{"filters": "x", "limit": null}`, 422},
		"limit as other text":   {"/data/logs", content.JSON, `{"filters": "x", "limit": "ten"}`, 422},
		"limit as a negative":   {"/data/logs", content.JSON, `{"filters": "x", "limit": "-1"}`, 422},
		"limit as no text":      {"/data/logs", content.JSON, `{"filters": "x", "limit": ""}`, 422},
		"a boolean as a number": {"/data/logs", content.JSON, `{"filters": "x", "dry_run": 1}`, 422},
		"a cursor as a number":  {"/data/logs", content.JSON, `{"filters": "x", "cursor": 1}`, 422},
		"a prefix as a list":    {"/data/values", content.JSON, `{"field": "host", "prefix": ["a"]}`, 422},
		"fields of numbers":     {"/data/logs", content.JSON, `{"filters": "x", "fields": [1]}`, 422},
		"fields null": {
			"/data/logs", content.JSON, `{"filters": "x", "fields": [null]}`, 422,
		},
		"parameters in the query": {"/data/logs?limit=1", content.JSON, `{"filters": "x"}`, 422},
		"another character set": {
			"/data/logs", "application/json; charset=latin1", `{"filters": "x"}`, 415,
		},
		"not a media type": {"/data/logs", "json", `{"filters": "x"}`, 415},
		"a filter over 1 MB": {
			"/data/timeline/parse", content.Text, strings.Repeat("x", 1_000_001), 400,
		},
		"parse of an unknown member": {"/data/timeline/parse", content.JSON, `{"filtres": "x"}`, 422},
		"parse of a number":          {"/data/timeline/parse", content.JSON, `5`, 422},
		"parse of broken JSON":       {"/data/timeline/parse", content.JSON, `{"filters"`, 422},
		"parse with a parameter":     {"/data/timeline/parse?filters=x", content.Text, `x`, 422},
		"parse of a broken multipart": {
			"/data/timeline/parse", "multipart/form-data; boundary=x", `x`, 422,
		},
		"parse of a multipart without boundary": {
			"/data/timeline/parse", content.Multipart, part("filters", "x") + "--x--", 422,
		},
		"parse of a multipart with an unknown field": {
			"/data/timeline/parse", "multipart/form-data; boundary=x", part("filter", "x") + "--x--", 422,
		},
		"parse of a multipart with a repeated field": {
			"/data/timeline/parse", "multipart/form-data; boundary=x",
			part("filters", "x") + part("filters", "y") + "--x--", 422,
		},
		"parse of a multipart that is cut off": {
			"/data/timeline/parse", "multipart/form-data; boundary=x", part("filters", "x"), 422,
		},
		"parse of another multipart": {
			"/data/timeline/parse", "multipart/mixed; boundary=x", part("filters", "x") + "--x--", 415,
		},
		"parse of a form with a repeated field": {"/data/timeline/parse", content.Form, "filters=x&filters=y", 422},
		"parse of a form with an unknown field": {"/data/timeline/parse", content.Form, "x=y&filters=x", 422},
		"parse of a form with encoded names":    {"/data/timeline/parse", content.Form, "f%69lters=x&filters=y", 422},
		"restore with a body": {
			"/conf/prod/planets/__default__/versions/1/restore", content.JSON, `{}`, 422,
		},
		"restore of a version with a leading zero": {
			"/conf/prod/planets/__default__/versions/01/restore", content.Text, ``, 422,
		},
		"a limit of 1e999": {"/data/logs", content.JSON, `{"filters": "x", "limit": 1e999}`, 422},
		"restore of an unknown version": {
			"/conf/prod/planets/__default__/versions/9/restore", content.Text, ``, 404,
		},
		"restore of another entry": {"/conf/prod/planets/x/versions/1/restore", content.Text, ``, 404},
	}
	s := newTestServer(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := s.send(t, post("/api/v4.0"+test.path, test.contentType, test.body))
			if body := r.body; r.StatusCode != test.want {
				t.Errorf("%s, want %d\n%.300s", r.Status, test.want, body)
			}
		})
	}
	long := post("/api/v4.0/data/logs", content.JSON, "")
	long.Head += fmt.Sprintf("\nContent-Length: %d", parameter.MaxBody+1)
	if r := s.send(t, long); r.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a Content-Length above the limit: %s", r.Status)
	}
}

func TestContentEncodings(t *testing.T) {
	s := newTestServer(t)
	send := func(coding string) reply {
		r := post("/api/v4.0/data/logs", content.JSON, `{"filters": "timestamp between 2026-01-01 and 2026-01-02"}`)
		r.Head += "\nContent-Encoding: " + coding
		return s.send(t, r)
	}
	t.Run("a compressed body is refused with a message about its coding", func(t *testing.T) {
		r := send("gzip")
		if r.StatusCode != http.StatusUnsupportedMediaType || r.Header.Get("Accept-Encoding") != "identity" ||
			!bytes.Contains(r.body, []byte("a body with Content-Encoding gzip is not supported")) {
			t.Errorf("%s, Accept-Encoding %q\n%s", r.Status, r.Header.Get("Accept-Encoding"), r.body)
		}
	})
	t.Run("identity is no coding", func(t *testing.T) {
		if r := send("identity"); r.StatusCode != http.StatusOK {
			t.Errorf("%s\n%s", r.Status, r.body)
		}
	})
}

// TestInvalidUTF8: text that is not UTF-8 is an error at the same place in a query and in a body.
func TestInvalidUTF8(t *testing.T) {
	s := newTestServer(t)
	const period = "timestamp between 2026-01-01 and 2026-01-02, "
	escaped := strings.ReplaceAll(period, " ", "%20")
	const stats, logs, parse = "/api/v4.0/data/stats", "/api/v4.0/data/logs", "/api/v4.0/data/timeline/parse"
	body := func(path, text string) examples.Message {
		return post(path, content.JSON, strings.ReplaceAll(text, "FF", "\xff"))
	}
	for name, test := range map[string]struct {
		request examples.Message
		want    int
		place   string
	}{
		"a filter in a query":       {get(stats + "?filters=" + escaped + "host=%c3%a4%ff"), 400, `"offset":52`},
		"a filter in a body":        {body(stats, `{"filters":"`+period+`host=äFF"}`), 400, `"offset":52`},
		"a filter after an escape":  {body(stats, `{"filters":"`+period+`host=\u00e4FF"}`), 400, `"offset":52`},
		"a filter in the JSON form": {body(stats, `{"filters":[{"field":"FF"}]}`), 400, `"offset":11`},
		"a filter alone":            {body(parse, `"`+period+`host=äFF"`), 400, `"offset":52`},
		"another parameter":         {get(stats + "?segment=%ff&filters=x"), 422, `"loc":["query","segment"]`},
		"another member":            {body(stats, `{"filters":"x","segment":"1mFF"}`), 422, `"loc":["body","segment"]`},
		"one of several names": {
			body(logs, `{"filters":"x","fields":["ip","FF"]}`), 422, `"loc":["body","fields"]`,
		},
		"the title of a saved filter": {
			examples.Message{
				Head: "PUT /api/v4.0/conf/prod/filters/a HTTP/1.1\nHost: localhost\nContent-Type: " + content.JSON,
				Body: `{"filters":"status=404","title":"` + "\xff\"}",
			}, 422, `"loc":["body","title"]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := s.send(t, test.request)
			if r.StatusCode != test.want || !bytes.Contains(r.body, []byte(test.place)) ||
				!bytes.Contains(r.body, []byte("not UTF-8")) {
				t.Errorf("%s, want %d %s\n%s", r.Status, test.want, test.place, r.body)
			}
		})
	}
}

func TestParseAcceptsEveryKindOfBody(t *testing.T) {
	const text = `timestamp between 2026-01-01 and 2026-01-02, path=/a%20b`
	const want = `{"AND":[` +
		`{"field":"timestamp","op":"between","value":["2026-01-01 00:00:00","2026-01-02 00:00:00"]},` +
		`{"field":"path","op":"eq","value":"/a%20b"}]}`
	const multipart = "multipart/form-data; boundary=x"
	file := strings.Replace(part("filters", text), `"filters"`, `"filters"; filename="f.txt"`, 1)
	tests := map[string]examples.Message{
		"text":                            post("", content.Text, text),
		"object":                          post("", content.JSON, `{"filters": "`+text+`"}`),
		"object with JSON":                post("", content.JSON, `{"filters": `+want+`}`),
		"JSON text":                       post("", content.JSON, `"`+text+`"`),
		"canonical JSON":                  post("", content.JSON, want),
		"list of conditions":              post("", content.JSON, want[len(`{"AND":`):len(want)-1]),
		"JSON as text":                    post("", content.Text, want),
		"form":                            post("", content.Form, "_=1&filters="+percent(text)+"&_x"),
		"multipart":                       post("", multipart, part("_", "1")+part("filters", text)+"--x--"),
		"multipart with a file":           post("", multipart, file+"--x--"),
		"object with a cache breaker":     post("", content.JSON, `{"_": 1, "filters": "`+text+`", "_": 2}`),
		"a form that is the text itself":  post("", content.Form, text),
		"a form that is the encoded text": post("", content.Form, percent(text)),
	}
	s := newTestServer(t)
	for name, request := range tests {
		t.Run(name, func(t *testing.T) {
			request.Head = strings.Replace(request.Head, "POST ", "POST /api/v4/data/timeline/parse", 1)
			if got := string(s.send(t, request).body); got != want {
				t.Errorf("got %s\nwant %s", got, want)
			}
		})
	}
}

// part returns a part of a multipart body with the boundary x.
func part(name, value string) string {
	return "--x\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n"
}

// TestUnknownParameter: the advice about & in filters is not given for parameters of other routes.
func TestUnknownParameter(t *testing.T) {
	for query, want := range map[string]string{
		"filters=x&limit=5":    "unknown parameter; this route has filters, segment, group_by",
		"filters=x&limits=5":   "unknown parameter; this route has filters, segment, group_by",
		"filters=x&segments=5": `unknown parameter; did you mean "segment"?`,
		"filters=a=1&b=2": "unknown parameter; this route has filters, segment, group_by; " +
			"if it belongs to the filter, write the & before it as %26",
		"b=2&filters=a=1": "unknown parameter; this route has filters, segment, group_by",
	} {
		_, err := parameter.ReadQuery(query, []parameter.Parameter{parameter.Filters, {Name: "segment"}, {Name: "group_by"}})
		var wrong problem.Details
		if !errors.As(err, &wrong) || len(wrong) != 1 || wrong[0].Msg != want {
			t.Errorf("%s: %v, want %s", query, err, want)
		}
	}
	_, err := parameter.ReadQuery("filters=x&b", nil)
	if err == nil || !strings.Contains(err.Error(), "this route takes no parameters") {
		t.Errorf("a route without parameters: %v", err)
	}
	routes := (&server{}).routes()
	for i := range routes {
		if routes[i].Tag != "data" {
			continue
		}
		for _, p := range routes[i].Params {
			_, err := parameter.ReadQuery("filters=x&"+p.Name+"=1", []parameter.Parameter{parameter.Filters})
			if err != nil && strings.Contains(err.Error(), "%26") {
				t.Errorf("the parameter %s of %s is taken for a part of the filter", p.Name, routes[i].ID)
			}
		}
	}
}

// TestAtMostTwentyDetails: the answer to a body with a million unknown names is not large.
func TestAtMostTwentyDetails(t *testing.T) {
	var wrong problem.Details
	_, err := parameter.ReadQuery(strings.Repeat("a&", 1000)+"filters=x", []parameter.Parameter{parameter.Filters})
	if !errors.As(err, &wrong) || len(wrong) != 20 {
		t.Errorf("query: %v", err)
	}
	body := `{"filters": "x"` + strings.Repeat(`, "a": 1`, 1000) + "}"
	_, err = parameter.ReadBody([]byte(body), []parameter.Parameter{parameter.Filters})
	if !errors.As(err, &wrong) || len(wrong) != 20 {
		t.Errorf("body: %v", err)
	}
}

func TestErrorsOfPostNameTheBody(t *testing.T) {
	request := post("/api/v4.0/data/logs", content.JSON,
		`{"filters": "timestamp between 2026-01-01 and 2026-01-02", "limit": 2501}`)
	body := newTestServer(t).send(t, request).body
	if !bytes.Contains(body, []byte(`"loc":["body","limit"]`)) {
		t.Errorf("%s", body)
	}
}
