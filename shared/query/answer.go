package query

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/orrery/orrery/shared/lake"
)

// Answer is the result of an engine. Only the field of the query's shape is set. Figures are exact integers;
// package search computes averages and adds empty segments, so both are equal on every engine.
type Answer struct {
	Logs      []*lake.Row   // newest first
	Stats     []StatsRow    // by segment, then hostname or value; segments without records are missing
	Timeline  []TimelineRow // by segment; segments without records are missing
	TopX      []TopXRow     // by label, then blocked, requests (descending), key
	Facets    FacetsAnswer
	Histogram []Series
	Diff      DiffAnswer
	Counts    []CountsRow // by value, the absent one last, then segment
	Values    ValuesAnswer
	Sequences SequencesAnswer

	// Truncated reports that Logs lacks older matching records, because they would take too much memory.
	Truncated bool
}

// StatsRow holds the figures of one segment, or of one hostname or value in it. The absent value is the last.
type StatsRow struct {
	Segment   int64  // start, Unix seconds
	Hostname  string // the busiest hostname (ties by name), or the group's; "" when no record has one
	Requests  int64
	Bandwidth int64 // bytes_sent + request_length
	TimeUs    int64 // sum of request_time
	Timed     int64 // number of records that have a request_time

	Value       string      // if the shape has a dimension: the value of the records
	HasValue    bool        // false for the records without a value
	Percentiles Percentiles // if the shape asks for them
}

// TimelineRow holds the figures of one segment.
type TimelineRow struct {
	Segment                                             int64 // start, Unix seconds
	Requests, Blocked, Challenges, Human, OriginBlocked int64
	IPs, Sessions                                       int64 // exact distinct counts
	BytesSent                                           int64
	Statuses, OriginStatuses                            []StatusCount // by count descending, then status as text
}

// StatusCount counts the responses with one status.
type StatusCount struct{ Status, Count int64 }

// SortedStatuses returns the counts of statuses in the order of answers: by count descending, then by status as text.
func SortedStatuses(counts map[int64]int64) []StatusCount {
	if len(counts) == 0 {
		return nil
	}
	sorted := make([]StatusCount, 0, len(counts))
	for status, n := range counts {
		sorted = append(sorted, StatusCount{Status: status, Count: n})
	}
	SortStatuses(sorted)
	return sorted
}

// SortStatuses sorts counts in the order of answers.
func SortStatuses(counts []StatusCount) {
	slices.SortFunc(counts, func(a, b StatusCount) int {
		if a.Count != b.Count {
			return cmp.Compare(b.Count, a.Count)
		}
		return compareTexts(a.Status, b.Status)
	})
}

// compareTexts compares the decimal texts of numbers.
func compareTexts(a, b int64) int {
	if min(a, b) >= 100 && max(a, b) < 1000 { // as many digits
		return cmp.Compare(a, b)
	}
	return cmp.Compare(strconv.FormatInt(a, 10), strconv.FormatInt(b, 10))
}

// TopXRow holds the figures of one key of one label.
type TopXRow struct {
	Label, Key                                            string
	Requests, Blocked, Bots, Challenges, Human, Monitored int64
	BytesSent, RequestLength                              int64
	Origin, Svc, Total                                    Times
	FirstASN, FirstCountry, FirstOrganization             string      // the smallest in the group, "" when it has none
	Percentiles                                           Percentiles // if the shape asks for them
}

// Times summarizes durations in microseconds. When Count is 0, the other figures have no meaning.
type Times struct{ Count, Sum, Min, Max int64 }

// Average returns the mean in microseconds, by which every engine ranks. It is 0 when Count is 0.
func (t Times) Average() float64 {
	if t.Count == 0 {
		return 0
	}
	return float64(t.Sum) / float64(t.Count)
}
