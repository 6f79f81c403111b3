// Package incident finds attacks in numbers of requests: bounded episodes at one target. Its rules are tables of
// integers, so that the same requests have the same incidents on every machine and with every engine.
//
// Detection has two passes. The first looks at hours and names the few that stand out; the second looks at the minutes
// around them. What an incident is, whom it came from and whether it held is then read from further figures.
package incident

import "time"

// The lengths of the two grids, in seconds. Both begin at the Unix epoch, whatever the period is.
const (
	Minute = 60
	Hour   = 60 * Minute
)

// MaxDays is the length in days of the longest period in which incidents are sought. LongestPeriod is the same for a
// calendar in which one of the days has 25 hours.
const (
	MaxDays       = 31
	LongestPeriod = MaxDays*24*time.Hour + time.Hour
)

// Host is the host of requests. Requests without a host have the zero Host.
type Host struct {
	Name  string
	Named bool
}

// String returns the name of the host in targets.
func (h Host) String() string {
	if !h.Named {
		return "–"
	}
	return h.Name
}

// Span is an interval in Unix seconds. It includes From and not To.
type Span struct{ From, To int64 }

func (s Span) overlaps(o Span) bool { return s.From < o.To && o.From < s.To }

func (s Span) union(o Span) Span { return Span{min(s.From, o.From), max(s.To, o.To)} }

// Episode is a span in which a host has more requests of a signal than usual.
type Episode struct {
	Span
	Host   Host
	Signal Signal // the first with at least half of the largest excess
	Excess int64  // requests of the signal beyond the usual number
	Ratio  int64  // all of them in percent of the usual number

	BeginsEarlier, EndsLater bool // the period cuts it
}
