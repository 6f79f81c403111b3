package asking

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

// Request is a request for what a change did.
type Request struct {
	At      string        // the moment, as filters write it
	Length  string        // of each of the two periods; "": DefaultLength
	Against string        // previous or a number of days, as in 1d; "": previous
	Filters string        // conditions of the requests that are compared, in either form, without a period
	Syntax  filter.Syntax // 0: determined by the first character
	Zone    string        // IANA name, of times in words, of today and of yesterday; "" for UTC
	Now     time.Time     // of relative times; zero: there are none
	AtOnce  int           // questions that are asked at the same time; 0: all
}

// Previous is the value of Against for the period right before the moment.
const Previous = "previous"

// DefaultLength is the length of the periods if a request has none.
const DefaultLength = "1h"

// The bounds of the length of a period. In more than a week, so much else changes that a difference says little about one
// moment, and the questions read two such periods.
const (
	minuteMs = 60_000
	hourMs   = 60 * minuteMs
	dayMs    = 24 * hourMs
	MaxDays  = 7
	// MaxEarlier is the largest number of days between the begins of the periods.
	MaxEarlier = 31
)

// request is a request that was read.
type request struct {
	at, lengthMs int64 // milliseconds
	days         int64 // between the begins of the periods; 0: one is right before the other
	conditions   string
	zone         *time.Location
	zoneName     string
	now          time.Time
}

func read(r Request) (request, error) {
	clock, err := search.ClockOf(r.Now, r.Zone)
	if err != nil {
		return request{}, err
	}
	of := request{zone: clock.Zone, zoneName: r.Zone, now: r.Now}
	if of.zone == nil {
		of.zone = time.UTC
	}
	if of.at, err = clock.Instant(r.At); err != nil {
		return of, about("at", err, "now-1h")
	}
	if of.lengthMs, err = lengthOf(r.Length); err != nil {
		return of, err
	}
	if of.days, err = daysOf(r.Against); err != nil {
		return of, err
	}
	if of.days > 0 && of.lengthMs > of.days*dayMs {
		return of, &search.ParamError{
			Param: "against", Message: fmt.Sprintf("the periods of %s overlap; use previous, or more days", r.Length),
			Suggestion: fmt.Sprintf("%dd", (of.lengthMs+dayMs-1)/dayMs),
		}
	}
	of.conditions, err = conditionsOf(r, clock)
	return of, err
}

// about returns an error of package query as one about a parameter.
func about(param string, err error, suggestion string) error {
	var known *fault.Error
	if errors.As(err, &known) {
		return &search.ParamError{Param: param, Message: known.Message, Suggestion: suggestion}
	}
	return err
}

func lengthOf(text string) (int64, error) {
	if text == "" {
		text = DefaultLength
	}
	if _, err := strconv.Atoi(text); err == nil {
		text += "s"
	}
	a, err := query.ParseAgainst(text, query.Clock{})
	switch {
	case err != nil || a.Kind != query.AgainstEarlier:
		return 0, &search.ParamError{
			Param: "length", Message: fmt.Sprintf("%q is not a length such as 15m, 1h or 1d", text), Suggestion: DefaultLength,
		}
	case a.BackMs < minuteMs || a.BackMs > MaxDays*dayMs:
		return 0, &search.ParamError{
			Param: "length", Message: fmt.Sprintf("%s is not between 1m and %dd", text, MaxDays), Suggestion: DefaultLength,
		}
	}
	return a.BackMs, nil
}

func daysOf(text string) (int64, error) {
	if text == "" || text == Previous {
		return 0, nil
	}
	a, err := query.ParseAgainst(text, query.Clock{})
	if err != nil || a.Kind != query.AgainstEarlier || a.BackMs%dayMs != 0 || a.BackMs > MaxEarlier*dayMs {
		return 0, &search.ParamError{
			Param: "against", Message: fmt.Sprintf("%q is neither previous nor a number of days from 1d to %dd", text, MaxEarlier),
			Suggestion: "7d",
		}
	}
	return a.BackMs / dayMs, nil
}

// conditionsOf returns the canonical conditions of a request.
func conditionsOf(r Request, clock query.Clock) (string, error) {
	if r.Filters == "" {
		return "", nil
	}
	f := r.Syntax.Parse(r.Filters)
	selection, err := query.BindSelection(f, query.WithClock(clock))
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(selection.Filter.Conditions, func(c filter.Condition) bool { return c.Field.Text == "timestamp" }) {
		return "", &search.ParamError{
			Param: "filters", Message: "the periods follow from at and length; leave out the conditions on timestamp",
		}
	}
	canonical := selection.Filter
	canonical.Syntax = filter.QueryString
	return filter.Format(canonical), nil
}

// after returns the period that begins at the moment.
func (r request) after() query.Period { return query.Period{FromMs: r.at, ToMs: r.at + r.lengthMs - 1} }

// before returns the period to compare it with: right before the moment, or at the same time of another day, by the clock
// of the zone.
func (r request) before() query.Period {
	from := r.at - r.lengthMs
	if r.days > 0 {
		from = time.UnixMilli(r.at).In(r.zone).AddDate(0, 0, -int(r.days)).UnixMilli()
		from = min(from, r.at-r.lengthMs) // an hour is repeated or left out in the zone
	}
	return query.Period{FromMs: from, ToMs: from + r.lengthMs - 1}
}

// segments are the lengths of the parts of a period, the longest first.
var segments = []struct {
	ms   int64
	name string
}{{6 * hourMs, "6h"}, {hourMs, "1h"}, {15 * minuteMs, "15m"}, {5 * minuteMs, "5m"}, {minuteMs, "1m"}}

// leastParts is the least number of parts of a period, unless a part would be shorter than a minute.
const leastParts = 12

// segment returns the length of the parts of the periods.
func (r request) segment() string {
	for _, s := range segments {
		if r.lengthMs >= leastParts*s.ms {
			return s.name
		}
	}
	return "1m"
}

// query returns the question about the requests after the moment.
func (r request) query() (query.Query, error) {
	after := r.after()
	text := filter.Joined(filter.During(after.FromMs, after.ToMs), r.conditions)
	q, _, err := inquiry.Bind(filter.ParseQueryString(text), query.WithClock(query.Clock{}))
	return q, err
}

// shorten ends the periods where the data ends, and reports whether it did. The data ends with the newest record, or
// earlier if it is complete only up to an earlier time. Periods that are shortened have whole minutes.
func (a *asker) shorten() (bool, error) {
	end := a.at + a.lengthMs
	if !a.meta.Last.IsZero() {
		end = min(end, a.meta.Last.UnixMilli()/minuteMs*minuteMs+minuteMs)
	}
	if a.meta.Complete != nil {
		end = min(end, inquiry.TimeOf(*a.meta.Complete).UnixMilli())
	}
	if !a.now.IsZero() {
		end = min(end, a.now.UnixMilli())
	}
	switch {
	case end == a.at+a.lengthMs:
		return false, nil
	case end-a.at < minuteMs:
		return false, &search.ParamError{
			Param: "at", Message: "there is less than a minute of data after " + filter.TimeText(a.at) + "; use an earlier moment",
		}
	}
	a.lengthMs = (end - a.at) / minuteMs * minuteMs
	return true, nil
}
