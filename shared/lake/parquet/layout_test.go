package parquet

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/orrery/orrery/shared/testkit/goldentest"
)

// TestWriterLayout compares the layout of an object, as engines see it, with a golden file. Change testdata/layout.txt
// only on purpose, and add a version to lake.Additions if there is a new column.
func TestWriterLayout(t *testing.T) {
	object := written(t, some()[:3_000])
	file, err := parquet.OpenFile(bytes.NewReader(object), int64(len(object)))
	if err != nil {
		t.Fatal(err)
	}
	goldentest.Compare(t, "testdata/layout.txt", describe(t, file))
}

func describe(t *testing.T, file *parquet.File) string {
	t.Helper()
	var b strings.Builder
	metadata := file.Metadata()
	fmt.Fprintf(&b, "created by %s, parquet version %d\n", metadata.CreatedBy, metadata.Version)
	for _, kv := range metadata.KeyValueMetadata {
		fmt.Fprintf(&b, "metadata %s = %s\n", kv.Key, kv.Value)
	}
	for _, s := range file.RowGroups()[0].SortingColumns() {
		fmt.Fprintf(&b, "sorted by %s descending=%v\n", strings.Join(s.Path(), "."), s.Descending())
	}
	fmt.Fprintf(&b, "\n%-36s %-10s %-8s %-9s %-22s %-5s %s\n",
		"column", "physical", "levels", "codec", "encodings", "pages", "with")
	leaves := file.Schema().Columns()
	for i := range metadata.RowGroups[0].Columns {
		chunk := &metadata.RowGroups[0].Columns[i]
		leaf, _ := file.Schema().Lookup(leaves[i]...)
		var encodings []string
		for _, e := range chunk.MetaData.Encoding {
			encodings = append(encodings, shortEncoding(e))
		}
		fmt.Fprintf(&b, "%-36s %-10s r%d d%d    %-9s %-22s %-5s %s\n",
			strings.Join(leaves[i], "."), chunk.MetaData.Type,
			leaf.MaxRepetitionLevel, leaf.MaxDefinitionLevel, chunk.MetaData.Codec, strings.Join(encodings, " "),
			pageVersion(t, file, i), strings.Join(extras(file, i, chunk), " "))
	}
	return b.String()
}

func shortEncoding(e format.Encoding) string {
	short := strings.NewReplacer(
		"RLE_DICTIONARY", "dict",
		"DELTA_BINARY_PACKED", "delta",
		"PLAIN", "plain",
		"RLE", "rle",
	)
	return short.Replace(e.String())
}

// pageVersion returns the version of the chunk's data pages.
func pageVersion(t *testing.T, file *parquet.File, column int) string {
	t.Helper()
	for _, s := range file.Metadata().RowGroups[0].Columns[column].MetaData.EncodingStats {
		if s.PageType == format.DataPageV2 {
			return "v2"
		}
	}
	return "v1"
}

func extras(file *parquet.File, column int, chunk *format.ColumnChunk) (with []string) {
	if s := chunk.MetaData.Statistics; len(s.MinValue) > 0 || len(s.MaxValue) > 0 {
		with = append(with, "min/max")
	}
	if chunk.MetaData.BloomFilterOffset != 0 {
		with = append(with, "bloom")
	}
	if len(file.OffsetIndexes()[column].PageLocations) > 0 && len(file.ColumnIndexes()[column].NullPages) > 0 {
		with = append(with, "page-index")
	}
	return with
}

// The columns that the three aggregating routes read.
var (
	topxColumns = []string{
		"ts_ms", "country", "host", "ip", "organization", "svcid", "reason", "monitor_reasons", "referer", "url",
		"user_agent", "asn", "blocked", "bot", "human", "challenge", "ichallenge", "monitor", "bytes_sent",
		"request_length", "total_us", "svc_us", "origin_us",
	}
	timelineColumns = []string{
		"ts_ms", "ip", "session", "status", "upstream_status", "blocked", "challenge", "ichallenge", "human",
		"bytes_sent",
	}
	statsColumns = []string{"ts_ms", "bytes_sent", "request_length", "total_us", "hostname", "host"}
)

// TestWriterObjectSize limits the bytes per record: of the whole object, and of the columns that the three aggregating
// routes read.
func TestWriterObjectSize(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	rows := hour()
	object, err := verified(written(t, rows))
	if err != nil {
		t.Fatal(err)
	}
	perRecord := func(columns ...string) float64 {
		sum := int64(0)
		for _, c := range columns {
			bytes, known := object.ColumnBytes[c]
			if !known {
				t.Fatalf("no column %s", c)
			}
			sum += bytes
		}
		return float64(sum) / float64(len(rows))
	}
	for _, c := range []struct {
		name        string
		most, found float64
	}{
		{"all", 150, float64(object.Bytes) / float64(len(rows))},
		{"topx", 34, perRecord(topxColumns...)},
		{"timeline", 15, perRecord(timelineColumns...)},
		{"stats", 8, perRecord(statsColumns...)},
		{"hidden", 0.1, perRecord("source", "line", "ts_nanos", "ts_digits", "extra", "raw_line", "log_rest")},
	} {
		t.Logf("%s: %.2f bytes per record", c.name, c.found)
		if c.found > c.most {
			t.Errorf("%s: %.2f bytes per record, more than %v", c.name, c.found, c.most)
		}
	}
}

// TestWriterPutsColumnsTogether counts the ranges of an object that the columns of a query take, if gaps of up to 64 kB
// are read with them.
func TestWriterPutsColumnsTogether(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	const gap = 64 << 10
	object := footerOf(t, written(t, hour()))
	for _, c := range []struct {
		name    string
		columns []string
		most    int
	}{
		{"topx", topxColumns, 2},
		{"timeline", timelineColumns, 2},
		{"stats", statsColumns, 1},
		{"finding records", []string{"ts_ms", "ts_nanos", "source", "line"}, 1},
	} {
		type extent struct{ from, to int64 }
		var chunks []extent
		for _, name := range c.columns {
			for _, l := range leavesOf[name] {
				meta := &object.chunk(0, l).MetaData
				chunks = append(chunks, extent{chunkStart(meta), chunkStart(meta) + meta.TotalCompressedSize})
			}
		}
		slices.SortFunc(chunks, func(a, b extent) int { return cmp.Compare(a.from, b.from) })
		ranges := 1
		for i := range chunks[1:] {
			if chunks[i+1].from-chunks[i].to > gap {
				ranges++
			}
		}
		if ranges > c.most {
			t.Errorf("%s reads %d ranges, more than %d", c.name, ranges, c.most)
		}
	}
}
