package main

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/answers"
)

// programBlock is a program of a page, without its language.
var programBlock = regexp.MustCompile("(?ms)^```(sh|python|go)\n(.*?)^```$")

// TestProgramsOfTheGuide runs the programs that the guide to the API shows, against a server that requires a key.
func TestProgramsOfTheGuide(t *testing.T) {
	page, err := os.ReadFile("../../shared/api/README.md")
	if err != nil {
		t.Fatal(err)
	}
	programs, requests := map[string]string{}, []string{}
	for _, block := range programBlock.FindAllStringSubmatch(string(page), -1) {
		switch {
		case block[1] != "sh":
			programs[block[1]] = block[2]
		case strings.HasPrefix(block[2], "curl "):
			requests = append(requests, block[2])
		}
	}
	if len(programs) != 2 || len(requests) != 2 {
		t.Fatalf("%d programs and %d requests, want one program each in Python and Go, and two requests of curl",
			len(programs), len(requests))
	}
	s := startServer(t, tourData(t), "--no-demo", "--api-key", "a key of the test")
	shown := func(t *testing.T, name string, arguments ...string) string {
		t.Helper()
		return outputOf(t, s, "a key of the test", name, arguments...)
	}
	t.Run("curl prints the ten addresses with the most blocked requests", func(t *testing.T) {
		var a answers.Answer
		out := shown(t, "sh", "-c", requests[0])
		if err := json.Unmarshal([]byte(out), &a); err != nil || len(a.Data.Results) != 1 {
			t.Fatalf("%.200s: %v", out, err)
		}
		var found struct {
			Values []struct {
				Value   string `json:"value"`
				Blocked int    `json:"num_of_blocked_requests"`
			} `json:"values"`
		}
		if err := json.Unmarshal(a.Data.Results[0], &found); err != nil || len(found.Values) != 10 {
			t.Fatalf("%.200s: %v", out, err)
		}
		for i, v := range found.Values {
			if net.ParseIP(v.Value) == nil || v.Blocked == 0 || i > 0 && v.Blocked > found.Values[i-1].Blocked {
				t.Errorf("place %d: %+v", i+1, v)
			}
		}
	})
	t.Run("curl asks about yesterday", func(t *testing.T) {
		var a answers.Answer
		out := shown(t, "sh", "-c", requests[1])
		if err := json.Unmarshal([]byte(out), &a); err != nil || len(a.Data.Results) != 1 {
			t.Fatalf("%.200s: %v", out, err)
		}
		berlin, err := time.LoadLocation("Europe/Berlin")
		if err != nil {
			t.Fatal(err)
		}
		from, err := time.Parse(time.RFC3339, a.Meta.Period.From)
		if err != nil {
			t.Fatal(err)
		}
		to := from.In(berlin).AddDate(0, 0, 1).UTC().Format(time.RFC3339)
		if from.In(berlin).Format(time.TimeOnly) != "00:00:00" || a.Meta.Period.To != to {
			t.Errorf("the period is %v", a.Meta.Period)
		}
	})
	t.Run("the program in Python prints all records", func(t *testing.T) {
		out := shown(t, "python3", "-c", programs["python"], tourDay)
		records := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		if len(records) != 3000 {
			t.Errorf("%d records, want 3000", len(records))
		}
		for _, r := range records {
			if !json.Valid([]byte(r)) {
				t.Fatalf("not JSON: %s", r)
			}
		}
	})
	t.Run("the program in Go is that of the example", func(t *testing.T) {
		example, err := os.ReadFile("../../shared/client/example_test.go")
		if err != nil {
			t.Fatal(err)
		}
		indented := regexp.MustCompile(`(?m)^(.)`).ReplaceAllString(programs["go"], "\t$1")
		if !strings.Contains(string(example), indented) {
			t.Errorf("the example has no such program:\n%s", indented)
		}
	})
}

// outputOf runs a program of a page, which asks a server with a key, and returns what it prints.
func outputOf(t *testing.T, s *server, key, name string, arguments ...string) string {
	t.Helper()
	_, err := exec.LookPath(name)
	switch {
	case err != nil && os.Getenv("CI") == "true":
		t.Fatalf("CI runs the program, so it needs %s", name)
	case err != nil:
		t.Skipf("%s is missing", name)
	}
	command := exec.CommandContext(t.Context(), name, arguments...)
	command.Env = append(os.Environ(), "ORRERY_URL="+s.base, "ORRERY_API_KEY="+key)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v: %.200s", name, err, out)
	}
	return string(out)
}
