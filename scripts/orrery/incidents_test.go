package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/client"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/incident/asking"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/search"
)

// asked asks the questions of incidents.
type asked answering.Ask

func (a asked) Ask(ctx context.Context, route string, params map[string]string) ([]byte, error) {
	return a(ctx, route, params)
}

// TestIncidentsOfAFolder: the incidents of a data folder are those that the reference finds, before and after
// compaction, whatever the order in which the logs were imported.
func TestIncidentsOfAFolder(t *testing.T) {
	const day = "timestamp between 2026-01-01 and 2026-01-01 23:59:59.999"
	var lines [][]byte
	var rows []*lake.Row
	decoder, records := record.NewDecoder(), gen.New(gen.Options{Records: 20_000, Seed: 1})
	for line, more := records.Next(nil); more; line, more = records.Next(nil) {
		row := &lake.Row{Source: "s", Line: int64(len(lines) + 1)}
		if _, err := decoder.Decode(line, row); err != nil {
			t.Fatal(err)
		}
		lines, rows = append(lines, line), append(rows, row)
	}
	service, err := search.New(enginetest.Oracle{Rows: rows}, search.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	want, err := asking.Run(t.Context(), asked(answering.AskAs(service, nil, "", nil)), asking.Request{Filters: day})
	if err != nil || len(want.Results) != 6 {
		t.Fatalf("%d incidents, %v", len(want.Results), err)
	}
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	for i, half := range [][][]byte{lines[len(lines)/2:], lines[:len(lines)/2]} { // the later one first
		file := filepath.Join(dir, string(rune('a'+i))+".ndjson")
		if err := os.WriteFile(file, append(bytes.Join(half, []byte("\n")), '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, stderr, code := inProcess(t, "import", "--data", data, file); code != 0 {
			t.Fatal(stderr)
		}
	}
	for _, state := range []string{"imported", "compacted"} {
		stdout, stderr, code := inProcess(t, "incidents", "--data", data, "--format", "json", day)
		var got struct {
			Data struct{ Results []client.Incident }
		}
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 0 {
			t.Fatalf("%s: %d %v %s", state, code, err, stderr)
		}
		if diff := cmp.Diff(want.Results, got.Data.Results); diff != "" {
			t.Errorf("%s (-reference +folder): %s", state, diff)
		}
		if _, stderr, code := inProcess(t, "compact", "--data", data); code != 0 {
			t.Fatal(stderr)
		}
	}
}

// TestIncidentsOfRealLogs: a scan that is a whole log is found, and a blog, a shop and noise of every day have no
// incidents.
func TestIncidentsOfRealLogs(t *testing.T) {
	logs, there := realLogs(t)
	if !there {
		t.Skip("there are no real logs next to the repository")
	}
	for name, counted := range realCounts {
		data := filepath.Join(t.TempDir(), "data")
		if _, stderr, code := inProcess(t, "import", "--data", data, filepath.Join(logs, name)); code != 0 {
			t.Fatal(stderr)
		}
		stdout, stderr, code := inProcess(t, "incidents", "--data", data, "--format", "table", counted.period)
		want := ""
		if name == "alb-scan.log.gz" {
			want = "2022-07-05 04:47–04:49  Scan of 54.186.209.42?  0 of 63"
		}
		if code != 0 || !strings.Contains(stdout, want) || want == "" && stdout != "" {
			t.Errorf("%s: %d %s%s", name, code, stdout, stderr)
		}
	}
}

// TestTableOfIncidents: the table has at most 100 columns, and marks what is less certain.
func TestTableOfIncidents(t *testing.T) {
	const results = `[
		{"kind":"password guessing","target":"bank.example/login","begin":"2026-01-01T16:19:00Z","end":"2026-01-01T16:27:00Z",
			"certain":true,"num_of_requests":2472,"num_of_blocked_requests":2203,"num_of_ip":168,"held":{"state":"held"}},
		{"kind":"flood","target":"–","begin":"2026-01-01T17:00:00Z","end":"2026-01-01T17:30:00Z","begins_earlier":true,
			"ends_later":true,"certain":true,"num_of_requests":400,"num_of_blocked_requests":400,"num_of_ip":1,"held":{"state":"look"}},
		{"kind":"scan","target":"a-very-long-name-of-a-host-that-nobody.example/old","begin":"2026-01-01T23:50:00Z","end":null,
			"certain":false,"num_of_requests":112472,"num_of_blocked_requests":0,"num_of_ip":1,"held":{"state":"not held"}}]`
	url := answeringServer(t, results, "")
	stdout, stderr, code := inProcess(t, "incidents", "--url", url, "--tz", "Europe/Berlin", "--format", "table", "x")
	want := "when                      what                                         blocked         IPs  held\n" +
		"2026-01-01 17:19–17:27    Password guessing at bank.example/login      2,203 of 2,472  168  held\n" +
		"2026-01-01 …18:00–18:30…  Flood of –                                   400 of 400      1    look\n" +
		"2026-01-02 00:50–         Scan of a-very-long-name-of-a-host-that-n…?  0 of 112,472    1    not held\n" +
		"? concluded from what the origin answered; the gateway stopped few of these requests or none\n"
	if diff := cmp.Diff(want, stdout); diff != "" || stderr != "" || code != 0 {
		t.Errorf("%d %s %s", code, stderr, diff)
	}
	for line := range strings.Lines(stdout) {
		if utf8.RuneCountInString(line) > 101 {
			t.Errorf("too long: %s", line)
		}
	}
}

// TestNoIncidents: an answer without incidents says so, and for which period there is data.
func TestNoIncidents(t *testing.T) {
	url := answeringServer(t, "[]", "")
	stdout, stderr, code := inProcess(t, "incidents", "--url", url, "--format", "table", "x")
	want := "no incidents; the data covers 2026-01-01 00:00:00 to 2026-01-03 00:00:00 UTC\n"
	if stdout != "" || stderr != want || code != 0 {
		t.Errorf("%d %q %q", code, stdout, stderr)
	}
}

// TestIncidentsNeedAPeriod: mistakes in the flags are reported before anything is asked.
func TestIncidentsNeedAPeriod(t *testing.T) {
	for _, args := range [][]string{{}, {"--dry-run", "--format", "csv", "--last", "1h"}} {
		if _, stderr, code := inProcess(t, append([]string{"incidents"}, args...)...); code != 2 || stderr == "" {
			t.Errorf("%q: %d %s", args, code, stderr)
		}
	}
}
