package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/scripts/orrery/internal/answers"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
)

// TestTablesOfQueries compares the tables of answers that are no rows by themselves. Values are escaped for a terminal.
func TestTablesOfQueries(t *testing.T) {
	const meta = `"meta":{"period":{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z"},"newest":"2026-01-01T23:00:00Z"`
	for name, c := range map[string]struct {
		query          queryCommand
		answer         string
		stdout, stderr string
	}{
		"facets have their other values and absent ones": {
			queryCommand{Route: "facets"},
			`{"data":{"results":[{"by":"country","type":"string","num_of_requests":90,"num_of_absent":10,"distinct":3,"values":[
				{"value":"Germany","num_of_requests":50,"num_of_blocked_requests":5},
				{"value":"It\u001b[2Ja","num_of_requests":25,"num_of_blocked_requests":0}],
				"rest":{"distinct":1,"num_of_requests":15,"num_of_blocked_requests":1}},
				{"by":"status","type":"integer","num_of_requests":100,"num_of_absent":0,"distinct":1,"values":[
				{"value":200,"num_of_requests":100,"num_of_blocked_requests":0}],"rest":null}]},` + meta + `}}`,
			"by       value         requests  blocked_requests  share\n" +
				"country  Germany       50        5                 ██████████\n" +
				"country  It\\u{1b}[2Ja  25        0                 █████\n" +
				"country  (1 other)     15        1                 ███\n" +
				"country  (absent)      10        -                 ██\n" +
				"status   200           100       0                 ████████████████████\n", "",
		},
		"facets without records": {
			queryCommand{Route: "facets"}, `{"data":{"results":[]},` + meta + `}}`, "", "",
		},
		"histograms have a bar for each series": {
			queryCommand{Route: "histogram"},
			`{"data":{"results":[
				{"time_period":1767225600,"timeperiod_string":"2026-01-01 00:00:00","series":"403","kind":"value","value":40},
				{"time_period":1767225600,"timeperiod_string":"2026-01-01 00:00:00","series":null,"kind":"other","value":10},
				{"time_period":1767229200,"timeperiod_string":"2026-01-01 01:00:00","series":"403","kind":"value","value":0},
				{"time_period":1767229200,"timeperiod_string":"2026-01-01 01:00:00","series":null,"kind":"other","value":20}
				]},` + meta + `}}`,
			"timeperiod_string    series   value  bar\n" +
				"2026-01-01 00:00:00  403      40     ████████████████████\n" +
				"2026-01-01 00:00:00  (other)  10     █████\n" +
				"2026-01-01 01:00:00  403      0      \n" +
				"2026-01-01 01:00:00  (other)  20     ██████████\n", "",
		},
		"requests without a time have no average": {
			queryCommand{Route: "stats"},
			`{"data":{"results":[
				{"timeperiod_string":"2026-01-01 00:00:00","hostname":"a","num_of_requests":2,"sum_of_bandwidth":5,"avg_latency":null},
				{"timeperiod_string":"2026-01-01 00:01:00","hostname":"","num_of_requests":0,"sum_of_bandwidth":0,"avg_latency":0}
				]},` + meta + `}}`,
			"timeperiod_string    hostname  requests  sum_of_bandwidth  avg_latency\n" +
				"2026-01-01 00:00:00  a         2         5                 -\n" +
				"2026-01-01 00:01:00            0         0                 0\n", "",
		},
		"diffs have the sides on standard error": {
			queryCommand{Route: "diff"},
			`{"data":{"results":[
				{"by":"country","value":"Germany","selected":{"num_of_requests":15,"share":0.75},
				"baseline":{"num_of_requests":20,"share":0.25},"lift":3,"score":27.05},
				{"by":"status","value":200,"selected":{"num_of_requests":0,"share":0},
				"baseline":{"num_of_requests":40,"share":0.5},"lift":0,"score":-19.1}]},` + meta + `,"diff":{
				"selected":{"num_of_requests":20,"filter":"timestamp between A and B, blocked is true"},
				"baseline":{"num_of_requests":80,"filter":"timestamp between A and B","except":"blocked is true"},"small":true}}}`,
			"by       value    selected  baseline  score  share_of_selected  share_of_baseline\n" +
				"country  Germany  15        20        27.05  ███████████████    █████\n" +
				"status   200      0         40        -19.1                     ██████████\n",
			"selected: 20 requests, timestamp between A and B, blocked is true\n" +
				"baseline: 80 requests, timestamp between A and B, without those of blocked is true\n" +
				"few requests are selected, so the findings may be chance\n",
		},
		"diffs with a period that the data has only in part": {
			queryCommand{Route: "diff"},
			`{"data":{"results":[]},` + meta + `,"oldest":"2025-12-31T23:59:00.5Z","num_of_requests":10,"diff":{
				"selected":{"num_of_requests":9,"filter":"A","period":{"from":"2026-01-01T00:00:00Z","to":"2026-01-01T23:59:59Z"}},
				"baseline":{"num_of_requests":1,"filter":"B","period":{"from":"2025-12-31T00:00:00Z","to":"2025-12-31T23:59:59Z"}}}}}`,
			"", "selected: 9 requests, A\nbaseline: 1 request, B; the data begins at 2025-12-31 23:59:00 UTC\n",
		},
		"diffs without findings": {
			queryCommand{Route: "diff"},
			`{"data":{"results":[]},` + meta + `,"diff":{
				"selected":{"num_of_requests":1,"filter":"A"},"baseline":{"num_of_requests":1,"filter":"B"}}}}`,
			"", "selected: 1 request, A\nbaseline: 1 request, B\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := answers.Answer{Route: c.query.Route}
			if err := json.Unmarshal([]byte(c.answer), &a); err != nil {
				t.Fatal(err)
			}
			var stdout, stderr bytes.Buffer
			c.query.Format = "table"
			if err := c.query.print([]byte(c.answer), a, terminal.Console{Out: &stdout, Err: &stderr}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.stdout, stdout.String()); diff != "" {
				t.Errorf("standard output (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.stderr, stderr.String()); diff != "" {
				t.Errorf("standard error (-want +got):\n%s", diff)
			}
		})
	}
}
