package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/api/examples"
	"github.com/orrery/orrery/shared/api/service"
	"github.com/orrery/orrery/shared/console"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/search"
)

// searchSpy records its last request and returns fixed results.
type searchSpy struct {
	mu      sync.Mutex // for the routes that ask several questions at once
	request search.Request
	finds   search.Result
}

func (h *searchSpy) Search(_ context.Context, r search.Request) (search.Result, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.request = r
	return h.finds, nil
}

func get(path string, headers ...string) examples.Message {
	lines := append([]string{"GET " + path + " HTTP/1.1", "Host: localhost"}, headers...)
	return examples.Message{Head: strings.Join(lines, "\n")}
}

func TestHeadersOfEveryAnswer(t *testing.T) {
	s := newTestServer(t)
	for _, path := range []string{
		"/", "/openapi.json", service.HealthPath, "/nothing", "/api/v4.0/data/fields", "/api/v4.0/data/logs",
	} {
		r := s.send(t, get(path))
		for name, want := range map[string]string{
			"X-Request-Id": requestID, "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
			"Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		policy := r.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", path, policy)
		}
		if strings.HasPrefix(path, "/api/") && r.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s may be stored", path)
		}
	}
	given := s.send(t, get(service.HealthPath, "X-Request-Id: from-the-proxy.1")).Header.Get("X-Request-Id")
	if given != "from-the-proxy.1" {
		t.Errorf("the id of the proxy became %q", given)
	}
	if forged := s.send(t, get(service.HealthPath, `X-Request-Id: a" b`)).Header.Get("X-Request-Id"); forged != requestID {
		t.Errorf("an invalid id became %q", forged)
	}
}

func TestHeadIsGetWithoutTheBody(t *testing.T) {
	s := newTestServer(t)
	full := s.send(t, get("/api/v4.0/data/fields"))
	head := s.send(t, examples.Message{Head: "HEAD /api/v4.0/data/fields HTTP/1.1\nHost: localhost"})
	if full.ContentLength < 1000 || head.ContentLength != full.ContentLength || len(head.body) > 0 {
		t.Errorf("GET has %d bytes, HEAD reports %d", full.ContentLength, head.ContentLength)
	}
}

func TestPageFiles(t *testing.T) {
	s := newTestServer(t)
	page := string(s.send(t, get("/api/")).body)
	if strings.Contains(page, "://") || strings.Contains(page, "<style") || strings.Contains(page, "style=") {
		t.Error("the page contains code or links that its policy forbids")
	}
	for _, part := range strings.Split(page, `"`) {
		path, relative := strings.CutPrefix(part, "../")
		if !relative {
			continue
		}
		part = path
		r := s.send(t, get("/"+part))
		if len(r.body) == 0 || r.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", part, r.Status)
		}
		again := s.send(t, get("/"+part, "If-None-Match: "+r.Header.Get("ETag")))
		if again.StatusCode != http.StatusNotModified {
			t.Errorf("%s is sent again: %s", part, again.Status)
		}
	}
}

func TestConsoleFiles(t *testing.T) {
	s := newTestServer(t)
	first := s.send(t, get("/"))
	page := string(first.body)
	if first.StatusCode != http.StatusOK || strings.Contains(page, "://") || strings.Contains(page, "<style") {
		t.Errorf("the page is %s, or has code or links that its policy forbids", first.Status)
	}
	t.Run("the page is asked for again each time, and sent again only if it changed", func(t *testing.T) {
		if got := first.Header.Get("Cache-Control"); !strings.Contains(got, "no-cache") {
			t.Errorf("Cache-Control: %s", got)
		}
		again := s.send(t, get("/", "If-None-Match: "+first.Header.Get("ETag")))
		if again.StatusCode != http.StatusNotModified {
			t.Errorf("it is sent again: %s", again.Status)
		}
	})
	t.Run("what it loads is relative, and kept for ever", func(t *testing.T) {
		parts := regexp.MustCompile(`(?:href|src)="(console/[^"]+)"`).FindAllStringSubmatch(page, -1)
		if len(parts) != 4 {
			t.Fatalf("the page loads %q, want two scripts, a style and an icon", parts)
		}
		for _, part := range parts {
			r := s.send(t, get("/"+part[1]))
			if r.StatusCode != http.StatusOK || len(r.body) == 0 ||
				r.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" {
				t.Errorf("%s: %s, Cache-Control: %s", part[1], r.Status, r.Header.Get("Cache-Control"))
			}
		}
	})
	t.Run("every file has the policy of the page, and all with a hash in their names are kept for ever", func(t *testing.T) {
		names, err := fs.Glob(console.Files, "*-????????.*")
		if err != nil || len(names) < 6 {
			t.Fatalf("the console has the files %q: %v", names, err)
		}
		for _, name := range names {
			r := s.send(t, get("/console/"+name))
			if r.StatusCode != http.StatusOK || r.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" ||
				r.Header.Get("Content-Security-Policy") != first.Header.Get("Content-Security-Policy") {
				t.Errorf("%s: %s, %v", name, r.Status, r.Header)
			}
		}
	})
	t.Run("the policy requires trusted types, and forbids everything of other hosts", func(t *testing.T) {
		const want = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
			"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
			"require-trusted-types-for 'script'; trusted-types 'none'"
		if got := first.Header.Get("Content-Security-Policy"); got != want {
			t.Errorf("Content-Security-Policy: %s", got)
		}
	})
	t.Run("a server without the console answers with a reason", func(t *testing.T) {
		without := newServer(t, func(c *Config) { c.Console = nil })
		r := without.send(t, get("/"))
		if r.StatusCode != http.StatusNotFound || !strings.Contains(string(r.body), "there is no console here") ||
			r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %s", r.Status, r.body)
		}
	})
	t.Run("the page is only at its own place", func(t *testing.T) {
		for _, path := range []string{"/console/index.html", "/console/", "/console/..%2fconsole.go", "/index.html"} {
			if got := s.send(t, get(path)).StatusCode; got != http.StatusNotFound {
				t.Errorf("%s: %d", path, got)
			}
		}
	})
	t.Run("the licences are sent", func(t *testing.T) {
		if text := string(s.send(t, get("/console/LICENSES.txt")).body); !strings.Contains(text, "MIT") {
			t.Errorf("LICENSES.txt: %s", text)
		}
	})
}

func TestPageFolder(t *testing.T) {
	s := newTestServer(t)
	r := s.send(t, get("/api"))
	if r.StatusCode != http.StatusPermanentRedirect || r.Header.Get("Location") != "api/" {
		t.Errorf("%s to %q, want a redirect relative to the stage", r.Status, r.Header.Get("Location"))
	}
	if old := s.send(t, get("/page/index.html")); old.StatusCode != http.StatusOK {
		t.Errorf("/page/index.html: %s", old.Status)
	}
}

func TestAccessLogHasNoSecrets(t *testing.T) {
	s := newTestServer(t, "keys")
	const path = `/api/v4.0/data/logs?filters=cookies["sid"]="secret1",` +
		`timestamp%20between%202026-01-01%20and%202026-01-02&_=secret2`
	s.send(t, get(path, "X-API-Key: full-key", "Cookie: secret3"))
	want := regexp.MustCompile(`^\{"level":"INFO","msg":"request","request_id":"0f5a2c417d9be386",` +
		`"method":"GET","route":"logs","path":"/api/v4.0/data/logs","address":"127\.0\.0\.1:\d+","status":200,"ms":0,` +
		`"bytes":\d+,"key":"console","key_id":"[0-9a-f]+","fingerprint":"`)
	got := s.log.String()
	if !want.MatchString(got) {
		t.Errorf("log %s", got)
	}
	for _, secret := range []string{"secret", "full-key", "sid"} {
		if strings.Contains(got, secret) {
			t.Errorf("the log contains %q: %s", secret, got)
		}
	}
}

func TestAccessLogHasTheBeginningOfALongPath(t *testing.T) {
	s := newTestServer(t)
	s.send(t, get("/"+strings.Repeat("a", 300)))
	if want := `"path":"/` + strings.Repeat("a", 199) + `…"`; !strings.Contains(s.log.String(), want) {
		t.Errorf("log %s", s.log)
	}
}

func TestCauseOfInternalErrorIsOnlyLogged(t *testing.T) {
	s := newTestServer(t, "broken engine")
	body := s.send(t, get("/api/v4.0/data/logs?filters=x")).body
	if bytes.Contains(body, []byte("checksum")) || !strings.Contains(s.log.String(), "page checksum differs") {
		t.Errorf("body %s\nlog %s", body, s.log)
	}
}

type panicSearch struct{}

func (panicSearch) Search(context.Context, search.Request) (search.Result, error) {
	panic("index out of range")
}

func TestPanicIsAnError(t *testing.T) {
	s := newServer(t, func(c *Config) { c.Search = panicSearch{} })
	r := s.send(t, get("/api/v4.0/data/logs?filters=x"))
	if body := r.body; r.StatusCode != http.StatusInternalServerError || bytes.Contains(body, []byte("index")) {
		t.Errorf("%s %s", r.Status, body)
	}
	if !strings.Contains(s.log.String(), "panic: index out of range") {
		t.Errorf("log %s", s.log)
	}
}

// disconnectSearch is a search during which the client disconnects.
type disconnectSearch struct{ leave context.CancelFunc }

func (l disconnectSearch) Search(ctx context.Context, _ search.Request) (search.Result, error) {
	l.leave()
	return search.Result{}, fault.Wrap(fault.Canceled, ctx.Err(), "the caller went away")
}

func TestDisconnectIsNotAnError(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	var log bytes.Buffer
	var h http.Handler
	newServer(t, func(c *Config) {
		c.Search, c.Log = disconnectSearch{leave}, slog.New(slog.NewJSONHandler(&log, nil))
		h = newHandler(t, *c)
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

// TestTimeoutIsAnError: after the time limit of a deployment the client still waits for an answer.
func TestTimeoutIsAnError(t *testing.T) {
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	var log bytes.Buffer
	var h http.Handler
	newServer(t, func(c *Config) {
		c.Search, c.Log = errorSearch{late.Err()}, slog.New(slog.NewJSONHandler(&log, nil))
		h = newHandler(t, *c)
	})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(late, "GET", "http://localhost/api/v4.0/data/logs?filters=x", nil))
	logged := strings.Contains(log.String(), `"status":504`) && strings.Contains(log.String(), `"failed"`)
	if w.Code != http.StatusGatewayTimeout || !logged {
		t.Errorf("status %d\nlog %s", w.Code, &log)
	}
}

// disconnectWriter is a client that disconnects after the last byte.
type disconnectWriter struct {
	*httptest.ResponseRecorder
	leave context.CancelFunc
	fail  error
}

func (c disconnectWriter) Write(p []byte) (int, error) {
	if c.fail != nil {
		return 0, c.fail
	}
	defer c.leave()
	return c.ResponseRecorder.Write(p)
}

// TestDisconnectAfterTheAnswer: the answer is logged as sent. Such requests were once logged with status 499.
func TestDisconnectAfterTheAnswer(t *testing.T) {
	for name, test := range map[string]struct {
		path string
		fail error
		want string
	}{
		"delivered":              {"/api/v4.0/data/fields", nil, `"status":200`},
		"an error is delivered":  {"/api/v4.0/data/logs", nil, `"status":422`},
		"the connection is lost": {"/api/v4.0/data/fields", errors.New("broken pipe"), `"status":499`},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			var log bytes.Buffer
			var h http.Handler
			newServer(t, func(c *Config) {
				c.Log = slog.New(slog.NewJSONHandler(&log, nil))
				h = newHandler(t, *c)
			})
			w := disconnectWriter{httptest.NewRecorder(), leave, test.fail}
			h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "http://localhost"+test.path, nil))
			if !strings.Contains(log.String(), test.want) {
				t.Errorf("log %s, want %s", &log, test.want)
			}
		})
	}
}

// TestRefusedQueriesAreWarnings: a full queue once filled the log with errors.
func TestRefusedQueriesAreWarnings(t *testing.T) {
	fullQueue := &fault.Error{Kind: fault.Unavailable, RetryAfter: time.Second, Message: "12 wait"}
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"a full queue": {fmt.Errorf("run: %w", fullQueue), `"level":"WARN"`},
		"an engine down": {
			fault.Wrap(fault.Unavailable, errors.New("connection refused"), "no engine"), `"level":"ERROR"`,
		},
		"a slow engine":   {fault.New(fault.Timeout, "25 s have passed"), `"level":"ERROR"`},
		"a broken engine": {errors.New("checksum differs"), `"level":"ERROR"`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, func(c *Config) { c.Search = errorSearch{test.err} })
			s.send(t, get("/api/v4.0/data/logs?filters=x"))
			if got := s.log.String(); !strings.Contains(got, test.want+`,"msg":"failed"`) {
				t.Errorf("log %s, want %s", got, test.want)
			}
		})
	}
}

// TestDamageIsLogged checks the event that the alarm for damaged objects counts.
func TestDamageIsLogged(t *testing.T) {
	s := newServer(t, func(c *Config) {
		c.Search = errorSearch{fault.Wrap(fault.Damaged, errors.New("object a.parquet"), "ask for another period")}
	})
	s.send(t, get("/api/v4.0/data/logs?filters=x"))
	if got := s.log.String(); !strings.Contains(got, `"level":"ERROR","msg":"damaged object"`) ||
		!strings.Contains(got, "object a.parquet") {
		t.Errorf("log %s", got)
	}
}

// TestServes: a function that serves some routes needs only their fields of Config. Other routes do not exist there.
func TestServes(t *testing.T) {
	s := newServer(t, func(c *Config) {
		c.Serves, c.Search, c.Planets, c.Page = []string{"fields", "parse"}, nil, nil, nil
	})
	for path, want := range map[string]int{
		"/api/v4.0/data/fields":           http.StatusOK,
		"/api/v4/data/fields":             http.StatusOK,
		"/api/v4.3/data/fields":           http.StatusOK,
		"/api/v4.1/data/fields":           http.StatusNotFound,
		"/api/v4.0/data/logs?filters=x":   http.StatusNotFound,
		"/api/v4.0/conf/prod/planets":     http.StatusNotFound,
		"/api/v4.0/data/timeline/parse":   http.StatusMethodNotAllowed,
		"/api/v4.0/data/timeline/parser":  http.StatusNotFound,
		"/openapi.json":                   http.StatusNotFound,
		"/":                               http.StatusNotFound,
		"/console/LICENSES.txt":           http.StatusNotFound,
		"/api":                            http.StatusNotFound,
		"/api/":                           http.StatusNotFound,
		"/page/index.html":                http.StatusNotFound,
		"/api/v4.0/conf/prod/planets/x/y": http.StatusNotFound,
	} {
		if got := s.send(t, get(path)).StatusCode; got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
}

func TestNewListsMissingFields(t *testing.T) {
	for name, test := range map[string]struct {
		config Config
		want   string
	}{
		"all routes":        {Config{}, "api: not set in Config: Search, Planets, Documents, Lists, Status, Log, Now"},
		"a route that asks": {Config{Serves: []string{"topx"}, Now: time.Now}, "api: not set in Config: Search, Log"},
		"a route for planets": {
			Config{Serves: []string{"planet-get"}, Log: slog.Default()}, "api: not set in Config: Planets, Now",
		},
	} {
		if _, err := New(test.config); err == nil || err.Error() != test.want {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// TestEvery422HasAPlace: a 422 has a place even if the error does not name a parameter.
func TestEvery422HasAPlace(t *testing.T) {
	s := newServer(t, func(c *Config) { c.Search = errorSearch{fault.New(fault.Invalid, "no")} })
	body := s.send(t, get("/api/v4.0/data/logs?filters=x")).body
	if !bytes.Contains(body, []byte(`"detail":[{"loc":["query"],"msg":"no","type":"value_error"}]`)) {
		t.Errorf("%s", body)
	}
}
