package tablesqlite_test

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/keys/keystest"
	"github.com/orrery/orrery/shared/sqlitefile"
	"github.com/orrery/orrery/shared/table"
	"github.com/orrery/orrery/shared/table/tablesqlite"
	"github.com/orrery/orrery/shared/table/tabletest"
	"github.com/orrery/orrery/shared/testkit/readonlytest"
)

//go:embed testdata/*.db
var files embed.FS

// copyOf copies a file of an earlier release to a new folder.
func copyOf(t *testing.T, name string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	file, err := files.ReadFile("testdata/" + name)
	if err == nil {
		err = os.WriteFile(path, file, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// connect opens a file as the release before does.
func connect(t *testing.T, path string) *sqlitefile.File {
	t.Helper()
	file, err := sqlitefile.Open(path, sqlitefile.Options{Mode: sqlitefile.Create, BusyTimeout: time.Second, Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	return file
}

// execute returns the number of rows that a statement has changed.
func execute(t *testing.T, path, statement string, args ...any) int64 {
	t.Helper()
	result, err := connect(t, path).ExecContext(t.Context(), statement, args...)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	n, err := result.RowsAffected()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// query returns the rows of a statement.
func query(t *testing.T, path, statement string, args ...any) []string {
	t.Helper()
	list, err := sqlitefile.Rows(t.Context(), connect(t, path), func(rows *sql.Rows) (row string, err error) {
		columns, err := rows.Columns()
		if err != nil {
			return "", err
		}
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			return "", err
		}
		for _, value := range values {
			row += fmt.Sprintf("%#v ", *value.(*any))
		}
		return row, nil
	}, statement, args...)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return list
}

// itemsIn returns a copy of the items of partitions.
func itemsIn(t *testing.T, in table.Table, partitions []string) *tabletest.Memory {
	t.Helper()
	m := &tabletest.Memory{}
	for _, partition := range partitions {
		list, err := table.List(t.Context(), in, table.Range{Partition: partition})
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range list {
			if err := m.Write(t.Context(), table.Change{Key: item.Key, Attributes: item.Attributes}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return m
}

// earlier are the files of earlier releases, and the partitions of their items.
var earlier = map[string]struct {
	layout     tablesqlite.Layout
	partitions []string
}{
	"planets.db":   {tablesqlite.Planets, []string{"planet#prod", "planet#shop"}},
	"documents.db": {tablesqlite.Documents, []string{"filter#prod", "report#staging", "configurations#filter", "configurations#report"}},
	"keys.db":      {tablesqlite.Keys, []string{"keys"}},
}

// TestDocumentsOfEarlierReleases: their rows become the items that package document writes, once.
func TestDocumentsOfEarlierReleases(t *testing.T) {
	for name, items := range map[string]string{
		"planets.db": "../../planet/testdata/items.json", "documents.db": "../../document/testdata/items.json",
	} {
		t.Run(name, func(t *testing.T) {
			path := copyOf(t, name)
			for range 2 {
				tabletest.Equal(t, itemsIn(t, open(t, path, earlier[name].layout), earlier[name].partitions), items, "mark")
			}
		})
	}
}

// TestKeysOfEarlierReleases: each key without a seal gets its own, and keeps it.
func TestKeysOfEarlierReleases(t *testing.T) {
	full, bare, revoked := keystest.Key("full", 0), keystest.Key("bare", 1), keystest.Key("revoked", 2)
	full.Branches, full.Expires = []string{"a/b", "prod", "ünï"}, keystest.At.Add(time.Hour)
	full.TokenKey, revoked.Revoked = keys.TokenKey{0, 1, 254, 255}, keystest.At.Add(time.Minute)
	path := copyOf(t, "keys.db")
	for range 2 {
		list, err := keys.Over(open(t, path, tablesqlite.Keys)).List(t.Context())
		if err != nil || len(list) != 3 {
			t.Fatal(list, err)
		}
		for i, k := range []*keys.Key{&bare, &revoked} {
			if k.TokenKey.IsZero() {
				k.TokenKey = list[1+i].TokenKey
			}
		}
		if diff := cmp.Diff([]keys.Key{full, bare, revoked}, list); diff != "" {
			t.Error(diff)
		}
	}
	if bare.TokenKey.IsZero() || revoked.TokenKey.IsZero() || bare.TokenKey == revoked.TokenKey {
		t.Error("a key has no seal of its own")
	}
}

// TestKeysWithoutSeals: the first releases had no column for seals.
func TestKeysWithoutSeals(t *testing.T) {
	path := copyOf(t, "keys.db")
	execute(t, path, "ALTER TABLE keys DROP COLUMN seal")
	check := func(in table.Table) {
		t.Helper()
		k, err := keys.Over(in).Find(t.Context(), keystest.Key("full", 0).ID)
		if err != nil || k.Name != "it's full" {
			t.Errorf("%+v, %v", k, err)
		}
	}
	check(openReadOnly(t, path, tablesqlite.Keys))
	check(open(t, path, tablesqlite.Keys))
}

// TestEarlierReleasesInAReadOnlyFolder: the rows are read as items.
func TestEarlierReleasesInAReadOnlyFolder(t *testing.T) {
	readonlytest.BothWays(t, earlierInAReadOnlyFolder)
}

func earlierInAReadOnlyFolder(t *testing.T) {
	for name, test := range earlier {
		path := copyOf(t, name)
		want := itemsIn(t, open(t, copyOf(t, name), test.layout), test.partitions).Items()
		readonlytest.Folder(t, filepath.Dir(path))
		in := openReadOnly(t, path, test.layout)
		for range 2 {
			got := itemsIn(t, in, test.partitions).Items()
			for _, item := range slices.Concat(want, got) {
				delete(item.Attributes, "mark") // it is random
				delete(item.Attributes, "seal")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
		refused(t, in)
	}
}

// TestSeveralProcessesMoveRows: a server and a command may open a file of an earlier release at the same time.
func TestSeveralProcessesMoveRows(t *testing.T) {
	for name, test := range earlier {
		want := itemsIn(t, open(t, copyOf(t, name), test.layout), test.partitions).Items()
		path := copyOf(t, name)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				in, err := tablesqlite.Open(context.Background(), path, test.layout)
				if err == nil {
					err = in.Close()
				}
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
		all.Wait()
		if got := itemsIn(t, open(t, path, test.layout), test.partitions).Items(); len(got) != len(want) {
			t.Errorf("%s: %d items, want %d", name, len(got), len(want))
		}
	}
}

// TestReadOnlyFileIsMoved: another process moves the rows, or writes, while this one reads the file.
func TestReadOnlyFileIsMoved(t *testing.T) {
	path := copyOf(t, "keys.db")
	reader := keys.Over(openReadOnly(t, path, tablesqlite.Keys))
	id := keystest.Key("bare", 1).ID
	check := func(revoked time.Time) {
		t.Helper()
		if k, err := reader.Find(t.Context(), id); err != nil || !k.Revoked.Equal(revoked) {
			t.Errorf("%+v, %v, want %v", k, err, revoked)
		}
	}
	check(time.Time{})
	execute(t, path, "UPDATE keys SET revoked_ms = 1000 WHERE id = ?", id) // as the release before does
	check(time.UnixMilli(1000))
	writer := open(t, path, tablesqlite.Keys)
	check(time.UnixMilli(1000))
	k := keystest.Key("new", 3)
	if err := keys.Over(writer).Create(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if got, err := reader.Find(t.Context(), k.ID); err != nil || got.Hash != k.Hash {
		t.Errorf("%+v, %v", got, err)
	}
}

// refused checks that a write is refused in words of the folder.
func refused(t *testing.T, in table.Table) {
	t.Helper()
	err := in.Write(t.Context(), table.Change{Key: table.Key{Partition: "p", Sort: "s"}, Attributes: table.Attributes{}})
	if fault.KindOf(err) != fault.ReadOnly || !strings.HasPrefix(err.Error(), "the data folder is read-only") {
		t.Errorf("a write: %v", err)
	}
}

// statements are what the release before reads from each file.
var statements = map[string][]string{
	"planets.db": {
		"SELECT number, at_ms, by, etag, bytes, settings FROM planet_versions WHERE config = 'shop' ORDER BY number DESC LIMIT 1",
		"SELECT number, at_ms, by, etag, bytes, settings FROM planet_versions WHERE config = 'prod' AND number = 1",
		"SELECT number, at_ms, by, etag, bytes FROM planet_versions WHERE config = 'prod' ORDER BY number DESC",
		"SELECT coalesce(max(number), 0) FROM planet_versions WHERE config = 'shop'",
	},
	"documents.db": {
		"SELECT number, at_ms, by, etag, bytes, text FROM document_versions WHERE id = 'filter/prod/bots' ORDER BY number DESC LIMIT 1",
		"SELECT number, at_ms, by, etag, bytes, text FROM document_versions WHERE id = 'filter/prod/gone' AND number = 2",
		"SELECT number, at_ms, by, etag, bytes FROM document_versions WHERE id = 'filter/prod/gone' ORDER BY number DESC",
		`SELECT id, number, at_ms, by, etag, bytes, text FROM document_versions AS version
			WHERE id > 'filter/prod/' AND id < 'filter/prod0' AND bytes > 0
			AND number = (SELECT max(number) FROM document_versions WHERE id = version.id) ORDER BY id`,
		"SELECT DISTINCT substr(id, 8, instr(substr(id, 8), '/') - 1) FROM document_versions WHERE id > 'report/' AND id < 'report0' ORDER BY 1",
	},
	"keys.db": {
		"SELECT id, hash, name, scopes, branches, created_ms, expires_ms, revoked_ms FROM keys ORDER BY created_ms, id",
		"SELECT id, hash, name, scopes, branches, created_ms, expires_ms, revoked_ms, seal FROM keys WHERE id = 'a18b869b2e81'",
		"SELECT count(*) FROM pragma_table_info('keys') WHERE name = 'seal'",
	},
}

// TestReleaseBeforeReadsFiles: its statements have the same results as before the rows were moved.
func TestReleaseBeforeReadsFiles(t *testing.T) {
	for name, list := range statements {
		t.Run(name, func(t *testing.T) {
			before, after := copyOf(t, name), copyOf(t, name)
			open(t, after, earlier[name].layout)
			for _, statement := range append(list, "PRAGMA user_version") {
				want, got := query(t, before, statement), query(t, after, statement)
				if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
					t.Errorf("%s\n%d rows (-before +after):\n%s", statement, len(want), diff)
				}
			}
		})
	}
}

// TestReleaseBeforeWritesDocuments: this release reads them, and writes the next version.
func TestReleaseBeforeWritesDocuments(t *testing.T) {
	path := copyOf(t, "documents.db")
	s := document.Over(open(t, path, tablesqlite.Documents))
	for n, id := range []document.ID{{Kind: "filter", Config: "prod", Name: "bots"}, {Kind: "filter", Config: "a.B_c-1", Name: "new-1"}} {
		v := document.NewVersion(3-2*n, "it's text", "key", keystest.At)
		execute(t, path, "INSERT INTO document_versions (id, number, at_ms, by, etag, bytes, text) VALUES (?, ?, ?, ?, ?, ?, ?)",
			string(id.Kind)+"/"+id.Config+"/"+id.Name, v.Number, v.At.UnixMilli(), v.By, v.ETag, v.Bytes, v.Text)
		if got, err := s.Newest(t.Context(), id); err != nil || got != v {
			t.Errorf("%+v, %v, want %+v", got, err, v)
		}
		if list, err := s.List(t.Context(), id.Kind, id.Config); err != nil || len(list) != 1 || list[0].Version != v {
			t.Errorf("%+v, %v", list, err)
		}
		if _, err := document.Put(t.Context(), s, id, document.Change{Text: "next", By: "key", At: keystest.At}); err != nil {
			t.Error(err)
		}
	}
	if list, err := s.Configurations(t.Context(), "filter"); err != nil || !slices.Equal(list, []string{"a.B_c-1", "prod"}) {
		t.Errorf("%v, %v", list, err)
	}
}

// TestReleaseBeforeWritesKeys: this release reads them, and the release before reads how they change.
func TestReleaseBeforeWritesKeys(t *testing.T) {
	path := copyOf(t, "keys.db")
	in := open(t, path, tablesqlite.Keys)
	known, k := keys.Over(in), keystest.Key("new", 9)
	k.TokenKey = keys.NewTokenKey()
	changed := func(want int64, statement string, args ...any) {
		t.Helper()
		if n := execute(t, path, statement, args...); n != want {
			t.Errorf("%s changes %d rows, want %d", statement, n, want)
		}
	}
	expect := func(revoked time.Time) {
		t.Helper()
		k.Revoked = revoked
		got, err := known.Find(t.Context(), k.ID)
		if diff := cmp.Diff(k, got); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
	}
	const create = "INSERT INTO keys (id, hash, name, scopes, branches, created_ms, expires_ms, revoked_ms, seal) " +
		"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
	row := []any{k.ID, k.Hash[:], k.Name, `["conf:read","data:read"]`, "null", k.Created.UnixMilli(), nil, nil, k.TokenKey[:]}
	changed(1, create, row...)
	expect(time.Time{})
	changed(0, create, row...)
	changed(0, "UPDATE keys SET seal = randomblob(32) WHERE seal IS NULL")
	later := table.Key{Partition: "keys", Sort: k.ID}
	item, err := in.Get(t.Context(), later)
	if err != nil {
		t.Fatal(err)
	}
	item.Attributes["later"] = "x"
	if err := in.Write(t.Context(), table.Change{Key: later, Attributes: item.Attributes}); err != nil {
		t.Fatal(err)
	}
	changed(1, "UPDATE keys SET revoked_ms = coalesce(revoked_ms, ?) WHERE id = ?", keystest.At.UnixMilli(), k.ID)
	expect(keystest.At)
	if item, err := in.Get(t.Context(), later); err != nil || item.Attributes["later"] != "x" {
		t.Errorf("an attribute of a later release is lost: %v, %v", item, err)
	}

	other := keystest.Key("full", 0)
	if err := known.Revoke(t.Context(), other.ID, keystest.At); err != nil {
		t.Fatal(err)
	}
	got := query(t, path, "SELECT revoked_ms, branches FROM keys WHERE id = ?", other.ID)
	if want := fmt.Sprintf("%d %q ", keystest.At.UnixMilli(), `["a/b","prod","ünï"]`); len(got) != 1 || got[0] != want {
		t.Errorf("%s, want %s", got, want)
	}
}
