package whatif

import "slices"

// curve finds what each threshold of a limit would do. A request at place n of its window is acted on by all thresholds
// below n.
type curve struct {
	least int64

	acted, newly, humans numbers[int64] // requests by their places
	client, person       numbers[int32] // the last place of a newly stopped request of each address, and of one of a human

	attack             numbers[int64] // requests of the attack by their places
	other, otherPerson numbers[int32] // like client and person, of requests that are not of the attack
}

// numbers are numbers by an index that counts from 0.
type numbers[N any] []N

// at returns the place of a number.
func (n *numbers[N]) at(i int32) *N {
	if missing := int(i) + 1 - len(*n); missing > 0 {
		*n = append(*n, make([]N, missing)...)
	}
	return &(*n)[i]
}

func (c *curve) add(requests []Seen, places []int32, fromNs int64) {
	for i, one := range requests {
		place := places[i]
		if place == 0 || one.TsNs < fromNs {
			continue
		}
		*c.acted.at(place)++
		if one.Attack {
			*c.attack.at(place)++
		}
		if one.Stopped || one.Before {
			continue
		}
		*c.newly.at(place)++
		if one.Human {
			*c.humans.at(place)++
		}
		if one.Client < 0 {
			continue
		}
		raise(&c.client, one.Client, place)
		if one.Human {
			raise(&c.person, one.Client, place)
		}
		if one.Attack {
			continue
		}
		raise(&c.other, one.Client, place)
		if one.Human {
			raise(&c.otherPerson, one.Client, place)
		}
	}
}

// raise sets the last place of a client to one that is later.
func raise(last *numbers[int32], client, place int32) {
	of := last.at(client)
	*of = max(*of, place)
}

// maxPoints is about the maximum number of points of a curve.
const maxPoints = 150

// into sets the curve of an outcome and, with an attack, its knee. The curve has the threshold of the rule, the knee, and
// thresholds from the least one up to the first one that does nothing. Many of them are spaced by a constant ratio.
func (c *curve) into(o *Outcome, own int64) {
	var places []int32
	for place, n := range c.acted {
		if n > 0 {
			places = append(places, int32(place))
		}
	}
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

// counted returns how often each number above 0 is there.
func counted(list numbers[int32]) (n numbers[int64]) {
	for _, number := range list {
		if number > 0 {
			*n.at(number)++
		}
	}
	return n
}

// above returns a function that adds up the numbers of all places above a threshold.
func above(n numbers[int64]) func(threshold int64) int64 {
	sums := make([]int64, len(n)+1) // of the places from each one on
	for place := len(n) - 1; place >= 0; place-- {
		sums[place] = sums[place+1] + n[place]
	}
	return func(threshold int64) int64 { return sums[min(threshold+1, int64(len(n)))] }
}
