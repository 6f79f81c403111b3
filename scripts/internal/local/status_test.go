package local_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/engine/trino"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir"
)

// statusOf returns the answer of /status of a product.
func statusOf(t *testing.T, product *local.Product) map[string]json.RawMessage {
	t.Helper()
	w := asked(t, product, http.MethodGet, "/status", "")
	var answer struct{ Data map[string]json.RawMessage }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %s %v", w.Code, w.Body, err)
	}
	return answer.Data
}

// expectMembers compares members of a status.
func expectMembers(t *testing.T, got map[string]json.RawMessage, want map[string]string) {
	t.Helper()
	for name, value := range want {
		if string(got[name]) != value {
			t.Errorf("%s is %s, want %s", name, got[name], value)
		}
	}
}

func TestStatusOfAFolder(t *testing.T) {
	product := openProduct(t, t.TempDir())
	expectMembers(t, statusOf(t, product), map[string]string{
		"version": `"1.2.3"`, "extent": "null", "records": "0", "objects": "0", "bytes": "0", "hours": "[]",
		"price": "null", "key": "null",
		"ingest": `{"watching":false,"last_source":null,"last_at":null,"quarantined":{"lines":0,"newest_code":null,"unreadable":null}}`,
	})
	log := `{"processing_stage":6,"timestamp":"2026-01-01T10:00:00Z"}` +
		"\n{\n" + `{"processing_stage":6,"timestamp":"2026-01-01T11:30:00Z"}` + "\n"
	options := ingest.Options{Format: "orrery"}
	if _, err := product.Store.Import(t.Context(), "a.log", strings.NewReader(log), options); err != nil {
		t.Fatal(err)
	}
	if _, err := datadir.NewWatcher(product.Store, options); err != nil {
		t.Fatal(err)
	}
	got := statusOf(t, product)
	expectMembers(t, got, map[string]string{
		"extent":  `{"from":"2026-01-01T10:00:00Z","to":"2026-01-01T11:30:00Z"}`,
		"records": "2", "objects": "2",
		"complete_through": "null", // the watcher has not seen its folder yet
	})
	if !strings.Contains(string(got["features"]), `"values"`) {
		t.Errorf("features %s", got["features"])
	}
	var ingested struct {
		Watching    bool
		LastSource  string    `json:"last_source"`
		LastAt      time.Time `json:"last_at"`
		Quarantined struct {
			Lines int
			Code  string `json:"newest_code"`
		}
	}
	if err := json.Unmarshal(got["ingest"], &ingested); err != nil {
		t.Fatal(err)
	}
	if !ingested.Watching || ingested.LastSource != "a.log" || ingested.LastAt.IsZero() ||
		ingested.Quarantined.Lines != 1 || ingested.Quarantined.Code != "bad_json" {
		t.Errorf("%s", got["ingest"])
	}
	var limits struct {
		Wait  float64        `json:"wait_seconds"`
		Limit map[string]int `json:"limit"`
	}
	if err := json.Unmarshal(got["limits"], &limits); err != nil || limits.Wait != 60 || limits.Limit["logs"] != 2500 {
		t.Errorf("%s %v", got["limits"], err)
	}
}

// TestStatusOfACluster: what a cluster does not know is null, and its only statement is that for the extent.
func TestStatusOfACluster(t *testing.T) {
	var statements []string
	cluster := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		statements = append(statements, r.Method)
		fmt.Fprint(w, `{"id":"q","columns":[{"name":"a"},{"name":"b"},{"name":"c"}],`+
			`"data":[[1767261600000,1767261601500,7]],"stats":{"state":"FINISHED"}}`)
	}))
	t.Cleanup(cluster.Close)
	client, err := trino.Connect(trino.Config{
		URL: cluster.URL, Catalog: "hive", Schema: "traffic", User: "tester", HTTP: cluster.Client(), Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	product, err := local.OpenTrino(t.Context(), t.TempDir(), client)
	got := statusOf(t, closeAfter(t, product, err))
	expectMembers(t, got, map[string]string{
		"engine": `"trino"`, "extent": `{"from":"2026-01-01T10:00:00Z","to":"2026-01-01T10:00:01.5Z"}`,
		"complete_through": "null", "records": "null", "objects": "null", "bytes": "null", "hours": "null",
		"ingest": "null", "price": "null",
	})
	if len(statements) != 1 {
		t.Errorf("the cluster got %d requests", len(statements))
	}
}
