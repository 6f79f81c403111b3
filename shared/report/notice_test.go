package report

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// hourly returns an answer with a segment for each hour of a period.
func hourly(t *testing.T, p Period, requests func(hour int) int64) Answer {
	t.Helper()
	return answerOf(t, timelineOf(p, requests, func(int) int64 { return 0 }), nil)
}

// quietAnswers are the answers of a week in which nothing happened, with a steady number of requests in each hour.
func quietAnswers(t *testing.T, s Setting) map[Part]Answer {
	t.Helper()
	answers := map[Part]Answer{}
	for _, q := range s.Questions() {
		answers[q.Part] = answerOf(t, []object{}, object{"num_of_requests": 0})
	}
	steady := func(int) int64 { return 100 }
	answers[Timeline] = hourly(t, s.Period, steady)
	answers[TimelineBefore] = hourly(t, *s.Previous, steady)
	answers[Changes] = answerOf(t, []object{}, object{"diff": object{
		"selected": object{"num_of_requests": 16_800}, "baseline": object{"num_of_requests": 16_800},
	}})
	return answers
}

// TestNothingIsClaimedOfWhatIsMissing: if anything is missing, the verdict is neither quiet nor held, and every form
// says before the verdict what is missing.
func TestNothingIsClaimedOfWhatIsMissing(t *testing.T) {
	s := settingOf(t)
	hole := func(from, to int) func(int) int64 {
		return func(hour int) int64 {
			if hour >= from && hour < to {
				return 0
			}
			return 100
		}
	}
	type answers = map[Part]Answer
	for _, test := range []struct {
		rule   string
		change func(a answers)
		notice string
	}{
		{"an object that cannot be read", func(a answers) {
			a[Times] = answerOf(t, []object{}, object{"skipped": []string{"lake/a.parquet"}})
		}, "1 object of the data could not be read. Their records are missing."},
		{"objects whose number the caller may not learn", func(a answers) {
			a[Times] = answerOf(t, []object{}, object{"skipped": []string{"(objects with records of the period)"}})
		}, "Objects of the data could not be read. Their records are missing."},
		{"logs that have not arrived", func(a answers) {
			a[Times] = answerOf(t, []object{}, object{"complete_through": "2026-11-22T20:00:00Z"})
		}, "The data is complete through Sun 22 November 2026 21:00:00. Later requests of the period may be missing."},
		{"a newest record within the period, and nothing else known", func(a answers) {
			for part := range a {
				body := strings.Replace(string(a[part].Body), `"complete_through":"2026-11-23T05:00:00Z"`, `"complete_through":null`, 1)
				a[part] = Answer{Body: []byte(strings.Replace(body, "2026-11-22T22:59:58Z", "2026-11-22T14:00:00Z", 1))}
			}
		}, "The newest record is of Sun 22 November 2026 15:00:00, and it is not known whether the data is complete. " +
			"Later requests of the period may be missing."},
		{"an hour without requests", func(a answers) { a[Timeline] = hourly(t, s.Period, hole(30, 31)) },
			"No request of the period is in these hours, although many were to be expected: Tue 17 November 2026 06:00 – " +
				"Tue 17 November 2026 07:00. Logs may be missing."},
		{"a last day without requests", func(a answers) { a[Timeline] = hourly(t, s.Period, hole(144, 168)) },
			"No request of the period is in these hours, although many were to be expected: Sunday, 22 November 2026. " +
				"Logs may be missing."},
		{"all requests are missing", func(a answers) { a[Timeline] = hourly(t, s.Period, hole(0, 168)) },
			"No requests are in this period. The newest record is of Sun 22 November 2026 23:59:58."},
		{"a section that failed", func(a answers) { a[WrongBlocks] = Answer{Reason: "busy"} }, "Without wrong blocks: busy"},
		{"a section of the previous period that failed", func(a answers) { a[BlockedBefore] = Answer{Reason: "busy"} },
			"Without blocked before: busy"},
		{"a section that was not asked", func(a answers) { delete(a, OtherErrors) },
			"Without other errors: the question was not answered"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			a := quietAnswers(t, s)
			test.change(a)
			r := New(s, a)
			if diff := cmp.Diff([]string{test.notice}, r.Notices()); diff != "" {
				t.Errorf("notices differ (-want +got):\n%s", diff)
			}
			if r.Verdict.State != Unknown || !strings.HasPrefix(r.Verdict.Sentences[0].Text, "Data or parts") {
				t.Errorf("the verdict is %v", r.Verdict)
			}
			if !strings.HasPrefix(r.Subject(), "Incomplete · ") {
				t.Errorf("the subject is %s", r.Subject())
			}
			begins := test.notice[:20]
			for name, print := range forms {
				text := string(print(r))
				notice, verdict := strings.Index(text, begins), strings.Index(text, "Data or parts")
				if notice < 0 || verdict < notice {
					t.Errorf("%s has the notice at %d, the verdict at %d", name, notice, verdict)
				}
			}
		})
	}
	t.Run("nothing is missing", func(t *testing.T) {
		r := New(s, quietAnswers(t, s))
		if len(r.Notices()) > 0 || r.Verdict.State != Quiet || strings.HasPrefix(r.Subject(), "Incomplete") {
			t.Errorf("%v, %v, %s", r.Notices(), r.Verdict, r.Subject())
		}
	})
	t.Run("an attack is not held if a part is missing", func(t *testing.T) {
		a := ordinary.answers(t, s)
		a[WrongBlocks], a[Top] = answerOf(t, []object{}, object{"num_of_requests": 0}), Answer{Reason: "busy"}
		for part, answer := range quietAnswers(t, s) {
			if part == OriginErrors || part == OriginErrorsBefore {
				a[part] = answer
			}
		}
		if v := New(s, a).Verdict; v.State != Attacked {
			t.Errorf("the verdict is %v", v)
		}
	})
	t.Run("what someone should look at stays, quiet does not", func(t *testing.T) {
		a := quietAnswers(t, s)
		a[Passed], a[OriginErrors] = answerOf(t, []object{}, object{"num_of_requests": 16_800}),
			answerOf(t, []object{}, object{"num_of_requests": 2_000})
		a[Top] = Answer{Reason: "busy"}
		if v := New(s, a).Verdict; v.State != Look || len(v.Sentences) != 2 {
			t.Errorf("the verdict is %v", v)
		}
	})
	t.Run("a demo is no traffic", func(t *testing.T) {
		a := quietAnswers(t, s)
		a[Top] = answerOf(t, []object{}, object{"demo": true})
		r := New(s, a)
		if len(r.Notices()) != 1 || !strings.Contains(r.Notices()[0], "demo") || !strings.HasPrefix(r.Subject(), "Demo") {
			t.Errorf("%v %s", r.Notices(), r.Subject())
		}
	})
}

// TestDataThatBeginsWithinThePreviousPeriod: the report says when, and has no change in any form.
func TestDataThatBeginsWithinThePreviousPeriod(t *testing.T) {
	s := settingOf(t)
	for oldest, notice := range map[string]string{
		"2026-11-08T23:00:00Z": "", // the previous period begins, by its own clock
		"2026-11-15T22:00:00Z": "The data begins at Sun 15 November 2026 23:00:00, so it does not cover the previous period. " +
			"Numbers of the two periods are not comparable.",
	} {
		a := quietAnswers(t, s)
		before := timelineOf(*s.Previous, func(hour int) int64 {
			if oldest > "2026-11-15" && hour < 167 {
				return 0
			}
			return 9
		}, func(int) int64 { return 0 })
		a[TimelineBefore] = answerOf(t, before, object{"oldest": oldest})
		r := New(s, a)
		if got := strings.Join(r.Notices(), " "); got != notice {
			t.Errorf("data from %s: notices %q, want %q", oldest, got, notice)
		}
		for name, print := range forms {
			if text := string(print(r)); strings.Contains(text, "× ") != (notice == "") && name != "csv" && name != "json" {
				t.Errorf("data from %s: %s has a change, or lacks it:\n%s", oldest, name, text)
			}
		}
	}
}

// TestSaturatedSums: a figure is not exact if one of its sums has more than 64 bits, and every form shows that. The
// verdict does not depend on such figures.
func TestSaturatedSums(t *testing.T) {
	s := settingOf(t)
	a := quietAnswers(t, s)
	const most = math.MaxInt64
	segments := []object{
		{"time_period": s.Period.FromMs / 1000, "num_of_requests": 8_400, "sum_of_sent_bytes": int64(most)},
		{"time_period": s.Period.FromMs/1000 + 3600, "num_of_requests": 8_400, "sum_of_sent_bytes": int64(most)},
	}
	a[Timeline] = answerOf(t, segments, object{"saturated": []string{"sum_of_sent_bytes"}})
	a[TimesBefore] = answerOf(t, []object{}, object{"saturated": []string{"avg_latency", "sum_of_bandwidth"}})
	r := New(s, a)
	const notice = "Not exact, because sums have more than 64 bits: Average time and Sent."
	if diff := cmp.Diff([]string{notice}, r.Notices()); diff != "" {
		t.Errorf("notices differ (-want +got):\n%s", diff)
	}
	for _, f := range r.Figures {
		if want := f.ID == "average_time" || f.ID == "bytes_sent"; f.Saturated != want {
			t.Errorf("%s is saturated: %t", f.ID, f.Saturated)
		}
		if f.ID == "bytes_sent" && *f.Value < most {
			t.Errorf("two sums of %d bytes are %g bytes", int64(most), *f.Value)
		}
	}
	if r.Verdict.State != Quiet || strings.HasPrefix(r.Subject(), "Incomplete") {
		t.Errorf("%v, %s", r.Verdict, r.Subject())
	}
	for name, print := range forms {
		if text := string(print(r)); !strings.Contains(text, notice[:20]) {
			t.Errorf("%s does not have the notice", name)
		}
	}
}

// TestGaps has hours of a day, and of the day before. An x is an hour with 60 requests, an o one with 10, and a point one
// without.
func TestGaps(t *testing.T) {
	from := time.Date(2026, 11, 17, 0, 0, 0, 0, time.UTC)
	segments := func(from time.Time, text string) (list []segment) {
		for i, c := range text {
			list = append(list, segment{
				TimePeriod: from.Unix() + int64(i)*3600, NumOfRequests: map[rune]int64{'x': 60, 'o': 10, '.': 0}[c],
			})
		}
		return list
	}
	for _, test := range []struct {
		rule, now, before, through, want string
	}{
		{"none", "xxxxxxxxxxxxxxxxxxxxxxxx", "xxxxxxxxxxxxxxxxxxxxxxxx", "", ""},
		{"an hour", "xxxx.xxxxxxxxxxxxxxxxxxx", "xxxxxxxxxxxxxxxxxxxxxxxx", "", "04-05"},
		{"two times", ".xxx..xxxxxxxxxxxxxxxxxx", "xxxxxxxxxxxxxxxxxxxxxxxx", "", "00-01 04-06"},
		{"the end", "xxxx....................", "xxxxxxxxxxxxxxxxxxxxxxxx", "", "04-24"},
		{"nights without requests are usual", "xxxx....xxxxxxxxxxxxxxxx", "xxxx....xxxxxxxxxxxxxxxx", "", ""},
		{"an hour of few requests", "oooo.ooooooooooooooooooo", "oooooooooooooooooooooooo", "", ""},
		{"many hours of few requests", "oooo.....ooooooooooooooo", "oooooooooooooooooooooooo", "", "04-09"},
		{"few hours with requests", "x.......................", "o.......................", "", ""},
		{"without another period, most hours have requests", "xxxx.xxxxxxxxxxxxxxxxxxx", "", "", "04-05"},
		{"without another period, few hours have requests", "....xxxxxxxxxxxx........", "", "", ""},
		{"what has not arrived yet", "xxxx....................", "xxxxxxxxxxxxxxxxxxxxxxxx", "2026-11-17T04:10:00Z", ""},
		{"a gap before what has not arrived", "xxxx....................", "xxxxxxxxxxxxxxxxxxxxxxxx",
			"2026-11-17T06:00:00Z", "04-06"},
		{"no requests at all", "........................", "xxxxxxxxxxxxxxxxxxxxxxxx", "", ""},
	} {
		t.Run(test.rule, func(t *testing.T) {
			var through *string
			if test.through != "" {
				through = &test.through
			}
			p := between(from, from.AddDate(0, 0, 1))
			var got []string
			for _, g := range gaps(segments(from, test.now), segments(from.AddDate(0, 0, -1), test.before), p, through, time.UTC) {
				first, last := strings.ReplaceAll(g.From[11:13], ":", ""), "24"
				if end, err := time.Parse(time.RFC3339, g.To); err == nil && end.Add(time.Millisecond).Day() == 17 {
					last = end.Add(time.Millisecond).Format("15")
				}
				got = append(got, first+"-"+last)
			}
			if text := strings.Join(got, " "); text != test.want {
				t.Errorf("gaps %q, want %q", text, test.want)
			}
		})
	}
}

// TestFirstPeriod: nothing is new, and nothing has grown, if the previous period has no requests, or only a part of them.
func TestFirstPeriod(t *testing.T) {
	s := settingOf(t)
	none := func(int) int64 { return 0 }
	late := func(hour int) int64 {
		if hour < 100 {
			return 0
		}
		return 900
	}
	for rule, before := range map[string]func(int) int64{"without requests": none, "with a part of them": late} {
		t.Run(rule, func(t *testing.T) {
			a := ordinary.answers(t, s)
			a[TimelineBefore] = hourly(t, *s.Previous, before)
			a[TopBefore], a[BlockedBefore] = answerOf(t, []object{}, nil), answerOf(t, []object{}, nil)
			r := New(s, a)
			for _, lists := range [][]List{r.Attackers, r.Targets, r.Rules} {
				for _, l := range lists {
					for _, row := range l.Rows {
						if row.New || row.BlockedBefore != nil {
							t.Errorf("%s %s is new: %v, before: %v", l.Field, row.Key, row.New, row.BlockedBefore)
						}
					}
				}
			}
			for _, sentence := range r.Verdict.Sentences {
				if sentence.Rule == "one rule" {
					t.Errorf("the verdict has %s", sentence.Text)
				}
			}
			if len(r.Changes) > 0 || r.Compared {
				t.Errorf("changes %v", r.Changes)
			}
			if text := string(r.Text()); strings.Contains(text, ", new") || strings.Contains(text, " new,") {
				t.Errorf("the text has something new:\n%s", text)
			}
		})
	}
}
