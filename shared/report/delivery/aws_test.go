package delivery

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/report"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/destination"
)

// TestAWS: each kind of destination gets its form of the report. A program that cannot use AWS leaves the delivery to
// another one.
func TestAWS(t *testing.T) {
	services := &fakeAWS{}
	files := filesOf(model("Daily"))
	s := Sender{AWS: services, Settings: destination.Settings{
		Mail: &destination.Mail{SES: true, From: "orrery@example.com", Domains: []string{"example.com"}},
		Destinations: map[string]destination.Destination{
			"archive": destination.Bucket{Name: "reports-bucket"}, "alerts": destination.Topic{ARN: "arn"},
		},
	}}
	without := s
	without.AWS = nil
	for _, to := range []definition.Destination{{To: "archive"}, {To: "alerts"}, to("a@example.com")} {
		sent := files
		if to.To == "" {
			sent = mailFiles
		}
		if _, err := without.Deliver(t.Context(), to, sent); err == nil || errors.Is(err, ErrRefused) {
			t.Errorf("%s without AWS: %v", to, err)
		}
		if note, err := s.Deliver(t.Context(), to, sent); note != "" || err != nil {
			t.Errorf("%s: %s %v", to, note, err)
		}
	}
	if diff := cmp.Diff(files, services.files); diff != "" || services.mails != 1 || len(services.messages) != 1 {
		t.Fatalf("%d mails, %d messages, files:\n%s", services.mails, len(services.messages), diff)
	}
	if m := services.messages[0]; m.Text != string(model("Daily").MailText()) || m.Attributes["run"] != "3f1c0a9b" {
		t.Errorf("%+v", m)
	}
	if _, err := s.Deliver(t.Context(), to("a@example.org"), mailFiles); !errors.Is(err, ErrRefused) || services.mails != 1 {
		t.Errorf("a domain that is not allowed: %v", err)
	}
}

// TestDomainsInMailBySES: permissions for SES have the domains of receivers in lower case.
func TestDomainsInMailBySES(t *testing.T) {
	services := &fakeAWS{}
	s := Sender{AWS: services, Settings: destination.Settings{
		Mail: &destination.Mail{SES: true, From: "orrery@example.com", Domains: []string{"example.com"}},
	}}
	given := to("A.B@Example.COM", "c@example.com")
	if _, err := s.Deliver(t.Context(), given, mailFiles); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"A.B@example.com", "c@example.com"}, services.receivers); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if given.Mail[0] != "A.B@Example.COM" {
		t.Errorf("the definition has changed to %s", given.Mail)
	}
}

// FuzzHostileMessages puts a value of the data into every place of a report that has one, and delivers the report to a
// topic, Slack and a webhook. No link, mention or tag of it survives.
func FuzzHostileMessages(f *testing.F) {
	for _, seed := range []string{
		"shop.example/login", "https://evil.example/?a=b", "javascript:alert(1)", "mailto:a@b.example", `\\evil\share`, "203.0.113.7",
		"<script>alert(1)</script>", "<!channel> <@U1> <https://evil.example|x>", "```\n<!here>", "&lt;!channel&gt;", "\u202egpj.exe",
		"a\nhttps://evil.example\n", "\xff<", "@channel", "tel:+1", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		files, services, h := filesOf(hostile(value)), &fakeAWS{}, startHook(t)
		h.sender.AWS = services
		h.sender.Settings.Destinations = map[string]destination.Destination{
			"topic": destination.Topic{ARN: "arn"}, "slack": destination.Slack{URL: secret(t, h.url)},
			"webhook": destination.Webhook{URL: secret(t, h.url)},
		}
		bodies := map[string][]byte{}
		for name := range h.sender.Settings.Destinations {
			if _, err := h.sender.Deliver(t.Context(), definition.Destination{To: name}, files); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			bodies[name] = h.body
		}
		for line := range strings.Lines(services.messages[0].Text) {
			if found := linked.FindString(line); found != "" && !strings.HasPrefix(line, "https://orrery.example/#/") {
				t.Errorf("a link %q in %q", found, line)
			}
		}
		plain(t, readSlack(t, bodies["slack"]))
		var d report.Document
		if err := json.Unmarshal(bodies["webhook"], &d); err != nil || bytes.ContainsAny(bodies["webhook"], "\r\x00\u2028") {
			t.Errorf("the document for the webhook: %v", err)
		}
		if want := string([]rune(value)); d.Report.Examples[0].Reason != want {
			t.Errorf("the reason is %q, want %q", d.Report.Examples[0].Reason, want)
		}
	})
}

// linked matches texts that mail programs turn into links.
var linked = regexp.MustCompile(`(?i)[\pL\pN]\.[\pL][\pL\pN-]|://|\b(?:javascript|vbscript|mailto|data|tel|file):[^\s:]|[\pL\pN]@[\pL\pN]|\\\\[\pL\pN]`)

// hostile returns a report with a value of the data in every place that has one.
func hostile(value string) report.Report {
	r := model(value)
	list := []report.List{{
		Title: "Addresses", Field: "ip", ByBlocked: true, Rows: []report.Row{{Key: value, Requests: 2, Blocked: 1}}, All: 2,
	}}
	r.Filter, r.Attackers, r.Targets, r.Rules, r.Passed, r.Wrong = value, list, list, list, list, list
	r.Verdict.Sentences = []report.Sentence{{Text: value + " is blocked once."}}
	r.Changes = []report.Change{{Kind: "new", Field: "host", Key: value, Requests: 1}}
	r.Examples = []report.Record{{
		IP: value, Country: value, Method: value, Target: value, Status: value, Reason: value, ID: value, Local: value,
	}}
	r.Failed = []report.Failed{{Part: report.Top, Reason: value}}
	return r
}

// TestReportsWithoutTheirForm: a report without the form of its destination can never be delivered.
func TestReportsWithoutTheirForm(t *testing.T) {
	s := Sender{AWS: &fakeAWS{}, Settings: destination.Settings{Destinations: map[string]destination.Destination{
		"topic": destination.Topic{}, "slack": destination.Slack{}, "webhook": destination.Webhook{},
	}}}
	for name := range s.Settings.Destinations {
		if _, err := s.Deliver(t.Context(), definition.Destination{To: name}, mailFiles); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
