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

// Add adds requests of a host in the segments of these times, by measure. Times outside of the grid are ignored.
func (g *Grid) Add(host Host, times []int64, n [][]int64) {
	of := g.hosts[host]
	if of == nil {
		of = &numbers{}
		for i := range of {
			of[i] = make([]int64, (g.span.To-g.span.From)/g.step)
		}
		g.hosts[host] = of
	}
	for i, at := range times {
		if at < g.span.From || at >= g.span.To {
			continue
		}
		segment := (at - g.span.From) / g.step
		for m := range n {
			of[m][segment] += n[m][i]
		}
	}
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
// requests. At the beginning of the data, hours after it complete the number. The usual number of all requests is also
// that of the same hours of the day before, and of the two hours before start, which is where what stands out begins,
// because traffic has a daily rhythm.
func (g *Grid) usualAt(of *numbers, s Signal, hour, start int64) usual {
	return g.withShare(of, s, hour, g.rateAt(of, s, hour, start))
}

// rateAt is usualAt without the share.
func (g *Grid) rateAt(of *numbers, s Signal, hour, start int64) usual {
	var counted [history]int64
	counts, busy := counted[:0], 0
	span := g.history(of, hour)
	for at := span.From; at < span.To; at += Hour {
		counts = append(counts, g.number(of, s, at))
		if g.number(of, Rush, at) > 0 {
			busy++
		}
	}
	u := g.leastUsual(of, s, hour, start)
	u.rate, u.known = max(u.rate, median(counts)*milli), busy >= leastHistory
	return u
}

// withShare adds the usual share of all requests in an hour.
func (g *Grid) withShare(of *numbers, s Signal, hour int64, u usual) usual {
	if s.isOfAll() {
		return u
	}
	var shared [history]int64
	shares := shared[:0]
	span := g.history(of, hour)
	for at := span.From; at < span.To; at += Hour {
		if all := g.number(of, Rush, at); all > 0 {
			shares = append(shares, g.number(of, s, at)*million/all)
		}
	}
	u.share = median(shares)
	return u
}

// history returns the hours that tell what is usual in an hour.
func (g *Grid) history(of *numbers, hour int64) Span {
	span := Span{hour - history*Hour, hour}
	for span.From < hour && g.number(of, Rush, span.From) == 0 {
		span.From += Hour
	}
	if hour-span.From < leastHistory*Hour {
		span.To = min(g.span.To, span.From+history*Hour)
	}
	return span
}

// leastUsual returns the part of what is usual that is known without medians. For a signal of all requests, that is as
// much as shortly before, and as a day before.
func (g *Grid) leastUsual(of *numbers, s Signal, hour, start int64) usual {
	u := usual{least: Signals[s].LeastRate}
	if !s.isOfAll() {
		return u
	}
	for _, at := range [...]int64{hour - 25*Hour, hour - 24*Hour, hour - 23*Hour, start - 2*Hour, start - Hour} {
		u.rate = max(u.rate, g.number(of, s, at)*milli)
	}
	return u
}

// usualShare returns what is usual in a span of minutes of a host that has too few hours to know it: the median share
// in its pieces.
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

// median returns the upper median, 0 of no numbers. It changes the order of the numbers, but does not sort them: a
// month has tens of thousands of medians.
func median(list []int64) int64 {
	if len(list) == 0 {
		return 0
	}
	middle := len(list) / 2
	for from, to := 0, len(list)-1; from < to; { // the median is within them
		pivot, i, j := list[(from+to)/2], from, to
		for i <= j {
			for list[i] < pivot {
				i++
			}
			for list[j] > pivot {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i, j = i+1, j-1
			}
		}
		switch { // from…j are at most the pivot, i…to at least; those between are the pivot
		case middle <= j:
			to = j
		case middle >= i:
			from = i
		default:
			from = to
		}
	}
	return list[middle]
}

// expected returns the usual number of requests of a signal, in thousandths, in so many seconds with so many requests
// of all kinds. More traffic has more of everything, so the share counts if it gives more than the rate.
func (u usual) expected(all, seconds int64) int64 {
	return max(u.rate*seconds/Hour, u.share*all/(million/milli), u.least*seconds/Minute)
}

// standsOut reports whether a number is too far above the usual one, in thousandths, to be chance.
func (s Signal) standsOut(n, expected, ratio int64) bool {
	return n*milli-expected >= Signals[s].Least*milli && isBeyondChance(n, expected, ratio)
}

// isBeyondChance is standsOut without the least number of requests.
func isBeyondChance(n, expected, ratio int64) bool {
	excess := n*milli - expected
	return n*milli*100 >= ratio*expected && excess/milli*(excess/milli) >= deviations*deviations*expected/milli
}

// Window is a span of hours whose minutes are looked at, at one host.
type Window struct {
	Host Host
	Span
	first int64 // the first hour that stands out
}

// Windows returns the hours of a period in which something stands out at a host, with a margin, in their order.
// Overlapping ones are one. The grid has hours, and begins Before the period.
func (g *Grid) Windows(host Host, period Span) (list []Window) {
	var spans []Window
	for s := range signals {
		for _, at := range g.outstanding(g.hosts[host], s, Span{floor(period.From, Hour), period.To}) {
			spans = append(spans, Window{host, Span{at.From - Margin*Hour, at.To + Margin*Hour}, at.From})
		}
	}
	slices.SortStableFunc(spans, func(a, b Window) int { return cmp.Compare(a.From, b.From) })
	for _, w := range spans {
		if last := len(list) - 1; last >= 0 && w.From <= list[last].To {
			list[last].To = max(list[last].To, w.To)
			continue
		}
		list = append(list, w)
	}
	return list
}

// outstanding returns the hours of a period in which a signal stands out: single hours, and longer windows. Single
// hours do not count in windows, because a burst would make all windows around it stand out.
func (g *Grid) outstanding(of *numbers, s Signal, period Span) []Span {
	var list []Span
	single := map[int64]bool{}
	rateAt := kept(period, func(hour int64) usual { return g.rateAt(of, s, hour, hour) })
	usualAt := kept(period, func(hour int64) usual { return g.withShare(of, s, hour, rateAt(hour)) })
	for hour := period.From; hour < period.To; hour += Hour {
		n := g.number(of, s, hour)
		if n < Signals[s].Least {
			continue
		}
		ratio := int64(100)
		if s.isOfAll() {
			ratio = coarseRatio
			if !s.standsOut(n, g.leastUsual(of, s, hour, hour).expected(0, Hour), ratio) { // most hours
				continue
			}
		}
		all := g.number(of, Rush, hour)
		if u := rateAt(hour); u.known && !s.standsOut(n, u.expected(all, Hour), ratio) {
			continue
		}
		u := usualAt(hour)
		if u.known && s.standsOut(n, u.expected(all, Hour), ratio) || !u.known && !s.isOfAll() {
			single[hour] = true
			list = append(list, Span{hour, hour + Hour})
		}
	}
	for hour := period.From; hour < period.To; hour += Hour {
		end := min(period.To, hour+longestWindow*Hour)
		if until := g.window(of, s, Span{hour, end}, single, rateAt, usualAt); until > 0 {
			list = append(list, Span{hour, until})
		}
	}
	return list
}

// window returns the end of the longest window in which a signal stands out, without single hours, and that begins with
// a span and ends in it. It returns 0 if there is none.
func (g *Grid) window(
	of *numbers, s Signal, span Span, single map[int64]bool, rateAt, usualAt func(hour int64) usual,
) (until int64) {
	total := int64(0)
	for at := span.From; at < span.To; at += Hour {
		total += g.number(of, s, at)
	}
	if single[span.From] || total < Signals[s].Least { // most windows
		return 0
	}
	if g.lastsUntil(of, s, span, single, g.leastUsual(of, s, span.From, span.From)) == 0 { // most of the others
		return 0
	}
	u := rateAt(span.From)
	if !u.known || g.lastsUntil(of, s, span, single, u) == 0 {
		return 0
	}
	return g.lastsUntil(of, s, span, single, usualAt(span.From))
}

// kept returns a function that calculates what is usual in each hour of a period once.
func kept(period Span, calculate func(hour int64) usual) func(hour int64) usual {
	list := make([]*usual, (period.To-period.From+Hour-1)/Hour)
	return func(hour int64) usual {
		i := (hour - period.From) / Hour
		if list[i] == nil {
			u := calculate(hour)
			list[i] = &u
		}
		return *list[i]
	}
}

// lastsUntil is window with what is usual. If more is usual, the window is not longer.
func (g *Grid) lastsUntil(of *numbers, s Signal, span Span, single map[int64]bool, u usual) (until int64) {
	n, expected := int64(0), int64(0)
	for at := span.From; at < span.To; at += Hour {
		ratio := int64(100)
		switch {
		case s.isOfAll() && at > span.From+Hour: // the rhythm of a day makes many hours differ
			ratio = Signals[s].Ratio
		case s.isOfAll():
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

// Episodes returns the episodes of a period at the hosts of windows, by begin, then host. Hours is the grid that has
// the windows, minutes a grid with their minutes.
func Episodes(period Span, hours, minutes *Grid, list []Window) []Episode {
	var all []Episode
	for _, w := range list {
		all = append(all, together(episodesOf(w, hours, minutes))...)
	}
	all = slices.DeleteFunc(all, func(e Episode) bool { return !e.overlaps(period) })
	for i, e := range all {
		all[i] = e.within(period)
	}
	slices.SortFunc(all, func(a, b Episode) int {
		return cmp.Or(cmp.Compare(a.From, b.From), compareHosts(a.Host, b.Host))
	})
	return all
}

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
			n := minutes.number(during, s, at)
			if s == Repeating && slices.ContainsFunc(list, func(e Episode) bool { return e.From <= at && at < e.To }) {
				n = 0
			}
			series = append(series, minute{n, u.expected(minutes.number(during, Rush, at), Minute)})
		}
		if s.isOfAll() && !hours.usualAt(before, s, w.first, w.first).known {
			continue
		}
		list = append(list, s.episodesIn(w, series, list)...)
	}
	return list
}

// episodesIn returns the episodes of a signal in a window. series are its minutes, and others are the episodes of the
// other signals.
func (s Signal) episodesIn(w Window, series []minute, others []Episode) []Episode {
	span := func(r run) Span { return Span{w.From + int64(r.from)*Minute, w.From + int64(r.to)*Minute} }
	free := func(r run) bool { // of other signals, which explain the requests
		return !slices.ContainsFunc(others, func(o Episode) bool { return o.overlaps(span(r)) })
	}
	runs := s.runs(series)
	if s == Repeating {
		runs = slices.DeleteFunc(runs, func(r run) bool { return !free(r) })
	}
	parts := apart(runs)
	if s.isOfAll() {
		parts = withPulses(series, runs, free)
	}
	list := make([]Episode, len(parts))
	for i, of := range parts {
		whole := run{of[0].from, of[len(of)-1].to}
		e := Episode{Span: span(whole), Host: w.Host, Signal: s}
		for _, r := range of {
			n, expected := r.sums(series)
			e.Excess += n - expected/milli
		}
		n, expected := whole.sums(series)
		e.Ratio = n * milli * 100 / expected
		list[i] = e
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
