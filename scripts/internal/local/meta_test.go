package local_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/api/metatest"
	"github.com/orrery/orrery/shared/lake"
)

// TestAnswersHaveTheMembersOfMeta: the answer of every data route of one machine has the members that the table in the
// README of package api lists for it, and the bytes are within the estimate.
func TestAnswersHaveTheMembersOfMeta(t *testing.T) {
	product := twoCountries(t)
	members := metatest.Members(t, filepath.Join("..", "..", "..", "shared", "api", "README.md"))
	for _, c := range everyRoute {
		t.Run(c.route+c.query, func(t *testing.T) {
			w := askedData(t, product, c.route, testDay, c.query)
			metatest.Check(t, members, c.route, metatest.OneMachine, w.Body.Bytes())
			if m := metaOf(t, w.Body.Bytes()); string(m["exact"]) != strconv.FormatBool(c.exact) {
				t.Errorf("exact is %s", m["exact"])
			}
			metatest.CheckEstimate(t, w.Body.Bytes())
		})
	}
}

// question is a question to a data route.
type question struct {
	route, query string
	exact        bool // its answer
}

// everyRoute has questions to every data route, and whether their answers are exact if no object is damaged.
var everyRoute = []question{
	{"topx", "", true},
	{"topx", "&figures=percentiles", false},
	{"stats", "", true},
	{"stats", "&group_by=country", true},
	{"stats", "&figures=percentiles&group_by=country", false},
	{"timeline", "", true},
	{"timeline", "&marks=true", true},
	{"facets", "", true},
	{"histogram", "", true},
	{"histogram", "&by=country&marks=true", true},
	{"diff", "&select=status%3D403", true},
	{"diff", "&against=previous", true},
	{"incidents", "", true},
	{"effect", "&at=2026-01-01T11:00:00Z", true},
	{"whatif", "&rule=limit+2+per+1m+by+ip", true},
	{"logs", "", true},
	{"logs", "&limit=1", true},
	{"values", "&field=country", true},
	{"values", "&field=country&counts=true", true},
}

// TestEveryDataRouteIsAsked: a new data route needs a question.
func TestEveryDataRouteIsAsked(t *testing.T) {
	for _, r := range api.Routes() {
		route, isData := strings.CutPrefix(r.Path, "/data/")
		if !isData || strings.Contains(route, "/") || route == "fields" || route == "report" { // which has no meta
			continue
		}
		if route == "why" { // which is about one record
			continue
		}
		if !slices.ContainsFunc(everyRoute, func(q question) bool { return q.route == route }) {
			t.Errorf("there is no question to %s", route)
		}
	}
}

// twoCountries returns a product with two records of different hours and countries.
func twoCountries(t *testing.T) *local.Product {
	t.Helper()
	product := openProduct(t, t.TempDir())
	importLog(t, product, "a.log", `{"processing_stage":6,"timestamp":"2026-01-01T10:00:00Z","country":"Germany","status":200}`+"\n"+
		`{"processing_stage":6,"timestamp":"2026-01-01T11:00:00Z","country":"France","status":403}`+"\n")
	return product
}

// TestNoAnswerIsExactWithoutAnObject: every data route names an object that it could not read, and reports that its
// answer is not exact.
func TestNoAnswerIsExactWithoutAnObject(t *testing.T) {
	product := twoCountries(t)
	objects, err := product.Store.Index().Objects(t.Context(), 0, 1<<40)
	if err != nil || len(objects) != 2 {
		t.Fatal(objects, err)
	}
	if err := os.WriteFile(objects[1].Path, []byte("not Parquet"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range everyRoute {
		t.Run(c.route+c.query, func(t *testing.T) {
			w := askedData(t, product, c.route, testDay, c.query)
			m := metaOf(t, w.Body.Bytes())
			if string(m["exact"]) != "false" || !strings.Contains(string(m["skipped"]), lake.NameOf(objects[1].Path)) {
				t.Errorf("exact is %s, skipped %s", m["exact"], m["skipped"])
			}
		})
	}
}
