package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/answers"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
)

// commandsOfPage matches the blocks of a page with commands of a shell or of cron, and its settings.
var (
	commandsOfPage = regexp.MustCompile("(?ms)^```(?:sh|crontab)\n(.*?)^```$")
	settingsOfPage = regexp.MustCompile("(?ms)^```toml\n(.*?)^```$")
	userOfCommand  = regexp.MustCompile(`^(?:sudo -u orrery|\d+ \d+ \* \* \* orrery) `)
)

// TestProduction does what PRODUCTION.md says, in folders of its own: it runs the commands of orrery and the requests of
// curl, in the order of the page, with the settings of the page. Commands of the system are left out.
func TestProduction(t *testing.T) {
	page, err := os.ReadFile("PRODUCTION.md")
	if err != nil {
		t.Fatal(err)
	}
	root, data := t.TempDir(), filepath.Join(t.TempDir(), "data")
	here := strings.NewReplacer("/var/log/nginx", root, "/var/lib/orrery", data, "/backup", filepath.Join(root, "backup"),
		`$(date +\%A)`, "Monday")
	settings := settingsOfPage.FindSubmatch(page)
	if settings == nil {
		t.Fatal("the page has no settings")
	}
	at := time.Now().Add(-time.Hour).UTC().Format("02/Jan/2006:15:04:05 -0700")
	line := `203.0.113.7 - - [` + at + `] "GET / HTTP/1.1" 200 1 "-" "curl"` + "\n"
	for path, text := range map[string]string{
		filepath.Join(data, "orrery.toml"): here.Replace(string(settings[1])), filepath.Join(root, "shop-access.log"): line,
		filepath.Join(root, "backup", "orrery", "made by the administrator"): "",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var s *server
	var key, lists string
	ran, asked := 0, 0
	for _, block := range commandsOfPage.FindAllStringSubmatch(string(page), -1) {
		for command := range strings.Lines(strings.ReplaceAll(block[1], "\\\n", " ")) {
			if s != nil {
				command = strings.ReplaceAll(command, "https://shop.example/orrery/", s.base)
			}
			command = userOfCommand.ReplaceAllString(strings.TrimSpace(here.Replace(command)), "")
			switch program, _, _ := strings.Cut(command, " "); program {
			case "curl":
				command = strings.ReplaceAll(command, "http://127.0.0.1:8080", s.base) + " --silent --show-error"
				out := outputOf(t, s, key, "sh", "-c", command)
				var a answers.Answer
				if err := json.Unmarshal([]byte(out), &a); err != nil || !strings.Contains(out, "203.0.113.7") {
					t.Errorf("%.300s: %v", out, err)
				}
				asked++
			case "orrery":
				out, errs, code := inProcess(t, split(t, command)[1:]...)
				if code != exit.Done {
					t.Fatalf("%s: exit code %d\n%s%s", command, code, out, errs)
				}
				ran++
				if strings.Contains(command, " imports ") {
					lists += out
				}
				if strings.Contains(command, " key create ") {
					key = strings.TrimSpace(out)
					s = startServer(t, data, "--watch", "--no-demo")
					t.Setenv("ORRERY_LISTEN", strings.TrimPrefix(s.base, "http://"))
				}
			}
		}
	}
	if ran != 14 || asked != 1 {
		t.Errorf("%d commands and %d requests were found on the page", ran, asked)
	}
	if strings.Count(lists, "shop-access.log") != 3 {
		t.Errorf("the data folder and the restored one do not have the log:\n%s", lists)
	}
}
