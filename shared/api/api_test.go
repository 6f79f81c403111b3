package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

// hearing is a read path that remembers what it was asked and finds what it is told to.
type hearing struct {
	asked search.Request
	finds search.Result
}

func (h *hearing) Search(_ context.Context, r search.Request) (search.Result, error) {
	h.asked = r
	return h.finds, nil
}

func get(path string, headers ...string) message {
	return message{head: strings.Join(append([]string{"GET " + path + " HTTP/1.1", "Host: localhost"}, headers...), "\n")}
}

func TestFiltersArriveWhole(t *testing.T) {
	const want = `path~"^/a;b{1,2}[x|y]\\d<>^` + "`" + `$", timestamp between 2026-01-01T00:00:00 02:00 and 2026-01-02`
	tests := map[string]string{
		"half_encoded_as_browsers_do":       strings.ReplaceAll(want, " ", "%20"),
		"spaces_as_plus":                    strings.ReplaceAll(want, " ", "+"),
		"wholly_encoded":                    percent(want),
		"encoded_in_lower_case":             strings.ToLower(percent(want)),
		"the_plus_of_an_offset_not_encoded": strings.ReplaceAll(strings.Replace(want, "00 02:00", "00+02:00", 1), " ", "%20"),
	}
	for name, sent := range tests {
		t.Run(name, func(t *testing.T) {
			h := &hearing{}
			s := newServer(t, func(c *Config) { c.Search = h })
			r := s.sendRaw(t, "GET", "GET /api/v4.0/data/logs?_=17&filters="+sent+"&limit=7 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
			if body := r.body; r.StatusCode != http.StatusOK {
				t.Fatalf("%s\n%s", r.Status, body)
			}
			if diff := cmp.Diff(search.Request{Route: search.Logs, Filters: want, Limit: "7"}, h.asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
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

func TestUnescapeLeavesAloneWhatIsNotEncoded(t *testing.T) {
	for sent, want := range map[string]string{"100%": "100%", "%": "%", "%2": "%2", "%zz": "%zz", "%2525": "%25", "a+b%2Bc": "a b+c", "%e2%82%AC": "€"} {
		if got := unescape(sent); got != want {
			t.Errorf("unescape(%q) = %q, want %q", sent, got, want)
		}
	}
}

func TestParametersReachTheSearch(t *testing.T) {
	tests := map[string]struct {
		request message
		want    search.Request
	}{
		"header_syntax_forces_the_string_form": {
			get("/api/v4.0/data/topx?filters={}", "syntax: string_query"),
			search.Request{Route: search.TopX, Filters: "{}", Form: filter.QueryString},
		},
		"short_base_path": {
			get("/api/v4/data/stats?filters=x&segment=1h&group_by=hostname"),
			search.Request{Route: search.Stats, Filters: "x", Segment: "1h", GroupBy: "hostname"},
		},
		"twin_with_a_JSON_filter": {
			post("/api/v4.0/data/logs", jsonType, `{"filters": {"AND": [ {"a": 1.0} ]}, "limit": 12, "fields": ["ip", "host"]}`),
			search.Request{Route: search.Logs, Filters: `{"AND": [ {"a": 1.0} ]}`, Limit: "12", Fields: "ip,host"},
		},
		"twin_with_text": {
			post("/api/v4/data/timeline?_=1", "application/json; charset=UTF-8", `{"filters": "a=\"b\"", "segment": "5m"}`),
			search.Request{Route: search.Timeline, Filters: `a="b"`, Segment: "5m"},
		},
		"twin_with_names_as_text": {
			post("/api/v4/data/logs", jsonType, `{"filters": "x", "fields": "ip,host"}`),
			search.Request{Route: search.Logs, Filters: "x", Fields: "ip,host"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			h := &hearing{}
			s := newServer(t, func(c *Config) { c.Search = h })
			if r := s.send(t, test.request); r.StatusCode != http.StatusOK {
				t.Fatalf("%s\n%s", r.Status, r.body)
			}
			if diff := cmp.Diff(test.want, h.asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
}

func post(path, contentType, body string) message {
	return message{head: "POST " + path + " HTTP/1.1\nHost: localhost\nContent-Type: " + contentType, body: body}
}

func TestBodiesThatAreRefused(t *testing.T) {
	tests := map[string]struct {
		path, contentType, body string
		want                    int
	}{
		"members_twice":            {"/data/logs", jsonType, `{"filters": "x", "filters": "y"}`, 422},
		"no_filters":               {"/data/logs", jsonType, `{}`, 422},
		"null_filters":             {"/data/logs", jsonType, `{"filters": null}`, 422},
		"a_list":                   {"/data/logs", jsonType, `[]`, 422},
		"limit_with_a_fraction":    {"/data/logs", jsonType, `{"filters": "x", "limit": 1.5}`, 422},
		"limit_null":               {"/data/logs", jsonType, `{"filters": "x", "limit": null}`, 422},
		"fields_of_numbers":        {"/data/logs", jsonType, `{"filters": "x", "fields": [1]}`, 422},
		"fields_null":              {"/data/logs", jsonType, `{"filters": "x", "fields": [null]}`, 422},
		"parameters_in_the_query":  {"/data/logs?limit=1", jsonType, `{"filters": "x"}`, 422},
		"another_character_set":    {"/data/logs", "application/json; charset=latin1", `{"filters": "x"}`, 415},
		"not_a_media_type":         {"/data/logs", "json", `{"filters": "x"}`, 415},
		"a_filter_over_1_MB":       {"/data/timeline/parse", textType, strings.Repeat("x", 1_000_001), 400},
		"parse_of_something_else":  {"/data/timeline/parse", jsonType, `{"filtres": "x"}`, 422},
		"parse_of_a_number":        {"/data/timeline/parse", jsonType, `5`, 422},
		"parse_of_broken_JSON":     {"/data/timeline/parse", jsonType, `{"filters"`, 422},
		"parse_with_a_parameter":   {"/data/timeline/parse?filters=x", textType, `x`, 422},
		"parse_of_a_multipart":     {"/data/timeline/parse", "multipart/form-data; boundary=x", `x`, 415},
		"restore_of_what_is_not":   {"/conf/prod/planets/__default__/versions/9/restore", textType, ``, 404},
		"restore_of_another_entry": {"/conf/prod/planets/x/versions/1/restore", textType, ``, 404},
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
	long := post("/api/v4.0/data/logs", jsonType, "")
	long.head += fmt.Sprintf("\nContent-Length: %d", maxFilterBody+1)
	if r := s.send(t, long); r.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a body that says it is too long: %s", r.Status)
	}
	compressed := post("/api/v4.0/data/logs", jsonType, `{"filters": "x"}`)
	compressed.head += "\nContent-Encoding: gzip"
	if r := s.send(t, compressed); r.StatusCode != http.StatusUnsupportedMediaType {
		t.Errorf("a compressed body: %s", r.Status)
	}
}

func TestParseTakesEveryKindOfBody(t *testing.T) {
	const text = `timestamp between 2026-01-01 and 2026-01-02, path=/a%20b`
	const want = `{"AND":[{"field":"timestamp","op":"between","value":["2026-01-01 00:00:00","2026-01-02 00:00:00"]},{"field":"path","op":"eq","value":"/a%20b"}]}`
	tests := map[string]message{
		"text":                          post("", textType, text),
		"object":                        post("", jsonType, `{"filters": "`+text+`"}`),
		"object_with_JSON":              post("", jsonType, `{"filters": `+want+`}`),
		"JSON_text":                     post("", jsonType, `"`+text+`"`),
		"canonical_JSON":                post("", jsonType, want),
		"list_of_conditions":            post("", jsonType, want[len(`{"AND":`):len(want)-1]),
		"JSON_as_text":                  post("", textType, want),
		"form":                          post("", formType, "x=y&filters="+percent(text)),
		"form_that_is_the_text_itself":  post("", formType, text),
		"form_that_is_the_text_encoded": post("", formType, percent(text)),
	}
	s := newTestServer(t)
	for name, request := range tests {
		t.Run(name, func(t *testing.T) {
			request.head = strings.Replace(request.head, "POST ", "POST /api/v4/data/timeline/parse", 1)
			if got := string(s.send(t, request).body); got != want {
				t.Errorf("got %s\nwant %s", got, want)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	basic := func(text string) string {
		return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(text))
	}
	tests := map[string]struct {
		header string
		want   int
	}{
		"raw_key_as_deployed_clients_send_it": {"Authorization: Basic full-key", 200},
		"password_of_Basic":                   {basic("me:full-key"), 200},
		"password_without_user":               {basic(":full-key"), 200},
		"user_without_password":               {basic("full-key:"), 200},
		"scheme_in_any_case":                  {"authorization: BEARER full-key", 200},
		"bearer":                              {"Authorization: Bearer full-key", 200},
		"header_of_its_own":                   {"X-API-Key: full-key", 200},
		"key_as_user_with_a_password":         {basic("full-key:other"), 401},
		"another_scheme":                      {"Authorization: Digest full-key", 401},
		"empty":                               {"Authorization: Basic", 401},
		"wrong":                               {"Authorization: Bearer full-ke", 401},
		"scope":                               {"X-API-Key: read-key", 403},
		"branch":                              {"X-API-Key: branch-key", 404},
	}
	s := newTestServer(t, "keys")
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := s.send(t, get("/api/v4.0/conf/prod/planets", test.header))
			if body := r.body; r.StatusCode != test.want {
				t.Errorf("%s, want %d\n%s", r.Status, test.want, body)
			}
		})
	}
}

func TestBranchesOfTheKeyReachTheSearch(t *testing.T) {
	h := &hearing{}
	s := newServer(t, func(c *Config) { c.Search, c.Keys = h, testKeys })
	if r := s.send(t, get("/api/v4.0/data/logs?filters=x", "X-API-Key: branch-key")); r.StatusCode != http.StatusOK {
		t.Fatal(r.Status)
	}
	if diff := cmp.Diff([]string{"staging"}, h.asked.Branches); diff != "" {
		t.Error(diff)
	}
}

func TestOneKeyAllowsEverything(t *testing.T) {
	s := newServer(t, func(c *Config) { c.Keys = OneKey("s3cret") })
	for path, method := range map[string]string{
		"/data/fields": "GET", "/conf/prod/planets": "GET", "/conf/prod/planets/__default__/versions/1/restore": "POST",
	} {
		r := s.send(t, message{head: method + " /api/v4.0" + path + " HTTP/1.1\nHost: api.example\nAuthorization: Bearer s3cret"})
		if r.StatusCode != http.StatusOK {
			t.Errorf("%s %s: %s", method, path, r.Status)
		}
	}
	if r := s.send(t, get("/api/v4.0/data/fields", "Authorization: Bearer s3cre")); r.StatusCode != http.StatusUnauthorized {
		t.Errorf("another key: %s", r.Status)
	}
}

func TestParameterOfATwinIsInTheBody(t *testing.T) {
	body := newTestServer(t).send(t, post("/api/v4.0/data/logs", jsonType, `{"filters": "timestamp between 2026-01-01 and 2026-01-02", "limit": 2501}`)).body
	if !bytes.Contains(body, []byte(`"loc":["body","limit"]`)) {
		t.Errorf("%s", body)
	}
}

type brokenKeys struct{}

func (brokenKeys) Find(context.Context, KeyHash) (Key, bool, error) {
	return Key{}, false, errors.New("no such table")
}

func TestKeysThatCannotBeLookedUpAreOurFailure(t *testing.T) {
	s := newServer(t, func(c *Config) { c.Keys = brokenKeys{} })
	if r := s.send(t, get("/api/v4.0/data/fields", "X-API-Key: k")); r.StatusCode != http.StatusInternalServerError {
		t.Error(r.Status)
	}
}

func TestGuard(t *testing.T) {
	planets, write := "/api/v4.0/conf/prod/planets", "/api/v4.0/conf/prod/planets/__default__/versions/1/restore"
	tests := map[string]struct {
		method, path, host, header string
		keys                       bool
		want                       int
	}{
		"a_name_of_this_machine":          {"GET", planets, "localhost:8080", "", false, 200},
		"an_address_of_this_machine":      {"GET", planets, "127.0.0.1", "", false, 200},
		"another_of_them":                 {"GET", planets, "127.9.9.9:80", "", false, 200},
		"in_IPv6":                         {"GET", planets, "[::1]:8080", "", false, 200},
		"a_name_below_localhost":          {"GET", planets, "orrery.localhost.", "", false, 200},
		"a_rebound_name":                  {"GET", planets, "evil.example", "", false, 403},
		"a_name_that_looks_like_it":       {"GET", planets, "localhost.evil.example", "", false, 403},
		"an_address_of_the_network":       {"GET", planets, "192.168.1.2", "", false, 403},
		"the_page_itself":                 {"GET", planets, "localhost:8080", "Origin: http://localhost:8080", false, 200},
		"another_port":                    {"GET", planets, "localhost:8080", "Origin: http://localhost:3000", false, 403},
		"a_page_that_hides_its_origin":    {"GET", planets, "localhost", "Origin: null", false, 403},
		"a_cross_site_request":            {"GET", planets, "localhost", "Sec-Fetch-Site: cross-site", false, 403},
		"a_same_origin_request":           {"GET", planets, "localhost", "Sec-Fetch-Site: same-origin", false, 200},
		"a_link_to_the_page":              {"GET", "/", "localhost", "Sec-Fetch-Site: cross-site", false, 200},
		"a_health_check_by_address":       {"GET", healthPath, "10.0.0.1", "", false, 200},
		"the_page_by_a_rebound_name":      {"GET", "/", "evil.example", "", false, 403},
		"with_keys_any_name_does":         {"GET", planets, "api.example", "", true, 200},
		"with_keys_pages_may_read":        {"GET", planets, "api.example", "Sec-Fetch-Site: cross-site", true, 200},
		"with_keys_pages_may_not_write":   {"POST", write, "api.example", "Sec-Fetch-Site: cross-site", true, 403},
		"with_keys_programs_may_write":    {"POST", write, "api.example", "", true, 200},
		"options_of_a_foreign_page":       {"OPTIONS", planets, "localhost", "Origin: https://evil.example", false, 403},
		"options":                         {"OPTIONS", planets, "localhost", "", false, 204},
		"options_of_what_is_not":          {"OPTIONS", "/nothing", "localhost", "", false, 404},
		"head":                            {"HEAD", planets, "localhost", "", false, 200},
		"something_else":                  {"GET", "/api/v4.0/data/topics", "localhost", "", false, 404},
		"the_page_has_no_such_part":       {"GET", "/page/secret.js", "localhost", "", false, 404},
		"the_page_has_no_part_above_it":   {"GET", "/page/..%2fapi.go", "localhost", "", false, 404},
		"a_configuration_with_a_slash":    {"GET", "/api/v4.0/conf/a%2Fb/planets", "localhost", "", false, 404},
		"a_parameter_of_planets":          {"GET", planets + "?verbose=1", "localhost", "", false, 422},
		"a_cache_breaker_of_planets":      {"GET", planets + "?_=1", "localhost", "", false, 200},
		"a_parameter_of_fields":           {"GET", "/api/v4.0/data/fields?limit=1", "localhost", "", false, 422},
		"a_parameter_of_versions":         {"GET", planets + "/__default__/versions?limit=1", "localhost", "", false, 422},
		"versions_of_what_is_not":         {"GET", "/api/v4.0/conf/none/planets/__default__/versions", "localhost", "", false, 404},
		"versions_of_another_entry":       {"GET", planets + "/other/versions/1", "localhost", "", false, 404},
		"an_If_Match_that_is_none":        {"POST", write, "localhost", "If-Match: 3", false, 422},
		"an_If_None_Match_that_is_not_it": {"POST", write, "localhost", `If-None-Match: "3"`, false, 422},
		"a_weak_If_Match":                 {"POST", write, "localhost", `If-Match: W/"1-90a8722882d49a18"`, false, 412},
		"any_If_Match":                    {"POST", write, "localhost", `If-Match: *`, false, 200},
		"a_version_that_is_no_number":     {"POST", strings.Replace(write, "/1/", "/0/", 1), "localhost", "", false, 422},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			given := []string{}
			header := test.header
			if test.keys {
				given = append(given, "keys")
				header = strings.TrimPrefix(header+"\nX-API-Key: full-key", "\n")
			}
			head := test.method + " " + test.path + " HTTP/1.1\nHost: " + test.host
			if header != "" {
				head += "\n" + header
			}
			r := newTestServer(t, given...).send(t, message{head: head})
			if body := r.body; r.StatusCode != test.want {
				t.Errorf("%s, want %d\n%s", r.Status, test.want, body)
			}
		})
	}
}

func TestEveryAnswerHasTheseHeaders(t *testing.T) {
	s := newTestServer(t)
	for _, path := range []string{"/", "/openapi.json", healthPath, "/nothing", "/api/v4.0/data/fields", "/api/v4.0/data/logs"} {
		r := s.send(t, get(path))
		for name, want := range map[string]string{
			"X-Request-Id": requestID, "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
			"Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		if policy := r.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", path, policy)
		}
		if strings.HasPrefix(path, "/api/") && r.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s may be stored", path)
		}
	}
	given := s.send(t, get(healthPath, "X-Request-Id: from-the-proxy.1")).Header.Get("X-Request-Id")
	if given != "from-the-proxy.1" {
		t.Errorf("the id of the proxy became %q", given)
	}
	if forged := s.send(t, get(healthPath, `X-Request-Id: a" b`)).Header.Get("X-Request-Id"); forged != requestID {
		t.Errorf("an id that is none became %q", forged)
	}
}

func TestHeadIsGetWithoutTheBody(t *testing.T) {
	s := newTestServer(t)
	full := s.send(t, get("/api/v4.0/data/fields"))
	head := s.send(t, message{head: "HEAD /api/v4.0/data/fields HTTP/1.1\nHost: localhost"})
	if full.ContentLength < 1000 || head.ContentLength != full.ContentLength || len(head.body) > 0 {
		t.Errorf("GET has %d bytes, HEAD says %d", full.ContentLength, head.ContentLength)
	}
}

func TestPagePartsAreThere(t *testing.T) {
	s := newTestServer(t)
	page := string(s.send(t, get("/")).body)
	if strings.Contains(page, "://") || strings.Contains(page, "<style") || strings.Contains(page, "style=") {
		t.Error("the page needs what its policy forbids")
	}
	for _, part := range strings.Split(page, `"`) {
		if !strings.HasPrefix(part, "page/") && part != "openapi.json" {
			continue
		}
		r := s.send(t, get("/"+part))
		if len(r.body) == 0 || r.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", part, r.Status)
		}
		if again := s.send(t, get("/"+part, "If-None-Match: "+r.Header.Get("ETag"))); again.StatusCode != http.StatusNotModified {
			t.Errorf("%s is sent again: %s", part, again.Status)
		}
	}
}

func TestAccessLogTellsNoSecrets(t *testing.T) {
	s := newTestServer(t, "keys")
	s.send(t, get(`/api/v4.0/data/logs?filters=cookies["sid"]="secret1",timestamp%20between%202026-01-01%20and%202026-01-02&_=secret2`, "X-API-Key: full-key", "Cookie: secret3"))
	want := `{"level":"INFO","msg":"request","request_id":"0f5a2c417d9be386","method":"GET","route":"logs","status":200,"ms":0,"bytes":`
	got := s.log.String()
	if !strings.HasPrefix(got, want) || !strings.Contains(got, `"key":"console","fingerprint":"`) {
		t.Errorf("log %s", got)
	}
	for _, secret := range []string{"secret", "full-key", "sid"} {
		if strings.Contains(got, secret) {
			t.Errorf("the log holds %q: %s", secret, got)
		}
	}
}

func TestCauseOfOurFailureIsInTheLogOnly(t *testing.T) {
	s := newTestServer(t, "broken engine")
	body := s.send(t, get("/api/v4.0/data/logs?filters=x")).body
	if bytes.Contains(body, []byte("checksum")) || !strings.Contains(s.log.String(), "page checksum differs") {
		t.Errorf("body %s\nlog %s", body, s.log)
	}
}

type panicking struct{}

func (panicking) Search(context.Context, search.Request) (search.Result, error) {
	panic("index out of range")
}

func TestPanicIsAnError(t *testing.T) {
	s := newServer(t, func(c *Config) { c.Search = panicking{} })
	r := s.send(t, get("/api/v4.0/data/logs?filters=x"))
	if body := r.body; r.StatusCode != http.StatusInternalServerError || bytes.Contains(body, []byte("index")) {
		t.Errorf("%s %s", r.Status, body)
	}
	if !strings.Contains(s.log.String(), "panic: index out of range") {
		t.Errorf("log %s", s.log)
	}
}

// leaving is a read path whose caller goes away while it works.
type leaving struct{ leave context.CancelFunc }

func (l leaving) Search(ctx context.Context, _ search.Request) (search.Result, error) {
	l.leave()
	return search.Result{}, fault.Wrap(fault.Canceled, ctx.Err(), "the caller went away")
}

func TestCallerWhoGoesAwayIsNotOurFailure(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	var log bytes.Buffer
	var h http.Handler
	newServer(t, func(c *Config) {
		c.Search, c.Log = leaving{leave}, slog.New(slog.NewJSONHandler(&log, nil))
		h = New(*c)
	})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "http://localhost/api/v4.0/data/logs?filters=x", nil))
	if !strings.Contains(log.String(), `"status":499`) || strings.Contains(log.String(), `"failed"`) {
		t.Errorf("log %s", &log)
	}
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("status %d: it must not look like an answer", w.Code)
	}
}

func TestAcceptedEncoding(t *testing.T) {
	for accept, want := range map[string]encoding{
		"":                        identity,
		"gzip":                    gzipped,
		"gzip, deflate, br, zstd": zstdized,
		"GZIP;q=0.8, zstd;q=0.5":  gzipped,
		"gzip;q=0":                identity,
		"*":                       zstdized,
		"*;q=0.1, zstd;q=0":       gzipped,
		"identity, gzip;q=0.5":    identity,
		"identity;q=0.5, gzip":    gzipped,
		"br":                      identity,
		"gzip;q=x":                identity,
		"gzip;q=7":                identity,
		"gzip;;":                  identity,
	} {
		if got := acceptedEncoding([]string{accept}); got != want {
			t.Errorf("Accept-Encoding %q: %q, want %q", accept, got, want)
		}
	}
}

func TestNegotiate(t *testing.T) {
	for accept, want := range map[string]string{
		"application/json":                   jsonType,
		"*/*":                                jsonType,
		"text/*":                             textType,
		"text/plain, application/json;q=0.9": textType,
		"text/html,application/xhtml+xml,*/*;q=0.8": jsonType,
		"application/json;q=0, */*":                 textType,
		"application/xml":                           "",
		"application/json; charset=utf-8":           jsonType,
	} {
		if got := negotiate([]string{accept}, jsonType, textType); got != want {
			t.Errorf("Accept %q: %q, want %q", accept, got, want)
		}
	}
}

func TestAnswersAreCompressedWhenAsked(t *testing.T) {
	s := newTestServer(t)
	bare := s.send(t, get("/api/v4.0/data/fields")).body
	for _, e := range encodings {
		r := s.send(t, get("/api/v4.0/data/fields", "Accept-Encoding: "+string(e)))
		sent := r.body
		if got := decompress(t, e, sent); r.Header.Get("Content-Encoding") != string(e) || !bytes.Equal(got, bare) || len(sent) > len(bare)/2 {
			t.Errorf("%s: %d of %d bytes, header %q", e, len(sent), len(bare), r.Header.Get("Content-Encoding"))
		}
	}
	if r := s.send(t, get(healthPath, "Accept-Encoding: gzip")); r.Header.Get("Content-Encoding") != "" {
		t.Error("a few bytes were compressed")
	}
}

func decompress(t testing.TB, e encoding, sent []byte) []byte {
	t.Helper()
	var from io.Reader = bytes.NewReader(sent)
	var err error
	switch e {
	case gzipped:
		from, err = gzip.NewReader(from)
	case zstdized:
		from, err = zstd.NewReader(from)
	}
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func TestETagOfACompressedPlanetIsGoodForWriting(t *testing.T) {
	s := newTestServer(t)
	big := `{"name":"p","trusted_nets":[],"ichallenge":{"attrs":{"logo":"` + strings.Repeat("logo ", 1000) + `"},"lang":{},"palette":[],"position":{}}}`
	write := func(etag string) reply {
		return s.send(t, message{head: "PUT /api/v4.0/conf/prod/planets/__default__ HTTP/1.1\nHost: localhost\nContent-Type: application/json\nIf-Match: " + etag, body: big})
	}
	if r := write("*"); r.StatusCode != http.StatusOK {
		t.Fatal(r.Status)
	}
	r := s.send(t, get("/api/v4.0/conf/prod/planets", "Accept-Encoding: gzip"))
	etag := r.Header.Get("ETag")
	if !strings.HasSuffix(etag, `-gzip"`) || !bytes.Contains(decompress(t, gzipped, r.body), []byte(`{"id":"__default__","name":"p"`)) {
		t.Fatalf("ETag %s", etag)
	}
	if r := s.send(t, get("/api/v4.0/conf/prod/planets", "Accept-Encoding: gzip", "If-None-Match: "+etag)); r.StatusCode != http.StatusNotModified {
		t.Errorf("read again: %s", r.Status)
	}
	if r := write(etag); r.StatusCode != http.StatusOK {
		t.Errorf("written with the ETag read: %s", r.Status)
	}
	if r := write(etag); r.StatusCode != http.StatusPreconditionFailed {
		t.Errorf("written again with it: %s", r.Status)
	}
}

// TestLogsStopAtTheLimit: whatever the records and the coding, the answer is at most as long as it may be, is
// whole JSON, and holds the first records in order; and it does not stop long before it must.
func TestLogsStopAtTheLimit(t *testing.T) {
	const limit = 100_000
	random := rand.New(rand.NewPCG(1, 2))
	noise := func(int) string {
		b := make([]byte, 1+random.IntN(3000))
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return base64.StdEncoding.EncodeToString(b)
	}
	kinds := map[string]struct {
		record func(int) string
		count  int
		least  int // bytes sent at least, when it stops
	}{
		"alike":            {func(i int) string { return fmt.Sprint("request ", i, strings.Repeat(" the same", 200)) }, 60_000, limit * 9 / 10},
		"noise":            {noise, 400, limit - 3*4096},
		"one_is_too_large": {func(int) string { return strings.Repeat("x", 2*limit) }, 3, 0},
		"few":              {noise, 3, 0},
	}
	for name, kind := range kinds {
		for _, e := range []encoding{identity, gzipped, zstdized} {
			t.Run(name+"_"+string(e), func(t *testing.T) {
				records := make([]json.RawMessage, kind.count)
				for i := range records {
					records[i] = encode(map[string]string{"v": kind.record(i)})
				}
				sent := logsBody(e, records, search.Meta{Filter: "f"}, limit)
				if len(sent) > limit {
					t.Fatalf("%d bytes are sent", len(sent))
				}
				var got Container[json.RawMessage]
				if err := json.Unmarshal(decompress(t, e, sent), &got); err != nil {
					t.Fatal(err)
				}
				n := len(got.Data.Results)
				if !slices.EqualFunc(records[:n], got.Data.Results, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
					t.Error("other records")
				}
				stopped := got.Meta.Truncated != nil && got.Meta.Truncated.Reason == "bytes"
				if stopped != (n < len(records)) {
					t.Errorf("%d of %d records, truncated %+v", n, len(records), got.Meta.Truncated)
				}
				if stopped && len(sent) < kind.least {
					t.Errorf("stopped at %d bytes of %d", len(sent), limit)
				}
			})
		}
	}
}

func TestAnswerThatIsTooLargeSaysWhatToDo(t *testing.T) {
	h := &hearing{}
	for i := range 20_000 {
		h.finds.Stats = append(h.finds.Stats, search.StatsResult{TimePeriod: int64(i), Hostname: strings.Repeat("h", 200)})
	}
	s := newServer(t, func(c *Config) { c.Search = h })
	r := s.send(t, get("/api/v4.0/data/stats?filters=x"))
	if body := r.body; r.StatusCode != http.StatusUnprocessableEntity || !bytes.Contains(body, []byte("Accept-Encoding: gzip")) {
		t.Errorf("%s %.300s", r.Status, body)
	}
	if r := s.send(t, get("/api/v4.0/data/stats?filters=x", "Accept-Encoding: gzip")); r.StatusCode != http.StatusOK {
		t.Errorf("compressed it fits, and is %s", r.Status)
	}
}

func TestLongKeysAreCut(t *testing.T) {
	long := strings.Repeat("é", 1025)
	results := shortKeys([]search.TopXResult{{Key: long}, {Key: long + "x"}, {Key: long[:2*1024]}, {Key: "short"}})
	for i, cut := range []bool{true, true, false, false} {
		if n := len([]rune(results[i].Key)); results[i].KeyTruncated != cut || n > maxKey {
			t.Errorf("key %d: %d characters, truncated %v", i, n, results[i].KeyTruncated)
		}
	}
	if results[0].Key == results[1].Key {
		t.Error("two keys became one")
	}
	if results[2].Key != long[:2*1024] || results[3].Key != "short" {
		t.Error("a key that fits was changed")
	}
}

func TestNewNeedsItsParts(t *testing.T) {
	defer func() {
		if cause := recover(); cause == nil {
			t.Error("a surface without parts was made")
		}
	}()
	New(Config{})
}

func TestPlanetLimitFitsTheBody(t *testing.T) {
	s := newTestServer(t)
	body := `{"name":"p","trusted_nets":[],"ichallenge":{"attrs":{"logo":"%s"},"lang":{},"palette":[],"position":{}}}`
	for size, want := range map[int]int{planet.MaxBytes: 200, planet.MaxBytes + 1: 413} {
		text := fmt.Sprintf(body, strings.Repeat("x", size-len(body)+2))
		r := s.send(t, message{head: "PUT /api/v4.0/conf/prod/planets/__default__ HTTP/1.1\nHost: localhost\nContent-Type: application/json", body: text})
		if r.StatusCode != want {
			t.Errorf("%d bytes: %s, want %d", len(text), r.Status, want)
		}
	}
}

func BenchmarkTopXAnswer(b *testing.B) {
	h := &hearing{}
	half := 0.5
	for i := range 600 {
		h.finds.TopX = append(h.finds.TopX, search.TopXResult{Label: "url", Key: fmt.Sprint("shop.example/product/", i), AvgOriginTime: &half, AvgTotalTime: &half, NumOfRequests: int64(i)})
	}
	handler := New(Config{Search: h, Planets: noPlanets{}, Log: slog.New(slog.DiscardHandler), Now: time.Now})
	for b.Loop() {
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "http://localhost/api/v4.0/data/topx?filters=x", nil))
	}
}

type noPlanets struct{ planet.Store }

func FuzzUnescape(f *testing.F) {
	for _, seed := range []string{"", "a b", "%", "+", "é;{}", "\x00\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := unescape(url.QueryEscape(text)); got != text {
			t.Errorf("%q came back as %q", text, got)
		}
		if g, err := readQuery("filters="+url.QueryEscape(text)+"&_x", []param{filtersParam}); err != nil || g["filters"] != text {
			t.Errorf("%q came back as %q, %v", text, g["filters"], err)
		}
		unescape(text)
	})
}
