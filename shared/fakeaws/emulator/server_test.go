package emulator

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/lake"
)

// constant is a backend that answers every statement with the same rows.
type constant struct {
	rows int
	gate chan struct{} // statements wait until it is closed; nil: they do not wait
}

func (b constant) Run(ctx context.Context, _ Statement, scanned func(int64)) (Result, error) {
	scanned(int64(b.rows))
	if b.gate != nil {
		select {
		case <-b.gate:
		case <-ctx.Done():
			return Result{}, ctx.Err()
		}
	}
	r := Result{Columns: []Column{{"n", "bigint"}, {"nothing", "varchar"}}}
	for i := range b.rows {
		text := fmt.Sprint(i)
		r.Rows = append(r.Rows, []*string{&text, nil})
	}
	return r, nil
}

type client struct {
	t   *testing.T
	url string
}

func open(t *testing.T, b Backend, change func(*Config)) (*Server, client) {
	t.Helper()
	c := Config{
		Backend: b,
		Workgroups: map[string]Workgroup{
			"primary": {Output: "s3://results/a/"},
			"small":   {Output: "s3://results/", CutoffBytes: 10},
		},
		Now: func() time.Time { return time.Unix(1_767_268_800, 0) },
	}
	if change != nil {
		change(&c)
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	return s, client{t, web.URL}
}

// ask requests an operation and returns the response as one line of JSON.
func (c client) ask(operation string, in any) (status int, body string) {
	c.t.Helper()
	text, err := json.Marshal(in)
	if err != nil {
		c.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.url, strings.NewReader(string(text)))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("X-Amz-Target", "AmazonAthena."+operation)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	out, err := io.ReadAll(response.Body)
	if err != nil || response.Body.Close() != nil {
		c.t.Fatal(err)
	}
	return response.StatusCode, string(out)
}

func (c client) start(in map[string]any) string {
	c.t.Helper()
	_, body := c.ask("StartQueryExecution", in)
	var out struct{ QueryExecutionId string } //nolint:revive // the protocol's spelling
	if err := json.Unmarshal([]byte(body), &out); err != nil || out.QueryExecutionId == "" {
		c.t.Fatalf("start: %s", body)
	}
	return out.QueryExecutionId
}

type members map[string]any

// end polls until the execution has ended, and returns it.
func (c client) end(id string) string {
	c.t.Helper()
	for {
		_, body := c.ask("GetQueryExecution", members{"QueryExecutionId": id})
		if !strings.Contains(body, `"State":"QUEUED"`) && !strings.Contains(body, `"State":"RUNNING"`) {
			return body
		}
	}
}

func TestInvalidRequests(t *testing.T) {
	_, c := open(t, constant{}, nil)
	token := strings.Repeat("t", 32)
	c.start(members{"QueryString": "SELECT 1", "ClientRequestToken": token})
	for name, test := range map[string]struct {
		operation string
		in        members
		want      string
	}{
		"no statement": {"StartQueryExecution", members{}, "InvalidRequestException"},
		"a statement too long": {
			"StartQueryExecution", members{"QueryString": strings.Repeat("é", 131_073)}, "262144",
		},
		"execution parameters": {
			"StartQueryExecution",
			members{"QueryString": "SELECT ?", "ExecutionParameters": []string{"1"}},
			"execution parameters",
		},
		"a token of another request": {
			"StartQueryExecution",
			members{"QueryString": "SELECT 2", "ClientRequestToken": token},
			"Idempotent parameters do not match",
		},
		"a short token": {
			"StartQueryExecution",
			members{"QueryString": "SELECT 2", "ClientRequestToken": "t"},
			"clientRequestToken",
		},
		"an unknown workgroup": {
			"StartQueryExecution",
			members{"QueryString": "SELECT 1", "WorkGroup": "none"},
			"WorkGroup none is not found",
		},
		"an unknown execution": {"GetQueryExecution", members{"QueryExecutionId": "x"}, "was not found"},
		"an unknown table": {
			"GetTable", members{"DatabaseName": "a", "Name": "b"}, "EntityNotFoundException",
		},
		"an unknown operation":            {"DropEverything", members{}, "UnknownOperationException"},
		"results of an unknown execution": {"GetQueryResults", members{"QueryExecutionId": "x"}, "was not found"},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := c.ask(test.operation, test.in)
			if status != http.StatusBadRequest || !strings.Contains(body, test.want) {
				t.Errorf("%d %s, want %q", status, body, test.want)
			}
		})
	}
}

func TestEqualTokensShareExecution(t *testing.T) {
	s, c := open(t, constant{}, nil)
	in := members{"QueryString": "SELECT 1", "ClientRequestToken": strings.Repeat("t", 64)}
	if a, b := c.start(in), c.start(in); a != b || len(s.States()) != 1 {
		t.Errorf("%s and %s", a, b)
	}
}

func TestPages(t *testing.T) {
	_, c := open(t, constant{rows: 2_500}, nil)
	id := c.start(members{"QueryString": "SELECT 1"})
	c.end(id)
	var sizes []int
	token := ""
	for {
		_, body := c.ask("GetQueryResults", members{"QueryExecutionId": id, "NextToken": token})
		var page struct {
			NextToken string
			ResultSet struct {
				Rows []struct{ Data []map[string]string }
			}
		}
		if err := json.Unmarshal([]byte(body), &page); err != nil {
			t.Fatal(err)
		}
		if token == "" {
			first, second := page.ResultSet.Rows[0].Data, page.ResultSet.Rows[1].Data
			if first[0]["VarCharValue"] != "n" || len(second[1]) != 0 {
				t.Errorf("the first rows are %v and %v, want the header and a NULL", first, second)
			}
		}
		sizes = append(sizes, len(page.ResultSet.Rows))
		if token = page.NextToken; token == "" {
			break
		}
	}
	if fmt.Sprint(sizes) != "[1000 1000 501]" {
		t.Errorf("pages of %v rows", sizes)
	}
}

func TestStates(t *testing.T) {
	gate := make(chan struct{})
	s, c := open(t, constant{rows: 5, gate: gate}, nil)
	id := c.start(members{"QueryString": "SELECT 1"})
	_, body := c.ask("GetQueryResults", members{"QueryExecutionId": id})
	if !strings.Contains(body, "Query has not yet finished") {
		t.Errorf("results: %s", body)
	}
	if status, _ := c.ask("StopQueryExecution", members{"QueryExecutionId": id}); status != http.StatusOK {
		t.Errorf("stop: %d", status)
	}
	body = c.end(id)
	if !strings.Contains(body, `"State":"CANCELLED"`) || !strings.Contains(body, "Query cancelled by user") {
		t.Errorf("stopped: %s", body)
	}
	close(gate)
	id = c.start(members{"QueryString": "SELECT 2"})
	body = c.end(id)
	location := `"OutputLocation":"s3://results/a/` + id + `.csv"`
	if !strings.Contains(body, `"State":"SUCCEEDED"`) || !strings.Contains(body, location) {
		t.Errorf("ended: %s", body)
	}
	c.ask("StopQueryExecution", members{"QueryExecutionId": id})
	if states := s.States(); states[1] != "SUCCEEDED" {
		t.Errorf("stopping an execution that has ended made it %s", states[1])
	}
}

func TestCutoffAndArrays(t *testing.T) {
	_, c := open(t, constant{rows: 11}, nil)
	body := c.end(c.start(members{"QueryString": "SELECT 1", "WorkGroup": "small"}))
	if !strings.Contains(body, "Bytes scanned limit was exceeded") {
		t.Errorf("over the cutoff: %s", body)
	}
	array := func(n int) string { return "SELECT ARRAY[" + strings.Repeat("1, ", n-1) + "1]" }
	if body := c.end(c.start(members{"QueryString": array(254)})); !strings.Contains(body, "SUCCEEDED") {
		t.Errorf("254 elements: %s", body)
	}
	if body := c.end(c.start(members{"QueryString": array(255)})); !strings.Contains(body, "TOO_MANY_ARGUMENTS") {
		t.Errorf("255 elements: %s", body)
	}
}

func TestLargestArray(t *testing.T) {
	for sql, want := range map[string]int{
		"SELECT 1":                                   0,
		"ARRAY[]":                                    0,
		"ARRAY[ ]":                                   0,
		"ARRAY[f(1, 2), 3]":                          2,
		"ARRAY['a,b', 'it''s ]', \"c,]\"]":           3,
		"ARRAY[ARRAY[1,2,3], ARRAY[4]]":              3,
		"a[1] || ARRAY[1, -- 2, 3\n 4]":              2,
		"array[ROW(1, 2), ROW(3, 4), ROW(5, 6)] = x": 3,
	} {
		if got := largestArray(sql); got != want {
			t.Errorf("%s has %d, want %d", sql, got, want)
		}
	}
}

func TestReuse(t *testing.T) {
	s, c := open(t, constant{rows: 3}, nil)
	byAge := members{"ResultReuseByAgeConfiguration": members{"Enabled": true, "MaxAgeInMinutes": 60}}
	in := members{"QueryString": "SELECT 1", "ResultReuseConfiguration": byAge}
	c.end(c.start(in))
	body := c.end(c.start(in))
	if !strings.Contains(body, `"ReusedPreviousResult":true`) || !strings.Contains(body, `"DataScannedInBytes":0`) {
		t.Errorf("the second: %s", body)
	}
	in["QueryString"] = "-- another\nSELECT 1"
	if body := c.end(c.start(in)); !strings.Contains(body, `"ReusedPreviousResult":false`) || len(s.States()) != 3 {
		t.Errorf("another text: %s", body)
	}
}

func TestMetadataOperations(t *testing.T) {
	_, c := open(t, constant{}, func(c *Config) {
		c.Tables = []lake.Table{
			{Schema: "traffic", Name: lake.FreshTable, Location: "s3://lake/lake/fresh/", FromYear: 2020},
		}
	})
	contains := func(body string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(body, part) {
				t.Errorf("%s does not contain %s", body, part)
			}
		}
	}
	_, body := c.ask("GetWorkGroup", members{"WorkGroup": "small"})
	contains(body, `"BytesScannedCutoffPerQuery":10`, `"EnforceWorkGroupConfiguration":true`)
	_, body = c.ask("GetTable", members{"DatabaseName": "traffic", "Name": lake.FreshTable})
	contains(body, `"storage.location.template":"s3://lake/lake/fresh/${datehour}/"`, `"Name":"ts_ms"`)
}
