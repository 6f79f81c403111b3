package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Comparison is one question: our figures beside those of the SQL.
type Comparison struct {
	Name string `json:"name"`
	What string `json:"what"`

	Ours     Times   `json:"ours"`
	Bare     Times   `json:"bare_duckdb"`
	Naive    *Times  `json:"naive_duckdb,omitempty"`
	Engine   Times   `json:"engine"`   // of ours: the part spent in the engine
	Overhead Times   `json:"overhead"` // of ours: the rest
	Ratio    float64 `json:"ratio"`    // ours by bare, of the minima
	Faster   float64 `json:"times_faster_than_naive,omitempty"`

	BytesScanned int64  `json:"bytes_scanned"`
	BytesSent    int    `json:"bytes_sent"` // of our answer's JSON
	Results      int    `json:"results"`    // that both sides agree on
	Differs      string `json:"differs,omitempty"`

	goal goal
}

// Times are milliseconds.
type Times struct {
	Min    float64 `json:"min_ms"`
	Median float64 `json:"median_ms"`
}

func timesOf(list []time.Duration) Times {
	list = slices.Clone(list)
	slices.Sort(list)
	return Times{Min: ms(list[0]), Median: ms(list[len(list)/2])}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// compareAll asks every question of both sides.
func compareAll(ctx context.Context, o Options, s stored, c client) (list []Comparison, err error) {
	db, err := openBare(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	n, err := findNeedle(ctx, db, s)
	if err != nil {
		return nil, err
	}
	all := questions(s, n)
	bar := newBar(o, len(all)*(o.Runs+1), "asking")
	for _, q := range all {
		compared, err := compare(ctx, o, q, c, db, func() error { return bar.Add(1) })
		if err != nil {
			return nil, fmt.Errorf("question %s: %w", q.name, err)
		}
		list = append(list, compared)
	}
	return list, bar.Finish()
}

// compare asks one question in rounds, each side once a round, so that a slower moment of the machine is a slower
// moment for both. The first round warms up and is where the answers are compared.
func compare(ctx context.Context, o Options, q question, c client, db *bare, tick func() error) (Comparison, error) {
	r := Comparison{Name: q.name, What: q.what, goal: q.goal}
	var ours, engine, overhead, bare, naive []time.Duration
	for round := range o.Runs + 1 {
		a, err := c.ask(ctx, q.request)
		if err != nil {
			return r, err
		}
		facts, tookBare, err := db.run(ctx, q.sql)
		if err != nil {
			return r, err
		}
		var tookNaive time.Duration
		if q.naive != nil && (round < 4 || o.Runs < 4) { // it is slow, and three rounds tell
			naiveFacts, took, err := db.run(ctx, q.naive)
			if err != nil {
				return r, err
			}
			if tookNaive = took; round == 0 {
				r.Differs = differenceOf("naive SQL", facts, naiveFacts)
			}
		}
		if err := tick(); err != nil {
			return r, err
		}
		if round == 0 {
			mine, err := q.facts(a.Data)
			if err != nil {
				return r, err
			}
			r.Results, r.BytesScanned, r.BytesSent = len(facts), a.Meta.BytesScanned, a.bytes
			if d := differenceOf("API", facts, mine); d != "" {
				r.Differs = d
			}
			continue
		}
		ours, bare = append(ours, a.took), append(bare, tookBare)
		engine, overhead = append(engine, a.took-a.overhead()), append(overhead, a.overhead())
		if tookNaive > 0 {
			naive = append(naive, tookNaive)
		}
	}
	r.Ours, r.Bare, r.Engine, r.Overhead = timesOf(ours), timesOf(bare), timesOf(engine), timesOf(overhead)
	r.Ratio = r.Ours.Min / r.Bare.Min
	if len(naive) > 0 {
		times := timesOf(naive)
		r.Naive, r.Faster = &times, times.Min/r.Ours.Min
	}
	return r, nil
}

// differenceOf is the first place where another answer differs from the SQL's, "" when there is none.
func differenceOf(who string, want, got []string) string {
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(want):
			return fmt.Sprintf("%s has %d results, SQL %d", who, len(got), len(want))
		case i >= len(got):
			return fmt.Sprintf("%s has %d results, SQL %d", who, len(got), len(want))
		case want[i] != got[i]:
			return fmt.Sprintf("result %d: %s has %.300q, SQL %.300q", i, who, got[i], want[i])
		}
	}
	return ""
}
