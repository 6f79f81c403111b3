package incident

import (
	"cmp"
	"slices"
)

// minute is the number of requests in a minute, and the usual one in thousandths.
type minute struct{ n, expected int64 }

// run is consecutive minutes of a series; to is not included.
type run struct{ from, to int }

func (r run) sums(series []minute) (n, expected int64) {
	for _, m := range series[r.from:r.to] {
		n, expected = n+m.n, expected+m.expected
	}
	return n, expected
}

// bar is what a minute must exceed to count for a run.
type bar struct {
	level int64 // percent of the usual number
	least int64 // thousandths of a request
}

// runs returns the runs of a series in which a signal stands out, in order.
func (s Signal) runs(series []minute) []run {
	list := s.above(series, bar{level: levels[0].Level})
	slices.SortFunc(list, byBegin)
	list = append(list, s.beside(series, list)...)
	slices.SortFunc(list, byBegin)
	return withEdges(list)
}

func byBegin(a, b run) int { return cmp.Compare(a.from, b.from) }

// beside returns short runs that are too small to stand out alone, but shortly before or after one that does, and with
// minutes of about its size. The first pulse of a flood in pulses can be such a run.
func (s Signal) beside(series []minute, list []run) []run {
	var found []run
	for _, part := range without(run{0, len(series)}, list) {
		near := func(strong run) bool { return strong.from == part.to || strong.to == part.from }
		most := int64(0)
		for _, strong := range list {
			if near(strong) {
				most = max(most, largest(series, strong))
			}
		}
		for _, r := range maximal(series[part.from:part.to], bar{levels[0].Level, most * milli / pulseSize}) {
			r.from, r.to = r.from+part.from, r.to+part.from
			n, expected := r.sums(series)
			isSoon := func(strong run) bool { return max(strong.from-r.to, r.from-strong.to) <= longestPause/Minute }
			if r.to-r.from < leastPause && n*milli-expected >= Signals[s].Least*milli/smaller &&
				isBeyondChance(n, expected, s.ratioOf(r)) && slices.ContainsFunc(list, isSoon) {
				found = append(found, r)
			}
		}
	}
	return found
}

// largest returns the number of requests of the largest minute of a run.
func largest(series []minute, r run) (most int64) {
	for _, m := range series[r.from:r.to] {
		most = max(most, m.n)
	}
	return most
}

// above returns the runs of a series that exceed a bar. With a low bar, a run may be longer than the episode, so each run
// is cut with the bar that its own numbers demand, until nothing changes. What is left of it may have weaker runs.
func (s Signal) above(series []minute, b bar) []run {
	var list []run
	for _, r := range maximal(series, b) {
		n, expected := r.sums(series)
		if !s.standsOut(n, expected, 100) {
			continue
		}
		within := func(part run, b bar) []run {
			inner := s.above(series[part.from:part.to], b)
			for i := range inner {
				inner[i].from, inner[i].to = inner[i].from+part.from, inner[i].to+part.from
			}
			return inner
		}
		next := bar{max(b.level, levelOf(n*milli*100/expected)), max(b.least, n*milli/int64(r.to-r.from)/faint)}
		cut := func(strong []run) {
			list = append(list, strong...)
			for _, part := range without(r, strong) {
				list = append(list, within(part, bar{level: levels[0].Level})...)
			}
		}
		if next != b {
			cut(joined(series, within(r, next)))
		} else if c, found := core(series, r); found {
			cut(within(c, bar{level: levels[0].Level}))
		} else if p, found := pauseIn(series, r); found {
			left, right := run{r.from, p.from}, run{p.to, r.to}
			parts := append(within(left, b), within(right, b)...)
			if similarPeaks(series, left, right) && excessOf(series, parts)*100 < partsShare*(n*milli-expected) &&
				s.standsOut(n, expected, s.ratioOf(r)) {
				parts = []run{r}
			}
			list = append(list, parts...)
		} else if s.standsOut(n, expected, s.ratioOf(r)) {
			list = append(list, r)
		}
	}
	return list
}

// excessOf returns what runs have beyond the usual number, in thousandths.
func excessOf(series []minute, list []run) (excess int64) {
	for _, r := range list {
		n, expected := r.sums(series)
		excess += n*milli - expected
	}
	return excess
}

// core returns the shortest part of a run that has nearly all of its excess, if it is much shorter than the run: the rest is
// only a little more than usual.
func core(series []minute, r run) (shortest run, found bool) {
	n, expected := r.sums(series)
	most := (n*milli - expected) * coreShare / 100
	shortest = run{r.from, r.from + (r.to-r.from)/coreLength + 1}
	for from := r.from; from < r.to; from++ {
		excess := int64(0)
		for to := from + 1; to <= r.to && to-from < shortest.to-shortest.from; to++ {
			excess += series[to-1].n*milli - series[to-1].expected
			if excess >= most {
				shortest, found = run{from, to}, true
			}
		}
	}
	return shortest, found
}

// ratioOf returns the least ratio of a run. A long one has to stand out more, because much of the ordinary traffic varies
// from hour to hour.
func (s Signal) ratioOf(r run) int64 {
	if r.to-r.from > longRun {
		return max(Signals[s].Ratio, Signals[s].LongRatio)
	}
	return Signals[s].Ratio
}

// without returns the parts of a run that are left without others, which are none if there are no others.
func without(r run, others []run) []run {
	if len(others) == 0 {
		return nil
	}
	var parts []run
	from := r.from
	for _, o := range others {
		if o.from > from {
			parts = append(parts, run{from, o.from})
		}
		from = max(from, o.to)
	}
	if from < r.to {
		parts = append(parts, run{from, r.to})
	}
	return parts
}

// joined returns runs in which neighbours with similar rates, and without a pause between them, are one.
func joined(series []minute, list []run) []run {
	slices.SortFunc(list, func(a, b run) int { return cmp.Compare(a.from, b.from) })
	var whole []run
	for _, r := range list {
		last := len(whole) - 1
		if last < 0 || !similar(series, whole[last], r) || isPause(series, whole[last], r) {
			whole = append(whole, r)
			continue
		}
		whole[last].to = max(whole[last].to, r.to)
	}
	return whole
}

// similar reports whether no run has many times the rate of the other.
func similar(series []minute, a, b run) bool {
	x, _ := a.sums(series)
	y, _ := b.sums(series)
	x, y = x*int64(b.to-b.from), y*int64(a.to-a.from)
	return x <= y*pausing && y <= x*pausing
}

// similarPeaks reports whether the largest minute of no run has many times the requests of the largest one of the other.
func similarPeaks(series []minute, a, b run) bool {
	most := func(r run) (n int64) {
		for _, m := range series[r.from:r.to] {
			n = max(n, m.n)
		}
		return n
	}
	x, y := most(a), most(b)
	return x*100 <= y*pulseRatio && y*100 <= x*pulseRatio
}

// isPause reports whether the minutes between two runs have much less than their part of the requests.
func isPause(series []minute, a, b run) bool {
	gap := run{a.to, max(a.to, b.from)}
	before, _ := a.sums(series)
	after, _ := b.sums(series)
	between, _ := gap.sums(series)
	part := (before + after) * int64(gap.to-gap.from) / int64(a.to-a.from+b.to-b.from)
	return gap.to-gap.from >= leastPause && part >= leastPart && between*pausing <= part
}

// withEdges returns runs in order, in which those of a minute or two right beside another are parts of it: the edges of
// an attack that begins or ends within a minute.
func withEdges(list []run) []run {
	var whole []run
	for _, r := range list {
		if last := len(whole) - 1; last >= 0 && r.from <= whole[last].to &&
			min(r.to-r.from, whole[last].to-whole[last].from) <= longestEdge {
			whole[last].to = max(whole[last].to, r.to)
			continue
		}
		whole = append(whole, r)
	}
	return whole
}

// apart returns each run as an episode of its own.
func apart(list []run) [][]run {
	episodes := make([][]run, len(list))
	for i, r := range list {
		episodes[i] = []run{r}
	}
	return episodes
}

// withPulses returns the episodes of runs in order: a run, or the pulses that runs without long pauses consist of. Runs
// that are not free together are no pulses.
func withPulses(series []minute, list []run, free func(r run) bool) [][]run {
	var episodes [][]run
	for i := 0; i < len(list); {
		whole, next := list[i], i+1
		for next < len(list) && list[next].from-whole.to <= longestPause/Minute && free(run{whole.from, list[next].to}) {
			whole.to, next = list[next].to, next+1
		}
		if pulses := pulsesIn(series, whole); pulses != nil && free(whole) {
			episodes = append(episodes, pulses)
		} else {
			episodes = append(episodes, apart(list[i:next])...)
		}
		i = next
	}
	return episodes
}

// pulsesIn returns the pulses that a run consists of, nil if it does not consist of pulses: its large minutes, with
// pauses between them, if they are few and have most of its excess.
func pulsesIn(series []minute, r run) (pulses []run) {
	most, length := largest(series, r), 0
	for at := r.from; at < r.to; at++ {
		if series[at].n*pulseSize < most {
			continue
		}
		if last := len(pulses) - 1; last >= 0 && at-pulses[last].to < leastPause {
			pulses[last].to = at + 1
		} else {
			pulses = append(pulses, run{at, at + 1})
		}
	}
	for _, p := range pulses {
		length += p.to - p.from
	}
	if len(pulses) < leastPulses || length*coreLength > r.to-r.from ||
		excessOf(series, pulses)*100 < pulsesShare*excessOf(series, []run{r}) {
		return nil
	}
	return pulses
}

// pauseIn returns the first pause in a run: minutes that have much less than their part of its requests.
func pauseIn(series []minute, r run) (pause run, found bool) {
	n, _ := r.sums(series)
	part := n * leastPause / int64(r.to-r.from)
	if part < leastPart {
		return run{}, false
	}
	for from := r.from; from+leastPause <= r.to; from++ {
		pause := run{from, from + leastPause}
		if got, _ := pause.sums(series); got*pausing <= part {
			return pause, true
		}
	}
	return run{}, false
}

// maximal returns the runs with maximal sums of what the minutes have beyond a bar: no longer or shorter run has
// a larger sum. It is the algorithm of Ruzzo and Tompa (A Linear Time Algorithm for Finding All Maximal Scoring
// Subsequences, 1999).
func maximal(series []minute, b bar) []run {
	type scored struct {
		run
		before, through int64 // sums of all minutes up to the begin and up to the end
	}
	var list []scored
	sum := int64(0)
	for i, m := range series {
		score := m.n*milli - max(m.expected*b.level/100, b.least)
		before := sum
		sum += score
		if score <= 0 {
			continue
		}
		next := scored{run{i, i + 1}, before, sum}
		for {
			j := len(list) - 1
			for j >= 0 && list[j].before >= next.before {
				j--
			}
			if j < 0 || list[j].through >= next.through {
				break
			}
			next.from, next.before = list[j].from, list[j].before
			list = list[:j]
		}
		list = append(list, next)
	}
	runs := make([]run, len(list))
	for i, r := range list {
		runs[i] = r.run
	}
	return runs
}
