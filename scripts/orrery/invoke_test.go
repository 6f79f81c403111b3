package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
)

// TestInvoke builds functions and runs their programs.
func TestInvoke(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a function")
	}
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	event := file("event.json", `{"httpMethod":"GET","path":"/api/v4.0/data/log",`+
		`"requestContext":{"requestId":"c6af9ac6-7b61-11e6"}}`)
	tests := map[string]struct {
		args           []string
		stdin          string
		code           int
		stdout, stderr string // substrings
	}{
		"the answer goes to standard output": {
			args: []string{"not-found", event}, code: exit.Done,
			stdout: `"statusCode": 404`, stderr: `"request_id":"c6af9ac6-7b61-11e6"`,
		},
		"-e sets a variable": {
			args: []string{"not-found", "-", "-e", "ORRERY_VERSION=7.8.9"}, stdin: `{"doctor":true}`, code: exit.Done,
			stdout: `"version": "7.8.9"`, stderr: "ms after it was started",
		},
		"a failed function sets the exit code": {
			args: []string{"not-found", "-"}, stdin: `{}`, code: exit.Failed,
			stdout: `"errorMessage": "the event is not a request`, stderr: "the error is above",
		},
		"a function that does not start fails": {
			args: []string{"topx", event, "-e", "ORRERY_TABLE="}, code: exit.Failed,
			stderr: "\n  ORRERY_WORKGROUP: the Athena workgroup that queries run in, such as orrery-interactive\n" +
				"Set a variable with -e NAME=VALUE",
		},
		"the error names a missing variable": {
			args: []string{"parse", event, "-e", "ORRERY_TABLE=", "-e", "ORRERY_VERSION=1"}, code: exit.Failed,
			stderr: `"level":"ERROR","msg":"function parse`,
		},
		"an unknown function is a usage error": {
			args: []string{"top", event}, code: exit.Usage,
			stderr: "use one of topx, stats",
		},
		"an event must be JSON": {
			args: []string{"topx", "-"}, stdin: `{`, code: exit.Failed,
			stderr: "not JSON",
		},
		"a missing program is an error": {
			args: []string{"topx", event, "--bootstrap", filepath.Join(folder, "none")}, code: exit.Failed,
			stderr: "none",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, code := orrery(t, test.stdin, append([]string{"invoke"}, test.args...)...)
			if code != test.code || !strings.Contains(stdout, test.stdout) || !strings.Contains(stderr, test.stderr) {
				t.Errorf("exit %d\nstdout %s\nstderr %s", code, stdout, stderr)
			}
		})
	}
}

// TestInvokeUsesATemporaryFolder checks that a function has its own temporary folder, which is removed afterwards.
func TestInvokeUsesATemporaryFolder(t *testing.T) {
	buildBinary(t)
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	bootstrap := filepath.Join(t.TempDir(), "bootstrap")
	program := "#!/bin/sh\ntouch \"$TMPDIR/spool\" && echo \"in $TMPDIR\"\n"
	if err := os.WriteFile(bootstrap, []byte(program), 0o700); err != nil {
		t.Fatal(err)
	}
	_, stderr, _ := orrery(t, "{}", "invoke", "ingest", "-", "--bootstrap", bootstrap)
	if !strings.Contains(stderr, "in "+filepath.Join(folder, "orrery-invoke-")) {
		t.Error(stderr)
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}
