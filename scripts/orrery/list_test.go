package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
)

// TestLists writes a list, asks with it, reads an earlier version, and deletes it.
func TestLists(t *testing.T) {
	data := tourData(t)
	file := filepath.Join(t.TempDir(), "list.txt")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	must := func(args ...string) (stdout, stderr string) {
		t.Helper()
		stdout, stderr, code := orrery(t, "", append(args, "--data", data)...)
		if code != exit.Done {
			t.Fatalf("%s: exit code %d, %s", strings.Join(args, " "), code, stderr)
		}
		return stdout, stderr
	}
	count := func(condition string) int {
		t.Helper()
		stdout, _ := must("query", "logs", "--limit", "2500", "--format", "ndjson", "--fields", "country", tourDay+", "+condition)
		return strings.Count(stdout, "\n")
	}
	write("# ours\nGermany\n\nFrance\nGermany\n")
	if _, stderr := must("list", "put", "ours", file); !strings.Contains(stderr, "ours has 2 values (texts), version 1\nETag: \"1-") {
		t.Error(stderr)
	}
	want := count(`country in (Germany, France)`)
	if got := count("country in @ours"); got != want || want == 0 {
		t.Errorf("%d records, want %d", got, want)
	}
	write("Brazil")
	must("list", "put", "ours", file)
	if got, want := count("country in @ours"), count("country=Brazil"); got != want || want == 0 {
		t.Errorf("%d records of the new version, want %d", got, want)
	}
	if got := count("country in @ours:1"); got != want {
		t.Errorf("%d records of version 1, want %d", got, want)
	}
	if stdout, _ := must("list", "get", "ours", "--version", "1"); stdout != "France\nGermany\n" {
		t.Errorf("%q", stdout)
	}
	if stdout, _ := must("list", "list"); !strings.Contains(stdout, "ours  texts  1       2\n") {
		t.Error(stdout)
	}
	if stdout, _ := must("list", "versions", "ours"); strings.Count(stdout, "\n") != 3 {
		t.Error(stdout)
	}
	must("list", "delete", "ours")
	write("a\tb\n")
	for name, args := range map[string][]string{
		"a list that is deleted": {"query", "logs", tourDay + ", country in @ours"},
		"a control character":    {"list", "put", "ours", file},
		"a file that is missing": {"list", "put", "ours", file + "x"},
		"a name":                 {"list", "put", "Ours", file},
	} {
		if _, stderr, code := orrery(t, "", append(args, "--data", data)...); code == exit.Done || stderr == "" {
			t.Errorf("%s: %d %s", name, code, stderr)
		}
	}
}

// TestPlacesOfUnknownLists: answers that need several questions name the text of the request that names a list wrongly.
func TestPlacesOfUnknownLists(t *testing.T) {
	data := tourData(t)
	file := filepath.Join(t.TempDir(), "list.txt")
	if err := os.WriteFile(file, []byte("Germany"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := orrery(t, "", "list", "put", "ours", file, "--data", data); code != exit.Done {
		t.Fatal(stderr)
	}
	const unknown = `there is no list of values "none"`
	const ofRule = "orrery: rule: conditions of the rule: "
	const inText = "country in @none, " + tourDay
	const inJSON = `{"AND":[{"field":"timestamp","op":"between","value":["2026-11-20","2026-11-21"]},` +
		`{"field":"country","op":"in","list":"none"}]}`
	ofJSON := fmt.Sprintf("column %d: %s", strings.Index(inJSON, `"none"`)+1, unknown)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"whatif", "block where country in @none", tourDay}, ofRule + unknown},
		{[]string{"whatif", "block where country in @none", tourDay, "--dry-run"}, ofRule + unknown},
		{
			[]string{"whatif", `block where path="/"`, "--rule", "limit 5 per 1m by ip where country in @none", tourDay},
			"orrery: rules[1]: conditions of the rule: " + unknown,
		},
		{[]string{"whatif", "block where ip in @ours", tourDay}, ofRule + `field "ip" needs a list`},
		{
			[]string{"whatif", "block where ip in @ours", "country in @ours, " + tourDay},
			ofRule + `field "ip" needs a list`,
		},
		{[]string{"whatif", "limit 5 per 1m by ip", tourDay, "--attack", "country in @none"}, unknown},
		{[]string{"whatif", "limit 5 per 1m by ip", inText}, "column 12: " + unknown},
		{[]string{"incidents", inText}, "column 12: " + unknown},
		{[]string{"incidents", inText, "--dry-run"}, "column 12: " + unknown},
		{[]string{"effect", "2026-11-20 12:00", "country in @none"}, "column 12: " + unknown},
		{[]string{"report", "run", inText}, "orrery: ask the questions of a report: " + unknown},
		{[]string{"incidents", inJSON}, ofJSON},
		{[]string{"whatif", "limit 5 per 1m by ip", inJSON}, ofJSON},
	} {
		_, stderr, code := orrery(t, "", append(c.args, "--data", data)...)
		if code == exit.Done || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit code %d, %s", strings.Join(c.args, " "), code, stderr)
		}
	}
}

// TestPublishedLists: lists are read from public addresses only, by the command and by a server.
func TestPublishedLists(t *testing.T) {
	data := t.TempDir()
	const private = "https://127.0.0.1:1/tor.txt"
	_, stderr, code := orrery(t, "", "list", "put", "tor", private, "--data", data)
	if want := "read the values from the URL: its host does not have a public address"; code != exit.Failed || !strings.Contains(stderr, want) {
		t.Errorf("list put: exit code %d, %s", code, stderr)
	}
	configure := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(data, "orrery.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	configure("[list.tor]\nurl = \"http://lists.example/tor.txt\"\n")
	_, stderr, code = orrery(t, "", "serve", "--data", data, "--no-demo", "--listen", "127.0.0.1:0")
	if code != exit.Failed || !strings.Contains(stderr, "list.tor.url: it must begin with https://") {
		t.Errorf("serve: exit code %d, %s", code, stderr)
	}
	configure("[list.tor]\nurl = \"" + private + "\"\n")
	s := startServer(t, data, "--no-demo")
	wanted := func(text string) bool {
		return strings.Contains(text, "was not refreshed") && strings.Contains(text, `"list":"tor","error":"its host does not have a public address"`)
	}
	found := wanted(s.log.String())
	for !found {
		line, open := <-s.lines
		if !open {
			t.Fatalf("the server ended without a warning:\n%s", s.log.String())
		}
		s.log.WriteString(line + "\n")
		found = wanted(line)
	}
	if err := s.interrupt(); err != nil {
		t.Error(err)
	}
}
