package cloud_test

import (
	"context"
	"io"
	"testing"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/ingest/ingesttest"
	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/lakestate"
)

// testLake is a world as a lake of package ingesttest.
type testLake struct {
	*world
	store *cloud.Store
}

func (l testLake) Import(t *testing.T, path string, content []byte) {
	t.Helper()
	l.put(path, string(content))
	if _, err := l.store.Import(t.Context(), rawlog.Log{Key: path}); err != nil {
		t.Fatal(err)
	}
}

func (l testLake) Rows(*testing.T) map[string]int { return l.rows(l.state()) }

func TestIdentityOfLogs(t *testing.T) {
	ingesttest.Test(t, func(t *testing.T) ingesttest.Lake {
		w := newWorld(t)
		return testLake{w, w.cloud()}
	})
}

// interruptedTable calls before, once, before a write, or after the imports of a family were listed.
type interruptedTable struct {
	lakestate.Table
	atList bool
	family string
	before func()
}

func (i *interruptedTable) interrupt(now bool) {
	if before := i.before; before != nil && now {
		i.before = nil
		before()
	}
}

func (i *interruptedTable) Write(ctx context.Context, changes ...lakestate.Change) error {
	i.interrupt(!i.atList)
	return i.Table.Write(ctx, changes...)
}

func (i *interruptedTable) List(ctx context.Context, partition, prefix string) ([]lakestate.Item, error) {
	items, err := i.Table.List(ctx, partition, prefix)
	i.interrupt(i.atList && partition == "ingest#"+i.family && prefix == "import#")
	return items, err
}

// countedStore counts the calls of Get.
type countedStore struct {
	blob.Store
	reads int
}

func (c *countedStore) Get(
	ctx context.Context, name, version string, offset int64,
) (io.ReadCloser, blob.Info, error) {
	c.reads++
	return c.Store.Get(ctx, name, version, offset)
}

func TestImportOvertakenByAnother(t *testing.T) {
	tests := []struct {
		name, path, ids string // of the log that is imported during the import of web1/access.log with h and a
		atList          bool   // it is imported while the family is read, not before the commit
		reads           int    // of web1/access.log
		want            map[string]int
	}{
		{"a log of another name does not matter", "web2/access.log", "h b", false,
			1, map[string]int{"h": 2, "a": 1, "b": 1}},
		{"the same log begins the import again", "web1/access.log.1", "h a", false,
			2, map[string]int{"h": 1, "a": 1}},
		{"a log of the same name begins the import again", "web1/access.log.1", "h", false,
			2, map[string]int{"h": 1, "a": 1}},
		{"the same log while the family is read begins the import again", "web1/access.log.1", "h a", true,
			2, map[string]int{"h": 1, "a": 1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.importLog("web1/access.log.2", ingesttest.Text("z")) // the name is known, so its families are listed
			w.put("web1/access.log", ingesttest.Text("h a"))
			config := w.config()
			raw, other := &countedStore{Store: w.raw}, w.cloud()
			config.Raw = raw
			family := ledger.LogFamily("raw/web1/access.log", []byte(ingesttest.Text("h a")))
			config.Table = &interruptedTable{w.table, test.atList, family, func() {
				ingesttest.Import(t, testLake{w, other}, test.path, test.ids)
			}}
			if _, err := w.cloudOf(config).Import(t.Context(), rawlog.Log{Key: "web1/access.log"}); err != nil {
				t.Fatal(err)
			}
			test.want["z"] = 1
			w.expect(test.want)
			if raw.reads != test.reads {
				t.Errorf("the log was read %d times, want %d", raw.reads, test.reads)
			}
		})
	}
}
