package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRequestsThatPassed: a request that was challenged did not pass, and one that was blocked and challenged counts once.
func TestRequestsThatPassed(t *testing.T) {
	key := func(requests, blocked, challenged int64) object {
		return object{
			"label": "ip", "key": "203.0.113.7", "num_of_requests": requests, "num_of_blocked_requests": blocked,
			"num_of_challenges": challenged,
		}
	}
	both := func(n int64) object {
		return object{"by": "ip", "values": []object{{
			"value": "203.0.113.7", "num_of_requests": 50, "num_of_blocked_requests": 50, "num_of_challenges": n,
		}}}
	}
	for _, test := range []struct {
		rule    string
		key     object
		blocked []object
		want    string
	}{
		{"blocked or passed", key(90, 50, 0), nil, "40 passed"},
		{"blocked or challenged", key(90, 50, 40), []object{both(0)}, "40 challenged"},
		{"blocked, challenged or passed", key(90, 50, 30), []object{both(0)}, "10 passed, 30 challenged"},
		{"some are blocked and challenged", key(90, 50, 30), []object{both(20)}, "30 passed, 30 challenged"},
		{"unknown how many are both", key(90, 50, 30), nil, "30 challenged"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			s := settingOf(t)
			a := quietAnswers(t, s)
			a[Top], a[Blocked] = answerOf(t, []object{test.key}, nil), answerOf(t, test.blocked, nil)
			a[TopBefore] = Answer{Reason: "busy"}
			r := New(s, a)
			if got := r.Attackers[0].note(r.Attackers[0].Rows[0]); got != test.want {
				t.Errorf("the note is %q, want %q", got, test.want)
			}
		})
	}
}

// TestRulesThatBlock: reasons to monitor a request that another rule has blocked are not reasons to block.
func TestRulesThatBlock(t *testing.T) {
	lines := func(r Report) (list []string) {
		for _, l := range r.Rules {
			for _, row := range l.Rows {
				list = append(list, l.Title+": "+row.Key)
			}
		}
		return list
	}
	want := []string{
		"Reasons to block: acl1: scanner", "Reasons to block: gf2: bad agent", "Reasons to monitor: Monitor - acl1: scanner",
	}
	if diff := cmp.Diff(want, lines(reportOf(t, ordinary))); diff != "" {
		t.Errorf("rules differ (-want +got):\n%s", diff)
	}
}

// TestAttackReport: an attack report also asks whether humans were blocked, because its verdict depends on it.
func TestAttackReport(t *testing.T) {
	s := settingOf(t)
	s.Template = Attack
	r := New(s, ordinary.answers(t, s))
	text := string(r.Text())
	if len(r.Wrong) == 0 || !strings.Contains(text, "POSSIBLY WRONG BLOCKS") || strings.Contains(text, "WHAT CHANGED") {
		t.Errorf("wrong blocks: %v\n%s", r.Wrong, text)
	}
	a := quietAnswers(t, s)
	a[WrongBlocks] = answerOf(t, []object{}, object{"num_of_requests": 10})
	if v := New(s, a).Verdict; v.State != QuietLook {
		t.Errorf("with blocked humans, the verdict is %v", v)
	}
}
