package bench

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Load holds the figures of the load test.
type Load struct {
	Clients   int     `json:"clients"`
	Seconds   float64 `json:"seconds"`
	Answers   int     `json:"answers"`
	PerSecond float64 `json:"answers_per_second"`
	Errors    int     `json:"errors"`
	Error     string  `json:"first_error,omitempty"`
	Different int     `json:"answers_unlike_the_single_client_ones"`
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
	Slowest   float64 `json:"slowest_ms"`
	PeakBytes int64   `json:"peak_memory_bytes,omitempty"`

	Routes []RouteLoad `json:"routes"`
}

// RouteLoad holds the figures of one query.
type RouteLoad struct {
	What    string  `json:"what"`
	Answers int     `json:"answers"`
	P50     float64 `json:"p50_ms"`
	P99     float64 `json:"p99_ms"`
}

// mix returns the queries of the clients: all routes, short and long periods, with and without filters.
func mix() []request {
	day, hour := period(Day, 24*time.Hour), period(Day.Add(14*time.Hour), time.Hour)
	segment := strconv.Itoa(fiveMinutes)
	return []request{
		newRequest("topx", day),
		newRequest("topx", hour+", blocked is true"),
		newRequest("timeline", day, "segment", segment),
		newRequest("timeline", hour+`, tags="bot"`),
		newRequest("stats", day, "segment", segment),
		newRequest("stats", hour+`, host="shop.example"`, "group_by", "hostname"),
		newRequest("logs", day+", status>=500", "limit", "500"),
		newRequest("logs", hour+`, headers["x-api-version"]~"^v[12]$"`),
		newRequest("logs", hour+`, result!="Passed", method in (POST, PUT)`, "limit", "100"),
	}
}

// sample is one answer under load.
type sample struct {
	question int
	took     time.Duration
}

// runLoad runs each query once alone, then all of them from many clients until the time is up. Each client starts at
// another position in the list and sends its next request after the answer to the last.
func runLoad(ctx context.Context, o Options, c client) (Load, error) {
	list := mix()
	want := make([][sha256.Size]byte, len(list))
	for i, r := range list {
		a, err := c.ask(ctx, r)
		if err != nil {
			return Load{}, fmt.Errorf("load, alone: %w", err)
		}
		want[i] = sha256.Sum256(a.Data)
	}

	memory := watchMemory()
	bar := newBar(o, int(o.Duration.Seconds()), fmt.Sprintf("%d clients", o.Clients))
	began := time.Now()
	found := make([]clientLoad, o.Clients)
	var running sync.WaitGroup
	for k := range found {
		running.Go(func() { found[k] = askUntil(ctx, c, list, want, k, began.Add(o.Duration)) })
	}
	ended := make(chan struct{})
	go func() { running.Wait(); close(ended) }()
	if err := tickUntil(ended, func() error { return bar.Set(int(time.Since(began).Seconds())) }); err != nil {
		return Load{}, err
	}
	load := summarize(list, found)
	load.Clients, load.Seconds, load.PeakBytes = o.Clients, time.Since(began).Seconds(), memory.peak()
	load.PerSecond = float64(load.Answers) / load.Seconds
	return load, errors.Join(ctx.Err(), bar.Finish())
}

// tickUntil calls tick every second until the channel is closed.
func tickUntil(ended <-chan struct{}, tick func() error) error {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	var failed error
	for {
		select {
		case <-ended:
			return failed
		case <-ticker.C:
			failed = errors.Join(failed, tick())
		}
	}
}

// clientLoad holds the figures of one client.
type clientLoad struct {
	samples   []sample
	different int
	errors    []error
}

// askUntil runs one client until end. The client sends at least one request.
func askUntil(
	ctx context.Context, c client, list []request, want [][sha256.Size]byte, first int, end time.Time,
) clientLoad {
	var l clientLoad
	for i := first; ctx.Err() == nil; i++ {
		q := i % len(list)
		a, err := c.ask(ctx, list[q])
		switch {
		case err != nil:
			l.errors = append(l.errors, err)
		default:
			l.samples = append(l.samples, sample{question: q, took: a.took})
			if sha256.Sum256(a.Data) != want[q] {
				l.different++
			}
		}
		if !time.Now().Before(end) {
			break
		}
	}
	return l
}

func summarize(list []request, found []clientLoad) Load {
	var load Load
	var all []time.Duration
	byQuestion := make([][]time.Duration, len(list))
	for _, l := range found {
		for _, s := range l.samples {
			all = append(all, s.took)
			byQuestion[s.question] = append(byQuestion[s.question], s.took)
		}
		load.Different += l.different
		load.Errors += len(l.errors)
		if load.Error == "" && len(l.errors) > 0 {
			load.Error = l.errors[0].Error()
		}
	}
	load.Answers = len(all)
	load.P50, load.P99, load.Slowest = percentile(all, 50), percentile(all, 99), percentile(all, 100)
	for i, r := range list {
		took := byQuestion[i]
		load.Routes = append(load.Routes, RouteLoad{
			What: r.route + " " + r.parameters.Get("filters"), Answers: len(took),
			P50: percentile(took, 50), P99: percentile(took, 99),
		})
	}
	return load
}

// percentile returns a percentile of the durations in milliseconds, or 0 without durations.
func percentile(list []time.Duration, percent int) float64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return ms(list[(len(list)*percent+99)/100-1])
}
