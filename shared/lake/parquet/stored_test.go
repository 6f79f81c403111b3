package parquet_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/lake/parquet/parquettest"
	"github.com/orrery/orrery/shared/testkit/goldentest"
)

const storedFolder = "parquettest/objects/"

// TestStoredObjects reads an object of every version of the schema, as the programs of that version wrote it. With
// -update it writes the object of the present version, unless it exists.
func TestStoredObjects(t *testing.T) {
	storePresent(t)
	for version := 1; version <= lake.SchemaVersion(); version++ {
		t.Run(fmt.Sprint("version ", version), func(t *testing.T) {
			object, err := os.ReadFile(fmt.Sprintf("%sv%d.parquet", storedFolder, version))
			if err != nil {
				t.Fatal(err)
			}
			r, size := bytes.NewReader(object), int64(len(object))
			if got, err := parquet.SchemaVersion(r, size); got != version || err != nil {
				t.Errorf("its version is %d, %v", got, err)
			}
			if _, err := parquet.Verify(r, size); err != nil {
				t.Error(err)
			}
			rows, err := parquettest.Rows(object)
			if err != nil {
				t.Fatal(err)
			}
			numbers := make([]int64, len(rows))
			for i := range numbers {
				numbers[i] = int64(i)
			}
			single, err := parquet.ReadColumns(r, size, numbers, nil)
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			for i, row := range single {
				if diff := cmp.Diff(&rows[i], row); diff != "" {
					t.Errorf("row %d (-parquet-go +ours):\n%s", i, diff)
				}
				text.WriteString(valuesOf(t, row))
			}
			goldentest.Compare(t, fmt.Sprintf("%sv%d.ndjson", storedFolder, version), text.String())
		})
	}
}

// storePresent writes the object of the present version of the schema if -update is set and the object does not exist.
func storePresent(t *testing.T) {
	t.Helper()
	path := fmt.Sprintf("%sv%d.parquet", storedFolder, lake.SchemaVersion())
	_, err := os.Stat(path)
	if flag.Lookup("update").Value.String() != "true" || !errors.Is(err, fs.ErrNotExist) {
		return
	}
	hour := lake.PartitionOf(enginetest.Start.UnixMilli())
	var rows []lake.Row
	for i, row := range enginetest.Records(t, 120, 9) {
		if lake.PartitionOf(row.TsMs) == hour && row.Memory() < 4<<10 && (i%7 < 2 || row.LogRest != nil) {
			row.Source = fmt.Sprintf("%s-v%d", row.Source, lake.SchemaVersion()) // no two objects have a record in common
			rows = append(rows, row)
		}
	}
	parquettest.Sort(rows)
	var object bytes.Buffer
	w := parquet.NewWriter(&object)
	if err := errors.Join(w.Write(rows), w.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, object.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// valuesOf returns a row as a line of JSON, by column and without absent values. A later column does not change it.
func valuesOf(t *testing.T, row *lake.Row) string {
	t.Helper()
	values, v := map[string]any{}, reflect.ValueOf(row).Elem()
	for i, column := range lake.ColumnNames {
		if !v.Field(i).IsZero() {
			values[column] = v.Field(i).Interface()
		}
	}
	line, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	return string(line) + "\n"
}
