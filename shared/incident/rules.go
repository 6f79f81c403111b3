package incident

// Measure is a number of requests that is counted by host and segment.
type Measure int

// The measures.
const (
	All Measure = iota
	Passed
	Denied
	Missing
	Scanners
	Measures // their number
)

// passing are the conditions of requests that were neither blocked nor challenged.
var passing = []string{"blocked not is true", "challenge not is true", "ichallenge not is true"}

// ScannerAgents matches agents that name a scanner.
const ScannerAgents = `(?i)sqlmap|nikto|nuclei|gobuster|dirbuster|feroxbuster|ffuf|wfuzz|zmeu|masscan|zgrab|wpscan|` +
	`acunetix|nessus|openvas|netsparker|arachni|w3af|havij|skipfish|joomscan|hydra|morfeus|jorgee|whatweb|dirb/`

// ProbingQueries matches queries that attack the application.
const ProbingQueries = `(?i)union(\+|%20|\s|/\*)+(all(\+|%20|\s)+)?select|(<|%3c)(script|svg|img|iframe)|\.\.(/|%2f)|etc/passwd|` +
	`win\.ini|sleep\(|waitfor(\+|%20|\s)|\$(\{|%7b)jndi|('|%27)(\+|%20|\s)*(or|and)(\+|%20|\s)|php(:|%3a)//|information_schema|` +
	`cmd=|/bin/(ba)?sh|concat\(|(--|%23)(\+|%20|\s|-)*$`

// Conditions returns the conditions of the requests that a measure counts.
func (m Measure) Conditions() []string {
	switch m {
	case Passed:
		return passing
	case Denied:
		return append([]string{"status in (401, 403)"}, passing...)
	case Missing:
		return append([]string{"status=404"}, passing...)
	case Scanners:
		return []string{`user_agent~"` + ScannerAgents + `"`}
	}
	return nil
}

// Signal is a sign of an attack: requests that are much more numerous than usual.
type Signal int

// The signals, the most certain first.
const (
	Stopping Signal = iota
	Denying
	Probing
	Missed
	Rush
	signals
)

// Conditions returns the conditions of the requests of a signal, apart from the host; none for those that were stopped,
// because no filter selects what was blocked or challenged.
func (s Signal) Conditions() []string { return Signals[s].measure.Conditions() }

// signalRule says when the requests of a signal are an episode.
type signalRule struct {
	Name  string
	Doc   string
	Least int64 // requests beyond the usual number
	Ratio int64 // and of all of them, in percent of the usual number

	Certain bool    // the gateway has decided; nil decisions are guesses from what the origin answered
	measure Measure // of the requests; those that were stopped are all without those that passed
}

// Signals is the table of signals.
var Signals = [signals]signalRule{
	Stopping: {
		Name: "stopped", Doc: "Requests that were blocked or challenged.", Least: 40, Ratio: 160,
	},
	Denying: {
		Name: "denied", Doc: "Requests that passed and were answered with 401 or 403.", Least: 40, Ratio: 300, measure: Denied,
	},
	Probing: {
		Name: "scanners", Doc: "Requests with an agent that names a scanner.", Least: 20, Ratio: 300, measure: Scanners,
	},
	Missed: {
		Name: "missing", Doc: "Requests that passed and were answered with 404.", Least: 40, Ratio: 300, measure: Missing,
	},
	Rush: {
		Name: "requests", Doc: "All requests.", Least: 300, Ratio: 500, measure: All,
	},
}

// The numbers of the usual rate.
const (
	history       = 24 // hours before an hour whose median is its usual rate
	leastHistory  = 6  // hours with requests, with which a rate is known
	piece         = 10 * Minute
	leastPieces   = 3         // with requests, with which a share is known
	mostShare     = 100_000   // of a million: the usual share of a signal where it is not known
	leastRate     = 50        // thousandths of a request in a minute: no rate is lower
	deviations    = 6         // standard deviations of a Poisson distribution beyond the usual number
	Overwhelming  = 1000      // percent of the usual number, with which the usual targets do not matter
	longestWindow = 8         // hours, of several that stand out together
	coarseRatio   = 115       // percent of the usual number of all requests, for an hour that stands out
	faint         = 8         // minutes with less than one of so many requests of the mean are at no end of an episode
	coreShare     = 90        // percent of the excess of a run
	coreLength    = 3         // and its part of the length, with which an episode is that part of the run
	longestEdge   = 2         // minutes of a run that is only the edge of the one beside it
	leastPause    = 15        // minutes; a pause of that length ends an episode
	pausing       = 4         // its minutes have at most one of so many requests that the others have; rates that differ less are similar
	leastPart     = 10        // and the others have at least so many
	milli         = 1000      // rates are in thousandths
	million       = 1_000_000 // shares are in millionths
)

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
