package api

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/examples"
	"github.com/orrery/orrery/shared/api/service"
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
		"a raw key, as deployed clients send it": {"Authorization: Basic full-key", 200},
		"the password of Basic":                  {basic("me:full-key"), 200},
		"a password without user":                {basic(":full-key"), 200},
		"a user without password":                {basic("full-key:"), 200},
		"a scheme in another case":               {"authorization: BEARER full-key", 200},
		"bearer":                                 {"Authorization: Bearer full-key", 200},
		"the header X-API-Key":                   {"X-API-Key: full-key", 200},
		"the key as user, with a password":       {basic("full-key:other"), 401},
		"another scheme":                         {"Authorization: Digest full-key", 401},
		"empty":                                  {"Authorization: Basic", 401},
		"wrong":                                  {"Authorization: Bearer full-ke", 401},
		"scope":                                  {"X-API-Key: read-key", 403},
		"branch":                                 {"X-API-Key: branch-key", 404},
	}
	s := newTestServer(t, "keys")
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := s.send(t, get("/api/v4.0/conf/prod/planets", test.header))
			if body := r.body; r.StatusCode != test.want {
				t.Errorf("%s, want %d\n%s", r.Status, test.want, body)
			}
			if r.StatusCode >= 400 && r.Header.Get("Content-Type") != content.JSON {
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
		head := method + " /api/v4.0" + path + " HTTP/1.1\nHost: api.example\nAuthorization: Bearer s3cret"
		r := s.send(t, examples.Message{Head: head})
		if r.StatusCode != http.StatusOK {
			t.Errorf("%s %s: %s", method, path, r.Status)
		}
	}
	r := s.send(t, get("/api/v4.0/data/fields", "Authorization: Bearer s3cre"))
	if r.StatusCode != http.StatusUnauthorized {
		t.Errorf("another key: %s", r.Status)
	}
}

// TestUnknownKeysAreLimited checks that an address cannot try many keys, and that this does not affect known ones.
func TestUnknownKeysAreLimited(t *testing.T) {
	var log bytes.Buffer
	var seconds atomic.Int64
	s := newServer(t, func(c *Config) {
		c.Keys = keys.OneKey("s3cret")
		c.Log = slog.New(slog.NewJSONHandler(&log, nil))
		c.Now = func() time.Time { return time.Unix(seconds.Load(), 0) }
	})
	ask := func(key string) reply {
		t.Helper()
		return s.send(t, get("/api/v4.0/data/fields", "X-API-Key: "+key))
	}
	ask("s3cret")
	for i := range 20 {
		if r := ask(fmt.Sprintf("guess-%d", i)); r.StatusCode != http.StatusUnauthorized {
			t.Fatalf("after %d unknown keys: %s", i, r.Status)
		}
	}
	r := ask("guess-20")
	if r.StatusCode != http.StatusTooManyRequests || r.Header.Get("Retry-After") != "60" {
		t.Errorf("after 20 unknown keys: %s, Retry-After %q", r.Status, r.Header.Get("Retry-After"))
	}
	if r := ask("s3cret"); r.StatusCode != http.StatusOK {
		t.Errorf("a known key: %s", r.Status)
	}
	seconds.Add(60)
	if r := ask("guess-21"); r.StatusCode != http.StatusUnauthorized {
		t.Errorf("a minute later: %s", r.Status)
	}
	s.Close() // a request is logged after its answer
	hash := keys.HashOf("guess-0")
	if want := fmt.Sprintf(`"unknown_key":"%x"`, hash[:4]); !strings.Contains(log.String(), want) {
		t.Errorf("the log lacks %s:\n%s", want, log.String())
	}
	if strings.Contains(log.String(), "guess") {
		t.Errorf("the log contains a key:\n%s", log.String())
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

// TestOneKnownKeyIsEnough: a known key is accepted even if looking up another value fails. If no key is known, the
// failure is an internal error.
func TestOneKnownKeyIsEnough(t *testing.T) {
	for key, want := range map[string]int{"the-key": http.StatusOK, "another": http.StatusInternalServerError} {
		a := &keySpy{fails: map[keys.Hash]bool{keys.HashOf("proxy's own"): true}, knows: keys.HashOf("the-key")}
		s := newServer(t, func(c *Config) { c.Keys = a })
		r := s.send(t, get("/api/v4.0/data/fields", "X-API-Key: proxy's own", "Authorization: Bearer "+key))
		if r.StatusCode != want {
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
		"a name of this machine":          {"GET", planets, "localhost:8080", "", false, 200},
		"an address of this machine":      {"GET", planets, "127.0.0.1", "", false, 200},
		"another address of this machine": {"GET", planets, "127.9.9.9:80", "", false, 200},
		"an IPv6 address of this machine": {"GET", planets, "[::1]:8080", "", false, 200},
		"a name below localhost":          {"GET", planets, "orrery.localhost.", "", false, 200},
		"a rebound name":                  {"GET", planets, "evil.example", "", false, 403},
		"a name that looks like it":       {"GET", planets, "localhost.evil.example", "", false, 403},
		"an address of the network":       {"GET", planets, "192.168.1.2", "", false, 403},
		"a request of the page": {
			"GET", planets, "localhost:8080", "Origin: http://localhost:8080", false, 200,
		},
		"a page of another scheme": {
			"GET", planets, "localhost:8080", "Origin: https://localhost:8080", false, 403,
		},
		"a page behind a proxy with TLS": {
			"POST", write, "api.example", "Origin: https://api.example", true, 200,
		},
		"an origin that is not http or https": {"POST", write, "api.example", "Origin: ftp://api.example", true, 403},
		"another port": {
			"GET", planets, "localhost:8080", "Origin: http://localhost:3000", false, 403,
		},
		"a page that hides its origin": {"GET", planets, "localhost", "Origin: null", false, 403},
		"a cross site request": {
			"GET", planets, "localhost", "Sec-Fetch-Site: cross-site", false, 403,
		},
		"a same origin request": {
			"GET", planets, "localhost", "Sec-Fetch-Site: same-origin", false, 200,
		},
		"a link to the console":                 {"GET", "/", "localhost", "Sec-Fetch-Site: cross-site", false, 200},
		"a link to the page":                    {"GET", "/api/", "localhost", "Sec-Fetch-Site: cross-site", false, 200},
		"a health check by address":             {"GET", service.HealthPath, "10.0.0.1", "", false, 200},
		"the page by a rebound name":            {"GET", "/", "evil.example", "", false, 403},
		"every host name is accepted with keys": {"GET", planets, "api.example", "", true, 200},
		"pages may read with keys": {
			"GET", planets, "api.example", "Sec-Fetch-Site: cross-site", true, 200,
		},
		"foreign pages may not write with keys": {
			"POST", write, "api.example", "Sec-Fetch-Site: cross-site", true, 403,
		},
		"programs may write with keys": {"POST", write, "api.example", "", true, 200},
		"options of a foreign page": {
			"OPTIONS", planets, "localhost", "Origin: https://evil.example", false, 403,
		},
		"options":                       {"OPTIONS", planets, "localhost", "", false, 204},
		"options of an unknown path":    {"OPTIONS", "/nothing", "localhost", "", false, 404},
		"head":                          {"HEAD", planets, "localhost", "", false, 200},
		"a path with two slashes":       {"GET", "/api/v4.0//data/logs", "localhost", "", false, 404},
		"a path with a dot":             {"GET", "/api/v4.0/./data/logs", "localhost", "", false, 404},
		"a path with two dots":          {"GET", "/api/v4.0/conf/../data/logs", "localhost", "", false, 404},
		"a path that ends with a slash": {"GET", "/api/v4.0/data/logs/", "localhost", "", false, 404},
		"a write with two slashes": {
			"PUT", "/api/v4.0//conf/prod/planets/__default__", "localhost", "", false, 404,
		},
		"options with two slashes":            {"OPTIONS", "//", "localhost", "", false, 404},
		"a URL without a path":                {"GET", "http://localhost", "localhost", "", false, 404},
		"an unknown path":                     {"GET", "/api/v4.0/data/topics", "localhost", "", false, 404},
		"an unknown file of the page":         {"GET", "/page/secret.js", "localhost", "", false, 404},
		"a file above the folder of the page": {"GET", "/page/..%2fapi.go", "localhost", "", false, 404},
		"a configuration with a slash":        {"GET", "/api/v4.0/conf/a%2Fb/planets", "localhost", "", false, 404},
		"a parameter of planets":              {"GET", planets + "?verbose=1", "localhost", "", false, 422},
		"a cache breaker of planets":          {"GET", planets + "?_=1", "localhost", "", false, 200},
		"a parameter of fields":               {"GET", "/api/v4.0/data/fields?limit=1", "localhost", "", false, 422},
		"a parameter of versions": {
			"GET", planets + "/__default__/versions?limit=1", "localhost", "", false, 422,
		},
		"versions of an unknown configuration": {
			"GET", "/api/v4.0/conf/none/planets/__default__/versions", "localhost", "", false, 404,
		},
		"versions of another entry":     {"GET", planets + "/other/versions/1", "localhost", "", false, 404},
		"a malformed If-Match":          {"POST", write, "localhost", "If-Match: 3", false, 422},
		"an If-None-Match other than *": {"POST", write, "localhost", `If-None-Match: "3"`, false, 422},
		"an empty If-Match":             {"POST", write, "localhost", "If-Match: ", false, 422},
		"an If-Match of commas":         {"POST", write, "localhost", "If-Match: , ,", false, 422},
		"an empty If-None-Match":        {"POST", write, "localhost", "If-None-Match: ", false, 422},
		"a weak If-Match": {
			"POST", write, "localhost", `If-Match: W/"1-90a8722882d49a18"`, false, 412,
		},
		"an If-Match of *": {"POST", write, "localhost", `If-Match: *`, false, 200},
		"version 0": {
			"POST", strings.Replace(write, "/1/", "/0/", 1), "localhost", "", false, 422,
		},
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
			r := newTestServer(t, setup...).send(t, examples.Message{Head: head})
			if body := r.body; r.StatusCode != test.want {
				t.Errorf("%s, want %d\n%s", r.Status, test.want, body)
			}
			if r.StatusCode >= 400 && r.Header.Get("Content-Type") != content.JSON {
				t.Errorf("an error of type %s", r.Header.Get("Content-Type"))
			}
		})
	}
}

// TestSavedFiltersAreShared: what one key saves, every other key of the configuration reads and replaces.
func TestSavedFiltersAreShared(t *testing.T) {
	s := newServer(t, func(c *Config) { c.Keys = testKeys })
	const path = " /api/v4.0/conf/staging/filters/slow HTTP/1.1\nHost: localhost\nX-API-Key: "
	put := func(key, text string) reply {
		t.Helper()
		return s.send(t, examples.Message{
			Head: "PUT" + path + key + "\nContent-Type: application/json", Body: `{"filters":"` + text + `"}`,
		})
	}
	for i, pair := range [][2]string{{"full-key", "branch-key"}, {"branch-key", "full-key"}} {
		text := fmt.Sprintf("status=%d", 500+i)
		if r := put(pair[0], text); r.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %s", pair[0], r.Status, r.body)
		}
		r := s.send(t, examples.Message{Head: "GET" + path + pair[1]})
		if r.StatusCode != http.StatusOK || !bytes.Contains(r.body, []byte(`"filters":"`+text+`"`)) {
			t.Errorf("%s: %s %s", pair[1], r.Status, r.body)
		}
	}
}
