package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// accessLog writes a log of n lines, one a minute, to a file and returns its path.
func accessLog(t *testing.T, name string, first, n int) string {
	t.Helper()
	var b strings.Builder
	for i := first; i < first+n; i++ {
		fmt.Fprintf(&b, `192.0.2.7 - - [17/May/2026:%02d:%02d:03 +0000] "GET /%d HTTP/1.1" 200 51234`+"\n", i/60, i%60, i)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// listed returns what orrery imports lists.
func listed(t *testing.T, data string, flags ...string) []importRow {
	t.Helper()
	stdout, stderr, code := orrery(t, "", append([]string{"imports", "--data", data, "--format", "json"}, flags...)...)
	var rows []importRow
	if err := json.Unmarshal([]byte(stdout), &rows); code != exitDone || err != nil {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	return rows
}

// TestForgetAndImportAnew takes the records of an import out of the data and imports its log with other settings.
func TestForgetAndImportAnew(t *testing.T) {
	data, log := t.TempDir(), accessLog(t, "access.log", 0, 100)
	step := func(name, stdout, stderr string, wanted int, args ...string) {
		t.Helper()
		out, problems, code := orrery(t, "", append([]string{args[0], "--data", data}, args[1:]...)...)
		if code != wanted || !strings.Contains(out, stdout) || !strings.Contains(problems, stderr) {
			t.Errorf("%s: exit %d\n%s%s", name, code, out, problems)
		}
	}
	step("the first import", "100 records", "", exitDone, "import", log)
	rows := listed(t, data)
	if len(rows) != 1 || rows[0].Name != "access.log" || rows[0].Format != "combined" && rows[0].Format != "common" ||
		rows[0].Records != 100 || rows[0].From.Format("15:04:05") != "00:00:03" {
		t.Fatalf("%+v", rows)
	}
	id := rows[0].ID
	step("a second import with a value", "0 records", "run orrery forget --data "+data+" "+id, exitDone,
		"import", "--set", "host=blog.example", log)
	step("an unknown import", "", `there is no import "x"`, exitFailed, "forget", "x")
	step("the beginning of an ID", "forgot "+id+" (access.log): 100 records in 2 partitions", "", exitDone, "forget", id[:6])
	step("forgotten already", id+" (access.log) was forgotten at", "", exitDone, "forget", id)
	if rows := listed(t, data); len(rows) != 0 {
		t.Errorf("%+v", rows)
	}
	step("the import with a value", "100 records", "", exitDone, "import", "--set", "host=blog.example", log)
	step("the same import again", "0 records", "", exitDone, "import", "--set", "host=blog.example", log)
	rows = listed(t, data, "--all")
	if len(rows) != 2 || rows[0].Forgotten == nil || rows[1].Forgotten != nil || rows[1].Set[0] != "host=blog.example" {
		t.Errorf("%+v", rows)
	}
	out, _, _ := orrery(t, "", "query", "logs", "timestamp between 2026-05-17 and 2026-05-18", "--data", data,
		"--limit", "1000", "--format", "ndjson", "--fields", "host")
	if strings.Count(out, `"blog.example"`) != 100 {
		t.Errorf("%d records have the host", strings.Count(out, `"blog.example"`))
	}
	step("a table", "id ", "", exitDone, "imports")
}

// TestImportDoubts: an import that is probably a mistake exits with 4 and imports nothing.
func TestImportDoubts(t *testing.T) {
	data, log := t.TempDir(), accessLog(t, "access.log", 0, 100)
	tail := accessLog(t, "tail.log", 60, 40)
	for _, step := range []struct {
		name           string
		args           []string
		code           int
		stdout, stderr string
	}{
		{"a wrong format", []string{"--format", "orrery", log}, exitDoubt, "", "nothing was imported. Line 1: "},
		{"the right one", []string{log}, exitDone, "100 records", ""},
		{"a part of the log", []string{tail}, exitDoubt, "", "40 of the first 40 records are in the data already"},
		{"the part, anyway", []string{"--anyway", tail}, exitDone, "40 of the first 40 records were in the data", ""},
		{"a part without time to judge", []string{accessLog(t, "few.log", 60, 3)}, exitDone, "3 records", ""},
	} {
		stdout, stderr, code := orrery(t, "", append([]string{"import", "--data", data}, step.args...)...)
		if code != step.code || !strings.Contains(stdout, step.stdout) || !strings.Contains(stderr, step.stderr) {
			t.Errorf("%s: exit %d\n%s%s", step.name, code, stdout, stderr)
		}
	}
	if files, err := filepath.Glob(filepath.Join(data, "quarantine", "*")); err != nil || len(files) > 0 {
		t.Errorf("in quarantine: %v, %v", files, err)
	}
	if rows := listed(t, data); len(rows) != 3 {
		t.Errorf("%+v", rows)
	}
}

// TestQuarantineCommand lists rejected lines and imports them again.
func TestQuarantineCommand(t *testing.T) {
	data, log := t.TempDir(), filepath.Join(t.TempDir(), "mixed.log")
	text := `{"timestamp":"2026-05-17T10:00:00Z"}` + "\n" +
		`192.0.2.7 - - [17/May/2026:10:05:03 +0000] "GET / HTTP/1.1" 200 5` + "\n" + "tab\there\n"
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := orrery(t, "", "import", "--data", data, "--format", "orrery", log); code != exitRejected {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	stdout, _, code := orrery(t, "", "quarantine", "--data", data)
	if code != exitDone || !strings.Contains(stdout, "mixed.log  bad_json  2      2     192.0.2.7 - - [17/May") {
		t.Errorf("exit %d\n%s", code, stdout)
	}
	id := listed(t, data)[0].ID
	stdout, stderr, code := orrery(t, "", "quarantine", "--data", data, "--import", id, "--format", "combined")
	if code != exitDone || stdout != id+": 1 lines are records now, 1 are still rejected\n" {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	stdout, _, code = orrery(t, "", "quarantine", "--data", data)
	if code != exitDone || !strings.Contains(stdout, `bad_line  1      3     tab\u{9}here`) {
		t.Errorf("exit %d\n%s", code, stdout)
	}
	var rows []rejectedRow
	stdout, _, _ = orrery(t, "", "quarantine", "--data", data, "--json")
	if err := json.Unmarshal([]byte(stdout), &rows); err != nil || len(rows) != 1 || rows[0].Example != "tab\there" {
		t.Errorf("%v\n%s", err, stdout)
	}
}
