package lakestate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/status"
	"github.com/orrery/orrery/shared/table/tabletest"
)

func TestOverview(t *testing.T) {
	const first = lake.Partition(490_000)
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	bucket := &blobtest.Memory{}
	put := func(name string, bytes int) {
		t.Helper()
		text := strings.NewReader(strings.Repeat("x", bytes))
		if err := bucket.Put(t.Context(), "lake/"+name, text, blob.Always); err != nil {
			t.Fatal(err)
		}
	}
	put(lake.CompactName(first, "merged"), 1)
	put(lake.ObjectName(first, "superseded", 1), 10_000)
	put(lake.CompactName(first+30, "merged"), 20)
	put(lake.CompactName(first+30, "late"), 300)
	put(lake.ObjectName(first+99, "source", 1), 4000)
	put(lake.ObjectName(first+99, "source", 2), 4000)
	put(lake.FreshName(first+99, "_values.json"), 5)
	whole := lakestate.State{
		Watermark: first + 50, Version: 7,
		Extent:  lake.Extent{MinTsMs: first.Start(), MaxTsMs: (first + 99).Start() + 5, Rows: 1600},
		Imports: lakestate.Imports{Last: "raw/a.log", At: at, Rejected: 3, Code: "bad_json", Whole: true},
		Backlog: lakestate.Backlog{Through: at},
	}
	of := func(s lakestate.State) status.Status {
		t.Helper()
		table := lakestate.Over(&tabletest.Memory{})
		publish(t, table, s)
		found, err := lakestate.NewOverview(table, lakestate.NewListing(bucket)).Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	t.Run("the objects are those that queries read", func(t *testing.T) {
		records, objects, bytes, rejected := int64(1600), 5, int64(8321), int64(3)
		want := status.Status{
			Extent: whole.Extent, Complete: at, Records: &records, Objects: &objects, Bytes: &bytes,
			Hours: []status.Hour{
				{Partition: first + 99, Objects: 2, Bytes: 8000},
				{Partition: first + 30, Objects: 2, Bytes: 320, Compacted: true},
			},
			Ingest: &status.Ingest{
				Watching: true, LastSource: "raw/a.log", LastAt: at, Rejected: &rejected, Code: "bad_json",
			},
		}
		if diff := cmp.Diff(want, of(whole)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a new lake has nothing", func(t *testing.T) {
		found, err := lakestate.NewOverview(lakestate.Over(&tabletest.Memory{}), lakestate.NewListing(bucket)).Status(t.Context())
		want := status.Status{
			Records: new(int64), Objects: new(int), Bytes: new(int64), Hours: []status.Hour{},
			Ingest: &status.Ingest{Watching: true, Rejected: new(int64)},
		}
		if diff := cmp.Diff(want, found); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	})
	t.Run("the number of records is not known once objects were removed", func(t *testing.T) {
		s := whole
		s.Shrunk = true
		if found := of(s); found.Records != nil {
			t.Errorf("%d", *found.Records)
		}
	})
	t.Run("nor once the bucket has removed the oldest objects", func(t *testing.T) {
		s := whole
		s.Extent.MinTsMs = (first - 20).Start() // of objects that are not there any more
		found := of(s)
		if found.Records != nil || found.Extent.MinTsMs != first.Start() || *found.Objects != 5 {
			t.Errorf("%+v", found)
		}
	})
	t.Run("nor once it has removed all but the newest", func(t *testing.T) {
		s := whole
		s.Extent.MinTsMs = (first + 40).Start()
		found := of(s)
		if found.Records != nil || *found.Objects != 2 || found.Extent.MinTsMs != (first+99).Start() {
			t.Errorf("%+v", found)
		}
	})
	t.Run("nor while an object is lost", func(t *testing.T) {
		s := whole
		s.Lost = []lakestate.LostObject{{Name: "a"}}
		if found := of(s); found.Records != nil {
			t.Errorf("%d", *found.Records)
		}
		s.Lost[0].Rebuilt = at
		if found := of(s); found.Records == nil {
			t.Error("not known although it is rebuilt")
		}
	})
	t.Run("the rejected lines of earlier versions are not known", func(t *testing.T) {
		s := whole
		s.Imports.Whole = false
		if found := of(s); found.Ingest.Rejected != nil || found.Ingest.Code != "bad_json" {
			t.Errorf("%+v", found.Ingest)
		}
	})
	t.Run("too many objects are not counted, but the newest hours are", func(t *testing.T) {
		for i := range 20_001 {
			put(lake.CompactName(first+1, fmt.Sprint(i)), 1)
		}
		found := of(whole)
		if found.Objects != nil || found.Bytes != nil || len(found.Hours) != 2 || found.Records == nil {
			t.Errorf("%+v", found)
		}
	})
}

func TestAddImport(t *testing.T) {
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	var s lakestate.State
	s.AddImport("raw/a.log", at, 2, "bad_json")
	s.Version++
	s.AddImport("raw/b.log", at.Add(time.Hour), 0, "")
	want := lakestate.Imports{Last: "raw/b.log", At: at.Add(time.Hour), Rejected: 2, Code: "bad_json", Whole: true}
	if s.Imports != want {
		t.Errorf("%+v", s.Imports)
	}
	t.Run("a lake of an earlier version has imports that were not summed up", func(t *testing.T) {
		for _, s := range []lakestate.State{
			{Version: 1}, {Open: map[string]lakestate.OpenImport{"a#1": {}}},
		} {
			s.AddImport("raw/a.log", at, 2, "bad_json")
			if s.Imports.Whole {
				t.Errorf("%+v", s)
			}
		}
	})
}
