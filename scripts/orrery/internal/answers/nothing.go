package answers

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/question"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

// ReportNothing reports that nothing was found, and the period of the data. It prints to stderr, in every format but
// JSON, which has the period in its meta.
func (a Answer) ReportNothing(flags question.ParameterFlags, format string, stderr io.Writer) {
	continues := flags.Has("since") || flags.Has("cursor")
	switch {
	case format == "json" || !a.foundNothing(flags):
	case a.Meta.Diff != nil && a.Meta.NumOfRequests != nil && *a.Meta.NumOfRequests > 0:
		fmt.Fprintln(stderr, "no value differs significantly")
	case continues && format == "table":
		fmt.Fprintln(stderr, "no further records match"+a.inReadable())
	case continues: // a program that asks for newer records again and again finds none most of the time
	case a.Route == string(search.Values):
		fmt.Fprintln(stderr, "no values match"+a.inReadable()+a.periodOfData())
	case a.Route == string(search.Incidents):
		fmt.Fprintln(stderr, "no incidents"+a.inReadable()+a.periodOfData())
	default:
		fmt.Fprintln(stderr, "no records match"+a.inReadable()+a.periodOfData())
	}
}

// inReadable limits the report that nothing was found to what was read, if objects could not be.
func (a Answer) inReadable() string {
	if len(a.Meta.Skipped) == 0 {
		return ""
	}
	return " in the objects that could be read"
}

// foundNothing reports whether there are no results, or only segments without requests.
func (a Answer) foundNothing(flags question.ParameterFlags) bool {
	switch search.Route(a.Route) {
	case search.Facets:
		return a.Meta.NumOfRequests != nil && *a.Meta.NumOfRequests == 0
	case search.Stats, search.Timeline:
		return a.allZero(func(r segmentOfAnswer) int64 { return r.Requests })
	case search.Histogram: // of another measure, zero does not mean that no requests match
		counts := cmp.Or(flags.Text("measure"), string(query.MeasureRequests)) == string(query.MeasureRequests)
		return len(a.Data.Results) == 0 || counts && a.allZero(func(r segmentOfAnswer) int64 { return r.Value })
	}
	return len(a.Data.Results) == 0
}

// segmentOfAnswer is the part of a result that has the number of its requests.
type segmentOfAnswer struct {
	Requests int64 `json:"num_of_requests"`
	Value    int64 `json:"value"`
}

// allZero reports whether a figure of every result is zero.
func (a Answer) allZero(figure func(segmentOfAnswer) int64) bool {
	for _, text := range a.Data.Results {
		var r segmentOfAnswer
		if err := json.Unmarshal(text, &r); err != nil || figure(r) != 0 {
			return false
		}
	}
	return true
}

// periodOfData returns the end of a sentence with the period of the data, and with a remedy if the period of the query
// is outside it. A key that is limited to branches learns only the time of the newest record.
func (a Answer) periodOfData() string {
	newest, known := instantOf(a.Meta.Newest)
	if !known {
		return "; there is no data yet"
	}
	from, _ := instantOf(&a.Meta.Period.From)
	to, _ := instantOf(&a.Meta.Period.To)
	oldest, known := instantOf(a.Meta.Oldest)
	switch {
	case !known && newest.Before(from):
		return "; the newest record is of " + newest.Format(time.DateTime) + " UTC"
	case !known:
		return ""
	}
	first, last := oldest.Format(exactTime), newest.Format(exactTime)
	text := fmt.Sprintf("; the data covers %s to %s UTC", first, last)
	if newest.Before(from) || to.Before(oldest) {
		text += fmt.Sprintf(", so ask for \"timestamp between %s and %s\"", first, last)
	}
	return text
}

// exactTime is time.DateTime with milliseconds unless they are zero.
const exactTime = time.DateTime + ".999"

// instantOf parses a time of an answer. It returns false if there is none.
func instantOf(text *string) (time.Time, bool) {
	if text == nil {
		return time.Time{}, false
	}
	at, err := time.Parse(time.RFC3339, *text)
	return at.UTC(), err == nil
}
