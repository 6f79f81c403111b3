package incident

import (
	"cmp"
	"slices"
)

// Grid has numbers of requests by host, measure and segment.
type Grid struct {
	span  Span
	step  int64
	hosts map[Host]*numbers
}

// numbers are the numbers of a host, by measure and segment.
type numbers [Measures][]int64

// NewGrid returns a grid whose segments contain a span.
func NewGrid(span Span, step int64) *Grid {
	from := floor(span.From, step)
	return &Grid{Span{from, floor(span.To-1, step) + step}, step, map[Host]*numbers{}}
}

// floor returns the largest multiple of a length that is not above n.
func floor(n, length int64) int64 { return n - ((n%length)+length)%length }

// Span returns what the grid contains.
func (g *Grid) Span() Span { return g.span }

// Add adds requests in the segment of a time. Times outside of the grid are ignored.
func (g *Grid) Add(host Host, m Measure, at, n int64) {
	if at < g.span.From || at >= g.span.To {
		return
	}
	of := g.hosts[host]
	if of == nil {
		of = &numbers{}
		for i := range of {
			of[i] = make([]int64, (g.span.To-g.span.From)/g.step)
		}
		g.hosts[host] = of
	}
	of[m][(at-g.span.From)/g.step] += n
}

// Hosts returns the hosts with requests, in order.
func (g *Grid) Hosts() []Host {
	list := make([]Host, 0, len(g.hosts))
	for h := range g.hosts {
		list = append(list, h)
	}
	slices.SortFunc(list, compareHosts)
	return list
}

func compareHosts(a, b Host) int { return cmp.Compare(a.String(), b.String()) }

// number returns the requests of a signal in a segment; 0 outside of the grid, and for nil, a host without requests.
func (g *Grid) number(of *numbers, s Signal, at int64) int64 {
	if of == nil || at < g.span.From || at >= g.span.To {
		return 0
	}
	i := (at - g.span.From) / g.step
	if s == Stopping {
		return of[All][i] - of[Passed][i]
	}
	return of[Signals[s].measure][i]
}

// usual is what is usual at a host.
type usual struct {
	rate  int64 // thousandths of a request in an hour
	share int64 // of all requests, in millionths; 0 for all requests themselves
	least int64 // thousandths of a request in a minute: no rate is lower
	known bool
}

// usualAt returns what is usual in the hour that begins at a time: the median of the hours before it since the host has
// requests. At the beginning of the data, hours after it complete the number. The usual number of all requests is also that
// of the same hours of the day before, and of the two hours before start, which is where what stands out begins, because
// traffic has a daily rhythm.
func (g *Grid) usualAt(of *numbers, s Signal, hour, start int64) usual {
	first := hour - history*Hour
	for first < hour && g.number(of, Rush, first) == 0 {
		first += Hour
	}
	until := hour
	if hour-first < leastHistory*Hour {
		until = min(g.span.To, first+history*Hour)
	}
	var counted, shared [history]int64
	counts, shares, busy := counted[:0], shared[:0], 0
	for at := first; at < until; at += Hour {
		n, all := g.number(of, s, at), g.number(of, Rush, at)
		counts = append(counts, n)
		if all == 0 {
			continue
		}
		if busy++; s != Rush {
			shares = append(shares, n*million/all)
		}
	}
	u := usual{rate: median(counts) * milli, share: median(shares), least: Signals[s].LeastRate, known: busy >= leastHistory}
	if s == Rush {
		for _, at := range []int64{hour - 25*Hour, hour - 24*Hour, hour - 23*Hour, start - 2*Hour, start - Hour} {
			u.rate = max(u.rate, g.number(of, s, at)*milli)
		}
	}
	return u
}

// usualShare returns what is usual in a span of minutes of a host that has too few hours to know it: the median share in
// its pieces.
func (g *Grid) usualShare(of *numbers, s Signal, span Span) usual {
	var shares []int64
	for from := span.From; from < span.To; from += piece {
		n, all := int64(0), int64(0)
		for at := from; at < from+piece; at += g.step {
			n, all = n+g.number(of, s, at), all+g.number(of, Rush, at)
		}
		if all > 0 {
			shares = append(shares, n*million/all)
		}
	}
	u := usual{share: median(shares), least: Signals[s].LeastRate}
	if len(shares) < leastPieces {
		u.share = min(u.share, mostShare)
	}
	return u
}

// median returns the upper median, 0 of no numbers.
func median(list []int64) int64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// expected returns the usual number of requests of a signal, in thousandths, in so many seconds with so many requests
// of all kinds. More traffic has more of everything, so the share counts if it gives more than the rate.
func (u usual) expected(all, seconds int64) int64 {
	return max(u.rate*seconds/Hour, u.share*all/(million/milli), u.least*seconds/Minute)
}

// standsOut reports whether a number is too far above the usual one, in thousandths, to be chance.
func (s Signal) standsOut(n, expected, ratio int64) bool {
	excess := n*milli - expected
	return excess >= Signals[s].Least*milli && n*milli*100 >= ratio*expected &&
		excess/milli*(excess/milli) >= deviations*deviations*expected/milli
}

// Window is a span of hours whose minutes are looked at, at one host.
type Window struct {
	Host Host
	Span
	first int64 // the first hour that stands out
}

// Windows returns the hours of a period in which something stands out, with a margin. Overlapping ones are one. The
// order is by host, then time. The grid has hours, and begins Before the period.
func (g *Grid) Windows(period Span) []Window {
	var list []Window
	for _, host := range g.Hosts() {
		var spans []Window
		for s := range signals {
			for _, at := range g.outstanding(g.hosts[host], s, Span{floor(period.From, Hour), period.To}) {
				spans = append(spans, Window{host, Span{at.From - Margin*Hour, at.To + Margin*Hour}, at.From})
			}
		}
		slices.SortStableFunc(spans, func(a, b Window) int { return cmp.Compare(a.From, b.From) })
		for _, w := range spans {
			if last := len(list) - 1; last >= 0 && list[last].Host == host && w.From <= list[last].To {
				list[last].To = max(list[last].To, w.To)
				continue
			}
			list = append(list, w)
		}
	}
	return list
}

// outstanding returns the hours of a period in which a signal stands out: single hours, and longer windows. Single hours do
// not count in windows, because a burst would make all windows around it stand out.
func (g *Grid) outstanding(of *numbers, s Signal, period Span) []Span {
	var list []Span
	single, known := map[int64]bool{}, map[int64]usual{}
	usualAt := func(hour int64) usual {
		u, ok := known[hour]
		if !ok {
			u = g.usualAt(of, s, hour, hour)
			known[hour] = u
		}
		return u
	}
	for hour := period.From; hour < period.To; hour += Hour {
		n := g.number(of, s, hour)
		if n < Signals[s].Least {
			continue
		}
		u, ratio := usualAt(hour), int64(100)
		if s == Rush {
			ratio = coarseRatio
		}
		if u.known && s.standsOut(n, u.expected(g.number(of, Rush, hour), Hour), ratio) || !u.known && s != Rush {
			single[hour] = true
			list = append(list, Span{hour, hour + Hour})
		}
	}
	for hour := period.From; hour < period.To; hour += Hour {
		end := min(period.To, hour+longestWindow*Hour)
		if until := g.window(of, s, Span{hour, end}, single, usualAt); until > 0 {
			list = append(list, Span{hour, until})
		}
	}
	return list
}

// window returns the end of the longest window in which a signal stands out, without single hours, and that begins with a
// span and ends in it. It returns 0 if there is none.
func (g *Grid) window(
	of *numbers, s Signal, span Span, single map[int64]bool, usualAt func(hour int64) usual,
) (until int64) {
	total := int64(0)
	for at := span.From; at < span.To; at += Hour {
		total += g.number(of, s, at)
	}
	if single[span.From] || total < Signals[s].Least { // most windows
		return 0
	}
	u := usualAt(span.From)
	if !u.known {
		return 0
	}
	n, expected := int64(0), int64(0)
	for at := span.From; at < span.To; at += Hour {
		ratio := int64(100)
		switch {
		case s == Rush && at > span.From+Hour: // the rhythm of a day makes many hours differ
			ratio = Signals[s].Ratio
		case s == Rush:
			ratio = coarseRatio
		}
		if !single[at] {
			n += g.number(of, s, at)
			expected += u.expected(g.number(of, Rush, at), Hour)
		}
		if s.standsOut(n, expected, ratio) {
			until = at + Hour
		}
	}
	return until
}

// Episodes returns the episodes of a period at the hosts of windows, by begin, then host. Hours is the grid that has the
// windows, minutes a grid with their minutes.
func Episodes(period Span, hours, minutes *Grid, list []Window) []Episode {
	var all []Episode
	for _, w := range list {
		all = append(all, together(episodesOf(w, hours, minutes))...)
	}
	all = slices.DeleteFunc(all, func(e Episode) bool { return !e.overlaps(period) })
	from, to := floor(period.From, Minute), floor(period.To-1, Minute)+Minute
	for i := range all {
		e := &all[i]
		e.BeginsEarlier, e.EndsLater = e.From < from, e.To >= to
		e.From, e.To = max(e.From, from), min(e.To, to)
	}
	slices.SortFunc(all, func(a, b Episode) int {
		return cmp.Or(cmp.Compare(a.From, b.From), compareHosts(a.Host, b.Host))
	})
	return all
}

// minute is the number of requests in a minute, and the usual one in thousandths.
type minute struct{ n, expected int64 }

// episodesOf returns the episodes of all signals in a window.
func episodesOf(w Window, hours, minutes *Grid) []Episode {
	var list []Episode
	before, during := hours.hosts[w.Host], minutes.hosts[w.Host]
	for s := range signals {
		series := make([]minute, 0, (w.To-w.From)/Minute)
		var u usual
		for at := w.From; at < w.To; at += Minute {
			if at%Hour == 0 || at == w.From {
				if u = hours.usualAt(before, s, floor(at, Hour), w.first); !u.known {
					u = minutes.usualShare(during, s, w.Span)
				}
			}
			series = append(series, minute{
				minutes.number(during, s, at), u.expected(minutes.number(during, Rush, at), Minute),
			})
		}
		if s == Rush && !hours.usualAt(before, s, w.first, w.first).known {
			continue
		}
		for _, r := range s.runs(series) {
			e := Episode{
				Span: Span{w.From + int64(r.from)*Minute, w.From + int64(r.to)*Minute}, Host: w.Host, Signal: s,
			}
			n, expected := r.sums(series)
			e.Excess, e.Ratio = n-expected/milli, n*milli*100/expected
			list = append(list, e)
		}
	}
	return list
}

// together returns episodes of one host in which those that overlap are one.
func together(list []Episode) []Episode {
	slices.SortStableFunc(list, func(a, b Episode) int { return cmp.Compare(a.From, b.From) })
	var merged []Episode
	var parts [][]Episode
	for _, e := range list {
		if last := len(merged) - 1; last >= 0 && merged[last].overlaps(e.Span) {
			merged[last].Span = merged[last].union(e.Span)
			parts[last] = append(parts[last], e)
			continue
		}
		merged, parts = append(merged, e), append(parts, []Episode{e})
	}
	for i, of := range parts {
		most := slices.MaxFunc(of, func(a, b Episode) int { return cmp.Compare(a.Excess, b.Excess) }).Excess
		slices.SortStableFunc(of, func(a, b Episode) int {
			return cmp.Or(cmp.Compare(a.Signal, b.Signal), cmp.Compare(b.Excess, a.Excess))
		})
		of = slices.DeleteFunc(of, func(e Episode) bool { return e.Excess*2 < most })
		merged[i].Signal, merged[i].Excess, merged[i].Ratio = of[0].Signal, of[0].Excess, of[0].Ratio
		clearest := slices.MaxFunc(of, func(a, b Episode) int { return cmp.Compare(a.Ratio, b.Ratio) }).Span
		if whole := merged[i].Span; (clearest.To-clearest.From)*2 > whole.To-whole.From {
			merged[i].Span = clearest
		}
	}
	return merged
}

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
	slices.SortFunc(list, func(a, b run) int { return cmp.Compare(a.from, b.from) })
	return withEdges(list)
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
