package incident

import (
	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/wording"
)

// Held is whether the origin served others as before.
type Held string

// The states.
const (
	HeldWell    Held = "held"
	Look        Held = "look"
	NotHeld     Held = "not held"
	HeldUnknown Held = "unknown"
)

// The numbers of the rules.
const (
	leastOthers  = 50      // requests of others before, during and after the incident
	leastEach    = 20      // and during it, and before or around it
	leastFew     = 5       // during it, if their times show that it did not hold
	leastErrors  = 10      // errors of others
	errorShare   = 2       // percent of their requests
	leastOutage  = 5       // errors of others, if they are many percent
	outageShare  = 25      // percent
	errorGrowth  = 2       // times the share before
	timeGrowth   = 2       // times the mean time before
	leastSlower  = 100_000 // microseconds more than before
	leastHumans  = 10      // blocked requests of humans
	humanShare   = 5       // percent of the blocked requests
	leastAround  = 10 * Minute
	longestAhead = Hour
)

// Others counts requests that passed and that are no part of an incident.
type Others struct {
	Requests, Errors int64
	Timed, TimeUs    int64 // requests with a time, and the sum of their times in microseconds
}

func (o Others) mean() int64 { return o.TimeUs / max(1, o.Timed) }

// and returns both numbers together.
func (o Others) and(more Others) Others {
	return Others{o.Requests + more.Requests, o.Errors + more.Errors, o.Timed + more.Timed, o.TimeUs + more.TimeUs}
}

// isSlower reports whether the mean time is much longer than that of calm requests. The mean of fewer than leastEach
// times must have grown by as many of its standard errors as theirs, which are inverse to the root of the number.
func (o Others) isSlower(calm Others) bool {
	usual, longer := calm.mean(), o.mean()-calm.mean()
	n := min(o.Timed, leastEach)
	return n >= leastFew && calm.Timed >= leastEach && longer >= max(leastSlower, (timeGrowth-1)*usual) &&
		longer*longer*n >= (timeGrowth-1)*(timeGrowth-1)*usual*usual*leastEach
}

// isFailing reports whether the share of errors is much larger than that of calm requests.
func (o Others) isFailing(calm Others) bool {
	return (o.Errors >= leastErrors && o.Errors*100 >= errorShare*o.Requests ||
		o.Errors >= leastOutage && o.Errors*100 >= outageShare*o.Requests) &&
		min(o.Requests, calm.Requests) >= leastEach && o.Errors*calm.Requests >= errorGrowth*calm.Errors*o.Requests
}

func (o Others) result() answer.IncidentOthers {
	r := answer.IncidentOthers{NumOfRequests: o.Requests, NumOfErrors: o.Errors}
	if o.Timed > 0 {
		seconds := float64(o.mean()) / 1e6
		r.AvgTime = &seconds
	}
	return r
}

// Around returns the span in which others are compared: the time before, during and after an incident. It is the
// longest one if the comparison decides whether there is an incident.
func (f Found) Around() Span {
	length := min(max(f.To-f.From, leastAround), longestAhead)
	if f.OnlyIfHarmed {
		length = longestAhead
	}
	return Span{f.From - length, f.To + length}
}

// held compares the requests of others. blocked counts blocked requests, humans those of humans among them.
func held(before, during, after Others, blocked int64, humans *int64) (Held, string) {
	calm := before
	if before.Requests < leastEach {
		calm = before.and(after)
	}
	blocksHumans := humans != nil && *humans >= leastHumans && *humans*100 > humanShare*blocked
	text := "There were too few requests of others to compare"
	state := HeldUnknown
	failing, slow := during.isFailing(calm), during.isSlower(calm)
	if before.Requests+during.Requests+after.Requests >= leastOthers &&
		(min(during.Requests, calm.Requests) >= leastEach || failing || slow) {
		state = HeldWell
		if failing || slow {
			state = NotHeld
		} else if blocksHumans {
			state = Look
		}
		text = "Errors of others: " + errorsOf(during) + " requests during it, " + errorsOf(before) + " before, " +
			errorsOf(after) + " after"
		if slow {
			text += "; their mean time rose to " + milliseconds(during.mean()) + " from " + milliseconds(calm.mean())
		}
	}
	if blocksHumans {
		text += "; " + wording.Plural(*humans, "blocked request") + " were of people"
	}
	return state, text + "."
}

func errorsOf(o Others) string { return wording.Count(o.Errors) + " of " + wording.Count(o.Requests) }

func milliseconds(us int64) string { return wording.Count(us/1000) + " ms" }
