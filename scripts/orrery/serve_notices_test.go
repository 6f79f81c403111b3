package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
)

// logLine is a line of the log of a server.
type logLine struct {
	Time       time.Time
	Level, Msg string
	Error      string
}

// logLines reads a log, in which each line is JSON.
func logLines(t *testing.T, text string) (lines []logLine) {
	t.Helper()
	for line := range strings.Lines(text) {
		var l logLine
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.Time.IsZero() || l.Level == "" || l.Msg == "" {
			t.Errorf("a line of another format, %v: %s", err, line)
		}
		lines = append(lines, l)
	}
	return lines
}

// TestServeLogHasOneFormat: without a terminal, every line of standard error is of the log, from the first one on.
func TestServeLogHasOneFormat(t *testing.T) {
	data, logs := t.TempDir(), t.TempDir()
	config := fmt.Sprintf("[source.a]\nfolder = %q\n[source.b]\nfolder = %[1]q\n", logs)
	for path, content := range map[string]string{filepath.Join(data, "orrery.toml"): config, filepath.Join(logs, "a.log"): ""} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const secret = "sixteen--letters"
	s := startServer(t, data, "--listen", "0.0.0.0:0", "--api-key", secret, "--watch", "--metrics-listen", ":0")
	if status, body := s.get("/api/v4.0/status", nil); status != http.StatusUnauthorized {
		t.Errorf("%d: %s", status, body)
	}
	if err := s.interrupt(); err != nil {
		t.Error(err)
	}
	var got []string
	for _, line := range logLines(t, s.log.String()) {
		got = append(got, line.Level+" "+line.Msg)
	}
	for _, want := range []string{
		"WARN requests and their keys are not encrypted", "WARN several sources have the same files",
		"INFO there is no data, so a demo is generated, which the first import removes", "INFO serving metrics", "INFO serving",
		"INFO request", "INFO stopping: waiting for running requests",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no line is %q:\n%s", want, s.log.String())
		}
	}
	if strings.Contains(s.log.String(), secret) {
		t.Errorf("the log has the key:\n%s", s.log.String())
	}
}

// TestServeLogsWhyItEnds: the error with which a server ends is a line of the log, too, and no other line repeats it.
func TestServeLogsWhyItEnds(t *testing.T) {
	s := startServer(t, t.TempDir(), "--no-demo")
	used := strings.TrimPrefix(s.base, "http://")
	for _, test := range []struct {
		rule string
		args []string
		code int
		want string
	}{
		{"an address in use", []string{"--listen", used}, exit.Failed, "address already in use (choose another with --listen)"},
		{"a flag of the command", []string{"--public-url", "ftp://a"}, exit.Usage, "--public-url: "},
	} {
		t.Run(test.rule, func(t *testing.T) {
			_, stderr, code := orrery(t, "", append([]string{"serve", "--no-demo", "--data", t.TempDir()}, test.args...)...)
			lines := logLines(t, stderr)
			if code != test.code || len(lines) != 1 || lines[0].Level != "ERROR" || !strings.Contains(lines[0].Error, test.want) ||
				strings.HasPrefix(lines[0].Error, "orrery") {
				t.Errorf("exit %d: %s", code, stderr)
			}
		})
	}
	if err := s.interrupt(); err != nil {
		t.Error(err)
	}
}
