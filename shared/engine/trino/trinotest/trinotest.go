// Package trinotest provides tests with tables on a real Trino, which scripts/servers/trino.sh starts. Without a Trino,
// the tests are skipped.
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

// Catalog is the server's only catalogue.
const Catalog = "awsdatacatalog"

// FirstYear is the first year of the product's own tables in tests.
const FirstYear = 2026

// NothingCompacted is a watermark before every hour.
const NothingCompacted lake.Partition = math.MinInt64

// Lake has two tables in a schema of their own over a folder of the server. They are dropped when the test ends.
type Lake struct {
	*trino.Client
	Store  *enginetest.Store // the objects of the tables; tests may add more
	state  engine.State
	Folder string // the server's name for Store.Dir: "local:///name/"
}

// Server returns the server's URL and the folder that the server calls local:///. It skips the test if there is no
// server.
func Server(t testing.TB) (url, folder string) {
	t.Helper()
	url, folder = os.Getenv("ORRERY_TEST_TRINO"), os.Getenv("ORRERY_TEST_TRINO_LAKE")
	if url == "" || folder == "" {
		t.Skip("needs a Trino: run scripts/servers/trino.sh start DIR, " +
			"then set ORRERY_TEST_TRINO to the URL it prints and ORRERY_TEST_TRINO_LAKE to DIR/lake")
	}
	return url, folder
}

var schemas atomic.Int64

// Load writes rows as the importer and the compactor do: the rows of hours before the watermark into the compacted
// table, the others into the fresh one. It creates tables that list the hours of the rows, because planning a query
// over the product's own tables takes long: Trino goes through every hour since their first year.
func Load(t testing.TB, rows []lake.Row, watermark lake.Partition) *Lake {
	t.Helper()
	return load(t, rows, watermark, func(ddl string) string { return withListedHours(ddl, rows) })
}

// LoadProjected is like Load, but creates the product's own tables, which begin in FirstYear.
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
	store := enginetest.StoreOf(filepath.Join(folder, schema), nil)
	l := &Lake{Client: client, Store: store, Folder: "local:///" + schema + "/"}
	for _, part := range []string{"fresh", "compact", "../lists"} {
		if err := os.MkdirAll(filepath.Join(l.Store.Dir, part), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { l.drop(t) })
	l.exec(t, "CREATE SCHEMA "+schema)
	for _, one := range lake.Tables(l.Folder, "", FirstYear) {
		ddl, err := one.TrinoDDL()
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

// withListedHours changes a table's DDL so that the table has the hours of the rows, and one more, instead of all hours
// since a year.
func withListedHours(ddl string, rows []lake.Row) string {
	hours := map[string]bool{"'2026/01/01/00'": true}
	for i := range rows {
		hours["'"+lake.PartitionOf(rows[i].TsMs).String()+"'"] = true
	}
	list := strings.Join(slices.Sorted(maps.Keys(hours)), ", ")
	return dateProjection.ReplaceAllLiteralString(ddl,
		"partition_projection_type = 'enum', partition_projection_values = ARRAY["+list+"]")
}

var dateProjection = regexp.MustCompile(`(?s)partition_projection_type = 'date'.*?'HOURS'`)

// KeepList writes the values of a list where the table of lists has them.
func (l *Lake) KeepList(digest string, content []byte) error {
	file := filepath.Join(filepath.Dir(l.Store.Dir), lake.ListName(digest))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o644)
}

// State implements engine.States.
func (l *Lake) State(context.Context) (engine.State, error) { return l.state, nil }

// Engine returns an engine over the tables.
func (l *Lake) Engine() *trino.Engine { return trino.New(l.Client, l) }

func (l *Lake) exec(t testing.TB, sql string) {
	t.Helper()
	if _, err := l.Query(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", strings.SplitN(sql, "\n", 2)[0], err)
	}
}

func (l *Lake) drop(t testing.TB) {
	ctx := context.WithoutCancel(t.Context())
	for _, sql := range []string{
		"DROP TABLE IF EXISTS " + lake.FreshTable,
		"DROP TABLE IF EXISTS " + lake.CompactTable,
		"DROP TABLE IF EXISTS " + lake.ListTable,
		"DROP SCHEMA IF EXISTS " + l.Schema,
	} {
		if _, err := l.Query(ctx, sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if err := os.RemoveAll(l.Store.Dir); err != nil {
		t.Error(err)
	}
}
