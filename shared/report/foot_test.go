package report

import (
	"encoding/json"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/wording"
)

// TestSubjects: the verdict comes first, and each number is followed by its own change.
func TestSubjects(t *testing.T) {
	alone := settingOf(t)
	alone.Previous = nil
	for _, test := range []struct {
		rule string
		r    Report
		want string
	}{
		{"an attack", reportOf(t, ordinary), "Attacked, look · Traffic report · Mon 16 November – Sun 22 November 2026: " +
			"226,800 requests (+33 %), 5.6 % blocked (before 0.8 %)"},
		{"nothing to compare with", New(alone, ordinary.answers(t, settingOf(t))),
			"Attacked, look · Traffic report · Mon 16 November – Sun 22 November 2026: 226,800 requests, 5.6 % blocked"},
		{"no requests", emptyReport(t),
			"Quiet · Traffic report · Mon 16 November – Sun 22 November 2026: 0 requests, 0 % blocked"},
		{"parts are missing", incompleteReport(t), "Incomplete · attacked · Traffic report · Mon 16 November – " +
			"Sun 22 November 2026: 226,800 requests (+33 %), 5.6 % blocked (before 0.8 %)"},
		{"no numbers", New(settingOf(t), nil),
			"Incomplete · unknown · Traffic report · Mon 16 November – Sun 22 November 2026"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			if got := test.r.Subject(); got != test.want {
				t.Errorf("the subject is\n%s, want\n%s", got, test.want)
			}
			first, _, _ := strings.Cut(test.want, " · Traffic")
			if line, _, _ := strings.Cut(string(test.r.Text()), "\n"); line != "ORRERY · "+first+" · Traffic report" {
				t.Errorf("the first line is %s", line)
			}
		})
	}
}

// TestFoot: every form that has a foot states how many records the report is about, and that nothing was skipped.
func TestFoot(t *testing.T) {
	r := reportOf(t, ordinary)
	lost := r
	lost.Run.Skipped = []string{"a.parquet"}
	for name, print := range forms {
		if name == "json" {
			continue
		}
		words := func(r Report) string {
			text := tagPattern.ReplaceAllString(strings.ReplaceAll(string(print(r)), ",", " "), " ")
			return strings.Join(strings.Fields(text), " ")
		}
		for _, want := range []string{"Records 226 800 of the period 170 100 of the previous one", "Skipped none"} {
			if !strings.Contains(strings.ReplaceAll(words(r), `"`, ""), want) {
				t.Errorf("%s does not have %q", name, want)
			}
		}
		if strings.Contains(words(lost), "Skipped none") || !strings.Contains(words(lost), "1 object of the data: a") {
			t.Errorf("%s does not have the skipped object", name)
		}
		has := strings.Contains(string(print(r)), "curl -sS") && strings.Contains(string(print(r)), "orrery report run")
		if has == strings.HasPrefix(name, "mail") {
			t.Errorf("%s has commands: %v", name, has)
		}
	}
}

// hostileFilters are conditions that try to break out of quotes, or whose characters cannot be shown.
var hostileFilters = []string{
	`host="shop.example"`, `path="'; touch broken; '"`, `path="$(touch broken)"`, "path=\"`touch broken`\"",
	`path="\\"`, `path="!x"`,
	"path=\"a\nb\"", `path="--url=x @/etc/passwd"`, "path=\"\u202egpj.exe\u200b\"", "path=\"\U000e0041\"", `path="%00&x=1#"`,
}

// TestCommandsAskTheSameQuestion runs the commands in a shell, with programs that print their arguments.
func TestCommandsAskTheSameQuestion(t *testing.T) {
	for _, of := range []struct {
		set      func(*Setting)
		flags    []string
		question map[string]string
	}{
		{set: func(*Setting) {}},
		{
			func(s *Setting) { s.SameWeekday = true },
			[]string{"--compare", "same-weekday"}, map[string]string{"compare": "same-weekday"},
		},
		{func(s *Setting) { s.Previous = nil }, []string{"--compare", "none"}, map[string]string{"compare": "none"}},
		{func(s *Setting) { s.Template = Attack }, []string{"--template", "attack"}, map[string]string{"template": "attack"}},
	} {
		for _, conditions := range hostileFilters {
			s := settingOf(t)
			s.Conditions = conditions
			of.set(&s)
			checkCommands(t, New(s, nil), of.flags, of.question)
		}
	}
}

// checkCommands checks that the commands of a report ask its question, with flags and members that only its setting
// has.
func checkCommands(t *testing.T, r Report, flags []string, members map[string]string) {
	t.Helper()
	got := wordsOf(t, r.curl())
	want := []string{
		"-sS", "https://orrery.example/console/api/v4.0/data/report", "-H", "Authorization: Bearer the key", "-H",
		"Content-Type: application/json", "-d",
	}
	if diff := cmp.Diff(want, got[:len(got)-1]); diff != "" {
		t.Errorf("%s: arguments differ (-want +got):\n%s", r.Filter, diff)
	}
	var question map[string]string
	if err := json.Unmarshal([]byte(got[len(got)-1]), &question); err != nil {
		t.Errorf("%s: %v", r.Filter, err)
	}
	asked := map[string]string{"filters": r.Filter, "tz": "Europe/Berlin", "format": "text"}
	maps.Copy(asked, members)
	if diff := cmp.Diff(asked, question); diff != "" {
		t.Errorf("the question differs (-want +got):\n%s", diff)
	}
	if r.again() == "" {
		if wording.Shown(r.Filter, len(r.Filter)+wording.HashLength) == r.Filter {
			t.Errorf("%s: there is no command", r.Filter)
		}
		return
	}
	command := slices.Concat([]string{"report", "run"}, flags, []string{"--tz", "Europe/Berlin", r.Filter})
	if diff := cmp.Diff(command, wordsOf(t, r.again())); diff != "" {
		t.Errorf("arguments differ (-want +got):\n%s", diff)
	}
}

// wordsOf returns the arguments of a command, as a shell sees them.
func wordsOf(t *testing.T, command string) []string {
	t.Helper()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	const programs = `curl() { printf '%s\0' "$@"; }; orrery() { printf '%s\0' "$@"; }; `
	run := exec.CommandContext(t.Context(), shell, "-c", programs+command)
	run.Env, run.Dir = []string{"ORRERY_API_KEY=the key", "ORRERY_URL=http://localhost:8080"}, t.TempDir()
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v %s", command, err, out)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// TestCommandsOfSettings: the commands contain every setting that is not the default, and no filter that was cut.
func TestCommandsOfSettings(t *testing.T) {
	s := settingOf(t)
	s.Template, s.Previous, s.Server = Attack, nil, ""
	r := New(s, nil)
	got := wordsOf(t, r.curl())
	want := `{"filters":` + jsonText(r.Filter) +
		`,"template":"attack","compare":"none","tz":"Europe/Berlin","format":"text"}`
	if got[1] != "http://localhost:8080/api/v4.0/data/report" || got[len(got)-1] != want {
		t.Errorf("arguments %q", got)
	}
	s.Conditions = `path="` + strings.Repeat("x", commandLength) + `"`
	long := []fact{{Name: "Ask again", Text: "The filter is too long for a command."}}
	if diff := cmp.Diff(long, New(s, nil).commands()); diff != "" {
		t.Errorf("commands differ (-want +got):\n%s", diff)
	}
}

// TestLinksOfSentences: every form has the links of the verdict's sentences; in text, each on a line of its own.
func TestLinksOfSentences(t *testing.T) {
	r := reportOf(t, ordinary)
	for i := range r.Verdict.Sentences {
		if r.Verdict.Sentences[i].Link == "" {
			t.Fatalf("sentence %d has no link", i)
		}
	}
	for name, print := range forms {
		text := strings.ReplaceAll(string(print(r)), "&amp;", "&")
		for _, s := range r.Verdict.Sentences {
			link := s.Link
			if strings.HasSuffix(name, "txt") {
				link = "\n" + link + "\n"
			}
			if strings.Count(text, link) == 0 {
				t.Errorf("%s does not have %s", name, link)
			}
		}
	}
	r.Verdict.Sentences[0].Link += strings.Repeat("x", longestLink)
	for _, name := range []string{"txt", "mail.txt", "mail.html"} {
		if strings.Contains(string(forms[name](r)), "xxxx") {
			t.Errorf("%s has the long link", name)
		}
	}
}

// TestLinksOfQuietReports: even the sentence that no rule applies has a link, to the blocked requests if there are any.
func TestLinksOfQuietReports(t *testing.T) {
	for _, test := range []struct {
		rule    string
		blocked int64
		part    string
	}{{"some are blocked", 1, "blocked%20is%20true"}, {"none is blocked", 0, "f=host%3D%22shop.example%22&"}} {
		t.Run(test.rule, func(t *testing.T) {
			s := settingOf(t)
			a := quietAnswers(t, s)
			requests, blocked := func(int) int64 { return 2000 }, func(int) int64 { return test.blocked }
			a[Timeline] = answerOf(t, timelineOf(s.Period, requests, blocked), nil)
			v := New(s, a).Verdict
			if v.State != Quiet || len(v.Sentences) != 1 || !strings.Contains(v.Sentences[0].Link, "#/events?") ||
				!strings.Contains(v.Sentences[0].Link, test.part) {
				t.Errorf("%+v", v)
			}
		})
	}
}

// TestTableHasAllNumbers: every number of the figures, the bars, the lists and the changes is in the table.
func TestTableHasAllNumbers(t *testing.T) {
	r := reportOf(t, ordinary)
	r.Changes = append(r.Changes, Change{Requests: 70_007, Before: 70_008})
	passed, before := int64(70_004), int64(70_005)
	r.Attackers[0].Rows[0] = Row{
		Key: "a", Requests: 70_001, Blocked: 70_002, Challenged: 70_003, Passed: &passed, BlockedBefore: &before,
	}
	r.Chart.Bars[0] = Bar{Requests: 70_006, Blocked: 70_009, RequestsBefore: &passed, BlockedBefore: &before}
	table := string(r.CSV())
	for _, row := range []string{
		"ip,a,,,70001,70002,70003,70004,,70005,", "chart,,,,,70006,70009,,,70004,70005,", ",70007,70008,",
	} {
		if !strings.Contains(table, row) {
			t.Errorf("the table does not have %s:\n%s", row, table)
		}
	}
}

// TestLinksOfChanges: the link of a value that is gone leads to the previous period, because the period has no such
// request.
func TestLinksOfChanges(t *testing.T) {
	r := reportOf(t, ordinary)
	for _, c := range r.Changes {
		from := "t=2026-11-15"
		if c.Kind == "gone" {
			from = "t=2026-11-08"
		}
		if !strings.Contains(c.Link, from) {
			t.Errorf("the link of a value that is %s is %s", c.Kind, c.Link)
		}
	}
}
