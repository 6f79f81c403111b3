// Package mark finds changes of the settings of gateways in numbers of requests with each revision of the settings. Its
// rules are integers, so that the same requests have the same marks on every machine and with every engine.
package mark

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/wording"
)

// Words returns what a mark is about in words, without its time.
func Words(m answer.Mark) string {
	shown := func(text string) string { return wording.Shown(text, 60) }
	if m.Kind == "planet" {
		return fmt.Sprintf("the planet of %s has version %d, written by %s", shown(m.Config), m.Version, shown(m.By))
	}
	return fmt.Sprintf("the settings change from revision %s to %s", shown(m.Before), shown(m.After))
}

// Cell counts the requests of a time by the revision that they have. Requests without a revision do not count.
type Cell struct {
	From, To int64 // Unix seconds; To is not part of it
	Requests map[string]int64
}

// The rules. README.md explains them.
const (
	Minute   = 60
	Hour     = 60 * Minute
	Day      = 24 * Hour
	Least    = 3           // requests of a run
	Expected = 10          // requests that a pause of a revision lacks, if the revision ends with it
	Pause    = 15 * Minute // the shortest pause with which a revision ends
	RollOut  = 3 * Hour    // the longest time from the first request with a revision to the last one with the revision before
	Most     = 50          // parts of the period for which minutes are asked
)

// run is a time in which requests have a revision without a pause.
type run struct {
	revision    string
	first, last int // cells
	from, to    int64
	requests    int64
	all         int64 // requests of the cells that have the revision
}

// isOver reports whether a run ends before a number of requests with other revisions, in a pause of so many seconds: if
// there were enough of them that more would be expected to have its revision.
func (r run) isOver(others, seconds int64) bool {
	hi, lo := bits.Mul64(uint64(others), uint64(r.requests))
	least, atLeast := bits.Mul64(Expected, uint64(r.all))
	return seconds >= Pause && (hi > least || hi == least && lo >= atLeast)
}

// runsOf returns the runs of all revisions, by begin and revision. Cells must be in the order of their times.
func runsOf(cells []Cell) []run {
	var done []run
	open := map[string]*run{}
	before := int64(0)         // requests of the cells so far
	upTo := map[string]int64{} // before, after the last cell with a revision
	for i, c := range cells {
		all := int64(0)
		for _, n := range c.Requests {
			all += n
		}
		for revision, n := range c.Requests {
			r := open[revision]
			if r != nil && r.isOver(before-upTo[revision], c.From-r.to) {
				done = append(done, *r)
				r = nil
			}
			if r == nil {
				r = &run{revision: revision, first: i, from: c.From}
				open[revision] = r
			}
			r.last, r.to, r.requests, r.all = i, c.To, r.requests+n, r.all+all
			upTo[revision] = before + all
		}
		before += all
	}
	for _, r := range open {
		done = append(done, *r)
	}
	done = slices.DeleteFunc(done, func(r run) bool { return r.requests < Least })
	slices.SortFunc(done, func(a, b run) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.revision, b.revision)) })
	return done
}

// Of returns the marks in cells, by time.
func Of(cells []Cell) []answer.Mark {
	runs := runsOf(cells)
	replaced := make([]bool, len(runs))
	marks := []answer.Mark{}
	for _, later := range runs {
		nearest, distance := -1, int64(math.MaxInt64)
		for i, earlier := range runs {
			if !replaced[i] && follows(cells, earlier, later) && abs(earlier.to-later.from) < distance {
				nearest, distance = i, abs(earlier.to-later.from)
			}
		}
		if nearest >= 0 {
			replaced[nearest] = true
			marks = append(marks, answer.Mark{
				At: time.Unix(later.from, 0).UTC().Format(time.RFC3339), Kind: "revision", Before: runs[nearest].revision, After: later.revision,
			})
		}
	}
	return marks
}

// follows reports whether a run may replace another one: it begins when the other one ends, or shortly before, and lasts
// longer.
func follows(cells []Cell, earlier, later run) bool {
	if earlier.revision == later.revision || earlier.first >= later.first || earlier.last >= later.last {
		return false
	}
	between := int64(0)
	for i := earlier.last + 1; i < later.first; i++ {
		for n := range maps.Values(cells[i].Requests) {
			between += n
		}
	}
	return earlier.to-later.from <= RollOut && !earlier.isOver(between, later.from-earlier.to)
}

func abs(n int64) int64 { return max(n, -n) }

// Unsure returns the cells longer than a minute in which marks may be: those in which a run begins or ends, except at the
// ends of the data. There are at most Most, the latest.
func Unsure(cells []Cell) []int {
	var list []int
	for i, r := range runsOf(cells) {
		if i > 0 { // the first run begins with the data
			list = append(list, r.first)
		}
		if r.last < len(cells)-1 {
			list = append(list, r.last)
		}
	}
	slices.Sort(list)
	list = slices.DeleteFunc(slices.Compact(list), func(i int) bool { return cells[i].To-cells[i].From <= Minute })
	return list[max(0, len(list)-Most):]
}
