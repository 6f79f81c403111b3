package datadir

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir/ledgersqlite"
	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet/parquettest"
	"github.com/orrery/orrery/shared/record"
)

// testTime is the time of the clock of the tests.
var testTime = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func openStore(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), dir, ledgersqlite.Open, func() time.Time { return testTime })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// importText imports a string as a log that can seek, as a file can.
func importText(t testing.TB, s *Store, text string, options ingest.Options) ingest.Report {
	t.Helper()
	report, err := s.Import(t.Context(), "test.log", strings.NewReader(text), options)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// lines returns the lines first…first+n-1 of a growing log: small records in NDJSON, ten a minute.
func lines(first, n int) string {
	var b strings.Builder
	for i := first; i < first+n; i++ {
		at := time.Date(2026, 4, 1, 10, 0, 0, 0, time.UTC).Add(time.Duration(i) * 6 * time.Second)
		fmt.Fprintf(&b, `{"processing_stage":6,"timestamp":"%s","request_id":"r%d","status":%d,"path":"/p/%d"}`+"\n",
			at.Format(time.RFC3339), i, 200+i%3, i%7)
	}
	return b.String()
}

// rowsOf returns all rows of the objects in the index, in order. It checks that each row is in its partition.
func rowsOf(t testing.TB, s *Store) []lake.Row {
	t.Helper()
	objects, err := s.Index().Objects(t.Context(), 0, math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	var rows []lake.Row
	for _, o := range objects {
		got := readRows(t, o.Path)
		if int64(len(got)) != o.Rows {
			t.Errorf("%s has %d rows, but %d in its manifest", o.Path, len(got), o.Rows)
		}
		for i := range got {
			if lake.PartitionOf(got[i].TsMs) != o.Partition {
				t.Errorf("%s has a row of the partition %s", o.Path, lake.PartitionOf(got[i].TsMs))
			}
		}
		rows = append(rows, got...)
	}
	slices.SortFunc(rows, func(a, b lake.Row) int { return lake.Compare(&a, &b) })
	return rows
}

func readRows(t testing.TB, path string) []lake.Row {
	t.Helper()
	rows, err := rowsIn(path)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// rowsIn reads all rows of an object.
func rowsIn(path string) ([]lake.Row, error) {
	object, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parquettest.Rows(object)
}

// records returns the rows of the lake in the JSON form of the API.
func records(t testing.TB, s *Store) []string {
	t.Helper()
	var out []string
	for _, row := range rowsOf(t, s) {
		out = append(out, string(record.AppendJSON(nil, &row, nil)))
	}
	return out
}

// places returns the source and the line of every row, in the order of the lines.
func places(t testing.TB, s *Store) []string {
	t.Helper()
	rows := rowsOf(t, s)
	slices.SortFunc(rows, func(a, b lake.Row) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Source, b.Source))
	})
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = fmt.Sprintf("%s:%d", row.Source, row.Line)
	}
	return out
}

// tree lists the files below a directory with their sizes, without locks and the database.
func tree(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || strings.HasPrefix(name, "ledger.db") || strings.HasPrefix(name, "locks") {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %d\n", filepath.ToSlash(name), len(content))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// pipe returns a reader that cannot seek.
func pipe(text string) io.Reader { return io.MultiReader(bytes.NewReader([]byte(text))) }

// TestOpeningTheLedgerTakesLong: a caller who waits for another one to open the ledger of a directory that began
// read-only stops waiting when its context ends.
func TestOpeningTheLedgerTakesLong(t *testing.T) {
	opens := 0
	begun, end := make(chan struct{}), make(chan struct{})
	open := func(ctx context.Context, path string, _ bool) (ledger.Ledger, error) {
		if opens++; opens == 1 {
			return nil, syscall.EROFS
		}
		close(begun)
		<-end
		return ledgersqlite.Open(ctx, path, false)
	}
	s, err := Open(t.Context(), t.TempDir(), open, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	first := make(chan error)
	go func() { first <- s.toWrite(t.Context()) }()
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.toWrite(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the second caller: %v", err)
	}
	close(end)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if err := s.toWrite(ctx); err != nil { // nothing is left to wait for
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
