package main

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/shared/geoip/geoiptest"
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
	if err := json.Unmarshal([]byte(stdout), &rows); code != exit.Done || err != nil {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	return rows
}

// TestImportInZone: the zone is recorded with the format of a log, and is no part of its identity.
func TestImportInZone(t *testing.T) {
	data := t.TempDir()
	const line = `203.0.113.7:33317 [17/May/2026:%s.655] in a/b 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 "GET / HTTP/1.1"`
	log := filepath.Join(t.TempDir(), "haproxy.log")
	write := func(clocks ...string) {
		t.Helper()
		var text string
		for _, clock := range clocks {
			text += fmt.Sprintf(line, clock) + "\n"
		}
		if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	step := func(name, stdout, stderr string, wanted int, args ...string) {
		t.Helper()
		out, problems, code := inProcess(t, append([]string{"import", "--data", data}, args...)...)
		if code != wanted || !strings.Contains(out, stdout) || !strings.Contains(problems, stderr) {
			t.Errorf("%s: exit %d\n%s%s", name, code, out, problems)
		}
	}
	write("10:05:03")
	step("an unknown zone", "", `did you mean "Europe/Berlin"?`, exit.Failed, "--zone", "Europe/Berln", log)
	step("the first import", "1 record, 0 rejected", "", exit.Done, "--zone", "Europe/Berlin", log)
	write("10:05:03", "11:05:03")
	step("the grown log without the flag", "haproxy-http, Europe/Berlin); 1 line imported before", "", exit.Done, log)
	step("the same zone again", "0 records", "", exit.Done, "--zone", "Europe/Berlin", log)
	step("another zone", "0 records", "there already, imported as format haproxy-http, Europe/Berlin", exit.Done,
		"--zone", "Asia/Kolkata", log)
	rows := listed(t, data)
	if len(rows) != 1 || rows[0].Records != 2 || rows[0].From.Format(time.TimeOnly) != "08:05:03" ||
		rows[0].To.Format(time.TimeOnly) != "09:05:03" {
		t.Errorf("%+v", rows)
	}
}

// TestImportNamesColumns: the import of lines with columns after the format combined prints flags that keep them.
func TestImportNamesColumns(t *testing.T) {
	data := t.TempDir()
	log := filepath.Join(t.TempDir(), "access.log")
	line := `192.0.2.7 - - [17/May/2026:10:05:03 +0000] "GET / HTTP/1.1" 200 5 "-" "curl/8" 125034` + "\n"
	if err := os.WriteFile(log, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr, code := inProcess(t, "import", "--data", data, log)
	_, flag, found := strings.Cut(stderr, "--log-format '")
	flag, _, _ = strings.Cut(flag, "'\n")
	id := listed(t, data)[0].ID
	if code != exit.Done || !found || !strings.Contains(stderr, "run orrery forget --data "+data+" "+id+",") {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if _, stderr, code := inProcess(t, "forget", "--data", data, id); code != exit.Done {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	t.Run("of a source", func(t *testing.T) {
		folder := t.TempDir()
		list := "[source.web]\nfiles = [\"" + log + "\"]\n"
		configure := func(text string) {
			if err := os.WriteFile(filepath.Join(folder, "orrery.toml"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		configure(list)
		_, stderr, _ := inProcess(t, "import", "--data", folder, "--source", "web")
		_, line, found := strings.Cut(stderr, "\n  log-format = ")
		line, _, _ = strings.Cut(line, "\n")
		inProcess(t, "forget", "--data", folder, listed(t, folder)[0].ID)
		configure(list + "log-format = " + line + "\n")
		stdout, again, code := inProcess(t, "import", "--data", folder, "--source", "web")
		if !found || code != exit.Done || !strings.Contains(stdout, "1 record,") || strings.Contains(again, "columns") {
			t.Errorf("%s, and then exit %d: %s%s", stderr, code, stdout, again)
		}
	})
	stdout, stderr, code := inProcess(t, "import", "--data", data, "--log-format", flag, log)
	if code != exit.Done || !strings.Contains(stdout, "1 record,") || strings.Contains(stderr, "columns") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	out, _, _ := inProcess(t, "query", "logs", "request_time=0.125034, timestamp between 2026-05-17 and 2026-05-18",
		"--data", data, "--format", "ndjson")
	if strings.Count(out, "\n") != 1 {
		t.Errorf("the duration is not found: %s", out)
	}
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
	step("the first import", "100 records", "", exit.Done, "import", log)
	rows := listed(t, data)
	if len(rows) != 1 || rows[0].Name != "access.log" || rows[0].Format != "combined" && rows[0].Format != "common" ||
		rows[0].Records != 100 || rows[0].From.Format("15:04:05") != "00:00:03" {
		t.Fatalf("%+v", rows)
	}
	id := rows[0].ID
	step("a second import with a value", "0 records", "run orrery forget --data "+data+" "+id, exit.Done,
		"import", "--set", "host=blog.example", log)
	step("an unknown import", "", `there is no import "x"`, exit.Failed, "forget", "x")
	step("the beginning of an ID", "forgot "+id+" (access.log): 100 records of 2 hours; ", "", exit.Done, "forget", id[:6])
	step("forgotten already", id+" (access.log) was forgotten at", "", exit.Done, "forget", id)
	if rows := listed(t, data); len(rows) != 0 {
		t.Errorf("%+v", rows)
	}
	step("the import with a value", "100 records", "", exit.Done, "import", "--set", "host=blog.example", log)
	step("the same import again", "0 records", "", exit.Done, "import", "--set", "host=blog.example", log)
	step("again without the value", "0 records", "these lines are there already, imported as format "+rows[0].Format+
		" with --set host=blog.example, which stays as it is. To import them anew, run orrery forget --data "+data,
		exit.Done, "import", log)
	rows = listed(t, data, "--all")
	if len(rows) != 2 || rows[0].Forgotten == nil || rows[1].Forgotten != nil || rows[1].Set[0] != "host=blog.example" {
		t.Errorf("%+v", rows)
	}
	out, _, _ := orrery(t, "", "query", "logs", "timestamp between 2026-05-17 and 2026-05-18", "--data", data,
		"--limit", "1000", "--format", "ndjson", "--fields", "host")
	if strings.Count(out, `"blog.example"`) != 100 {
		t.Errorf("%d records have the host", strings.Count(out, `"blog.example"`))
	}
	step("a table", "id ", "", exit.Done, "imports")
}

// TestQuarantineFlagsOfFormats: lines are imported again with each flag that defines a format, with values and places.
// Two such flags at once are refused.
func TestQuarantineFlagsOfFormats(t *testing.T) {
	geo := filepath.Join(t.TempDir(), "city.mmdb")
	geoiptest.Write(t, geo, map[netip.Prefix]any{
		netip.MustParsePrefix("192.0.2.0/24"): map[string]any{
			"country": map[string]any{"names": map[string]any{"en": "France"}},
		},
	})
	const first = `{"processing_stage":6,"timestamp":"2026-05-17T10:00:00Z"}` + "\n"
	for name, test := range map[string]struct {
		line string
		args []string
	}{
		"a format string": {
			"192.0.2.7|[17/May/2026:10:05:03 +0000]|204", []string{"--log-format", "$remote_addr|[$time_local]|$status"},
		},
		"a pattern": {
			"at 2026-05-17T10:05:03Z from 192.0.2.7: 204",
			[]string{"--pattern", `at (?P<timestamp>\S+) from (?P<ip>\S+): (?P<status>\d+)`},
		},
		"mappings": {
			`{"at":"2026-05-17T10:05:03Z","client":{"ip":"192.0.2.7"},"code":204}`,
			[]string{"--map", "timestamp=at", "--map", "ip=client.ip", "--map", "status=code"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			data, log := t.TempDir(), filepath.Join(t.TempDir(), "mixed.log")
			if err := os.WriteFile(log, []byte(first+test.line+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, stderr, code := inProcess(t, "import", "--data", data, "--format", "orrery", log); code != exit.Rejected {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			retry := append([]string{"quarantine", "--data", data, "--import", listed(t, data)[0].ID}, test.args...)
			_, stderr, code := inProcess(t, append(retry, "--format", "combined")...)
			if code != exit.Usage || !strings.Contains(stderr, "define two formats") {
				t.Errorf("with two formats: exit %d, %s", code, stderr)
			}
			stdout, stderr, code := inProcess(t, append(retry, "--set", "host=a.example", "--geoip", geo)...)
			if code != exit.Done || !strings.HasSuffix(stdout, ": 1 record, 0 still rejected\n") {
				t.Fatalf("exit %d: %s%s", code, stdout, stderr)
			}
			stdout, stderr, _ = inProcess(t, "query", "logs", "timestamp between 2026-05-17 and 2026-05-18, status=204",
				"--data", data, "--format", "ndjson", "--fields", "ip,host,country")
			if want := `{"ip":"192.0.2.7","host":"a.example","country":"France"}` + "\n"; stdout != want {
				t.Errorf("the record is %s%s", stdout, stderr)
			}
		})
	}
}

// TestImportOfGrownLogWithOtherSettings: the new lines have other values than the lines before, which the report says.
func TestImportOfGrownLogWithOtherSettings(t *testing.T) {
	const there = "the lines before the new ones are there already"
	one, other := []string{"--set", "host=a.example"}, []string{"--set", "host=b.example"}
	for name, test := range map[string]struct {
		first, second []string
		reported      string
	}{
		"without the value": {one, nil, there + ", imported as format combined with --set host=a.example"},
		"with another one":  {one, other, there},
		"with a new one":    {nil, other, there + ", imported as format combined with no --set"},
		"with the same one": {one, one, ""},
		"with none":         {nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			data, log := t.TempDir(), filepath.Join(t.TempDir(), "access.log")
			for step, args := range [][]string{test.first, test.second} {
				text, err := os.ReadFile(accessLog(t, "access.log", 0, 50*(step+1)))
				if err == nil {
					err = os.WriteFile(log, text, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
				stdout, stderr, code := orrery(t, "", slices.Concat([]string{"import", "--data", data}, args, []string{log})...)
				if code != exit.Done || !strings.Contains(stdout, ": 50 records") {
					t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
				}
				if step == 0 {
					continue
				}
				if want := test.reported; !strings.Contains(stderr, want) || want == "" && strings.Contains(stderr, there) {
					t.Errorf("%s, want %q", stderr, want)
				}
			}
		})
	}
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
		{"a wrong format", []string{"--format", "orrery", log}, exit.Doubt, "", "nothing was imported. The first is line 1: "},
		{"the right one", []string{log}, exit.Done, "100 records", ""},
		{"a part of the log", []string{tail}, exit.Doubt, "", "40 of the first 40 records are in the data already"},
		{"the part, anyway", []string{"--anyway", tail}, exit.Done, "40 of the first 40 records were in the data", ""},
		{"a part without time to judge", []string{accessLog(t, "few.log", 60, 3)}, exit.Done, "3 records", ""},
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

// TestImportReportsDoubtsAndFailures: a doubt hides no other failure, neither its text nor its exit code.
func TestImportReportsDoubtsAndFailures(t *testing.T) {
	data, log, other := t.TempDir(), accessLog(t, "access.log", 0, 100), accessLog(t, "b.log", 0, 50)
	missing := filepath.Join(t.TempDir(), "missing.log")
	const doubt = "nothing was imported. The first is line 1: "
	for name, step := range map[string]struct {
		files []string
		code  int
		wants []string
	}{
		"two doubts":            {[]string{log, other}, exit.Doubt, []string{doubt, "import b.log: "}},
		"a doubt and a failure": {[]string{log, missing}, exit.Failed, []string{doubt, missing}},
		"a failure and a doubt": {[]string{missing, log}, exit.Failed, []string{doubt, missing}},
	} {
		args := []string{"import", "--data", data, "--format", "orrery"}
		_, stderr, code := orrery(t, "", append(args, step.files...)...)
		for _, want := range step.wants {
			if code != step.code || !strings.Contains(stderr, want) {
				t.Errorf("%s: exit %d\n%s", name, code, stderr)
			}
		}
	}
}

// TestGrownLogKeepsItsMapping: further lines of a log are imported as the first ones were.
func TestGrownLogKeepsItsMapping(t *testing.T) {
	data, log := t.TempDir(), filepath.Join(t.TempDir(), "app.log")
	lines := []string{
		`{"at":"2026-05-17T10:00:00Z","client":{"ip":"203.0.113.7"}}` + "\n",
		`{"at":"2026-05-17T10:00:01Z","client":{"ip":"203.0.113.8"}}` + "\n",
	}
	for i, args := range [][]string{{"--map", "timestamp=at", "--map", "ip=client.ip"}, nil} {
		if err := os.WriteFile(log, []byte(strings.Join(lines[:i+1], "")), 0o600); err != nil {
			t.Fatal(err)
		}
		_, stderr, code := orrery(t, "", append([]string{"import", "--data", data, log}, args...)...)
		if code != exit.Done {
			t.Fatalf("exit %d: %s", code, stderr)
		}
	}
	const period = "timestamp between 2026-05-17 10:00 and 2026-05-17 10:01"
	stdout, stderr, code := orrery(t, "", "query", "logs", "--data", data, "--fields", "ip", "--format", "ndjson", period)
	if want := `{"ip":"203.0.113.8"}` + "\n" + `{"ip":"203.0.113.7"}` + "\n"; code != exit.Done || stdout != want {
		t.Errorf("exit %d, %s%s", code, stdout, stderr)
	}
}

// TestImportsShowHowALogWasImported: with which mapping and which databases.
func TestImportsShowHowALogWasImported(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	log, database := filepath.Join(dir, "app.log"), filepath.Join(dir, "places.mmdb")
	geoiptest.Write(t, database, map[netip.Prefix]any{
		netip.MustParsePrefix("203.0.113.0/24"): map[string]any{
			"country": map[string]any{"names": map[string]any{"en": "France"}},
		},
	})
	text := `{"at":"2026-05-17T10:00:00Z","ip":"203.0.113.7"}` + "\n" +
		`203.0.113.7 - - [17/May/2026:10:05:03 +0000] "GET / HTTP/1.1" 200 5` + "\n"
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"import", "--data", data, "--map", "timestamp=at", "--geoip", database, log}
	if _, stderr, code := orrery(t, "", args...); code != exit.Rejected {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	stdout, _, _ := orrery(t, "", "imports", "--data", data)
	if !strings.Contains(stdout, "  mapped JSON  ") {
		t.Error(stdout)
	}
	rows := listed(t, data)
	if len(rows) != 1 || len(rows[0].GeoIP) != 1 || rows[0].GeoIP[0] != database {
		t.Fatalf("%+v", rows)
	}
	_, stderr, _ := orrery(t, "", "import", "--data", data, "--set", "branch=b", log)
	if !strings.Contains(stderr, "with no --set and --geoip "+database+", which stays as it is") {
		t.Error(stderr)
	}
	stdout, stderr, code := orrery(t, "", "quarantine", "--data", data, "--import", rows[0].ID, "--format", "combined")
	if code != exit.Done || !strings.Contains(stdout, ": 1 record, ") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	rows = listed(t, data)
	if len(rows) != 1 || rows[0].Records != 2 || rows[0].Retried != 1 || rows[0].Rejected != 0 {
		t.Fatalf("%+v", rows)
	}
	stdout, _, _ = orrery(t, "", "query", "logs", "--data", data, "--format", "ndjson", "--fields", "country",
		"timestamp between 2026-05-17 and 2026-05-18")
	if strings.Count(stdout, `"France"`) != 2 {
		t.Errorf("the places of both records:\n%s", stdout)
	}
	if _, stderr, code := orrery(t, "", "forget", "--data", data, rows[0].ID); code != exit.Done {
		t.Error(stderr)
	}
}

// TestQuarantineCommand lists rejected lines and imports them again.
func TestQuarantineCommand(t *testing.T) {
	data, log := t.TempDir(), filepath.Join(t.TempDir(), "mixed.log")
	text := `{"processing_stage":6,"timestamp":"2026-05-17T10:00:00Z"}` + "\n" +
		`192.0.2.7 - - [17/May/2026:10:05:03 +0000] "GET / HTTP/1.1" 200 5` + "\n" + "tab\there\n"
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := orrery(t, "", "import", "--data", data, "--format", "orrery", log); code != exit.Rejected {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	stdout, _, code := orrery(t, "", "quarantine", "--data", data)
	if code != exit.Done || !strings.Contains(stdout, "mixed.log  bad_json  2      2     192.0.2.7 - - [17/May") {
		t.Errorf("exit %d\n%s", code, stdout)
	}
	id := listed(t, data)[0].ID
	stdout, stderr, code := orrery(t, "", "quarantine", "--data", data, "--import", id, "--format", "combined")
	if code != exit.Done || stdout != id+": 1 record, 1 still rejected\n" {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	stdout, _, code = orrery(t, "", "quarantine", "--data", data)
	if code != exit.Done || !strings.Contains(stdout, `bad_line  1      3     tab\u{9}here`) {
		t.Errorf("exit %d\n%s", code, stdout)
	}
	var rows []rejectedRow
	stdout, _, _ = orrery(t, "", "quarantine", "--data", data, "--json")
	if err := json.Unmarshal([]byte(stdout), &rows); err != nil || len(rows) != 1 || rows[0].Example != "tab\there" {
		t.Errorf("%v\n%s", err, stdout)
	}
}

// TestQuarantineRefusesFlagsWithoutEffect: flags about lines are refused if no line is read by them.
func TestQuarantineRefusesFlagsWithoutEffect(t *testing.T) {
	data := t.TempDir()
	for _, test := range []struct {
		name   string
		args   []string
		stderr string
	}{
		{"a list", []string{"--format", "combined"}, "--format: only for --import"},
		{"a list with several", []string{"--geoip", "a.mmdb", "--set", "host=a"}, "--geoip, --set: only for --import"},
		{"a list of a deployment", []string{"--dir", data, "--pattern", "x"}, "--pattern: only for --import"},
		{
			"a log that was refused", []string{"--dir", data, "--import", "raw/a.log", "--set", "host=a"},
			"--set: not for a log that was refused",
		},
		{
			"a database for a log that was refused",
			[]string{"--dir", data, "--import", "raw/a.log", "--map", "host=h", "--geoip", "a.mmdb"},
			"--geoip: not for a log that was refused",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, stderr, code := runHere(t.Context(), "", append([]string{"quarantine"}, test.args...)...)
			if code != exit.Usage || !strings.Contains(stderr, test.stderr) {
				t.Errorf("exit code %d, %s", code, stderr)
			}
		})
	}
}
