package gen

import "math/bits"

// clock distributes the records over the period: an ordinary rate that follows the time of day, bursts of attacks, and
// incidents of origins.
type clock struct {
	from, to  int64 // epoch milliseconds
	slots     []slot
	incidents []incident
	tallies   []*tally // of the bursts, in order of time

	at    int // index of the current slot
	drawn int // records of that slot already drawn
	start int // records before that slot
}

// slot is a short part of the period; for a period of a day, a second.
type slot struct {
	upTo   int    // records until its end
	attack int    // per mille of its records that belong to the burst
	burst  *burst // nil outside bursts
}

// burst is one attack.
type burst struct {
	kind  attackKind
	host  int // index of the attacked host
	first int // index in the botnet of the first attacking address
	tally *tally
}

// incident is a time during which the origin of a host answers slowly or fails.
type incident struct {
	from, to int64
	host     int
	failing  bool
}

// moment is the time of one record and the attack to which it belongs.
type moment struct {
	ms    int64  // epoch milliseconds
	burst *burst // nil for ordinary traffic
	flow  *flow  // of a scene; nil for ordinary traffic
}

// rateByHour is the rate of ordinary traffic at the start of each UTC hour.
var rateByHour = [24]int{
	52, 43, 37, 35, 38, 47, 62, 80, 99, 117, 131, 140,
	146, 150, 153, 155, 158, 163, 165, 160, 146, 122, 94, 70,
}

const (
	maxSlots      = 86_400
	hourMs        = 3_600_000
	minuteMs      = 60_000
	attackWeight  = 166 // records of attacks per thousand ordinary records
	burstEvery    = 4 * hourMs
	minBursts     = 4
	maxBursts     = 2_000
	incidentEvery = 8 * hourMs
)

func newClock(seed uint64, from, to int64, records int) *clock {
	random := newSource(seed, streamClock)
	c := &clock{from: from, to: to, slots: make([]slot, min(to-from, maxSlots))}
	n := int64(len(c.slots))
	ordinary := make([]uint64, n)
	attack := make([]uint64, n)
	var total uint64
	for i := range ordinary {
		ordinary[i] = rateAt(c.startOf(int64(i))) * uint64(random.between(80, 120))
		total += ordinary[i]
	}
	total += c.placeBursts(&random, attack, total*attackWeight/1000)
	c.placeIncidents(&random)

	var sum uint64
	for i := range c.slots {
		both := ordinary[i] + attack[i]
		sum += both
		hi, lo := bits.Mul64(sum, uint64(records))
		upTo, _ := bits.Div64(hi, lo, total)
		c.slots[i].upTo = int(upTo)
		c.slots[i].attack = int(attack[i] * 1000 / both)
	}
	return c
}

// rateAt returns the ordinary rate at an instant, times a thousand.
func rateAt(ms int64) uint64 {
	inDay := ((ms % (24 * hourMs)) + 24*hourMs) % (24 * hourMs)
	hour, within := inDay/hourMs, inDay%hourMs
	a, b := int64(rateByHour[hour]), int64(rateByHour[(hour+1)%24])
	return uint64((a*(hourMs-within) + b*within) * 1000 / hourMs)
}

// placeBursts divides the period into equal parts and puts one burst into each, rotating through the kinds of attack.
// It adds the weight of the bursts to attack, about weight in total, and returns the exact total.
func (c *clock) placeBursts(random *source, attack []uint64, weight uint64) uint64 {
	period := c.to - c.from
	bursts := min(max(period/burstEvery, minBursts), maxBursts)
	part := period / bursts
	var placed uint64
	for b := range bursts {
		kind := attackKind(b % int64(attackKinds))
		length := min(int64(random.between(4, 14))*minuteMs, part/3)
		start := b*part + int64(random.below(int(part-length)+1))
		first := c.slotAt(start)
		last := max(c.slotAt(start+length), first+1)
		here := &burst{kind: kind, host: kind.host(random), first: random.below(botnetSize)}
		from, to := c.startOf(int64(first)), c.startOf(int64(last))
		here.tally = newTally(kindOf[kind], Steady, Unharmed, from, to, here.host)
		c.tallies = append(c.tallies, here.tally)
		each := weight / uint64(bursts) / uint64(last-first)
		for i := first; i < last && i < len(c.slots); i++ {
			c.slots[i].burst = here
			w := each * uint64(random.between(75, 125)) / 100
			attack[i] += w
			placed += w
		}
	}
	return placed
}

// placeIncidents divides the period into equal parts and puts one incident into each.
func (c *clock) placeIncidents(random *source) {
	period := c.to - c.from
	count := min(max(period/incidentEvery, 2), maxBursts)
	part := period / count
	for i := range count {
		length := min(int64(random.between(10, 25))*minuteMs, part/3)
		start := c.from + i*part + int64(random.below(int(part-length)+1))
		c.incidents = append(c.incidents, incident{
			from: start, to: start + length, host: random.below(8), failing: i%2 == 0,
		})
	}
}

// incidentAt returns the incident of the origin of a host at an instant, or nil.
func (c *clock) incidentAt(ms int64, host int) *incident {
	i := int((ms - c.from) * int64(len(c.incidents)) / (c.to - c.from))
	in := &c.incidents[min(i, len(c.incidents)-1)]
	if in.host != host || ms < in.from || ms >= in.to {
		return nil
	}
	return in
}

// revision changes every twelve hours.
func (c *clock) revision(ms int64, _ int) int64 { return ms/(12*hourMs) + 1 }

func (c *clock) startOf(slot int64) int64 {
	return c.from + muldiv(c.to-c.from, slot, int64(len(c.slots)))
}

// slotAt returns the index of the slot at an offset into the period, in milliseconds.
func (c *clock) slotAt(offset int64) int {
	return int(muldiv(offset, int64(len(c.slots)), c.to-c.from))
}

// muldiv returns a*b/c without intermediate overflow. The numbers must not be negative.
func muldiv(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	q, _ := bits.Div64(hi, lo, uint64(c))
	return int64(q)
}

// next returns the moment of the next record, which is never before the last. It must not be called more often than the
// number of records.
func (c *clock) next(random *source) moment {
	for c.start+c.drawn == c.slots[c.at].upTo {
		c.start, c.drawn = c.slots[c.at].upTo, 0
		c.at++
	}
	s := &c.slots[c.at]
	begin, end := c.startOf(int64(c.at)), c.startOf(int64(c.at)+1)
	// The slot is divided into as many steps as it has records, with one record at a random time in each.
	count, length := int64(s.upTo-c.start), end-begin
	at := begin + (length*int64(c.drawn)+int64(random.below(int(length))))/count
	c.drawn++
	m := moment{ms: at}
	if random.perMille(s.attack) {
		m.burst = s.burst
	}
	return m
}
