package lakestate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/table/tabletest"
)

func TestSizes(t *testing.T) {
	const first = lake.Partition(490_000)
	bucket := &blobtest.Memory{}
	put := func(name string, bytes int) {
		t.Helper()
		if err := bucket.Put(t.Context(), name, strings.NewReader(strings.Repeat("x", bytes)), blob.Always); err != nil {
			t.Fatal(err)
		}
	}
	for i := range lake.Partition(4) {
		hour := first + i
		put("lake/"+lake.CompactName(hour, "merged"), 1)
		put("lake/"+lake.CompactName(hour, "late"), 10)
		put("lake/"+lake.ObjectName(hour, "source", 1), 100)
		put("lake/"+lake.ObjectName(hour, "source", 2), 1000)
		put("lake/"+lake.FreshName(hour, ""), 0)
		put("lake/"+lake.FreshName(hour, "_values.json"), 5)
	}
	put("lake/fresh/without-an-hour.parquet", 10_000)
	put("lake/_staging/a/0.parquet", 10_000)
	sizes := lakestate.NewSizes(lakestate.Over(&tabletest.Memory{}), lakestate.NewListing(bucket))
	type hours = map[lake.Partition]engine.Sizes
	compact, fresh := engine.Sizes{Objects: 2, Bytes: 11}, engine.Sizes{Objects: 2, Bytes: 1100}
	for _, c := range []struct {
		name                string
		watermark, from, to lake.Partition
		want                map[lake.Partition]engine.Sizes
	}{
		{"hours before the watermark are compact", first + 4, first + 1, first + 2, hours{
			first + 1: compact, first + 2: compact,
		}},
		{"hours from the watermark are fresh", first, first + 1, first + 1, hours{first + 1: fresh}},
		{"a period on both sides", first + 2, first, first + 3, hours{
			first: compact, first + 1: compact, first + 2: fresh, first + 3: fresh,
		}},
		{"hours without objects", first, first - 9, first - 1, hours{}},
		{"nothing is compacted yet", 0, first, first, hours{first: fresh}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, known, err := sizes.Sizes(t.Context(), engine.State{Watermark: c.watermark}, c.from, c.to)
			if diff := cmp.Diff(c.want, got); err != nil || !known || diff != "" {
				t.Errorf("%v, %v, %s", known, err, diff)
			}
		})
	}
	t.Run("too many objects are not known", func(t *testing.T) {
		for i := range 20_001 {
			put("lake/"+lake.ObjectName(first+9, "many", i), 1)
		}
		if got, known, err := sizes.Sizes(t.Context(), engine.State{}, first+9, first+9); err != nil || known {
			t.Errorf("%+v, %v, %v", got, known, err)
		}
	})
}
