package parquet

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet/parquettest"
)

// addedColumns are columns of every kind, at the beginning, in the middle and at the end of the table.
var addedColumns = []string{
	"request_id", "hostname", "svcid_more", "status", "total_us", "blocked", "tags", "upstream_status", "upstream_data",
	"trigger_counters", "headers", "details", "raw_line",
}

// TestOlderObjects reads objects without the columns of the present version: the columns are absent in every row.
func TestOlderObjects(t *testing.T) {
	parquettest.AddColumns(t, addedColumns...)
	for seed := range uint64(3) {
		rows := randomRows(seed, 200)
		older := parquettest.Older(t, writtenRandomly(t, rand.New(rand.NewPCG(seed, 2)), rows))
		for i := range rows {
			parquettest.Forget(&rows[i])
		}
		if version := versionOf(t, older); version != lake.SchemaVersion()-1 {
			t.Fatalf("the version of the older object is %d", version)
		}
		compareColumns(t, rows, older)
		compareRows(t, rows, readSingly(t, older))
		object, err := verified(older)
		if err != nil || object.Rows != int64(len(rows)) {
			t.Fatal(object, err)
		}
		for _, name := range lake.ColumnNames {
			if want := !slices.Contains(addedColumns, name); object.Has(name) != want {
				t.Errorf("the object has column %s: %t", name, !want)
			}
		}
		var merged bytes.Buffer
		w := NewWriter(&merged)
		if err := errors.Join(w.WriteRaw(rawOf(t, older)), w.Close()); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(merged.Bytes(), written(t, rows)) {
			t.Errorf("seed %d: the rows of an older object are not written like the same rows of today", seed)
		}
		if version := versionOf(t, merged.Bytes()); version != lake.SchemaVersion() {
			t.Errorf("the version of the new object is %d", version)
		}
	}
}

// TestNewerObjects reads objects with a column that this program does not know.
func TestNewerObjects(t *testing.T) {
	rows := randomRows(7, 200)
	newer := parquettest.Newer(t, written(t, rows))
	compareColumns(t, rows, newer)
	compareRows(t, rows, readSingly(t, newer))
	object, err := verified(newer)
	if err != nil || object.Rows != int64(len(rows)) || object.Has(parquettest.NewColumn) {
		t.Error(object, err)
	}
	if version := versionOf(t, newer); version != lake.SchemaVersion()+1 {
		t.Errorf("the version is %d", version)
	}
	if _, err := readRaw(newer); !errors.Is(err, ErrNewerSchema) {
		t.Errorf("its rows are read for merging: %v", err)
	}
	damaged := bytes.Clone(newer)
	damaged[len(damaged)/4] ^= 1
	if _, err := verified(damaged); err == nil || errors.Is(err, ErrNewerSchema) {
		t.Errorf("damage of a newer object: %v", err)
	}
}

func versionOf(t *testing.T, object []byte) int {
	t.Helper()
	version, err := SchemaVersion(bytes.NewReader(object), int64(len(object)))
	if err != nil {
		t.Fatal(err)
	}
	return version
}

func TestObjectWithoutVersionIsOfTheFirst(t *testing.T) {
	object := parquettest.WithFooter(t, written(t, some()[:10]), func(footer *format.FileMetaData) {
		for _, column := range slices.Concat(lake.Additions...) {
			parquettest.RemoveColumn(t, footer, column)
		}
		footer.KeyValueMetadata = nil
	})
	if version := versionOf(t, object); version != 1 {
		t.Error(version)
	}
	if _, err := verified(object); err != nil {
		t.Error(err)
	}
}

func TestColumnsMustBeThoseOfTheVersion(t *testing.T) {
	parquettest.AddColumns(t, "country")
	present := lake.SchemaVersion()
	older, newer := present-1, present+1
	remove := func(column string) func(*format.FileMetaData) {
		return func(footer *format.FileMetaData) { parquettest.RemoveColumn(t, footer, column) }
	}
	asText := func(footer *format.FileMetaData) {
		for i := range footer.Schema {
			if node := &footer.Schema[i]; node.Name == "bytes_sent" {
				node.ConvertedType = thrift.New(deprecated.UTF8)
			}
		}
	}
	twice := func(footer *format.FileMetaData) { footer.Schema = append(footer.Schema, footer.Schema[1]) }
	for _, c := range []struct {
		name    string
		version int
		change  func(*format.FileMetaData)
		want    error
		text    string
	}{
		{"present object without a column", present, remove("country"), ErrSchema, "does not have column country"},
		{"older object with a column of today", older, remove("host"), ErrSchema, "has column country"},
		{"newer object without a column", newer, remove("tags"), ErrNewerSchema, "does not have column tags"},
		{"newer object with another type", newer, asText, ErrNewerSchema, "bytes_sent is of another type"},
		{"present object with another type", present, asText, ErrSchema, "bytes_sent is of another type"},
		{"damaged tree", present, twice, ErrSchema, "the tree of its columns is damaged"},
		{"damaged tree of a newer version", newer, twice, ErrNewerSchema, "the tree of its columns is damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			object := parquettest.WithFooter(t, written(t, some()[:10]), func(footer *format.FileMetaData) {
				c.change(footer)
				parquettest.SetVersion(footer, c.version)
			})
			if _, err := verified(object); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%v, want %v: … %s", err, c.want, c.text)
			}
		})
	}
	t.Run("present object with an unknown column", func(t *testing.T) {
		object := parquettest.Newer(t, written(t, some()[:10]))
		object = parquettest.WithFooter(t, object, func(footer *format.FileMetaData) {
			parquettest.SetVersion(footer, present)
		})
		if _, err := verified(object); !errors.Is(err, ErrSchema) || !strings.Contains(err.Error(), "has column edge") {
			t.Error(err)
		}
	})
	t.Run("version that is not a number", func(t *testing.T) {
		for _, text := range []string{"", "0", "-1", "two"} {
			object := parquettest.WithFooter(t, written(t, some()[:10]), func(footer *format.FileMetaData) {
				footer.KeyValueMetadata[0].Value = text
			})
			if _, err := verified(object); err == nil || !strings.Contains(err.Error(), "is not the version") {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}
