package destination_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/destination"
)

// write writes the file of a new folder and returns the folder.
func write(t *testing.T, text string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, destination.FileName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

func environment(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

const valid = `
[source.shop]
folder = "logs"

[mail]
server = "smtp.example.com:587"
from = "Orrery <orrery@example.com>"
domains = ["Example.org", "example.com", "example.org"]
user = "orrery"
password-file = "secret"

[reports]
link = "https://orrery.example"
delay = "90m"

[destination.archive]
folder = "reports"
[destination.share]
folder = "/srv/share"
[destination.lake]
bucket = "reports-bucket"
prefix = "waf/weekly"
[destination.alerts]
topic = "arn:aws:sns:eu-central-1:123456789012:reports"
[destination.chat]
slack-url-file = "slack-url"
[destination.siem]
webhook-url-file = "/etc/orrery/webhook"
webhook-secret-file = "webhook-secret"
[destination.other]
webhook-parameter = "/orrery/webhook"
webhook-secret-parameter = "orrery-secret"
`

func TestRead(t *testing.T) {
	folder := write(t, valid)
	if err := os.WriteFile(filepath.Join(folder, "secret"), []byte("pass word\r\nrest\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := destination.Read(folder, environment())
	want := destination.Settings{
		Mail: &destination.Mail{
			Server: "smtp.example.com:587", From: "Orrery <orrery@example.com>",
			Domains: []string{"example.com", "example.org"}, User: "orrery", PasswordFile: filepath.Join(folder, "secret"),
		},
		Destinations: map[string]destination.Destination{
			"archive": destination.Folder{Path: filepath.Join(folder, "reports")},
			"share":   destination.Folder{Path: "/srv/share"},
			"lake":    destination.Bucket{Name: "reports-bucket", Prefix: "waf/weekly/"},
			"alerts":  destination.Topic{ARN: "arn:aws:sns:eu-central-1:123456789012:reports"},
			"chat":    destination.Slack{URL: destination.Secret{File: filepath.Join(folder, "slack-url")}},
			"siem": destination.Webhook{
				URL: destination.Secret{File: "/etc/orrery/webhook"}, Signing: destination.Secret{File: filepath.Join(folder, "webhook-secret")},
			},
			"other": destination.Webhook{
				URL: destination.Secret{Parameter: "/orrery/webhook"}, Signing: destination.Secret{Parameter: "orrery-secret"},
			},
		},
		Link: "https://orrery.example", Delay: 90 * time.Minute,
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatalf("%v (-want +got):\n%s", err, diff)
	}
	if password, err := got.Mail.Secret(); password != "pass word" || err != nil {
		t.Errorf("%q %v", password, err)
	}
	rules := definition.Rules{
		Domains:      []string{"example.com", "example.org"},
		Destinations: []string{"alerts", "archive", "chat", "lake", "other", "share", "siem"},
	}
	if diff := cmp.Diff(rules, got.Rules()); diff != "" {
		t.Error(diff)
	}
	needs := destination.Needs{
		Buckets:    []destination.Bucket{{Name: "reports-bucket", Prefix: "waf/weekly/"}},
		Topics:     []string{"arn:aws:sns:eu-central-1:123456789012:reports"},
		Parameters: []string{"/orrery-secret", "/orrery/webhook"},
	}
	if diff := cmp.Diff(needs, got.Needs()); diff != "" || got.Needs().None() {
		t.Error(diff)
	}
}

func TestReadOfTheEnvironment(t *testing.T) {
	lookup := environment("ORRERY_MAIL_SERVER", "localhost:25", "ORRERY_MAIL_DOMAINS", "a.example, B.example",
		"ORRERY_MAIL_PASSWORD", "x")
	got, err := destination.Read(write(t, valid), lookup)
	if err != nil || got.Mail.Server != "localhost:25" || len(got.Mail.Domains) != 2 || got.Mail.Domains[1] != "b.example" {
		t.Errorf("%+v %v", got.Mail, err)
	}
	if password, err := got.Mail.Secret(); password != "x" || err != nil {
		t.Errorf("%q %v", password, err)
	}
	got, err = destination.Read(t.TempDir(), environment())
	if diff := cmp.Diff(destination.Settings{Delay: time.Hour, Destinations: map[string]destination.Destination{}}, got); diff != "" || err != nil {
		t.Errorf("without the file: %v\n%s", err, diff)
	}
}

func TestReadNamesMistakes(t *testing.T) {
	for name, test := range map[string]struct{ change, want string }{
		"no toml":                       {"server = \"smtp.example.com:587\"|server =", "line 6: "},
		"an unknown key":                {"user =|usr =", "line 9: mail.usr: there is no such key"},
		"an unknown table":              {"[reports]|[report]", "line 12: report"},
		"a server of no port":           {"smtp.example.com:587|smtp.example.com", "mail.server (ORRERY_MAIL_SERVER)"},
		"a bad sender":                  {"Orrery <orrery@example.com>|orrery", "mail.from"},
		"a bad domain":                  {"\"Example.org\"|\"a@b\"", "mail.domains"},
		"no domains":                    {`"Example.org", "example.com", "example.org"|`, "name the domains"},
		"no password":                   {`password-file = "secret"|`, "it needs a password"},
		"a bad delay":                   {"90m|1 hour", "reports.delay"},
		"a bad link":                    {"https://orrery.example|javascript:x", "reports.link"},
		"a link with a user":            {"https://orrery.example|https://u:p@orrery.example", "reports.link"},
		"a bad name":                    {"destination.share|destination.\"a b\"", "destination.a b"},
		"a destination of no kind":      {`folder = "/srv/share"|`, "destination.share: needs folder, bucket, topic"},
		"a destination of two kinds":    {`topic = |folder = "x"` + "\ntopic = ", "destination.alerts: has folder and topic"},
		"a prefix of a folder":          {`folder = "reports"|folder = "reports"` + "\nprefix = \"a\"", "destination.archive: prefix"},
		"a bucket that is a url":        {`"reports-bucket"|"s3://bucket"`, "destination.lake: bucket"},
		"a prefix with a wildcard":      {`"waf/weekly"|"waf/*"`, "destination.lake: prefix"},
		"a prefix that begins with /":   {`"waf/weekly"|"/waf"`, "destination.lake: prefix"},
		"a topic without an account":    {`:123456789012:|::`, "destination.alerts: topic"},
		"a fifo topic":                  {`:reports"|:reports.fifo"`, "destination.alerts: topic"},
		"a parameter with spaces":       {`"/orrery/webhook"|"/orrery webhook"`, "destination.other: webhook-parameter"},
		"a secret of a folder":          {`folder = "reports"|folder = "reports"` + "\nwebhook-secret-file = \"a\"", "are of a webhook"},
		"two secrets":                   {`webhook-secret-file|webhook-secret-parameter = "a"` + "\nwebhook-secret-file", "remove one of them"},
		"ses and a server":              {`user = "orrery"|ses = true`, "remove one of them"},
		"a configuration set of no ses": {`user = "orrery"|configuration-set = "a"`, "mail.configuration-set"},
		"a link that ends the header":   {`https://orrery.example|https://orrery.example/>,<mailto:a@b.example`, "reports.link"},
		"a link with a fragment":        {`https://orrery.example|https://orrery.example/#/`, "reports.link"},
	} {
		t.Run(name, func(t *testing.T) {
			from, to, _ := strings.Cut(test.change, "|")
			_, err := destination.Read(write(t, strings.Replace(valid, from, to, 1)), environment())
			if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestMissingPasswordFile(t *testing.T) {
	m := destination.Mail{PasswordFile: filepath.Join(t.TempDir(), "none")}
	if _, err := m.Secret(); err == nil {
		t.Error("no error")
	}
}

const deployed = `{
 "mail": {"ses": true, "from": "Orrery <Orrery@Example.com>", "domains": ["Example.org"], "configuration-set": "bounces"},
 "reports": {"link": "https://orrery.example", "delay": "2h"},
 "destination": {
  "archive": {"bucket": "reports-bucket", "prefix": "weekly/"}, "all": {"bucket": "reports-bucket"},
  "alerts": {"topic": "arn:aws-us-gov:sns:us-gov-west-1:123456789012:reports"},
  "chat": {"slack-parameter": "/orrery/slack"},
  "siem": {"webhook-parameter": "orrery/webhook", "webhook-secret-parameter": "/orrery/slack"}
 }
}`

func TestReadJSON(t *testing.T) {
	got, err := destination.ReadJSON(deployed)
	want := destination.Settings{
		Mail: &destination.Mail{
			SES: true, From: "Orrery <Orrery@Example.com>", Domains: []string{"example.org"}, ConfigurationSet: "bounces",
		},
		Destinations: map[string]destination.Destination{
			"archive": destination.Bucket{Name: "reports-bucket", Prefix: "weekly/"},
			"all":     destination.Bucket{Name: "reports-bucket"},
			"alerts":  destination.Topic{ARN: "arn:aws-us-gov:sns:us-gov-west-1:123456789012:reports"},
			"chat":    destination.Slack{URL: destination.Secret{Parameter: "/orrery/slack"}},
			"siem": destination.Webhook{
				URL: destination.Secret{Parameter: "orrery/webhook"}, Signing: destination.Secret{Parameter: "/orrery/slack"},
			},
		},
		Link: "https://orrery.example", Delay: 2 * time.Hour,
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatalf("%v (-want +got):\n%s", err, diff)
	}
	if !got.Rules().ASCII || (destination.Settings{Mail: &destination.Mail{}}).Rules().ASCII {
		t.Error("addresses must be ASCII with SES, and only with it")
	}
	needs := destination.Needs{
		Buckets:    []destination.Bucket{{Name: "reports-bucket"}, {Name: "reports-bucket", Prefix: "weekly/"}},
		Topics:     []string{"arn:aws-us-gov:sns:us-gov-west-1:123456789012:reports"},
		Parameters: []string{"/orrery/slack", "/orrery/webhook"},
		Mail: &destination.MailNeeds{
			Senders: []string{"Orrery@Example.com", "Orrery@example.com"}, Domains: []string{"example.org"}, ConfigurationSet: "bounces",
		},
	}
	if diff := cmp.Diff(needs, got.Needs()); diff != "" {
		t.Errorf("needs (-want +got):\n%s", diff)
	}
	empty, err := destination.ReadJSON("")
	if err != nil || empty.Mail != nil || len(empty.Destinations) > 0 || empty.Delay != time.Hour || !empty.Needs().None() {
		t.Errorf("without the variable: %+v %v", empty, err)
	}
}

// TestReadJSONNamesMistakes: on AWS there are no files, folders and mail servers.
func TestReadJSONNamesMistakes(t *testing.T) {
	for name, test := range map[string]struct{ change, want string }{
		"no json": {`{"slack|{slack`, "invalid character"},
		"two objects": {`{
 "mail"|{} { "mail"`, "more text"},
		"an unknown member":     {`"topic"|"topics"`, `unknown field "topics"`},
		"a wrong type":          {`"ses": true|"ses": "yes"`, "ses"},
		"a folder":              {`"bucket": "reports-bucket"}|"folder": "/srv"}`, "destination.all.folder: there are no folders on AWS; name a bucket"},
		"a file with a url":     {`slack-parameter|slack-url-file`, "destination.chat.slack-url-file"},
		"a file with a webhook": {`webhook-parameter|webhook-url-file`, "destination.siem.webhook-url-file"},
		"a file with a secret":  {`webhook-secret-parameter|webhook-secret-file`, "destination.siem.webhook-secret-file"},
		"a mail server":         {`"ses": true|"server": "smtp.example.com:587"`, "mail: mail is sent by SES"},
		"no sender":             {`Orrery <Orrery@Example.com>|Orrery`, "mail.from: "},
		"no configuration set":  {`bounces|a b`, "mail.configuration-set"},
		"a user":                {`"ses": true|"ses": true, "user": "a"`, "mail.user"},
		"a bad topic":           {`arn:aws-us-gov|arn`, "destination.alerts: topic"},
	} {
		t.Run(name, func(t *testing.T) {
			from, to, _ := strings.Cut(test.change, "|")
			if !strings.Contains(deployed, from) {
				t.Fatalf("the text has no %s", from)
			}
			_, err := destination.ReadJSON(strings.Replace(deployed, from, to, 1))
			if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), test.want) ||
				!strings.HasPrefix(err.Error(), "ORRERY_REPORTS: ") || strings.Contains(err.Error(), "ORRERY_MAIL") {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// TestMailBySES: SES replaces the server in the file, and the variable of a server replaces SES.
func TestMailBySES(t *testing.T) {
	text := "[mail]\nses = true\nfrom = \"orrery@example.com\"\ndomains = [\"example.org\"]\nconfiguration-set = \"bounces\"\n"
	got, err := destination.Read(write(t, text), environment())
	if err != nil || !got.Mail.SES || got.Mail.ConfigurationSet != "bounces" || got.Needs().None() {
		t.Errorf("%+v %v", got.Mail, err)
	}
	got, err = destination.Read(write(t, text), environment("ORRERY_MAIL_SERVER", "localhost:25"))
	if err != nil || got.Mail.SES || got.Mail.Server != "localhost:25" || !got.Needs().None() {
		t.Errorf("%+v %v", got.Mail, err)
	}
}

// TestDescriptions: the text about a destination names the place of a secret, not the secret.
func TestDescriptions(t *testing.T) {
	for want, to := range map[string]destination.Destination{
		"the folder /srv/reports":              destination.Folder{Path: "/srv/reports"},
		"s3://bucket/a/":                       destination.Bucket{Name: "bucket", Prefix: "a/"},
		"the topic arn:x":                      destination.Topic{ARN: "arn:x"},
		"Slack, at the URL in /etc/slack":      destination.Slack{URL: destination.Secret{File: "/etc/slack"}},
		"Slack, at the URL in the parameter p": destination.Slack{URL: destination.Secret{Parameter: "p"}},
		"the webhook with the URL in /etc/hook, signed": destination.Webhook{
			URL: destination.Secret{File: "/etc/hook"}, Signing: destination.Secret{Parameter: "p"},
		},
	} {
		if to.String() != want {
			t.Errorf("%q, want %q", to, want)
		}
	}
}
