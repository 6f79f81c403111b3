package bench

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Neighbour holds the figures of one key's small queries while another key sends large filters, all at once.
type Neighbour struct {
	Filters   int         `json:"filters"`
	Statuses  map[int]int `json:"statuses"` // of the answers to them
	Answers   int         `json:"answers"`
	Errors    int         `json:"errors"` // of both keys; a large filter may be refused, but not with a 5xx
	Error     string      `json:"first_error,omitempty"`
	Different int         `json:"answers_unlike_the_undisturbed_ones"`
	P50       float64     `json:"p50_ms"`
	P99       float64     `json:"p99_ms"`
	PeakBytes int64       `json:"peak_memory_bytes,omitempty"`
}

// The goals of the neighbour.
const (
	neighbourMs     = 250
	neighbourMemory = 600e6
)

// largeFilter is the length of a large filter, in bytes.
const largeFilter = 55_000

// largeFilterOf returns a large filter about the day, different for each number. A filter with an odd number has as
// many patterns as fit, with large programs. A filter with an even number has small patterns and thousands of values,
// which no limit refuses.
func largeFilterOf(number int) string {
	var b strings.Builder
	b.WriteString(period(Day, 24*time.Hour))
	for i := 0; b.Len() < largeFilter; i++ {
		switch {
		case number%2 == 1:
			fmt.Fprintf(&b, `, path~"(a?b?){50}%d-%d"`, number, i)
		case i < 10:
			fmt.Fprintf(&b, `, user_agent!~"(?i)bot%d-%d"`, number, i)
		default:
			fmt.Fprintf(&b, `, path!="/%d/%d"`, number, i)
		}
	}
	return b.String()
}

// measureNeighbour asks small questions of one key, one after the other, while another key sends large filters. It
// sends all filters again until half as many are answered.
func measureNeighbour(ctx context.Context, o Options, product Product) (n Neighbour, err error) {
	if product.HandlerFor == nil {
		return n, nil
	}
	var clients [2]client
	for i, key := range []string{"hostile-key", "neighbour-key"} {
		handler, err := product.HandlerFor(key)
		if err != nil {
			return n, err
		}
		server, err := serve(handler, nil) // figures are kept, as on any server
		if err != nil {
			return n, err
		}
		defer func() { err = errors.Join(err, server.Close()) }()
		clients[i] = server.client(o.Filters)
		clients[i].key = key
	}
	hostile, neighbour := clients[0], clients[1]
	small := newRequest("stats", period(Day.Add(14*time.Hour), time.Hour))
	alone, err := neighbour.ask(ctx, small)
	if err != nil {
		return n, fmt.Errorf("a small question, alone: %w", err)
	}
	want := sha256.Sum256(alone.Data)
	bodies := make([][]byte, o.Filters)
	for i := range bodies {
		if bodies[i], err = json.Marshal(map[string]string{"filters": largeFilterOf(i)}); err != nil {
			return n, err
		}
	}
	n.Filters, n.Statuses = o.Filters, map[int]int{}
	fail := func(err error) {
		if n.Errors++; n.Error == "" {
			n.Error = err.Error()
		}
	}
	bar := newBar(o, (o.Filters+1)/2, "small questions beside large filters")
	memory := watchMemory()
	var took []time.Duration
	for len(took) < (o.Filters+1)/2 && n.Errors == 0 && ctx.Err() == nil {
		answers := make(chan int, len(bodies))
		failures := make(chan error, len(bodies))
		var sending sync.WaitGroup
		for _, body := range bodies {
			sending.Go(func() {
				status, err := hostile.post(ctx, "stats", body)
				if err != nil {
					failures <- err
				}
				answers <- status
			})
		}
		ended := make(chan struct{})
		go func() { sending.Wait(); close(ended) }()
		for asking := true; asking; {
			a, err := neighbour.ask(ctx, small)
			switch {
			case err != nil:
				fail(err)
			case sha256.Sum256(a.Data) != want:
				n.Different++
			}
			took = append(took, a.took)
			select {
			case <-ended:
				asking = false
			default:
			}
		}
		close(answers)
		close(failures)
		for status := range answers {
			n.Statuses[status]++
		}
		for err := range failures {
			fail(err)
		}
		if err := bar.Set(min(len(took), o.Filters/2)); err != nil {
			return n, err
		}
	}
	n.Answers, n.PeakBytes = len(took), memory.peak()
	n.P50, n.P99 = percentile(took, 50), percentile(took, 99)
	return n, errors.Join(untilIdle(ctx), bar.Finish())
}

// untilIdle waits until the process needs hardly any processor time, but at most for some minutes. When all answers are
// there, some of the large filters are still tried.
func untilIdle(ctx context.Context) error {
	const most, interval = 4 * time.Minute, time.Second / 4
	for began := time.Now(); time.Since(began) < most; {
		before := cpuTime()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(interval):
		}
		if cpuTime()-before < interval/10 {
			break
		}
	}
	return nil
}

// post sends a body to a data route, reads the whole answer and returns its status. A 5xx is an error, except a 504
// with Location, which only says that the query takes longer than an answer may.
func (c client) post(ctx context.Context, route string, body []byte) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/api/v4.0/data/"+route, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", c.key)
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, fmt.Errorf("post to %s: %w", route, err)
	}
	text, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err == nil && resp.StatusCode >= http.StatusInternalServerError &&
		resp.Header.Get("Location") == "" {
		err = fmt.Errorf("post to %s: status %d: %.500s", route, resp.StatusCode, text)
	}
	return resp.StatusCode, err
}

func (r Report) neighbourRows() []Row {
	n := r.Neighbour
	if n.Filters == 0 {
		return nil
	}
	what := fmt.Sprintf("small stats beside %d filters of %d kB at once", n.Filters, largeFilter/1000)
	right := n.Errors == 0 && n.Different == 0
	rows := []Row{
		{
			What: what + ": errors, answers unlike the undisturbed ones",
			Ours: fmt.Sprintf("%d, %d of %d", n.Errors, n.Different, n.Answers), Goal: "0, 0", Met: &right,
		},
		{
			What: what + ": p50 / p99",
			Ours: fmt.Sprintf("%.0f / %.0f ms", n.P50, n.P99),
			Goal: fmt.Sprintf("p99 ≤ %d ms", neighbourMs),
			Met:  r.met(n.P99 <= neighbourMs),
		},
	}
	if n.PeakBytes > 0 {
		rows = append(rows, Row{
			What: what + ": peak memory",
			Ours: fmt.Sprintf("%.0f MB", mb(n.PeakBytes)),
			Goal: fmt.Sprintf("≤ %.0f MB", neighbourMemory/1e6),
			Met:  r.met(n.PeakBytes <= neighbourMemory),
		})
	}
	return rows
}
