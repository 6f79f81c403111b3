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

// cluster is a Trino that plays a script: each answer once, in order, whatever is asked. A string is a page's JSON, in
// which NEXT is an address of the cluster's; an int is a status without a page.
type cluster struct {
	*httptest.Server
	mu       sync.Mutex
	script   []any
	asked    []string // "POST SELECT …", "GET", "DELETE"
	headers  []http.Header
	waits    []time.Duration
	now      time.Time
	onAnswer func(n int)
}

func play(t *testing.T, script ...any) *cluster {
	c := &cluster{script: script, now: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	c.asked = append(c.asked, strings.TrimSpace(r.Method+" "+string(body)))
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
		c.onAnswer(len(c.asked))
	}
	switch next := next.(type) {
	case int:
		w.WriteHeader(next)
	case string:
		fmt.Fprint(w, strings.ReplaceAll(next, "NEXT", c.URL+"/v1/statement/executing/q/"+fmt.Sprint(len(c.asked))))
	}
}

// client connects to the cluster; waits are noted, not waited.
func (c *cluster) client(t *testing.T) *trino.Client {
	t.Helper()
	client, err := trino.Connect(trino.Config{
		URL: c.URL, Catalog: "hive", Schema: "traffic", User: "tester", HTTP: c.Client(),
		Now: func() time.Time { return c.now },
		Sleep: func(ctx context.Context, d time.Duration) error {
			c.waits = append(c.waits, d)
			return ctx.Err()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// count asks for all records of three hours.
func (c *cluster) count(ctx context.Context, t *testing.T, shape query.Shape) (query.Answer, engine.Cost, error) {
	t.Helper()
	return trino.New(c.client(t), always(0)).Run(ctx, bind(t, "timestamp between 2026-01-01 23:00 and 2026-01-02 01:00", shape))
}

// always is a state that never changes: compaction has come to that hour.
type always lake.Partition

func (a always) State(context.Context) (engine.State, error) {
	return engine.State{Watermark: lake.Partition(a), Version: 1}, nil
}

var (
	statsColumns = strings.Fields("segment hostname requests bandwidth time_us timed")
	topXColumns  = strings.Fields("label key requests blocked bots challenges human monitored bytes_sent request_length " +
		"origin_count origin_sum origin_min origin_max svc_count svc_sum svc_min svc_max total_count total_sum total_min total_max " +
		"first_asn first_country first_organization")
)

// found is a page of a stats result.
func found(next string, rows ...[]any) string { return page(statsColumns, next, rows) }

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

// broken is a page of a failed statement.
func broken(name, kind string) string {
	return fmt.Sprintf(`{"id":"q1","error":{"message":"it went wrong","errorName":%q,"errorType":%q}}`, name, kind)
}

const queued = `{"id":"q1","nextUri":"NEXT","stats":{"state":"QUEUED"}}`
