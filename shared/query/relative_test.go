package query_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
)

// noon is the present of the tests: in Berlin, the day has begun an hour later than the day before.
var noon = query.WithClock(query.Clock{Now: time.Date(2024, 10, 28, 12, 0, 0, 0, time.UTC)})

func TestRelativeTimes(t *testing.T) {
	for _, c := range []struct{ name, filter, want string }{
		{"the last minutes", "timestamp between now-15m and now", "2024-10-28 11:45:00 and 2024-10-28 12:00:00"},
		{"either order", "timestamp between now and now-90s", "2024-10-28 11:58:30 and 2024-10-28 12:00:00"},
		{"hours", "timestamp between now-36h and now", "2024-10-27 00:00:00 and 2024-10-28 12:00:00"},
		{"days and weeks", "timestamp between now-2w and now-1d", "2024-10-14 12:00:00 and 2024-10-27 12:00:00"},
		{"today begins at midnight", "timestamp between today and now", "2024-10-28 00:00:00 and 2024-10-28 12:00:00"},
		{"yesterday, too", "timestamp between yesterday and today", "2024-10-27 00:00:00 and 2024-10-28 00:00:00"},
		{"beside a date", "timestamp between 2024-10-01 and now", "2024-10-01 00:00:00 and 2024-10-28 12:00:00"},
		{"in quotes", `timestamp between "now-1h" and "now"`, "2024-10-28 11:00:00 and 2024-10-28 12:00:00"},
		{"with spaces", "timestamp between now - 1h and now", "2024-10-28 11:00:00 and 2024-10-28 12:00:00"},
		{
			"in JSON", `[{"field":"timestamp","op":"between","value":["now-1h","now"]}]`,
			"2024-10-28 11:00:00 and 2024-10-28 12:00:00",
		},
		{
			"after now", "timestamp between now and now+90m", "2024-10-28 12:00:00 and 2024-10-28 13:30:00",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			q, err := query.Bind(filter.Parse(c.filter), query.Logs{}, noon)
			if err != nil {
				t.Fatal(querytest.Explain(err))
			}
			if got := filter.Format(q.Filter); got != "timestamp between "+c.want {
				t.Errorf("canonical %s, want %s", got, c.want)
			}
			absolute, err := query.Bind(filter.Parse("timestamp between "+c.want), query.Logs{})
			if err != nil {
				t.Fatal(err)
			}
			if q.Fingerprint() != absolute.Fingerprint() || q.Period != absolute.Period || absolute.Relative != nil {
				t.Errorf("%+v differs from the query of absolute times, %+v", q, absolute)
			}
		})
	}
	t.Run("further conditions, too", func(t *testing.T) {
		text := "timestamp between yesterday and now, not timestamp between now-30m and now-15m, host=now"
		q, err := query.Bind(filter.Parse(text), query.Logs{}, noon)
		if err != nil {
			t.Fatal(querytest.Explain(err))
		}
		const want = `timestamp between 2024-10-27 00:00:00 and 2024-10-28 12:00:00, ` +
			`timestamp not between 2024-10-28 11:30:00 and 2024-10-28 11:45:00, host="now"`
		if got := filter.Format(q.Filter); got != want {
			t.Errorf("canonical %s, want %s", got, want)
		}
		var texts []string
		for _, r := range q.Relative {
			texts = append(texts, r.Text)
		}
		if diff := cmp.Diff([]string{"yesterday", "now", "now-30m", "now-15m"}, texts); diff != "" {
			t.Errorf("relative times (-want +got):\n%s", diff)
		}
	})
	t.Run("days of a zone", func(t *testing.T) {
		berlin := query.WithClock(query.Clock{
			Now: time.Date(2024, 10, 27, 12, 0, 0, 0, time.UTC), Zone: querytest.Zone("Europe/Berlin"),
		})
		for text, want := range map[string]query.Period{
			"timestamp between today and now":       period(t, "2024-10-26T22:00:00Z", "2024-10-27T12:00:00Z"),
			"timestamp between yesterday and today": period(t, "2024-10-25T22:00:00Z", "2024-10-26T22:00:00Z"),
		} {
			q, err := query.Bind(filter.Parse(text), query.Logs{}, berlin)
			if err != nil || q.Period != want {
				t.Errorf("%s: %s, %v; want %s", text, q.Period, err, want)
			}
		}
	})
	t.Run("in a selection", func(t *testing.T) {
		s, err := query.BindSelection(filter.Parse("timestamp between now-5m and now"), noon)
		if err != nil {
			t.Fatal(err)
		}
		if got := filter.Format(s.Filter); got != "timestamp between 2024-10-28 11:55:00 and 2024-10-28 12:00:00" {
			t.Errorf("canonical %s", got)
		}
	})
}

func TestMistakesInRelativeTimes(t *testing.T) {
	const unit = " is not a time before or after now, which is a number and one of s, m, h, d and w, as in now-15m"
	for _, c := range []struct{ value, want, fixed string }{
		{"now-15x", unit, ""},
		{"now-", unit, ""},
		{"now-m", unit, ""},
		{"now/d", unit, ""},
		{"now-15min", unit + "; write now-15m", "now-15m"},
		{"now-15M", unit + "; write now-15m", "now-15m"},
		{"now-2 Weeks", unit + "; write now-2w", "now-2w"},
		{"now+5min", unit + "; write now+5m", "now+5m"},
		{"now 5m", unit + "; write now+5m", "now+5m"},
		{"now+800000w", " is outside the years 0001 to 9999", ""},
		{"-1h", " has no time that it is relative to; write now-1h", "now-1h"},
		{"NOW-1h", " is not in lower case; write now-1h", "now-1h"},
		{"Today", " is not in lower case; write today", "today"},
		{
			"today-7d", " has a length of time, which only now takes; write a date, or a time before now, such as now-36h", "",
		},
		{"now-99999999999999999999w", " is outside the years 0001 to 9999", ""},
		{"now-2024y", unit, ""},
		{"now-800000d", " is outside the years 0001 to 9999", ""},
		{"ye\u017fterday", " must contain year, month and day, as in 2026-01-31 or 2026-01-31 23:59:59", ""},
		{"nowhere", " must contain year, month and day, as in 2026-01-31 or 2026-01-31 23:59:59", ""},
	} {
		t.Run(c.value, func(t *testing.T) {
			text := "timestamp between " + c.value + " and now, status=200"
			_, err := query.Bind(filter.Parse(text), query.Logs{}, noon)
			var wrong *query.FilterError
			if !errors.As(err, &wrong) || len(wrong.Errors) != 1 {
				t.Fatalf("error %v, want one mistake", err)
			}
			e := wrong.Errors[0]
			if got := text[e.Span.Offset:e.Span.End()]; got != c.value || e.Code != "invalid_time" {
				t.Errorf("%s is at %q", e.Code, got)
			}
			if want := `"` + c.value + `"` + c.want; e.Message != want {
				t.Errorf("message %s, want %s", e.Message, want)
			}
			want := ""
			if c.fixed != "" {
				want = strings.Replace(text, c.value, c.fixed, 1)
			}
			if wrong.Fixed != want {
				t.Errorf("fixed %q, want %q", wrong.Fixed, want)
			}
		})
	}
	t.Run("in JSON the mistake has a pointer, and its correction quotes", func(t *testing.T) {
		_, err := query.Bind(filter.Parse(`[{"field":"timestamp","op":"between","value":["now-1h","now 1h"]}]`), query.Logs{}, noon)
		var wrong *query.FilterError
		if !errors.As(err, &wrong) || len(wrong.Errors) != 1 || wrong.Errors[0].Pointer != "/0/value/1" {
			t.Fatalf("error %v, want one mistake at /0/value/1", err)
		}
		if want := `[{"field":"timestamp","op":"between","value":["now-1h","now+1h"]}]`; wrong.Fixed != want {
			t.Errorf("fixed %s, want %s", wrong.Fixed, want)
		}
	})
	t.Run("a filter that is kept takes none", func(t *testing.T) {
		_, err := query.BindConditions(filter.Parse("status=200, timestamp between now-1h and 2026-01-01"))
		var wrong *query.FilterError
		if !errors.As(err, &wrong) || len(wrong.Errors) != 1 || wrong.Errors[0].Code != "relative_time" {
			t.Errorf("error %v, want one mistake with the code relative_time", err)
		}
	})
	t.Run("a wrong number of values is one mistake", func(t *testing.T) {
		_, err := query.Bind(filter.Parse(`[{"field":"timestamp","op":"between","value":["now-1h"]}]`), query.Logs{}, noon)
		var wrong *query.FilterError
		if !errors.As(err, &wrong) || len(wrong.Errors) != 1 {
			t.Errorf("error %v, want one mistake", err)
		}
	})
}

// FuzzRelativeTime checks that any text as a time is a mistake in the text, or stands for a time that the canonical
// filter has in absolute form.
func FuzzRelativeTime(f *testing.F) {
	for _, text := range []string{
		"now", "now-15m", "today", "yesterday", "now-15x", "now+5m", "now 5m", "-1h", "NOW", "now-", "today-1d", "now-0s",
		"now-99999999999999999999w", "now\x00", "now-1\u0661h", "nowhere", "now - 1 h", "now-1h\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, value string) {
		asked := filter.Filter{Conditions: []filter.Condition{{
			Field: filter.Word{Text: "timestamp"}, Op: filter.Between,
			Values: []filter.Value{{Kind: filter.Text, Text: value}, {Kind: filter.Text, Text: "now"}},
		}}}
		for _, text := range []string{filter.Format(asked), filter.FormatJSON(asked)} {
			q, err := query.Bind(filter.Parse(text), query.Timeline{}, noon)
			var bad *query.FilterError
			if errors.As(err, &bad) {
				for _, e := range bad.Errors {
					if e.Span.Offset < 0 || e.Span.Length < 0 || e.Span.End() > len(bad.Text) || e.Message == "" {
						t.Fatalf("%q: mistake %+v", bad.Text, e)
					}
				}
				if bad.Fixed != "" {
					if _, err := query.Bind(filter.Parse(bad.Fixed), query.Timeline{}, noon); err != nil {
						t.Fatalf("%q: the fixed filter %q has mistakes: %v", bad.Text, bad.Fixed, err)
					}
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			again, err := query.Bind(filter.Parse(filter.Format(q.Filter)), query.Timeline{})
			if err != nil || again.Fingerprint() != q.Fingerprint() || again.Relative != nil {
				t.Fatalf("%q: the canonical filter is not absolute: %s, %v", text, filter.Format(q.Filter), err)
			}
		}
	})
}
