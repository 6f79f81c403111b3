package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRestOfALineIsFound(t *testing.T) {
	log, data := filepath.Join(t.TempDir(), "access.log"), t.TempDir()
	const line = `203.0.113.7 - - [17/May/2026:10:05:03 +0000] "GET / HTTP/1.1" 200 1 "-" "-" ` + `cache=`
	if err := os.WriteFile(log, []byte(line+"hit\n"+line+"miss\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := orrery(t, "", "import", "--data", data, log); code != exitDone {
		t.Fatal(stderr)
	}
	for _, filter := range []string{`proxy["log_rest"]="cache=miss"`, `proxy~"miss"`} {
		stdout, stderr, _ := orrery(t, "", "query", "logs", "--data", data, "--format", "ndjson", "--fields", "proxy",
			"timestamp between 2026-05-17 and 2026-05-18, "+filter)
		if strings.Count(stdout, "\n") != 1 || !strings.Contains(stdout, "cache=miss") {
			t.Errorf("%s: %s%s", filter, stdout, stderr)
		}
	}
}
