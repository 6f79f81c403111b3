package local_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/api/metatest"
	"github.com/orrery/orrery/shared/ingest"
)

// TestAnswersHaveTheMembersOfMeta: the answer of every data route of one machine has the members that the table in the
// README of package api lists for it, and the bytes are within the estimate.
func TestAnswersHaveTheMembersOfMeta(t *testing.T) {
	product, err := local.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := product.Close(); err != nil {
			t.Error(err)
		}
	}()
	log := strings.NewReader(`{"timestamp":"2026-01-01T10:00:00Z","country":"Germany","status":200}` + "\n" +
		`{"timestamp":"2026-01-01T11:00:00Z","country":"France","status":403}` + "\n")
	if _, err := product.Store.Import(t.Context(), "a.log", log, ingest.Options{Format: "orrery"}); err != nil {
		t.Fatal(err)
	}
	handler, err := product.Handler(local.ServeOptions{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	members := metatest.Members(t, filepath.Join("..", "..", "..", "shared", "api", "README.md"))
	filters := url.QueryEscape("timestamp between 2026-01-01 and 2026-01-02")
	for _, c := range []struct{ route, query string }{
		{"topx", ""},
		{"topx", "&figures=percentiles"},
		{"stats", ""},
		{"stats", "&figures=percentiles&group_by=country"},
		{"timeline", ""},
		{"facets", ""},
		{"histogram", ""},
		{"diff", "&select=status%3D403"},
		{"diff", "&against=previous"},
		{"logs", ""},
		{"logs", "&limit=1"},
		{"values", "&field=country"},
	} {
		t.Run(c.route+c.query, func(t *testing.T) {
			target := "http://localhost/api/v4.0/data/" + c.route + "?filters=" + filters + c.query
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
			metatest.Check(t, members, c.route, metatest.OneMachine, w.Body.Bytes())
			if c.route != "values" {
				metatest.CheckEstimate(t, w.Body.Bytes())
			}
		})
	}
}
