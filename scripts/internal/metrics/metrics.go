// Package metrics collects figures of a server for Prometheus. README.md lists them. Only the command uses it:
// functions on AWS have the metrics of CloudWatch.
package metrics

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/orrery/orrery/shared/api"
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
	http.Handler

	requests, sent, engine, scanned *prometheus.CounterVec
	duration                        *prometheus.HistogramVec
}

// Labels. The routes are the operation ids of the API, and the classes are 1xx to 5xx, so there are few of both.
const (
	routeLabel = "route"
	classLabel = "status_class"
)

// durations are the upper bounds of the buckets in seconds, up to the time limit of an answer.
var durations = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

// New returns metrics that are all zero.
func New(s Source) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &Metrics{
		requests: counter("orrery_http_requests_total", "Answered requests.", routeLabel, classLabel),
		sent:     counter("orrery_http_response_bytes_total", "Bytes of response bodies as sent.", routeLabel),
		engine:   counter("orrery_engine_seconds_total", "Time in the engine, as answers report it.", routeLabel),
		scanned:  counter("orrery_engine_scanned_bytes_total", "Bytes read, as answers report them.", routeLabel),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "orrery_http_request_duration_seconds", Help: "Time from a request to its answer.",
			Buckets: durations,
		}, []string{routeLabel}),
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		m.requests, m.duration, m.sent, m.engine, m.scanned, newState(s),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	m.Handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	return m
}

// Observe counts a request.
func (m *Metrics) Observe(o api.Observation) {
	m.requests.WithLabelValues(o.Route, strconv.Itoa(o.Status/100)+"xx").Inc()
	m.duration.WithLabelValues(o.Route).Observe(o.Elapsed.Seconds())
	m.sent.WithLabelValues(o.Route).Add(float64(o.Sent))
	if o.Engine > 0 || o.Scanned > 0 {
		m.engine.WithLabelValues(o.Route).Add(o.Engine.Seconds())
		m.scanned.WithLabelValues(o.Route).Add(float64(o.Scanned))
	}
}

// state reads the figures of the source when Prometheus asks for them.
type state struct {
	source   Source
	failures prometheus.Counter

	running, waiting, newest, complete, demo *prometheus.Desc
	reused, counted, kept                    *prometheus.Desc
}

func newState(s Source) *state {
	desc := func(name, help string) *prometheus.Desc { return prometheus.NewDesc(name, help, nil, nil) }
	return &state{
		source: s,
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "orrery_freshness_failures_total", Help: "How often the freshness of the data could not be read.",
		}),
		running: desc("orrery_queries_running", "Queries that use the engine."),
		waiting: desc("orrery_queries_waiting", "Queries that wait for the engine."),
		newest:  desc("orrery_newest_record_age_seconds", "Time since the newest record. Absent if there is none."),
		complete: desc("orrery_complete_through_age_seconds",
			"Time since the instant through which the data is complete. Absent if it is unknown."),
		reused: desc("orrery_row_groups_reused_total",
			"Row groups that were not read because figures of earlier queries were reused."),
		counted: desc("orrery_row_groups_read_total", "Row groups that queries for figures have read."),
		kept:    desc("orrery_kept_figures_bytes", "Memory of the figures that are kept for further queries."),
		demo:    desc("orrery_demo_day", "1 if the records come from the demo, as long as nothing is imported, else 0."),
	}
}

// Describe implements prometheus.Collector.
func (s *state) Describe(to chan<- *prometheus.Desc) {
	s.failures.Describe(to)
	for _, d := range []*prometheus.Desc{s.running, s.waiting, s.newest, s.complete, s.demo, s.reused, s.counted, s.kept} {
		to <- d
	}
}

// readTimeout limits the reading of the freshness, so that a slow store does not delay the other figures for long.
const readTimeout = 5 * time.Second

// Collect implements prometheus.Collector.
func (s *state) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value)
	}
	running, waiting := s.source.Load()
	gauge(s.running, float64(running))
	gauge(s.waiting, float64(waiting))

	counts := s.source.Partials()
	for d, n := range map[*prometheus.Desc]int64{s.reused: counts.Reused, s.counted: counts.Counted} {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n))
	}
	gauge(s.kept, float64(counts.Bytes))

	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	newest, complete, err := s.source.Freshness(ctx)
	isDemo := false
	if err == nil {
		isDemo, err = s.source.Demo(ctx)
	}
	if err != nil {
		s.failures.Inc()
	} else {
		now := s.source.Now()
		if !newest.IsZero() {
			gauge(s.newest, now.Sub(newest).Seconds())
		}
		if !complete.IsZero() {
			gauge(s.complete, now.Sub(complete).Seconds())
		}
		if isDemo {
			gauge(s.demo, 1)
		} else {
			gauge(s.demo, 0)
		}
	}
	s.failures.Collect(to)
}
