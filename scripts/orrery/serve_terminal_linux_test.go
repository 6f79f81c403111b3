package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/answers"
)

// TestServeDemo starts a server over an empty folder on a terminal. It checks that the server generates a demo, and runs
// the three commands that it prints in a shell.
func TestServeDemo(t *testing.T) {
	for _, tool := range []string{"sh", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is missing", tool)
		}
	}
	person, program := newTerminal(t)
	command := serveProgram(buildBinary(t), filepath.Join(t.TempDir(), "data"))
	command.Stderr = program
	s := started(t, command, person)
	if err := program.Close(); err != nil { // the server has its own
		t.Fatal(err)
	}
	if err := s.waitFor("server errors over time"); err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^  curl .*$`).FindAllString(s.log.String(), -1)
	if len(commands) != 3 {
		t.Fatalf("%d commands to try, want 3:\n%s", len(commands), s.log.String())
	}
	for _, command := range commands {
		out, err := exec.Command("sh", "-c", command).Output()
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		var a answers.Answer
		if err := json.Unmarshal(out, &a); err != nil || len(a.Data.Results) == 0 {
			t.Errorf("%s answered %.200s", command, out)
		}
	}
	if err := s.interrupt(); err != nil {
		t.Errorf("serve ended with %v", err)
	}
	for _, sentence := range []string{"there is no data in ", "Orrery answers on ", "stopping: waiting for running requests"} {
		if !strings.Contains(s.log.String(), sentence) {
			t.Errorf("nothing says %q:\n%s", sentence, s.log.String())
		}
	}
}
