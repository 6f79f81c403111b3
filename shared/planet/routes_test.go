package planet_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/api/problem"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/planet/planettest"
	"github.com/orrery/orrery/shared/status"
	"github.com/orrery/orrery/shared/table/tabletest"
	"github.com/orrery/orrery/shared/testkit/faulttest"
	"github.com/orrery/orrery/shared/valuelist"
)

// noSearch, noDocuments, noLists and noStatus are parts of a server that gets requests for planets only.
type (
	noSearch    struct{ answering.Searcher }
	noDocuments struct{ document.Store }
	noLists     struct{ valuelist.Objects }
	noStatus    struct{ status.Source }
)

func at() time.Time { return planettest.At }

// deployment is the HTTP API over a table with keys and planets, and a network between them that can fail.
type deployment struct {
	t       *testing.T
	memory  *tabletest.Memory
	honest  document.Store
	secret  string
	log     bytes.Buffer
	handler http.Handler
}

// deploy creates a table with a key and two versions of configuration c.
func deploy(t *testing.T) *deployment {
	t.Helper()
	memory := &tabletest.Memory{}
	d := &deployment{t: t, memory: memory, honest: document.Over(memory)}
	grant := keys.Grant{Name: "console", Scopes: keys.Scopes()}
	var err error
	if d.secret, _, err = keys.Issue(t.Context(), keys.Over(memory), grant, planettest.At); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"first", "second"} {
		v := planettest.Version(t, i+1, name, "key")
		if err := d.honest.Append(t.Context(), planet.DocumentOf("c"), v); err != nil {
			t.Fatal(err)
		}
	}
	d.harm(faulttest.Never)
	return d
}

// harm replaces the API by a new instance, with an empty cache of keys, on a network that follows the script.
func (d *deployment) harm(script faulttest.Script) {
	d.through(&faulttest.Transport{Base: tabletest.Calls{}, Script: script})
}

func (d *deployment) through(network http.RoundTripper) {
	remote := tabletest.Remote{Table: d.memory, Network: network}
	d.log.Reset()
	handler, err := api.New(api.Config{
		Search: noSearch{}, Planets: planet.Over(document.Over(remote), at), Documents: noDocuments{}, Lists: noLists{}, Status: noStatus{},
		Keys: keys.NewCache(keys.Over(remote), at), Log: slog.New(slog.NewJSONHandler(&d.log, nil)), Now: at,
	})
	if err != nil {
		d.t.Fatal(err)
	}
	d.handler = handler
}

// do sends a request to a route of configuration c. If body is empty, the request has no body.
func (d *deployment) do(ctx context.Context, method, path, body string, header ...string) *httptest.ResponseRecorder {
	url := "http://api.example/api/v4.0/conf/c/planets" + path
	r := httptest.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+d.secret)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, r)
	return w
}

// checkRefusal checks the format of an error, and that it does not reveal the implementation.
func checkRefusal(t *testing.T, w *httptest.ResponseRecorder, status int) {
	t.Helper()
	var e problem.Error
	err := json.Unmarshal(w.Body.Bytes(), &e)
	if err != nil || w.Code != status || e.Code != status || e.RequestID == "" {
		t.Errorf("status %d, want %d, %v: %s", w.Code, status, err, w.Body)
	}
	if w.Header().Get("Retry-After") == "" {
		t.Error("the answer has no Retry-After")
	}
	for _, secret := range []string{"ynamo", "orrery-test", "fault", "planet#", "http"} {
		if strings.Contains(w.Body.String(), secret) {
			t.Errorf("the answer contains %q: %s", secret, w.Body)
		}
	}
}

func body(t *testing.T, name string) string {
	t.Helper()
	return string(planettest.Settings(t, name).JSON())
}

// TestPlanetRoutesUnderFaults: the n-th request to the table fails, for every n, and then all fail. Answers are correct
// or have status 503, and accepted writes are stored exactly once.
func TestPlanetRoutesUnderFaults(t *testing.T) {
	routes := map[string]func(d *deployment) *httptest.ResponseRecorder{
		"get": func(d *deployment) *httptest.ResponseRecorder { return d.do(t.Context(), "GET", "", "") },
		"put": func(d *deployment) *httptest.ResponseRecorder {
			return d.do(t.Context(), "PUT", "/__default__", body(t, "third"))
		},
		"versions": func(d *deployment) *httptest.ResponseRecorder {
			return d.do(t.Context(), "GET", "/__default__/versions", "")
		},
		"version": func(d *deployment) *httptest.ResponseRecorder {
			return d.do(t.Context(), "GET", "/__default__/versions/1", "")
		},
		"restore": func(d *deployment) *httptest.ResponseRecorder {
			return d.do(t.Context(), "POST", "/__default__/versions/1/restore", "")
		},
		"careful put": func(d *deployment) *httptest.ResponseRecorder {
			second := planettest.Version(t, 2, "second", "key")
			return d.do(t.Context(), "PUT", "/__default__", body(t, "third"), "If-Match", second.ETag)
		},
	}
	for name, ask := range routes {
		t.Run(name, func(t *testing.T) {
			honest := deploy(t)
			network := &faulttest.Transport{Base: tabletest.Calls{}, Script: faulttest.Never}
			honest.through(network)
			want := ask(honest)
			if want.Code != http.StatusOK {
				t.Fatalf("without faults: %d %s", want.Code, want.Body)
			}
			for n := range network.Requests() {
				for _, f := range tabletest.Survivable {
					d := deploy(t)
					d.harm(faulttest.At(n, f))
					got := ask(d)
					if got.Code != http.StatusOK || got.Body.String() != want.Body.String() {
						t.Errorf("request %d with fault %d: %d %s, want %s", n, f, got.Code, got.Body, want.Body)
					}
					if etag := want.Header().Get("ETag"); got.Header().Get("ETag") != etag {
						t.Errorf("request %d with fault %d: ETag %q, want %q", n, f, got.Header().Get("ETag"), etag)
					}
					d.checkVersions(len(honest.versions()))
				}
			}
			for _, f := range tabletest.Survivable[:len(tabletest.Survivable)-1] { // all but Duplicate, which changes no answer
				d := deploy(t)
				d.harm(faulttest.From(0, f))
				checkRefusal(t, ask(d), http.StatusServiceUnavailable)
				if !strings.Contains(d.log.String(), `"msg":"failed"`) {
					t.Errorf("the cause of fault %d is not in the log: %s", f, &d.log)
				}
				d.checkVersions(2)
			}
		})
	}
}

func (d *deployment) versions() []document.Info {
	d.t.Helper()
	list, err := d.honest.Versions(context.Background(), planet.DocumentOf("c"))
	if err != nil {
		d.t.Fatal(err)
	}
	return list
}

func (d *deployment) checkVersions(want int) {
	d.t.Helper()
	if got := len(d.versions()); got != want {
		d.t.Errorf("%d versions, want %d", got, want)
	}
}

// TestPlanetRoutesTimeOut: after the timeout of the deployment the answer is 504, and the log has the cause.
func TestPlanetRoutesTimeOut(t *testing.T) {
	d := deploy(t)
	for name, network := range map[string]http.RoundTripper{
		"the keys hang":    tabletest.Hanging{},
		"the planets hang": hangingPlanets{},
	} {
		t.Run(name, func(t *testing.T) {
			d.through(network)
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			checkRefusal(t, d.do(ctx, "PUT", "/__default__", body(t, "third")), http.StatusGatewayTimeout)
			for _, part := range []string{`"status":504`, `"msg":"failed"`} {
				if !strings.Contains(d.log.String(), part) {
					t.Errorf("%s is not in the log: %s", part, &d.log)
				}
			}
			d.checkVersions(2)
		})
	}
}

// hangingPlanets is a network with responses for keys only.
type hangingPlanets struct{}

func (hangingPlanets) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".Get") {
		return tabletest.Calls{}.RoundTrip(r)
	}
	return tabletest.Hanging{}.RoundTrip(r)
}
