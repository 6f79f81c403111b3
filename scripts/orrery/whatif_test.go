package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatIfOfAFolder: the command passes its rule, from an argument or a file, its flags and a filter to the API, and every
// format has the same outcome.
func TestWhatIfOfAFolder(t *testing.T) {
	data := t.TempDir()
	if _, stderr, code := inProcess(t, "generate", "--data", data, "--records", "3000", "--from", "2026-01-05", "--to", "2026-01-06"); code != 0 {
		t.Fatal(stderr)
	}
	file := filepath.Join(data, "rule.json")
	if err := os.WriteFile(file, []byte(`{"name":"Each address","threshold":1,"timeframe":600,"key":[{"attrs":"ip"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	const filter = "timestamp between 2026-01-05 and 2026-01-06, method=GET"
	outcome := func(args ...string) (sentence string, curve int) {
		t.Helper()
		stdout, stderr, code := inProcess(t, append([]string{"whatif", "--data", data, "--format", "json"}, args...)...)
		var got struct {
			Data struct {
				Results []struct {
					Sentence         string
					NumOfNewRequests int `json:"num_of_new_requests"`
					Curve            []any
				}
			}
		}
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 0 || got.Data.Results[0].NumOfNewRequests == 0 {
			t.Fatalf("%d %v %s%s", code, err, stdout, stderr)
		}
		return got.Data.Results[0].Sentence, len(got.Data.Results[0].Curve)
	}
	sentence, curve := outcome("@"+file, filter)
	if same, _ := outcome("limit 1 per 10m by ip", filter); same != sentence || curve < 2 {
		t.Errorf("%s, from the file %s with %d points", same, sentence, curve)
	}
	for _, format := range []string{"table", "csv"} {
		stdout, stderr, code := inProcess(t, "whatif", "--data", data, "--format", format, "@"+file, filter)
		if code != 0 || !strings.Contains(strings.Join(strings.Fields(stdout), " "), sentence) {
			t.Errorf("%s: %d %s%s lacks %s", format, code, stdout, stderr, sentence)
		}
		for line := range strings.Lines(stdout) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); format == "table" && n > 100 {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
	stdout, stderr, code := inProcess(t, "whatif", "--data", data, "--format", "table", "--attack", `path="/login"`,
		"@"+file, filter)
	if code != 0 || !strings.Contains(stdout, "of humans  attack  others") || !strings.Contains(stdout, "% of the attack and ") {
		t.Errorf("an attack: %d %s%s", code, stdout, stderr)
	}
	for form, want := range map[string]string{
		"json": `"threshold": 1`, "terraform": `resource "link11waap_rate_limit_rule" "each_address" {`,
		"curl": "/rate-limit-rules/each-address",
	} {
		stdout, stderr, code := inProcess(t, "whatif", "--data", data, "--as", form, "@"+file, filter)
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("as %s: %d %s%s", form, code, stdout, stderr)
		}
	}
	stdout, stderr, code = inProcess(t, "whatif", "--data", data, "--as", "terraform",
		"limit 1 per 10m by ip where path=/", filter)
	if code != 0 || strings.Count(stdout, "\n\nresource ") != 1 {
		t.Errorf("a limit with conditions: %d %s%s", code, stdout, stderr)
	}
	for name, conditions := range map[string]string{"login": `path="/login"`, "posts": "method=POST"} {
		if _, stderr, code := inProcess(t, "filter", "put", "--data", data, name, conditions); code != 0 {
			t.Fatal(stderr)
		}
	}
	const day = "timestamp between 2026-01-05 and 2026-01-06"
	for rule, same := range map[string]string{
		"block where @login":                           `block where path="/login"`,
		"block where @login, @posts":                   `block where path="/login", method=POST`,
		"block where @login , not country=\"Germany\"": `block where path="/login", not country="Germany"`,
		"limit 1 per 1d by ip where @login":            `limit 1 per 1d by ip where path="/login"`,
	} {
		if got, _ := outcome(rule, day); got == "" {
			t.Errorf("%s does nothing", rule)
		} else if want, _ := outcome(same, day); got != want {
			t.Errorf("%s: %s, want %s", rule, got, want)
		}
	}
	together := []string{"whatif", "--data", data, "limit 1 per 10m by ip where tags=home", "--rule",
		`monitor tag home where path="/"`, "--rule", `block where path="/login", method="GET"`, filter}
	stdout, stderr, code = inProcess(t, append(together, "--format", "table")...)
	at := -1
	for _, want := range []string{
		"all rules\nThe rules would have", "\n\nhost", "\nmonitor tag home where path=\"/\"\nThe rule would have monitored",
		"\nblock where path=\"/login\", method=\"GET\"\nThe rule would have blocked", "\nlimit 1 per 10m by ip where tags=\"home\"\n",
		"\n\nWhat clients would have done",
	} {
		next := strings.Index(stdout, want)
		if next <= at || code != 0 {
			t.Errorf("rules together: %d %s%s lacks %q after what precedes it", code, stdout, stderr, want)
		}
		at = next
	}
	stdout, stderr, code = inProcess(t, append(together, "--format", "csv")...)
	if lines := strings.Count(stdout, "\n"); code != 0 || lines < 5 || !strings.Contains(stdout, "\nall rules,") {
		t.Errorf("rules together as CSV: %d %s%s", code, stdout, stderr)
	}
	stdout, stderr, code = inProcess(t, append(together, "--as", "terraform")...)
	if code != 0 || strings.Count(stdout, "\n\nresource ") != 2 {
		t.Errorf("rules together as Terraform: %d %s%s", code, stdout, stderr)
	}
	if stdout, stderr, code := inProcess(t, "whatif", "--data", data, "--dry-run", "@"+file, filter); code != 0 || !strings.Contains(stdout, "bytes") {
		t.Errorf("%d %s%s", code, stdout, stderr)
	}
	for _, wrong := range [][]string{
		{}, {"limit 1 per 10m by ip"}, {"limit 1 by ip", filter}, {"@none.json", filter}, {"block where @none", filter}, {"block where hots=a", filter},
		{"limit 1 per 10m by tags", filter}, {"limit 1 per 10m by ip", filter, "--dry-run", "--format", "csv"},
		{"block where status=404", filter, "--as", "json"}, {"block where path=/", filter, "--as", "json", "--format", "csv"},
		{"block where path=/", filter, "--attack", "path=/"}, {"block where path=/", filter, "--rule", "limit 1 by ip"}, {"limit 1 per 10m by ip", filter, "--attack", "hots=a"},
	} {
		if _, stderr, code := inProcess(t, append([]string{"whatif", "--data", data}, wrong...)...); code == 0 || stderr == "" {
			t.Errorf("%q: %d %s", wrong, code, stderr)
		}
	}
}
