package enginetest

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet/parquettest"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
)

const (
	versionRecords      = 400
	versionFilters      = 24
	shortVersionFilters = 8 // one of each shape
)

// addedColumns are the columns that older objects do not have. addedFields are the fields with their values, and ip and
// record_ref, which every object has. log_rest is in no object of version 1.
var (
	addedColumns = []string{
		"request_id", "hostname", "country", "svcid", "svcid_more", "status", "total_us", "blocked", "tags",
		"monitor_reasons", "upstream_status", "upstream_data", "trigger_counters", "headers", "details",
	}
	addedFields = []string{
		"request_id", "hostname", "country", "svcid", "status", "request_time", "blocked", "tags", "upstream_status",
		"upstream_data", "trigger_counters", "headers", "log_rest", "ip", "record_ref",
	}
)

// Versions compares an engine with the reference evaluation over objects of several versions of the schema. open
// returns an engine and the store of its objects, which have the given rows.
//
// Programs of each version wrote some of the objects. Others are made: objects of the version before lack some columns,
// and objects of the next version have one more.
func Versions(t *testing.T, open func(rows []lake.Row) (engine.Engine, *Store)) {
	t.Run("stored objects", func(t *testing.T) {
		var objects [][]byte
		var rows []lake.Row
		for version := 1; version <= lake.SchemaVersion(); version++ {
			object := parquettest.Stored(t, version)
			objects, rows = append(objects, object), append(rows, rowsOf(t, object)...)
		}
		e, store := open(rows)
		store.replaceAll(t, objects)
		checkFilters(t, e, rows)
	})
	parquettest.AddColumns(t, addedColumns...)
	for name, chosen := range map[string][]version{
		"objects of all versions": {older, present, newer},
		"only older objects":      {older},
		"only newer objects":      {newer},
	} {
		t.Run(name, func(t *testing.T) {
			e, store := open(Records(t, versionRecords, 5))
			checkFilters(t, e, store.setVersions(t, chosen))
		})
	}
}

// checkFilters compares answers with the reference evaluation over the rows.
func checkFilters(t *testing.T, e engine.Engine, rows []lake.Row) {
	t.Helper()
	filters := versionFilters
	if testing.Short() {
		filters = shortVersionFilters
	}
	all := pointers(rows)
	random := rand.New(rand.NewPCG(1, 3))
	for i := range filters {
		text := querytest.FilterOn(random, all, i%3, addedFields...)
		q, err := query.Bind(filter.Parse(text), counting)
		if err != nil {
			t.Fatalf("filter %d is refused:\n%s", i, querytest.Explain(err))
		}
		q.Shape = shapes[i%len(shapes)]
		check(t, e, q, matches(&q, all))
	}
	checkReferences(t, e, rows)
}

type version int

const (
	older version = iota
	present
	newer
)

// setVersions rewrites the objects of the store so that they have the versions in turn. It returns the rows of all
// objects as engines must see them.
func (s *Store) setVersions(t *testing.T, versions []version) (all []lake.Row) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, o := range s.objects {
		content, err := os.ReadFile(o.Path)
		if err != nil {
			t.Fatal(err)
		}
		rows := rowsOf(t, content)
		switch versions[i%len(versions)] {
		case older:
			content = parquettest.Older(t, content)
			for i := range rows {
				parquettest.Forget(&rows[i])
			}
		case newer:
			content = parquettest.Newer(t, content)
		case present:
		}
		if s.objects[i], err = writeContent(o.Path, content); err != nil {
			t.Fatal(err)
		}
		all = append(all, rows...)
	}
	return all
}

// replaceAll replaces the objects of the store by others.
func (s *Store) replaceAll(t *testing.T, contents [][]byte) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.objects {
		if err := os.Remove(o.Path); err != nil {
			t.Fatal(err)
		}
	}
	s.objects = nil
	for i, content := range contents {
		hour := lake.PartitionOf(rowsOf(t, content)[0].TsMs)
		path := filepath.Join(s.Dir, filepath.FromSlash(lake.ObjectName(hour, "stored", i)))
		o, err := writeContent(path, content)
		if err != nil {
			t.Fatal(err)
		}
		s.objects = append(s.objects, o)
	}
}

func rowsOf(t *testing.T, object []byte) []lake.Row {
	t.Helper()
	rows, err := parquettest.Rows(object)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
