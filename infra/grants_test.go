package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/dynamotable/dynamotest"
	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/keys/keydynamo"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/lakestate/statedynamo"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/planet/planetdynamo"
	"github.com/orrery/orrery/shared/planet/planettest"
	"github.com/orrery/orrery/shared/search/pending"
	"github.com/orrery/orrery/shared/search/pending/pendingdynamo"
	"github.com/orrery/orrery/shared/search/pending/pendingtest"
)

// TestGrantsCoverStoreActions compares the stores' actions on the table with the grants of the functions that use them.
// The emulators permit everything, so no other test notices a missing grant before the deployment.
func TestGrantsCoverStoreActions(t *testing.T) {
	dynamotest.Client(t) // without DynamoDB, skips this test as a whole instead of each test of the suites
	for name, use := range map[string]struct {
		by func(function) bool
		do func(t *testing.T, open openTable)
	}{
		"keys":            {function.knowsCallers, readKeys},
		"reading planets": {func(f function) bool { return strings.HasPrefix(f.Name, "planet-") }, readPlanets},
		"planets":         {func(f function) bool { return f.Name == "planet-put" }, usePlanets},
		"pending queries": {function.asksAthena, useQueries},
		"state":           {function.asksAthena, readState},
		"ledger":          {function.writesLake, importAndCompact},
	} {
		t.Run(name, func(t *testing.T) {
			var actions dynamotest.Actions
			use.do(t, func(t *testing.T) (*dynamodb.Client, string) {
				return dynamotest.Client(t, actions.Record)
			})
			users := 0
			for _, f := range functions() {
				if !use.by(f) {
					continue
				}
				users++
				for _, a := range actions.Seen() {
					if !granted(f, a) {
						t.Errorf("%s lacks the grant of %s on %q %s", f.Name, a.Name, a.Key, a.Index)
					}
				}
			}
			if users == 0 || len(actions.Seen()) == 0 {
				t.Errorf("%d functions, actions %v", users, actions.Seen())
			}
		})
	}
}

// openTable returns a client and the name of an empty table.
type openTable func(t *testing.T) (*dynamodb.Client, string)

func (f function) knowsCallers() bool {
	return f.behindGateway() && slices.Contains(f.Variables, lambdas.Table)
}

func (f function) writesLake() bool { return slices.Contains(f.Variables, lambdas.RawBucket) }

// granted reports whether a function's grants allow an action on the table. No grant covers an index.
func granted(f function, a dynamotest.Action) bool {
	return a.Key != "" && a.Index == "" && slices.ContainsFunc(f.grants, func(g grant) bool {
		return g.on == items && slices.Contains(g.acts, a.Name) && slices.ContainsFunc(g.of, func(pattern string) bool {
			prefix, open := strings.CutSuffix(pattern, "*")
			return pattern == a.Key || open && strings.HasPrefix(a.Key, prefix)
		})
	})
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

// importAndCompact imports a log, imports it again after it has grown, and compacts the imported objects.
func importAndCompact(t *testing.T, open openTable) {
	raw, lake := &blobtest.Memory{}, &blobtest.Memory{}
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	c, err := cloud.New(cloud.Config{
		Raw: raw, Lake: lake, Table: statedynamo.New(open(t)), Scratch: filepath.Join(t.TempDir(), "scratch"),
		Now: func() time.Time { return now },
	})
	if err != nil {
		t.Fatal(err)
	}
	log := ""
	for i := range 2 {
		log += fmt.Sprintf("{\"timestamp\":\"2026-01-01T10:00:0%dZ\",\"status\":200}\n", i)
		err := raw.Put(t.Context(), "raw/log", strings.NewReader(log), blob.Always)
		if err == nil {
			_, err = c.Import(t.Context(), cloud.Log{Key: "raw/log"})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second run removes the objects that the first superseded
		now = now.Add(cloud.DefaultGrace + cloud.DefaultKeep)
		if _, err := c.Compact(t.Context(), time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
}
