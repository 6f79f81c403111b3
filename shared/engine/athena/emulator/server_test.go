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

// table is a backend that answers every statement with the same rows, when it is let.
type table struct {
	rows int
	gate chan struct{} // nil: at once
}

func (b table) Run(ctx context.Context, _ Statement, scanned func(int64)) (Result, error) {
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

func open(t *testing.T, b Backend, special func(*Config)) (*Server, client) {
	t.Helper()
	c := Config{
		Backend: b, Workgroups: map[string]Workgroup{"primary": {Output: "s3://results/a/"}, "small": {Output: "s3://results/", CutoffBytes: 10}},
		Now: func() time.Time { return time.Unix(1_767_268_800, 0) },
	}
	if special != nil {
		special(&c)
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	return s, client{t, web.URL}
}

// ask does an operation and returns the answer as one line of JSON.
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
	var out struct{ QueryExecutionId string } //nolint:revive // as the protocol spells it
	if err := json.Unmarshal([]byte(body), &out); err != nil || out.QueryExecutionId == "" {
		c.t.Fatalf("start: %s", body)
	}
	return out.QueryExecutionId
}

type of map[string]any

// end polls until the execution is over, and returns it.
func (c client) end(id string) string {
	c.t.Helper()
	for {
		_, body := c.ask("GetQueryExecution", of{"QueryExecutionId": id})
		if !strings.Contains(body, `"State":"QUEUED"`) && !strings.Contains(body, `"State":"RUNNING"`) {
			return body
		}
	}
}

func TestRequestsThatAthenaRefuses(t *testing.T) {
	_, c := open(t, table{}, nil)
	token := strings.Repeat("t", 32)
	c.start(of{"QueryString": "SELECT 1", "ClientRequestToken": token})
	for name, test := range map[string]struct {
		operation string
		in        of
		want      string
	}{
		"no statement":              {"StartQueryExecution", of{}, "InvalidRequestException"},
		"a statement too long":      {"StartQueryExecution", of{"QueryString": strings.Repeat("é", 131_073)}, "262144"},
		"execution parameters":      {"StartQueryExecution", of{"QueryString": "SELECT ?", "ExecutionParameters": []string{"1"}}, "execution parameters"},
		"a token for another":       {"StartQueryExecution", of{"QueryString": "SELECT 2", "ClientRequestToken": token}, "Idempotent parameters do not match"},
		"a short token":             {"StartQueryExecution", of{"QueryString": "SELECT 2", "ClientRequestToken": "t"}, "clientRequestToken"},
		"an unknown workgroup":      {"StartQueryExecution", of{"QueryString": "SELECT 1", "WorkGroup": "none"}, "WorkGroup none is not found"},
		"an unknown execution":      {"GetQueryExecution", of{"QueryExecutionId": "x"}, "was not found"},
		"an unknown table":          {"GetTable", of{"DatabaseName": "a", "Name": "b"}, "EntityNotFoundException"},
		"an unknown operation":      {"DropEverything", of{}, "UnknownOperationException"},
		"the results of an unknown": {"GetQueryResults", of{"QueryExecutionId": "x"}, "was not found"},
	} {
		t.Run(name, func(t *testing.T) {
			if status, body := c.ask(test.operation, test.in); status != http.StatusBadRequest || !strings.Contains(body, test.want) {
				t.Errorf("%d %s, want %q", status, body, test.want)
			}
		})
	}
}

func TestTokenIsOneExecution(t *testing.T) {
	s, c := open(t, table{}, nil)
	in := of{"QueryString": "SELECT 1", "ClientRequestToken": strings.Repeat("t", 64)}
	if a, b := c.start(in), c.start(in); a != b || len(s.States()) != 1 {
		t.Errorf("%s and %s", a, b)
	}
}

func TestPages(t *testing.T) {
	_, c := open(t, table{rows: 2_500}, nil)
	id := c.start(of{"QueryString": "SELECT 1"})
	c.end(id)
	var sizes []int
	token := ""
	for {
		_, body := c.ask("GetQueryResults", of{"QueryExecutionId": id, "NextToken": token})
		var page struct {
			NextToken string
			ResultSet struct {
				Rows []struct{ Data []map[string]string }
			}
		}
		if err := json.Unmarshal([]byte(body), &page); err != nil {
			t.Fatal(err)
		}
		if first := page.ResultSet.Rows[0].Data; token == "" && (first[0]["VarCharValue"] != "n" || len(page.ResultSet.Rows[1].Data[1]) != 0) {
			t.Errorf("the first rows are %v and %v, want the header and a NULL", first, page.ResultSet.Rows[1])
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
	s, c := open(t, table{rows: 5, gate: gate}, nil)
	id := c.start(of{"QueryString": "SELECT 1"})
	if _, body := c.ask("GetQueryResults", of{"QueryExecutionId": id}); !strings.Contains(body, "Query has not yet finished") {
		t.Errorf("results: %s", body)
	}
	if status, _ := c.ask("StopQueryExecution", of{"QueryExecutionId": id}); status != http.StatusOK {
		t.Errorf("stop: %d", status)
	}
	if body := c.end(id); !strings.Contains(body, `"State":"CANCELLED"`) || !strings.Contains(body, "Query cancelled by user") {
		t.Errorf("stopped: %s", body)
	}
	close(gate)
	id = c.start(of{"QueryString": "SELECT 2"})
	if body := c.end(id); !strings.Contains(body, `"State":"SUCCEEDED"`) || !strings.Contains(body, `"OutputLocation":"s3://results/a/`+id+`.csv"`) {
		t.Errorf("ended: %s", body)
	}
	c.ask("StopQueryExecution", of{"QueryExecutionId": id})
	if states := s.States(); states[1] != "SUCCEEDED" {
		t.Errorf("stopping what is over made it %s", states[1])
	}
}

func TestCutoffAndArrays(t *testing.T) {
	_, c := open(t, table{rows: 11}, nil)
	if body := c.end(c.start(of{"QueryString": "SELECT 1", "WorkGroup": "small"})); !strings.Contains(body, "Bytes scanned limit was exceeded") {
		t.Errorf("over the cutoff: %s", body)
	}
	array := func(n int) string { return "SELECT ARRAY[" + strings.Repeat("1, ", n-1) + "1]" }
	if body := c.end(c.start(of{"QueryString": array(254)})); !strings.Contains(body, "SUCCEEDED") {
		t.Errorf("254 elements: %s", body)
	}
	if body := c.end(c.start(of{"QueryString": array(255)})); !strings.Contains(body, "TOO_MANY_ARGUMENTS") {
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
	s, c := open(t, table{rows: 3}, nil)
	in := of{"QueryString": "SELECT 1", "ResultReuseConfiguration": of{"ResultReuseByAgeConfiguration": of{"Enabled": true, "MaxAgeInMinutes": 60}}}
	c.end(c.start(in))
	if body := c.end(c.start(in)); !strings.Contains(body, `"ReusedPreviousResult":true`) || !strings.Contains(body, `"DataScannedInBytes":0`) {
		t.Errorf("the second: %s", body)
	}
	in["QueryString"] = "-- another\nSELECT 1"
	if body := c.end(c.start(in)); !strings.Contains(body, `"ReusedPreviousResult":false`) || len(s.States()) != 3 {
		t.Errorf("another text: %s", body)
	}
}

func TestWhatDeploymentsAsk(t *testing.T) {
	_, c := open(t, table{}, func(c *Config) {
		c.Tables = []lake.Table{{Schema: "traffic", Name: lake.FreshTable, Location: "s3://lake/lake/fresh/", FromYear: 2020}}
	})
	if _, body := c.ask("GetWorkGroup", of{"WorkGroup": "small"}); !strings.Contains(body, `"BytesScannedCutoffPerQuery":10`) || !strings.Contains(body, `"EnforceWorkGroupConfiguration":true`) {
		t.Errorf("workgroup: %s", body)
	}
	_, body := c.ask("GetTable", of{"DatabaseName": "traffic", "Name": lake.FreshTable})
	if !strings.Contains(body, `"storage.location.template":"s3://lake/lake/fresh/${datehour}/"`) || !strings.Contains(body, `"Name":"ts_ms"`) {
		t.Errorf("table: %s", body)
	}
}
