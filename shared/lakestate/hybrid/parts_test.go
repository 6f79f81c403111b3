package hybrid_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate/hybrid"
	"github.com/orrery/orrery/shared/lakestate/parts"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/rollup/rollupblob"
	"github.com/orrery/orrery/shared/testkit/reference"
)

// crew does jobs in this process. Like functions, it gets and returns JSON.
type crew struct {
	worker *parts.Worker
	jobs   atomic.Int64
	fail   func(n int64) error // job n, if it is not nil
}

func (c *crew) Do(ctx context.Context, job parts.Job) (done parts.Done, _ error) {
	n := c.jobs.Add(1)
	if c.fail != nil {
		if err := c.fail(n); err != nil {
			return done, err
		}
	}
	text, err := json.Marshal(job)
	if err != nil {
		return done, err
	}
	var sent parts.Job
	if err := json.Unmarshal(text, &sent); err != nil {
		return done, err
	}
	answer, err := c.worker.Do(ctx, sent)
	if err != nil {
		return done, err
	}
	if text, err = json.Marshal(answer); err != nil {
		return done, err
	}
	return done, json.Unmarshal(text, &done)
}

// dividing configures an engine that has a crew count parts of all questions.
func dividing(w *world, results *blobtest.Memory, c *crew) func(*hybrid.Config) {
	if _, err := rollupblob.MakeHashKey(w.t.Context(), w.bucket); err != nil {
		w.t.Fatal(err)
	}
	c.worker = &parts.Worker{Lake: w.bucket, Results: results, Version: "1", Memory: 64 << 20, Patience: time.Hour, Now: func() time.Time { return enginetest.Start }}
	return func(to *hybrid.Config) {
		to.MostBytes, to.Rollups, to.Columns = 0, w.bucket, sizes(2<<10)
		to.Parts = &hybrid.Parts{
			Crew: c, Results: results, Prefix: "results/parts/", Version: "1", Bytes: 16 << 10, Longest: time.Hour, GB: 1,
		}
	}
}

// TestParts runs the suite over an engine that has a crew count parts of the questions.
func TestParts(t *testing.T) {
	var scanned, other, jobs atomic.Int64
	t.Cleanup(func() {
		if scanned.Load() < other.Load()/4 || jobs.Load() == 0 {
			t.Errorf("parts answered %d questions, and the service %d", scanned.Load(), other.Load())
		}
	})
	enginetest.Run(t, func(rows []lake.Row) engine.Engine {
		w := newWorldIn(t, rows, &blobtest.Memory{})
		c := &crew{}
		t.Cleanup(func() { jobs.Add(c.jobs.Load()) })
		return finding{counting{w.engine(dividing(w, &blobtest.Memory{}, c)), &scanned, &other}, t, w.service}
	})
}

// finding checks the findings of diffs, and answers these questions with all values: parts tell only those that are
// findings.
type finding struct {
	counting
	t       *testing.T
	service *service
}

func (f finding) Run(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	answer, cost, err := f.counting.Run(ctx, q)
	diff, isDiff := q.Shape.(query.Diff)
	if err != nil || !isDiff || cost.By != "scan" {
		return answer, cost, err
	}
	whole, _, err := f.service.Run(ctx, q)
	if different := cmp.Diff(findingsOf(diff, whole), findingsOf(diff, answer)); different != "" {
		f.t.Errorf("%s: findings (-reference +parts):\n%s", q, different)
	}
	return whole, cost, err
}

// findingsOf returns the findings of a diff, and its numbers, as texts.
func findingsOf(shape query.Diff, answer query.Answer) (texts []string) {
	for _, t := range answer.Diff.Terms {
		texts = append(texts, fmt.Sprint(t.Requests, t.Distinct))
	}
	for _, f := range query.Findings(shape, answer.Diff) {
		texts = append(texts, fmt.Sprint(f.By, f.Value, f.Sides, f.Score))
	}
	return append(texts, fmt.Sprint(answer.Diff.Requests))
}

// TestPartsAreKept: a part is counted once. The same question about another period has only parts at its ends counted.
func TestPartsAreKept(t *testing.T) {
	w := newWorldIn(t, enginetest.Records(t, 2000, 33), &blobtest.Memory{})
	results, c := &blobtest.Memory{}, &crew{}
	configure := dividing(w, results, c)
	ask := func(text string, shape query.Shape) (jobs int64) {
		t.Helper()
		q := bind(t, text, shape)
		before := c.jobs.Load()
		answer, cost, ok := w.engine(configure).TryDirect(t.Context(), q)
		if !ok {
			t.Fatalf("%T: not answered: %v", shape, w.failed)
		}
		if diff := enginetest.Diff(reference.Evaluate(&q, w.rows), answer); diff != "" {
			t.Errorf("%T: %s", shape, diff)
		}
		if cost.USD == nil || *cost.USD <= 0 || cost.BytesScanned == 0 {
			t.Errorf("%T: cost %+v", shape, cost)
		}
		return c.jobs.Load() - before
	}
	for _, shape := range []query.Shape{
		query.Facets{Limit: 9, By: querytest.Dimensions(querytest.MixedDimensions)},
		query.Stats{SegmentSeconds: 60}, query.Timeline{SegmentSeconds: 60},
	} {
		all := ask("timestamp between 2026-01-01 21:00 and 2026-01-02 03:00, status>=200", shape)
		shorter := ask("timestamp between 2026-01-01 22:00 and 2026-01-02 03:00, status>=200", shape)
		again := ask("timestamp between 2026-01-01 22:30 and 2026-01-02 03:00, status>=200", shape)
		if all < 6 || shorter > 0 || again > 1 {
			t.Errorf("%T: %d, %d and %d parts were counted", shape, all, shorter, again)
		}
	}
}

// TestCrewFails: the service answers if the crew cannot count a part, does not answer in time, or loses what it counted.
func TestCrewFails(t *testing.T) {
	for name, of := range map[string]struct {
		fail   func(n int64) error
		change func(*hybrid.Config)
		logged bool
	}{
		"one fails":  {fail: func(n int64) error { return map[bool]error{true: errors.New("throttled")}[n == 3] }, logged: true},
		"no time":    {change: func(c *hybrid.Config) { c.Parts.Longest = time.Nanosecond }, logged: true},
		"few parts":  {change: func(c *hybrid.Config) { c.Parts.Most = 2 }},
		"no memory":  {},
		"no results": {},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldIn(t, enginetest.Records(t, 400, 31), &blobtest.Memory{})
			c := &crew{fail: of.fail}
			results := &blobtest.Memory{}
			configure := dividing(w, results, c)
			switch name {
			case "no memory":
				c.worker.Memory = 1
			case "no results":
				c.worker.Results = &blobtest.Memory{}
			}
			e := w.engine(func(to *hybrid.Config) {
				configure(to)
				if of.change != nil {
					of.change(to)
				}
			})
			q := bind(t, period, query.Facets{Limit: 9, By: querytest.Dimensions(querytest.MixedDimensions)})
			answer, cost, err := e.Run(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if diff := enginetest.Diff(reference.Evaluate(&q, w.rows), answer); diff != "" || cost.By == "scan" {
				t.Errorf("by %s: %s", cost.By, diff)
			}
			if (len(w.failed) > 0) != of.logged {
				t.Errorf("failures: %v", w.failed)
			}
		})
	}
}
