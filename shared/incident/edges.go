package incident

import (
	"math/bits"
	"slices"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
)

// The numbers of edges.
const (
	reachShare   = 4        // an edge is outside of the signal's by at most a quarter of the episode,
	leastReach   = Hour / 2 // or by half an hour if that is more,
	longestReach = 2 * Hour // but never by more than two hours
	edgeUsual    = Hour     // the time before and after that, which has the usual rate of the evidence
	edgeBeside   = 30       // minutes inside of an edge, with which those outside of it are compared
	leastFurther = 6000     // thousandths: the logarithm of a likelihood above which minutes outside are a part
	coreFit      = 80       // percent of the requests with the evidence that new edges must leave in the episode
	busyEach     = 20       // requests of each address, on average, that make addresses evidence besides a prefix
)

// reach returns by how many seconds the edges of an episode may be outside of the signal's.
func (e Episode) reach() int64 {
	return min(max(floor((e.To-e.From)/reachShare, Minute), leastReach), longestReach)
}

// addressesOf returns the addresses that are evidence of an incident: those that send about as much as the ones with
// most of the excess. Others may be people who come during the incident. It returns nil if there are too many. If the
// incident has a prefix, addresses that send less are evidence, too. There are none then if they are not busy, because
// others may come and go.
func (f Found) addressesOf(s Signs) (list []string) {
	part := int64(pausing)
	if f.Prefix != "" {
		part = faint
	}
	sum, n := int64(0), int64(0)
	for _, a := range s.Addresses {
		if sum*100 < addressShare*f.Excess {
			sum, n = sum+a.Requests, n+1
		} else if a.Requests*n*part < sum {
			break
		}
		list = append(list, a.Text)
	}
	if len(list) > mostAddresses || f.Prefix != "" && sum < n*busyEach {
		return nil
	}
	return list
}

// Trace counts the requests with the evidence of an incident, in each minute of its time and of the time around it.
type Trace struct {
	Span
	signal Signal
	n      [][]int64 // all of these requests and, unless the signal counts all, those of the signal
}

// NewTrace returns the trace of an incident without requests.
func NewTrace(f Found) *Trace {
	around := f.reach() + edgeUsual
	t := &Trace{Span: Span{f.From - around, f.To + around}, signal: f.Signal}
	for range len(t.Selections()) + 1 {
		t.n = append(t.n, make([]int64, (t.To-t.From)/Minute))
	}
	return t
}

// Selections returns the conditions of each number of Add but the first.
func (t *Trace) Selections() []string {
	switch {
	case t.signal.isOfAll():
		return []string{}
	case t.signal == Stopping: // all but those that passed
		return []string{filter.Joined(passing...)}
	}
	return []string{filter.Joined(t.signal.Conditions()...)}
}

// Add adds requests in minutes: all, and those of each selection.
func (t *Trace) Add(times []int64, n [][]int64) {
	for i, at := range times {
		if at < t.From || at >= t.To {
			continue
		}
		minute := (at - t.From) / Minute
		t.n[0][minute] += n[0][i]
		switch {
		case len(n) == 1:
		case t.signal == Stopping:
			t.n[1][minute] += n[0][i] - n[1][i]
		default:
			t.n[1][minute] += n[1][i]
		}
	}
}

// Evidence returns the filter for the requests of a trace, within conditions; "" if the incident has all requests of
// its host, so that nothing more is known than what the signal says.
func (f Found) Evidence(t *Trace, conditions string) string {
	evidence := f.evidence(false)
	switch {
	case f.robots:
		evidence = f.besidesPrefix(condition("user_agent", filter.Regex, false, robotAgents))
	case f.traceable != nil:
		evidence = f.besidesPrefix(catalog.Equal("ip", false, f.traceable...).String())
	}
	if evidence == "" {
		return ""
	}
	return filter.Joined(t.During(), f.Host.Condition(), evidence, conditions)
}

// besidesPrefix returns a condition together with that for the prefix, if the incident has one.
func (f Found) besidesPrefix(condition string) string {
	if f.Prefix == "" {
		return condition
	}
	return filter.Joined(f.evidence(false), condition)
}

// WithEdges returns incidents that begin and end where their traces, which may be nil, do. A signal has many requests
// that are usual, so where it stands out is only about where the incident begins and ends. Edges stay in the period,
// and do not reach into another incident at the same target.
func WithEdges(found []Found, traces []*Trace, period Span) []Found {
	list := make([]Found, len(found))
	for i, f := range found {
		if list[i] = f; traces[i] == nil {
			continue
		}
		free := Span{f.From - f.reach(), f.To + f.reach()}
		for _, o := range found {
			if o.Target() != f.Target() {
				continue
			}
			if o.To <= f.From {
				free.From = max(free.From, o.To)
			}
			if o.From >= f.To {
				free.To = min(free.To, o.From)
			}
		}
		list[i].Episode = f.Episode.withEdges(traces[i], free).within(period)
	}
	return list
}

// within returns the episode cut by a period, if it overlaps with it.
func (e Episode) within(period Span) Episode {
	from, to := floor(period.From, Minute), floor(period.To-1, Minute)+Minute
	e.BeginsEarlier, e.EndsLater = e.BeginsEarlier || e.From < from, e.EndsLater || e.To >= to
	e.From, e.To = max(e.From, from), min(e.To, to)
	return e
}

// withEdges returns the episode with the edges of its trace in a free span. An edge that the period cuts stays.
func (e Episode) withEdges(t *Trace, free Span) Episode {
	at := func(second int64) int { return int((second - t.From) / Minute) }
	whole, room := run{at(e.From), at(e.To)}, run{at(free.From), at(free.To)}
	if e.BeginsEarlier {
		room.from = whole.from
	}
	if e.EndsLater {
		room.to = whole.to
	}
	if room == whole {
		return e
	}
	n, usual := t.clearest(e, whole)
	if n == nil {
		return e
	}
	r := strongest(n, room, whole, usual)
	first, last := n[r.from:min(r.to, r.from+edgeBeside)], n[max(r.from, r.to-edgeBeside):r.to]
	if e.BeginsEarlier || r.from > whole.from && isPart(n[whole.from:r.from], first) {
		r.from = whole.from
	}
	if e.EndsLater || r.to < whole.to && isPart(n[r.to:whole.to], last) {
		r.to = whole.to
	}
	kept := run{max(r.from, whole.from), min(r.to, whole.to)}
	if kept.from >= kept.to || sum(n[kept.from:kept.to])*100 < coreFit*sum(n[whole.from:whole.to]) {
		return e
	}
	outside := slices.Clone(n[room.from:r.from])
	slices.Reverse(outside)
	r.from -= further(outside, first, usual)
	r.to += further(n[r.to:room.to], last, usual)
	e.From, e.To = t.From+int64(r.from)*Minute, t.From+int64(r.to)*Minute
	return e
}

func sum(n []int64) (sum int64) {
	for _, one := range n {
		sum += one
	}
	return sum
}

// clearest returns the numbers of all requests with the evidence, or of those of the signal, whichever differ more
// clearly from what is usual, and their usual rate: that before or after the episode, whichever is larger. It returns
// nil if neither differ.
func (t *Trace) clearest(e Episode, whole run) (clearest []int64, usual int64) {
	most, ends := int64(0), edgeUsual/Minute
	for _, n := range t.n {
		u := int64(0)
		if !e.BeginsEarlier {
			u = max(u, rate(n[:ends]))
		}
		if !e.EndsLater {
			u = max(u, rate(n[len(n)-ends:]))
		}
		inside := n[whole.from:whole.to]
		if l := likelihood(sum(inside), u*int64(len(inside))); l > most {
			most, clearest, usual = l, n, max(u, Signals[t.signal].LeastRate)
		}
	}
	return clearest, usual
}

// rate returns the rate of minutes in thousandths of a request; half a request is the least that can be said.
func rate(n []int64) int64 { return max(sum(n)*milli, milli/2) / int64(len(n)) }

// strongest returns the part of a room whose sum above the level of a run is the largest, which is where its rate most
// likely begins and ends.
func strongest(n []int64, room, whole run, usual int64) run {
	level := usual * levelOf(sum(n[whole.from:whole.to])*milli*100/(usual*int64(whole.to-whole.from))) / 100
	best, most := whole, int64(0)
	total, lowest, from := int64(0), int64(0), room.from
	for i := room.from; i < room.to; i++ {
		if total += n[i]*milli - level; total-lowest > most {
			most, best = total-lowest, run{from, i + 1}
		}
		if total < lowest {
			lowest, from = total, i+1
		}
	}
	return best
}

// isPart reports whether minutes have at least a faint-th of the rate of those beside them.
func isPart(outside, beside []int64) bool {
	return sum(outside)*int64(len(beside))*faint >= sum(beside)*int64(len(outside))
}

// further returns by how many of the minutes outside of an edge, the nearest first, an episode is longer because it has
// grown or faded slowly: those that are the least likely to be usual.
func further(outside, beside []int64, usual int64) (longer int) {
	most := int64(leastFurther)
	for i, n := range outside {
		if n == 0 || !isPart(outside[:i+1], beside) {
			continue
		}
		if l := likelihood(sum(outside[:i+1]), usual*int64(i+1)); l > most {
			most, longer = l, i+1
		}
	}
	return longer
}

// likelihood returns how much more likely n requests are at their own rate than where so many thousandths are expected:
// the logarithm of the ratio, in thousandths, of a Poisson distribution. It is 0 if n is not above what is expected.
func likelihood(n, expected int64) int64 {
	if n*milli <= expected {
		return 0
	}
	return n*logarithm(n*milli, max(1, expected)) - n*milli + expected
}

const (
	bitsOfLogarithm = 12      // behind the point
	logarithmOfTwo  = 693_147 // natural, in millionths
)

// logarithm returns the natural logarithm of a/b in thousandths, for a ≥ b. It is an integer, because logarithms of
// floating-point numbers are not equal on all machines.
func logarithm(a, b int64) int64 {
	const one = 16
	x := uint64(a) << one / uint64(b)
	whole := bits.Len64(x) - 1 - one
	x = x << (63 - one - whole) >> 31 // from 1 to 2, with 32 bits behind the point
	binary := int64(whole)
	for range bitsOfLogarithm {
		high, low := bits.Mul64(x, x)
		x = high<<32 | low>>32
		binary <<= 1
		if x >= 2<<32 {
			x, binary = x>>1, binary|1
		}
	}
	return binary * logarithmOfTwo / milli >> bitsOfLogarithm
}
