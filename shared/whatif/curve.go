package whatif

import (
	"maps"
	"slices"
	"sort"
)

// curve finds what each threshold of a limit would do. A request at place n of its window is acted on by all thresholds
// below n.
type curve struct {
	least int64

	acted, newly, humans map[int32]int64 // requests by their places
	client, person       map[int32]int32 // the last place of a newly stopped request of each address, and of one of a human

	attack             map[int32]int64 // requests of the attack by their places
	other, otherPerson map[int32]int32 // like client and person, of requests that are not of the attack
}

func (c *curve) add(requests []Seen, places []int32, fromNs int64) {
	if c.acted == nil {
		c.acted, c.newly, c.humans = map[int32]int64{}, map[int32]int64{}, map[int32]int64{}
		c.client, c.person = map[int32]int32{}, map[int32]int32{}
		c.attack, c.other, c.otherPerson = map[int32]int64{}, map[int32]int32{}, map[int32]int32{}
	}
	for i, one := range requests {
		place := places[i]
		if place == 0 || one.TsNs < fromNs {
			continue
		}
		c.acted[place]++
		if one.Attack {
			c.attack[place]++
		}
		if one.Stopped {
			continue
		}
		c.newly[place]++
		if one.Human {
			c.humans[place]++
		}
		if one.Client < 0 {
			continue
		}
		raise(c.client, one.Client, place)
		if one.Human {
			raise(c.person, one.Client, place)
		}
		if one.Attack {
			continue
		}
		raise(c.other, one.Client, place)
		if one.Human {
			raise(c.otherPerson, one.Client, place)
		}
	}
}

// raise sets the last place of a client to one that is later.
func raise(last map[int32]int32, client, place int32) { last[client] = max(last[client], place) }

// maxPoints is about the maximum number of points of a curve.
const maxPoints = 150

// into sets the curve of an outcome and, with an attack, its knee. The curve has the threshold of the rule, the knee, and
// thresholds from the least one up to the first one that does nothing. Many of them are spaced by a constant ratio.
func (c *curve) into(o *Outcome, own int64) {
	places := slices.Sorted(maps.Keys(c.acted))
	largest := c.least
	if n := len(places); n > 0 {
		largest = max(largest, int64(places[n-1]))
	}
	at := c.figures(o.Attack != nil && o.Attack.People)
	thresholds := []int64{own, largest}
	if o.Attack != nil {
		o.Attack.Knee = o.Attack.knee(places, c.least, at)
		if knee := o.Attack.Knee; knee != nil {
			thresholds = append(thresholds, knee.Threshold)
		}
	}
	for n := c.least; n < largest; n += max(1, n/(maxPoints/6)) {
		thresholds = append(thresholds, n)
	}
	slices.Sort(thresholds)
	for _, threshold := range slices.Compact(thresholds) {
		o.Curve = append(o.Curve, at(threshold))
	}
}

// figures returns a function that returns the point of a threshold. people reports whether others are people.
func (c *curve) figures(people bool) func(threshold int64) Point {
	acted, newly, humans, attack := above(c.acted), above(c.newly), above(c.humans), above(c.attack)
	clients, persons, others := above(counted(c.client)), above(counted(c.person)), above(counted(c.other))
	if people {
		others = above(counted(c.otherPerson))
	}
	return func(n int64) Point {
		return Point{
			Threshold: n, Acted: acted(n), Newly: newly(n), Humans: humans(n), Clients: clients(n), HumanClients: persons(n),
			Attack: attack(n), Others: others(n),
		}
	}
}

// counted returns how often each number is there.
func counted(numbers map[int32]int32) map[int32]int64 {
	n := map[int32]int64{}
	for _, number := range numbers {
		n[number]++
	}
	return n
}

// above returns a function that adds up the numbers of all places above a threshold.
func above(n map[int32]int64) func(threshold int64) int64 {
	places := make([]int32, 0, len(n))
	for place := range n {
		places = append(places, place)
	}
	slices.Sort(places)
	sums := make([]int64, len(places)+1) // of the places from each one on
	for i := len(places) - 1; i >= 0; i-- {
		sums[i] = sums[i+1] + n[places[i]]
	}
	return func(threshold int64) int64 {
		return sums[sort.Search(len(places), func(i int) bool { return int64(places[i]) > threshold })]
	}
}
