package api

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/keys"
)

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
			if r.StatusCode >= 400 && r.Header.Get("Content-Type") != jsonType {
				t.Errorf("an error of type %s", r.Header.Get("Content-Type"))
			}
		})
	}
}

func TestOneKeyAllowsEverything(t *testing.T) {
	s := newServer(t, func(c *Config) { c.Keys = keys.OneKey("s3cret") })
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

type brokenKeys struct{}

func (brokenKeys) Find(context.Context, keys.Hash) (keys.Caller, bool, error) {
	return keys.Caller{}, false, errors.New("no such table")
}

func TestFailingKeyStoreIsAnInternalError(t *testing.T) {
	s := newServer(t, func(c *Config) { c.Keys = brokenKeys{} })
	if r := s.send(t, get("/api/v4.0/data/fields", "X-API-Key: k")); r.StatusCode != http.StatusInternalServerError {
		t.Error(r.Status)
	}
}

// keySpy records the hashes that it is asked to find.
type keySpy struct {
	hashes []keys.Hash
	fails  map[keys.Hash]bool
	knows  keys.Hash
}

func (a *keySpy) Find(_ context.Context, hash keys.Hash) (keys.Caller, bool, error) {
	a.hashes = append(a.hashes, hash)
	if a.fails[hash] {
		return keys.Caller{}, false, errors.New("timeout")
	}
	return keys.Caller{Scopes: []keys.Scope{keys.DataRead}}, hash == a.knows, nil
}

// TestLikeliestKeyIsLookedUpFirst: every unknown key costs a request to the store.
func TestLikeliestKeyIsLookedUpFirst(t *testing.T) {
	pair := base64.StdEncoding.EncodeToString([]byte(":the-key"))
	for header, want := range map[string][]string{
		"Authorization: Basic " + pair:                    {"the-key", pair},
		"Authorization: Basic the-key":                    {"the-key"},
		"Authorization: Basic dGhlLWtleQ==":               {"dGhlLWtleQ=="}, // a raw key that is base64, too
		"Authorization: Bearer the-key\nX-API-Key: other": {"other", "the-key"},
	} {
		a := &keySpy{}
		newServer(t, func(c *Config) { c.Keys = a }).send(t, get("/api/v4.0/data/fields", header))
		var hashes []keys.Hash
		for _, key := range want {
			hashes = append(hashes, keys.HashOf(key))
		}
		if diff := cmp.Diff(hashes, a.hashes); diff != "" {
			t.Errorf("%s (-want +got)\n%s", header, diff)
		}
	}
}

// TestOneKnownKeyIsEnough even if looking up another value fails. If no key is known, the failure is an internal error.
func TestOneKnownKeyIsEnough(t *testing.T) {
	for key, want := range map[string]int{"the-key": http.StatusOK, "another": http.StatusInternalServerError} {
		a := &keySpy{fails: map[keys.Hash]bool{keys.HashOf("proxy's own"): true}, knows: keys.HashOf("the-key")}
		s := newServer(t, func(c *Config) { c.Keys = a })
		if r := s.send(t, get("/api/v4.0/data/fields", "X-API-Key: proxy's own", "Authorization: Bearer "+key)); r.StatusCode != want {
			t.Errorf("%s: %s, want %d", key, r.Status, want)
		}
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
		"a_page_of_another_scheme":        {"GET", planets, "localhost:8080", "Origin: https://localhost:8080", false, 403},
		"behind_a_proxy_with_TLS":         {"POST", write, "api.example", "Origin: https://api.example", true, 200},
		"a_page_of_no_web_scheme":         {"POST", write, "api.example", "Origin: ftp://api.example", true, 403},
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
		"a_path_with_two_slashes":         {"GET", "/api/v4.0//data/logs", "localhost", "", false, 404},
		"a_path_with_a_dot":               {"GET", "/api/v4.0/./data/logs", "localhost", "", false, 404},
		"a_path_with_two_dots":            {"GET", "/api/v4.0/conf/../data/logs", "localhost", "", false, 404},
		"a_path_that_ends_with_a_slash":   {"GET", "/api/v4.0/data/logs/", "localhost", "", false, 404},
		"a_write_with_two_slashes":        {"PUT", "/api/v4.0//conf/prod/planets/__default__", "localhost", "", false, 404},
		"options_with_two_slashes":        {"OPTIONS", "//", "localhost", "", false, 404},
		"a_URL_without_path":              {"GET", "http://localhost", "localhost", "", false, 404},
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
		"an_empty_If_Match":               {"POST", write, "localhost", "If-Match: ", false, 422},
		"an_If_Match_of_commas":           {"POST", write, "localhost", "If-Match: , ,", false, 422},
		"an_empty_If_None_Match":          {"POST", write, "localhost", "If-None-Match: ", false, 422},
		"a_weak_If_Match":                 {"POST", write, "localhost", `If-Match: W/"1-90a8722882d49a18"`, false, 412},
		"any_If_Match":                    {"POST", write, "localhost", `If-Match: *`, false, 200},
		"a_version_that_is_no_number":     {"POST", strings.Replace(write, "/1/", "/0/", 1), "localhost", "", false, 422},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			setup := []string{}
			header := test.header
			if test.keys {
				setup = append(setup, "keys")
				header = strings.TrimPrefix(header+"\nX-API-Key: full-key", "\n")
			}
			head := test.method + " " + test.path + " HTTP/1.1\nHost: " + test.host
			if header != "" {
				head += "\n" + header
			}
			r := newTestServer(t, setup...).send(t, message{head: head})
			if body := r.body; r.StatusCode != test.want {
				t.Errorf("%s, want %d\n%s", r.Status, test.want, body)
			}
			if r.StatusCode >= 400 && r.Header.Get("Content-Type") != jsonType {
				t.Errorf("an error of type %s", r.Header.Get("Content-Type"))
			}
		})
	}
}
