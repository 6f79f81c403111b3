package report

import (
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/testkit/goldentest"
)

// TestVerdict has for each rule a case in which it applies, and one in which a number is smaller by one.
func TestVerdict(t *testing.T) {
	type numbers struct {
		requests, blocked, requestsBefore, blockedBefore int64
		challenged                                       int64 // and not blocked
		errors, errorsBefore, humans                     int64
		top                                              map[string][]Row
		reasons                                          []Row
		alone                                            bool     // no previous period
		incidents                                        []string // whether they held; nil: they are not known
	}
	ptr := func(n int64) *int64 { return &n }
	float := func(n int64) *float64 { f := float64(n); return &f }
	for _, test := range []struct {
		rule  string
		n     numbers
		state State
		rules string
	}{
		{"nothing happened", numbers{requests: 1000}, Quiet, ""},
		{"no requests", numbers{}, Quiet, ""},
		{"many blocked", numbers{requests: 2000, blocked: 100, alone: true}, AttackedHeld, "many blocked"},
		{"too few of all requests", numbers{requests: 2001, blocked: 100, alone: true}, Quiet, ""},
		{"too few blocked", numbers{requests: 100, blocked: 99, alone: true}, Quiet, ""},
		{"three times the share", numbers{requests: 30_000, blocked: 300, requestsBefore: 30_000, blockedBefore: 100},
			AttackedHeld, "many blocked"},
		{"not three times the share", numbers{requests: 30_000, blocked: 299, requestsBefore: 30_000, blockedBefore: 100},
			Quiet, ""},
		{"a previous period without requests is none", numbers{requests: 30_000, blocked: 300}, Quiet, ""},
		{"one attacker", numbers{requests: 9000, blocked: 100, alone: true,
			top: map[string][]Row{"ip": {{Key: "a", Blocked: 31}}}}, AttackedHeld, "one attacker"},
		{"no single attacker", numbers{requests: 9000, blocked: 100, alone: true,
			top: map[string][]Row{"ip": {{Key: "a", Blocked: 30}}}}, Quiet, ""},
		{"one organization", numbers{requests: 9000, blocked: 100, alone: true,
			top: map[string][]Row{"organization": {{Key: "a", Blocked: 31}}}}, AttackedHeld, "one attacker"},
		{"a hundred of millions are no attack", numbers{requests: 10_000_000, blocked: 100, requestsBefore: 10_000_000,
			blockedBefore: 10, top: map[string][]Row{"ip": {{Key: "a", Requests: 100, Blocked: 100}}},
			reasons: []Row{{Key: "a", Blocked: 100, BlockedBefore: ptr(1)}}}, Quiet, ""},
		{"one of a thousand, and three times the share", numbers{requests: 10_000_000, blocked: 10_000,
			requestsBefore: 10_000_000, blockedBefore: 3333}, AttackedHeld, "many blocked"},
		{"less than one of a thousand", numbers{requests: 10_000_000, blocked: 9999, requestsBefore: 10_000_000,
			blockedBefore: 1}, Quiet, ""},
		{"one rule", numbers{requests: 90_000, blocked: 1000, requestsBefore: 90_000, blockedBefore: 900,
			reasons: []Row{{Key: "a", Blocked: 100, BlockedBefore: ptr(20)}}}, AttackedHeld, "one rule"},
		{"a rule that grew less", numbers{requests: 90_000, blocked: 1000, requestsBefore: 90_000, blockedBefore: 900,
			reasons: []Row{{Key: "a", Blocked: 100, BlockedBefore: ptr(21)}}}, Quiet, ""},
		{"a rule with an unknown past", numbers{requests: 90_000, blocked: 1000, requestsBefore: 90_000,
			blockedBefore: 900, reasons: []Row{{Key: "a", Blocked: 100}}}, Quiet, ""},
		{"errors of the origin", numbers{requests: 2000, errors: 20, alone: true}, QuietLook, "errors of the origin"},
		{"few errors", numbers{requests: 100, errors: 19, alone: true}, Quiet, ""},
		{"a small share of errors", numbers{requests: 2001, errors: 20, alone: true}, Quiet, ""},
		{"blocked and challenged requests do not reach the origin", numbers{requests: 20_000, blocked: 999,
			challenged: 17_001, errors: 20, requestsBefore: 20_000, blockedBefore: 999}, QuietLook, "errors of the origin"},
		{"errors as before", numbers{requests: 2000, errors: 39, requestsBefore: 2000, errorsBefore: 20}, Quiet, ""},
		{"as many errors of less traffic", numbers{requests: 2000, errors: 20, requestsBefore: 4000, errorsBefore: 20},
			QuietLook, "errors of the origin"},
		{"twice as many errors of twice the traffic", numbers{requests: 4000, errors: 40, requestsBefore: 2000,
			errorsBefore: 20}, Quiet, ""},
		{"twice the share of errors", numbers{requests: 2000, errors: 40, requestsBefore: 2000, errorsBefore: 20}, QuietLook,
			"errors of the origin"},
		{"an outage that lasts", numbers{requests: 2000, errors: 200, requestsBefore: 2000, errorsBefore: 200}, QuietLook,
			"errors of the origin"},
		{"slightly fewer errors that last", numbers{requests: 2000, errors: 199, requestsBefore: 2000, errorsBefore: 199},
			Quiet, ""},
		{"blocked humans", numbers{requests: 90_000, blocked: 199, humans: 10, alone: true}, QuietLook, "blocked humans"},
		{"a small share of humans", numbers{requests: 90_000, blocked: 200, humans: 10, alone: true}, Quiet, ""},
		{"few humans", numbers{requests: 90_000, blocked: 10, humans: 9, alone: true}, Quiet, ""},
		{"an attacker that passes", numbers{requests: 90_000, blocked: 50, alone: true,
			top: map[string][]Row{"ip": {{Key: "a", Requests: 110, Blocked: 11, Passed: ptr(100)}}}}, QuietLook,
			"attacker that passes"},
		{"an attacker that is challenged", numbers{requests: 90_000, blocked: 50, alone: true,
			top: map[string][]Row{"ip": {{Key: "a", Requests: 120, Blocked: 20, Challenged: 99, Passed: ptr(1)}}}}, Quiet, ""},
		{"an attacker whose passed requests are unknown", numbers{requests: 90_000, blocked: 50, alone: true,
			top: map[string][]Row{"ip": {{Key: "a", Requests: 120, Blocked: 20}}}}, Quiet, ""},
		{"a network of many people", numbers{requests: 90_000, blocked: 50, alone: true,
			top: map[string][]Row{"ip": {{Key: "a", Requests: 101, Blocked: 10, Passed: ptr(100)}}}}, Quiet, ""},
		{"a visitor with a blocked request", numbers{requests: 90_000, blocked: 50, alone: true,
			top: map[string][]Row{"ip": {{Key: "a", Requests: 80, Blocked: 9, Passed: ptr(100)}}}}, Quiet, ""},
		{"an attack that did not hold", numbers{requests: 2000, blocked: 150, humans: 10, alone: true}, AttackedLook,
			"blocked humans, many blocked"},
		{"an incident that held", numbers{requests: 2000, blocked: 150, alone: true, incidents: []string{"held"}},
			AttackedHeld, "incident"},
		{"without incidents, many blocked requests are usual", numbers{requests: 2000, blocked: 150, alone: true,
			incidents: []string{}}, Quiet, ""},
		{"an incident that did not hold", numbers{requests: 2000, alone: true, incidents: []string{"not held"}},
			AttackedLook, "incident to look at"},
		{"an incident that blocked people", numbers{requests: 2000, alone: true, incidents: []string{"look"}},
			AttackedLook, "incident to look at"},
		{"several incidents", numbers{requests: 2000, alone: true, incidents: []string{"held", "not held", "unknown"}},
			AttackedLook, "incident to look at, incident"},
		{"an incident of which nothing else is known", numbers{requests: 2000, alone: true,
			incidents: []string{"held", "unknown"}}, Attacked, "incident"},
		{"an incident that held, and errors of the origin", numbers{requests: 2000, errors: 20, alone: true,
			incidents: []string{"held"}}, AttackedLook, "errors of the origin, incident"},
		{"three sentences at most", numbers{requests: 2000, blocked: 150, humans: 10, errors: 40, alone: true,
			top: map[string][]Row{"ip": {{Key: "a", Requests: 1200, Blocked: 150, Passed: ptr(1050)}}}}, AttackedLook,
			"errors of the origin, blocked humans, attacker that passes"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			n := test.n
			passed, passedBefore := n.requests-n.blocked-n.challenged, n.requestsBefore-n.blockedBefore
			b := builder{Setting: settingOf(t), facts: facts{
				top: n.top, reasons: n.reasons, blockedHumans: n.humans, passed: &passed, errors: &n.errors,
			}}
			b.metas = map[Part]answer.Meta{OriginErrors: {NumOfRequests: &n.errors}}
			b.r.Figures = []Figure{{Value: float(n.requests)}, {Value: float(n.blocked)}}
			b.r.Period = spanOf(b.Period, b.Zone)
			b.r.Run = Run{Complete: &b.r.Period.To, Newest: &b.r.Period.To}
			if !n.alone {
				b.facts.passedBefore, b.facts.errorsBefore = &passedBefore, &n.errorsBefore
				b.facts.comparable = n.requestsBefore > 0
				b.r.Figures[0].Previous, b.r.Figures[1].Previous = float(n.requestsBefore), float(n.blockedBefore)
			}
			if n.incidents != nil {
				b.r.Incidents = []Incident{}
			}
			for _, state := range n.incidents {
				held := answer.IncidentHeld{State: state}
				b.r.Incidents = append(b.r.Incidents, Incident{answer.IncidentResult{Sentence: "an attack", Held: held}, ""})
			}
			b.verdict()
			var rules []string
			for _, s := range b.r.Verdict.Sentences {
				if s.Rule != "" {
					rules = append(rules, s.Rule)
				}
				if s.Text == "" || strings.Contains(s.Text, "%!") {
					t.Errorf("sentence %q", s.Text)
				}
			}
			if got := strings.Join(rules, ", "); b.r.Verdict.State != test.state || got != test.rules {
				t.Errorf("%s by %q, want %s by %q", b.r.Verdict.State, got, test.state, test.rules)
			}
		})
	}
	t.Run("unknown without numbers", func(t *testing.T) {
		setting := settingOf(t)
		answers := ordinary.answers(t, setting)
		answers[Timeline] = Answer{Reason: "busy"}
		if v := New(setting, answers).Verdict; v.State != Unknown {
			t.Errorf("%v", v)
		}
	})
}

// TestRulesArePublished compares the table of rules with README.md.
func TestRulesArePublished(t *testing.T) {
	section := goldentest.Section(t, "README.md", "## Verdict")
	var table strings.Builder
	for _, rule := range Rules {
		table.WriteString("| " + rule.Name + " | " + string(rule.Effect) + " | " + rule.Doc + " |\n")
	}
	if !strings.Contains(section, table.String()) {
		t.Errorf("README.md does not have this table:\n%s", table.String())
	}
}
