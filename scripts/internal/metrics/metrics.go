// Package metrics collects figures of a server for Prometheus. README.md lists them. Only the command uses it:
// functions on AWS have the metrics of CloudWatch.
//
// It writes the text format itself, because the client library of Prometheus would be a twentieth of the program.
package metrics

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

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
	source Source

	mutex    sync.Mutex
	routes   map[string]*traffic // by operation ids of the API, so there are few
	failures int                 // of reading the freshness
}

// New returns metrics that are all zero.
func New(s Source) *Metrics {
	return &Metrics{source: s, routes: map[string]*traffic{}}
}

// durations are the upper bounds of the buckets in seconds, up to the time limit of an answer.
var durations = [...]float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

// traffic is what a route has answered.
type traffic struct {
	classes map[string]int // requests by the class of their status: 1xx to 5xx

	within  [len(durations)]int // requests that took a time up to the upper bound, but not up to the one before
	seconds float64             // of all requests

	sent            int64
	asked           bool // a request has used the engine
	engine, scanned float64
}

func (t *traffic) requests() (all int) {
	for _, n := range t.classes {
		all += n
	}
	return all
}

// Observe counts a request.
func (m *Metrics) Observe(o api.Observation) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	t := m.routes[o.Route]
	if t == nil {
		t = &traffic{classes: map[string]int{}}
		m.routes[o.Route] = t
	}
	t.classes[strconv.Itoa(o.Status/100)+"xx"]++
	t.seconds += o.Elapsed.Seconds()
	if i, _ := slices.BinarySearch(durations[:], o.Elapsed.Seconds()); i < len(durations) {
		t.within[i]++
	}
	t.sent += o.Sent
	if o.Engine > 0 || o.Scanned > 0 {
		t.asked = true
		t.engine += o.Engine.Seconds()
		t.scanned += float64(o.Scanned)
	}
}

// ServeHTTP answers with all figures.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text := exposition{}
	m.addState(text)
	m.addTraffic(text)
	addRuntime(text)
	addProcess(text)
	h := w.Header()
	h.Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8; escaping=underscores")
	coding := content.CodingsOf(r.Header.Values("Accept-Encoding")).Best
	if coding != content.Identity {
		h.Set("Content-Encoding", string(coding))
	}
	_, _ = w.Write(content.Compress(text.bytes(), coding)) // a client that is gone needs no answer
}

// addTraffic adds the figures of the routes. A metric is absent as long as no route has a figure for it.
func (m *Metrics) addTraffic(text exposition) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for _, route := range slices.Sorted(maps.Keys(m.routes)) {
		t := m.routes[route]
		requests := text.metric(counter, "orrery_http_requests_total", "Answered requests.")
		for _, class := range slices.Sorted(maps.Keys(t.classes)) {
			requests.add("", float64(t.classes[class]), "route", route, "status_class", class)
		}
		times := text.metric(histogram, "orrery_http_request_duration_seconds", "Time from a request to its answer.")
		within := 0
		for i, bound := range durations {
			within += t.within[i]
			times.add("_bucket", float64(within), "route", route, "le", number(bound))
		}
		times.add("_bucket", float64(t.requests()), "route", route, "le", "+Inf")
		times.add("_sum", t.seconds, "route", route)
		times.add("_count", float64(t.requests()), "route", route)
		text.metric(counter, "orrery_http_response_bytes_total", "Bytes of response bodies as sent.").
			add("", float64(t.sent), "route", route)
		if !t.asked {
			continue
		}
		text.metric(counter, "orrery_engine_seconds_total", "Time in the engine, as answers report it.").
			add("", t.engine, "route", route)
		text.metric(counter, "orrery_engine_scanned_bytes_total", "Bytes read, as answers report them.").
			add("", t.scanned, "route", route)
	}
}

// readTimeout limits the reading of the freshness, so that a slow store does not delay the other figures for long.
const readTimeout = 5 * time.Second

// addState adds the figures of the source.
func (m *Metrics) addState(text exposition) {
	running, waiting := m.source.Load()
	text.one(gauge, "orrery_queries_running", "Queries that use the engine.", float64(running))
	text.one(gauge, "orrery_queries_waiting", "Queries that wait for the engine.", float64(waiting))

	counts := m.source.Partials()
	text.one(counter, "orrery_row_groups_reused_total",
		"Row groups that were not read because figures of earlier queries were reused.", float64(counts.Reused))
	text.one(counter, "orrery_row_groups_read_total", "Row groups that queries for figures have read.",
		float64(counts.Counted))
	text.one(gauge, "orrery_kept_figures_bytes", "Memory of the figures that are kept for further queries.",
		float64(counts.Bytes))

	err := m.addFreshness(text)
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if err != nil {
		m.failures++
	}
	text.one(counter, "orrery_freshness_failures_total", "How often the freshness of the data could not be read.",
		float64(m.failures))
}

// addFreshness adds nothing if it returns an error.
func (m *Metrics) addFreshness(text exposition) error {
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
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
		text.one(gauge, "orrery_newest_record_age_seconds", "Time since the newest record. Absent if there is none.",
			now.Sub(newest).Seconds())
	}
	if !complete.IsZero() {
		text.one(gauge, "orrery_complete_through_age_seconds",
			"Time since the instant through which the data is complete. Absent if it is unknown.",
			now.Sub(complete).Seconds())
	}
	demo := 0.0
	if isDemo {
		demo = 1
	}
	text.one(gauge, "orrery_demo_day",
		"1 if the records come from the demo, as long as nothing is imported, else 0.", demo)
	return nil
}
