package whatif

import (
	"fmt"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/wording"
)

// doneTo are what the actions do, as a sentence writes it.
var doneTo = map[string]string{Block: "blocked", Challenge: "challenged", Monitor: "monitored"}

// Sentence returns the outcome in words, with times in a zone.
func (o Outcome) Sentence(r Rule, zone *time.Location) string {
	subject := "The rule"
	if r.Limit != nil {
		subject = "The limit"
	}
	if o.Acted == 0 {
		return subject + " would have done nothing in this period."
	}
	return o.sentence(subject, doneTo[r.Action], zone)
}

// Sentence returns the outcome of all rules together in words, with times in a zone.
func (s *Stages) Sentence(o Outcome, zone *time.Location) string {
	if o.Acted == 0 {
		return "The rules would have done nothing in this period."
	}
	done := ""
	for i, r := range s.Rules {
		switch {
		case !s.Acts(i):
		case done == "" || done == doneTo[r.Action]:
			done = doneTo[r.Action]
		default:
			done = "stopped"
		}
	}
	return o.sentence("The rules", done, zone)
}

// sentence returns the outcome of what has done something to requests.
func (o Outcome) sentence(subject, done string, zone *time.Location) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s would have %s %s", subject, done, wording.Plural(o.Acted, "request"))
	addresses := wording.Counted(o.Clients, "address", "addresses") + ", " + between(o.FirstNs, o.LastNs, zone)
	if o.Stopped == 0 && o.Before == 0 {
		fmt.Fprintf(&b, " from %s.", addresses)
	} else {
		b.WriteString(". " + o.others())
		if o.Newly == 0 {
			return b.String()
		}
		fmt.Fprintf(&b, " The other %s came from %s.", wording.Count(o.Newly), addresses)
	}
	switch {
	case o.Humans == nil:
		b.WriteString(" The log does not tell which of these people sent.")
	case *o.Humans == 0:
		b.WriteString(" None of these is known to be of a person.")
	case *o.Humans == o.Newly:
		b.WriteString(" People sent all of these.")
	default:
		fmt.Fprintf(&b, " People sent %s of these, from %s.", wording.Count(*o.Humans),
			wording.Counted(*o.HumanClients, "address", "addresses"))
	}
	return b.String()
}

// others returns who else stops the requests.
func (o Outcome) others() string {
	gateway := "The gateway blocked " + wording.Count(o.Stopped) + " of them anyway"
	switch {
	case o.Stopped == o.Acted:
		return "The gateway blocked all of them anyway."
	case o.Before == 0:
		return gateway + "."
	case o.Before == o.Acted:
		return "The rules before it would have stopped all of them."
	case o.Stopped == 0:
		return "The rules before it would have stopped " + wording.Count(o.Before) + " of them."
	case o.Newly == 0:
		return gateway + ", and the rules before it would have stopped the others."
	}
	return gateway + ", and the rules before it would have stopped another " + wording.Count(o.Before) + "."
}

// Sentence returns what the limit of a rule does to the attack and to others.
func (a Attack) Sentence(r Rule) string {
	if a.Requests == 0 {
		return "No request of the attack reached the limit."
	}
	return fmt.Sprintf("The limit would have %s %s.", doneTo[r.Action], a.parts(a.Acted, a.Stopped))
}

// KneeSentence returns what the limit of a rule would do with the threshold of the knee.
func (a Attack) KneeSentence(r Rule) string {
	return fmt.Sprintf("At %s %s: %s.", wording.Count(a.Knee.Threshold), perText(r.Limit.Per), a.parts(a.Knee.Attack, a.Knee.Others))
}

// parts writes parts of the attack and of others.
func (a Attack) parts(acted, others int64) string {
	one, several := "address", "addresses"
	if a.People {
		one, several = "person", "people"
	}
	text := wording.Percent(acted, a.Requests) + " of the attack"
	if a.Others == 0 {
		return text + ", and there were no other " + several
	}
	return text + " and " + wording.Count(others) + " of " + wording.Counted(a.Others, "other "+one, "other "+several)
}

// perText writes a timeframe as people do.
func perText(per time.Duration) string {
	switch per {
	case time.Second:
		return "a second"
	case time.Minute:
		return "a minute"
	case time.Hour:
		return "an hour"
	case 24 * time.Hour:
		return "a day"
	}
	return "per " + lengthText(per)
}

// between returns two times, with the date only where it differs.
func between(firstNs, lastNs int64, zone *time.Location) string {
	first, last := time.Unix(0, firstNs).In(zone), time.Unix(0, lastNs).In(zone)
	const clock, date = "15:04:05", "2006-01-02 15:04:05"
	switch {
	case first.Format(date) == last.Format(date):
		return "at " + first.Format(date)
	case first.Format(time.DateOnly) == last.Format(time.DateOnly):
		return "between " + first.Format(date) + " and " + last.Format(clock)
	}
	return "between " + first.Format(date) + " and " + last.Format(date)
}

// Unknown returns what the log does not tell about the outcome. knownFrom is the smallest threshold of the curve.
// withAttack reports that an attack is named.
func (o Outcome) Unknown(r Rule, knownFrom int64, withAttack bool) []string {
	list := []string{}
	if o.Acted > 0 {
		list = append(list, "What clients would have done after they were stopped is not known: they might have sent fewer requests, solved a "+
			"challenge, or used another address.")
	}
	if r.Limit == nil {
		return list
	}
	list = append(list, "Gateways of several clusters count apart; the log does not tell which cluster a request passed.")
	if o.PhaseUnknown > 0 {
		list = append(list, fmt.Sprintf("The first window of %s may have begun at another time: the log has no pause of %s "+
			"before it.", wording.Plural(o.PhaseUnknown, "key"), lengthText(r.Limit.Gap())))
	}
	if knownFrom > 1 {
		list = append(list, fmt.Sprintf("Thresholds below %d were not tried, because too many requests would have to be read.", knownFrom))
	}
	switch {
	case withAttack && o.Attack == nil:
		list = append(list, "How much of the attack the limit stops was not determined, because too many requests would have to be read.")
	case withAttack && o.Attack.Requests > 0 && o.Attack.Knee == nil && knownFrom > 0:
		list = append(list, "There is no best threshold: none stops a larger share of the attack than of the others.")
	}
	return list
}
