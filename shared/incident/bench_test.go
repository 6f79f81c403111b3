package incident_test

import (
	"fmt"
	"testing"

	"github.com/orrery/orrery/shared/incident"
)

// BenchmarkWindows looks for hours that stand out in a month of 40 hosts with a million requests a day.
func BenchmarkWindows(b *testing.B) {
	month := incident.Span{From: begin + 2*day, To: begin + 33*day}
	g := incident.NewGrid(incident.Span{From: month.From - incident.Before, To: month.To}, incident.Hour)
	of := newTraffic(1)
	for i := range 40 {
		host := incident.Host{Name: fmt.Sprintf("%d.example", i), Named: true}
		for at := g.Span().From; at < g.Span().To; at += incident.Hour {
			all := 950 + of.random.Int64N(100)
			for m, n := range map[incident.Measure]int64{incident.All: all, incident.Passed: all * 9 / 10, incident.Missing: all / 20} {
				g.Add(host, []int64{at}, alone(m, n))
			}
		}
	}
	for b.Loop() {
		n := 0
		for _, host := range g.Hosts() {
			n += len(g.Windows(host, month))
		}
		if n > 100 {
			b.Fatalf("%d windows", n)
		}
	}
}
