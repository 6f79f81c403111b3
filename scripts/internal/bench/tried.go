package bench

import (
	"context"
	"fmt"
	"time"
)

// Tried compares the time in which a rule is tried on the requests of the day with the time of topx about them.
type Tried struct {
	Name string  `json:"name"`
	Ms   float64 `json:"ms"`      // the fastest answer
	TopX float64 `json:"topx_ms"` // the fastest answer of those asked by turns
}

// triedRules are rules as people try them, with their goals: of a share of the time of topx, or of a time.
var triedRules = []struct {
	name       string
	parameters []string
	share      float64
	ms         float64
}{
	{"filter", []string{"rule", `block where path~"^/login"`}, 1.5, 0},
	{"limit", []string{"rule", "limit 60 per 1m by ip ban 10m"}, 0, triedMs},
	{"limit with a curve", []string{"rule", "limit 60 per 1m by ip"}, 0, triedMs},
	{
		"limit, compared with an attack",
		[]string{"rule", "limit 60 per 1m by ip", "attack", `path~"login", human is false`}, 0, triedMs,
	},
}

const triedMs = 1000

// measureTried tries rules on the day, and asks for topx by turns.
func measureTried(ctx context.Context, o Options, c client) (list []Tried, _ error) {
	topx := newRequest("topx", wholeDay())
	for _, rule := range triedRules {
		r := newRequest("whatif", wholeDay(), rule.parameters...)
		var took, ofTopX []time.Duration
		for range o.Runs {
			for _, one := range []struct {
				request
				took *[]time.Duration
			}{{topx, &ofTopX}, {r, &took}} {
				a, err := c.ask(ctx, one.request)
				if err != nil {
					return nil, fmt.Errorf("try a %s: %w", rule.name, err)
				}
				*one.took = append(*one.took, a.took)
			}
		}
		list = append(list, Tried{rule.name, timesOf(took).Min, timesOf(ofTopX).Min})
	}
	return list, nil
}

func (r Report) triedRows() (rows []Row) {
	for i, t := range r.Tried {
		row := Row{
			What: "a rule that is tried: " + t.Name, Ours: fmt.Sprintf("%.1f ms, topx %.1f ms", t.Ms, t.TopX),
			Ratio: fmt.Sprintf("%.2f", t.Ms/t.TopX),
		}
		if of := triedRules[i]; of.share > 0 {
			row.Goal, row.Met = fmt.Sprintf("≤ %g of topx", of.share), r.met(t.Ms <= of.share*t.TopX)
		} else {
			row.Goal, row.Met = fmt.Sprintf("≤ %g ms", of.ms), r.met(t.Ms <= of.ms)
		}
		rows = append(rows, row)
	}
	return rows
}
