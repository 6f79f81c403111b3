package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCommands runs commands to their end: what they print, where, and how they exit.
func TestCommands(t *testing.T) {
	data := tourData(t)
	junk := filepath.Join(t.TempDir(), "junk.log")
	if err := os.WriteFile(junk, []byte(`{"timestamp":"2026-01-01T10:00:00Z","path":"/a"}`+"\n{broken\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Dir(junk)
	tests := map[string]struct {
		args           []string
		stdin          string
		code           int
		stdout, stderr string // substrings
	}{
		"parse prints both forms":                  {[]string{"parse", `status=404, timestamp between 2026-01-02 and 2026-01-01`}, "", exitDone, `"op":"eq","value":404`, ""},
		"parse draws mistakes":                     {[]string{"parse", `hots=a, ` + tourDay}, "", exitFailed, "", "^^^^"},
		"parse reads standard input":               {[]string{"parse", "-"}, tourDay + "\n", exitDone, "timestamp between 2026-01-01 00:00:00 and 2026-01-02 00:00:00", ""},
		"fields lists the catalogue":               {[]string{"fields"}, "", exitDone, "upstream_response_time", ""},
		"explain shows Athena's SQL":               {[]string{"explain", "topx", tourDay, "--data", data, "--engine", "athena"}, "", exitDone, "datehour BETWEEN '2026/01/01/00'", ""},
		"explain shows the scan's stand-in":        {[]string{"explain", "topx", tourDay, "--data", data}, "", exitDone, "(run only if the scan cannot answer)", ""},
		"explain shows DuckDB's SQL":               {[]string{"explain", "logs", tourDay, "--data", data}, "", exitDone, "read_parquet", ""},
		"explain tells what would be read":         {[]string{"explain", "stats", tourDay, "--data", data}, "", exitDone, "partitions 24, from 2026/01/01/00 to 2026/01/01/23", ""},
		"explain works without data":               {[]string{"explain", "logs", tourDay, "--data", filepath.Join(data, "none")}, "", exitDone, "there is no data", ""},
		"query prints JSON off a terminal":         {[]string{"query", "stats", tourDay, "--data", data}, "", exitDone, `{"data":{"results":[`, ""},
		"query prints a result a line":             {[]string{"query", "logs", tourDay, "--data", data, "--limit", "2", "--format", "ndjson", "--fields", "ip"}, "", exitDone, "{\"ip\":\"", ""},
		"query draws the API's refusal":            {[]string{"query", "logs", "hots=1, " + tourDay, "--data", data}, "", exitFailed, "", "corrected: host=1"},
		"query names a wrong parameter":            {[]string{"query", "logs", tourDay, "--data", data, "--limit", "9999"}, "", exitFailed, "", "limit"},
		"query refuses a limit of 0":               {[]string{"query", "logs", tourDay, "--data", data, "--limit", "0"}, "", exitFailed, "", "limit"},
		"query refuses an empty segment":           {[]string{"query", "stats", tourDay, "--data", data, "--segment", ""}, "", exitFailed, "", "segment: empty"},
		"query reports that records are left out":  {[]string{"query", "logs", tourDay, "--data", data, "--limit", "2", "--format", "ndjson"}, "", exitDone, "", "more records match than the 2 printed"},
		"query refuses a folder of other things":   {[]string{"query", "logs", tourDay, "--data", foreign}, "", exitFailed, "", "holds other things, such as junk.log"},
		"explain refuses a folder of other things": {[]string{"explain", "logs", tourDay, "--data", foreign}, "", exitFailed, "", "is not a data folder"},
		"import refuses a folder of other things":  {[]string{"import", "--data", foreign, junk}, "", exitFailed, "", "is not a data folder"},
		"serve refuses a folder of other things":   {[]string{"serve", "--data", foreign, "--listen", "127.0.0.1:0"}, "", exitFailed, "", "is not a data folder"},
		"key create refuses such a folder too":     {[]string{"key", "create", "a", "--scope", "data:read", "--data", foreign}, "", exitFailed, "", "is not a data folder"},
		"query of an empty folder finds no data":   {[]string{"query", "logs", tourDay, "--data", t.TempDir()}, "", exitFailed, "", "import a log"},
		"serve refuses an empty key":               {[]string{"serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--api-key", ""}, "", exitUsage, "", "the API key is empty"},
		"serve refuses a blank key":                {[]string{"serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--api-key", " "}, "", exitUsage, "", "the API key is empty"},
		"planet put refuses an empty ETag":         {[]string{"planet", "put", "prod", "--data", data, "--if-match", ""}, aPlanet, exitFailed, "", "header.If-Match: empty"},
		"query of no data says what to do":         {[]string{"query", "logs", tourDay, "--data", filepath.Join(data, "none")}, "", exitFailed, "", "import a log"},
		"import keeps bad lines and exits 3":       {[]string{"import", "--data", t.TempDir(), junk}, "", exitRejected, "1 records in 1 partitions, 1 rejected", ""},
		"compact says what it merged":              {[]string{"compact", "--data", data}, "", exitDone, "merged 0 objects of 0 hours", ""},
		"import of nothing there names the file":   {[]string{"import", "--data", t.TempDir(), "none.log"}, "", exitFailed, "", "none.log"},
		"import refuses a folder":                  {[]string{"import", "--data", t.TempDir(), t.TempDir()}, "", exitFailed, "", "is a folder"},
		"import refuses a field that is not there": {[]string{"import", "--data", t.TempDir(), "--set", "hots=a", junk}, "", exitFailed, "", "hots"},
		"import explains --set":                    {[]string{"import", "--data", t.TempDir(), "--set", "branch", junk}, "", exitUsage, "", "FIELD=VALUE"},
		"a table shows the fields asked for":       {[]string{"query", "logs", tourDay, "--data", data, "--limit", "1", "--format", "table", "--fields", "country, asn"}, "", exitDone, "country", ""},
		"a table without rows says so":             {[]string{"query", "logs", "timestamp between 1990-01-01 and 1990-01-02", "--data", data, "--format", "table"}, "", exitDone, "", "no records match"},
		"ddl prints Trino's tables":                {[]string{"ddl", "--location", "s3://b/lake", "--from-year", "2026"}, "", exitDone, "external_location = 's3://b/lake/fresh/'", ""},
		"ddl prints Athena's tables":               {[]string{"ddl", "--dialect", "athena", "--location", "s3://b/lake", "--from-year", "2026"}, "", exitDone, "CREATE EXTERNAL TABLE IF NOT EXISTS `traffic`.`traffic_fresh`", ""},
		"ddl explains locations":                   {[]string{"ddl", "--location", "/data/lake", "--from-year", "2026"}, "", exitUsage, "", "s3://bucket"},
		"serve explains a cluster's address":       {[]string{"serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--trino", "trino:8080"}, "", exitUsage, "", "https://trino.example:8443"},
		"serve does not watch for a cluster":       {[]string{"serve", "--data", t.TempDir(), "--trino", "http://127.0.0.1:1", "--watch"}, "", exitUsage, "", "orrery import"},
		"generate takes one place":                 {[]string{"generate", "--records", "5", "--data", data, "--output", "-"}, "", exitUsage, "", "--output FILE"},
		"generate needs a place":                   {[]string{"generate", "--records", "5"}, "", exitUsage, "", "--data"},
		"generate explains times":                  {[]string{"generate", "--records", "5", "--output", "-", "--from", "yesterday"}, "", exitUsage, "", "2026-01-31"},
		"generate writes to standard output":       {[]string{"generate", "--records", "5", "--output", "-"}, "", exitDone, `"request_id"`, ""},
		"an unknown command is usage":              {[]string{"qeury"}, "", exitUsage, "", "query"},
		"help is help":                             {[]string{"--help"}, "", exitDone, "serve", ""},
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

// TestRefusedFoldersStayAsTheyAre: a command that refuses a folder leaves nothing in it.
func TestRefusedFoldersStayAsTheyAre(t *testing.T) {
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "notes.txt"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"query", "logs", tourDay}, {"explain", "logs", tourDay}, {"planet", "get", "prod"}, {"compact"}, {"key", "list"},
		{"key", "create", "a", "--scope", "data:read"}, {"generate", "--records", "5"}, {"import", "-"}, {"serve", "--listen", "127.0.0.1:0"},
	} {
		if _, stderr, code := orrery(t, "", append(args, "--data", foreign)...); code != exitFailed || !strings.Contains(stderr, "is not a data folder") {
			t.Errorf("%s: exit code %d, %s", strings.Join(args, " "), code, stderr)
		}
	}
	if entries, err := os.ReadDir(foreign); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v; want notes.txt alone", entries, err)
	}
}

// TestAnEmptyKeyInTheEnvironment is refused as on the command line: compose files set variables that are not there.
func TestAnEmptyKeyInTheEnvironment(t *testing.T) {
	t.Setenv("ORRERY_API_KEY", "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // a server that starts all the same ends at once
	var stderr bytes.Buffer
	c := console{in: strings.NewReader(""), out: io.Discard, err: &stderr}
	if code := run(ctx, []string{"serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0"}, c); code != exitUsage || !strings.Contains(stderr.String(), "the API key is empty") {
		t.Errorf("exit code %d, %s", code, &stderr)
	}
}

// TestQueryReportsUnreadableHours: an object that cannot be read ends every format with exit code 5 and its name on
// standard error. The other hours are answered.
func TestQueryReportsUnreadableHours(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	if _, stderr, code := orrery(t, "", "generate", "--records", "500", "--data", data, "--from", "2026-01-01", "--to", "2026-01-02"); code != exitDone {
		t.Fatal(stderr)
	}
	objects, err := filepath.Glob(filepath.Join(data, "lake", "fresh", "2026", "01", "01", "05", "*.parquet"))
	if err != nil || len(objects) != 1 {
		t.Fatalf("%v, %v", objects, err)
	}
	if err := os.Truncate(objects[0], 100); err != nil {
		t.Fatal(err)
	}
	for _, route := range []string{"logs", "stats", "timeline", "topx"} {
		for _, format := range []string{"json", "ndjson", "table"} {
			stdout, stderr, code := orrery(t, "", "query", route, tourDay, "--data", data, "--format", format)
			if code != exitIncomplete || !strings.Contains(stderr, "fresh/2026/01/01/05/") || !strings.Contains(stderr, "1 object") || stdout == "" {
				t.Errorf("%s as %s: exit code %d, standard error %q, %d bytes of answer", route, format, code, stderr, len(stdout))
			}
		}
	}
	hour := "timestamp between 2026-01-01 05:00 and 2026-01-01 05:10"
	if _, stderr, code := orrery(t, "", "query", "logs", hour, "--data", data, "--format", "table"); code != exitIncomplete {
		t.Errorf("without records: exit code %d, %s", code, stderr)
	}
}

// TestGenerateFiles writes the same records plain and compressed, and imports both as one.
func TestGenerateFiles(t *testing.T) {
	folder := t.TempDir()
	data := filepath.Join(folder, "data")
	for _, name := range []string{"a.ndjson", "a.ndjson.gz", "a.ndjson.zst"} {
		file := filepath.Join(folder, name)
		if _, stderr, code := orrery(t, "", "generate", "--records", "500", "--nasty", "--output", file, "--from", "2026-01-01", "--to", "2026-01-02"); code != exitDone {
			t.Fatalf("generate %s: %s", name, stderr)
		}
		out, stderr, code := orrery(t, "", "import", "--data", data, file)
		if code != exitDone {
			t.Fatalf("import %s exited %d: %s%s", name, code, out, stderr)
		}
		want := "500 records"
		if name != "a.ndjson" {
			want = "0 records in 0 partitions, 0 rejected"
		}
		if !strings.Contains(out, want) {
			t.Errorf("%s: %q, want %q", name, out, want)
		}
	}
}

// TestDataFolder: an empty name means the default folder, and --output wins over ORRERY_DATA.
func TestDataFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("ORRERY_DATA", "")
	c := console{in: strings.NewReader(`{"timestamp":"2026-01-01T10:00:00Z"}`), out: io.Discard, err: io.Discard}
	if code := run(t.Context(), []string{"import", "-"}, c); code != exitDone {
		t.Fatalf("import exited %d", code)
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) != 1 || entries[0].Name() != ".orrery" {
		t.Errorf("the working directory holds %v, want only .orrery", entries)
	}
	t.Setenv("ORRERY_DATA", "elsewhere")
	var out bytes.Buffer
	c.out = &out
	if code := run(t.Context(), []string{"generate", "--records", "3", "--output", "-"}, c); code != exitDone || strings.Count(out.String(), "\n") != 3 {
		t.Errorf("generate exited %d with %d lines", code, strings.Count(out.String(), "\n"))
	}
}

// TestImportOfAGrowingFile: a line being written waits for its end, or for --take-last.
func TestImportOfAGrowingFile(t *testing.T) {
	const first = `192.0.2.7 - - [17/May/2026:10:05:03 +0000] "GET / HTTP/1.1" 200 51234` + "\n"
	const second = `192.0.2.7 - - [17/May/2026:10:05:04 +0000] "GET / HTTP/1.1" 200 5`
	const note = "1 unfinished line at the end (65 bytes without newline) is left for the next import"
	const grown = first + second + "1234\n" + second
	data, file := t.TempDir(), filepath.Join(t.TempDir(), "access.log")
	for _, step := range []struct {
		what, text     string
		args           []string
		stdout, stderr string
	}{
		{"the second line is being written", first + second, []string{file}, "1 records in 1 partitions", note},
		{"it is whole, a third begins", grown, []string{file}, "1 records in 1 partitions", note},
		{"the file is complete", grown, []string{"--take-last", file}, "1 records in 1 partitions", ""},
		{"nothing is new", grown, []string{file}, "0 records in 0 partitions", ""},
		{"a pipe is complete", strings.ReplaceAll(first+second, "192.0.2.7", "::1"), []string{"-"}, "2 records in 1", ""},
	} {
		if err := os.WriteFile(file, []byte(step.text), 0o644); err != nil {
			t.Fatal(err)
		}
		stdout, stderr, code := orrery(t, step.text, append([]string{"import", "--data", data}, step.args...)...)
		if code != exitDone || !strings.Contains(stdout, step.stdout) || !strings.Contains(stderr, step.stderr) {
			t.Errorf("%s: exit %d\n%s%s", step.what, code, stdout, stderr)
		}
		if step.stderr == "" && strings.Contains(stderr, "unfinished") {
			t.Errorf("%s: %s", step.what, stderr)
		}
	}
}

// TestWriteFile: a link stays a link, and a pipe is written to.
func TestWriteFile(t *testing.T) {
	folder := t.TempDir()
	link := filepath.Join(folder, "link.ndjson")
	if err := os.Symlink(filepath.Join(folder, "file.ndjson"), link); err != nil {
		t.Skip("no symbolic links here")
	}
	write := func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }
	for range 2 { // the first makes the file, the second replaces it
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
		t.Skip("no named pipes here")
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
