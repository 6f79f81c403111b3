package incident

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Kind is what an incident is.
type Kind string

// The kinds.
const (
	Guessing  Kind = "password guessing"
	Injection Kind = "injection"
	Scan      Kind = "scan"
	Flood     Kind = "flood"
	Scraping  Kind = "scraping"
	Unusual   Kind = "unusual"
)

// Value counts the requests of an episode with a value of a field.
type Value struct {
	Text                          string
	Requests, Blocked, Challenged int64
}

// Field has the most frequent values of a field in an episode.
type Field struct {
	Values   []Value
	Distinct int64
}

// Signs are what a kind follows from: the requests at the host of an episode, with its signal unless it is stopping.
type Signs struct {
	Total   Value // all of these requests
	Paths   Field
	Usual   []Value // paths of the same requests in the 24 hours before
	Reasons Field
	Agents  Field
	Humans  int64 // signs that are requests of humans
	Probes  int64 // requests with an argument that attacks the application

	Addresses   []Value // of the signs, the most frequent first; nil: there are too many
	Before      []Value // the same in as much time before, for signals of all requests
	HumansKnown bool    // records say whether their clients are human

	over []Value // what beyond returns
}

// Weight returns the number of requests that are signs.
func (e Episode) Weight(v Value) int64 {
	if e.Signal == Stopping {
		return min(v.Requests, v.Blocked+v.Challenged)
	}
	return v.Requests
}

// beyond returns the weights of paths beyond what is usual: the expected number is divided as the requests of the day
// before.
func (e Episode) beyond(s Signs) []Value {
	before, all := map[string]int64{}, int64(0)
	for _, v := range s.Usual {
		before[v.Text] = e.Weight(v)
		all += e.Weight(v)
	}
	expected := max(0, e.Weight(s.Total)-e.Excess)
	list := make([]Value, 0, len(s.Paths.Values))
	for _, v := range s.Paths.Values {
		n := e.Weight(v)
		if all > 0 {
			n -= expected * before[v.Text] / all
		}
		if n > 0 {
			list = append(list, Value{Text: v.Text, Requests: n})
		}
	}
	slices.SortFunc(list, func(a, b Value) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Text, b.Text))
	})
	return list
}

// The numbers of targets.
const (
	prefixShare  = 80 // percent of the excess below a prefix that is a part of the target
	mostSegments = 3  // of a prefix
)

// prefix returns the longest prefix of whole segments below which most of the excess lies, "" if there is none.
func (e Episode) prefix(s Signs) string {
	sums := map[string]int64{}
	for _, v := range s.over {
		segments := strings.Split(strings.Trim(v.Text, "/"), "/")
		for n := 1; n <= min(len(segments), mostSegments); n++ {
			if prefix := "/" + strings.Join(segments[:n], "/"); prefix != "/" && strings.HasPrefix(v.Text, prefix) {
				sums[prefix] += v.Requests
			}
		}
	}
	longest := ""
	for prefix, n := range sums {
		if n*100 >= prefixShare*e.Excess && (len(prefix) > len(longest) || len(prefix) == len(longest) && prefix < longest) {
			longest = prefix
		}
	}
	return longest
}

// kindRule says when an incident is of a kind.
type kindRule struct {
	Kind    Kind
	Doc     string
	applies func(e Episode, s Signs) bool
}

// The numbers of the kinds, in percent of the requests that are signs unless they say otherwise.
const (
	guessingShare  = 60
	deniedShare    = 80
	injectionShare = 50
	probeShare     = 30
	scannerShare   = 15
	scanPaths      = 20 // different paths
	floodPaths     = 3  // paths
	floodShare     = 80
	scrapedPaths   = 20 // different paths
	scrapedShare   = 30 // of the most frequent path, at most
	crawlerShare   = 50
	humansShare    = 50
	stoppedShare   = 10 // of a flood of people: if rules stopped as much, it is an attack
	onePathShare   = 50
	busyAddress    = 10 // requests more than before
	busyShare      = 80
	leastStopped   = 100 // requests more than usual that are an incident although nothing else says so,
	slowlyStopped  = 5   // or so many a minute
	leastScraped   = 300 // requests more than usual that are scraping without a signal of their own
)

// robotAgents matches agents of browsers without a screen.
const robotAgents = `(?i)headless|phantomjs|selenium|puppeteer|playwright|scrapy`

var (
	loginPath   = regexp.MustCompile(`(?i)(^|[/_.-])(log-?in|log-?on|sign-?in|sign_in|auth|authenticate|oauth2?|sessions?|token|password|passwd|otp|2fa|wp-login\.php|xmlrpc\.php)([/_.-]|$)`)
	loginReason = regexp.MustCompile(`(?i)log-?in\b|sign-?in\b|credential|brute.?force|password`)
	payload     = regexp.MustCompile(`(?i)sqli|sql.?injection|\bxss\b|cross.?site|\b[lr]fi\b|\brce\b|\bxxe\b|\bssti\b|inject|inclusion|traversal|deserial|jndi|log4`)
	probing     = regexp.MustCompile(`(?i)scanner|\bprob(e|ing)\b|too many paths|too many errors`)
	secret      = regexp.MustCompile(`(?i)/\.(env|git|svn|aws|ssh|ht)|wp-(admin|login|content|includes|config)|php|cgi-bin|actuator|\.(sql|bak|old|zip|tar|gz|asp|aspx|jsp|cfm|ini|conf|log)$|admin|manager|setup|/console`)
	robot       = regexp.MustCompile(robotAgents)
	crawler     = regexp.MustCompile(`(?i)bot\b|bot/|crawl|spider|slurp|mediapartners|facebookexternalhit`)
)

// Kinds is the table of kinds. The first that applies is the kind; if none does, the incident is unusual.
var Kinds = []kindRule{
	{
		Injection, "Half of the reasons name a payload of an attack on the application, or three tenths of the requests have one " +
			"in their query.",
		func(e Episode, s Signs) bool {
			return e.share(s, s.Reasons, payload.MatchString) >= injectionShare || s.Probes*100 >= probeShare*e.Excess
		},
	},
	{
		Guessing, "Six tenths are requests of a path that logs users in, or have a reason that names logins; or eight tenths of " +
			"what was answered with 401 or 403 are requests of one path.",
		func(e Episode, s Signs) bool {
			return e.pathsReach(s, loginPath, guessingShare) || e.share(s, s.Reasons, loginReason.MatchString) >= guessingShare ||
				e.Signal == Denying && e.topShare(s, 1) >= deniedShare
		},
	},
	{
		Scan, "15 % of the requests have an agent that names a scanner; or half of the reasons do; or half of the paths are those that scanners look " +
			"for; or twenty different paths are missing.",
		func(e Episode, s Signs) bool {
			return e.Signal == Probing || e.share(s, s.Agents, namesScanner) >= scannerShare ||
				e.share(s, s.Reasons, probing.MatchString) >= injectionShare || e.pathsReach(s, secret, injectionShare) ||
				e.Signal == Missed && s.Paths.Distinct >= scanPaths
		},
	},
	{
		Flood, "Eight tenths are requests of at most three paths.",
		func(e Episode, s Signs) bool { return e.topShare(s, floodPaths) >= floodShare },
	},
	{
		Scraping, "There are twenty different paths, and none has more than three tenths of the requests.",
		func(e Episode, s Signs) bool {
			return s.Paths.Distinct >= scrapedPaths && e.topShare(s, 1) <= scrapedShare
		},
	},
}

// kind returns the kind of an episode.
func (e Episode) kind(s Signs) Kind {
	for _, rule := range Kinds {
		if e.Weight(s.Total) > 0 && rule.applies(e, s) {
			return rule.Kind
		}
	}
	return Unusual
}

// share returns the number of signs with a value that matches, in percent of the excess: the other signs are usual.
func (e Episode) share(s Signs, f Field, matches func(text string) bool) int64 {
	n := int64(0)
	for _, v := range f.Values {
		if matches(v.Text) {
			n += e.Weight(v)
		}
	}
	return n * 100 / max(1, e.Excess)
}

// pathsReach reports whether the paths that match have so many percent of the excess. It tries no more paths than it must.
func (e Episode) pathsReach(s Signs, match *regexp.Regexp, share int64) bool {
	n, left, least := int64(0), int64(0), share*max(1, e.Excess)
	for _, v := range s.over {
		left += v.Requests
	}
	for _, v := range s.over {
		if (n+left)*100 < least {
			return false
		}
		left -= v.Requests
		if match.MatchString(v.Text) {
			n += v.Requests
		}
		if n*100 >= least {
			return true
		}
	}
	return false
}

// topShare returns the percentage of the excess at the most frequent paths.
func (e Episode) topShare(s Signs, paths int) int64 {
	n := int64(0)
	for _, v := range s.over[:min(paths, len(s.over))] {
		n += v.Requests
	}
	return n * 100 / max(1, e.Excess)
}

// Dismissal is a reason why an episode is no incident.
type Dismissal struct {
	Doc     string
	applies func(e Episode, s Signs, kind Kind) bool
	// unlessHarmed: a flood is an incident all the same if the origin did not hold, or if rules stopped a part of it.
	unlessHarmed bool
}

// Dismissals is the table of these reasons.
var Dismissals = []Dismissal{
	{
		Doc: "`stopped`, and the kind is scraping or unusual: at least half of the stopped requests were of humans, so a rule is too strict.",
		applies: func(e Episode, s Signs, kind Kind) bool {
			return e.Signal == Stopping && (kind == Scraping || kind == Unusual) && e.byHumans(s)
		},
	},
	{
		Doc: "`stopped`, and the kind is scraping or unusual: fewer than one request a minute more than usual was stopped, or fewer " +
			"than 100 in all and five a minute, so they do not differ from what rules stop every day.",
		applies: func(e Episode, _ Signs, kind Kind) bool {
			return e.Signal == Stopping && (kind == Scraping || kind == Unusual) &&
				(e.Excess*Minute < e.To-e.From || e.Excess < leastStopped && e.Excess*Minute < slowlyStopped*(e.To-e.From))
		},
	},
	{
		Doc: "`denied`, `missing`, `requests` or `repeated`: half of the agents name a crawler, and none a scanner.",
		applies: func(e Episode, s Signs, _ Kind) bool {
			return e.isGuess() && e.share(s, s.Agents, crawler.MatchString) >= crawlerShare && e.share(s, s.Agents, namesScanner) == 0
		},
	},
	{
		Doc: "`missing`, `requests` or `repeated`, and the kind is not injection: half of the requests are of humans. Their " +
			"flood is an incident only if the origin did not hold, or if a tenth of it was stopped.",
		applies: func(e Episode, s Signs, kind Kind) bool {
			return (e.Signal == Missed || e.Signal.isOfAll()) && kind != Injection && e.byHumans(s)
		},
		unlessHarmed: true,
	},
	{
		Doc: "`requests`, and the log does not say who is human: addresses with ten requests more than in as much time before have " +
			"less than half of the excess. Such a flood is an incident only if the origin did not hold, or if a tenth of it was stopped.",
		applies: func(e Episode, s Signs, kind Kind) bool {
			return e.Signal == Rush && kind != Injection && !s.HumansKnown && len(s.Addresses) > 0 &&
				e.byBusy(s) < humansShare
		},
		unlessHarmed: true,
	},
	{
		Doc: "`repeated`, unless one path has eight tenths of the excess, and so have addresses with ten requests more than in as " +
			"much time before; or the excess is at least 300, and one address or agents of browsers without a screen have eight tenths of it.",
		applies: func(e Episode, s Signs, _ Kind) bool { return e.Signal == Repeating && !e.isOfPrograms(s) },
	},
	{
		Doc: "`missing`: fewer than twenty different paths are missing.",
		applies: func(e Episode, s Signs, kind Kind) bool {
			return e.Signal == Missed && kind != Injection && s.Paths.Distinct < scanPaths
		},
	},
	{
		Doc:     "`denied`: no path has half of what was answered with 401 or 403.",
		applies: func(e Episode, s Signs, _ Kind) bool { return e.Signal == Denying && e.topShare(s, 1) < onePathShare },
	},
}

// isGuess reports whether no rule of the gateway, and no name of a scanner, says that the requests are an attack.
func (e Episode) isGuess() bool {
	return e.Signal == Denying || e.Signal == Missed || e.Signal.isOfAll()
}

// more returns how many requests more than in as much time before each address has.
func (e Episode) more(s Signs) []int64 {
	before := map[string]int64{}
	for _, v := range s.Before {
		before[v.Text] = v.Requests
	}
	list := make([]int64, len(s.Addresses))
	for i, v := range s.Addresses {
		list[i] = v.Requests - before[v.Text]
	}
	return list
}

// byBusy returns the percentage of the excess of addresses that have many requests more than before.
func (e Episode) byBusy(s Signs) int64 {
	n := int64(0)
	for _, more := range e.more(s) {
		if more >= busyAddress {
			n += more
		}
	}
	return n * 100 / max(1, e.Excess)
}

// isOfPrograms reports whether programs seem to send the requests: busy clients repeat one path, or one client sends most of
// the requests, or browsers without a screen do.
func (e Episode) isOfPrograms(s Signs) bool {
	if e.topShare(s, 1) >= floodShare && e.byBusy(s) >= busyShare {
		return true
	}
	if e.Excess < leastScraped {
		return false
	}
	first := slices.Max(append(e.more(s), 0)) * 100 / e.Excess
	return first >= busyShare || e.isOfRobots(s)
}

// isOfRobots reports whether browsers without a screen send most of the requests.
func (e Episode) isOfRobots(s Signs) bool {
	return e.share(s, s.Agents, robot.MatchString) >= busyShare
}

// byHumans reports whether half of the signs are of humans.
func (e Episode) byHumans(s Signs) bool { return s.Humans*100 >= humansShare*e.Weight(s.Total) }

// isStopped reports whether rules of the gateway stopped more of an episode than they stop every day.
func (e Episode) isStopped(s Signs) bool {
	return (s.Total.Blocked+s.Total.Challenged)*100 >= stoppedShare*e.Excess
}

// dismissed reports whether an episode of a kind is no incident. If unlessHarmed, it is one if it did not hold.
func (e Episode) dismissed(s Signs, kind Kind) (dismissed, unlessHarmed bool) {
	for _, d := range Dismissals {
		if !d.applies(e, s, kind) {
			continue
		}
		unlessHarmed = d.unlessHarmed && e.Signal == Rush && kind == Flood
		if !unlessHarmed || !e.isStopped(s) {
			return true, unlessHarmed
		}
	}
	return false, false
}
