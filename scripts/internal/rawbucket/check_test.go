package rawbucket

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/ingest"
)

func TestCheck(t *testing.T) {
	const day = 24 * time.Hour
	keeps := period{known: true, firstYear: 2020, horizon: 35 * day, widen: "deploy it with -c projection-from=%d"}
	unlimited := keeps
	unlimited.horizon = 0
	from := func(oldest, newest time.Duration) ingest.Sample {
		return ingest.Sample{Oldest: testTime.Add(oldest), Newest: testTime.Add(newest), Whole: true}
	}
	cutOff := from(-day, 0)
	cutOff.Whole = false
	noRecords := ingest.Sample{Problem: "no time", Whole: true}
	for _, test := range []struct {
		rule    string
		keeps   period
		sample  ingest.Sample
		history bool
		refusal string // in the error; "" for none
		note    string // in the notes; "" for no note
	}{
		{"recent records are kept", keeps, from(-34*day, 0), false, "", ""},
		{"records up to a day ahead are kept", keeps, from(0, day), false, "", ""},
		{"later records are refused", keeps, from(0, day+time.Second), false, "2026-11-22T10:05:04Z", ""},
		{"later records are refused in the history, too", keeps, from(0, 2*day), true, "check the clock", ""},
		{"a log of old records is refused", keeps, from(-60*day, -36*day), false, "put the log with --history", ""},
		{"a log with old records gets a note", keeps, from(-60*day, 0), false, "", "--history"},
		{"old records are kept in the history", keeps, from(-60*day, -36*day), true, "", ""},
		{"without a horizon, old records are kept", unlimited, from(-60*day, -36*day), false, "", ""},
		{"years without partitions are refused", keeps, from(-10*365*day, 0), true, "-c projection-from=2016", ""},
		{"the first year is kept", keeps, ingest.Sample{
			Oldest: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), Newest: testTime, Whole: true,
		}, true, "", ""},
		{"a log without records is refused", keeps, noRecords, false, "no time", ""},
		{"lines that were not read get a note", keeps, cutOff, false, "", "more than 2 GiB"},
		{"an unknown period gets a note", period{}, from(-60*day, -36*day), false, "", "of an earlier version"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			b := &Bucket{keeps: test.keeps}
			notes, err := b.Check(&Log{sample: test.sample}, test.history, testTime)
			var refusal *Refusal
			if errors.As(err, &refusal) != (test.refusal != "") ||
				test.refusal != "" && !strings.Contains(err.Error(), test.refusal) {
				t.Errorf("refusal %v, want %q", err, test.refusal)
			}
			all := strings.Join(notes, "\n")
			if (all == "") != (test.note == "") || !strings.Contains(all, test.note) {
				t.Errorf("notes %q, want %q", all, test.note)
			}
		})
	}
}
