package whatif

// Attack is what a limit does to an attack, and to others. Requests that a global filter has blocked do not reach limits
// and are not among its figures.
type Attack struct {
	Requests int64 // of the attack
	Acted    int64 // requests of the attack on which the limit acts
	// Others are addresses with a request that is neither of the attack, nor blocked today, nor stopped by a rule before
	// the limit. If the log tells who is human, only requests of humans are considered.
	Others  int64
	Stopped int64  // others with such a request that is newly stopped
	People  bool   // others are of humans
	Knee    *Point // the best threshold; nil: there is no curve, or no threshold tells the attack from others
}

// knee returns the threshold with the largest difference between the share of the attack on which it acts and the share
// of the others that it newly stops; of several, the largest. The figures change only at the places of requests, so the
// thresholds just below them are compared. The shares have a common denominator, so whole numbers are compared, and no
// rounding can make engines differ.
func (a *Attack) knee(places []int32, least int64, at func(threshold int64) Point) (best *Point) {
	requests, others := max(a.Requests, 1), max(a.Others, 1)
	most := int64(1) // a threshold without an advantage is none
	for _, place := range places {
		if int64(place)-1 < least {
			continue
		}
		p := at(int64(place) - 1)
		if advantage := p.Attack*others - p.Others*requests; advantage >= most {
			best, most = &p, advantage
		}
	}
	return best
}

// attack collects the figures of an Attack.
type attack struct {
	figures Attack
	clients numbers[otherClient] // those of requests that are not of the attack and not blocked today are met
}

// otherClient says what is known about an address.
type otherClient struct {
	met, stopped, human, humanStopped bool
}

// add adds a request that reaches the limit.
func (a *attack) add(one *Seen, acts bool) {
	switch {
	case one.Attack:
		a.figures.Requests++
		if acts {
			a.figures.Acted++
		}
	case !one.Stopped && !one.Before && one.Client >= 0:
		is := a.clients.at(one.Client)
		is.met = true
		is.stopped = is.stopped || acts
		is.human = is.human || one.Human
		is.humanStopped = is.humanStopped || one.Human && acts
	}
}

// outcome returns the figures. people reports whether the log tells who is human.
func (a *attack) outcome(people bool) *Attack {
	figures := a.figures
	figures.People = people
	for _, is := range a.clients {
		if is.met && (!people || is.human) {
			figures.Others++
		}
		if people && is.humanStopped || !people && is.stopped {
			figures.Stopped++
		}
	}
	return &figures
}
