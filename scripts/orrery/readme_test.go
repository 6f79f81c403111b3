package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/gzipped"
	"github.com/orrery/orrery/shared/testkit/goldentest"
)

var consoleBlock = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")

// replacements replaces the parts of the output that differ from run to run by the text in the pages.
var replacements = []struct {
	pattern *regexp.Regexp
	text    string
}{
	{regexp.MustCompile(`\d+\.\d s\b`), "0.5 s"},
	{regexp.MustCompile(`orr_[a-z2-7]{26}`), "orr_7q3xk5m2vbn4wy6tzhcd3elrpa"},
	{regexp.MustCompile(`\b[0-9a-f]{12}\b`), "5a0d3c71f2e9"},
	{regexp.MustCompile(`\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`), "2026-01-31T10:00:00Z"},
	{regexp.MustCompile(`from 2026-01-31T10:00:00Z to`), "from 2026-01-30T10:00:00Z to"},
	// The columns from, to and imported.
	{regexp.MustCompile(`2026-01-31T10:00:00Z(  2026-01-31T10:00:00Z  2026-01-31T10:00:00Z)`), "2026-01-30T10:00:00Z$1"},
	{regexp.MustCompile(`/\S+(/\w+/quarantine/)`), "/home/ann$1"},
}

// TestREADME runs the commands in the READMEs and compares their output with the pages.
func TestREADME(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential, so the race detector finds nothing in it; skipped with -short")
	}
	for page, least := range map[string]int{"../../README.md": 13, "../README.md": 3, "PRODUCTION.md": 4} {
		t.Run(page, func(t *testing.T) { testPage(t, page, least) })
	}
}

// testPage runs the commands of a page, which must have at least as many as least.
func testPage(t *testing.T, page string, least int) {
	path, err := filepath.Abs(page)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	writeReaderLogs(t)
	commands := 0
	got := consoleBlock.ReplaceAllFunc(text, func(block []byte) []byte {
		var b strings.Builder
		b.WriteString("```console\n")
		for _, line := range strings.Split(string(consoleBlock.FindSubmatch(block)[1]), "\n") {
			command, ok := strings.CutPrefix(line, "$ ")
			if !ok {
				continue
			}
			commands++
			b.WriteString(line + "\n" + shown(t, command))
		}
		b.WriteString("```")
		return []byte(b.String())
	})
	if commands < least {
		t.Fatalf("only %d commands found in %s", commands, page)
	}
	goldentest.Compare(t, path, string(got))
}

// readerLogs are the logs of a reader that the pages import, and a list of values.
var readerLogs = map[string]string{
	"access.log": `203.0.113.7 - - [20/Nov/2026:10:05:03 +0000] "GET /feed?page=2 HTTP/1.1" 200 5316 "-" "curl/8.5.0"
198.51.100.9 - ann [20/Nov/2026:10:05:04 +0000] "POST /login HTTP/1.1" 403 153 "https://blog.example/" "Mozilla/5.0"
`,
	"other_vhosts_access.log": `shop.example:443 203.0.113.7 - - [20/Nov/2026:10:05:03 +0000] "GET / HTTP/1.1" 200 612 "-" "curl/8.5.0"
`,
	"alb.log.gz": `https 2026-11-20T10:05:03.186641Z app/web/50dc6c495c0c9188 192.0.2.1:2817 10.0.0.1:80 0.086 0.048 0.037 200 200 0 57 ` +
		`"GET https://www.example.com:443/ HTTP/1.1" "curl/8.5.0" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 ` +
		`arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/web/73e2d6bc24d8a067 ` +
		`"Root=1-58337281-1d84f3d73c47ec4e58577259" "www.example.com" "-" 1 2026-11-20T10:05:02.958000Z "forward" "-" "-" ` +
		`"10.0.0.1:80" "200" "-" "-"
`,
	"short.log": `203.0.113.7 [20/Nov/2026:10:05:03 +0000] "GET /feed HTTP/1.1" 200
`,
	"app.jsonl": `{"at":"2026-11-20T10:05:03Z","client":{"ip":"203.0.113.7"},"path":"/feed","status":200,"duration_ms":12}
`,
	"scanners.txt": "# seen by us\n192.0.2.0/24\n203.0.113.7\n",
	"app.log": `2026-11-20T10:05:03Z 203.0.113.7 200
`,
	"web.log": `203.0.113.7 - - [20/Nov/2026:10:05:03 +0000] "GET /feed HTTP/1.1" 200 5316 "-" "curl/8.5.0"
198.51.100.9 - ann [20/Nov/2026:10:05:04 +0000] "POST /login HTTP/1.1" 403 153 "https://blog.example/" "Mozilla/5.0"
198.51.100.9 [20/Nov/2026:10:05:05 +0000] "GET /feed HTTP/1.1" 200
`,
}

// writeReaderLogs writes the logs to the current directory.
func writeReaderLogs(t *testing.T) {
	t.Helper()
	for name, text := range readerLogs {
		content := []byte(text)
		if strings.HasSuffix(name, ".gz") {
			content = gzipped.Of(content)
		}
		if err := os.WriteFile(name, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// shown runs one command line and returns its output, with replacements.
func shown(t *testing.T, line string) string {
	t.Helper()
	words := split(t, line)
	if words[0] != "orrery" {
		t.Fatalf("a page contains a command that the test cannot run: %s", line)
	}
	var out bytes.Buffer
	run(t.Context(), words[1:], terminal.Console{In: strings.NewReader(""), Out: &out, Err: &out})
	text := out.String()
	for _, as := range replacements {
		text = as.pattern.ReplaceAllString(text, as.text)
	}
	return text
}

// split splits a command line into words like a shell. It supports single quotes.
func split(t *testing.T, line string) []string {
	t.Helper()
	parts := strings.Split(line, "'")
	if len(parts)%2 == 0 {
		t.Fatalf("unbalanced quotes: %s", line)
	}
	var words []string
	for i, part := range parts {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}

// TestREADMEFollowsALog starts a server with the settings that the README shows for a log that grows.
func TestREADMEFollowsALog(t *testing.T) {
	if testing.Short() {
		t.Skip("the commands of the page are skipped with -short")
	}
	settings := settingsOfPage.FindStringSubmatch(textOf(t, "../../README.md"))
	if settings == nil {
		t.Fatal("the page has no settings")
	}
	root, data := t.TempDir(), t.TempDir()
	settings[1] = strings.ReplaceAll(settings[1], "/var/log/nginx", filepath.ToSlash(root))
	if err := os.WriteFile(filepath.Join(data, "orrery.toml"), []byte(settings[1]), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(filepath.Join(root, "access.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	write := func(path string) {
		at := time.Now().UTC().Format("02/Jan/2006:15:04:05 -0700")
		if _, err := fmt.Fprintf(file, "203.0.113.7 - - [%s] \"GET %s HTTP/1.1\" 200 1 \"-\" \"curl\"\n", at, path); err != nil {
			t.Fatal(err)
		}
	}
	write("/first")
	s := startServer(t, data, "--watch", "--no-demo")
	for i, path := range []string{"/first", "/second"} {
		if i > 0 {
			write(path)
		}
		for line := range s.lines {
			if strings.Contains(line, `"msg":"imported"`) {
				break
			}
		}
		found := s.results("logs", "timestamp between now-1d and now+1h")
		if len(found) != i+1 || found[0]["path"] != path || found[0]["host"] != "shop.example" {
			t.Fatalf("after %s: %v", path, found)
		}
	}
}

// TestREADMEAttackedYesterday runs the command that the README shows for the incidents of yesterday.
func TestREADMEAttackedYesterday(t *testing.T) {
	if testing.Short() {
		t.Skip("the commands of the page are skipped with -short")
	}
	command := regexp.MustCompile(`(?m)^orrery (incidents .*yesterday.* --tz (.*))$`).FindStringSubmatch(textOf(t, "../../README.md"))
	if command == nil {
		t.Fatal("the page has no such command")
	}
	zone, err := time.LoadLocation(command[2])
	if err != nil {
		t.Fatal(err)
	}
	data, today := t.TempDir(), time.Now().In(zone)
	_, errs, code := inProcess(t, "generate", "--records", "20000", "--scene", "two-at-once", "--data", data,
		"--from", today.AddDate(0, 0, -1).Format(time.DateOnly), "--to", today.Format(time.DateOnly))
	if code != exit.Done {
		t.Fatal(errs)
	}
	t.Setenv("ORRERY_DATA", data)
	out, errs, code := inProcess(t, append(split(t, command[1]), "--format", "table")...)
	if code != exit.Done || !strings.Contains(out, "Flood of shop.example") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
}
