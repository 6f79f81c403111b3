package report

import (
	"testing"
	"time"
)

// TestLastDayOfLeapYears: in years for which a zone has only a rule, package time returns a change of the clock on the
// last day of a leap year that is in the past.
func TestLastDayOfLeapYears(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(year int) int64 { return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli() }
	if !wholeHours(Period{FromMs: at(2020), ToMs: at(2100)}, berlin) {
		t.Error("Berlin is whole hours from UTC")
	}
}
