package bench

import (
	"context"
	"fmt"
	"time"
)

// Again compares the time of a question about 24 hours with the time of the same question a minute later.
type Again struct {
	Name  string  `json:"name"`
	First float64 `json:"first_ms"` // the fastest answer
	Later float64 `json:"later_ms"` // the fastest answer

	share float64 // the goal
}

// againQuestions are asked twice, each with each of againFilters. The shares are the goals.
var againQuestions = []struct {
	name  string
	share float64
}{{"topx", 0.2}, {"timeline", 0.3}, {"stats", 0.5}}

var againFilters = []struct{ name, conditions string }{
	{"no condition", ""},
	{
		"five conditions",
		`, status<500, method!="TRACE", bot is false, not country in ("Norway","Chile"), not user_agent~"(?i)sqlmap"`,
	},
}

// measureAgain asks about 24 hours that begin and end at half past twelve or a few minutes later, so that the period cuts
// an hour at both ends.
func measureAgain(ctx context.Context, o Options, c client) (list []Again, _ error) {
	forget := c.forget
	if forget == nil || o.Days < 2 {
		return nil, nil
	}
	defer forget()
	c.forget = nil
	from := Day.Add(-12*time.Hour + 30*time.Minute)
	for _, q := range againQuestions {
		for _, f := range againFilters {
			var first, later []time.Duration
			for run := range o.Runs {
				forget()
				began := from.Add(time.Duration(2*run) * time.Minute)
				for minute, took := range []*[]time.Duration{&first, &later} {
					at := period(began.Add(time.Duration(minute)*time.Minute), 24*time.Hour)
					a, err := c.ask(ctx, newRequest(q.name, at+f.conditions))
					if err != nil {
						return nil, err
					}
					*took = append(*took, a.took)
				}
			}
			list = append(list, Again{q.name + ", " + f.name, timesOf(first).Min, timesOf(later).Min, q.share})
		}
	}
	return list, nil
}

func (r Report) againRows() (rows []Row) {
	for _, a := range r.Week.Again {
		rows = append(rows, Row{
			What:  a.Name + ", 24 hours, a minute later",
			Ours:  fmt.Sprintf("%.1f ms, first %.1f ms", a.Later, a.First),
			Ratio: fmt.Sprintf("%.2f", a.Later/a.First),
			Goal:  fmt.Sprintf("≤ %g of the first time", a.share),
			Met:   r.met(a.Later <= a.share*a.First),
		})
	}
	return rows
}
