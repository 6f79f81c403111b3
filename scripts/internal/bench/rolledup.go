package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// RolledUp is a question about days that are rolled up.
type RolledUp struct {
	Question string  `json:"question"`
	Period   string  `json:"period"`             // and the condition besides it
	Ms       float64 `json:"ms"`                 // the fastest answer
	AgainMs  float64 `json:"again_ms,omitempty"` // when figures of the same question are kept; 0: not measured
	GoalMs   float64 `json:"goal_ms"`
	Differs  string  `json:"differs,omitempty"` // how the answer differs from the expected one
}

// rolledUpQuestions are asked about days that are rolled up.
var rolledUpQuestions = []struct {
	name, route string
	parameters  []string
}{
	{"timeline in hours", "timeline", []string{"segment", strconv.Itoa(hour)}},
	{"stats in hours", "stats", []string{"segment", strconv.Itoa(hour)}},
	{"topx", "topx", nil},
	{"facets", "facets", nil},
}

// rolledUpPeriod is a period that rolledUpQuestions are asked about.
type rolledUpPeriod struct {
	name, filter string
	goalMs       float64
	hasRecords   bool // that are read
}

// rolledUpPeriods returns three conditions. One is for the full days before the last one, which are rolled up. One is for
// all full days; their last two hours are not rolled up. One is for the busiest host on the days before the last one.
func (o Options) rolledUpPeriods(host string) []rolledUpPeriod {
	days := fmt.Sprintf("%d such days, rolled up", o.Days-1)
	closed := o.closedPeriod()
	return []rolledUpPeriod{
		{days, closed, 50, false},
		{days + ", and the newest one but for two hours", o.longPeriod(), 150, true},
		{"the busiest host of " + days, fmt.Sprintf("%s, host=%q", closed, host), 50, false},
	}
}

// closedPeriod returns the condition for all full days but the last.
func (o Options) closedPeriod() string { return period(o.longStart(), Day.Sub(o.longStart())) }

// measureRolledUp asks about the full days without rollups, rolls them up, and asks again. It leaves the rollups.
func (w *WeekReport) measureRolledUp(ctx context.Context, o Options, product Product, c client) error {
	if product.RollUp == nil || o.Days < 2 {
		return nil
	}
	host, err := busiestHost(ctx, o, c)
	if err != nil {
		return err
	}
	periods := o.rolledUpPeriods(host)
	fromRecords := map[rolledUpPeriod][]json.RawMessage{}
	for _, p := range periods {
		for _, q := range rolledUpQuestions {
			a, err := c.ask(ctx, newRequest(q.route, p.filter, q.parameters...))
			if err != nil {
				return err
			}
			fromRecords[p] = append(fromRecords[p], a.Data)
		}
	}
	announce(o, "rolling up the full days")
	before := cpuTime()
	if w.RollUp.Records, err = product.RollUp(ctx); err != nil {
		return fmt.Errorf("roll up the full days: %w", err)
	}
	w.RollUp.CPUSeconds = (cpuTime() - before).Seconds()
	for _, p := range periods {
		list, err := askRolledUp(ctx, o, c, p, func(question int, data json.RawMessage) (differs string, _ error) {
			if !bytes.Equal(data, fromRecords[p][question]) {
				differs = "it is another one than that from the records"
			}
			return differs, nil
		})
		if err != nil {
			return err
		}
		w.RolledUp = append(w.RolledUp, list...)
	}
	return nil
}

// askRolledUp asks the questions about a period, each as often as there are rounds. differs compares an answer with the
// expected one.
func askRolledUp(
	ctx context.Context, o Options, c client, p rolledUpPeriod,
	differs func(question int, data json.RawMessage) (string, error),
) (list []RolledUp, _ error) {
	again := c
	again.forget = nil
	for i, q := range rolledUpQuestions {
		r := RolledUp{Question: q.name, Period: p.name, GoalMs: p.goalMs}
		for _, side := range []struct {
			client
			fastest *float64
		}{{c, &r.Ms}, {again, &r.AgainMs}} {
			if side.fastest == &r.AgainMs && !p.hasRecords {
				break
			}
			var took []time.Duration
			for range o.Runs {
				a, err := side.ask(ctx, newRequest(q.route, p.filter, q.parameters...))
				if err == nil && r.Differs == "" {
					r.Differs, err = differs(i, a.Data)
				}
				if err != nil {
					return nil, err
				}
				took = append(took, a.took)
			}
			*side.fastest = timesOf(took).Min
		}
		list = append(list, r)
	}
	return list, nil
}

// busiestHost returns the host with most requests in all full days but the last.
func busiestHost(ctx context.Context, o Options, c client) (string, error) {
	a, err := c.ask(ctx, newRequest("facets", o.closedPeriod(), "by", "host"))
	if err != nil {
		return "", err
	}
	type facet struct {
		Values []struct {
			Value string `json:"value"`
		} `json:"values"`
	}
	list, err := results[facet](a.Data)
	if err == nil && (len(list) == 0 || len(list[0].Values) == 0) {
		err = errors.New("the records have no host")
	}
	if err != nil {
		return "", fmt.Errorf("find the busiest host: %w", err)
	}
	return list[0].Values[0].Value, nil
}

// removeRollups removes the rollups of the full days, so that everything else is measured without them.
func removeRollups(o Options, product Product) error {
	if product.RollUp == nil {
		return nil
	}
	return os.RemoveAll(filepath.Join(fullDir(o), product.RollupsFolder))
}

func (r Report) rolledUpRows() (rows []Row) {
	for _, q := range r.Week.RolledUp {
		ours := fmt.Sprintf("%.1f ms", q.Ms)
		if q.AgainMs > 0 {
			ours += fmt.Sprintf(", asked again %.1f ms", q.AgainMs)
		}
		rows = append(rows, Row{
			What: q.Question + ", " + q.Period,
			Ours: ours,
			Goal: fmt.Sprintf("≤ %g ms", q.GoalMs),
			Met:  r.met(q.Ms <= q.GoalMs),
		})
	}
	return rows
}
