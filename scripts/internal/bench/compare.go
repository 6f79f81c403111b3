package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/search"
)

// Comparison holds the figures of one query, from the product and from the SQL.
type Comparison struct {
	Name string `json:"name"`
	What string `json:"what"`

	Ours     Times   `json:"ours"`
	Bare     Times   `json:"bare_duckdb"`
	Naive    *Times  `json:"naive_duckdb,omitempty"`
	Engine   Times   `json:"engine"`   // the engine's part of Ours
	Overhead Times   `json:"overhead"` // the rest of Ours
	Ratio    float64 `json:"ratio"`    // of the minima, Ours to Bare
	Faster   float64 `json:"times_faster_than_naive,omitempty"`

	BytesScanned int64 `json:"bytes_scanned"`
	// Estimated is the estimate that came with the answer; nil if the engine did not know it.
	Estimated *search.BytesEstimate `json:"bytes_estimated,omitempty"`
	// MemoryBytes is the memory for one answer. It is measured only if there is a goal.
	MemoryBytes int64 `json:"memory_bytes,omitempty"`

	BytesSent int    `json:"bytes_sent"` // of the answer's JSON
	Results   int    `json:"results"`    // compared
	Differs   string `json:"differs,omitempty"`

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

// compareAll compares every query on both sides.
func compareAll(ctx context.Context, o Options, day, long opened) (list []Comparison, err error) {
	db, err := openBare(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	n, err := findNeedle(ctx, db, day.stored)
	if err != nil {
		return nil, err
	}
	ofDay, ofLong := day.server.client(1), long.server.client(1)
	second, err := secondPage(ctx, o, ofLong)
	if err != nil {
		return nil, err
	}
	all := questions(o, day.stored, long.stored, n, second)
	bar := newBar(o, len(all)*(o.Runs+1), "querying")
	for _, q := range all {
		c := ofDay
		if q.long {
			c = ofLong
		}
		compared, err := compare(ctx, o, q, c, db, func() error { return bar.Add(1) })
		if err == nil && q.goal.memory > 0 {
			compared.MemoryBytes, err = memoryOf(ctx, q, c)
		}
		if err != nil {
			return nil, fmt.Errorf("question %s: %w", q.name, err)
		}
		list = append(list, compared)
	}
	return list, bar.Finish()
}

// memoryOf returns how much memory the product takes for one answer.
func memoryOf(ctx context.Context, q question, c client) (int64, error) {
	memory := watchMemory()
	_, err := c.ask(ctx, q.request)
	return memory.growth(), err
}

// fewRounds is the number of rounds for the naive SQL, which is slow.
const fewRounds = 3

// trial is the state of one comparison.
type trial struct {
	question question
	client   client
	db       *bare

	ours, engine, overhead, bare, naive []time.Duration
	answer                              answer
	facts, naiveFacts                   []string
}

// compare runs one query in rounds, once per round on each side. The order alternates, so that slow moments of the
// machine affect both sides. The first round is for warm-up and does not count.
func compare(ctx context.Context, o Options, q question, c client, db *bare, tick func() error) (Comparison, error) {
	t := trial{question: q, client: c, db: db}
	for round := range o.Runs + 1 {
		sides := []func(context.Context) error{t.askUs, t.askBare}
		if round%2 == 1 {
			slices.Reverse(sides)
		}
		if q.naive != nil && round <= fewRounds {
			sides = append(sides, t.askNaive)
		}
		for _, ask := range sides {
			if err := ask(ctx); err != nil {
				return Comparison{}, err
			}
		}
		if err := tick(); err != nil {
			return Comparison{}, err
		}
	}
	return t.comparison()
}

func (t *trial) askUs(ctx context.Context) error {
	a, err := t.client.ask(ctx, t.question.request)
	t.answer = a
	t.ours = append(t.ours, a.took)
	t.engine = append(t.engine, a.engine())
	t.overhead = append(t.overhead, a.took-a.engine())
	return err
}

func (t *trial) askBare(ctx context.Context) (err error) {
	var took time.Duration
	t.facts, took, err = t.db.run(ctx, t.question.sql)
	t.bare = append(t.bare, took)
	return err
}

func (t *trial) askNaive(ctx context.Context) (err error) {
	var took time.Duration
	t.naiveFacts, took, err = t.db.run(ctx, t.question.naive)
	t.naive = append(t.naive, took)
	return err
}

// comparison summarizes all rounds except the first, and compares the answers of the last.
func (t *trial) comparison() (Comparison, error) {
	r := Comparison{
		Name: t.question.name, What: t.question.what, goal: t.question.goal,
		Ours: timesOf(t.ours[1:]), Bare: timesOf(t.bare[1:]),
		Engine: timesOf(t.engine[1:]), Overhead: timesOf(t.overhead[1:]),
		BytesScanned: t.answer.Meta.BytesScanned, BytesSent: t.answer.bytes, Results: len(t.facts),
	}
	if e := t.answer.Meta.Estimate; e != nil {
		r.Estimated = e.Bytes
	}
	r.Ratio = r.Ours.Min / r.Bare.Min
	if t.question.naive != nil {
		naive := timesOf(t.naive[1:])
		r.Naive, r.Faster = &naive, naive.Min/r.Ours.Min
		r.Differs = differenceOf("naive SQL", t.facts, t.naiveFacts)
	}
	mine, err := t.question.facts(t.answer.Data)
	if err != nil {
		return r, err
	}
	if difference := differenceOf("API", t.facts, mine); difference != "" {
		r.Differs = difference
	}
	return r, nil
}

// differenceOf describes the first difference between an answer and the answer of the SQL, or returns "".
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
