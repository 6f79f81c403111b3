package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/wording"
)

// Notices lists what is missing in the report or not exact, in sentences. They come before everything else.
func (r Report) Notices() []string {
	var list []string
	if r.Run.Demo {
		list = append(list, "The records are those of a demo, not of your traffic.")
	}
	if len(r.Run.Skipped) > 0 {
		list = append(list, r.skippedObjects()+" could not be read. Their records are missing.")
	}
	if text := r.lateness(); text != "" {
		list = append(list, text)
	}
	list = append(list, gapNotices(r.Gaps, "the period", "Logs may be missing.")...)
	list = append(list, r.failures()...)
	if text := r.saturation(); text != "" {
		list = append(list, text)
	}
	if r.Empty() {
		newest := "There are no records at all."
		if r.Run.Newest != nil {
			newest = "The newest record is of " + r.instant(*r.Run.Newest) + "."
		}
		list = append(list, "No requests are in this period. "+newest)
	}
	const incomparable = "Numbers of the two periods are not comparable."
	before := r.GapsBefore
	if r.begins != "" {
		list = append(list,
			"The data begins at "+r.instant(r.begins)+", so it does not cover the previous period. "+incomparable)
		before = slices.DeleteFunc(slices.Clone(before), func(gap Span) bool { return gap.To < r.begins })
	}
	return append(list, gapNotices(before, "the previous period", incomparable)...)
}

// saturation returns the notice that figures are not exact, or "".
func (r Report) saturation() string {
	var labels []string
	for _, f := range r.Figures {
		if f.Saturated {
			labels = append(labels, f.Label)
		}
	}
	if labels == nil {
		return ""
	}
	return "Not exact, because sums have more than 64 bits: " + enumeration(labels) + "."
}

// skippedObjects returns the number of objects that could not be read, as text. If the caller may not learn the number,
// the list has a text in parentheses instead of names of objects.
func (r Report) skippedObjects() string {
	for _, name := range r.Run.Skipped {
		if strings.HasPrefix(name, "(") {
			return "Objects of the data"
		}
	}
	return wording.Plural(int64(len(r.Run.Skipped)), "object") + " of the data"
}

// lateness returns the notice that later requests of the period may be missing, or "".
func (r Report) lateness() string {
	const later = " Later requests of the period may be missing."
	through, newest := r.Run.Complete, r.Run.Newest
	switch {
	case through != nil && before(*through, r.Period.To):
		return "The data is complete through " + r.instant(*through) + "." + later
	case through == nil && newest != nil && r.endsEarly(*newest) && !r.Empty():
		return "The newest record is of " + r.instant(*newest) + ", and it is not known whether the data is complete." + later
	}
	return ""
}

// endsEarly reports whether the newest record is earlier than the last hour of a day, or the same part of another period.
func (r Report) endsEarly(newest string) bool {
	at, err := time.Parse(time.RFC3339, newest)
	from, err2 := time.Parse(time.RFC3339, r.Period.From)
	return err == nil && err2 == nil && r.End().Sub(at) > r.End().Sub(from)/24
}

// failures returns a notice for each reason why parts of the report are missing.
func (r Report) failures() []string {
	reasons := map[string][]string{}
	var order, list []string
	for _, f := range r.Failed {
		if reasons[f.Reason] == nil {
			order = append(order, f.Reason)
		}
		reasons[f.Reason] = append(reasons[f.Reason], string(f.Part))
	}
	for _, reason := range order {
		list = append(list, "Without "+enumeration(reasons[reason])+": "+wording.Shown(reason, 300))
	}
	return list
}

// mostGaps is the number of gaps that notices name.
const mostGaps = 3

func gapNotices(gaps []Span, of, meaning string) []string {
	if len(gaps) == 0 {
		return nil
	}
	var texts []string
	for _, g := range gaps[:min(len(gaps), mostGaps)] {
		texts = append(texts, g.Text)
	}
	if more := len(gaps) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more times", more))
	}
	return []string{fmt.Sprintf("No request of %s is in these hours, although many were to be expected: %s. %s",
		of, strings.Join(texts, "; "), meaning)}
}

// incomplete reports whether data of the period or parts of the report are missing or may be missing.
func (r Report) incomplete() bool {
	return len(r.Failed)+len(r.Run.Skipped)+len(r.Gaps) > 0 || r.lateness() != "" || r.Empty() && r.perhapsNotEmpty()
}

// perhapsNotEmpty reports whether a period without requests may have had some. It may if the data ends before the
// period, if it ends within the period and is not known to be complete, or if the previous period has many requests.
func (r Report) perhapsNotEmpty() bool {
	newest, was := r.Run.Newest, r.Figures[0].Previous
	return newest == nil || before(*newest, r.Period.From) || was != nil && *was >= leastExpected ||
		r.Run.Complete == nil && before(*newest, r.Period.To)
}

// leastExpected is the smallest number of expected requests whose absence is a gap. Where so many are expected, there
// are practically never none by chance.
const leastExpected = 50

// leastGap is the length of the shortest gap in milliseconds.
const leastGap = 3_600_000

// gaps returns the times of at least an hour in a period in which no request came although at least leastExpected were
// to be expected. For each segment it expects as many requests as three quarters of the segments with requests have at
// least, but, over the whole time, no more than at the same time of the other period. If the other period has no
// requests, there are gaps only if at least three quarters of the segments of this one have requests. Times after
// through, for which the data is not complete yet, are no gaps.
func gaps(list, other []segment, p Period, through *string, zone *time.Location) []Span {
	spans := []Span{}
	var busy []int64
	for _, s := range list {
		if s.NumOfRequests > 0 {
			busy = append(busy, s.NumOfRequests)
		}
	}
	compared := slices.ContainsFunc(other, func(s segment) bool { return s.NumOfRequests > 0 })
	if len(busy) == 0 || !compared && len(busy)*4 < len(list)*3 {
		return spans
	}
	slices.Sort(busy)
	usual := busy[len(busy)/4]
	for i := 0; i < len(list); i++ {
		first := i
		for i < len(list) && list[i].NumOfRequests == 0 {
			i++
		}
		from, to := max(list[first].TimePeriod*1000, p.FromMs), p.End()
		if i < len(list) {
			to = list[i].TimePeriod * 1000
		}
		if through != nil {
			if t, err := time.Parse(time.RFC3339, *through); err == nil {
				to = min(to, t.UnixMilli())
			}
		}
		expected := usual * int64(i-first)
		if compared {
			expected = min(expected, requestsBetween(other, list[first].TimePeriod-list[0].TimePeriod, to/1000-list[0].TimePeriod))
		}
		if to-from >= leastGap && expected >= leastExpected {
			spans = append(spans, spanOf(Period{FromMs: from, ToMs: to - 1}, zone))
		}
	}
	return spans
}

// requestsBetween returns the requests of the segments that begin within a range of seconds after the first one.
func requestsBetween(list []segment, from, to int64) (n int64) {
	for _, s := range list {
		if after := s.TimePeriod - list[0].TimePeriod; after >= from && after < to {
			n += s.NumOfRequests
		}
	}
	return n
}
