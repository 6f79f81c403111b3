package main

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fakeaws/iamproxytest"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/lakestate/bundle"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/permissions"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/planet/planettest"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/report/runs/runstest"
	"github.com/orrery/orrery/shared/savedfilter"
	"github.com/orrery/orrery/shared/search/pending"
	"github.com/orrery/orrery/shared/table/tabledynamo"
	"github.com/orrery/orrery/shared/table/tabledynamo/dynamotest"
	"github.com/orrery/orrery/shared/valuelist"
)

// TestGrantsCoverStoreActions runs the stores of the table with the permissions of a function that uses each, and then
// looks for grants on items that no store needs. TestFunctionsUseTheirGrants of package cloud does so for ingest,
// compact and reconcile.
func TestGrantsCoverStoreActions(t *testing.T) {
	dynamotest.Client(t) // without DynamoDB, skips this test as a whole instead of each test of the suites
	names := permissions.Names{Region: iamproxytest.Region, Account: iamproxytest.Account, Table: "*"}
	resources := names.Resources()
	calls := permissions.Calls{}
	for name, use := range map[string]struct {
		by func(function) bool
		do func(t *testing.T, open openTable)
	}{
		"keys":            {function.knowsCallers, readKeys},
		"seals":           {is("logs", "query-status"), useTokenKeys},
		"reading planets": {func(f function) bool { return strings.HasPrefix(f.Name, "planet-") }, readPlanets},
		"planets":         {func(f function) bool { return f.Name == "planet-put" }, usePlanets},
		"reading filters": {func(f function) bool { return strings.HasPrefix(f.Name, "filter-") }, reading(bots)},
		"filters":         {func(f function) bool { return f.Name == "filter-put" }, using(bots)},
		"reading lists":   {func(f function) bool { return is("list-get", "list-put")(f) || f.asksAthena() }, reading(tor)},
		"lists":           {is("list-put"), using(tor)},
		"reading reports": {is("report-get", "report-put", reportName), reading(weekly)},
		"reports":         {is("report-put"), using(weekly)},
		"reading runs":    {is("report-get"), readRuns},
		"requesting runs": {is("report-put"), requestRuns},
		"queueing runs":   {is(tickName), queueRuns},
		"making runs":     {is(reportName), makeRuns},
		"pending queries": {function.asksAthena, useQueries},
		"state":           {func(f function) bool { return f.readsLake() || f.asksAthena() }, readState},
		"column sizes":    {function.asksAthena, readColumnSizes},
		"day counts":      {func(f function) bool { return f.Name == "status" || f.asksAthena() }, readDayCounts},
		"bundles":         {function.asksAthena, readBundles},
		"suspects":        {function.asksAthena, reportSuspect},
	} {
		t.Run(name, func(t *testing.T) {
			users := slices.DeleteFunc(functions(), func(f function) bool { return !use.by(f) })
			if len(users) == 0 {
				t.Fatal("no function uses it")
			}
			network := iamproxytest.New(t, names, nil)
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

// is returns a function that reports whether a function has one of the names.
func is(names ...string) func(function) bool {
	return func(f function) bool { return slices.Contains(names, f.Name) }
}

// A document of each kind with names.
var (
	bots   = savedfilter.DocumentOf(planet.FirstConfig, "bots")
	tor    = valuelist.DocumentOf(planet.FirstConfig, "tor")
	weekly = definition.DocumentOf(planet.FirstConfig, "weekly")
)

func readRuns(t *testing.T, open openTable) {
	client, table := open(t)
	store := runs.Over(tabledynamo.New(client, table), nil)
	if _, err := store.List(t.Context(), planet.FirstConfig, "weekly", 200); err != nil {
		t.Error(err)
	}
	if _, err := store.Run(t.Context(), "none"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("%v; want kind NotFound", err)
	}
	if _, err := store.Report(t.Context(), "none"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("%v; want kind NotFound", err)
	}
}

// requestRuns requests a run, and requests it again after it has failed.
func requestRuns(t *testing.T, open openTable) {
	client, table := open(t)
	store, r := runs.Over(tabledynamo.New(client, table), nil), runstest.New("weekly", 0)
	r.By, r.State = "console", runs.Failed
	if err := store.Create(t.Context(), r); err != nil {
		t.Error(err)
	}
	if err := store.Update(t.Context(), r.Again("console", r.Due.Add(time.Hour))); err != nil {
		t.Error(err)
	}
}

// queueRuns does what package worker does to queue runs. One of the runs was requested before.
func queueRuns(t *testing.T, open openTable) {
	client, table := open(t)
	documents, store := document.Over(tabledynamo.New(client, table)), runs.Over(tabledynamo.New(client, table), nil)
	requested, due := runstest.New("weekly", 0), runstest.New("weekly", 1)
	requested.By, requested.State = "console", runs.Delivered
	err := errors.Join(store.Create(t.Context(), requested), store.Create(t.Context(), due))
	_, err1 := documents.Configurations(t.Context(), definition.Kind)
	_, err2 := documents.List(t.Context(), definition.Kind, planet.FirstConfig)
	_, err3 := store.Latest(t.Context(), planet.FirstConfig, "weekly")
	_, err4 := store.Unfinished(t.Context())
	_, err5 := store.Run(t.Context(), requested.ID)
	requested.By, requested.State, requested.Due = "", runs.Queued, requested.Due.Add(time.Hour)
	err6 := store.Update(t.Context(), requested)
	// A report is paused by a version after the first one.
	paused := document.NewVersion(2, "{}", "orrery", planettest.At)
	if kind := fault.KindOf(documents.Append(t.Context(), weekly, paused)); kind != fault.Conflict {
		t.Errorf("kind %d", kind)
	}
	if err := errors.Join(err, err1, err2, err3, err4, err5, err6); err != nil {
		t.Error(err)
	}
}

// makeRuns does what package worker does to make a report. The function that queues runs creates the run.
func makeRuns(t *testing.T, open openTable) {
	client, table := open(t)
	store, r := runs.Over(tabledynamo.New(client, table), &blobtest.Memory{}), runstest.New("weekly", 0)
	if err := store.Create(t.Context(), r); err != nil {
		t.Error(err)
	}
	if _, err := store.List(t.Context(), planet.FirstConfig, "weekly", 2); err != nil {
		t.Error(err)
	}
	for _, state := range []runs.State{runs.Running, runs.Delivered} {
		r.State = state
		if err := store.Update(t.Context(), r); err != nil {
			t.Error(err)
		}
		r.Revision++
	}
	report, _ := runs.Keep([]byte("{}"))
	for day := range runs.KeptReports + 1 { // the last one removes the report of the first one
		r := runstest.New("kept", day)
		if err := store.Create(t.Context(), r); err != nil {
			t.Error(err)
		}
		r.State, r.HasReport = runs.Kept, true
		if err := store.Update(t.Context(), r, report); err != nil {
			t.Error(err)
		}
	}
}

// openTable returns a client and the name of an empty table.
type openTable func(t *testing.T) (*dynamodb.Client, string)

func (f function) knowsCallers() bool {
	return f.behindGateway() && slices.Contains(f.Variables, lambdas.Table)
}

func readKeys(t *testing.T, open openTable) {
	store := keys.Over(tabledynamo.New(open(t)))
	_, missing := store.Find(t.Context(), "none")
	if _, err := store.List(t.Context()); err != nil || missing == nil {
		t.Error(err, missing)
	}
}

func useTokenKeys(t *testing.T, open openTable) {
	if _, err := keys.Over(tabledynamo.New(open(t))).TokenKeyOf(t.Context(), "none"); err != nil {
		t.Error(err)
	}
}

func readPlanets(t *testing.T, open openTable) {
	store, id := planet.Over(document.Over(tabledynamo.New(open(t))), time.Now), planet.DocumentOf(planet.FirstConfig)
	_, err1 := store.Newest(t.Context(), id)
	_, err2 := store.Version(t.Context(), id, 1)
	_, err3 := store.Versions(t.Context(), id)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Error(err)
	}
}

func usePlanets(t *testing.T, open openTable) {
	store := planet.Over(document.Over(tabledynamo.New(open(t))), func() time.Time { return planettest.At })
	for _, config := range []string{planet.FirstConfig, "shop"} {
		id := planet.DocumentOf(config)
		_, err1 := document.Put(t.Context(), store, id, planettest.Change(t, "one", "key"))
		_, err2 := document.Restore(t.Context(), store, id, 1, document.Change{By: "key", At: planettest.At})
		err3 := store.Append(t.Context(), id, planettest.Version(t, 1, "late", "key"))
		list, err4 := store.Versions(t.Context(), id)
		if err := errors.Join(err1, err2, err4); err != nil || len(list) < 2 || fault.KindOf(err3) != fault.Conflict {
			t.Errorf("%s: %d versions, %v, %v", config, len(list), err, err3)
		}
	}
}

// reading reads a document that is not there in all ways.
func reading(id document.ID) func(*testing.T, openTable) {
	return func(t *testing.T, open openTable) {
		store := document.Over(tabledynamo.New(open(t)))
		_, err1 := store.List(t.Context(), id.Kind, planet.FirstConfig)
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
}

// using writes, deletes and restores a document.
func using(id document.ID) func(*testing.T, openTable) {
	return func(t *testing.T, open openTable) {
		store := document.Over(tabledynamo.New(open(t)))
		change := document.Change{Text: "{}", By: "key", At: planettest.At}
		_, err1 := document.Put(t.Context(), store, id, change)
		err2 := document.Delete(t.Context(), store, id, change)
		_, err3 := document.Restore(t.Context(), store, id, 1, change)
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Error(err)
		}
	}
}

func useQueries(t *testing.T, open openTable) {
	client, table := open(t)
	store := pending.Over(tabledynamo.New(client, table), time.Hour, time.Now)
	p := pending.Query{ID: "1", Key: "k", Began: time.Now(), Request: make([]byte, 1<<20)}
	_, _ = rand.NewChaCha8([32]byte{}).Read(p.Request) // it needs several items, because it cannot be compressed
	other := pending.Query{ID: "2", Key: p.Key, Began: p.Began, Request: []byte("{}")}
	_, err1 := store.Keep(t.Context(), p)
	kept, err2 := store.Keep(t.Context(), other)
	_, err3 := store.Find(t.Context(), p.Key)
	err4 := store.Move(t.Context(), p.ID, "another")
	err5 := store.Detach(t.Context(), p)
	_, err6 := store.Keep(t.Context(), other)
	err7 := errors.Join(store.Forget(t.Context(), p), store.Forget(t.Context(), other))
	if err := errors.Join(err1, err2, err3, err4, err5, err6, err7); err != nil || kept.ID != p.ID {
		t.Errorf("%s is kept, %v", kept.ID, err)
	}
}

func readState(t *testing.T, open openTable) {
	if _, err := lakestate.NewStates(lakestate.Over(tabledynamo.New(open(t))), time.Now).State(t.Context()); err != nil {
		t.Error(err)
	}
}

func readBundles(t *testing.T, open openTable) {
	const first = lake.Partition(490_000)
	for hour := range bundle.Between(t.Context(), lakestate.Over(tabledynamo.New(open(t))), first, first+9) {
		t.Errorf("hour %s has bundles", hour)
	}
}

// readDayCounts reads the counts of some days, as the status and estimates do.
func readDayCounts(t *testing.T, open openTable) {
	const first = lake.Day(20_000)
	if _, err := lakestate.ReadDayCounts(t.Context(), lakestate.Over(tabledynamo.New(open(t))), first, first+9); err != nil {
		t.Error(err)
	}
}

// readColumnSizes reads the sizes of a compacted hour and of a fresh one.
func readColumnSizes(t *testing.T, open openTable) {
	columns := lakestate.NewColumns(lakestate.Over(tabledynamo.New(open(t))), time.Now)
	const watermark = lake.Partition(490_000)
	hours := map[lake.Partition]engine.Sizes{watermark - 1: {Objects: 1, Bytes: 1}, watermark: {Objects: 1, Bytes: 1}}
	if _, _, err := columns.Columns(t.Context(), watermark, hours); err != nil {
		t.Error(err)
	}
}

func reportSuspect(t *testing.T, open openTable) {
	suspects := lakestate.NewDamageReports(lakestate.Over(tabledynamo.New(open(t))), time.Now)
	damage := &engine.DamageError{Object: "fresh/2026/01/01/00/0-0.parquet", Err: errors.New("not Parquet")}
	if err := suspects.Report(t.Context(), damage); err != nil {
		t.Error(err)
	}
}
