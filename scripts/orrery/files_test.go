//go:build cgo

package main

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/trino/trinotest"
)

// compactedData is a data folder with merged hours, whose earlier files are still there, and hours with new objects.
func compactedData(t *testing.T) string {
	t.Helper()
	data := tourData(t)
	does := commandsOn(t, data)
	does(exit.Done, "2000 records", "generate", "--records", "2000", "--seed", "4", "--from", "2026-01-01",
		"--to", "2026-01-01T12:00:00")
	does(exit.Done, "merged 24 objects of 12 hours", "compact")
	does(exit.Done, "500 records", "generate", "--records", "500", "--seed", "5", "--from", "2026-01-01T06:00:00",
		"--to", "2026-01-01T18:00:00")
	return data
}

// viewed are the fields that the tests compare, besides the time.
var viewed = []string{"ip", "status", "request_time", "upstream_response_time", "blocked", "country", "bytes_sent", "svcid"}

// askedRecords returns a line for each record of a period, as the API has them.
func askedRecords(t *testing.T, data, period string) (lines []string) {
	t.Helper()
	stdout, stderr, code := inProcess(t, "query", "logs", period, "--all", "--data", data,
		"--fields", "timestamp,"+strings.Join(viewed, ","))
	if code != exit.Done {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	scanner := bufio.NewScanner(strings.NewReader(stdout))
	for scanner.Scan() {
		var record map[string]any
		if err := json.Unmarshal(scanner.Bytes(), &record); err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse(time.RFC3339Nano, record["timestamp"].(string))
		if err != nil {
			t.Fatal(err)
		}
		values := []any{at.UnixMicro()}
		for _, field := range viewed {
			values = append(values, record[field])
		}
		lines = append(lines, lineOf(t, values))
	}
	slices.Sort(lines)
	return lines
}

// lineOf returns values as JSON, in which equal numbers have the same text.
func lineOf(t *testing.T, values any) string {
	t.Helper()
	text, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		t.Fatal(err)
	}
	if text, err = json.Marshal(plain); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// printedBy returns what a command prints.
func printedBy(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, code := inProcess(t, args...)
	if code != exit.Done {
		t.Fatalf("%s: exit %d: %s", strings.Join(args, " "), code, stderr)
	}
	return stdout
}

const morning = "timestamp between 2026-01-01 00:30:00 and 2026-01-01 11:15:00"

// TestViewOfDuckDB: the view has each record of a period once, with the values of the API, in contrast to all files.
func TestViewOfDuckDB(t *testing.T) {
	data := compactedData(t)
	for _, period := range []string{morning, tourDay} {
		db, err := sql.Open("duckdb", "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), printedBy(t, "sql", period, "--data", data)); err != nil {
			t.Fatal(err)
		}
		rows, err := db.QueryContext(t.Context(), "SELECT epoch_us(timestamp), "+strings.Join(viewed, ", ")+" FROM traffic")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for rows.Next() {
			values := make([]any, len(viewed)+1)
			places := make([]any, len(values))
			for i := range values {
				places[i] = &values[i]
			}
			if err := rows.Scan(places...); err != nil {
				t.Fatal(err)
			}
			got = append(got, lineOf(t, values))
		}
		slices.Sort(got)
		if diff := cmp.Diff(askedRecords(t, data, period), got); diff != "" || len(got) < 1000 {
			t.Errorf("%s: %d records (-API +view):\n%s", period, len(got), diff)
		}
		var all int
		glob := "SELECT count(*) FROM read_parquet('" + data + "/lake/*/*/*/*/*/*.parquet')"
		if err := db.QueryRowContext(t.Context(), glob).Scan(&all); err != nil || all <= 5500 {
			t.Errorf("all files have %d records, so the test shows nothing; %v", all, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestViewsOfPython: as TestViewOfDuckDB. ORRERY_TEST_PYTHON names a Python that has pyarrow, pandas, polars and pyspark,
// which needs Java.
func TestViewsOfPython(t *testing.T) {
	python := os.Getenv("ORRERY_TEST_PYTHON")
	if python == "" {
		python = "python3"
	}
	data := compactedData(t)
	list := `["` + strings.Join(viewed, `", "`) + `"]`
	for tool, test := range map[string]struct{ modules, rest string }{
		"pandas": {"pyarrow, pandas", `rows = table.select(["timestamp"] + names).to_pylist()
assert len(traffic) == len(rows) and str(traffic["timestamp"].dtype) == "datetime64[ns, UTC]"
`},
		"polars": {"polars", `rows = traffic.select(["timestamp"] + names).collect().to_dicts()
`},
		"spark": {"pyspark", `rows = spark.sql("SELECT timestamp, " + ", ".join(names) + " FROM traffic").collect()
`},
	} {
		t.Run(tool, func(t *testing.T) {
			if err := exec.Command(python, "-c", "import "+test.modules).Run(); err != nil {
				t.Skipf("%s lacks %s: %v", python, test.modules, err)
			}
			if _, err := exec.LookPath("java"); tool == "spark" && err != nil {
				t.Skip(err)
			}
			got := printedByPython(t, python, "names = "+list+"\n"+
				printedBy(t, "sql", morning, "--for", tool, "--data", data)+test.rest)
			if diff := cmp.Diff(askedRecords(t, data, morning), got); diff != "" || len(got) < 1000 {
				t.Errorf("%d records (-API +program):\n%s", len(got), diff)
			}
		})
	}
}

// printedByPython runs a program that makes rows, and returns a line for each of them.
func printedByPython(t *testing.T, python, program string) (lines []string) {
	t.Helper()
	program += `
import json
for row in rows:
    at = row["timestamp"]
    micros = at.value // 1000 if hasattr(at, "value") else round(at.timestamp() * 1e6)
    print(json.dumps([micros] + [row[n] for n in names]))
`
	var errs bytes.Buffer
	command := exec.CommandContext(t.Context(), python, "-")
	command.Stdin, command.Stderr = strings.NewReader(program), &errs
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		lines = append(lines, lineOf(t, json.RawMessage(line)))
	}
	slices.Sort(lines)
	return lines
}

// TestViewOfTrino: as TestViewOfDuckDB, over copies of all files of the data folder and further objects.
func TestViewOfTrino(t *testing.T) {
	trinotest.Server(t)
	data := compactedData(t)
	tables := trinotest.LoadProjected(t, enginetest.Records(t, 10, 5), trinotest.NothingCompacted)
	for _, folder := range []string{"fresh", "compact"} {
		copied := os.DirFS(filepath.Join(data, "lake", folder))
		if err := os.CopyFS(filepath.Join(tables.Store.Dir, folder), copied); err != nil {
			t.Fatal(err)
		}
	}
	for _, period := range []string{morning, tourDay} {
		view := printedBy(t, "sql", period, "--for", "trino", "--location", tables.Folder, "--data", data)
		if _, err := tables.Query(t.Context(), strings.TrimSuffix(view, ";\n")); err != nil {
			t.Fatal(err)
		}
		rows, err := tables.Query(t.Context(), "SELECT json_format(CAST(ARRAY[CAST(CAST(to_unixtime(timestamp) * 1e6 AS "+
			"BIGINT) AS JSON), CAST("+strings.Join(viewed, " AS JSON), CAST(")+" AS JSON)] AS JSON)) FROM traffic")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, row := range rows {
			got = append(got, lineOf(t, json.RawMessage(*row[0])))
		}
		slices.Sort(got)
		if diff := cmp.Diff(askedRecords(t, data, period), got); diff != "" || len(got) < 1000 {
			t.Errorf("%s: %d records (-API +view):\n%s", period, len(got), diff)
		}
	}
	if _, err := tables.Query(t.Context(), "DROP VIEW traffic"); err != nil {
		t.Error(err)
	}
}

func TestFiles(t *testing.T) {
	data := compactedData(t)
	var list []liveObject
	if err := json.Unmarshal([]byte(printedBy(t, "files", "--format", "json", "--data", data)), &list); err != nil {
		t.Fatal(err)
	}
	records, hours := int64(0), map[string]bool{}
	for _, o := range list {
		info, err := os.Stat(o.Path)
		if err != nil || info.Size() != o.Bytes || !filepath.IsAbs(o.Path) {
			t.Errorf("%+v, %v", o, err)
		}
		records += o.Records
		hours[o.Hour] = true
	}
	if records != 5500 || len(hours) != 24 {
		t.Errorf("%d records in %d hours", records, len(hours))
	}
	paths := strings.Fields(printedBy(t, "files", "--data", data))
	if len(paths) != len(list) || paths[0] != list[0].Path {
		t.Errorf("%d paths of %d objects", len(paths), len(list))
	}
	hour := printedBy(t, "files", "timestamp between 2026-01-01 20:10 and 2026-01-01 20:50", "--data", data)
	if strings.Count(hour, "\n") != 1 || !strings.Contains(hour, filepath.FromSlash("2026/01/01/20/")) {
		t.Errorf("one hour: %s", hour)
	}
	does := commandsOn(t, data)
	does(exit.Done, "", "files", "-1h")
	does(exit.Usage, "may only be a period", "files", morning+", status=404")
	does(exit.Failed, "^^^^", "files", "hots=1, "+morning)
	does(exit.Failed, "there are no records in this period", "sql", "-1h")
	does(exit.Usage, `"a b" is not a name`, "sql", "--view", "a b")
	does(exit.Usage, "--for trino needs --location", "sql", "--for", "trino")
	does(exit.Usage, "--for trino needs --location", "sql", "--location", "s3://b/lake/")
	does(exit.Done, "'s3://b/lake/compact/2026/01/01/", "sql", "--for", "trino", "--location", "s3://b/lake")
	does(exit.Done, "CREATE OR REPLACE VIEW requests AS", "sql", "--view", "requests")
	quoted := filepath.Join(t.TempDir(), "it's")
	commandsOn(t, quoted)(exit.Done, fmt.Sprint(100, " records"), "generate", "--records", "100")
	commandsOn(t, quoted)(exit.Done, "it''s", "sql")
}
