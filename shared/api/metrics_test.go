package api

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/search"
)

// someMetrics answers with lines that package metrics of the command prints; a test there compares them.
func someMetrics(t testing.TB) http.Handler {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "metrics.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8; escaping=underscores")
		_, _ = w.Write(text)
	})
}

// routesWithMetrics returns the table of routes of a server with metrics, but without reports.
func routesWithMetrics() []route.Route {
	return (&server{Config: Config{Metrics: http.NotFoundHandler()}}).routes()
}

// TestMetricsNeedAKeyForAllBranches: the figures of the process are of all branches.
func TestMetricsNeedAKeyForAllBranches(t *testing.T) {
	if r := newTestServer(t, "metrics").send(t, get("/metrics")); r.StatusCode != http.StatusOK {
		t.Errorf("a server without keys: %s %s", r.Status, r.body)
	}
	s := newTestServer(t, "metrics", "keys")
	for key, want := range map[string]int{
		"full-key": http.StatusOK, "read-key": http.StatusOK,
		"branch-key": http.StatusForbidden, "unknown": http.StatusUnauthorized, "": http.StatusUnauthorized,
	} {
		if r := s.send(t, get("/metrics", "x-api-key: "+key)); r.StatusCode != want {
			t.Errorf("key %q: %s, want %d", key, r.Status, want)
		}
	}
	if r := newTestServer(t).send(t, get("/metrics")); r.StatusCode != http.StatusNotFound {
		t.Errorf("without metrics: %s", r.Status)
	}
}

// TestDocumentOfMetrics: the OpenAPI document has the route if the server has it.
func TestDocumentOfMetrics(t *testing.T) {
	for has, s := range map[bool]*testServer{true: newTestServer(t, "metrics"), false: newTestServer(t)} {
		body := s.send(t, get("/openapi.json")).body
		document, err := openapi3.NewLoader().LoadFromData(body)
		if err != nil {
			t.Fatal(err)
		}
		found := document.Paths.Value("/metrics")
		if (found != nil) != has {
			t.Fatalf("a server with metrics %v: the document has the route: %v", has, found != nil)
		}
		if has && found.Get.Responses.Value("200").Value.Content[content.Text] == nil {
			t.Error("the answer is not text")
		}
	}
}

// timed is a search whose answers report their cost.
type timed struct{}

func (timed) Search(context.Context, search.Request) (search.Result, error) {
	return search.Result{Meta: search.Meta{EngineMS: 1500, BytesScanned: 4096}}, nil
}

// TestObservations: every request is observed once, with the cost of its query.
func TestObservations(t *testing.T) {
	var got []Observation
	s := newServer(t, func(c *Config) {
		c.Search, c.Observe = timed{}, func(o Observation) { got = append(got, o) }
	})
	data := s.send(t, get("/api/v4.0/data/stats?filters=x"))
	wrong := s.send(t, get("/nothing"))
	s.Close()
	want := []Observation{
		{"stats", 200, 0, int64(len(data.body)), 1500 * time.Millisecond, 4096},
		{"none", 404, 0, int64(len(wrong.body)), 0, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("observations (-want +got):\n%s", diff)
	}
}
