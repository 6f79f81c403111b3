package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
)

const reportSettings = `
[mail]
server = "localhost:2525"
from = "Orrery <orrery@example.com>"
domains = ["example.com"]

[destination.archive]
folder = "sent"
`

// reportFolder returns a data folder without records, with the settings of scheduled reports.
func reportFolder(t *testing.T) string {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	if err := os.MkdirAll(filepath.Join(data, "lake", "manifests"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "orrery.toml"), []byte(reportSettings), 0o600); err != nil {
		t.Fatal(err)
	}
	return data
}

func TestScheduledReports(t *testing.T) {
	data := reportFolder(t)
	for _, step := range []struct {
		rule           string
		args           []string
		code           int
		stdout, stderr string
	}{
		{"a report is scheduled", []string{"put", "weekly", "host = shop.example", "--period", "week", "--tz", "Europe/Berlin",
			"--mail", "ops@example.com", "--to", "archive", "--title", "The shop"}, exit.Done,
			"report    weekly  The shop\nfilter    host=\"shop.example\"\nbranches  all\nmade      every monday at 07:00 Europe/Berlin\n" +
				"next      Mon 20", `ETag: "1-`},
		{"it is listed", []string{"list"}, exit.Done, "weekly  every monday at 07:00 Europe/Berlin  archive, ops@example.com  host=\"shop.example\"", ""},
		{"it is shown", []string{"show", "weekly"}, exit.Done, "mail      ops@example.com\nto        archive\n", `ETag: "1-`},
		{"it is shown in json", []string{"show", "weekly", "--json"}, exit.Done, `"weekday": "monday"`, ""},
		{"its preview sends nothing", []string{"preview", "weekly"}, exit.Done, "mail      ops@example.com\n", "nothing was sent"},
		{"it is paused", []string{"pause", "weekly"}, exit.Done, "next      none: it is paused", ""},
		{"it is resumed", []string{"pause", "weekly", "--resume"}, exit.Done, "next      Mon 20", ""},
		{"its versions", []string{"versions", "weekly"}, exit.Done, "3        ", ""},
		{"an earlier version", []string{"show", "weekly", "--version", "2"}, exit.Done, "it is paused", ""},
		{"another etag", []string{"put", "weekly", "--period", "week", "--to", "archive", "--if-match", `"1-0"`}, exit.Failed, "", "has changed"},
		{"an hourly report of attacks", []string{"put", "hourly", "--period", "hour", "--when", "attacks", "--to", "archive"}, exit.Done,
			"made      every hour UTC\nsent      only if there was an attack\n", ""},
		{"an unknown destination", []string{"put", "x", "--period", "day", "--to", "slack"}, exit.Failed, "",
			`deliver.0.to: there is no destination "slack"; there are archive`},
		{"another domain", []string{"put", "x", "--period", "day", "--mail", "a@example.org"}, exit.Failed, "",
			"mail to example.org is not allowed; the operator allows example.com"},
		{"a mistake in the filter", []string{"put", "x", "hots=a", "--period", "day", "--to", "archive"}, exit.Failed, "", "^^^^"},
		{"no period", []string{"put", "x", "--to", "archive"}, exit.Usage, "", "--period"},
		{"it is deleted", []string{"delete", "weekly"}, exit.Done, "", "deleted weekly"},
		{"it is not there", []string{"show", "weekly"}, exit.Failed, "", "there is no report"},
	} {
		t.Run(step.rule, func(t *testing.T) {
			args := append([]string{"report", step.args[0], "--data", data}, step.args[1:]...)
			out, stderr, code := orrery(t, "", args...)
			if code != step.code || !strings.Contains(out, step.stdout) || !strings.Contains(stderr, step.stderr) {
				t.Errorf("exit code %d\n%s\n%s", code, out, stderr)
			}
		})
	}
}

func TestMistakeInTheSettingsOfReports(t *testing.T) {
	data := reportFolder(t)
	if err := os.WriteFile(filepath.Join(data, "orrery.toml"), []byte("[mail]\nserver = \"x\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := orrery(t, "", "report", "list", "--data", data); code != exit.Done || !strings.Contains(stderr, "mail.server") {
		t.Errorf("list: exit code %d, %s", code, stderr)
	}
	_, stderr, code := orrery(t, "", "serve", "--data", data, "--no-demo", "--listen", "127.0.0.1:0")
	if code != exit.Failed || !strings.Contains(stderr, "mail.server (ORRERY_MAIL_SERVER)") {
		t.Errorf("serve: exit code %d, %s", code, stderr)
	}
}

// TestScheduledReportIsMadeNow: a report that is asked for by its name is made and delivered by this process.
func TestScheduledReportIsMadeNow(t *testing.T) {
	data := reportFolder(t)
	if out, stderr, code := orrery(t, "", "report", "put", "daily", "--data", data, "--period", "day", "--tz", "Europe/Berlin", "--to", "archive"); code != exit.Done {
		t.Fatal(out, stderr)
	}
	for _, step := range []struct {
		rule           string
		args           []string
		code           int
		stdout, stderr string
	}{
		{"the last period", []string{"daily"}, exit.Done, "state    delivered\n", "orrery: queued"},
		{"a period in the zone of the report", []string{"daily", "--from", "2026-01-05", "--to", "2026-01-06 12:00"}, exit.Done,
			"period   2026-01-04T23:00:00Z to 2026-01-06T11:00:00Z\n", ""},
		{"it is there already", []string{"daily", "--from", "2026-01-05", "--to", "2026-01-06 12:00"}, exit.Done, "archive  delivered\n", ""},
		{"the last week", []string{"daily", "--last", "week"}, exit.Done, "state    delivered\n", ""},
		{"half a period", []string{"daily", "--from", "2026-01-05"}, exit.Usage, "", "--from and --to"},
		{"no time", []string{"daily", "--from", "monday", "--to", "2026-01-06"}, exit.Usage, "", `--from: "monday" is not a time`},
		{"an unknown report", []string{"weekly"}, exit.Failed, "", "there is no report"},
	} {
		t.Run(step.rule, func(t *testing.T) {
			out, stderr, code := orrery(t, "", append([]string{"report", "run", "--data", data}, step.args...)...)
			if code != step.code || !strings.Contains(out, step.stdout) || !strings.Contains(stderr, step.stderr) {
				t.Errorf("exit code %d\n%s\n%s", code, out, stderr)
			}
		})
	}
	files, err := filepath.Glob(filepath.Join(data, "sent", "prod-daily-*.html"))
	if err != nil || len(files) != 3 {
		t.Errorf("%v %v", files, err)
	}
}
