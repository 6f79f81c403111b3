package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/examples"
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/planet/planettest"
	"github.com/orrery/orrery/shared/savedfilter"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/valuelist"
)

// TestBranchesReachEverySearch: each data route passes the branches of the key to the search, by GET and by POST.
func TestBranchesReachEverySearch(t *testing.T) {
	for _, r := range (&server{}).routes() {
		if !r.Searches || strings.Contains(r.Path, "{") {
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			h := &searchSpy{}
			s := newServer(t, func(c *Config) { c.Search, c.Keys = h, testKeys })
			filters := "timestamp between 2026-01-01 and 2026-01-02"
			if r.OfGet() == string(search.Effect) {
				filters = "status>=0" // the period follows from other parameters
			}
			query, members := "filters="+url.QueryEscape(filters), `"filters":"`+filters+`"`
			if parameter.Find(r.Params, "filters") == nil {
				query, members = "_", `"_":1`
			}
			m := get("/api/v4.0"+r.Path+"?"+query+alsoRequired("&%s=%s", r), "X-API-Key: branch-key")
			if r.Method == http.MethodPost {
				m = post("/api/v4.0"+r.Path, content.JSON, "{"+members+alsoRequired(`,"%s":"%s"`, r)+"}")
				m.Head += "\nX-API-Key: branch-key"
			}
			s.send(t, m)
			if diff := cmp.Diff([]string{"staging"}, h.request.Branches); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// alsoRequired prints the required parameters of a route besides the filter, with values: the moment of an effect, a rule, which
// could also be one of several, or a valid reference of no record, which other parameters accept, too.
func alsoRequired(format string, r route.Route) (text string) {
	for _, p := range r.Params {
		if (p.Required || p.Name == parameter.RuleName) && p.Name != parameter.Filters.Name {
			value := lake.RefTo(1767261600000, "x", 1).String()
			switch p.Name {
			case parameter.AtName:
				value = "2026-01-02"
			case parameter.RuleName:
				value = "limit+5+per+1m+by+ip"
				if strings.HasPrefix(format, ",") {
					value = "limit 5 per 1m by ip"
				}
			}
			text += fmt.Sprintf(format, p.Name, value)
		}
	}
	return text
}

// TestConfigurationsOfOtherBranchesAreNotFound: no route reveals whether they exist, or writes to them. Configurations
// of the key's branches work as usual.
func TestConfigurationsOfOtherBranchesAreNotFound(t *testing.T) {
	var store, filters document.Store
	var config *Config
	s := newServer(t, func(c *Config) { c.Keys, store, filters, config = testKeys, c.Planets, c.Documents, c })
	mustPut := func(config string) {
		t.Helper()
		put(t, store, config, config)
	}
	for _, name := range []string{"staging", "hidden", "Staging", "staging2"} {
		mustPut(name)
		saveFilters(t, filters, name)
		saveLists(t, config, name)
	}
	ask := func(r route.Route, config string) reply {
		t.Helper()
		path := strings.NewReplacer("{config}", config, "{entry_id}", planet.EntryID, "{version}", "1",
			"{name}", "server-errors", "{list}", "tor").Replace(r.Path)
		head := fmt.Sprintf("%s /api/v4.0%s HTTP/1.1\nHost: localhost\nX-API-Key: branch-key", r.Method, path)
		m := examples.Message{Head: head}
		if r.Method == http.MethodPut {
			m.Head += "\nContent-Type: application/json"
			m.Body = string(planettest.Settings(t, "written").JSON())
			if r.Tag == route.FiltersTag {
				m.Body = `{"filters":"status=404"}`
			}
			if r.Tag == route.ListsTag {
				m.Head = strings.Replace(m.Head, "application/json", "text/plain", 1)
				m.Body = "192.0.2.7"
			}
		}
		return s.send(t, m)
	}
	tried := 0
	for _, r := range (&server{}).routes() {
		if !strings.Contains(r.Path, "{config}") {
			continue
		}
		tried++
		t.Run(r.ID, func(t *testing.T) {
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
		list, err := store.Versions(t.Context(), planet.DocumentOf(config))
		written := slices.ContainsFunc(list, func(i document.Info) bool { return i.By != "console" })
		if written || err != nil {
			t.Errorf("%s was written: %+v, %v", config, list, err)
		}
		list, err = filters.Versions(t.Context(), savedfilter.DocumentOf(config, "server-errors"))
		written = slices.ContainsFunc(list, func(i document.Info) bool { return i.By != "console" })
		if written || err != nil {
			t.Errorf("a filter of %s was written: %+v, %v", config, list, err)
		}
		list, err = filters.Versions(t.Context(), valuelist.DocumentOf(config, "tor"))
		written = slices.ContainsFunc(list, func(i document.Info) bool { return i.By != "console" })
		if written || err != nil {
			t.Errorf("a list of %s was written: %+v, %v", config, list, err)
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

// TestReferencesOfOtherBranchesAnswerNothing: a link to a record of another branch finds nothing, on any route, and its
// answer is the answer for a link to a record that does not exist.
func TestReferencesOfOtherBranchesAnswerNothing(t *testing.T) {
	s := newTestServer(t, "keys")
	ask := func(path, key string) reply {
		t.Helper()
		got := s.send(t, get("/api/v4.0/data/"+path, "X-API-Key: "+key))
		if got.StatusCode != http.StatusOK && !strings.HasPrefix(path, "why") {
			t.Fatalf("%s: %s %s", path, got.Status, got.body)
		}
		return got
	}
	const all = "logs?fields=record_ref,branch&filters=timestamp%20between%202026-01-01%20and%202026-01-03"
	var answer struct {
		Data struct {
			Results []struct {
				Ref    string `json:"record_ref"`
				Branch string `json:"branch"`
			} `json:"results"`
		} `json:"data"`
	}
	if err := json.Unmarshal(ask(all, "full-key").body, &answer); err != nil {
		t.Fatal(err)
	}
	own, others := 0, 0
	for _, r := range answer.Data.Results {
		link := "logs?fields=record_ref&filters=record_ref=" + r.Ref
		found := `"results":[{"record_ref":"` + r.Ref + `"}]`
		if got := ask(link, "full-key"); !bytes.Contains(got.body, []byte(found)) {
			t.Errorf("%s of branch %q: %s", r.Ref, r.Branch, got.body)
		}
		got := ask(link, "branch-key")
		if r.Branch == "staging" {
			if own++; !bytes.Contains(got.body, []byte(found)) {
				t.Errorf("%s of its own branch: %s", r.Ref, got.body)
			}
			continue
		}
		others++
		if !bytes.Contains(got.body, []byte(`"results":[]`)) {
			t.Errorf("%s of branch %q: %s", r.Ref, r.Branch, got.body)
		}
		ref, err := lake.ParseRef(r.Ref)
		if err != nil {
			t.Fatal(err)
		}
		unknown := lake.RefTo(ref.TsMs, "unknown", 1).String()
		for _, route := range []string{link, "facets?by=host&filters=record_ref=" + r.Ref, "why?record_ref=" + r.Ref} {
			want := ask(strings.ReplaceAll(route, r.Ref, unknown), "branch-key").body
			got := bytes.ReplaceAll(ask(route, "branch-key").body, []byte(r.Ref), []byte(unknown))
			if diff := cmp.Diff(withoutTokens(want), withoutTokens(got)); diff != "" {
				t.Errorf("%s (-no record +record of branch %q):\n%s", route, r.Branch, diff)
			}
		}
	}
	if own == 0 || others == 0 {
		t.Errorf("%d records of the branch of the key, %d others", own, others)
	}
}

var token = regexp.MustCompile(`"(fingerprint|head)":"[^"]*"`)

// withoutTokens removes what depends on the text of the filter.
func withoutTokens(body []byte) string { return token.ReplaceAllString(string(body), "") }

// TestNoAnswerRevealsOtherBranches: no data route returns a value or a count of records of other branches to a key that
// is limited to some.
func TestNoAnswerRevealsOtherBranches(t *testing.T) {
	s := newTestServer(t, "keys", "many records") // 160 records are of branch prod, 40 of branch staging
	const period = "timestamp between 2026-01-01 10:00 and 2026-01-01 10:05"
	further := map[string]map[string]string{ // parameters, without which a request is refused or asks little
		string(search.Facets):    {"by": "branch,country,host,path,status,tags,asn"},
		string(search.Histogram): {"by": "host"},
		string(search.Diff):      {"by": "branch,country,host,path,status,tags,asn", "select": "path=\"/\"", "least": "1"},
		string(search.Values):    {"field": "host"},
		string(search.Effect):    {"at": "2026-01-01 10:02:30", "length": "150s"},
		string(search.WhatIf):    {"rule": "limit 1 per 1m by country"},
	}
	for _, r := range (&server{}).routes() {
		if !r.Searches || parameter.Find(r.Params, "filters") == nil {
			continue
		}
		id := r.OfGet()
		for _, filters := range []string{period, period + `, branch!="staging"`, period + `, not status<0`} {
			if id == string(search.Values) && filters != period {
				continue // the filter of values is only a period
			}
			t.Run(r.ID+" "+filters, func(t *testing.T) {
				sent := filters
				if id == string(search.Effect) { // its filter has no period
					sent = "not status<0" + strings.TrimPrefix(filters, period)
				}
				values, members := url.Values{"filters": {sent}}, map[string]any{"filters": sent}
				for name, value := range further[id] {
					values.Set(name, value)
					members[name] = value
				}
				if id == string(search.Diff) {
					members["least"] = 1
				}
				body, err := json.Marshal(members)
				if err != nil {
					t.Fatal(err)
				}
				ask := func(key string) string {
					m := get("/api/v4.0"+r.Path+"?"+values.Encode(), "X-API-Key: "+key)
					if r.Method == http.MethodPost {
						m = post("/api/v4.0"+r.Path, content.JSON, string(body))
						m.Head += "\nX-API-Key: " + key
					}
					got := s.send(t, m)
					if got.StatusCode != http.StatusOK {
						t.Fatalf("%s %s", got.Status, got.body)
					}
					return string(got.body)
				}
				all, own := ask("full-key"), ask("branch-key")
				if filters == period && all == own {
					t.Errorf("a key without branches gets the same answer: %s", own)
				}
				var got struct {
					Data struct{ Results json.RawMessage }
					Meta struct {
						NumOfRequests *int `json:"num_of_requests"`
						Diff          *search.DiffMeta
						Effect        *answer.EffectMeta
					}
				}
				if err := json.Unmarshal([]byte(own), &got); err != nil {
					t.Fatal(err)
				}
				for _, other := range []string{"shop.example", "/cart", "/login", "France", "AS64501", "prod", "403"} {
					if strings.Contains(string(got.Data.Results), other) {
						t.Errorf("the results contain %s: %s", other, got.Data.Results)
					}
				}
				if n := got.Meta.NumOfRequests; n != nil && *n > 40 {
					t.Errorf("the key sees %d requests", *n)
				}
				if e := got.Meta.Effect; e != nil {
					if n := e.Before.NumOfRequests + e.After.NumOfRequests; n > 40 || n == 0 && filters == period {
						t.Errorf("the key sees %d requests before and after the moment", n)
					}
				}
				if d := got.Meta.Diff; d != nil {
					if n := d.Selected.NumOfRequests + d.Baseline.NumOfRequests; n > 40 {
						t.Errorf("the key sees %d requests on both sides", n)
					}
					for _, f := range d.Fields {
						if f.Distinct > 1 || f.NumOfAbsentSelected+f.NumOfAbsentBaseline > 40 {
							t.Errorf("the key sees values of other branches: %+v", f)
						}
					}
				}
			})
		}
	}
}
