package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/orrery/orrery/shared/api/examples"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/planet/planettest"
	"github.com/orrery/orrery/shared/report/definition"
)

const (
	weekly     = `{"period":"week","deliver":[{"to":"archive"}]}`
	weeklyPath = "/api/v4.0/conf/staging/reports/weekly"
)

var reportKeys = keys.Static{
	keys.HashOf("full-key"):  {Name: "console", Scopes: keys.Scopes()},
	keys.HashOf("read-key"):  {Name: "reader", Scopes: []keys.Scope{keys.ReportRead}},
	keys.HashOf("write-key"): {Name: "writer", Scopes: []keys.Scope{keys.ReportRead, keys.ReportWrite}},
	keys.HashOf("data-key"):  {Name: "data", Scopes: []keys.Scope{keys.DataRead, keys.ConfRead, keys.ConfWrite}},
	keys.HashOf("team-key"):  {Name: "team", Scopes: keys.Scopes(), Branches: []string{"staging"}},
	keys.HashOf("both-key"):  {Name: "both", Scopes: keys.Scopes(), Branches: []string{"staging", "prod"}},
}

// reportServer is a server with scheduled reports and keys.
type reportServer struct {
	*testServer
	documents document.Store
}

func newReportServer(t *testing.T) reportServer {
	t.Helper()
	var s reportServer
	s.testServer = newServer(t, func(c *Config) {
		specials["scheduled reports"](t, c)
		c.Keys = reportKeys
		s.documents = c.Documents
	})
	return s
}

// ask sends a request with a key, and returns the status and the body.
func (s reportServer) ask(t *testing.T, key, method, path, body string, headers ...string) (int, string) {
	t.Helper()
	head := append([]string{method + " " + path + " HTTP/1.1", "Host: localhost", "X-API-Key: " + key}, headers...)
	if body != "" {
		head = append(head, "Content-Type: application/json")
	}
	r := s.send(t, examples.Message{Head: strings.Join(head, "\n"), Body: body})
	return r.StatusCode, string(r.body)
}

func TestScheduledReports(t *testing.T) {
	s := newReportServer(t)
	var etag string
	for _, step := range []struct {
		rule, method, path, body, header string
		status                           int
		want                             string
	}{
		{"no reports", "GET", "/api/v4.0/conf/staging/reports", "", "", 200,
			`{"reports":[],"destinations":["archive","chat"],"domains":["example.com"]}`},
		{"no such report", "GET", weeklyPath, "", "", 404, `there is no report \"weekly\"`},
		{"a report is stored with its defaults", "PUT", weeklyPath, weekly, "", 200,
			`"period":"week","at":"07:00","weekday":"monday","tz":"UTC","template":"traffic","compare":"previous","when":"always"`},
		{"it is read", "GET", weeklyPath, "", "", 200, `"branches":null,"version":1`},
		{"it is listed", "GET", "/api/v4.0/conf/staging/reports", "", "", 200, `"name":"weekly"`},
		{"a client that has it", "GET", weeklyPath, "", "If-None-Match: ETAG", 304, ""},
		{"another etag", "PUT", weeklyPath, weekly, `If-Match: "1-0000000000000000"`, 412, "has changed since"},
		{"it is there already", "PUT", weeklyPath, weekly, "If-None-Match: *", 412, "exists already"},
		{"it is replaced", "PUT", weeklyPath, strings.Replace(weekly, "week", "day", 1), "If-Match: ETAG", 200, `"version":2`},
		{"an earlier version", "GET", weeklyPath + "/versions/1", "", "", 200, `"period":"week"`},
		{"an earlier version is restored", "POST", weeklyPath + "/versions/1/restore", "", "", 200, `"version":3`},
		{"it is deleted", "DELETE", weeklyPath, "", "", 204, ""},
		{"it is not there", "GET", weeklyPath, "", "", 404, "there is no report"},
		{"it is not there to be deleted", "DELETE", weeklyPath, "", "", 404, "there is no report"},
		{"its versions stay", "GET", weeklyPath + "/versions", "", "", 200, `"version":4`},
		{"a deletion is no version to read", "GET", weeklyPath + "/versions/4", "", "", 404, "deletion"},
		{"a deleted report is restored", "POST", weeklyPath + "/versions/2/restore", "", "", 200, `"version":5`},
		{"a mistake has its place", "PUT", weeklyPath, `{"period":"hour","deliver":[{"to":"archiv"}]}`, "", 422,
			`"loc":["body","deliver",0,"to"],"msg":"there is no destination \"archiv\"; did you mean \"archive\"?"`},
		{"a mistake in the filter has its place", "PUT", weeklyPath, `{"filters":"hots=a",` + weekly[1:], "", 400, `"offset":0,"length":4`},
		{"a body that is no JSON", "PUT", weeklyPath, `{`, "", 422, "not JSON"},
		{"a long body", "PUT", weeklyPath, `{"title":"` + strings.Repeat("x", definition.MaxBody) + `"}`, "", 413, ""},
		{"a bad name", "PUT", "/api/v4.0/conf/staging/reports/A", weekly, "", 422, `"loc":["path","report"]`},
		{"a bad version", "GET", weeklyPath + "/versions/x", "", "", 422, "not a version number"},
		{"a parameter", "GET", weeklyPath + "?x=1", "", "", 422, "takes no parameters"},
	} {
		t.Run(step.rule, func(t *testing.T) {
			var headers []string
			if step.header != "" {
				headers = append(headers, strings.ReplaceAll(step.header, "ETAG", etag))
			}
			status, body := s.ask(t, "full-key", step.method, step.path, step.body, headers...)
			if status != step.status || !strings.Contains(body, step.want) {
				t.Errorf("%d %s", status, body)
			}
			var read struct{ ETag string }
			if json.Unmarshal([]byte(body), &read) == nil && read.ETag != "" {
				etag = read.ETag
			}
		})
	}
}

func TestScopesOfReports(t *testing.T) {
	s := newReportServer(t)
	if status, body := s.ask(t, "full-key", "PUT", weeklyPath, weekly); status != 200 {
		t.Fatal(body)
	}
	for _, test := range []struct {
		key, method, path, body string
		status                  int
		want                    string
	}{
		{"data-key", "GET", weeklyPath, "", 403, "report:read"},
		{"data-key", "PUT", weeklyPath, weekly, 403, "report:write"},
		{"read-key", "GET", weeklyPath, "", 200, ""},
		{"read-key", "PUT", weeklyPath, weekly, 403, "report:write"},
		{"read-key", "DELETE", weeklyPath, "", 403, "report:write"},
		{"write-key", "PUT", weeklyPath, weekly, 403, "data:read"},
		{"write-key", "POST", weeklyPath + "/versions/1/restore", "", 403, "data:read"},
		{"write-key", "DELETE", weeklyPath, "", 204, ""},
	} {
		t.Run(test.key+" "+test.method, func(t *testing.T) {
			status, body := s.ask(t, test.key, test.method, test.path, test.body)
			if status != test.status || !strings.Contains(body, test.want) {
				t.Errorf("%d %s", status, body)
			}
		})
	}
}

// TestBranchesOfReports: a report is about the branches of its writer, and only keys with all of them see it.
func TestBranchesOfReports(t *testing.T) {
	s := newReportServer(t)
	put := func(key, name string) (int, string) {
		return s.ask(t, key, "PUT", "/api/v4.0/conf/staging/reports/"+name, weekly)
	}
	for _, one := range []struct{ key, name, want string }{
		{"full-key", "all", `"branches":null`},
		{"both-key", "both", `"branches":["staging","prod"]`},
		{"team-key", "team", `"branches":["staging"]`},
	} {
		if status, body := put(one.key, one.name); status != 200 || !strings.Contains(body, one.want) {
			t.Errorf("%s: %d %s", one.key, status, body)
		}
	}
	for key, names := range map[string]string{"full-key": "all both team", "both-key": "both team", "team-key": "team"} {
		_, body := s.ask(t, key, "GET", "/api/v4.0/conf/staging/reports", "")
		for _, name := range []string{"all", "both", "team"} {
			seen := strings.Contains(names, name)
			if listed := strings.Contains(body, fmt.Sprintf(`"name":%q`, name)); listed != seen {
				t.Errorf("%s lists %s: %v", key, name, listed)
			}
			for _, path := range []string{"", "/versions", "/versions/1"} {
				status, body := s.ask(t, key, "GET", "/api/v4.0/conf/staging/reports/"+name+path, "")
				if (status == 200) != seen || !seen && status != 404 {
					t.Errorf("%s reads %s%s: %d %s", key, name, path, status, body)
				}
			}
		}
	}
	for _, method := range []string{"PUT", "DELETE"} {
		body := map[string]string{"PUT": weekly}[method]
		status, text := s.ask(t, "team-key", method, "/api/v4.0/conf/staging/reports/all", body)
		if status != 403 || !strings.Contains(text, "use another name") {
			t.Errorf("%s of a report of others: %d %s", method, status, text)
		}
	}
	if status, _ := s.ask(t, "team-key", "POST", "/api/v4.0/conf/staging/reports/all/versions/1/restore", ""); status != 404 {
		t.Errorf("restoring a report of others: %d", status)
	}
	if status, _ := s.ask(t, "full-key", "DELETE", "/api/v4.0/conf/staging/reports/all", ""); status != 204 {
		t.Error(status)
	}
	for path, want := range map[string]int{"": 404, "/versions": 404, "/versions/1": 404} {
		if status, body := s.ask(t, "team-key", "GET", "/api/v4.0/conf/staging/reports/all"+path, ""); status != want {
			t.Errorf("a deleted report of others%s: %d %s", path, status, body)
		}
	}
	if status, body := put("team-key", "all"); status != 403 {
		t.Errorf("the name of a deleted report of others: %d %s", status, body)
	}
	// Whoever restores a version is its writer.
	if status, body := s.ask(t, "both-key", "POST", "/api/v4.0/conf/staging/reports/team/versions/1/restore", ""); status != 200 ||
		!strings.Contains(body, `"branches":["staging","prod"]`) {
		t.Errorf("restored by another key: %d %s", status, body)
	}
	if status, _ := s.ask(t, "team-key", "GET", "/api/v4.0/conf/staging/reports/team", ""); status != 404 {
		t.Errorf("the report of further branches: %d", status)
	}
	if status, _ := s.ask(t, "team-key", "GET", "/api/v4.0/conf/hidden/reports", ""); status != 404 {
		t.Errorf("the configuration of others: %d", status)
	}
}

func TestStoredReportHasTheKey(t *testing.T) {
	s := newReportServer(t)
	s.ask(t, "team-key", "PUT", weeklyPath, weekly)
	v, err := s.documents.Newest(t.Context(), definition.DocumentOf("staging", "weekly"))
	if err != nil {
		t.Fatal(err)
	}
	stored, err := definition.Read(v.Text)
	if err != nil || stored.Key != keys.IDOf(keys.HashOf("team-key")) || len(stored.Branches) != 1 {
		t.Errorf("%+v %v", stored, err)
	}
}

// TestPausedReportKeepsItsBranches: a key of all branches that pauses and resumes the report of another one does not
// widen it. Whoever changes anything else is its writer.
func TestPausedReportKeepsItsBranches(t *testing.T) {
	s := newReportServer(t)
	for _, step := range []struct{ key, body, branches string }{
		{"team-key", weekly, `["staging"]`},
		{"full-key", `{"period":"week","deliver":[{"to":"archive"}],"paused":true}`, `["staging"]`},
		{"full-key", weekly, `["staging"]`},
		{"full-key", `{"period":"week","deliver":[{"to":"archive"}],"title":"mine"}`, `null`},
	} {
		if status, body := s.ask(t, step.key, "PUT", weeklyPath, step.body); status != 200 ||
			!strings.Contains(body, `"branches":`+step.branches) {
			t.Errorf("%s writes %s: %d %s", step.key, step.body, status, body)
		}
	}
	v, err := s.documents.Version(t.Context(), definition.DocumentOf("staging", "weekly"), 3)
	if err != nil {
		t.Fatal(err)
	}
	if stored, err := definition.Read(v.Text); err != nil || stored.Key != keys.IDOf(keys.HashOf("team-key")) {
		t.Errorf("%+v %v", stored, err)
	}
}

// TestReportIsPausedWithoutItsDestination: a report can be paused and deleted after the operator has removed its
// destination, but neither changed nor resumed.
func TestReportIsPausedWithoutItsDestination(t *testing.T) {
	rules := definition.Rules{Destinations: []string{"archive"}}
	s := reportServer{testServer: newServer(t, func(c *Config) {
		specials["scheduled reports"](t, c)
		c.Keys, c.Definitions = reportKeys, &rules
	})}
	if status, body := s.ask(t, "team-key", "PUT", weeklyPath, weekly); status != 200 {
		t.Fatal(body)
	}
	rules.Destinations = nil
	for _, step := range []struct {
		rule, method, body string
		status             int
		want               string
	}{
		{"it is not changed", "PUT", `{"title":"x",` + weekly[1:], 422, `there is no destination \"archive\"`},
		{"it is not changed while it is paused", "PUT", `{"title":"x","paused":true,` + weekly[1:], 422, "there is no destination"},
		{"it is paused", "PUT", `{"paused":true,` + weekly[1:], 200, `"paused":true,"branches":["staging"],"version":2`},
		{"it is not resumed", "PUT", weekly, 422, "there is no destination"},
		{"it is deleted", "DELETE", "", 204, ""},
		{"it is not written again", "PUT", `{"paused":true,` + weekly[1:], 422, "there is no destination"},
	} {
		t.Run(step.rule, func(t *testing.T) {
			if status, body := s.ask(t, "full-key", step.method, weeklyPath, step.body); status != step.status ||
				!strings.Contains(body, step.want) {
				t.Errorf("%d %s", status, body)
			}
		})
	}
}

// TestReportOfOthersIsNotReplaced: another key writes the report between the check of the branches and the write.
func TestReportOfOthersIsNotReplaced(t *testing.T) {
	var real document.Store
	s := newServer(t, func(c *Config) {
		specials["scheduled reports"](t, c)
		c.Keys, real = reportKeys, c.Documents
		c.Documents = &latecomer{Store: c.Documents, id: definition.DocumentOf("staging", "weekly")}
	})
	status, body := reportServer{testServer: s}.ask(t, "team-key", "PUT", weeklyPath, weekly)
	v, err := real.Newest(t.Context(), definition.DocumentOf("staging", "weekly"))
	if status != 403 || err != nil || v.Number != 1 || v.By != "latecomer" {
		t.Errorf("%d %s\n%+v %v", status, body, v.Info, err)
	}
}

// latecomer is a store into which somebody writes a report of all branches after the first read.
type latecomer struct {
	document.Store
	id   document.ID
	done bool
}

func (l *latecomer) Newest(ctx context.Context, id document.ID) (document.Version, error) {
	v, err := l.Store.Newest(ctx, id)
	if !l.done {
		l.done = true
		text := definition.Stored{Definition: definition.Definition{Period: "day"}}.Text()
		change := document.Change{Text: text, By: "latecomer", At: planettest.At}
		if _, err := document.Put(ctx, l.Store, l.id, change); err != nil {
			return v, err
		}
	}
	return v, err
}

// TestReportsAreReadOnce: another key writes the report between the check of the branches and the answer. The answer is
// about the version that was checked.
func TestReportsAreReadOnce(t *testing.T) {
	for path, status := range map[string]int{"": 200, "/versions": 200, "/versions/1": 200, "/versions/2": 404} {
		t.Run("get "+path, func(t *testing.T) {
			late := &latecomer{id: definition.DocumentOf("staging", "weekly"), done: true}
			s := reportServer{testServer: newServer(t, func(c *Config) {
				specials["scheduled reports"](t, c)
				late.Store = c.Documents
				c.Keys, c.Documents = reportKeys, late
			})}
			if status, body := s.ask(t, "team-key", "PUT", weeklyPath, weekly); status != 200 {
				t.Fatal(body)
			}
			late.done = false
			got, body := s.ask(t, "team-key", "GET", weeklyPath+path, "")
			if got != status || strings.Contains(body, "latecomer") || status == 200 && !strings.Contains(body, "team") {
				t.Errorf("%d %s", got, body)
			}
		})
	}
}

func TestDamagedReportIsNotSent(t *testing.T) {
	s := newReportServer(t)
	change := document.Change{Text: "{", By: "x", At: planettest.At}
	if _, err := document.Put(t.Context(), s.documents, definition.DocumentOf("staging", "weekly"), change); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{weeklyPath, weeklyPath + "/versions", "/api/v4.0/conf/staging/reports"} {
		if status, body := s.ask(t, "full-key", "GET", path, ""); status != 500 {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}

func TestServersWithoutScheduledReportsHaveNoRoutes(t *testing.T) {
	s := newTestServer(t)
	if r := s.send(t, get("/api/v4.0/conf/"+planet.FirstConfig+"/reports")); r.StatusCode != http.StatusNotFound {
		t.Errorf("%d", r.StatusCode)
	}
}

// TestDocumentOfScheduledReports: the OpenAPI document is valid, and the answers have the schemas of it.
func TestDocumentOfScheduledReports(t *testing.T) {
	s := newTestServer(t, "scheduled reports")
	loaded, err := openapi3.NewLoader().LoadFromData(s.send(t, get("/openapi.json")).body)
	if err != nil {
		t.Fatal(err)
	}
	if err := loaded.Validate(t.Context(), openapi3.IsOpenAPI31OrLater(), openapi3.DisableExamplesValidation()); err != nil {
		t.Error(err)
	}
	put := loaded.Paths.Find("/conf/{config}/reports/{report}").Put
	sent := `{"title":"a","filters":{"AND":[]},"period":"day","at":"07:00","deliver":[{"mail":["a@example.com"]}],"paused":true}`
	for rule, text := range map[string]string{"every kind of member": sent, "only what is required": weekly} {
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		if err := put.RequestBody.Value.Content["application/json"].Schema.Value.VisitJSON(value, openapi3.EnableJSONSchema2020()); err != nil {
			t.Errorf("%s: %v", rule, err)
		}
	}
	r := s.send(t, examples.Message{Head: "PUT /api/v4.0/conf/prod/reports/weekly HTTP/1.1\nHost: localhost\nContent-Type: application/json", Body: weekly})
	var value any
	if err := json.Unmarshal(r.body, &value); err != nil {
		t.Fatal(err)
	}
	if err := loaded.Components.Schemas["ScheduledReport"].Value.VisitJSON(value, openapi3.EnableJSONSchema2020()); err != nil {
		t.Errorf("the answer does not have its schema: %v\n%s", err, r.body)
	}
}
