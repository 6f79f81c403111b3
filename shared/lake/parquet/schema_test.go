package parquet

import (
	"bytes"
	"fmt"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/orrery/orrery/shared/lake"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// TestSchemaMatchesParquetGo: the tags of Row mean what the documentation of parquet-go says.
func TestSchemaMatchesParquetGo(t *testing.T) {
	var object bytes.Buffer
	w := parquet.NewGenericWriter[lake.Row](&object,
		parquet.CreatedBy("orrery", strconv.Itoa(lake.SchemaVersion()), ""),
		parquet.KeyValueMetadata("orrery.schema_version", strconv.Itoa(lake.SchemaVersion())))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(bytes.NewReader(object.Bytes()), int64(object.Len()))
	if err != nil {
		t.Fatal(err)
	}
	want, got := *file.Metadata(), newFooter()
	want.RowGroups, got.RowGroups = nil, nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("footer (-parquet-go +ours):\n%s", diff)
	}

	schema := parquet.SchemaOf(lake.Row{})
	var storage []Storage
	for _, path := range schema.Columns() {
		column, _ := schema.Lookup(path...)
		storage = append(storage, Storage{
			Path: path, Encoding: encodingOf(column.Node), Dense: dense(column.Node),
			Rep: column.MaxRepetitionLevel, Def: column.MaxDefinitionLevel,
		})
	}
	if diff := cmp.Diff(storage, Leaves()); diff != "" {
		t.Errorf("leaves (-parquet-go +ours):\n%s", diff)
	}
}

// encodingOf returns the encoding in the tag of a leaf. Without one, it is delta for integers, otherwise plain.
func encodingOf(leaf parquet.Node) format.Encoding {
	switch e := leaf.Encoding(); {
	case e != nil:
		return e.Encoding()
	case leaf.Type().Kind() == parquet.Int64:
		return format.DeltaBinaryPacked
	}
	return format.Plain
}

func dense(leaf parquet.Node) bool {
	codec, ok := leaf.Compression().(*zstd.Codec)
	return ok && codec.Level == zstd.DefaultLevel
}

// TestRawReaderDetectsDamage flips single bits. Rows that are read without an error must be the original ones.
func TestRawReaderDetectsDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	object := written(t, some()[:200])
	want := fmt.Sprint(rawRows(t, object))
	passed := 0
	const step = 97
	for at := 0; at < len(object); at += step {
		damaged := bytes.Clone(object)
		damaged[at] ^= 1 << (at / step % 8)
		rows, err := readRaw(damaged)
		if err != nil {
			continue
		}
		passed++
		if got := fmt.Sprint(rows); got != want {
			t.Fatalf("damage of byte %d of %d is not detected", at, len(object))
		}
	}
	t.Logf("%d of %d flips did no harm", passed, len(object)/step)
}
