package report

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// answersOfAnAccessLog are those about nine requests, of which one has the status of an origin.
func answersOfAnAccessLog(t *testing.T, setting Setting) map[Part]Answer {
	t.Helper()
	answers := ordinary.answers(t, setting)
	answers[Timeline] = answerOf(t, []object{
		{"time_period": setting.Period.FromMs / 1000, "num_of_requests": 9, "num_of_origin_blocked_requests": 1},
	}, nil)
	none := answerOf(t, []object{}, object{"num_of_requests": 0})
	facet := func(by string, n, absent int64) object {
		return object{"by": by, "num_of_requests": n, "num_of_absent": absent, "values": []object{}}
	}
	for _, part := range []Part{Monitored, Times, Blocked, WrongBlocks, Examples, PassedBots, Incidents, Marks, Changes} {
		answers[part] = none
	}
	answers[Top] = answerOf(t, []object{{"label": "ip", "key": "192.0.2.1", "num_of_requests": 9}}, nil)
	answers[MonitorReasons] = answerOf(t, []object{
		facet("monitor_reasons", 0, 9), facet("result", 0, 9), facet("human", 0, 9), facet("upstream_status", 1, 8),
	}, nil)
	return answers
}

// TestAbsent: what no request of an access log has is unknown in its report, not zero. What some requests have is counted.
func TestAbsent(t *testing.T) {
	report := New(settingOf(t), answersOfAnAccessLog(t, settingOf(t)))
	var unknown []string
	for _, f := range report.Figures {
		if f.Value == nil {
			unknown = append(unknown, f.ID)
		}
		if f.Absent && f.Previous != nil {
			t.Errorf("%s is absent, and was %v", f.ID, *f.Previous)
		}
	}
	want := []string{"blocked", "challenges", "monitored", "human", "average_time", "p99_time"}
	if !slices.Equal(unknown, want) {
		t.Errorf("unknown are %v, not %v", unknown, want)
	}
	if subject := report.Subject(); !strings.HasSuffix(subject, ": 9 requests") {
		t.Errorf("subject %s", subject)
	}
	text := string(report.Text())
	if !strings.Contains(text, "Blocked                        unknown   before            1,344") {
		t.Errorf("the blocked requests of the previous period are left out:\n%s", text)
	}
}

// TestAbsentParts: what no request of both periods has is left out in every form.
func TestAbsentParts(t *testing.T) {
	alone := settingOf(t)
	answers := answersOfAnAccessLog(t, alone)
	alone.Previous = nil
	report := New(alone, answers)
	notRead := regexp.MustCompile(`(?s)<style>.*?</style>|https?[:[][^"\n]*`)
	for form, text := range map[string][]byte{
		"page": report.HTML(), "mail": report.MailHTML(), "text of the mail": report.MailText(), "text": report.Text(),
	} {
		said := strings.ToLower(notRead.ReplaceAllString(string(text), ""))
		for _, word := range []string{
			"blocked", "challenged", "monitor", "human", "unknown", "got through", "average time",
		} {
			if strings.Contains(said, word) {
				t.Errorf("the %s has %q:\n%s", form, word, said)
			}
		}
		if !strings.Contains(said, "refused by origin") || !strings.Contains(said, "requests per ") {
			t.Errorf("the %s lacks what the log has:\n%s", form, said)
		}
	}
}
