package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
)

// TestPreviewPrintsWhatDestinationsAre: also those that the operator has removed since the report was written.
func TestPreviewPrintsWhatDestinationsAre(t *testing.T) {
	data := reportFolder(t)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(data, "orrery.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const destinations = `
[destination.archive]
bucket = "reports-bucket"
prefix = "waf"
[destination.alerts]
topic = "arn:aws:sns:eu-central-1:123456789012:reports"
[destination.chat]
slack-url-file = "/etc/orrery/slack"
[destination.siem]
webhook-parameter = "/orrery/siem"
webhook-secret-parameter = "/orrery/siem-secret"
`
	const mail = "[mail]\nses = true\nfrom = \"orrery@example.com\"\ndomains = [\"example.com\"]\n"
	write(mail + destinations)
	out, stderr, code := orrery(t, "", "report", "put", "daily", "--data", data, "--period", "day", "--mail", "ops@example.com",
		"--to", "archive", "--to", "alerts", "--to", "chat", "--to", "siem")
	if code != exit.Done {
		t.Fatal(out, stderr)
	}
	for _, test := range []struct{ rule, settings, want string }{
		{"every kind", mail + destinations, `
reaches  ops@example.com: by Amazon SES
reaches  archive: s3://reports-bucket/waf/
reaches  alerts: the topic arn:aws:sns:eu-central-1:123456789012:reports
reaches  chat: Slack, at the URL in /etc/orrery/slack
reaches  siem: the webhook with the URL in the parameter /orrery/siem, signed
`},
		{"a mail server, and nothing else", reportSettings, `
reaches  ops@example.com: by the mail server localhost:2525
reaches  archive: the folder ` + filepath.Join(data, "sent") + `
reaches  alerts: nobody, because orrery.toml does not have it any more
`},
		{"another domain", strings.Replace(mail, "[\"example.com\"]", "[\"example.org\"]", 1), `
reaches  ops@example.com: nobody, because orrery.toml does not allow mail to example.com any more
`},
		{"no settings", "", `
reaches  ops@example.com: nobody, because orrery.toml has no mail
`},
	} {
		t.Run(test.rule, func(t *testing.T) {
			write(test.settings)
			out, stderr, code := orrery(t, "", "report", "preview", "daily", "--data", data)
			if code != exit.Done || !strings.Contains(out, test.want) || !strings.Contains(stderr, "nothing was sent") {
				t.Errorf("exit code %d\n%s\n%s", code, out, stderr)
			}
		})
	}
}
