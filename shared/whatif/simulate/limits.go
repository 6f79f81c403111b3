package simulate

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Limit is a rate limit.
type Limit struct {
	Active           bool
	Timeframe, TTL   int64 // seconds; TTL is the length of a ban
	Threshold        int
	Ban              bool
	Key              []Part
	PairWith         *Part
	Include, Exclude Tags
	Action           string
	Tags             []string
}

// Part is a value of a request: an attribute, header, cookie or argument.
type Part struct {
	Kind string // attrs, headers, cookies or args
	Name string
}

// Tags is a set of tags, all or one of which a request must have.
type Tags struct {
	Relation string // AND or OR; OR if empty
	Names    []string
}

// Limits reports, for each record, whether the limit acts on it. Records are evaluated in the order of their times, and
// records of the same time in the order in which they are given.
//
// The limit applies to a record that its tags select and that has all parts of the key. The record counts if it also
// has the value that the limit is paired with.
//
// Decisions:
//   - A window begins at the time t of a record that counts and lasts for [t, t+timeframe). The next window begins at
//     the first record of the key that counts at or after its end.
//   - The limit acts on each record that counts and at which the window's count exceeds the threshold. The count
//     includes the record. It is the number of records or, if the limit is paired with a value, of distinct values.
//     If they exceed the threshold, the limit acts on records that repeat a value, too.
//   - A ban begins at the record that exceeds the threshold, at its time t, and lasts for [t, t+ttl). It also ends the
//     window. The limit acts on all records of the key during the ban to which it applies, including those that lack
//     the value that the limit is paired with. They do not count, do not prolong the ban and begin no window: the first
//     record after the ban that counts begins the next one. A ban of 0 seconds only ends the window.
//   - Without Ban, TTL has no meaning.
//   - A threshold of 0, or less, acts on every record that would count. There is no count, no window and no ban.
//   - A timeframe of 0 makes each record that counts a window of its own.
//   - A key without parts is the same for all records. Keys are equal if all their parts are.
//   - Values are compared as they are written. An empty text is a value. The attribute tags is the set of the record's
//     tags, which is never absent. A part of an unknown kind, such as plugins, is always absent.
//   - Include without names selects all records, and Exclude without names excludes none. A record that both select is
//     excluded. With the relation AND, a record is included, or excluded, if it has all the names.
//   - Records count whatever happened to them according to the log, and whatever other limits do. The action and the
//     tags of the limit change nothing here.
//   - Every key starts without a window and without a ban.
func Limits(limit Limit, records []Record) []bool {
	acts := make([]bool, len(records))
	counters := map[string]*counter{}
	for _, i := range byTime(records) {
		key, present := limit.key(records[i])
		if !limit.Active || !present || !limit.selects(records[i]) {
			continue
		}
		if counters[key] == nil {
			counters[key] = &counter{windowEnd: math.MinInt64, banEnd: math.MinInt64}
		}
		acts[i] = counters[key].actsOn(limit, records[i])
	}
	return acts
}

// byTime returns the indices of the records in the order in which they are evaluated.
func byTime(records []Record) []int {
	order := make([]int, len(records))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case records[a].Time < records[b].Time:
			return -1
		case records[a].Time > records[b].Time:
			return 1
		}
		return 0
	})
	return order
}

// key returns the values of all parts of the key, and whether the record has all of them.
func (l Limit) key(r Record) (string, bool) {
	var values []string
	for _, p := range l.Key {
		value, present := p.value(r)
		if !present {
			return "", false
		}
		values = append(values, value)
	}
	return fmt.Sprintf("%q", values), true
}

func (l Limit) selects(r Record) bool {
	included := len(l.Include.Names) == 0 || l.Include.on(r)
	return included && !l.Exclude.on(r)
}

// on reports whether the tags are on the record. No tags are on no record.
func (t Tags) on(r Record) bool {
	var tests []bool
	for _, name := range t.Names {
		tests = append(tests, slices.Contains(r.Tags, name))
	}
	return joined(t.Relation, tests)
}

func (p Part) value(r Record) (value string, present bool) {
	switch p.Kind {
	case "attrs":
		if p.Name == "tags" {
			return tagSet(r.Tags), true
		}
		value, present = r.Fields[p.Name]
	case "headers":
		value, present = r.Headers[p.Name]
	case "cookies":
		value, present = r.Cookies[p.Name]
	case "args":
		value, present = r.Args[p.Name]
	}
	return value, present
}

// tagSet returns the tags as a text that depends neither on their order nor on repetitions.
func tagSet(tags []string) string {
	var quoted []string
	for _, tag := range tags {
		quoted = append(quoted, fmt.Sprintf("%q", tag))
	}
	slices.Sort(quoted)
	return strings.Join(slices.Compact(quoted), ",")
}

// counter is the state of a key. The initial ends precede all times.
type counter struct {
	windowEnd int64
	records   int             // in the window
	values    map[string]bool // of PairWith, in the window
	banEnd    int64
}

// actsOn reports whether the limit, which applies to the record, acts on it.
func (c *counter) actsOn(limit Limit, r Record) bool {
	value, counts := "", true
	if limit.PairWith != nil {
		value, counts = limit.PairWith.value(r)
	}
	if limit.Threshold <= 0 {
		return counts
	}
	if r.Time < c.banEnd {
		return true
	}
	if !counts {
		return false
	}
	if r.Time >= c.windowEnd {
		c.windowEnd = r.Time + microseconds(limit.Timeframe)
		c.records, c.values = 0, map[string]bool{}
	}
	c.records++
	c.values[value] = true
	count := c.records
	if limit.PairWith != nil {
		count = len(c.values)
	}
	if count <= limit.Threshold {
		return false
	}
	if limit.Ban {
		c.banEnd = r.Time + microseconds(limit.TTL)
		c.windowEnd = c.banEnd
	}
	return true
}

func microseconds(seconds int64) int64 { return seconds * 1_000_000 }
