package parquet

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet/parquettest"
	"github.com/parquet-go/parquet-go"
)

// TestWriterPreservesAbsentValues writes rows with fields that are absent, empty or set at random, in batches of random
// length and several row groups, and reads them back in three ways. parquet-go has corrupted optional columns in
// batched writes before.
func TestWriterPreservesAbsentValues(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 5))
			rows := make([]lake.Row, 1+r.IntN(400))
			present := r.Float64() // the probability that a field is set
			for i := range rows {
				fillRandomly(r, reflect.ValueOf(&rows[i]).Elem(), present)
			}
			object := writtenRandomly(t, r, rows)
			t.Run("reader", func(t *testing.T) { compareRows(t, rows, readAll(t, object)) })
			t.Run("single rows", func(t *testing.T) { compareRows(t, rows, readSingly(t, object)) })
			t.Run("page index", func(t *testing.T) { checkPageIndex(t, object) })
			t.Run("DuckDB", func(t *testing.T) { compareWithDuckDB(t, rows, object) })
		})
	}
}

// fillRandomly sets every field of a struct to a random value or leaves it absent.
func fillRandomly(r *rand.Rand, v reflect.Value, present float64) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fillRandomly(r, v.Field(i), present)
		}
	case reflect.Pointer:
		if r.Float64() < present {
			v.Set(reflect.New(v.Type().Elem()))
			fillRandomly(r, v.Elem(), present)
		}
	case reflect.Slice:
		if r.Float64() < present {
			n := r.IntN(4)
			v.Set(reflect.MakeSlice(v.Type(), n, n)) // often empty, which is not absent
			for i := range n {
				fillRandomly(r, v.Index(i), present)
			}
		}
	case reflect.String:
		v.SetString(randomText(r))
	case reflect.Int64:
		v.SetInt([]int64{0, 1, -1, 200, math.MaxInt64, math.MinInt64, r.Int64()}[r.IntN(7)])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	}
}

func randomText(r *rand.Rand) string {
	texts := []string{
		"", "a", "value", "quo\"te", "back\\slash", "\x00nul\x00", "ünï©ode", "\U0001F600", "\u202eRTL", "=1+1", "%27",
		"line\nbreak", strings.Repeat("\U0010ffff", 6), strings.Repeat("é", 20), "\u00ff", strings.Repeat("long ", 300),
	}
	if r.IntN(4) == 0 {
		return fmt.Sprint(r.Uint64())
	}
	return texts[r.IntN(len(texts))]
}

func writtenRandomly(t *testing.T, r *rand.Rand, rows []lake.Row) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := newWriter(&buf, 1+r.Int64N(300))
	for len(rows) > 0 {
		n := 1 + r.IntN(min(len(rows), 130))
		if err := w.Write(rows[:n]); err != nil {
			t.Fatal(err)
		}
		rows = rows[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func readAll(t *testing.T, object []byte) []lake.Row {
	t.Helper()
	rows, err := parquettest.Rows(object)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func readSingly(t *testing.T, object []byte) []lake.Row {
	t.Helper()
	f, err := OpenFile(bytes.NewReader(object), int64(len(object)))
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]lake.Row, f.NumRows())
	for i := len(rows) - 1; i >= 0; i-- { // backwards, so that the reader returns to earlier pages
		got, err := f.Rows([]int64{int64(i)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		rows[i] = *got[0]
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return rows
}

func compareRows(t *testing.T, want, got []lake.Row) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(want[i], got[i]) {
			t.Fatalf("row %d: %s", i, cmp.Diff(want[i], got[i]))
		}
	}
}

// checkPageIndex checks that every value of a page is within the page's bounds, including bounds that were shortened.
// Engines skip a page if its bounds exclude the values they look for.
func checkPageIndex(t *testing.T, object []byte) {
	t.Helper()
	file, err := parquet.OpenFile(bytes.NewReader(object), int64(len(object)))
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range file.RowGroups() {
		for i, chunk := range group.ColumnChunks() {
			index, err := chunk.ColumnIndex()
			if err != nil {
				t.Fatal(err)
			}
			pages := chunk.Pages()
			for p := range index.NumPages() {
				page, err := pages.ReadPage()
				if err != nil {
					t.Fatal(err)
				}
				values := make([]parquet.Value, page.NumValues())
				if _, err := page.Values().ReadValues(values); err != nil && !errors.Is(err, io.EOF) {
					t.Fatal(err)
				}
				for _, v := range values {
					if v.IsNull() {
						continue
					}
					compare, least, most := chunk.Type().Compare, index.MinValue(p), index.MaxValue(p)
					if index.NullPage(p) || compare(v, least) < 0 || compare(v, most) > 0 {
						t.Errorf("%s: %.40q is not in %q…%q", file.Schema().Columns()[i], v, least, most)
					}
				}
				parquet.Release(page)
			}
			if err := pages.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func compareWithDuckDB(t *testing.T, rows []lake.Row, object []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.parquet")
	if err := os.WriteFile(path, object, 0o600); err != nil {
		t.Fatal(err)
	}
	db := openDuckDB(t)
	found, err := db.Query(`SELECT CAST(to_json(t) AS VARCHAR)
FROM read_parquet(?, file_row_number = true) AS t
ORDER BY file_row_number`, path)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; found.Next(); n++ {
		var text string
		if err := found.Scan(&text); err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&got); err != nil {
			t.Fatal(err)
		}
		delete(got, "file_row_number")
		if want := unencoded(reflect.ValueOf(rows[n])); !reflect.DeepEqual(want, any(got)) {
			t.Fatalf("row %d: %s", n, cmp.Diff(want, any(got)))
		}
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	if n != len(rows) {
		t.Fatalf("DuckDB found %d rows of %d", n, len(rows))
	}
}

func openDuckDB(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// TestWriterBloomFilters: DuckDB, which skips row groups by bloom filters and statistics, finds every record.
func TestWriterBloomFilters(t *testing.T) {
	rows := some()[:3_000]
	var object bytes.Buffer
	w := newWriter(&object, 500)
	if err := errors.Join(w.Write(rows), w.Close()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "rows.parquet")
	if err := os.WriteFile(path, object.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	db := openDuckDB(t)
	for column, text := range map[string]func(*lake.Row) *string{
		"request_id": func(r *lake.Row) *string { return r.RequestID },
		"ip":         func(r *lake.Row) *string { return r.IP },
		"session":    func(r *lake.Row) *string { return r.Session },
	} {
		for i := 7; i < len(rows); i += 499 {
			want, got := 0, 0
			for j := range rows {
				if *text(&rows[j]) == *text(&rows[i]) {
					want++
				}
			}
			query := fmt.Sprintf("SELECT count(*) FROM read_parquet(?) WHERE %s = ?", column)
			if err := db.QueryRow(query, path, *text(&rows[i])).Scan(&got); err != nil || got != want {
				t.Errorf("%s of row %d: %d rows, want %d, %v", column, i, got, want, err)
			}
		}
	}
}

// unencoded returns a value as decoded JSON, with the names of the columns.
func unencoded(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return unencoded(v.Elem())
	case reflect.Slice:
		if v.IsNil() {
			return nil
		}
		list := make([]any, v.Len())
		for i := range list {
			list[i] = unencoded(v.Index(i))
		}
		return list
	case reflect.Struct:
		members := map[string]any{}
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("parquet"), ",")
			members[name] = unencoded(v.Field(i))
		}
		return members
	case reflect.Int64:
		return json.Number(fmt.Sprint(v.Int()))
	case reflect.Bool:
		return v.Bool()
	}
	return v.String()
}
