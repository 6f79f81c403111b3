// Package trinotest gives tests tables on a real Trino. It is started outside the tests, by scripts/servers/trino.sh;
// without it they skip.
package trinotest

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/trino"
	"github.com/orrery/orrery/shared/lake"
)

// Catalog is the one catalogue of the server.
const Catalog = "awsdatacatalog"

// FirstYear is where the product's own tables begin in tests.
const FirstYear = 2026

// NothingCompacted is a watermark before every hour.
const NothingCompacted lake.Partition = math.MinInt64

// Lake is two tables in a schema of their own over a folder of the server, dropped when the test ends.
type Lake struct {
	*trino.Client
	Store  *enginetest.Store // the objects, which further ones may be added to
	state  engine.State
	Folder string // what the server calls Store.Dir: "local:///name/"
}

// Server is the server's URL and the folder that it calls local:///. The test is skipped where there is none.
func Server(t testing.TB) (url, folder string) {
	t.Helper()
	url, folder = os.Getenv("ORRERY_TEST_TRINO"), os.Getenv("ORRERY_TEST_TRINO_LAKE")
	if url == "" || folder == "" {
		t.Skip("needs a Trino: scripts/servers/trino.sh start DIR, then set ORRERY_TEST_TRINO to the URL it prints and ORRERY_TEST_TRINO_LAKE to DIR/lake")
	}
	return url, folder
}

var schemas atomic.Int64

// Load writes rows as the importer and the compactor would, those of hours before the watermark into the compacted
// table, and makes tables that name the hours of the rows: planning a query over the product's own takes long, because
// Trino then goes through every hour since their first year.
func Load(t testing.TB, rows []lake.Row, watermark lake.Partition) *Lake {
	t.Helper()
	return load(t, rows, watermark, func(ddl string) string { return naming(ddl, rows) })
}

// LoadProjected is Load with the product's own tables, from FirstYear on.
func LoadProjected(t testing.TB, rows []lake.Row, watermark lake.Partition) *Lake {
	t.Helper()
	return load(t, rows, watermark, func(ddl string) string { return ddl })
}

func load(t testing.TB, rows []lake.Row, watermark lake.Partition, table func(ddl string) string) *Lake {
	t.Helper()
	url, folder := Server(t)
	schema := fmt.Sprintf("test_%d_%d_%d", os.Getpid(), time.Now().UnixNano(), schemas.Add(1))
	client, err := trino.Connect(trino.Config{URL: url, Catalog: Catalog, Schema: schema, User: "test", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	l := &Lake{Client: client, Store: enginetest.StoreOf(filepath.Join(folder, schema), nil), Folder: "local:///" + schema + "/"}
	for _, part := range []string{"fresh", "compact"} {
		if err := os.MkdirAll(filepath.Join(l.Store.Dir, part), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { l.drop(t) })
	l.exec(t, "CREATE SCHEMA "+schema)
	for _, name := range lake.TableNames {
		ddl, err := lake.Table{Name: name, Location: lake.TableLocation(l.Folder, name), FromYear: FirstYear}.TrinoDDL()
		if err != nil {
			t.Fatal(err)
		}
		l.exec(t, table(ddl))
	}
	l.Store.Fill(t, rows, watermark)
	extent, err := l.Store.Extent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l.state = engine.State{Extent: extent, Watermark: watermark, Version: 1}
	return l
}

// naming is a table's DDL with the hours of the rows, and one more, in the place of all hours since a year.
func naming(ddl string, rows []lake.Row) string {
	hours := map[string]bool{"'2026/01/01/00'": true}
	for i := range rows {
		hours["'"+lake.PartitionOf(rows[i].TsMs).String()+"'"] = true
	}
	list := strings.Join(slices.Sorted(maps.Keys(hours)), ", ")
	return byDate.ReplaceAllLiteralString(ddl, "partition_projection_type = 'enum', partition_projection_values = ARRAY["+list+"]")
}

var byDate = regexp.MustCompile(`(?s)partition_projection_type = 'date'.*?'HOURS'`)

// State implements engine.States.
func (l *Lake) State(context.Context) (engine.State, error) { return l.state, nil }

// Engine answers over the tables.
func (l *Lake) Engine() *trino.Engine { return trino.New(l.Client, l) }

func (l *Lake) exec(t testing.TB, sql string) {
	t.Helper()
	if _, err := l.Query(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", strings.SplitN(sql, "\n", 2)[0], err)
	}
}

func (l *Lake) drop(t testing.TB) {
	ctx := context.WithoutCancel(t.Context())
	for _, sql := range []string{"DROP TABLE IF EXISTS " + lake.FreshTable, "DROP TABLE IF EXISTS " + lake.CompactTable, "DROP SCHEMA IF EXISTS " + l.Schema} {
		if _, err := l.Query(ctx, sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if err := os.RemoveAll(l.Store.Dir); err != nil {
		t.Error(err)
	}
}
