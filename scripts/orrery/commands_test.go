package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
)

// TestCommands runs commands and checks their output and exit codes.
func TestCommands(t *testing.T) {
	data := tourData(t)
	junk := filepath.Join(t.TempDir(), "junk.log")
	const text = `{"processing_stage":6,"timestamp":"2026-01-01T10:00:00Z","path":"/a"}` + "\n{broken\n"
	if err := os.WriteFile(junk, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Dir(junk)
	mapped := filepath.Join(t.TempDir(), "mapped.jsonl")
	if err := os.WriteFile(mapped, []byte(`{"at":1779012303,"took_ms":12.5}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	spaced := filepath.Join(t.TempDir(), "spaced.log")
	const lines = "1767225600.123 203.0.113.7 200\n1767225601.000 203.0.113.8 404\n"
	if err := os.WriteFile(spaced, []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		args           []string
		stdin          string
		code           int
		stdout, stderr string // substrings
	}{
		"parse prints both forms": {
			args: []string{"parse", `status=404, timestamp between 2026-01-02 and 2026-01-01`},
			code: exit.Done, stdout: `"op":"eq","value":404`,
		},
		"parse points at mistakes": {
			args: []string{"parse", `hots=a, ` + tourDay},
			code: exit.Failed, stderr: "^^^^",
		},
		"parse reads standard input": {
			args:   []string{"parse", "-"},
			stdin:  tourDay + "\n",
			code:   exit.Done,
			stdout: "timestamp between 2026-01-01 00:00:00 and 2026-01-02 00:00:00",
		},
		"fields lists the catalogue": {
			args: []string{"fields"},
			code: exit.Done, stdout: "upstream_response_time",
		},
		"explain shows Athena's SQL": {
			args: []string{"explain", "topx", tourDay, "--data", data, "--engine", "athena"},
			code: exit.Done, stdout: "datehour BETWEEN '2026/01/01/00'",
		},
		"explain shows the SQL that replaces the scan": {
			args: []string{"explain", "topx", tourDay, "--data", data},
			code: exit.Done, stdout: "(run only if the scan cannot answer)",
		},
		"explain shows DuckDB's SQL": {
			args: []string{"explain", "logs", tourDay, "--data", data},
			code: exit.Done, stdout: "read_parquet",
		},
		"explain reports what the query reads": {
			args: []string{"explain", "stats", tourDay, "--data", data},
			code: exit.Done, stdout: "partitions 24, from 2026/01/01/00 to 2026/01/01/23",
		},
		"explain has the estimate of a dry run": {
			args: []string{"explain", "stats", tourDay, "--data", data},
			code: exit.Done, stdout: "== estimate\npartitions 24\nobjects    24\n",
		},
		"query --dry-run prints the estimate": {
			args: []string{"query", "stats", tourDay, "--data", data, "--dry-run", "--format", "table"},
			code: exit.Done, stdout: "partitions 24\nobjects    24\n",
		},
		"query --dry-run prints no results": {
			args: []string{"query", "stats", tourDay, "--data", data, "--dry-run"},
			code: exit.Done, stdout: `{"data":{"results":[]},"meta":{`,
		},
		"query --dry-run prints the estimate of values": {
			args: []string{"query", "values", "country", "--data", data, "--dry-run", "--format", "table"},
			code: exit.Done, stdout: "objects    20\n",
		},
		"query --dry-run does not go with --all": {
			args: []string{"query", "logs", tourDay, "--data", data, "--dry-run", "--all"},
			code: exit.Usage, stderr: "without --all",
		},
		"query --dry-run has no CSV": {
			args: []string{"query", "logs", tourDay, "--data", data, "--dry-run", "--format", "csv"},
			code: exit.Usage, stderr: "without --all and --format csv",
		},
		"query --dry-run prints the estimate of a diff": {
			args: []string{
				"query", "diff", tourDay, "--select", "status=404", "--data", data, "--dry-run", "--format", "table",
			},
			code: exit.Done, stdout: "partitions 24\nobjects    24\n",
		},
		"query --dry-run has the errors of a query": {
			args: []string{"query", "logs", "hots=1, " + tourDay, "--data", data, "--dry-run"},
			code: exit.Failed, stderr: "corrected: host=1",
		},
		"explain shows the stages of values": {
			args: []string{
				"explain", "values", "country", "--data", data, "--prefix", "Ge", "--limit", "5", "--period", tourDay,
			},
			code: exit.Done, stdout: "shape  values limit=5 of=country",
		},
		"explain reports what values read": {
			args: []string{"explain", "values", "country", "--data", data, "--counts", "--period", tourDay},
			code: exit.Done, stdout: "by         scan\npartitions 24, from 2026/01/01/00",
		},
		"explain prints no SQL of values": {
			args: []string{"explain", "values", "country", "--engine", "athena", "--period", tourDay},
			code: exit.Failed, stderr: "values are found without SQL",
		},
		"explain needs a period of values": {
			args: []string{"explain", "values", "country"},
			code: exit.Usage, stderr: "--period or --last 24h",
		},
		"explain has one period of values": {
			args: []string{"explain", "values", "country", "--last", "1h", "--period", tourDay},
			code: exit.Usage, stderr: "use one of them",
		},
		"explain has the period of others in the filter": {
			args: []string{"explain", "stats", tourDay, "--period", tourDay},
			code: exit.Usage, stderr: "--period is for values",
		},
		"explain finds no text in other than values": {
			args: []string{"explain", "stats", tourDay, "--prefix", "a"},
			code: exit.Usage, stderr: "--prefix, --contains and --counts are for values",
		},
		"the last hour has a short form": {
			args: []string{"query", "stats", "-1h", "--data", data, "--format", "json"},
			code: exit.Done, stdout: `"results":[`,
		},
		"explain works without data": {
			args: []string{"explain", "logs", tourDay, "--data", filepath.Join(data, "none")},
			code: exit.Done, stdout: "there is no data",
		},
		"query prints JSON unless on a terminal": {
			args: []string{"query", "stats", tourDay, "--data", data},
			code: exit.Done, stdout: `{"data":{"results":[`,
		},
		"query prints one result per line as ndjson": {
			args: []string{
				"query", "logs", tourDay, "--data", data, "--limit", "2", "--format", "ndjson", "--fields", "ip",
			},
			code: exit.Done, stdout: "{\"ip\":\"",
		},
		"query refuses raw cells of another format": {
			args: []string{"query", "logs", tourDay, "--data", data, "--raw"},
			code: exit.Usage, stderr: "--raw is an option of --format csv",
		},
		"query prints the API's error with the corrected filter": {
			args: []string{"query", "logs", "hots=1, " + tourDay, "--data", data},
			code: exit.Failed, stderr: "corrected: host=1",
		},
		"query names an invalid parameter": {
			args: []string{"query", "logs", tourDay, "--data", data, "--limit", "9999"},
			code: exit.Failed, stderr: "limit",
		},
		"query refuses a limit of 0": {
			args: []string{"query", "logs", tourDay, "--data", data, "--limit", "0"},
			code: exit.Failed, stderr: "limit",
		},
		"query refuses an empty segment": {
			args: []string{"query", "stats", tourDay, "--data", data, "--segment", ""},
			code: exit.Failed, stderr: "segment: empty",
		},
		"query reports that more records match": {
			args: []string{"query", "logs", tourDay, "--data", data, "--limit", "2", "--format", "ndjson"},
			code: exit.Done, stderr: "more records match than the 2 printed",
		},
		"query refuses a folder that is not a data folder": {
			args: []string{"query", "logs", tourDay, "--data", foreign},
			code: exit.Failed, stderr: "holds other things, such as junk.log",
		},
		"explain refuses a folder that is not a data folder": {
			args: []string{"explain", "logs", tourDay, "--data", foreign},
			code: exit.Failed, stderr: "is not a data folder",
		},
		"import refuses a folder that is not a data folder": {
			args: []string{"import", "--data", foreign, junk},
			code: exit.Failed, stderr: "is not a data folder",
		},
		"serve refuses a folder that is not a data folder": {
			args: []string{"serve", "--data", foreign, "--listen", "127.0.0.1:0"},
			code: exit.Failed, stderr: "is not a data folder",
		},
		"key create refuses a folder that is not a data folder": {
			args: []string{"key", "create", "a", "--scope", "data:read", "--data", foreign},
			code: exit.Failed, stderr: "is not a data folder",
		},
		"query of an empty folder suggests an import": {
			args: []string{"query", "logs", tourDay, "--data", t.TempDir()},
			code: exit.Failed, stderr: "import a log",
		},
		"serve refuses an empty key": {
			args: []string{"serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--api-key", ""},
			code: exit.Usage, stderr: "the API key is empty",
		},
		"serve refuses a blank key": {
			args: []string{"serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--api-key", " "},
			code: exit.Usage, stderr: "the API key is empty",
		},
		"planet put refuses an empty ETag": {
			args:  []string{"planet", "put", "prod", "--data", data, "--if-match", ""},
			stdin: aPlanet, code: exit.Failed, stderr: "If-Match: empty",
		},
		"query of a missing folder suggests an import": {
			args: []string{"query", "logs", tourDay, "--data", filepath.Join(data, "none")},
			code: exit.Failed, stderr: "import a log",
		},
		"import exits with 3 if it rejects lines": {
			args: []string{"import", "--data", t.TempDir(), junk},
			code: exit.Rejected, stdout: "junk.log: 1 record, 1 rejected, ",
		},
		"compact reports what it merged": {
			args: []string{"compact", "--data", data},
			code: exit.Done, stdout: "merged 0 objects of 0 hours",
		},
		"compact rolls up days alone": {
			args: []string{"compact", "--rollups", "--data", tourData(t)},
			code: exit.Done, stdout: "rolled up 1 day\n",
		},
		"import names a missing file": {
			args: []string{"import", "--data", t.TempDir(), "none.log"},
			code: exit.Failed, stderr: "none.log",
		},
		"import refuses a bad format string": {
			args: []string{"import", "--data", t.TempDir(), "--log-format", "%h %u", junk},
			code: exit.Usage, stderr: "no variable of the time",
		},
		"import refuses a format with a format string": {
			args: []string{"import", "--data", t.TempDir(), "--log-format", "%h %t", "--format", "alb", junk},
			code: exit.Usage, stderr: "--format and --log-format define two formats",
		},
		"import reads a log by its format string": {
			args: []string{"import", "--data", t.TempDir(), "--log-format", "$msec $remote_addr $status", spaced},
			code: exit.Done, stdout: "(format string)",
		},
		"import reads a log by a pattern": {
			args: []string{
				"import", "--data", t.TempDir(), "--pattern", `(?P<timestamp>\S+) (?P<ip>\S+) (?P<status>\d+)`, spaced,
			},
			code: exit.Done, stdout: "(pattern)",
		},
		"import refuses a pattern without a time": {
			args: []string{"import", "--data", t.TempDir(), "--pattern", `(?P<ip>\S+)`, junk},
			code: exit.Usage, stderr: "no group has the name timestamp",
		},
		"import refuses two formats": {
			args: []string{"import", "--data", t.TempDir(), "--log-format", "%h %t", "--pattern", "x", junk},
			code: exit.Usage, stderr: "leave out one of them",
		},
		"import reads other logs in JSON by mappings": {
			args: []string{
				"import", "--data", t.TempDir(), "--map", "timestamp=at", "--map", "request_time=took_ms/1000", mapped,
			},
			code: exit.Done, stdout: "(mapped JSON)",
		},
		"import names the place of a mistake in a mapping": {
			args: []string{"import", "--data", t.TempDir(), "--map", "request_time=took_ms/x", mapped},
			code: exit.Usage, stderr: `map request_time=took_ms/x: column 22: "x" is not a number`,
		},
		"import lists the formats for an unknown name": {
			args: []string{"import", "--data", t.TempDir(), "--format", "haproxy", junk},
			code: exit.Usage, stderr: "use one of auto, orrery, aws-waf",
		},
		"import shows the first line of a log of no known format": {
			args: []string{"import", "--data", t.TempDir(), spaced},
			code: exit.Failed, stderr: "begins with",
		},
		"formats lists every format": {
			args: []string{"formats"}, code: exit.Done, stdout: "--pattern REGEXP",
		},
		"formats describes a format": {
			args: []string{"formats", "nginx"}, code: exit.Done, stdout: "the path stays percent-encoded",
		},
		"formats describes a format string": {
			args: []string{"formats", "--log-format", `$remote_addr [$time_local] "$request" $status $http_x_team`},
			code: exit.Done, stdout: "| `ip` | $remote_addr |\n| `method`, `path`, `query`, `protocol`, `arguments`, `path_parts` | $request |",
		},
		"formats describes a format string of Apache": {
			args: []string{"formats", "--log-format", `%h %t "%r" %>s %D`}, code: exit.Done, stdout: "| `request_time` | %D |",
		},
		"formats describes a format string as a name": {
			args: []string{"formats", `%h %t "%r" %>s %D`}, code: exit.Done, stdout: "| `request_time` | %D |",
		},
		"formats describes a pattern": {
			args: []string{"formats", "--pattern", `(?P<timestamp>\S+) (?P<peer>\S+)`}, code: exit.Done,
			stdout: "| `timestamp`, `time_period` | timestamp |\n| `ip`, `proxy[\"peer\"]` | peer |\n| `proxy[\"log_rest\"]` | the rest",
		},
		"formats describes mappings": {
			args: []string{"formats", "--map", "timestamp=at", "--map", "request_time=took.ms/1000"}, code: exit.Done,
			stdout: "| `request_time` | took.ms/1000 |",
		},
		"formats refuses an invalid format string": {
			args: []string{"formats", "--log-format", "$remote_addr"}, code: exit.Usage, stderr: "there is no variable of the time",
		},
		"formats refuses two formats": {
			args: []string{"formats", "nginx", "--pattern", "x"}, code: exit.Usage,
			stderr: "the name of a format and --pattern define two formats",
		},
		"formats refuses an unknown name": {
			args: []string{"formats", "squid"}, code: exit.Usage, stderr: "unknown format",
		},
		"import refuses a folder as a log": {
			args: []string{"import", "--data", t.TempDir(), t.TempDir()},
			code: exit.Failed, stderr: "is a folder",
		},
		"import refuses an unknown field": {
			args: []string{"import", "--data", t.TempDir(), "--set", "hots=a", junk},
			code: exit.Failed, stderr: "hots",
		},
		"import explains the format of --set": {
			args: []string{"import", "--data", t.TempDir(), "--set", "branch", junk},
			code: exit.Usage, stderr: "FIELD=VALUE",
		},
		"a table shows the requested fields": {
			args: []string{
				"query", "logs", tourDay, "--data", data, "--limit", "1", "--format", "table", "--fields",
				"country, asn",
			},
			code: exit.Done, stdout: "country",
		},
		"a table without rows reports the period of the data, and the period to ask for": {
			args: []string{
				"query", "logs", "timestamp between 1990-01-01 and 1990-01-02", "--data", data, "--format",
				"table",
			},
			code: exit.Done, stderr: "UTC, so ask for \"timestamp between 2026-01-01 00:0",
		},
		"a period after the newest record has the same remedy": {
			args: []string{
				"query", "topx", "timestamp between 2990-01-01 and 2990-01-02", "--data", data, "--format",
				"table",
			},
			code: exit.Done, stderr: "no records match; the data covers 2026-01-01 00:0",
		},
		"a limit is no error": {
			args: []string{"query", "logs", tourDay, "--data", data, "--limit", "1"},
			code: exit.Done, stderr: "raise --limit",
		},
		"a limit is an error with --strict": {
			args: []string{"query", "logs", tourDay, "--data", data, "--limit", "1", "--strict"},
			code: exit.Incomplete, stderr: "--strict is set",
		},
		"nothing is missing with --strict": {
			args: []string{"query", "topx", tourDay, "--data", data, "--strict"},
			code: exit.Done, stdout: `"results"`,
		},
		"version prints the version of Go": {
			args: []string{"version"},
			code: exit.Done, stdout: "(go1.",
		},
		"--version is the same": {
			args: []string{"--version"},
			code: exit.Done, stdout: "(go1.",
		},
		"serve refuses a short key for other machines": {
			args: []string{"serve", "--data", t.TempDir(), "--listen", "0.0.0.0:0", "--api-key", "short"},
			code: exit.Usage, stderr: "at least 16 random ones",
		},
		"serve needs both files for HTTPS": {
			args: []string{"serve", "--data", t.TempDir(), "--tls-cert", "cert.pem"},
			code: exit.Usage, stderr: "--tls-key",
		},
		"ddl prints Trino's tables": {
			args: []string{"ddl", "--location", "s3://b/lake", "--from-year", "2026"},
			code: exit.Done, stdout: "external_location = 's3://b/lake/fresh/'",
		},
		"ddl prints Athena's tables": {
			args: []string{"ddl", "--dialect", "athena", "--location", "s3://b/lake", "--from-year", "2026"},
			code: exit.Done, stdout: "CREATE EXTERNAL TABLE IF NOT EXISTS `traffic`.`traffic_fresh`",
		},
		"ddl explains the format of --location": {
			args: []string{"ddl", "--location", "/data/lake", "--from-year", "2026"},
			code: exit.Usage, stderr: "s3://bucket",
		},
		"serve explains the format of --trino": {
			args: []string{"serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--trino", "trino:8080"},
			code: exit.Usage, stderr: "https://trino.example:8443",
		},
		"serve refuses --watch with a cluster": {
			args: []string{"serve", "--data", t.TempDir(), "--trino", "http://127.0.0.1:1", "--watch"},
			code: exit.Usage, stderr: "orrery import",
		},
		"generate refuses two destinations": {
			args: []string{"generate", "--records", "5", "--data", data, "--output", "-"},
			code: exit.Usage, stderr: "--output FILE",
		},
		"generate requires a destination": {
			args: []string{"generate", "--records", "5"},
			code: exit.Usage, stderr: "--data",
		},
		"generate explains the format of times": {
			args: []string{"generate", "--records", "5", "--output", "-", "--from", "yesterday"},
			code: exit.Usage, stderr: "2026-01-31",
		},
		"generate lists the scenes": {
			args: []string{"generate", "--records", "5", "--output", "-", "--scene", "flood"},
			code: exit.Usage, stderr: "there is no scene flood; the scenes are flood-at-peak, ",
		},
		"generate refuses hostile records with a truth": {
			args: []string{"generate", "--records", "5", "--output", "-", "--nasty", "--truth", "truth.json"},
			code: exit.Usage, stderr: "--nasty",
		},
		"generate refuses a truth among records": {
			args: []string{"generate", "--records", "5", "--output", "-", "--truth", "-"},
			code: exit.Usage, stderr: "--output FILE",
		},
		"generate writes to standard output": {
			args: []string{"generate", "--records", "5", "--output", "-"},
			code: exit.Done, stdout: `"request_id"`,
		},
		"an unknown command is a usage error": {
			args: []string{"qeury"},
			code: exit.Usage, stderr: "query",
		},
		"--help prints the help": {
			args: []string{"--help"},
			code: exit.Done, stdout: "serve",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, code := orrery(t, test.stdin, test.args...)
			if code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			if !strings.Contains(stdout, test.stdout) || !strings.Contains(stderr, test.stderr) {
				t.Errorf("want %q in standard output and %q in standard error", test.stdout, test.stderr)
			}
			if t.Failed() {
				t.Logf("standard output:\n%.2000s\nstandard error:\n%.2000s", stdout, stderr)
			}
		})
	}
}

const aPlanet = `{"name":"main","trusted_nets":[],"ichallenge":{"attrs":{},"lang":{},"palette":[],"position":{}}}`

// TestRefusedFoldersStayUnchanged checks that a command that refuses a folder writes nothing into it.
func TestRefusedFoldersStayUnchanged(t *testing.T) {
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "notes.txt"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"query", "logs", tourDay}, {"explain", "logs", tourDay}, {"planet", "get", "prod"}, {"compact"},
		{"filter", "list"}, {"key", "list"}, {"key", "create", "a", "--scope", "data:read"}, {"generate", "--records", "5"},
		{"import", "-"}, {"serve", "--listen", "127.0.0.1:0"},
	} {
		_, stderr, code := orrery(t, "", append(args, "--data", foreign)...)
		if code != exit.Failed || !strings.Contains(stderr, "is not a data folder") {
			t.Errorf("%s: exit code %d, %s", strings.Join(args, " "), code, stderr)
		}
	}
	if entries, err := os.ReadDir(foreign); err != nil || len(entries) != 1 {
		t.Errorf("the folder contains %v, %v; want only notes.txt", entries, err)
	}
}

// TestEmptyKeyInTheEnvironment checks that an empty key is refused in the environment, too. Compose files set variables
// without a value to the empty string.
func TestEmptyKeyInTheEnvironment(t *testing.T) {
	t.Setenv("ORRERY_API_KEY", "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // a server that starts in spite of the key stops at once
	var stderr bytes.Buffer
	c := terminal.Console{In: strings.NewReader(""), Out: io.Discard, Err: &stderr}
	code := run(ctx, []string{"serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0"}, c)
	if code != exit.Usage || !strings.Contains(stderr.String(), "the API key is empty") {
		t.Errorf("exit code %d, %s", code, &stderr)
	}
}

// TestQueryReportsUnreadableHours checks that with an unreadable object, a query in any format exits with 5, prints the
// name of the object to standard error and answers for the other hours. Logs do not read objects that are older than
// the records they return.
func TestQueryReportsUnreadableHours(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	_, stderr, code := orrery(t, "", "generate", "--records", "500", "--data", data,
		"--from", "2026-01-01", "--to", "2026-01-02")
	if code != exit.Done {
		t.Fatal(stderr)
	}
	objects, err := filepath.Glob(filepath.Join(data, "lake", "fresh", "2026", "01", "01", "05", "*.parquet"))
	if err != nil || len(objects) != 1 {
		t.Fatalf("%v, %v", objects, err)
	}
	if err := os.Truncate(objects[0], 100); err != nil {
		t.Fatal(err)
	}
	for _, route := range []string{"logs", "stats", "timeline", "topx", "facets", "histogram", "diff"} {
		for _, format := range []string{"json", "ndjson", "csv", "table"} {
			args := []string{"query", route, tourDay, "--data", data, "--format", format}
			if route == "logs" { // the newest 200 are all in later hours
				args = append(args, "--limit", "1000")
			}
			if route == "diff" {
				args = append(args, "--select", "status>=400")
			}
			stdout, stderr, code := orrery(t, "", args...)
			if code != exit.Incomplete || stdout == "" || !strings.Contains(stderr, "1 object") ||
				!strings.Contains(stderr, "fresh/2026/01/01/05/") {
				t.Errorf("%s as %s: exit code %d, standard error %q, %d bytes of answer",
					route, format, code, stderr, len(stdout))
			}
		}
	}
	if err := os.Remove(objects[0]); err != nil {
		t.Fatal(err)
	}
	hour := "timestamp between 2026-01-01 05:00 and 2026-01-01 05:10"
	for _, args := range [][]string{{"--format", "table"}, {"--format", "csv"}, {"--all", "--format", "ndjson"}} {
		_, stderr, code = orrery(t, "", append([]string{"query", "logs", hour, "--data", data}, args...)...)
		unreadable := strings.Index(stderr, "unreadable: fresh/2026/01/01/05/")
		nothing := strings.Index(stderr, "no records match in the objects that could be read; the data covers")
		if code != exit.Incomplete || unreadable < 0 || nothing < unreadable {
			t.Errorf("%v without records: exit code %d, %s", args, code, stderr)
		}
	}
}

// TestGenerateFiles writes the same records plain and compressed, and checks that they are imported only once.
func TestGenerateFiles(t *testing.T) {
	folder := t.TempDir()
	data := filepath.Join(folder, "data")
	for _, name := range []string{"a.ndjson", "a.ndjson.gz", "a.ndjson.zst"} {
		file := filepath.Join(folder, name)
		_, stderr, code := orrery(t, "", "generate", "--records", "500", "--nasty", "--output", file,
			"--from", "2026-01-01", "--to", "2026-01-02")
		if code != exit.Done {
			t.Fatalf("generate %s: %s", name, stderr)
		}
		out, stderr, code := orrery(t, "", "import", "--data", data, file)
		if code != exit.Done {
			t.Fatalf("import %s exited %d: %s%s", name, code, out, stderr)
		}
		want := "500 records"
		if name != "a.ndjson" {
			want = ": 0 records, 0 rejected, "
		}
		if !strings.Contains(out, want) {
			t.Errorf("%s: %q, want %q", name, out, want)
		}
	}
}

// TestDataFolder checks that an empty name means the default folder, and that --output overrides ORRERY_DATA.
func TestDataFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("ORRERY_DATA", "")
	c := terminal.Console{In: strings.NewReader(`{"processing_stage":6,"timestamp":"2026-01-01T10:00:00Z"}`),
		Out: io.Discard, Err: io.Discard}
	if code := run(t.Context(), []string{"import", "-"}, c); code != exit.Done {
		t.Fatalf("import exited %d", code)
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) != 1 || entries[0].Name() != ".orrery" {
		t.Errorf("the working directory contains %v, want only .orrery", entries)
	}
	t.Setenv("ORRERY_DATA", "elsewhere")
	var out bytes.Buffer
	c.Out = &out
	code := run(t.Context(), []string{"generate", "--records", "3", "--output", "-"}, c)
	if code != exit.Done || strings.Count(out.String(), "\n") != 3 {
		t.Errorf("generate exited %d with %d lines", code, strings.Count(out.String(), "\n"))
	}
}

// TestImportGrowingFile checks that an incomplete last line is left until it is complete, or until --take-last.
func TestImportGrowingFile(t *testing.T) {
	const first = `192.0.2.7 - - [17/May/2026:10:05:03 +0000] "GET / HTTP/1.1" 200 51234` + "\n"
	const second = `192.0.2.7 - - [17/May/2026:10:05:04 +0000] "GET / HTTP/1.1" 200 5`
	const note = "1 unfinished line at the end (65 bytes without newline) is left for the next import"
	const grown = first + second + "1234\n" + second
	piped := strings.ReplaceAll(first+second, "192.0.2.7", "::1")
	data, file := t.TempDir(), filepath.Join(t.TempDir(), "access.log")
	for _, step := range []struct {
		name, text     string
		args           []string
		stdout, stderr string
	}{
		{"the only line is incomplete", second, []string{file}, "no records yet: its last line has no newline\n", note},
		{"the second line is incomplete", first + second, []string{file}, "access.log: 1 record, 0 rejected", note},
		{"the third line is incomplete", grown, []string{file}, "access.log: 1 record, 0 rejected", note},
		{"the file is complete", grown, []string{"--take-last", file}, "access.log: 1 record, 0 rejected", ""},
		{"nothing is new", grown, []string{file}, "access.log: 0 records, 0 rejected", ""},
		{"a pipe is complete", piped, []string{"-"}, ": 2 records,", ""},
	} {
		if err := os.WriteFile(file, []byte(step.text), 0o644); err != nil {
			t.Fatal(err)
		}
		stdout, stderr, code := orrery(t, step.text, append([]string{"import", "--data", data}, step.args...)...)
		if code != exit.Done || !strings.Contains(stdout, step.stdout) || !strings.Contains(stderr, step.stderr) {
			t.Errorf("%s: exit %d\n%s%s", step.name, code, stdout, stderr)
		}
		if step.stderr == "" && strings.Contains(stderr, "unfinished") {
			t.Errorf("%s: %s", step.name, stderr)
		}
	}
}

func TestImportAs(t *testing.T) {
	log := func(path string) string {
		return fmt.Sprintf(`192.0.2.7 - - [17/May/2026:10:05:03 +0000] "GET %s HTTP/1.1" 200 51234`+"\n", path)
	}
	data, folder := t.TempDir(), t.TempDir()
	file, copied := filepath.Join(folder, "access.log"), filepath.Join(folder, "copy.log")
	for _, path := range []string{file, copied} {
		if err := os.WriteFile(path, []byte(log("/")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		name, text string
		args       []string
		records    int
	}{
		{"a file has its own path", "", []string{file}, 1},
		{"standard input with that path is the same log", log("/"), []string{"--as", file, "-"}, 0},
		{"standard input with that path continues the log", log("/") + log("/a"), []string{"--as", file, "-"}, 1},
		{"standard input is another log", log("/") + log("/a"), []string{"-"}, 2},
		{"standard input is one log", log("/") + log("/a"), []string{"-"}, 0},
		{"a copy with the path of the log is the same log", "", []string{"--as", file + ".1", copied}, 0},
		{"a copy with its own path is another log", "", []string{copied}, 1},
	} {
		stdout, stderr, code := orrery(t, step.text, append([]string{"import", "--data", data}, step.args...)...)
		want := fmt.Sprintf(": %s, 0 rejected", terminal.Counted(step.records, "record"))
		if code != exit.Done || !strings.Contains(stdout, want) {
			t.Errorf("%s: exit %d, want %q\n%s%s", step.name, code, want, stdout, stderr)
		}
	}
	_, stderr, code := orrery(t, "", "import", "--data", data, "--as", file, file, copied)
	if code != exit.Usage || !strings.Contains(stderr, "--as is the path of one log") {
		t.Errorf("two files: exit %d: %s", code, stderr)
	}
}

// TestWriteFile checks that writeFile keeps a symbolic link and writes to a pipe.
func TestWriteFile(t *testing.T) {
	folder := t.TempDir()
	link := filepath.Join(folder, "link.ndjson")
	if err := os.Symlink(filepath.Join(folder, "file.ndjson"), link); err != nil {
		t.Skip("this system has no symbolic links")
	}
	write := func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }
	for range 2 { // the first creates the file, the second replaces it
		if err := writeFile(filepath.Join(folder, "file.ndjson"), write); err != nil {
			t.Fatal(err)
		}
		if err := writeFile(link, write); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info, err)
	}
	pipe := filepath.Join(folder, "pipe")
	if err := exec.Command("mkfifo", pipe).Run(); err != nil {
		t.Skip("this system has no named pipes")
	}
	read := make(chan []byte, 1)
	go func() {
		text, err := os.ReadFile(pipe)
		if err != nil {
			t.Error(err)
		}
		read <- text
	}()
	if err := writeFile(pipe, write); err != nil {
		t.Error(err)
	}
	if text := <-read; string(text) != "x" {
		t.Errorf("the reader of the pipe got %q", text)
	}
}
