package api

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/planet/planettest"
)

// TestBranchesReachEverySearch: each data route passes the branches of the key to the search, by GET and by POST.
func TestBranchesReachEverySearch(t *testing.T) {
	for _, r := range (&server{}).routes() {
		if !r.searches || strings.Contains(r.path, "{") {
			continue
		}
		t.Run(r.id, func(t *testing.T) {
			h := &searchSpy{}
			s := newServer(t, func(c *Config) { c.Search, c.Keys = h, testKeys })
			m := get("/api/v4.0"+r.path+"?filters=x"+alsoRequired("&%s=x", r), "X-API-Key: branch-key")
			if r.method == http.MethodPost {
				m = post("/api/v4.0"+r.path, jsonType, `{"filters":"x"`+alsoRequired(`,"%s":"x"`, r)+`}`)
				m.head += "\nX-API-Key: branch-key"
			}
			s.send(t, m)
			if diff := cmp.Diff([]string{"staging"}, h.request.Branches); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// alsoRequired prints the required parameters of a route besides the filter.
func alsoRequired(format string, r route) (text string) {
	for _, p := range r.params {
		if p.required && p.name != filtersParam.name {
			text += fmt.Sprintf(format, p.name)
		}
	}
	return text
}

// TestConfigurationsOfOtherBranchesAreNotFound: no route reveals whether they exist, or writes to them. Configurations
// of the key's branches work as usual.
func TestConfigurationsOfOtherBranchesAreNotFound(t *testing.T) {
	var store planet.Store
	s := newServer(t, func(c *Config) { c.Keys, store = testKeys, c.Planets })
	mustPut := func(config string) {
		t.Helper()
		change := planet.Change{Settings: planettest.Settings(t, config), By: "console", At: planettest.At}
		if _, err := planet.Put(t.Context(), store, config, change); err != nil {
			t.Fatal(err)
		}
	}
	for _, config := range []string{"staging", "hidden", "Staging", "staging2"} {
		mustPut(config)
	}
	ask := func(r route, config string) reply {
		t.Helper()
		path := strings.NewReplacer("{config}", config, "{entry_id}", planet.EntryID, "{version}", "1").Replace(r.path)
		head := fmt.Sprintf("%s /api/v4.0%s HTTP/1.1\nHost: localhost\nX-API-Key: branch-key", r.method, path)
		m := message{head: head}
		if r.method == http.MethodPut {
			m.head += "\nContent-Type: application/json"
			m.body = string(planettest.Settings(t, "written").JSON())
		}
		return s.send(t, m)
	}
	tried := 0
	for _, r := range (&server{}).routes() {
		if !strings.Contains(r.path, "{config}") {
			continue
		}
		tried++
		t.Run(r.id, func(t *testing.T) {
			missing := ask(r, "missing")
			for _, config := range []string{"hidden", "Staging", "staging2", "prod"} {
				got := ask(r, config)
				body := bytes.ReplaceAll(got.body, []byte(config), []byte("missing"))
				if got.StatusCode != http.StatusNotFound || !bytes.Equal(body, missing.body) {
					t.Errorf("%s: %s %s\nunknown: %s %s", config, got.Status, got.body, missing.Status, missing.body)
				}
			}
			if got := ask(r, "staging"); got.StatusCode/100 != 2 {
				t.Errorf("staging: %s %s", got.Status, got.body)
			}
		})
	}
	if tried < 5 {
		t.Errorf("only %d routes have a configuration", tried)
	}
	for _, config := range []string{"hidden", "Staging", "staging2", "missing"} {
		list, err := store.Versions(t.Context(), config)
		written := slices.ContainsFunc(list, func(i planet.Info) bool { return i.By != "console" })
		if written || err != nil {
			t.Errorf("%s was written: %+v, %v", config, list, err)
		}
	}
}

// TestSearchIsLimitedToTheBranchesOfTheKey: the limit holds for every filter.
func TestSearchIsLimitedToTheBranchesOfTheKey(t *testing.T) {
	s := newTestServer(t, "keys")
	const period = "timestamp%20between%202026-01-01%20and%202026-01-03"
	for name, filters := range map[string]string{
		"everything": period, "another branch": "branch=prod," + period, "not its branch": "branch!=staging," + period,
		"records without a branch": "not%20branch~%22.%22," + period,
	} {
		t.Run(name, func(t *testing.T) {
			all := s.send(t, get("/api/v4.0/data/logs?filters="+filters, "X-API-Key: full-key"))
			own := s.send(t, get("/api/v4.0/data/logs?filters="+filters, "X-API-Key: branch-key"))
			if all.StatusCode != http.StatusOK || own.StatusCode != http.StatusOK {
				t.Fatalf("%s %s, %s %s", all.Status, all.body, own.Status, own.body)
			}
			records := bytes.Count(own.body, []byte(`"timestamp":`))
			inBranch := bytes.Count(own.body, []byte(`"branch":"staging"`))
			if records != inBranch {
				t.Errorf("%d of %d records are of its branch: %s", inBranch, records, own.body)
			}
			if name == "everything" && (records == 0 || bytes.Count(all.body, []byte(`"timestamp":`)) == records) {
				t.Errorf("the key sees %d records of %s", records, all.body)
			}
		})
	}
}
