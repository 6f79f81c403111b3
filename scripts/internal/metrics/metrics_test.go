package metrics

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/engine/scan"
)

var now = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// source returns a source of a busy server whose newest record is a minute old.
func source() Source {
	return Source{
		Load: func() (running, waiting int) { return 2, 3 },
		Freshness: func(context.Context) (newest, complete time.Time, err error) {
			return now.Add(-time.Minute), now.Add(-90 * time.Second), nil
		},
		Partials: func() scan.PartialCounts { return scan.PartialCounts{Reused: 22, Counted: 26, Bytes: 4096} },
		Demo:     func(context.Context) (bool, error) { return true, nil },
		Now:      func() time.Time { return now },
	}
}

// scrape reads the metrics as Prometheus does.
func scrape(t *testing.T, m *Metrics) map[string]*dto.MetricFamily {
	t.Helper()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// values returns the values of a metric by its labels; of a histogram, the number of observations.
func values(family *dto.MetricFamily) map[string]float64 {
	all := map[string]float64{}
	for _, m := range family.GetMetric() {
		var labels []string
		for _, l := range m.GetLabel() {
			labels = append(labels, l.GetValue())
		}
		value := m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		all[strings.Join(labels, " ")] = value
	}
	return all
}

func TestRequestsAreCounted(t *testing.T) {
	m := New(source())
	for _, o := range []api.Observation{
		{Route: "logs", Status: 200, Elapsed: 20 * time.Millisecond, Sent: 100, Engine: 1500 * time.Millisecond, Scanned: 4096},
		{Route: "logs", Status: 200, Elapsed: 3 * time.Second, Sent: 50, Engine: 500 * time.Millisecond, Scanned: 4},
		{Route: "logs", Status: 499, Elapsed: time.Second},
		{Route: "none", Status: 404, Sent: 7},
	} {
		m.Observe(o)
	}
	got := scrape(t, m)
	for name, want := range map[string]map[string]float64{
		"orrery_http_requests_total":           {"logs 2xx": 2, "logs 4xx": 1, "none 4xx": 1},
		"orrery_http_request_duration_seconds": {"logs": 3, "none": 1},
		"orrery_http_response_bytes_total":     {"logs": 150, "none": 7},
		"orrery_engine_seconds_total":          {"logs": 2},
		"orrery_engine_scanned_bytes_total":    {"logs": 4100},
		"orrery_queries_running":               {"": 2},
		"orrery_queries_waiting":               {"": 3},
		"orrery_newest_record_age_seconds":     {"": 60},
		"orrery_complete_through_age_seconds":  {"": 90},
		"orrery_demo_day":                      {"": 1},
		"orrery_freshness_failures_total":      {"": 0},
		"orrery_row_groups_read_total":         {"": 26},
		"orrery_row_groups_reused_total":       {"": 22},
		"orrery_kept_figures_bytes":            {"": 4096},
	} {
		if diff := cmp.Diff(want, values(got[name])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	logs := got["orrery_http_request_duration_seconds"].GetMetric()[0].GetHistogram()
	for _, b := range logs.GetBucket() {
		want := map[bool]uint64{true: 1}[b.GetUpperBound() >= .025]
		if b.GetUpperBound() >= 1 {
			want = 2
		}
		if b.GetUpperBound() >= 5 {
			want = 3
		}
		if b.GetCumulativeCount() != want {
			t.Errorf("%d requests of at most %v s, want %d", b.GetCumulativeCount(), b.GetUpperBound(), want)
		}
	}
}

func TestFreshnessThatIsNotKnown(t *testing.T) {
	s := source()
	s.Freshness = func(context.Context) (newest, complete time.Time, err error) { return newest, complete, nil }
	if got := scrape(t, New(s)); got["orrery_newest_record_age_seconds"] != nil ||
		got["orrery_complete_through_age_seconds"] != nil {
		t.Errorf("an age of nothing: %v", got)
	}
	s.Freshness = func(context.Context) (newest, complete time.Time, err error) {
		return now, now, errors.New("the index is locked")
	}
	m := New(s)
	for scrapes := 1.0; scrapes <= 2; scrapes++ {
		got := scrape(t, m)
		if n := values(got["orrery_freshness_failures_total"])[""]; n != scrapes {
			t.Errorf("%v failures after %v scrapes", n, scrapes)
		}
		if got["orrery_newest_record_age_seconds"] != nil || got["orrery_queries_waiting"] == nil {
			t.Errorf("after a failure: %v", slices.Collect(maps.Keys(got)))
		}
	}
}

// TestFiguresOfTheProcess: the figures of the runtime and of the process have the names that dashboards know.
func TestFiguresOfTheProcess(t *testing.T) {
	got := scrape(t, New(source()))
	for name, least := range map[string]float64{
		"go_goroutines": 1, "go_threads": 1, "go_info": 1, "go_memstats_alloc_bytes": 1e5, "go_memstats_sys_bytes": 1e6,
	} {
		if all := values(got[name]); len(all) != 1 || slices.Max(slices.Collect(maps.Values(all))) < least {
			t.Errorf("%s is %v", name, all)
		}
	}
	if runtime.GOOS != "linux" {
		return
	}
	for name, within := range map[string][2]float64{
		"process_cpu_seconds_total":     {0, 3600},
		"process_start_time_seconds":    {float64(time.Now().Unix() - 3600), float64(time.Now().Unix() + 60)},
		"process_resident_memory_bytes": {1e6, 1e10},
		"process_virtual_memory_bytes":  {1e6, 1e14},
		"process_open_fds":              {3, 1000},
		"process_max_fds":               {64, 2e19},
	} {
		if value := values(got[name])[""]; len(got[name].GetMetric()) != 1 || value < within[0] || value > within[1] {
			t.Errorf("%s is %v", name, got[name])
		}
	}
}

// TestCompression: metrics are compressed for a client that accepts it.
func TestCompression(t *testing.T) {
	r, w := httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil), httptest.NewRecorder()
	r.Header.Set("Accept-Encoding", "gzip")
	New(source()).ServeHTTP(w, r)
	if coding := w.Header().Get("Content-Encoding"); coding != "gzip" {
		t.Fatalf("the coding is %q", coding)
	}
	body, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(body); err != nil || !strings.Contains(string(text), "\norrery_queries_running 2\n") {
		t.Errorf("%s %v", text, err)
	}
}

// TestReadmeListsTheMetrics: the table of README.md has the names, types and labels of the metrics.
func TestReadmeListsTheMetrics(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	m := New(source())
	m.Observe(api.Observation{Route: "logs", Status: 200, Engine: time.Second})
	want := map[string]string{}
	for name, family := range scrape(t, m) {
		if strings.HasPrefix(name, "orrery_") {
			labels := ""
			for _, l := range family.GetMetric()[0].GetLabel() {
				labels += " `" + l.GetName() + "`"
			}
			want[name] = strings.ToLower(family.GetType().String()) + labels
		}
	}
	got := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) == 6 && strings.HasPrefix(line, "| `") {
			name := strings.Trim(cells[1], " `")
			got[name] = strings.TrimSpace(strings.TrimSpace(cells[2]) + " " + strings.TrimSpace(cells[3]))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-code +README):\n%s", diff)
	}
}

// TestExampleOfTheAPI: the metrics that the guide of the API shows are printed after the question it names, in this
// order.
func TestExampleOfTheAPI(t *testing.T) {
	shown, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "api", "testdata", "metrics.txt"))
	if err != nil {
		t.Fatal(err)
	}
	m := New(source())
	m.Observe(api.Observation{Route: "logs", Status: 200, Engine: 1500 * time.Millisecond, Scanned: 4096})
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	rest := "\n" + w.Body.String()
	for line := range strings.Lines(string(shown)) {
		_, after, found := strings.Cut(rest, "\n"+line)
		if !found {
			t.Fatalf("%s is not printed, or earlier than the line before it", line)
		}
		rest = "\n" + after
	}
}
