package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
)

// inProcess runs a command in this process.
func inProcess(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return withInput(t, "", args...)
}

// withInput is inProcess with a standard input.
func withInput(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, terminal.Console{In: strings.NewReader(stdin), Out: &out, Err: &errs})
	return out.String(), errs.String(), code
}

// answeringServer is a server that gives the same answer to every request for data.
func answeringServer(t *testing.T, results, meta string) (url string) {
	t.Helper()
	body := `{"data":{"results":` + results + `},"meta":{` +
		`"period":{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z"},"newest":"2026-01-03T00:00:00Z","oldest":"2026-01-01T00:00:00Z","complete_through":null` + meta + `}}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestQueryReportsWhatAnAnswerLacks: in every format, with one page and with all of them, standard error has what meta
// reports. Only unreadable objects are a failure without --strict.
func TestQueryReportsWhatAnAnswerLacks(t *testing.T) {
	for name, test := range map[string]struct {
		meta, stderr    string
		usually, strict int // exit codes
	}{
		"nothing":            {"", "", exit.Done, exit.Done},
		"no late records":    {`,"late":0`, "", exit.Done, exit.Done},
		"unknown late ones":  {`,"late":null`, "", exit.Done, exit.Done},
		"late records":       {`,"late":3`, "3 records arrived late", exit.Done, exit.Incomplete},
		"records past limit": {`,"truncated":{"reason":"limit"}`, "raise --limit", exit.Done, exit.Incomplete},
		"records past size":  {`,"truncated":{"reason":"bytes"}`, "its size limit", exit.Done, exit.Incomplete},
		"demo records":       {`,"demo":true`, "generated records of a demo", exit.Done, exit.Incomplete},
		"saturated sums":     {`,"saturated":["sum_of_x"]`, "is printed: sum_of_x\n", exit.Done, exit.Incomplete},
		"old objects": {
			`,"estimate":{"lacking":[{"name":"log_rest","objects":2}]}`, "wrote 2 objects of the period without log_rest",
			exit.Done, exit.Incomplete,
		},
		"late logs": {
			`,"complete_through":"2026-01-01T12:00:00Z"`, "complete through 2026-01-01T12:00:00Z",
			exit.Done, exit.Incomplete,
		},
		"skipped objects": {
			`,"skipped":["fresh/a.parquet"]`, "  unreadable: fresh/a.parquet\n", exit.Incomplete, exit.Incomplete,
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := answeringServer(t, `[{"timestamp":"2026-01-01T10:00:00Z","ip":"192.0.2.1"}]`, test.meta)
			for _, form := range [][]string{
				{"--format", "json"}, {"--format", "ndjson"}, {"--format", "csv"}, {"--format", "table"},
				{"--all", "--format", "json"}, {"--all", "--format", "ndjson"}, {"--all", "--format", "csv"},
			} {
				args := append([]string{"query", "logs", tourDay, "--url", server}, form...)
				for _, strict := range []bool{false, true} {
					args, want := slices.Clone(args), test.usually
					if strict {
						args, want = append(args, "--strict"), test.strict
					}
					stdout, stderr, code := inProcess(t, args...)
					loud := test.stderr == "" && stderr != ""
					if code != want || loud || !strings.Contains(stderr, test.stderr) ||
						!strings.Contains(stdout, "192.0.2.1") {
						t.Errorf("%q: exit code %d, want %d\n%s%s", args[5:], code, want, stdout, stderr)
					}
				}
			}
		})
	}
}

// TestQueryReportsWhatValuesLack: with --strict, values of only a part of the data are a failure, like other incomplete
// answers.
func TestQueryReportsWhatValuesLack(t *testing.T) {
	for name, test := range map[string]struct {
		meta, stderr string
		strict       int // exit code
	}{
		"nothing":               {`,"exact":true,"scope":{"objects":2,"of":2}`, "", exit.Done},
		"some objects":          {`,"exact":false,"scope":{"objects":1,"of":2}`, "1 of 2 objects looked at", exit.Incomplete},
		"an unknown number":     {`,"exact":false`, "only the newest data was looked at", exit.Incomplete},
		"all of them":           {`,"exact":false,"unavailable":"no lists"`, "there are no values: no lists", exit.Incomplete},
		"values past the limit": {`,"exact":true,"truncated":{"reason":"limit"}`, "more values", exit.Incomplete},
	} {
		t.Run(name, func(t *testing.T) {
			server := answeringServer(t, `[{"value":"a"}]`, test.meta)
			for _, format := range []string{"json", "ndjson", "table"} {
				for _, strict := range []bool{false, true} {
					args, want := []string{"query", "values", "host", "--url", server, "--format", format}, exit.Done
					if strict {
						args, want = append(args, "--strict"), test.strict
					}
					stdout, stderr, code := inProcess(t, args...)
					loud := test.stderr == "" && stderr != ""
					if code != want || loud || !strings.Contains(stderr, test.stderr) {
						t.Errorf("%q: exit code %d, want %d\n%s%s", args, code, want, stdout, stderr)
					}
				}
			}
		})
	}
}

// TestQueryReportsThePeriodOfTheData: when nothing is found, standard error has the period of the data in every format
// but JSON, and the period to ask for if the query was about another one.
func TestQueryReportsThePeriodOfTheData(t *testing.T) {
	const covers = "; the data covers 2026-01-01 00:00:00 to 2026-01-01 23:59:58.5 UTC"
	const within = `"period":{"from":"2026-01-01T10:00:00Z","to":"2026-01-01T11:00:00Z"},` +
		`"oldest":"2026-01-01T00:00:00Z","newest":"2026-01-01T23:59:58.5Z"`
	outside := strings.ReplaceAll(within, `-01T1`, `-05T1`)
	const zero = `{"timeperiod_string":"2026-01-01 00:00:00","num_of_requests":0,"value":0,` +
		`"array_status_codes":[],"array_origin_status_codes":[]}`
	limited := strings.NewReplacer(`"oldest":"2026-01-01T00:00:00Z"`, `"oldest":null`)
	empty := strings.NewReplacer(`"newest":"2026-01-01T23:59:58.5Z"`, `"newest":null`).Replace(limited.Replace(within))
	for name, test := range map[string]struct {
		args                  []string
		results, meta, stderr string
	}{
		"logs":      {[]string{"logs"}, "", within, "no records match" + covers + "\n"},
		"topx":      {[]string{"topx"}, "", within, "no records match" + covers + "\n"},
		"stats":     {[]string{"stats"}, zero + "," + zero, within, "no records match" + covers + "\n"},
		"timeline":  {[]string{"timeline"}, zero, within, "no records match" + covers + "\n"},
		"histogram": {[]string{"histogram"}, zero, within, "no records match" + covers + "\n"},
		"facets":    {[]string{"facets"}, "", within + `,"num_of_requests":0`, "no records match" + covers + "\n"},
		"after the data": {
			[]string{"logs"}, "", outside, "no records match" + covers +
				", so ask for \"timestamp between 2026-01-01 00:00:00 and 2026-01-01 23:59:58.5\"\n",
		},
		"a segment with requests": {[]string{"stats"}, `{"num_of_requests":1}`, within, ""},
		"no blocked requests":     {[]string{"histogram", "--measure", "blocked"}, zero, within, ""},
		"a key of some branches":  {[]string{"logs"}, "", limited.Replace(within), "no records match\n"},
		"a key of some branches, after the data": {
			[]string{"logs"}, "", limited.Replace(outside),
			"no records match; the newest record is of 2026-01-01 23:59:58 UTC\n",
		},
		"no data": {[]string{"logs"}, "", empty, "no records match; there is no data yet\n"},
	} {
		t.Run(name, func(t *testing.T) {
			server := answeringServer(t, "["+test.results+"]", ","+test.meta)
			for _, format := range []string{"json", "ndjson", "csv", "table"} {
				args := []string{"query", test.args[0], tourDay, "--url", server, "--format", format}
				args = append(args, test.args[1:]...)
				want := test.stderr
				if format == "json" {
					want = ""
				}
				if _, stderr, code := inProcess(t, args...); code != exit.Done || stderr != want {
					t.Errorf("%s: exit code %d\n got %q\nwant %q", format, code, stderr, want)
				}
			}
		})
	}
	t.Run("all records", func(t *testing.T) {
		server := answeringServer(t, "[]", ","+within)
		for _, format := range []string{"ndjson", "csv"} {
			_, stderr, code := inProcess(t, "query", "logs", tourDay, "--url", server, "--all", "--format", format)
			if want := "no records match" + covers + "\n"; code != exit.Done || stderr != want {
				t.Errorf("%s: exit code %d, %q", format, code, stderr)
			}
		}
	})
	t.Run("newer records", func(t *testing.T) {
		server := answeringServer(t, "[]", ","+within)
		for format, want := range map[string]string{"ndjson": "", "csv": "", "table": "no further records match\n"} {
			_, stderr, code := inProcess(t,
				"query", "logs", tourDay, "--url", server, "--since", "x", "--format", format)
			if code != exit.Done || stderr != want {
				t.Errorf("%s: exit code %d, %q", format, code, stderr)
			}
		}
	})
}

// TestQueryAllSumsTheFigures: the figures of all records are those of every request, the first one included.
func TestQueryAllSumsTheFigures(t *testing.T) {
	type figuresOfAnswer struct {
		Meta struct {
			Bytes    int64           `json:"bytes_scanned"`
			Rows     int64           `json:"rows_considered"`
			Cost     float64         `json:"cost_usd"`
			Elapsed  float64         `json:"elapsed_ms"`
			Skipped  []string        `json:"skipped"`
			Estimate json.RawMessage `json:"estimate"`
		}
	}
	t.Run("of the pages of a server", func(t *testing.T) {
		page := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			page++
			next := `"token"`
			if page == 3 {
				next = "null"
			}
			_, _ = fmt.Fprintf(w, `{"data":{"results":[{"ip":"192.0.2.%d"}]},"meta":{
				"bytes_scanned":%d,"rows_considered":%d,"cost_usd":0.5,"elapsed_ms":2,"engine_ms":1,"estimate":{},
				"skipped":["object %d"],"next":%s,"period":{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z"}}}`,
				page, 100*page, 10*page, page, next)
		}))
		defer server.Close()
		stdout, stderr, code := inProcess(t, "query", "logs", tourDay, "--url", server.URL, "--all", "--format", "json")
		if code != exit.Incomplete {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		var got figuresOfAnswer
		if err := json.Unmarshal([]byte(stdout), &got); err != nil {
			t.Fatal(err)
		}
		m := got.Meta
		if m.Bytes != 600 || m.Rows != 60 || m.Cost != 1.5 || m.Elapsed != 6 || len(m.Skipped) != 3 ||
			m.Estimate != nil {
			t.Errorf("%+v", m)
		}
	})
	t.Run("of a folder", func(t *testing.T) {
		data := filepath.Join(t.TempDir(), "data")
		_, stderr, code := inProcess(t, "generate", "--records", "3000", "--data", data,
			"--from", "2026-01-01", "--to", "2026-01-02")
		if code != exit.Done {
			t.Fatal(stderr)
		}
		ask := func(args ...string) (a figuresOfAnswer) {
			t.Helper()
			stdout, stderr, code := inProcess(t, append([]string{
				"query", "logs", tourDay, "--data", data, "--format", "json", "--fields", "ip",
			}, args...)...)
			if code != exit.Done {
				t.Fatal(stderr)
			}
			if err := json.Unmarshal([]byte(stdout), &a); err != nil {
				t.Fatal(err)
			}
			return a
		}
		first, all := ask("--limit", "2500"), ask("--all")
		if all.Meta.Bytes <= first.Meta.Bytes || all.Meta.Rows <= first.Meta.Rows {
			t.Errorf("all records: %+v, the first page alone: %+v", all.Meta, first.Meta)
		}
	})
}
