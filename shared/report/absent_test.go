package report

import (
	"slices"
	"strings"
	"testing"
)

// TestAbsent: what no request of an access log has is unknown in its report, not zero. What some requests have is counted.
func TestAbsent(t *testing.T) {
	setting := settingOf(t)
	answers := ordinary.answers(t, setting)
	answers[Timeline] = answerOf(t, []object{
		{"time_period": setting.Period.FromMs / 1000, "num_of_requests": 9, "num_of_origin_blocked_requests": 1},
	}, nil)
	answers[Monitored] = answerOf(t, []object{}, nil)
	facet := func(by string, n, absent int64) object {
		return object{"by": by, "num_of_requests": n, "num_of_absent": absent, "values": []object{}}
	}
	answers[MonitorReasons] = answerOf(t, []object{
		facet("monitor_reasons", 0, 9), facet("result", 0, 9), facet("human", 0, 9), facet("upstream_status", 1, 8),
	}, nil)
	report := New(setting, answers)
	var unknown []string
	for _, f := range report.Figures {
		if f.Value == nil {
			unknown = append(unknown, f.ID)
		}
	}
	if want := []string{"blocked", "challenges", "monitored", "human"}; !slices.Equal(unknown, want) {
		t.Errorf("unknown are %v, not %v", unknown, want)
	}
	if subject := report.Subject(); !strings.HasSuffix(subject, ": 9 requests") {
		t.Errorf("subject %s", subject)
	}
	if slices.ContainsFunc(report.Rules, func(l List) bool { return l.Field != "reason" && l.Field != "monitor_reasons" }) {
		t.Errorf("the lists of rules are %v", report.Rules)
	}
}
