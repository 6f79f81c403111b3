package main

import (
	"archive/tar"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/shared/testkit/goldentest"
)

// TestUnrecognizedLog: the error has the first line, what each known format misses in it, and the flags that help.
func TestUnrecognizedLog(t *testing.T) {
	log := filepath.Join(t.TempDir(), "app.log")
	text := "2026-05-17 10:05:03 INFO request \x1b[2Kdone in 12 ms\nanother line\n"
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := inProcess(t, "import", "--data", t.TempDir(), log)
	if code != exit.Failed || stdout != "" {
		t.Errorf("exit code %d, printed %q", code, stdout)
	}
	for _, flag := range []string{"--log-format", "--pattern"} {
		if !strings.Contains(stderr, flag) {
			t.Errorf("%s is not named", flag)
		}
	}
	golden := filepath.Join("testdata", "unrecognized.golden")
	goldentest.Compare(t, golden, stderr)
}

// TestRejectedLineIsShown: an import shows the first line that is not a record, and where it stops being one.
func TestRejectedLineIsShown(t *testing.T) {
	log := filepath.Join(t.TempDir(), "access.log")
	const line = `192.0.2.7 - - [17/May/2026:10:05:03 +0000] "GET / HTTP/1.1" `
	text := line + "200 5\n" + line + "20x 5\n" + line + "200 x\n"
	const want = "  line 2: column 61: no status of three digits after the request:\n    " + line + "20x 5\n    " +
		"                                                            ^\n"
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := inProcess(t, "import", "--data", t.TempDir(), log)
	if code != exit.Rejected || !strings.Contains(stdout, want) {
		t.Errorf("exit code %d, printed\n%s%s\nwant\n%s", code, stdout, stderr, want)
	}
	if err := os.WriteFile(log, []byte(strings.Repeat(line+"20x 5\n", 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr, code = inProcess(t, "import", "--data", t.TempDir(), log)
	if doubt := strings.ReplaceAll(strings.Replace(want, "line 2", "line 1", 1), "\n  ", "\n")[2:]; code != exit.Doubt ||
		!strings.Contains(stderr, "The first is "+doubt) {
		t.Errorf("exit code %d, printed\n%s\nwant\n%s", code, stderr, doubt)
	}
}

// TestObjectsThatAreNoRecords: objects with a timestamp are imported only if they are records. The error has their
// members, and a command that imports them.
func TestObjectsThatAreNoRecords(t *testing.T) {
	data := t.TempDir()
	cdn := written(t, "cdn log.jsonl", `{"timestamp":"2026-05-17T10:05:03Z","client ip":"203.0.113.7","http":{"verb":"GET",`+
		`"path":"/a"},"host":"shop.example","response_status":404}`)
	dump := written(t, "status.jsonl", `{"timestamp":1779012303,"version":6,"connections":{"accepted":1}}`)
	stdout, stderr, code := inProcess(t, "import", "--data", data, "--set", "branch=a b", cdn, dump)
	if code != exit.Doubt || stdout != "" {
		t.Errorf("exit code %d, printed %q", code, stdout)
	}
	for _, want := range []string{
		"orrery        a record has a timestamp and three of ip, method, path or url, host or hostname, and status; " +
			"the object has only host\n",
		"its members are timestamp, \"client ip\", http.verb, http.path, host, response_status\n",
		"its members are timestamp, version, connections.accepted\nthese are not the members of requests;",
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("%q is not in\n%s", want, stderr)
		}
	}
	_, after, found := strings.Cut(stderr, "this command imports it:\n  ")
	suggested, _, _ := strings.Cut(after, "\n")
	if !found || strings.Contains(after, "this command") {
		t.Fatalf("suggestions other than one:\n%s", stderr)
	}
	args := pasted(t, suggested)
	if stdout, stderr, code = inProcess(t, args[1:]...); code != exit.Done || !strings.Contains(stdout, "1 record,") ||
		strings.Contains(stderr, "no record has") {
		t.Errorf("%s: exit %d: %s%s", suggested, code, stdout, stderr)
	}
	stdout, stderr, _ = inProcess(t, "query", "logs", "--data", data, "--format", "ndjson",
		"--fields", "ip,method,path,host,status,branch", "timestamp between 2026-05-17 and 2026-05-18")
	const want = `{"ip":"203.0.113.7","method":"GET","path":"/a","host":"shop.example","status":404,"branch":"a b"}` + "\n"
	if stdout != want {
		t.Errorf("imported %s%s, want %s", stdout, stderr, want)
	}
	stdout, stderr, code = inProcess(t, "import", "--data", data, "--format", "orrery", dump)
	if code != exit.Done || !strings.Contains(stdout, "1 record,") ||
		!strings.Contains(stderr, "no record has an address, a method, a host, a path or a status\n") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}

// pasted returns the words of a command as a shell reads them.
func pasted(t *testing.T, command string) []string {
	t.Helper()
	words, err := exec.Command("sh", "-c", `printf '%s\n' `+command).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(words), "\n"), "\n")
}

// TestSuggestedCommands: the command for a log in JSON of no known format imports it, wherever the log is, and keeps
// the other flags.
func TestSuggestedCommands(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	const cdn = `{"timestamp":"2026-05-17T10:05:03","client ip":"203.0.113.7","status":404}` + "\n"
	const other = `{"time":"2026-05-17T10:05:03Z","client":"203.0.113.8","verb":"GET","uri":"/a"}` + "\n"
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for name, text := range map[string]string{"logs/cdn.jsonl": cdn, "other.jsonl": other} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join("archives", "logs"), 0o700); err != nil {
		t.Fatal(err)
	}
	write("archives/logs.tar", archive.String())
	write("archives/logs/cdn.jsonl", cdn)
	write("archives/other.jsonl", other)
	write("-cdn.jsonl", cdn)
	for name, test := range map[string]struct {
		args  []string
		stdin string
		after map[string]int // number of commands after a line
	}{
		"a file like a flag, with a zone": {
			[]string{"--zone", "Asia/Tokyo", "--", "-cdn.jsonl"}, "", map[string]int{"this command imports it:": 1},
		},
		"standard input": {
			[]string{"--as", "cdn log", "-"}, cdn, map[string]int{"this command imports it, with the log as its standard input:": 1},
		},
		"logs in an archive": {
			[]string{"archives/logs.tar"}, "", map[string]int{"unpack the archive; then this command imports the log:": 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"import", "--data", filepath.Join(t.TempDir(), "the data")}, test.args...)
			_, stderr, code := runHere(t.Context(), test.stdin, args...)
			if code != exit.Doubt {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			for line, want := range test.after {
				parts := strings.Split(stderr, line+"\n  ")
				if len(parts) != want+1 {
					t.Fatalf("%d commands after %q:\n%s", len(parts)-1, line, stderr)
				}
				for _, part := range parts[1:] {
					command, _, _ := strings.Cut(part, "\n")
					stdout, messages, code := runHere(t.Context(), test.stdin, pasted(t, command)[1:]...)
					if code != exit.Done || !strings.Contains(stdout, ": 1 record,") || strings.Contains(messages, "an address") {
						t.Errorf("%s: exit code %d: %s%s", command, code, stdout, messages)
					}
					if strings.Contains(command, "--zone") != strings.Contains(strings.Join(test.args, " "), "--zone") {
						t.Errorf("%s does not have the zone as given", command)
					}
				}
			}
		})
	}
}

// TestMappedTextThatIsNoBoolean: the import stops at the first line, and names the mapping that works.
func TestMappedTextThatIsNoBoolean(t *testing.T) {
	data := t.TempDir()
	log := written(t, "waf.jsonl", `{"timestamp":"2026-05-17T10:05:03Z","ip":"203.0.113.1","Action":"block"}`,
		`{"timestamp":"2026-05-17T10:05:04Z","ip":"203.0.113.2","Action":"pass"}`)
	_, stderr, code := inProcess(t, "import", "--data", data, "--map", "blocked=Action", log)
	if code != exit.Failed || !strings.Contains(stderr, `--map 'blocked=Action=="block"'`) {
		t.Errorf("exit %d: %s", code, stderr)
	}
	source := "[source.waf]\nfiles = [\"" + log + "\"]\nmap = { blocked = 'Action==\"block\"' }\n"
	if err := os.WriteFile(filepath.Join(data, "orrery.toml"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := inProcess(t, "import", "--data", data, "--source", "waf")
	if code != exit.Done || !strings.Contains(stdout, "waf.jsonl: 2 records") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	for filter, want := range map[string]string{
		", blocked is true": "1", ", blocked is false": "2", `, log_rest["Action"]="pass"`: "2",
	} {
		if got, stderr := addresses(t, data, filter); got != want {
			t.Errorf("%s: found %q, want %q: %s", filter, got, want, stderr)
		}
	}
}
