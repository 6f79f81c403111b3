package main

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/document/documentdynamo"
	"github.com/orrery/orrery/shared/dynamotable/dynamotest"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/keys/keydynamo"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/lakestate/statedynamo"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/lambdas/permissions"
	"github.com/orrery/orrery/shared/lambdas/permissions/guardtest"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/planet/planetdynamo"
	"github.com/orrery/orrery/shared/planet/planettest"
	"github.com/orrery/orrery/shared/savedfilter"
	"github.com/orrery/orrery/shared/search/pending"
	"github.com/orrery/orrery/shared/search/pending/pendingdynamo"
	"github.com/orrery/orrery/shared/search/pending/pendingtest"
)

// TestGrantsCoverStoreActions runs the stores of the table with the permissions of a function that uses each, and then
// looks for grants on items that no store needs. TestFunctionsUseTheirGrants of package cloud does so for ingest,
// compact and reconcile.
func TestGrantsCoverStoreActions(t *testing.T) {
	dynamotest.Client(t) // without DynamoDB, skips this test as a whole instead of each test of the suites
	names := permissions.Names{Region: guardtest.Region, Account: guardtest.Account, Table: "*"}
	resources := names.Resources()
	calls := permissions.Calls{}
	for name, use := range map[string]struct {
		by func(function) bool
		do func(t *testing.T, open openTable)
	}{
		"keys":            {function.knowsCallers, readKeys},
		"reading planets": {func(f function) bool { return strings.HasPrefix(f.Name, "planet-") }, readPlanets},
		"planets":         {func(f function) bool { return f.Name == "planet-put" }, usePlanets},
		"reading filters": {func(f function) bool { return strings.HasPrefix(f.Name, "filter-") }, readFilters},
		"filters":         {func(f function) bool { return f.Name == "filter-put" }, useFilters},
		"pending queries": {function.asksAthena, useQueries},
		"state":           {function.readsLake, readState},
		"suspects":        {function.asksAthena, reportSuspect},
	} {
		t.Run(name, func(t *testing.T) {
			users := slices.DeleteFunc(functions(), func(f function) bool { return !use.by(f) })
			if len(users) == 0 {
				t.Fatal("no function uses it")
			}
			network := guardtest.New(t, names, nil)
			defer network.As(users[0].Name)()
			use.do(t, func(t *testing.T) (*dynamodb.Client, string) {
				guarded := func(o *dynamodb.Options) { o.HTTPClient = &http.Client{Transport: network} }
				return dynamotest.Client(t, guarded)
			})
			made := network.Calls()[users[0].Name]
			if len(made) == 0 {
				t.Error("no calls were recorded")
			}
			for _, f := range users {
				calls[f.Name] = append(calls[f.Name], made...)
				for _, c := range made {
					if !resources.Allowed(f.Name, c) {
						t.Errorf("%s lacks the grant of %s", f.Name, c)
					}
				}
			}
		})
	}
	judged := func(a permissions.Atom) bool {
		others := []string{"ingesting", "compacting", "reconciling"}
		return a.On == permissions.Items && !slices.Contains(others, a.Task)
	}
	for _, mistake := range permissions.Review(resources, calls, judged) {
		t.Error(mistake)
	}
}

// openTable returns a client and the name of an empty table.
type openTable func(t *testing.T) (*dynamodb.Client, string)

func (f function) knowsCallers() bool {
	return f.behindGateway() && slices.Contains(f.Variables, lambdas.Table)
}

func readKeys(t *testing.T, open openTable) {
	store := keydynamo.New(open(t))
	_, missing := store.Find(t.Context(), "none")
	if _, err := store.List(t.Context()); err != nil || missing == nil {
		t.Error(err, missing)
	}
}

func readPlanets(t *testing.T, open openTable) {
	client, table := open(t)
	store := planetdynamo.New(client, table, time.Now)
	_, err1 := store.Newest(t.Context(), planet.FirstConfig)
	_, err2 := store.Version(t.Context(), planet.FirstConfig, 1)
	_, err3 := store.Versions(t.Context(), planet.FirstConfig)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Error(err)
	}
}

func usePlanets(t *testing.T, open openTable) {
	planettest.Run(t, func(t *testing.T) planet.Store {
		client, table := open(t)
		return planetdynamo.New(client, table, func() time.Time { return planettest.At })
	})
}

func readFilters(t *testing.T, open openTable) {
	store := documentdynamo.New(open(t))
	id := savedfilter.DocumentOf(planet.FirstConfig, "bots")
	_, err1 := store.List(t.Context(), savedfilter.Kind, planet.FirstConfig)
	_, err2 := store.Versions(t.Context(), id)
	if err := errors.Join(err1, err2); err != nil {
		t.Error(err)
	}
	_, err3 := store.Newest(t.Context(), id)
	_, err4 := store.Version(t.Context(), id, 1)
	if fault.KindOf(err3) != fault.NotFound || fault.KindOf(err4) != fault.NotFound {
		t.Errorf("%v; %v; want kind NotFound", err3, err4)
	}
}

func useFilters(t *testing.T, open openTable) {
	store, id := documentdynamo.New(open(t)), savedfilter.DocumentOf(planet.FirstConfig, "bots")
	change := document.Change{Text: "{}", By: "key", At: planettest.At}
	if _, err := document.Put(t.Context(), store, id, change); err != nil {
		t.Error(err)
	}
	if err := document.Delete(t.Context(), store, id, change); err != nil {
		t.Error(err)
	}
	if _, err := document.Restore(t.Context(), store, id, 1, change); err != nil {
		t.Error(err)
	}
}

func useQueries(t *testing.T, open openTable) {
	const century = 100 * 365 * 24 * time.Hour // DynamoDB Local removes expired items by its own clock
	pendingtest.Run(t, func(t *testing.T) pending.Store {
		client, table := open(t)
		return pendingdynamo.New(client, table, century, time.Now)
	})
}

func readState(t *testing.T, open openTable) {
	if _, err := lakestate.NewStates(statedynamo.New(open(t)), time.Now).State(t.Context()); err != nil {
		t.Error(err)
	}
}

func reportSuspect(t *testing.T, open openTable) {
	suspects := lakestate.NewSuspects(statedynamo.New(open(t)), time.Now)
	damage := &engine.DamageError{Object: "fresh/2026/01/01/00/0-0.parquet", Err: errors.New("not Parquet")}
	if err := suspects.Report(t.Context(), damage); err != nil {
		t.Error(err)
	}
}
