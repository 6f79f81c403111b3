package incident

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/wording"
)

// mostAddresses is the largest number of addresses in the filter of an incident.
const mostAddresses = 200

// addressShare is the percentage of the excess that the addresses of a filter have at least, unless they are all.
const addressShare = 80

// Found is an episode of which the kind is known, and what selects its requests.
type Found struct {
	Episode
	Kind   Kind
	Prefix string // of the path; "": none
	// Addresses are those of the requests; nil if the prefix or the host select them.
	Addresses []string
	// OnlyIfHarmed: it is an incident only if it did not hold.
	OnlyIfHarmed bool

	traceable []string // addresses that are evidence of where it begins and ends; nil: there are none
	robots    bool     // agents of browsers without a screen are that evidence instead
}

// longestPause is the time between parts of one incident, in seconds.
const longestPause = 30 * Minute

// Series joins what is one incident with pauses: at the same target and of the same kind. It returns the incidents
// without pauses, and the episodes of the others from the begin of their first part to the end of the last one.
func Series(found []Found) (single []Found, series []Episode) {
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b Found) int { return cmp.Or(compareHosts(a.Host, b.Host), cmp.Compare(a.From, b.From)) })
	for i := 0; i < len(found); {
		whole, next := found[i].Episode, i+1
		for ; next < len(found) && found[next].continues(found[i], whole.To); next++ {
			part := found[next].Episode
			whole.Span, whole.Excess = whole.union(part.Span), whole.Excess+part.Excess
			whole.Ratio, whole.EndsLater = max(whole.Ratio, part.Ratio), part.EndsLater
			whole.Signal = min(whole.Signal, part.Signal)
		}
		if next == i+1 {
			single = append(single, found[i])
		} else {
			series = append(series, whole)
		}
		i = next
	}
	return single, series
}

// continues reports whether an incident is a further part of one that has ended.
func (f Found) continues(first Found, end int64) bool {
	return f.Host == first.Host && f.Kind == first.Kind && f.Prefix == first.Prefix && f.From-end <= longestPause
}

// New returns what an episode is, and reports whether that is an incident.
func New(e Episode, s Signs) (f Found, isIncident bool) {
	s.over = e.beyond(s)
	f = Found{Episode: e, Kind: e.kind(s), Prefix: e.prefix(s)}
	dismissed, unlessHarmed := e.dismissed(s, f.Kind)
	f.OnlyIfHarmed = unlessHarmed
	if f.robots = e.Signal.isOfAll() && e.isOfRobots(s); !f.robots {
		f.traceable = f.addressesOf(s)
	}
	if f.Prefix != "" {
		return f, !dismissed || unlessHarmed
	}
	sum := int64(0)
	for _, a := range s.Addresses {
		if sum += a.Requests; e.Signal.isOfAll() && (sum-a.Requests)*100 >= addressShare*e.Excess {
			break
		}
		if f.Addresses = append(f.Addresses, a.Text); len(f.Addresses) > mostAddresses {
			f.Addresses = nil
			break
		}
	}
	return f, !dismissed || unlessHarmed
}

// Target returns the host and the prefix.
func (f Found) Target() string { return f.Host.String() + f.Prefix }

// ID returns the hash of the target, the first minute and the kind.
func (f Found) ID() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%s", f.Target(), f.From, f.Kind))
	return hex.EncodeToString(sum[:8])
}

// During returns the condition for a span.
func (s Span) During() string { return filter.During(s.From*1000, s.To*1000-1) }

// Condition returns the condition for a host.
func (h Host) Condition() string {
	if !h.Named {
		return condition("host", filter.Regex, true, "")
	}
	return condition("host", filter.Eq, false, h.Name)
}

// HostsCondition returns the condition for hosts, all of which have names or none.
func HostsCondition(hosts []Host) string {
	if !hosts[0].Named {
		return hosts[0].Condition()
	}
	names := make([]string, len(hosts))
	for i, h := range hosts {
		names[i] = h.Name
	}
	return condition("host", filter.In, false, names...)
}

func condition(field string, op filter.Op, negated bool, values ...string) string {
	c := filter.Condition{Field: filter.Word{Text: field}, Op: op, Negated: negated}
	for _, v := range values {
		c.Values = append(c.Values, filter.Value{Kind: filter.Text, Text: v, Quoted: true})
	}
	return c.String()
}

// evidence returns the condition for the requests of the incident at its host, or for all others there; "" if the
// incident has all requests of its host.
func (f Found) evidence(others bool) string {
	switch {
	case f.Prefix != "":
		return condition("path", filter.Regex, others, "^"+regexp.QuoteMeta(f.Prefix)+"(/|$)")
	case f.Addresses != nil:
		return catalog.Equal("ip", others, f.Addresses...).String()
	}
	return ""
}

// Filter returns the filter for the requests of the incident, within conditions.
func (f Found) Filter(conditions string) string {
	return filter.Joined(f.During(), f.Host.Condition(), f.evidence(false), conditions)
}

// Others returns the filter for the requests of others before, during and after the incident, "" if there are none.
func (f Found) Others(conditions string) string {
	others := f.evidence(true)
	if others == "" {
		return ""
	}
	return filter.Joined(append([]string{f.Around().During(), f.Host.Condition(), others, conditions}, passing...)...)
}

// Figures are numbers of the requests that the filter of an incident selects, and of others.
type Figures struct {
	Requests, Blocked, Challenges, Monitored int64
	BlockedHumans                            *int64 // nil: unknown
	Addresses, Networks, Reasons             Field
	HasNetworks                              bool

	Before, During, After Others
}

// most is the number of values that an incident lists.
const most = 5

// Result returns the incident in numbers and words, with times in a zone. newest is the time of the newest record, zero if
// it is an old one.
func (f Found) Result(n Figures, conditions string, zone *time.Location, newest time.Time) answer.IncidentResult {
	r := answer.IncidentResult{
		ID: f.ID(), Kind: string(f.Kind), Target: wording.Shown(f.Target(), 200), Path: f.Prefix, Begin: rfc3339(f.From),
		BeginsEarlier: f.BeginsEarlier, Certain: f.Signal == Stopping || f.Signal == Watching,
		NumOfRequests: n.Requests, NumOfBlockedRequests: n.Blocked, NumOfChallenges: n.Challenges,
		NumOfMonitoredRequests: n.Monitored, NumOfPassedRequests: max(0, n.Requests-n.Blocked-n.Challenges),
		NumOfBlockedHumans: n.BlockedHumans, NumOfIP: n.Addresses.Distinct,
		Addresses: valuesOf(n.Addresses, Value.all), Networks: valuesOf(n.Networks, Value.all),
		Reasons: valuesOf(n.Reasons, Value.blocked), Filter: f.Filter(conditions),
	}
	if f.Host.Named {
		r.Host = &f.Host.Name
	}
	if n.HasNetworks {
		r.NumOfNetworks = &n.Networks.Distinct
	}
	// The last minute of the data may have begun just now, so it need not be a part of the episode.
	if going := !newest.IsZero() && newest.Unix() < f.To+2*Minute; !going {
		end := rfc3339(f.To)
		r.End, r.EndsLater = &end, f.EndsLater
	}
	state, sentence := held(n.Before, n.During, n.After, n.Blocked, n.BlockedHumans)
	r.Held = answer.IncidentHeld{
		State: string(state), Sentence: sentence, Before: n.Before.result(), During: n.During.result(), After: n.After.result(),
	}
	r.Sentence = Sentence(r, When(r, zone, false))
	r.Details, r.Why = details(n), f.why()
	return r
}

func rfc3339(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.RFC3339) }

func (v Value) all() int64 { return v.Requests }

func (v Value) blocked() int64 { return v.Blocked }

// valuesOf returns the first values with requests.
func valuesOf(f Field, number func(Value) int64) []answer.IncidentValue {
	list := []answer.IncidentValue{}
	for _, v := range f.Values {
		if n := number(v); n > 0 && len(list) < most {
			list = append(list, answer.IncidentValue{Value: v.Text, NumOfRequests: n})
		}
	}
	return list
}

// names are the beginnings of sentences.
var names = map[Kind]string{
	Guessing: "Password guessing at", Injection: "Injection attack on", Scan: "Scan of", Flood: "Flood of",
	Scraping: "Scraping of", Unusual: "Unusual requests at",
}

// Of returns the beginning of a sentence about incidents of a kind at a target.
func (k Kind) Of(target string) string { return names[k] + " " + target }

// endings are the ends of sentences.
var endings = map[Held]string{
	HeldWell: "held", Look: "held, but people were blocked", NotHeld: "did not hold",
	HeldUnknown: "whether it held cannot be told",
}

// Sentence returns an incident in words, with the words of When.
func Sentence(r answer.IncidentResult, when string) string {
	return fmt.Sprintf("%s, %s: %s", Kind(r.Kind).Of(wording.Shown(r.Target, 80)), when, Held(r.Held.State).Ending())
}

// Ending returns the state as the end of a sentence.
func (h Held) Ending() string { return endings[h] }

// When returns in words when an incident was, in a zone. The day is left out if the incident has only one, unless dated
// is set.
func When(r answer.IncidentResult, zone *time.Location, dated bool) string {
	const minute, dayAndMinute = "15:04", "2006-01-02 15:04"
	begin := timeOf(r.Begin).In(zone)
	text := "since " + begin.Format(dayAndMinute)
	if r.End != nil {
		end := timeOf(*r.End).In(zone)
		switch {
		case begin.Format(time.DateOnly) != end.Add(-time.Second).Format(time.DateOnly):
			text = begin.Format(dayAndMinute) + " – " + end.Format(dayAndMinute)
		case dated:
			text = begin.Format(dayAndMinute) + "–" + end.Format(minute)
		default:
			text = begin.Format(minute) + "–" + end.Format(minute)
		}
	}
	if r.BeginsEarlier || r.EndsLater {
		text += ", cut by the period"
	}
	return text
}

// timeOf returns a time of a result, which rfc3339 has written.
func timeOf(text string) time.Time {
	t, _ := time.Parse(time.RFC3339, text)
	return t
}

// details returns the numbers in words.
func details(n Figures) string {
	parts := []string{fmt.Sprintf("%s of %s were blocked", wording.Count(n.Blocked), wording.Plural(n.Requests, "request"))}
	if n.Challenges > 0 {
		parts = append(parts, wording.Count(n.Challenges)+" challenged")
	}
	if n.Monitored > 0 {
		parts = append(parts, wording.Count(n.Monitored)+" monitored")
	}
	parts = append(parts, wording.Count(max(0, n.Requests-n.Blocked-n.Challenges))+" passed")
	addresses := "1 address"
	if n.Addresses.Distinct != 1 {
		addresses = wording.Count(n.Addresses.Distinct) + " addresses"
	}
	text := strings.Join(parts, ", ") + "; they came from " + addresses
	if n.HasNetworks {
		text += " in " + wording.Plural(n.Networks.Distinct, "network")
	}
	if len(n.Reasons.Values) > 0 && n.Reasons.Values[0].Blocked > 0 {
		first := n.Reasons.Values[0]
		text += fmt.Sprintf("; the commonest reason is “%s” (%s)", wording.Shown(first.Text, 80), wording.Count(first.Blocked))
	}
	return text + "."
}

// why returns why the episode is an incident.
func (f Found) why() string {
	const guess = " The gateway stopped few of them or none, or the log has no decisions, so this is less certain."
	excess := wording.Count(f.Excess)
	switch f.Signal {
	case Stopping:
		return excess + " requests more than usual were blocked or challenged."
	case Watching:
		return excess + " requests more than usual passed although a rule acted on them, because it only monitors."
	case Denying:
		return excess + " requests more than usual were answered with 401 or 403." + guess
	case Probing:
		return excess + " requests more than usual have an agent that names a scanner." + guess
	case Missed:
		return excess + " requests more than usual were answered with 404." + guess
	case Repeating:
		return excess + " requests more than usual look like those of a program." + guess
	}
	return "There were " + excess + " requests more than usual." + guess
}
