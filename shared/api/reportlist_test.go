package api

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/api/resource"
	"github.com/orrery/orrery/shared/planet/planettest"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/runs"
)

// TestListedReports: the list has the next run and the last one, and where reports may be sent.
func TestListedReports(t *testing.T) {
	const path = "/api/v4.0/conf/staging/reports"
	tomorrow := planettest.At.Add(24 * time.Hour)
	var store runs.Store
	var s reportServer
	s.testServer = newServer(t, func(c *Config) {
		specials["scheduled reports"](t, c)
		c.Keys, store = reportKeys, c.Runs
	})
	listed := func(key string) resource.ScheduledReports {
		t.Helper()
		status, body := s.ask(t, key, "GET", path, "")
		var list resource.ScheduledReports
		if err := json.Unmarshal([]byte(body), &list); err != nil || status != 200 {
			t.Fatalf("%d %s %v", status, body, err)
		}
		return list
	}
	put := func(key, name, body string) {
		t.Helper()
		if status, text := s.ask(t, key, "PUT", path+"/"+name, body); status != 200 {
			t.Fatal(text)
		}
	}
	put("full-key", "weekly", weekly)
	one := listed("read-key").Reports[0]
	monday := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC) // after the clock of the server, which is on a Friday
	next := &resource.NextReport{Due: monday.Add(7 * time.Hour), From: monday.AddDate(0, 0, -7), To: monday}
	if diff := cmp.Diff(next, one.Next); diff != "" || one.Name != "weekly" || one.Version != 1 || one.Last != nil {
		t.Errorf("before the first run: %+v\nnext (-want +got):\n%s", one, diff)
	}

	t.Run("the run that was due last is listed", func(t *testing.T) {
		if status, body := s.ask(t, "full-key", "POST", weeklyPath+"/run", aDay); status != 202 {
			t.Fatal(body)
		}
		one := listed("read-key").Reports[0]
		if one.Last == nil || one.Last.State != runs.Queued || one.Last.Report != "weekly" {
			t.Errorf("%+v", one.Last)
		}
	})
	t.Run("a paused report has no next run", func(t *testing.T) {
		put("full-key", "weekly", `{"period":"week","deliver":[{"to":"archive"}],"paused":true}`)
		if one := listed("read-key").Reports[0]; one.Next != nil {
			t.Errorf("%+v", one.Next)
		}
	})
	t.Run("a key does not learn of runs about other branches", func(t *testing.T) {
		put("team-key", "team", weekly)
		stored := runs.New("staging", "team", 1, definition.Stored{Branches: []string{"prod"}}, planettest.At, tomorrow, tomorrow)
		if err := store.Create(t.Context(), stored); err != nil {
			t.Fatal(err)
		}
		if list := listed("team-key"); len(list.Reports) != 1 || list.Reports[0].Last != nil {
			t.Errorf("%+v", list.Reports)
		}
	})
	t.Run("the list has the schema of the document", func(t *testing.T) {
		_, document := s.ask(t, "full-key", "GET", "/openapi.json", "")
		loaded, err := openapi3.NewLoader().LoadFromData([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		_, body := s.ask(t, "full-key", "GET", path, "")
		var value any
		if err := json.Unmarshal([]byte(body), &value); err != nil {
			t.Fatal(err)
		}
		schema := loaded.Components.Schemas["ScheduledReports"].Value
		if err := schema.VisitJSON(value, openapi3.EnableJSONSchema2020()); err != nil {
			t.Errorf("%v\n%s", err, body)
		}
	})
}
