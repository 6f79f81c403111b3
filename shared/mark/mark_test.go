package mark_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/mark"
)

// minutesOf returns cells with the requests that a function counts in each minute.
func minutesOf(n int64, requests func(minute int64, add func(revision string, n int64))) []mark.Cell {
	var cells []mark.Cell
	for i := range n {
		c := mark.Cell{From: i * mark.Minute, To: (i + 1) * mark.Minute, Requests: map[string]int64{}}
		requests(i, func(revision string, n int64) { c.Requests[revision] += n })
		if len(c.Requests) > 0 {
			cells = append(cells, c)
		}
	}
	return cells
}

// hoursOf adds the cells of each hour.
func hoursOf(minutes []mark.Cell) []mark.Cell {
	var cells []mark.Cell
	for _, m := range minutes {
		from := m.From / mark.Hour * mark.Hour
		if len(cells) == 0 || cells[len(cells)-1].From != from {
			cells = append(cells, mark.Cell{From: from, To: from + mark.Hour, Requests: map[string]int64{}})
		}
		for revision, n := range m.Requests {
			cells[len(cells)-1].Requests[revision] += n
		}
	}
	return cells
}

// between returns the revision of a minute: each one begins at a minute.
func between(minute int64, revisions string, begins ...int64) string {
	at := 0
	for _, b := range begins {
		if minute >= b {
			at++
		}
	}
	return revisions[at : at+1]
}

// TestMarks: the marks in minutes are the marks in hours whose unsure ones are divided into minutes.
func TestMarks(t *testing.T) {
	type add = func(revision string, n int64)
	for _, test := range []struct {
		name     string
		requests func(minute int64, add add)
		want     string
	}{
		{"one revision", func(_ int64, add add) { add("a", 5) }, ""},
		{"nothing", func(int64, add) {}, ""},
		{"changes", func(m int64, add add) { add(between(m, "abc", 130, 400), 5) }, "02:10 a→b, 06:40 b→c"},
		{"two changes in an hour", func(m int64, add add) { add(between(m, "abc", 130, 150), 5) }, "02:10 a→b, 02:30 b→c"},
		{"a change in the first hour", func(m int64, add add) { add(between(m, "ab", 7), 5) }, "00:07 a→b"},
		{"a change in the last hour", func(m int64, add add) { add(between(m, "ab", 715), 5) }, "11:55 a→b"},
		{"a roll-out that flaps", func(m int64, add add) {
			add(between(m, "aababababb", 130, 131, 132, 133, 134, 135, 136, 137), 50)
		}, "02:11 a→b"},
		{"a roll-out over the end of the first hour", func(m int64, add add) {
			add(between(m, "ab", 55), 20)
			add(between(m, "ab", 70), 1)
		}, "00:55 a→b"},
		{"a slow roll-out", func(m int64, add add) {
			add(between(m, "ab", 130), 9)
			add(between(m, "ab", 290), 1)
		}, "02:10 a→b"},
		{"settings that are taken back", func(m int64, add add) { add(between(m, "aba", 130, 200), 5) }, "02:10 a→b, 03:20 b→a"},
		{"settings that are taken back in an hour", func(m int64, add add) { add(between(m, "aba", 125, 150), 5) }, "02:05 a→b, 02:30 b→a"},
		{"two branches", func(m int64, add add) {
			add("a", 50)
			add("b", 3)
		}, ""},
		{"a rare branch", func(m int64, add add) {
			add("a", 50)
			if m%170 == 100 {
				add("b", 1)
			}
		}, ""},
		{"a change of one of two branches", func(m int64, add add) {
			add("a", 50)
			add(between(m, "bc", 300), 2)
		}, "05:00 b→c"},
		{"a new branch", func(m int64, add add) {
			add("a", 50)
			if m >= 300 {
				add("b", 50)
			}
		}, ""},
		{"a branch that ends long before another begins", func(m int64, add add) {
			add("a", 50)
			if m < 100 {
				add("b", 50)
			}
			if m > 500 {
				add("c", 50)
			}
		}, ""},
		{"few requests", func(m int64, add add) {
			if m%60 == 17 {
				add(between(m, "ab", 300), 1)
			}
		}, "05:17 a→b"},
		{"two requests with another revision", func(m int64, add add) { add(between(m, "aba", 300, 302), 1) }, ""},
	} {
		minutes := minutesOf(720, test.requests)
		hours := hoursOf(minutes)
		var refined []mark.Cell
		unsure := mark.Unsure(hours)
		for i, hour := range hours {
			if len(unsure) == 0 || unsure[0] != i {
				refined = append(refined, hour)
				continue
			}
			unsure = unsure[1:]
			for _, m := range minutes {
				if m.From >= hour.From && m.To <= hour.To {
					refined = append(refined, m)
				}
			}
		}
		for what, cells := range map[string][]mark.Cell{"minutes": minutes, "hours": refined} {
			var list []string
			for _, m := range mark.Of(cells) {
				at, err := time.Parse(time.RFC3339, m.At)
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, fmt.Sprintf("%s %s→%s", at.Format("15:04"), m.Before, m.After))
			}
			if got := strings.Join(list, ", "); got != test.want {
				t.Errorf("%s, %s: %s, want %s", test.name, what, got, test.want)
			}
		}
	}
}

// TestUnsureIsBounded: of many changes, the latest are looked at.
func TestUnsureIsBounded(t *testing.T) {
	minutes := minutesOf(200*60, func(m int64, add func(string, int64)) { add(fmt.Sprint(m/90), 5) })
	unsure := mark.Unsure(hoursOf(minutes))
	if len(unsure) != mark.Most || unsure[mark.Most-1] != 199 {
		t.Errorf("%d cells: %v", len(unsure), unsure)
	}
	if got := mark.Unsure(minutes); len(got) > 0 {
		t.Errorf("minutes are unsure: %v", got)
	}
}

// TestREADME: the README has the numbers of the rules.
func TestREADME(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Join(strings.Fields(string(text)), " ")
	want := []string{
		fmt.Sprintf("fewer than %d requests", mark.Least), fmt.Sprintf("%d minutes or more", mark.Pause/mark.Minute),
		fmt.Sprintf("at least %d would be expected", mark.Expected), fmt.Sprintf("at most %d hours", mark.RollOut/mark.Hour),
		fmt.Sprintf("The latest %d of them", mark.Most),
	}
	var missing []string
	for _, text := range want {
		if !strings.Contains(page, text) {
			missing = append(missing, text)
		}
	}
	if diff := cmp.Diff([]string(nil), missing); diff != "" {
		t.Errorf("README.md does not say: %s", diff)
	}
}
