package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInvoke builds a function and runs its real program.
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
	event := file("event.json", `{"httpMethod":"GET","path":"/api/v4.0/data/log","requestContext":{"requestId":"c6af9ac6-7b61-11e6"}}`)
	tests := map[string]struct {
		args           []string
		stdin          string
		code           int
		stdout, stderr string // substrings
	}{
		"an answer goes to standard output":    {[]string{"not-found", event}, "", exitDone, `"statusCode": 404`, `"request_id":"c6af9ac6-7b61-11e6"`},
		"variables can be given":               {[]string{"not-found", "-", "-e", "ORRERY_VERSION=7.8.9"}, `{"doctor":true}`, exitDone, `"version": "7.8.9"`, "ms after it was started"},
		"a failure is the exit code":           {[]string{"not-found", "-"}, `{}`, exitFailed, `"errorMessage": "the event is not a request`, "its error is above"},
		"a function that does not begin fails": {[]string{"topx", event, "-e", "ORRERY_TABLE="}, "", exitFailed, "", "\n  ORRERY_WORKGROUP: the Athena workgroup that queries run in, such as orrery-interactive\nSet a variable with -e NAME=VALUE"},
		"a wrong variable is named":            {[]string{"parse", event, "-e", "ORRERY_TABLE=", "-e", "ORRERY_VERSION=1"}, "", exitFailed, "", `"level":"ERROR","msg":"function parse`},
		"an unknown function is usage":         {[]string{"top", event}, "", exitUsage, "", "there are topx, stats"},
		"an event must be JSON":                {[]string{"topx", "-"}, `{`, exitFailed, "", "no JSON"},
		"a program must be there":              {[]string{"topx", event, "--bootstrap", filepath.Join(folder, "none")}, "", exitFailed, "", "none"},
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

// TestInvokedFunctionsHaveATemporaryFolderOfTheirOwn asks one where it is, and looks that it goes with the function.
func TestInvokedFunctionsHaveATemporaryFolderOfTheirOwn(t *testing.T) {
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
