package incident

import (
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/filter"
)

// Measure is a number of requests that is counted by host and segment.
type Measure int

// The measures. A single question counts all requests and, among them, those of each other measure.
const (
	All Measure = iota
	Passed
	Watched
	Denied
	Missing
	Scanners
	Measures // their number
)

// passing are the conditions of requests that were neither blocked nor challenged.
var passing = []string{"blocked not is true", "challenge not is true", "ichallenge not is true"}

// scannerNames are the names of scanners in agents, in lower case.
var scannerNames = []string{
	"sqlmap", "nikto", "nuclei", "gobuster", "dirbuster", "feroxbuster", "ffuf", "wfuzz", "zmeu", "masscan", "zgrab", "wpscan",
	"acunetix", "nessus", "openvas", "netsparker", "arachni", "w3af", "havij", "skipfish", "joomscan", "hydra", "morfeus",
	"jorgee", "whatweb", "dirb/",
}

// scannerAgents matches agents that name a scanner.
var scannerAgents = "(?i)" + strings.Join(scannerNames, "|")

// namesScanner reports whether an agent names a scanner. The regular expression would take a hundred times as long.
func namesScanner(agent string) bool {
	agent = strings.ToLower(agent)
	return slices.ContainsFunc(scannerNames, func(name string) bool { return strings.Contains(agent, name) })
}

// ProbingQueries matches queries that attack the application.
const ProbingQueries = `(?i)union(\+|%20|\s|/\*)+(all(\+|%20|\s)+)?select|(<|%3c)(script|svg|img|iframe)|\.\.(/|%2f)|etc/passwd|` +
	`win\.ini|sleep\(|waitfor(\+|%20|\s)|\$(\{|%7b)jndi|('|%27)(\+|%20|\s)*(or|and)(\+|%20|\s)|php(:|%3a)//|information_schema|` +
	`cmd=|/bin/(ba)?sh|concat\(|(--|%23)(\+|%20|\s|-)*$`

// Conditions returns the conditions of the requests that a measure counts.
func (m Measure) Conditions() []string {
	switch m {
	case Passed:
		return passing
	case Watched:
		return append([]string{"monitor is true"}, passing...)
	case Denied:
		return append([]string{"status in (401, 403)"}, passing...)
	case Missing:
		return append([]string{"status=404"}, passing...)
	case Scanners:
		return []string{`user_agent~"` + scannerAgents + `"`}
	}
	return nil
}

// Selections returns the conditions of each measure but All.
func Selections() []string {
	list := make([]string, 0, Measures-1)
	for m := All + 1; m < Measures; m++ {
		list = append(list, filter.Joined(m.Conditions()...))
	}
	return list
}

// Signal is a sign of an attack: requests that are much more numerous than usual.
type Signal int

// The signals, the most certain first.
const (
	Stopping Signal = iota
	Watching
	Denying
	Probing
	Missed
	Rush
	Repeating
	signals
)

// isOfAll reports whether a signal counts all requests.
func (s Signal) isOfAll() bool { return s == Rush || s == Repeating }

// Conditions returns the conditions of the requests of a signal. It returns none for requests that were stopped, because no
// filter selects what was blocked or challenged.
func (s Signal) Conditions() []string { return Signals[s].measure.Conditions() }

// signalRule says when the requests of a signal are an episode.
type signalRule struct {
	Name string
	Doc  string

	Least     int64 // least number of requests beyond the usual number
	Ratio     int64 // least number of requests, in percent of the usual number
	LongRatio int64 // Ratio of an episode that is longer than longRun
	LeastRate int64 // thousandths of a request in a minute: no usual rate is lower

	measure Measure // counts the requests; requests that were stopped are all but those that passed
}

// Signals is the table of signals.
var Signals = [signals]signalRule{
	Stopping: {
		Name: "stopped", Doc: "Requests that were blocked or challenged.",
		Least: 40, Ratio: 300, LongRatio: 500, LeastRate: 50,
	},
	Watching: {
		Name: "monitored", Doc: "Requests that passed, on which a rule acted that only monitors.",
		Least: 30, Ratio: 300, LongRatio: 500, LeastRate: 50, measure: Watched,
	},
	Denying: {
		Name: "denied", Doc: "Requests that passed and were answered with 401 or 403.",
		Least: 40, Ratio: 300, LongRatio: 300, LeastRate: 20, measure: Denied,
	},
	Probing: {
		Name: "scanners", Doc: "Requests with an agent that names a scanner.",
		Least: 20, Ratio: 300, LongRatio: 500, LeastRate: 50, measure: Scanners,
	},
	Missed: {
		Name: "missing", Doc: "Requests that passed and were answered with 404.",
		Least: 40, Ratio: 300, LongRatio: 500, LeastRate: 50, measure: Missing,
	},
	Rush: {
		Name: "requests", Doc: "All requests.", Least: 300, Ratio: 500, LongRatio: 500, LeastRate: 50, measure: All,
	},
	Repeating: {
		Name: "repeated", Doc: "All requests, without the minutes of episodes of the other signals.",
		Least: 40, Ratio: 200, LongRatio: 200, LeastRate: 50, measure: All,
	},
}

// The numbers of the usual rate.
const (
	history       = 24 // hours before an hour whose median is its usual rate
	leastHistory  = 6  // hours with requests from which a rate is known
	piece         = 10 * Minute
	leastPieces   = 3         // pieces with requests from which a share is known
	mostShare     = 100_000   // of a million: the usual share of a signal where it is not known
	deviations    = 6         // standard deviations of a Poisson distribution beyond the usual number
	longRun       = 60        // minutes; a longer episode has LongRatio
	longestWindow = 8         // hours, of several that stand out together
	coarseRatio   = 115       // percent of the usual number of all requests, for an hour that stands out
	faint         = 8         // an episode neither begins nor ends with a minute below such a part of its mean
	coreShare     = 90        // percent of the excess of a run
	coreLength    = 3         // a part of a run that is so many times shorter and has that excess is the episode
	longestEdge   = 2         // minutes of a run that is only the edge of the one beside it
	smaller       = 2         // a run beside one that stands out has at least such a part of the least number
	leastPause    = 5         // minutes; a pause of that length ends an episode
	pausing       = 4         // the other minutes have at least so many times its requests; smaller factors are similar
	partsShare    = 95        // percent of the excess of a run that its parts without pauses have at least, or it is whole
	pulseRatio    = 150       // percent; the largest minutes of two parts of a whole run differ less
	leastPulses   = 3         // of an episode in pulses
	pulseSize     = 3         // a minute of a pulse is no smaller than such a part of the largest one
	pulsesShare   = 70        // percent of its excess that they have at least, in at most a coreLength-th of its minutes
	leastPart     = 10        // requests that the other minutes have in the same time
	milli         = 1000      // rates are in thousandths
	million       = 1_000_000 // shares are in millionths
)

// Overwhelming is the percentage of the usual number from which on the usual paths do not matter for the target.
const Overwhelming = 1000

// Margin is the number of hours around those that stand out whose minutes the second pass reads.
const Margin = 1

// Before is the time before a period, in seconds, that the first pass reads: the history of the first margin.
const Before = (history + Margin + 1) * Hour

// levels is how much is usual, in percent, for a minute to count neither for nor against an episode in which requests
// are so many percent of the usual number: the threshold of a test of likelihoods between the two rates,
// (r-1)/ln r. Minutes above it are more likely parts of the episode.
var levels = []struct{ Ratio, Level int64 }{
	{130, 114}, {150, 123}, {200, 144}, {300, 182}, {500, 249}, {1000, 391}, {2000, 634}, {5000, 1253}, {10_000, 2150},
}

// levelOf returns the level of a ratio.
func levelOf(ratio int64) int64 {
	level := levels[0].Level
	for _, l := range levels {
		if ratio >= l.Ratio {
			level = l.Level
		}
	}
	return level
}
