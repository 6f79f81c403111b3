package api

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/orrery/orrery/shared/api/resource"
	"github.com/orrery/orrery/shared/planet/planettest"
	"github.com/orrery/orrery/shared/report/runs"
)

// newRunServer returns a server with a report of all branches, and the store of its runs.
func newRunServer(t *testing.T) (reportServer, runs.Store) {
	t.Helper()
	var s reportServer
	var store runs.Store
	s.testServer = newServer(t, func(c *Config) {
		specials["scheduled reports"](t, c)
		c.Keys, s.documents, store = reportKeys, c.Documents, c.Runs
	})
	if status, body := s.ask(t, "full-key", "PUT", weeklyPath, weekly); status != 200 {
		t.Fatal(body)
	}
	return s, store
}

const aDay = `{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z"}`

func TestRunReport(t *testing.T) {
	s, store := newRunServer(t)
	status, body := s.ask(t, "full-key", "POST", weeklyPath+"/run", aDay)
	var run resource.ReportRun
	if err := json.Unmarshal([]byte(body), &run); err != nil || status != 202 || run.State != runs.Queued || run.By != "console" ||
		!run.Due.Equal(planettest.At) || len(run.Deliveries) != 1 || run.Deliveries[0].To != "archive" {
		t.Fatalf("%d %s %v", status, body, err)
	}
	if status, again := s.ask(t, "full-key", "POST", weeklyPath+"/run", aDay); status != 200 || again != body {
		t.Errorf("again: %d %s", status, again)
	}
	for _, path := range []string{"/runs", "/runs/" + run.ID} {
		if status, got := s.ask(t, "read-key", "GET", weeklyPath+path, ""); status != 200 || !strings.Contains(got, strings.TrimSuffix(strings.TrimSpace(body), "}")) {
			t.Errorf("%s: %d %s", path, status, got)
		}
	}
	// A run that has failed, or that a destination has refused, is queued again, but not for the destinations that have
	// it.
	for _, state := range []runs.State{runs.Failed, runs.Delivered} {
		stored, err := store.Run(t.Context(), run.ID)
		if err != nil {
			t.Fatal(err)
		}
		stored.State, stored.Reason, stored.Ended = state, "the disk is full", planettest.At.Add(time.Hour)
		stored.Verdict, stored.Incomplete, stored.Partial = "quiet", true, true
		stored.Deliveries = []runs.Delivery{{State: runs.Sent}, {State: runs.Refused, Attempts: 3}}
		if err := store.Update(t.Context(), stored); err != nil {
			t.Fatal(err)
		}
		status, body = s.ask(t, "full-key", "POST", weeklyPath+"/run", aDay)
		run = resource.ReportRun{}
		if err := json.Unmarshal([]byte(body), &run); err != nil || status != 202 || run.State != runs.Queued || run.Reason != "" ||
			run.Verdict != "" || run.Incomplete || run.Partial || run.Ended != nil ||
			run.Deliveries[0].State != runs.Sent || run.Deliveries[1].State != runs.Waiting {
			t.Errorf("%s: %d %s %v", state, status, body, err)
		}
	}
}

func TestRunReportReportsMistakes(t *testing.T) {
	s, _ := newRunServer(t)
	for _, test := range []struct {
		rule, key, body string
		status          int
		want            string
	}{
		{"no times", "full-key", `{}`, 422, `["body","from"]`},
		{"dates", "full-key", `{"from":"2026-01-01","to":"2026-01-02"}`, 422, "RFC 3339"},
		{"an empty period", "full-key", `{"from":"2026-01-01T00:00:00Z","to":"2026-01-01T00:00:00Z"}`, 422, "must be after from"},
		{"the future", "full-key", `{"from":"2026-01-01T00:00:00Z","to":"2026-02-01T00:00:00Z"}`, 422, "in the future"},
		{"more than a year", "full-key", `{"from":"2024-12-01T00:00:00Z","to":"2026-01-01T00:00:00Z"}`, 422, "at most 366 days"},
		{"microseconds", "full-key", `{"from":"2026-01-01T00:00:00.0001Z","to":"2026-01-02T00:00:00Z"}`, 422, "whole milliseconds"},
		{"an unknown member", "full-key", `{"last":"week"}`, 422, "unknown parameter"},
		{"a key that may only read", "read-key", aDay, 403, "report:write"},
		{"a key that may not read data", "write-key", aDay, 403, "data:read"},
		{"a key of another branch", "team-key", aDay, 404, "there is no report"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			status, body := s.ask(t, test.key, "POST", weeklyPath+"/run", test.body)
			if status != test.status || !strings.Contains(body, test.want) {
				t.Errorf("%d %s", status, body)
			}
		})
	}
}

// TestBranchesOfRuns: a run is visible to keys that have its branches, also if the report is now about fewer.
func TestBranchesOfRuns(t *testing.T) {
	s, store := newRunServer(t)
	const path = "/api/v4.0/conf/staging/reports/team"
	if status, body := s.ask(t, "team-key", "PUT", path, weekly); status != 200 {
		t.Fatal(body)
	}
	status, body := s.ask(t, "team-key", "POST", path+"/run", aDay)
	var run resource.ReportRun
	if err := json.Unmarshal([]byte(body), &run); err != nil || status != 202 {
		t.Fatalf("%d %s", status, body)
	}
	stored, err := store.Run(t.Context(), run.ID)
	if err != nil || len(stored.Branches) != 1 || stored.Branches[0] != "staging" {
		t.Fatalf("%+v %v", stored, err)
	}
	stored.Branches = []string{"staging", "prod"}
	if err := store.Update(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	if _, body := s.ask(t, "team-key", "GET", path+"/runs", ""); body != `{"runs":[]}`+"\n" && body != `{"runs":[]}` {
		t.Errorf("%s", body)
	}
	for _, test := range []struct {
		key, path string
		status    int
	}{
		{"team-key", path + "/runs/" + run.ID, 404}, {"both-key", path + "/runs/" + run.ID, 200},
		{"full-key", weeklyPath + "/runs/" + run.ID, 404}, {"full-key", path + "/runs/none", 404},
		{"team-key", weeklyPath + "/runs", 404}, {"full-key", path + "s/runs", 404},
	} {
		if status, body := s.ask(t, test.key, "GET", test.path, ""); status != test.status {
			t.Errorf("%s %s: %d %s", test.key, test.path, status, body)
		}
	}
}

// TestReportsOfRuns: a report that is kept is read by keys that have its branches and may read data.
func TestReportsOfRuns(t *testing.T) {
	s, store := newRunServer(t)
	_, body := s.ask(t, "full-key", "POST", weeklyPath+"/run", aDay)
	var run resource.ReportRun
	if err := json.Unmarshal([]byte(body), &run); err != nil || run.Kept {
		t.Fatalf("%s %v", body, err)
	}
	path := weeklyPath + "/runs/" + run.ID
	if _, body := s.ask(t, "full-key", "GET", path, ""); !strings.Contains(body, `"kept":false}`) {
		t.Errorf("before it is made: %s", body)
	}
	stored, err := store.Run(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	const hostile = `{"report":{"title":"<script>alert(1)</script>"}}`
	content, _ := runs.Keep([]byte(hostile))
	stored.State, stored.HasReport, stored.Branches = runs.Kept, true, []string{"staging", "prod"}
	if err := store.Update(t.Context(), stored, content); err != nil {
		t.Fatal(err)
	}
	const branches, escaped = `"branches":["staging","prod"],"kept":true`, `"content":{"report":{"title":"\u003cscript`
	for _, test := range []struct {
		rule, key, path string
		status          int
		has, lacks      string
	}{
		{"all branches", "full-key", path, 200, branches + `,"content":` + hostile, `"kept":false`},
		{"the branches of the run", "both-key", path, 404, "", "script"}, // the report itself is about all branches
		{"other branches", "team-key", path, 404, "", "script"},
		{"without the scope data:read", "read-key", path, 200, branches + "}", "script"},
		{"without the scope report:read", "data-key", path, 403, "", "script"},
		{"the list", "full-key", weeklyPath + "/runs", 200, branches, "script"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			status, body := s.ask(t, test.key, "GET", test.path, "")
			if status != test.status || !strings.Contains(body, test.has) || strings.Contains(body, test.lacks) {
				t.Errorf("%d %s", status, body)
			}
		})
	}
}

// TestDocumentOfRuns: answers have the schema of the document.
func TestDocumentOfRuns(t *testing.T) {
	s, _ := newRunServer(t)
	_, document := s.ask(t, "full-key", "GET", "/openapi.json", "")
	loaded, err := openapi3.NewLoader().LoadFromData([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	_, body := s.ask(t, "full-key", "POST", weeklyPath+"/run", aDay)
	var value any
	if err := json.Unmarshal([]byte(body), &value); err != nil {
		t.Fatal(err)
	}
	if err := loaded.Components.Schemas["ReportRun"].Value.VisitJSON(value, openapi3.EnableJSONSchema2020()); err != nil {
		t.Errorf("%v\n%s", err, body)
	}
}
