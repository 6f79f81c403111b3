package asking

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/incident"
	"github.com/orrery/orrery/shared/query"
)

// TestParts: windows that overlap are one part, and the nearest parts are one if there are too many.
func TestParts(t *testing.T) {
	window := func(from, to int64) incident.Window {
		return incident.Window{Span: incident.Span{From: from * incident.Hour, To: to * incident.Hour}}
	}
	windows := []incident.Window{window(50, 53), window(0, 3), window(2, 5), window(10, 13), window(20, 23), window(24, 26)}
	for most, want := range map[int][]int{9: {2, 1, 1, 1, 1}, 4: {2, 1, 2, 1}, 3: {3, 2, 1}, 2: {5, 1}, 1: {6}} {
		var got []int
		for _, part := range partsOf(windows, most) {
			got = append(got, len(part))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("at most %d: %s", most, diff)
		}
	}
}

// TestDivided: the spans of a question have at most so many seconds, and every hour is in one of them.
func TestDivided(t *testing.T) {
	const hour = incident.Hour
	windows := []incident.Window{
		{Span: incident.Span{From: 0, To: 3 * hour}}, {Span: incident.Span{From: 2 * hour, To: 4 * hour}},
		{Span: incident.Span{From: 6 * hour, To: 7 * hour}},
	}
	want := [][]incident.Span{{{From: 0, To: 2 * hour}}, {{From: 2 * hour, To: 4 * hour}}, {{From: 6 * hour, To: 7 * hour}}}
	if diff := cmp.Diff(want, divided(windows, 2*hour)); diff != "" {
		t.Error(diff)
	}
	want = [][]incident.Span{{{From: 0, To: 4 * hour}, {From: 6 * hour, To: 7 * hour}}}
	if diff := cmp.Diff(want, divided(windows, 9*hour)); diff != "" {
		t.Error(diff)
	}
}

// TestDividedIsShort: a question for the minutes of windows that are days apart has no more segments than an answer.
func TestDividedIsShort(t *testing.T) {
	var windows []incident.Window
	hours := 0
	for day := range int64(31) {
		from := day * 24 * incident.Hour
		windows = append(windows, incident.Window{Span: incident.Span{From: from, To: from + 3*incident.Hour}})
		hours += 3
	}
	for _, list := range divided(windows, 1000*incident.Hour) {
		p := query.Period{FromMs: list[0].From * 1000, ToMs: list[len(list)-1].To*1000 - 1}
		if err := query.CheckSegment(p, incident.Minute); err != nil {
			t.Errorf("%v: %v", list, err)
		}
		for _, span := range list {
			hours -= int((span.To - span.From) / incident.Hour)
		}
	}
	if hours != 0 {
		t.Errorf("%d hours are missing", hours)
	}
}
