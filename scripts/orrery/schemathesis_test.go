package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/shared/keys"
)

// TestSchemathesis sends thousands of requests that the OpenAPI document allows or forbids to the real server, and
// checks that it answers all of them as the document describes. The requests are the same in every run, also without a
// seed, because their generation is deterministic. scripts/tools/schemathesis.toml has the numbers of examples, which
// take one or two minutes, and the exceptions with their reasons.
func TestSchemathesis(t *testing.T) {
	program := os.Getenv("ORRERY_SCHEMATHESIS")
	if program == "" {
		t.Skip("set ORRERY_SCHEMATHESIS to the path of Schemathesis, which scripts/tools/schemathesis.sh prints")
	}
	settings, err := filepath.Abs(filepath.Join("..", "tools", "schemathesis.toml"))
	if err != nil {
		t.Fatal(err)
	}
	data := tourData(t)
	var scopes []string
	for _, scope := range keys.Scopes() {
		scopes = append(scopes, string(scope))
	}
	key, stderr, code := orrery(t, "", "key", "create", "tester", "--data", data, "--scope", strings.Join(scopes, ","))
	if code != exit.Done {
		t.Fatalf("key create exited %d: %s", code, stderr)
	}
	s := startServer(t, data, "--no-demo")
	logged := make(chan []string)
	go func() { // the server waits if its log is not read
		var errors []string
		for line := range s.lines {
			if strings.Contains(line, `"level":"ERROR"`) {
				errors = append(errors, line)
			}
		}
		logged <- errors
	}()
	command := exec.CommandContext(t.Context(), program, "--config-file", settings, "run", s.base+"/openapi.json",
		"--header", "Authorization: Bearer "+strings.TrimSpace(key), "--checks", "all", "--continue-on-failure",
		"--no-color")
	command.Dir, command.Env = t.TempDir(), environment()
	output, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, output)
	}
	summary := string(output)
	if i := strings.LastIndex(summary, " SUMMARY "); i >= 0 {
		t.Logf("%s", summary[i:])
	} else {
		t.Errorf("Schemathesis has printed no summary:\n%s", output)
	}
	if err := s.command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for _, line := range <-logged {
		t.Errorf("the server has failed: %s", line)
	}
}
