package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/metatest"
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/search"
)

// TestDryRunsAreJSON: the tables have no place for an estimate. The answer is never deferred.
func TestDryRunsAreJSON(t *testing.T) {
	s := newTestServer(t)
	const query = "/api/v4.0/data/topx?filters=timestamp%20between%202026-01-01%20and%202026-01-02&dry_run="
	for _, c := range []struct {
		request string
		status  int
		body    string
	}{
		{query + "true&format=csv", http.StatusUnprocessableEntity, `"format: a dry run has no results`},
		{query + "true&format=json", http.StatusOK, `"dry_run":true`},
		{query + "false&format=csv", http.StatusOK, "num_of_requests"},
	} {
		got := s.send(t, get(c.request))
		if got.StatusCode != c.status || !strings.Contains(string(got.body), c.body) {
			t.Errorf("%s: %s %s", c.request, got.Status, got.body)
		}
	}
	got := s.send(t, get(query+"true", "Accept: text/csv"))
	if got.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("Accept: %s %s", got.Status, got.body)
	}
	got = s.send(t, get(query+"true", "Prefer: respond-async"))
	if got.StatusCode != http.StatusOK || !strings.Contains(string(got.body), `"dry_run":true`) {
		t.Errorf("respond-async: %s %s", got.Status, got.body)
	}
}

// TestReadmeListsTheMembersOfMeta: the table has every member that an answer can have, and answers have those that they
// should always have.
func TestReadmeListsTheMembersOfMeta(t *testing.T) {
	members := metatest.Members(t, "README.md")
	var want, got []string
	for field := range reflect.TypeFor[search.Meta]().Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "-" {
			want = append(want, name)
		}
	}
	for _, m := range members {
		got = append(got, m.Name)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members of meta (-code +README):\n%s", diff)
	}
	s := newTestServer(t)
	for _, r := range (&server{}).routes() {
		if !r.Searches || strings.Contains(r.Path, "{") {
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			const period = "timestamp between 2026-01-01 10:00 and 2026-01-01 10:05"
			parameters := map[string]string{"filters": period}
			if parameter.Find(r.Params, "record_ref") != nil {
				parameters = map[string]string{"record_ref": "AeCpiJDvZhnok0jyqdXz0MX8qOKnBo2CYfDj"}
			}
			if parameter.Find(r.Params, "at") != nil {
				parameters = map[string]string{"at": "2026-01-01 10:02", "length": "2m"}
			}
			if parameter.Find(r.Params, "rule") != nil {
				parameters["rule"] = "limit 1 per 1m by ip"
			}
			if parameter.Find(r.Params, "select") != nil {
				parameters["select"] = "blocked is true"
			}
			if parameter.Find(r.Params, "field") != nil {
				parameters["field"] = "country"
			}
			values := url.Values{}
			for name, value := range parameters {
				values.Set(name, value)
			}
			m := get("/api/v4.0" + r.Path + "?" + values.Encode())
			if r.Method == "POST" {
				body, err := json.Marshal(parameters)
				if err != nil {
					t.Fatal(err)
				}
				m = post("/api/v4.0"+r.Path, content.JSON, string(body))
			}
			route := r.OfGet()
			metatest.Check(t, members, route, metatest.OneMachine, s.send(t, m).body)
		})
	}
}
