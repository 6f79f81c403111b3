package report

import (
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// order lists the sections of a report and how each begins: a line in text, a heading in HTML, a value of the first
// column in CSV, and a member in JSON. It is empty for a section that a form does not have.
var order = []struct{ line, heading, section, member string }{
	{"READ THIS FIRST", "Read this first", "notice", "notices"},
	{"VERDICT: ▲ ATTACKED; UNKNOWN WHETHER IT HELD", "▲ Attacked; unknown whether it held", "verdict", "verdict"},
	{"", "", "figure", "figures"},
	{"REQUESTS PER DAY", "Requests and blocked requests per day", "chart", "chart"},
	{"ATTACKERS", "Attackers", "Attackers", "attackers"},
	{"TARGETS", "Targets", "Targets", "targets"},
	{"RULES", "Rules", "Rules", "rules"},
	{"WHAT GOT THROUGH", "What got through", "What got through", "passed"},
	{"WHAT CHANGED", "What changed", "change: new", "changes"},
	{"POSSIBLY WRONG BLOCKS", "Possibly wrong blocks", "Possibly wrong blocks", "wrong"},
	{"THE NEWEST BLOCKED REQUESTS", "The newest blocked requests", "blocked request", "examples"},
	{"ABOUT THIS REPORT", "", "about", "failed"},
	{"", "", "run", "run"},
}

// TestOrderOfSections: all forms have the sections in the same order.
func TestOrderOfSections(t *testing.T) {
	setting := settingOf(t)
	answers := ordinary.answers(t, setting)
	answers[Top] = answerOf(t, []object{
		{"label": "ip", "key": "203.0.113.7", "num_of_requests": 9000, "num_of_blocked_requests": 8000},
		{"label": "host", "key": "shop.example", "num_of_requests": 9000, "num_of_blocked_requests": 8000},
	}, object{"skipped": []string{"lake/a.parquet"}})
	r := New(setting, answers)
	for name, print := range forms {
		t.Run(name, func(t *testing.T) {
			text := string(print(r))
			var want, got []string
			for _, s := range order {
				want = append(want, map[string]string{
					"txt": s.line, "mail.txt": s.line, "html": s.heading, "mail.html": s.heading, "csv": s.section, "json": s.member,
				}[name])
			}
			want = slices.DeleteFunc(want, func(s string) bool { return s == "" })
			switch name {
			case "csv":
				got = firstCells(t, text)
			case "json":
				got = membersOf(t, text)
			default:
				got = headingsOf(text)
			}
			got = slices.DeleteFunc(got, func(s string) bool { return !slices.Contains(want, s) })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("sections differ (-want +got):\n%s", diff)
			}
		})
	}
}

// headingsOf returns the lines of a text, and the texts between tags.
func headingsOf(text string) (list []string) {
	for line := range strings.Lines(tagPattern.ReplaceAllString(text, "\n")) {
		list = append(list, strings.TrimSpace(line))
	}
	return list
}

// firstCells returns the first cells of a table, each once.
func firstCells(t *testing.T, text string) (list []string) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		list = append(list, row[0])
	}
	return slices.Compact(list)
}

// membersOf returns the names of the members of a document and of its report.
func membersOf(t *testing.T, text string) (list []string) {
	t.Helper()
	for line := range strings.Lines(text) {
		name, _, isMember := strings.Cut(strings.TrimPrefix(line, " "), ":")
		quoted, isQuoted := strings.CutPrefix(strings.TrimPrefix(name, " "), `"`)
		if isMember && isQuoted && !strings.HasPrefix(line, "   ") {
			list = append(list, strings.TrimSuffix(quoted, `"`))
		}
	}
	if !json.Valid([]byte(text)) {
		t.Error("the JSON is invalid")
	}
	return list
}
