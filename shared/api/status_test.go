package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/api/service"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/planet/planettest"
	"github.com/orrery/orrery/shared/status"
)

// installed is an installation that knows its status.
type installed status.Status

func (i installed) Status(context.Context) (status.Status, error) { return status.Status(i), nil }

// brokenState is an installation that cannot read what it knows.
type brokenState struct{}

func (brokenState) Status(context.Context) (status.Status, error) {
	return status.Status{}, fault.New(fault.Unavailable, "the state of the lake cannot be read")
}

func number[T any](n T) *T { return &n }

// oneMachine is a data folder with two hours.
func oneMachine() status.Source {
	ten := lake.PartitionOf(time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC).UnixMilli())
	return installed{
		Engine: "duckdb", Extent: lake.Extent{MinTsMs: ten.Start() - 60_000, MaxTsMs: ten.Start() + 299_999, Rows: 5},
		Complete: planettest.At.Add(-20 * time.Minute),
		Kept:     &status.Retention{Keep: 24 * time.Hour, From: planettest.At.Add(-24 * time.Hour).Truncate(time.Hour)},
		Records:  number[int64](5), Objects: number(3), Bytes: number[int64](4096),
		Hours: []status.Hour{
			{Partition: ten, Objects: 2, Records: number[int64](4), Bytes: 3000},
			{Partition: ten - 1, Objects: 1, Records: number[int64](1), Bytes: 1096, Compacted: true},
		},
		Ingest: &status.Ingest{
			Watching: true, LastSource: "shop/access.log", LastAt: planettest.At.Add(-time.Minute),
			Rejected: number[int64](2), Code: "bad_json",
		},
		Wait: time.Minute, Values: true,
	}
}

// emptyFolder is a data folder without data.
func emptyFolder() status.Source {
	return installed{
		Engine: "duckdb", Complete: planettest.At, Records: new(int64), Objects: new(int), Bytes: new(int64),
		Hours: []status.Hour{}, Ingest: &status.Ingest{Rejected: new(int64)}, Wait: time.Minute, Values: true,
	}
}

// cluster is a Trino cluster, which knows little.
func cluster() status.Source {
	return installed{Engine: "trino", Extent: lake.Extent{MinTsMs: 0, MaxTsMs: 1, Rows: 1}, Wait: time.Minute}
}

// deployment is one on AWS.
func deployment() status.Source {
	ten := lake.PartitionOf(time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC).UnixMilli())
	return installed{
		Engine: "athena", Extent: lake.Extent{MinTsMs: ten.Start(), MaxTsMs: ten.Start() + 299_999, Rows: 5},
		Complete: planettest.At.Add(-20 * time.Minute), Objects: number(2), Bytes: number[int64](3000),
		Hours:  []status.Hour{{Partition: ten, Objects: 2, Bytes: 3000, Compacted: true}},
		Ingest: &status.Ingest{Watching: true, LastSource: "raw/shop/access.log", LastAt: planettest.At},
		Price:  &status.Price{USDPerTB: 5, MinimumBytes: 10_000_000}, Wait: 27 * time.Second, Values: true,
	}
}

// TestStatusHidesOthers: a key that is limited to branches gets no number, name or source of the data, whatever the
// installation knows. Only the minute of its newest record, to which time it is complete, and what concerns every
// caller remain.
func TestStatusHidesOthers(t *testing.T) {
	for name, source := range map[string]status.Source{"one machine": oneMachine(), "deployment": deployment()} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, func(c *Config) { c.Keys, c.Status = testKeys, source })
			read := func(key string) map[string]json.RawMessage {
				var answer struct{ Data map[string]json.RawMessage }
				got := s.send(t, get("/api/v4.0/status", "x-api-key: "+key))
				if err := json.Unmarshal(got.body, &answer); err != nil || got.StatusCode != http.StatusOK {
					t.Fatalf("%s %s %v", got.Status, got.body, err)
				}
				return answer.Data
			}
			all, limited := read("full-key"), read("guest-key")
			for member, value := range all {
				seen := string(limited[member])
				switch member {
				case "extent": // of records from 09:59:00 to 10:04:59.999
					if want := `{"from":null,"to":"2026-01-01T10:04:00Z"}`; seen != want {
						t.Errorf("the extent is %s, want %s", seen, want)
					}
				case "version", "engine", "complete_through", "demo", "price", "limits", "features":
					if seen != string(value) {
						t.Errorf("%s is %s, %s for a key without limits", member, seen, value)
					}
				case "key":
					const own = `{"name":"guest","scopes":["data:read"],"branches":["staging"],` +
						`"expires":"2999-01-31T00:00:00Z"}`
					if seen != own {
						t.Errorf("the key is %s", seen)
					}
				default:
					if seen != "null" {
						t.Errorf("%s is %s", member, seen)
					}
				}
			}
			if len(limited) != len(all) {
				t.Errorf("%d members, %d without limits", len(limited), len(all))
			}
		})
	}
}

// TestStatusListsTheRoutes: the features are the routes under the base paths, and values only where they are found.
func TestStatusListsTheRoutes(t *testing.T) {
	var want []string
	for _, r := range new(server).routes() { // this server has no reports
		if !r.AtRoot && r.ID == r.OfGet() {
			want = append(want, r.ID)
		}
	}
	for name, source := range map[string]installed{"found": {Values: true}, "not found": {}} {
		t.Run("values are "+name, func(t *testing.T) {
			s := newServer(t, func(c *Config) { c.Status = source })
			var answer service.InstallationStatus
			got := s.send(t, get("/api/v4/status"))
			if err := json.Unmarshal(got.body, &answer); err != nil {
				t.Fatal(err)
			}
			want := want
			if !source.Values {
				want = slices.DeleteFunc(slices.Clone(want), func(id string) bool { return id == "values" })
			}
			if diff := cmp.Diff(want, answer.Data.Features); diff != "" {
				t.Error(diff)
			}
			if answer.Data.Key != nil {
				t.Errorf("a server without keys reports %+v", answer.Data.Key)
			}
		})
	}
}

// TestStatusNeedsTheScope: a key for planets only gets no status.
func TestStatusNeedsTheScope(t *testing.T) {
	planets := keys.Static{keys.HashOf("planets"): {Name: "p", Scopes: []keys.Scope{keys.ConfRead, keys.ConfWrite}}}
	s := newServer(t, func(c *Config) { c.Keys = planets })
	if got := s.send(t, get("/api/v4.0/status", "x-api-key: planets")); got.StatusCode != http.StatusForbidden ||
		!bytes.Contains(got.body, []byte("data:read")) {
		t.Errorf("%s %s", got.Status, got.body)
	}
}
