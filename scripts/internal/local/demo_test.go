package local_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/api/metatest"
	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir"
)

// requests asks for the statistics of a day and returns the number of requests and whether it is the demo.
func requests(t *testing.T, product *local.Product) (n int, demo bool) {
	t.Helper()
	members := metatest.Members(t, filepath.Join("..", "..", "..", "shared", "api", "README.md"))
	const day = "timestamp between 2026-01-01 and 2026-01-01 23:59:59.999"
	w := askedData(t, product, "stats", day, "&segment=1d")
	metatest.Check(t, members, "stats", metatest.OneMachine, w.Body.Bytes())
	var answer struct {
		Data struct {
			Results []struct {
				Requests int `json:"num_of_requests"`
			}
		}
		Meta struct{ Demo bool }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || len(answer.Data.Results) != 1 {
		t.Fatalf("%v: %s", err, w.Body)
	}
	w = askedData(t, product, "stats", day, "&segment=1d&format=csv")
	if got := w.Header().Get("X-Orrery-Demo"); w.Code != http.StatusOK || (got == "true") != answer.Meta.Demo {
		t.Errorf("as CSV: status %d, X-Orrery-Demo %q, but meta has demo %v", w.Code, got, answer.Meta.Demo)
	}
	return answer.Data.Results[0].Requests, answer.Meta.Demo
}

// TestFirstImportRemovesTheDemoDay: answers from the demo say so, in every process, until any process imports a log.
func TestFirstImportRemovesTheDemoDay(t *testing.T) {
	folder := t.TempDir()
	server := openProduct(t, folder)
	if n, demo := requests(t, server); n != 0 || demo {
		t.Errorf("without records: %d requests, demo %v", n, demo)
	}
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	err := server.MakeDemo(t.Context(), func(store *datadir.Store) error {
		records := gen.New(gen.Options{Records: 500, Seed: 1, From: from, To: from.AddDate(0, 0, 1)})
		_, err := store.Import(t.Context(), "demo-day", records, ingest.Options{Format: "orrery"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	other := openProduct(t, folder)
	for name, product := range map[string]*local.Product{"server": server, "another process": other} {
		if n, demo := requests(t, product); n != 500 || !demo {
			t.Errorf("%s: %d requests, demo %v", name, n, demo)
		}
	}
	for _, product := range []*local.Product{server, other} {
		expectMembers(t, statusOf(t, product), map[string]string{
			"demo": "true", "records": "500",
			"ingest": `{"watching":false,"last_source":null,"last_at":null,` +
				`"quarantined":{"lines":0,"newest_code":null,"unreadable":null}}`,
		})
		expectMetric(t, product, "orrery_demo_day 1")
	}
	for _, c := range everyRoute {
		for _, query := range []string{c.query, c.query + "&dry_run=true"} {
			const day = "timestamp between 2026-01-01 and 2026-01-01 23:59:59.999"
			w := askedData(t, server, c.route, day, query)
			if m := metaOf(t, w.Body.Bytes()); string(m["demo"]) != "true" {
				t.Errorf("%s%s: the answer does not say that it is of the demo: %s", c.route, query, w.Body)
			}
		}
	}
	importLog(t, other, "a.log", `{"processing_stage":6,"timestamp":"2026-01-01T10:00:00Z"}`+"\n")
	for name, product := range map[string]*local.Product{"server": server, "another process": other} {
		if n, demo := requests(t, product); n != 1 || demo {
			t.Errorf("%s, after an import: %d requests, demo %v", name, n, demo)
		}
	}
	expectMembers(t, statusOf(t, server), map[string]string{"demo": "false", "records": "1"})
	expectMetric(t, server, "orrery_demo_day 0")
	if _, err := os.Stat(other.Store.DemoDir()); !os.IsNotExist(err) {
		t.Errorf("the folder of the demo: %v", err)
	}
}

// expectMetric checks that the metrics of a product have a line.
func expectMetric(t *testing.T, product *local.Product, line string) {
	t.Helper()
	w := httptest.NewRecorder()
	product.Metrics().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if !strings.Contains(w.Body.String(), "\n"+line+"\n") {
		t.Errorf("the metrics lack %q", line)
	}
}

func TestAnswersWithoutDemoDay(t *testing.T) {
	folder := t.TempDir()
	product := openProduct(t, folder)
	err := product.MakeDemo(t.Context(), func(store *datadir.Store) error {
		log := strings.NewReader(`{"processing_stage":6,"timestamp":"2026-01-01T10:00:00Z"}` + "\n")
		_, err := store.Import(t.Context(), "demo-day", log, ingest.Options{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	product.WithoutDemo()
	if n, demo := requests(t, product); n != 0 || demo {
		t.Errorf("%d requests, demo %v", n, demo)
	}
}

// TestFirstImportLeavesOtherFolders: a folder named demo that has no demo is not removed.
func TestFirstImportLeavesOtherFolders(t *testing.T) {
	product := openProduct(t, t.TempDir())
	file := filepath.Join(product.Store.DemoDir(), "access.log")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"processing_stage":6,"timestamp":"2026-01-01T10:00:00Z"}`+"\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	importLog(t, product, "a.log", `{"processing_stage":6,"timestamp":"2026-01-01T10:00:00Z"}`+"\n")
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}
