// Package metrics collects figures of a server for Prometheus. README.md lists them. Only the command uses it:
// functions on AWS have the metrics of CloudWatch.
package metrics

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/engine/scan"
)

// Source has the functions that read figures when Prometheus asks for them.
type Source struct {
	// Load returns how many queries use the engine, and how many wait for it.
	Load func() (running, waiting int)
	// Freshness returns the time of the newest record and the time through which the data is complete. A time that is
	// not known is zero.
	Freshness func(ctx context.Context) (newest, complete time.Time, err error)
	// Partials returns the figures of the kept figures.
	Partials func() scan.PartialCounts
	// Demo reports whether the records come from the demo.
	Demo func(ctx context.Context) (bool, error)
	Now  func() time.Time
}

// Metrics are the figures. Serving HTTP, they answer in the format of Prometheus.
type Metrics struct {
	source   Source
	requests *metrics.Set // by operation ids of the API, so there are few
	failures *metrics.Counter
}

// New returns metrics that are all zero.
func New(s Source) *Metrics {
	metrics.ExposeMetadata(true) // the types of metrics, for the whole process
	all := metrics.NewSet()
	return &Metrics{source: s, requests: all, failures: all.NewCounter("orrery_freshness_failures_total")}
}

// durations are the upper bounds of the buckets in seconds, up to the time limit of an answer.
var durations = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

// Observe counts a request.
func (m *Metrics) Observe(o api.Observation) {
	of := func(name string) string { return fmt.Sprintf("%s{route=%q}", name, o.Route) }
	class := strconv.Itoa(o.Status/100) + "xx"
	m.requests.GetOrCreateCounter(
		fmt.Sprintf("orrery_http_requests_total{route=%q,status_class=%q}", o.Route, class)).Inc()
	m.requests.GetOrCreatePrometheusHistogramExt(of("orrery_http_request_duration_seconds"), durations).
		Update(o.Elapsed.Seconds())
	m.requests.GetOrCreateFloatCounter(of("orrery_http_response_bytes_total")).Add(float64(o.Sent))
	if o.Engine > 0 || o.Scanned > 0 {
		m.requests.GetOrCreateFloatCounter(of("orrery_engine_seconds_total")).Add(o.Engine.Seconds())
		m.requests.GetOrCreateFloatCounter(of("orrery_engine_scanned_bytes_total")).Add(float64(o.Scanned))
	}
}

// ServeHTTP answers with all figures.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var text bytes.Buffer
	m.writeState(r.Context(), &text)
	m.requests.WritePrometheus(&text)
	metrics.WriteProcessMetrics(&text)
	metrics.WriteFDMetrics(&text)
	h := w.Header()
	h.Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	coding := content.CodingsOf(r.Header.Values("Accept-Encoding")).Best
	if coding != content.Identity {
		h.Set("Content-Encoding", string(coding))
	}
	_, _ = w.Write(content.Compress(text.Bytes(), coding)) // a client that is gone needs no answer
}

// writeState writes the figures of the source.
func (m *Metrics) writeState(ctx context.Context, to io.Writer) {
	running, waiting := m.source.Load()
	gauge := func(name string, value float64) { metrics.WriteGaugeFloat64(to, name, value) }
	gauge("orrery_queries_running", float64(running))
	gauge("orrery_queries_waiting", float64(waiting))

	counts := m.source.Partials()
	metrics.WriteCounterFloat64(to, "orrery_row_groups_read_total", float64(counts.Counted))
	metrics.WriteCounterFloat64(to, "orrery_row_groups_reused_total", float64(counts.Reused))
	gauge("orrery_kept_figures_bytes", float64(counts.Bytes))

	if err := m.writeFreshness(ctx, gauge); err != nil {
		m.failures.Inc()
	}
}

// readTimeout limits the reading of the freshness, so that a slow store does not delay the other figures for long.
const readTimeout = 5 * time.Second

// writeFreshness writes nothing if it returns an error, and no age that is not known.
func (m *Metrics) writeFreshness(ctx context.Context, gauge func(name string, value float64)) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	newest, complete, err := m.source.Freshness(ctx)
	if err != nil {
		return err
	}
	isDemo, err := m.source.Demo(ctx)
	if err != nil {
		return err
	}
	now := m.source.Now()
	if !newest.IsZero() {
		gauge("orrery_newest_record_age_seconds", now.Sub(newest).Seconds())
	}
	if !complete.IsZero() {
		gauge("orrery_complete_through_age_seconds", now.Sub(complete).Seconds())
	}
	demo := 0.0
	if isDemo {
		demo = 1
	}
	gauge("orrery_demo_day", demo)
	return nil
}
