package report

import (
	"strings"
	"testing"
)

// TestCausesInWords: all forms for people show what caused a rule to block a request in words, and not its codes.
func TestCausesInWords(t *testing.T) {
	s := ordinary
	s.reason = `Block - content filter ["cf-rule-category:sqli","cf-rule-risk:5"] - cf1 100037 - [args]`
	r := reportOf(t, s)
	const cause = "SQL injection in the argument"
	if r.Examples[0].Cause != cause || r.Examples[0].Reason != s.reason {
		t.Errorf("%+v", r.Examples[0])
	}
	for form, text := range map[string]string{
		"text": string(r.Text()), "page": string(r.HTML()), "mail": string(r.MailHTML()), "text of the mail": string(r.MailText()),
	} {
		if !strings.Contains(text, cause) {
			t.Errorf("%s: the newest blocked request lacks its cause", form)
		}
	}
}
