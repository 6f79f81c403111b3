package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
)

// written writes a file of the given lines and returns its path.
func written(t *testing.T, name string, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// imported imports a log into a data folder.
func imported(t *testing.T, data string, args ...string) {
	t.Helper()
	if _, stderr, code := orrery(t, "", append([]string{"import", "--data", data}, args...)...); code != exit.Done {
		t.Fatalf("exit %d: %s", code, stderr)
	}
}

func TestRestOfALineIsFound(t *testing.T) {
	const line = `203.0.113.7 - - [17/May/2026:10:05:03 +0000] "GET / HTTP/1.1" 200 1 "-" "-" ` + `cache=`
	log, data := written(t, "access.log", line+"hit", line+"miss"), t.TempDir()
	imported(t, data, log)
	for _, filter := range []string{
		`proxy["log_rest"]="cache=miss"`, `proxy~"miss"`, `log_rest~"miss"`, `log_rest[""]="cache=miss"`,
	} {
		stdout, stderr, _ := inProcess(t, "query", "logs", "--data", data, "--format", "ndjson", "--fields", "proxy",
			"timestamp between 2026-05-17 and 2026-05-18, "+filter)
		if strings.Count(stdout, "\n") != 1 || !strings.Contains(stdout, "cache=miss") {
			t.Errorf("%s: %s%s", filter, stdout, stderr)
		}
	}
}

// appLog is a log in JSON of an application.
var appLog = []string{
	`{"at":"2026-05-17T10:00:00Z","from":"203.0.113.1","level":"info","retries":0,"user":{"name":"ann"},"status":"done"}`,
	`{"at":"2026-05-17T10:00:01Z","from":"203.0.113.2","level":"error","retries":3,` +
		`"user":{"name":"bob","roles":["ops","dev"]},"error":"upstream timeout"}`,
	`{"at":"2026-05-17T10:00:02Z","from":"203.0.113.3","retries":"12","status":200,"a.b":{"c":null}}`,
}

// addresses returns the last digits of the clients of the matching records, in the order of the answer.
func addresses(t *testing.T, data, filter string) (digits, stderr string) {
	t.Helper()
	stdout, stderr, code := inProcess(t, "query", "logs", "--data", data, "--format", "ndjson", "--fields", "ip",
		"timestamp between 2026-05-17 and 2026-05-18"+filter)
	if code != exit.Done {
		t.Fatalf("%s: exit %d: %s", filter, code, stderr)
	}
	for line := range strings.Lines(stdout) {
		digits += strings.TrimSuffix(strings.TrimSpace(line), `"}`)[len(`{"ip":"203.0.113.`):]
	}
	return digits, stderr
}

func TestMembersThatNoFieldHasAreFound(t *testing.T) {
	data := t.TempDir()
	imported(t, data, "--map", "timestamp=at", "--map", "ip=from", written(t, "app.jsonl", appLog...))
	for filter, want := range map[string]string{
		`, log_rest["level"]="error"`:                "2",
		`, log_rest["user.name"]~"^a"`:               "1",
		`, log_rest["user.roles"]="dev"`:             "2",
		`, log_rest[~"^user\."]="ops"`:               "2",
		`, log_rest~"timeout"`:                       "2",
		`, log_rest["retries"]>2`:                    "32",
		`, not log_rest["retries"]>2`:                "1",
		`, not log_rest["level"]="error"`:            "31",
		`, log_rest["status"]="done"`:                "1",
		`, log_rest["status"]="200"`:                 "",
		`, status=200`:                               "3",
		`, log_rest~"."`:                             "321",
		`, log_rest["level"] in ("info", "error")`:   "21",
		`, log_rest["level"]="error", status!="200"`: "2",
	} {
		if got, stderr := addresses(t, data, filter); got != want || strings.Contains(stderr, "earlier version") {
			t.Errorf("%s: found %q, want %q: %s", filter, got, want, stderr)
		}
	}
	stdout, stderr, _ := inProcess(t, "query", "facets", "--data", data, "--format", "csv",
		"--by", `log_rest["level"],log_rest["user.roles"]`,
		"timestamp between 2026-05-17 and 2026-05-18")
	for _, want := range []string{`error,`, `info,`, `dev,`, `ops,`} {
		if !strings.Contains(stdout, want) {
			t.Errorf("facets have no %s: %s%s", want, stdout, stderr)
		}
	}
	stdout, stderr, _ = inProcess(t, "query", "logs", "--data", data, "--format", "ndjson", "--fields", "log_rest",
		"timestamp between 2026-05-17 and 2026-05-18")
	const fields = `{"log_rest":{"retries":"12"}}` + "\n" +
		`{"log_rest":{"level":"error","retries":"3","user.name":"bob","user.roles":["ops","dev"],` +
		`"error":"upstream timeout"}}` + "\n" +
		`{"log_rest":{"level":"info","retries":"0","user.name":"ann","status":"done"}}` + "\n"
	if stdout != fields {
		t.Errorf("printed %s%s", stdout, stderr)
	}
	stdout, _, _ = inProcess(t, "query", "logs", "--data", data, "--format", "ndjson",
		`timestamp between 2026-05-17 and 2026-05-18, log_rest["level"]="error"`)
	if !strings.Contains(stdout, `"level":"error","retries":3,"user":{"name":"bob"`) ||
		strings.Contains(stdout, "log_rest") {
		t.Errorf("a whole record: %s", stdout)
	}
}

func TestMembersOfKnownFormatsAreFound(t *testing.T) {
	data := t.TempDir()
	imported(t, data, written(t, "caddy.log",
		`{"level":"info","ts":1779012000.5,"logger":"http.log.access","msg":"handled request",`+
			`"request":{"remote_ip":"203.0.113.7",`+
			`"remote_port":"41342","client_ip":"203.0.113.7","proto":"HTTP/2.0","method":"GET",`+
			`"host":"shop.example","uri":"/a",`+
			`"headers":{"Accept":["*/*"]},"tls":{"resumed":false,"version":772,"cipher_suite":4865,`+
			`"proto":"h2","server_name":"shop.example"}},`+
			`"bytes_read":0,"user_id":"","duration":0.000929675,"size":10900,"status":200,`+
			`"resp_headers":{"Server":["Caddy","x"]}}`))
	for filter, want := range map[string]string{
		`, log_rest["request.tls.proto"]="h2"`:       "7",
		`, log_rest["request.tls.version"]>=772`:     "7",
		`, log_rest["resp_headers.Server"]="Caddy"`:  "7",
		`, log_rest["logger"]~"access$"`:             "7",
		`, log_rest["request.tls.resumed"]="true"`:   "",
		`, log_rest["level"]="info", method="GET"`:   "7",
		`, not log_rest["request.remote_port"]="41"`: "7",
	} {
		if got, stderr := addresses(t, data, filter); got != want {
			t.Errorf("%s: found %q, want %q: %s", filter, got, want, stderr)
		}
	}
}

// oldFolder unpacks a data folder of testdata, which an earlier version has written.
func oldFolder(t *testing.T, name string) (data string) {
	t.Helper()
	packed, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	data = t.TempDir()
	for archive := tar.NewReader(unpacked); ; {
		file, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return data
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(data, filepath.FromSlash(file.Name))
		if file.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o700)
		} else {
			var content []byte
			if content, err = io.ReadAll(archive); err == nil {
				err = os.WriteFile(path, content, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestFolderOfAnEarlierVersion: records of a program without log_rest stay, in the same hour as new ones, through
// compaction, and until their log is imported anew. As long as objects do not have the column, answers that depend on
// it report that.
func TestFolderOfAnEarlierVersion(t *testing.T) {
	data := oldFolder(t, "schema-1.tar.gz") // with the import of appLog
	const lacks, byLevel, byText, others = "wrote 1 object of the period without log_rest",
		`, log_rest["level"]="error"`, `, log_rest~"timeout"`, `, not log_rest["level"]="error"`
	check := func(when string, warns bool, want map[string]string) {
		t.Helper()
		for filter, addressesWanted := range want {
			got, stderr := addresses(t, data, filter)
			depends := warns && strings.Contains(filter, "log_rest")
			if got != addressesWanted || strings.Contains(stderr, lacks) != depends {
				t.Errorf("%s, %q: found %q, want %q: %s", when, filter, got, addressesWanted, stderr)
			}
		}
	}
	check("at first", true, map[string]string{"": "321", byLevel: "", byText: "", others: "321", ", status=200": "3"})
	if _, stderr, code := inProcess(t, "query", "logs", "--data", data, "--strict",
		"timestamp between 2026-05-17 and 2026-05-18"+byLevel); code != exit.Incomplete {
		t.Errorf("--strict: exit %d: %s", code, stderr)
	}

	imported(t, data, "--map", "timestamp=at", "--map", "ip=from", written(t, "new.jsonl",
		`{"at":"2026-05-17T10:00:03Z","from":"203.0.113.4","level":"error","error":"read timeout"}`))
	both := map[string]string{"": "4321", byLevel: "4", byText: "4", others: "321", ", status=200": "3"}
	check("with new records", true, both)
	stdout, stderr, _ := inProcess(t, "query", "logs", "--data", data, "--format", "ndjson",
		"timestamp between 2026-05-17 and 2026-05-18")
	if !strings.Contains(stdout, `"level":"error","retries":3,"user":{"name":"bob"`) || stderr != "" {
		t.Errorf("whole records: %s%s", stdout, stderr)
	}

	if _, stderr, code := orrery(t, "", "compact", "--data", data); code != exit.Done {
		t.Fatalf("compact: exit %d: %s", code, stderr)
	}
	check("compacted", false, both)

	old := "app.jsonl"
	for _, row := range listed(t, data) {
		if row.Name == old {
			if _, stderr, code := orrery(t, "", "forget", "--data", data, row.ID); code != exit.Done {
				t.Fatalf("forget: exit %d: %s", code, stderr)
			}
		}
	}
	check("without the old log", false, map[string]string{"": "4", byLevel: "4", others: ""})
	imported(t, data, "--map", "timestamp=at", "--map", "ip=from", written(t, old, appLog...))
	check("imported anew", false, map[string]string{
		"": "4321", byLevel: "42", byText: "42", others: "31", `, log_rest["user.name"]="ann"`: "1",
	})
}

// TestValuesOfAWrongType: a value that its field cannot have is in log_rest for records, facets and filters alike, and
// the import counts it. A literal of the type stays as it was sent.
func TestValuesOfAWrongType(t *testing.T) {
	data := t.TempDir()
	const at = `{"timestamp":"2026-05-17T10:00:00Z","path":"/a",`
	stdout, stderr, code := inProcess(t, "import", "--data", data, "--format", "orrery", written(t, "app.jsonl",
		at+`"ip":"203.0.113.1","host":{"name":"x"},"status":"ok"}`, at+`"ip":"203.0.113.2","status":"200"}`))
	if want := "; 2 values of a wrong type are in log_rest (host 1, status 1)"; code != exit.Done ||
		!strings.Contains(stdout, want) {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	stdout, _, _ = inProcess(t, "import", "--data", t.TempDir(), "--format", "orrery", written(t, "one.jsonl", at+`"status":"ok"}`))
	if !strings.Contains(stdout, "; 1 value of a wrong type is in log_rest (status 1)") {
		t.Errorf("printed %s", stdout)
	}
	if want := "app.jsonl: no record has a method or a host\n"; !strings.Contains(stderr, want) {
		t.Errorf("%q lacks %q", stderr, want)
	}
	stdout, stderr, code = inProcess(t, "import", "--data", t.TempDir(), "--format", "orrery", written(t, "one.jsonl",
		at+`"ip":"203.0.113.1","host":{"name":"x"}}`))
	if want := "; 1 value of a wrong type is in log_rest (host 1)"; code != exit.Done || !strings.Contains(stdout, want) {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	for filter, want := range map[string]string{
		`, host~"."`: "", `, status>0`: "2", `, status=200`: "2", `, log_rest["status"]="ok"`: "1",
		`, log_rest["host.name"]="x"`: "1",
	} {
		if got, stderr := addresses(t, data, filter); got != want {
			t.Errorf("%s: found %q, want %q: %s", filter, got, want, stderr)
		}
	}
	const period = "timestamp between 2026-05-17 and 2026-05-18"
	stdout, stderr, _ = inProcess(t, "query", "logs", "--data", data, "--format", "ndjson", period+", ip=203.0.113.1")
	if !strings.Contains(stdout, `"log_rest":{"host":{"name":"x"},"status":"ok"}`) || strings.Count(stdout, `"host"`) != 1 {
		t.Errorf("the record is %s%s", stdout, stderr)
	}
	stdout, stderr, _ = inProcess(t, "query", "facets", "--data", data, "--by", "host,status", "--format", "csv", period)
	if !strings.Contains(stdout, "status,integer,1,value,200,1,") ||
		!strings.Contains(stdout, "host,string,0,absent,,2,") || strings.Contains(stdout, "ok") {
		t.Errorf("the facets are %s%s", stdout, stderr)
	}
}
