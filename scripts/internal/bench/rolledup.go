package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// rolledUpMs is the goal of each question about days that are rolled up, in milliseconds.
const rolledUpMs = 50

// measureRolledUp asks about all full days but the last, after they have been rolled up.
func measureRolledUp(ctx context.Context, o Options, product Product, c client) (list []Timed, _ error) {
	if product.RollUp == nil || o.Days < 2 {
		return nil, nil
	}
	if err := product.RollUp(ctx); err != nil {
		return nil, fmt.Errorf("roll up the full days: %w", err)
	}
	closed := period(o.longStart(), Day.Sub(o.longStart()))
	hours := []string{"segment", strconv.Itoa(hour)}
	for _, of := range []struct {
		name, route string
		parameters  []string
	}{{"timeline in hours", "timeline", hours}, {"stats in hours", "stats", hours}, {"topx", "topx", nil}, {"facets", "facets", nil}} {
		var took []time.Duration
		for range o.Runs {
			a, err := c.ask(ctx, newRequest(of.route, closed, of.parameters...))
			if err != nil {
				return nil, err
			}
			took = append(took, a.took)
		}
		list = append(list, Timed{Name: of.name, Ms: timesOf(took).Min})
	}
	return list, removeRollups(o, product)
}

// removeRollups removes the rollups of the full days, so that everything else is measured without them.
func removeRollups(o Options, product Product) error {
	if product.RollUp == nil {
		return nil
	}
	return os.RemoveAll(filepath.Join(fullDir(o), product.RollupsFolder))
}

func (r Report) rolledUpRows() (rows []Row) {
	for _, t := range r.Week.RolledUp {
		rows = append(rows, Row{
			What: fmt.Sprintf("%s, %d such days, rolled up", t.Name, r.Week.Days-1),
			Ours: fmt.Sprintf("%.1f ms", t.Ms),
			Goal: fmt.Sprintf("≤ %d ms", rolledUpMs),
			Met:  r.met(t.Ms <= rolledUpMs),
		})
	}
	return rows
}
