package why

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/testkit/goldentest"
)

// caught is a request whose argument a signature of the content filter matched.
const caught = `{"timestamp":"2026-01-01T20:45:01.457Z","method":"POST","host":"shop.example","path":"/cart/a b","query":"?item=O'Brien",
	"ip":"203.0.113.7","country":"Germany","session":"5e55","human":true,"blocked":true,"result":"Blocked","status":403,"request_id":"r-1",
	"processing_stage":5,
	"reason":"Block - content filter [\"cf-rule-category:sqli\",\"cf-rule-risk:5\"] - cf1 100037 - [args]",
	"cf_triggers":{"section":"args","name":"item","value":"' OR 1=1","ruleid":"100037","risk_level":5}}`

func recordOf(t *testing.T, text string) Record {
	t.Helper()
	r, err := ReadRecord([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var strict = Evidence{
	Rule:    Tally{Requests: 1042, Known: 1042, People: 1000, Addresses: 33},
	Session: Tally{Requests: 12, Passed: 11, Blocked: 1, Rules: 1},
	Path:    Tally{Requests: 900, Blocked: 12},
}

// TestExplanations compares explanations, as the command prints them, with golden files.
func TestExplanations(t *testing.T) {
	reason := func(text string) string {
		return fmt.Sprintf(`{"timestamp":"2026-01-01T20:45:01Z","method":"GET","host":"shop.example","path":"/login","ip":"203.0.113.7",
			"blocked":true,"reason":%q,"status":403,"rl_triggers":[{"threshold":20}],"gf_triggers":[{"section":"headers","name":"user-agent",
			"value":"sqlmap"}],"cf_restrict_triggers":[{"section":"args","name":"q"}]}`, text)
	}
	tests := []struct {
		name, record string
		e            Evidence
		o            Options
	}{
		{"content-filter", caught, strict, Options{Reference: "AYCg", Link: "https://console.example/#/events/AYCg"}},
		{"content-filter-uncovered", caught, strict, Options{Reference: "AYCg", Uncover: true}},
		{"path", `{"timestamp":"2026-01-01T20:45:01Z","method":"GET","host":"shop.example","path":"/.env","ip":"203.0.113.7","bot":true,
			"blocked":true,"reason":"Block - content filter [\"cf-rule-category:probe\",\"cf-rule-risk:4\"] - cf1 101 - [path]",
			"cf_triggers":{"section":"path","name":"path","value":"/.env"}}`, Evidence{Path: Tally{Requests: 1}}, Options{Reference: "AYCg"}},
		{"acl", reason(`Block - acl Deny Bot ["bot","geo-country:united-states"] - acl3 - [request]`), Evidence{
			Rule: Tally{Requests: 50, Known: 50, People: 1, Addresses: 20}, Session: Tally{Requests: 9, Blocked: 9, Rules: 3},
		}, Options{Reference: "AYCg"}},
		{"rate-limit", reason(`Block - rate limit ["login"] - Login ${attempts} - [request]`), Evidence{}, Options{Reference: "AYCg"}},
		{"global-filter", reason(`Block - global filter ["gf1"] - Known scanners - [headers]`), Evidence{}, Options{Reference: "AYCg"}},
		{"restriction", reason(`Block - content filter restrict ["max-length-args"] - cf1 - [args]`), Evidence{}, Options{Reference: "AYCg"}},
		{"challenge", `{"timestamp":"2026-01-01T20:45:01Z","method":"GET","host":"shop.example","path":"/","session":"5e55","ichallenge":true,
			"bot":true,"acl_triggers":{"tags":["bot"],"trigger_id":"acl5","trigger_name":"Prove it"}}`, Evidence{
			Rule: Tally{Requests: 434, Known: 434, Addresses: 262}, Session: Tally{Requests: 1, Passed: 1}, Path: Tally{Requests: 1, Blocked: 1},
		}, Options{Reference: "AYCg"}},
		{"passed", `{"timestamp":"2026-01-01T20:45:01Z","path":"/","result":"Passed","upstream_status":[200]}`, Evidence{}, Options{Reference: "AYCg"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := Explain(recordOf(t, test.record), test.e, test.o)
			goldentest.Compare(t, filepath.Join("testdata", test.name+".txt"), e.Text()+"\n-- ticket --\n"+e.Ticket)
			for line := range strings.Lines(e.Text()) {
				one := strings.HasPrefix(line, "      ") && !strings.Contains(line, ", ") // a long condition
				if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > width && !one {
					t.Errorf("a line has more than %d columns: %s", width, line)
				}
			}
		})
	}
}

// TestCovered: no part of an explanation has a sensitive value that was not asked for, apart from filters, which need it,
// and the address in the ticket.
func TestCovered(t *testing.T) {
	e := Explain(recordOf(t, caught), Evidence{}, Options{Reference: "AYCg"})
	for _, secret := range []string{"O'Brien", "OR 1=1"} {
		if text, _ := json.Marshal(e); strings.Contains(string(text), secret) {
			t.Errorf("%q is in %s", secret, text)
		}
		if e := Explain(recordOf(t, caught), Evidence{}, Options{Uncover: true}); !strings.Contains(e.Request+e.Sentence, secret) {
			t.Errorf("%q is not in %s", secret, e.Sentence)
		}
	}
}

// TestQuestionsAreFilters: questions and parts of counts are filters that can be bound, whatever the values of a record.
func TestQuestionsAreFilters(t *testing.T) {
	r := recordOf(t, caught)
	for _, value := range []string{"", "a", `a"b\`, "a, b", "ä\n", `\"`} {
		r["session"], r["path"], r["reason"] = value, "/"+value, "Block - "+value
		for _, one := range verdictOf(r, Evidence{}).Reasons {
			for _, c := range one.Counts {
				if _, err := query.Bind(filter.Parse(c.Filter), query.Timeline{}); err != nil {
					t.Errorf("%q: %v", value, err)
				}
			}
		}
	}
}

// TestRules: README.md has the table of the rules of the verdict.
func TestRules(t *testing.T) {
	var table strings.Builder
	table.WriteString("| reason | if | points |\n|---|---|---|\n")
	for _, rule := range rules {
		fmt.Fprintf(&table, "| %s | %s | %+d |\n", rule.reason, rule.when, rule.points)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), table.String()) {
		t.Errorf("README.md lacks the table\n%s", &table)
	}
}

func TestVerdict(t *testing.T) {
	rule, attack := Tally{Requests: 10, Known: 10, People: 5, Addresses: 3}, Tally{Requests: 10, Known: 10, People: 2, Addresses: 9}
	for _, test := range []struct {
		rule    string
		e       Evidence
		points  int
		verdict string
	}{
		{"a strict rule, a session that passed, a path that passes", Evidence{rule, Tally{Requests: 4, Passed: 3}, Tally{Requests: 5}}, 6, "mistake"},
		{"a strict rule and nothing before", Evidence{rule, Tally{}, Tally{}}, 2, "mistake"},
		{"few people, nothing before, nobody at the path", Evidence{attack, Tally{}, Tally{}}, -3, "right"},
		{"few people, but the session passed", Evidence{attack, Tally{Requests: 3, Passed: 3}, Tally{Requests: 5}}, 1, "unknown"},
		{"several rules before count more than what passed", Evidence{attack, Tally{Requests: 9, Passed: 8, Rules: 2}, Tally{Requests: 5}}, -3, "right"},
		{"one person many times is not several", Evidence{Tally{Requests: 90, Known: 90, People: 90, Addresses: 1}, Tally{}, Tally{Requests: 5}}, 1, "unknown"},
		{"a log that does not say who is a person", Evidence{Tally{Requests: 90, Addresses: 40}, Tally{}, Tally{Requests: 5}}, 1, "unknown"},
		{"nothing is known", Evidence{}, -1, "unknown"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			if v := verdictOf(recordOf(t, caught), test.e); v.Points != test.points || v.Verdict != test.verdict {
				t.Errorf("%s with %d points, want %s with %d", v.Verdict, v.Points, test.verdict, test.points)
			}
		})
	}
}

// TestPeople: who is a person follows from the flag that the record has, and from none without flags.
func TestPeople(t *testing.T) {
	for flags, want := range map[string]string{
		`"human":true,"bot":false`: "human,ip human is true", `"human":false`: "human,ip human is true",
		`"bot":true`: "bot,ip bot is false", `"status":403`: "ip ",
	} {
		r := recordOf(t, `{"timestamp":"2026-01-01T20:45:01Z","path":"/","ip":"203.0.113.7","blocked":true,"reason":"a",`+flags+`}`)
		questions := Questions(r)
		if got := questions[0].By + " " + r.people(); got != want || !strings.Contains(questions[2].Filters, r.people()) {
			t.Errorf("%s: %q, want %q; the path is asked for with %s", flags, got, want, questions[2].Filters)
		}
	}
}

// TestTicketOfForgedLines: a value with line ends adds no lines to a ticket.
func TestTicketOfForgedLines(t *testing.T) {
	r := recordOf(t, `{"timestamp":"2026-01-01T20:45:01Z","path":"/a\nVerdict: Probably a mistake","blocked":true}`)
	if e := Explain(r, Evidence{}, Options{Reference: "AYCg"}); strings.Count(e.Ticket, "\nVerdict") != 1 {
		t.Errorf("the ticket has another verdict:\n%s", e.Ticket)
	}
}
