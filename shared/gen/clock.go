package gen

import "math/bits"

// clock spreads the records over the period: an ordinary rate that follows the time of day, bursts of attacks
// on top, and the times at which an origin is ill.
type clock struct {
	from, to  int64 // epoch milliseconds
	slots     []slot
	incidents []incident

	at    int // slot
	given int // records of that slot already given
	start int // records before that slot
}

// slot is a short stretch of the period, a second of a day.
type slot struct {
	upTo   int    // records until its end
	attack int    // per mille of its records that belong to the burst
	burst  *burst // nil when there is none
}

// burst is one attack.
type burst struct {
	kind  attackKind
	host  int // the host attacked
	first int // of the botnet: the first of the addresses it comes from
}

// incident is a time at which the origin of a host answers slowly or not at all.
type incident struct {
	from, to int64
	host     int
	failing  bool
}

// moment is what the clock says of one record.
type moment struct {
	ms    int64
	burst *burst // the attack the record belongs to; nil for ordinary traffic
}

// rateByHour is the rate of ordinary traffic at the start of each UTC hour.
var rateByHour = [24]int{52, 43, 37, 35, 38, 47, 62, 80, 99, 117, 131, 140, 146, 150, 153, 155, 158, 163, 165, 160, 146, 122, 94, 70}

const (
	mostSlots     = 86_400
	hourMs        = 3_600_000
	minuteMs      = 60_000
	attackWeight  = 166 // of attacks, per thousand ordinary records
	burstEvery    = 4 * hourMs
	fewestBursts  = 4
	mostBursts    = 2_000
	incidentEvery = 8 * hourMs
)

func newClock(seed uint64, from, to int64, records int) *clock {
	random := newSource(seed, streamClock)
	c := &clock{from: from, to: to, slots: make([]slot, min(to-from, mostSlots))}
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

// rateAt is the ordinary rate at an instant, times a thousand.
func rateAt(ms int64) uint64 {
	inDay := ((ms % (24 * hourMs)) + 24*hourMs) % (24 * hourMs)
	hour, within := inDay/hourMs, inDay%hourMs
	a, b := int64(rateByHour[hour]), int64(rateByHour[(hour+1)%24])
	return uint64((a*(hourMs-within) + b*within) * 1000 / hourMs)
}

// placeBursts gives each attack kind its turn, one burst in each equal part of the period, together of the given
// weight. It returns the weight really placed.
func (c *clock) placeBursts(random *source, attack []uint64, weight uint64) uint64 {
	period := c.to - c.from
	bursts := min(max(period/burstEvery, fewestBursts), mostBursts)
	part := period / bursts
	var placed uint64
	for b := range bursts {
		kind := attackKind(b % int64(attackKinds))
		length := min(int64(random.between(4, 14))*minuteMs, part/3)
		start := b*part + int64(random.below(int(part-length)+1))
		first := c.slotAt(start)
		last := max(c.slotAt(start+length), first+1)
		here := &burst{kind: kind, host: kind.host(random), first: random.below(botnetSize)}
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

func (c *clock) placeIncidents(random *source) {
	period := c.to - c.from
	count := min(max(period/incidentEvery, 2), mostBursts)
	part := period / count
	for i := range count {
		length := min(int64(random.between(10, 25))*minuteMs, part/3)
		start := c.from + i*part + int64(random.below(int(part-length)+1))
		c.incidents = append(c.incidents, incident{from: start, to: start + length, host: random.below(8), failing: i%2 == 0})
	}
}

// incidentAt is what ails the origin of a host, nil when nothing does.
func (c *clock) incidentAt(ms int64, host int) *incident {
	i := int((ms - c.from) * int64(len(c.incidents)) / (c.to - c.from))
	in := &c.incidents[min(i, len(c.incidents)-1)]
	if in.host != host || ms < in.from || ms >= in.to {
		return nil
	}
	return in
}

func (c *clock) startOf(slot int64) int64 {
	return c.from + muldiv(c.to-c.from, slot, int64(len(c.slots)))
}

// slotAt is the slot so many milliseconds into the period.
func (c *clock) slotAt(offset int64) int {
	return int(muldiv(offset, int64(len(c.slots)), c.to-c.from))
}

// muldiv is a*b/c of numbers that are not negative, without overflow between.
func muldiv(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	q, _ := bits.Div64(hi, lo, uint64(c))
	return int64(q)
}

// next is the moment of the next record, never before that of the last. It must not be called more often than
// there are records.
func (c *clock) next(random *source) moment {
	for c.start+c.given == c.slots[c.at].upTo {
		c.start, c.given = c.slots[c.at].upTo, 0
		c.at++
	}
	s := &c.slots[c.at]
	begin, end := c.startOf(int64(c.at)), c.startOf(int64(c.at)+1)
	// The slot is cut into as many steps as it has records, with one record anywhere in each.
	count, length := int64(s.upTo-c.start), end-begin
	at := begin + (length*int64(c.given)+int64(random.below(int(length))))/count
	c.given++
	m := moment{ms: at}
	if random.perMille(s.attack) {
		m.burst = s.burst
	}
	return m
}
