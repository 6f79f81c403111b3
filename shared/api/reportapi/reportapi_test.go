package reportapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/api/reportapi"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/report"
	"github.com/orrery/orrery/shared/search"
)

// searcher answers every question with one segment of seven requests, or an error.
type searcher struct {
	mutex sync.Mutex
	asked []search.Request
	fail  map[search.Route]error
}

func (s *searcher) Search(_ context.Context, r search.Request) (search.Result, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.asked = append(s.asked, r)
	n := int64(7)
	return search.Result{
		Timeline: []search.TimelineResult{{TimePeriod: 1767225600, NumOfRequests: n}},
		TopX:     []search.TopXResult{{Label: "ip", Key: "203.0.113.7", NumOfRequests: n}},
		Meta:     search.Meta{Fingerprint: "5a0d3c71f2e9", NumOfRequests: &n},
	}, s.fail[r.Route]
}

const filters = "timestamp between 2026-01-01 and 2026-01-01 23:59:59.999"

// get sends a request to the API over a searcher. query has pairs of names and values.
func get(t *testing.T, s *searcher, header http.Header, query ...string) *httptest.ResponseRecorder {
	t.Helper()
	handler, err := api.New(api.Config{
		Search: s, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return time.Unix(0, 0) },
		Reports: reportapi.Maker{Sender: "Orrery <orrery@localhost>"}, Serves: []string{"report", "openapi"},
		Keys: keys.Static{keys.HashOf("k"): {Name: "n", Scopes: []keys.Scope{keys.DataRead}, Branches: []string{"b"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	values := url.Values{}
	for i := 0; i < len(query); i += 2 {
		values.Set(query[i], query[i+1])
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://orrery.example/api/v4.0/data/report?"+values.Encode(), nil)
	r.Header = header.Clone()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	r.Header.Set("X-Api-Key", "k")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

func TestForms(t *testing.T) {
	for _, test := range []struct {
		rule, accept, format string
		status               int
		contentType, begins  string
	}{
		{"html by default", "", "", 200, "text/html; charset=utf-8", "<!doctype html>"},
		{"html for browsers", "text/html,application/xhtml+xml,*/*;q=0.8", "", 200, "text/html; charset=utf-8", "<!doctype html>"},
		{"text", "text/plain", "", 200, "text/plain; charset=utf-8", "ORRERY"},
		{"csv", "text/csv", "", 200, "text/csv; charset=utf-8", "section,"},
		{"json", "application/json", "", 200, "application/json", "{\n"},
		{"a mail", "message/rfc822", "", 200, "message/rfc822", ""},
		{"format before accept", "text/html", "json", 200, "application/json", "{\n"},
		{"a link can ask for a mail", "text/html", "mail", 200, "message/rfc822", ""},
		{"an unknown format", "", "pdf", 422, "application/json", "{"},
		{"a type that there is not", "image/png", "", 406, "application/json", "{"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			header := http.Header{}
			if test.accept != "" {
				header.Set("Accept", test.accept)
			}
			query := []string{"filters", filters}
			if test.format != "" {
				query = append(query, "format", test.format)
			}
			w := get(t, &searcher{}, header, query...)
			if w.Code != test.status || w.Header().Get("Content-Type") != test.contentType ||
				!strings.HasPrefix(w.Body.String(), test.begins) {
				t.Errorf("%d %s %.60q", w.Code, w.Header().Get("Content-Type"), w.Body)
			}
			policy := w.Header().Get("Content-Security-Policy")
			if html := strings.HasPrefix(test.contentType, "text/html"); html != (policy == report.PagePolicy) {
				t.Errorf("policy %q", policy)
			}
		})
	}
}

func TestMail(t *testing.T) {
	w := get(t, &searcher{}, nil, "filters", filters, "format", "mail", "title", "Wöchentlich")
	m, err := mail.ReadMessage(bytes.NewReader(w.Body.Bytes()))
	if err != nil || m.Header.Get("From") != `"Orrery" <orrery@localhost>` {
		t.Errorf("%v %v", m, err)
	}
}

// TestQuestionsOfTheCaller: every question has the permissions of the caller of the report.
func TestQuestionsOfTheCaller(t *testing.T) {
	s := &searcher{}
	if w := get(t, s, nil, "filters", filters); w.Code != http.StatusOK {
		t.Fatal(w.Body)
	}
	if len(s.asked) != 24 {
		t.Errorf("%d questions", len(s.asked))
	}
	for _, r := range s.asked {
		if len(r.Branches) != 1 || r.Branches[0] != "b" || r.Caller == "" {
			t.Errorf("%s asks for the branches %v of %q", r.Route, r.Branches, r.Caller)
		}
		if (r.Route == search.Stats) != (r.Figures == search.FiguresPercentiles) {
			t.Errorf("%s asks for the figures %q", r.Route, r.Figures)
		}
		if (r.Segment == "4096d") != (r.TZ == "UTC") {
			t.Errorf("%s asks for segments in %q", r.Route, r.TZ)
		}
	}
}

func TestParameters(t *testing.T) {
	w := get(t, &searcher{}, nil, "filters", filters, "format", "json", "tz", "Asia/Kolkata", "compare", "none",
		"template", "attack", "title", "t", "link", "https://console.example")
	var d report.Document
	if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	r := d.Report
	if r.Zone != "Asia/Kolkata" || r.Previous != nil || r.Template != report.Attack || r.Title != "t" ||
		!strings.HasPrefix(r.Link, "https://console.example/#/") || r.Incidents == nil || r.Marks == nil {
		t.Errorf("%+v", r)
	}
}

// TestLinksOfReports: links lead to the configured address, or to this machine, but never to what a Host header names.
// A command sends the key to the configured address, or to the address of the reader, but never to a link in the
// question.
func TestLinksOfReports(t *testing.T) {
	for _, test := range []struct{ rule, address, host, link, want string }{
		{"an unknown name", "", "evil.example", "", ""},
		{"a configured address", "https://console.example/live", "10.0.0.7:8080", "", "https://console.example/live/#/"},
		{"a configured address on this machine", "https://console.example", "localhost", "", "https://console.example/#/"},
		{"this machine", "", "localhost:8080", "", "http://localhost:8080/#/"},
		{"this machine by its address", "", "[::1]:8080", "", "http://[::1]:8080/#/"},
		{"a name that only begins like this machine", "", "localhost.evil.example", "", ""},
		{"an address in the question", "https://console.example", "localhost", "https://other.example", "https://other.example/#/"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			handler, err := api.New(api.Config{
				Search: &searcher{}, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return time.Unix(0, 0) },
				Reports: reportapi.Maker{}, Address: test.address, Serves: []string{"report"},
				Keys: keys.Static{keys.HashOf("k"): {Name: "n", Scopes: []keys.Scope{keys.DataRead}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			ask := func(format string) []byte {
				values := url.Values{"filters": {filters}, "format": {format}}
				if test.link != "" {
					values.Set("link", test.link)
				}
				r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v4.0/data/report?"+values.Encode(), nil)
				r.Host = test.host
				r.Header.Set("X-Api-Key", "k")
				r.Header.Set("X-Forwarded-Host", "evil.example")
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r)
				return w.Body.Bytes()
			}
			command := `curl -sS "$ORRERY_URL/api/v4.0/data/report"`
			if test.address != "" {
				command = "curl -sS '" + test.address + "/api/v4.0/data/report'"
			}
			if text := ask("text"); !bytes.Contains(text, []byte(command)) {
				t.Errorf("the report does not have %s:\n%s", command, text)
			}
			var d report.Document
			if err := json.Unmarshal(ask("json"), &d); err != nil {
				t.Fatal(err)
			}
			got, _, _ := strings.Cut(d.Report.Link, "?")
			if got != test.want {
				t.Errorf("the link is %q, want %q", d.Report.Link, test.want)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	internal := errors.New("dial tcp 10.0.0.7: refused")
	all := map[search.Route]error{}
	for _, to := range []search.Route{
		search.Timeline, search.TopX, search.Facets, search.Histogram, search.Stats, search.Diff, search.Logs,
		search.Counts,
	} {
		all[to] = fault.New(fault.Unavailable, "too many queries are waiting")
	}
	for _, test := range []struct {
		rule   string
		fail   map[search.Route]error
		query  []string
		status int
		body   string
	}{
		{"a mistake in the filter", nil, []string{"filters", filters + ", hots=a"}, 400, `did you mean \"host\"`},
		{"relative times", nil, []string{"filters", "timestamp between yesterday and now", "format", "text"}, 200, "1970"},
		{"no period", nil, []string{"filters", "host=a"}, 400, "period"},
		{"no filter", nil, nil, 422, "filters"},
		{"an unknown zone", nil, []string{"filters", filters, "tz", "Mars"}, 422, "there is no time zone"},
		{"a link that is a script", nil, []string{"filters", filters, "link", "javascript:x"}, 422, "link"},
		{"an unknown parameter", nil, []string{"filters", filters, "last", "week"}, 422, "last"},
		{"no question can be answered", all, []string{"filters", filters}, 503, "message"},
		{"a part that is missing has its reason", map[search.Route]error{search.Diff: all[search.Diff]},
			[]string{"filters", filters, "format", "text"}, 200, "Without changes: too many queries are waiting"},
		{"a part that failed has no cause", map[search.Route]error{search.Diff: internal},
			[]string{"filters", filters, "format", "text"}, 200, "Without changes: the query failed"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			w := get(t, &searcher{fail: test.fail}, http.Header{"Accept": {"application/json"}}, test.query...)
			if w.Code != test.status || !strings.Contains(w.Body.String(), test.body) {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			if strings.Contains(w.Body.String(), "10.0.0.7") {
				t.Errorf("the cause is in the answer: %s", w.Body)
			}
		})
	}
}

// TestReportWithinTheTimeOfARequest: a report with a question that is not answered in time is not sent without it. The
// request can be repeated.
func TestReportWithinTheTimeOfARequest(t *testing.T) {
	ask := func(s answering.Searcher, timeout time.Duration) *httptest.ResponseRecorder {
		handler, err := api.New(api.Config{
			Search: s, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return time.Unix(0, 0) },
			Reports: reportapi.Maker{}, ReportTimeout: timeout, Serves: []string{"report"},
			Keys: keys.Static{keys.HashOf("k"): {Name: "n", Scopes: []keys.Scope{keys.DataRead}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet,
			"/api/v4.0/data/report?"+url.Values{"filters": {filters}}.Encode(), nil)
		r.Header.Set("X-Api-Key", "k")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w
	}
	late := &searcher{fail: map[search.Route]error{search.Diff: &search.TimeoutError{ID: "1"}}}
	for _, test := range []struct {
		rule    string
		by      answering.Searcher
		timeout time.Duration
		status  int
	}{
		{"every question is answered", &searcher{}, time.Hour, http.StatusOK},
		{"one question takes longer", late, time.Hour, http.StatusGatewayTimeout},
		{"the time is over before the questions are asked", hanging{}, time.Nanosecond, http.StatusGatewayTimeout},
		{"without a limit, a part is missing", late, 0, http.StatusOK},
	} {
		t.Run(test.rule, func(t *testing.T) {
			w := ask(test.by, test.timeout)
			if retry := w.Header().Get("Retry-After"); w.Code != test.status || (retry == "5") != (w.Code != http.StatusOK) ||
				w.Header().Get("Location") != "" {
				t.Errorf("%d, Retry-After %q, %.200s", w.Code, retry, w.Body)
			}
		})
	}
}

// hanging answers no question before the caller gives up.
type hanging struct{}

func (hanging) Search(ctx context.Context, _ search.Request) (search.Result, error) {
	<-ctx.Done()
	return search.Result{}, &search.TimeoutError{ID: "1"}
}

// TestDocument: the OpenAPI document of a server with reports describes them.
func TestDocument(t *testing.T) {
	handler, err := api.New(api.Config{
		Search: &searcher{}, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return time.Unix(0, 0) },
		Reports: reportapi.Maker{}, Serves: []string{"report", "openapi"},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/openapi.json", nil))
	var document struct {
		Paths map[string]struct {
			Get struct {
				Responses map[string]struct {
					Content map[string]any
				}
			}
		}
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	loaded, err := openapi3.NewLoader().LoadFromData(w.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if err := loaded.Validate(t.Context(), openapi3.IsOpenAPI31OrLater(), openapi3.DisableExamplesValidation()); err != nil {
		t.Error(err)
	}
	var value any
	if err := json.Unmarshal(get(t, &searcher{}, nil, "filters", filters, "format", "json").Body.Bytes(), &value); err != nil {
		t.Fatal(err)
	}
	schema := loaded.Components.Schemas["Document"]
	if err := schema.Value.VisitJSON(value, openapi3.EnableJSONSchema2020()); err != nil {
		t.Errorf("a report does not have its schema: %v", err)
	}
	content := document.Paths["/data/report"].Get.Responses["200"].Content
	for _, mediaType := range []string{"text/html", "text/plain", "text/csv", "application/json", "message/rfc822"} {
		if content[mediaType] == nil {
			t.Errorf("the document does not have %s", mediaType)
		}
	}
	for _, member := range []string{"verdict", "figures", "chart", "changes"} {
		if document.Components.Schemas["ReportContents"].Properties[member] == nil {
			t.Errorf("the schema of reports does not have %s", member)
		}
	}
}
