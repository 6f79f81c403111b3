package asking

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/report"
)

// TestAskingOrder: every question is asked once, those about the previous period last, and of each period the longest
// first.
func TestAskingOrder(t *testing.T) {
	week := report.Period{ToMs: 7*24*3_600_000 - 1}
	for _, s := range []report.Setting{
		{Template: report.Attack, Zone: time.UTC, Period: week},
		{Template: report.Traffic, Zone: time.UTC, Period: week, Previous: &report.Period{FromMs: -1, ToMs: -1}},
	} {
		questions := s.Questions()
		order := askingOrder(questions)
		var routes [3][]int // of questions about the period, about the previous one, and of those that several answer
		for n, i := range order {
			q := questions[i]
			stage := 0
			switch {
			case q.Part.Several():
				stage = 2
			case strings.HasSuffix(string(q.Part), " before"):
				stage = 1
			}
			if slices.ContainsFunc(routes[stage+1:], func(later []int) bool { return len(later) > 0 }) {
				t.Errorf("%s is asked after a question of a later stage", q.Part)
			}
			route := slices.Index(longest, q.Route)
			if route < 0 || slices.Contains(order[:n], i) {
				t.Errorf("%s: the route %s is unknown, or the question is asked twice", q.Part, q.Route)
			}
			routes[stage] = append(routes[stage], route)
		}
		if len(order) != len(questions) || !slices.IsSorted(routes[0]) || !slices.IsSorted(routes[1]) {
			t.Errorf("%d of %d questions are asked in the order %v", len(order), len(questions), order)
		}
	}
}
