package api

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/search"
)

// TestMetricsNeedAKeyForAllBranches: the figures of the process are of all branches.
func TestMetricsNeedAKeyForAllBranches(t *testing.T) {
	figures := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "up 1\n") })
	without := newServer(t, func(c *Config) { c.Metrics = figures })
	if r := without.send(t, get("/metrics")); r.StatusCode != http.StatusOK || string(r.body) != "up 1\n" {
		t.Errorf("a server without keys: %s %s", r.Status, r.body)
	}
	s := newServer(t, func(c *Config) { c.Metrics, c.Keys = figures, testKeys })
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
