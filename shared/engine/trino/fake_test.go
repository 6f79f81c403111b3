package trino_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/trino"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// cluster is a fake Trino that answers each request with the next element of a script. A string is the JSON of a page,
// in which NEXT is replaced by an address of the cluster. An int is a status without a page.
type cluster struct {
	*httptest.Server
	mu       sync.Mutex
	script   []any
	requests []string // "POST SELECT …", "GET", "DELETE"
	headers  []http.Header
	pauses   []time.Duration
	now      time.Time
	onAnswer func(n int) // called before answer n, counted from 1; may be nil
}

func newCluster(t *testing.T, script ...any) *cluster {
	c := &cluster{script: script, now: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	c.requests = append(c.requests, strings.TrimSpace(r.Method+" "+string(body)))
	c.headers = append(c.headers, r.Header)
	if r.Method == http.MethodDelete {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if len(c.script) == 0 {
		http.Error(w, "the script has ended", http.StatusGone)
		return
	}
	next := c.script[0]
	c.script = c.script[1:]
	if c.onAnswer != nil {
		c.onAnswer(len(c.requests))
	}
	switch next := next.(type) {
	case int:
		w.WriteHeader(next)
	case string:
		address := fmt.Sprintf("%s/v1/statement/executing/q/%d", c.URL, len(c.requests))
		fmt.Fprint(w, strings.ReplaceAll(next, "NEXT", address))
	}
}

// client connects to the cluster. Its Sleep records the pauses and does not wait.
func (c *cluster) client(t *testing.T) *trino.Client {
	t.Helper()
	client, err := trino.Connect(trino.Config{
		URL: c.URL, Catalog: "hive", Schema: "traffic", User: "tester", HTTP: c.Client(),
		Now: func() time.Time { return c.now },
		Sleep: func(ctx context.Context, d time.Duration) error {
			c.pauses = append(c.pauses, d)
			return ctx.Err()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

const threeHours = "timestamp between 2026-01-01 23:00 and 2026-01-02 01:00"

// run runs a query of a shape for all records of three hours.
func (c *cluster) run(ctx context.Context, t *testing.T, shape query.Shape) (query.Answer, engine.Cost, error) {
	t.Helper()
	return trino.New(c.client(t), fixedWatermark(0)).Run(ctx, bind(t, threeHours, shape))
}

// fixedWatermark returns states of the lake with a watermark that does not move.
type fixedWatermark lake.Partition

func (w fixedWatermark) State(context.Context) (engine.State, error) {
	return engine.State{Watermark: lake.Partition(w), Version: 1}, nil
}

var (
	statsColumns = strings.Fields("segment hostname requests bandwidth time_us timed")
	topXColumns  = strings.Fields("label key requests blocked bots challenges human monitored " +
		"bytes_sent request_length origin_count origin_sum origin_min origin_max svc_count svc_sum svc_min svc_max " +
		"total_count total_sum total_min total_max first_asn first_country first_organization")
)

// statsPage returns a page of a stats result.
func statsPage(next string, rows ...[]any) string { return page(statsColumns, next, rows) }

func page(names []string, next string, rows [][]any) string {
	var columns []map[string]string
	for _, name := range names {
		columns = append(columns, map[string]string{"name": name})
	}
	p := map[string]any{"id": "q1", "columns": columns, "data": rows, "stats": map[string]any{
		"queuedTimeMillis": 100, "elapsedTimeMillis": 350, "processedRows": 7, "physicalInputBytes": 1234,
	}}
	if next != "" {
		p["nextUri"] = next
	}
	text, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// errorPage returns the page of a failed statement.
func errorPage(name, kind string) string {
	return fmt.Sprintf(`{"id":"q1","error":{"message":"it went wrong","errorName":%q,"errorType":%q}}`, name, kind)
}

const queued = `{"id":"q1","nextUri":"NEXT","stats":{"state":"QUEUED"}}`
