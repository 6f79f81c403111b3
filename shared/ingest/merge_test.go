package ingest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet/parquettest"
)

func TestNarrowMergesNoMoreRunsThanNeeded(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: skipped with -short, for the race detector")
	}
	all := make([]lake.Row, 600)
	for i := range all {
		all[i] = lake.Row{TsMs: int64(6_000 * i), Source: "s", Line: int64(i + 1)}
	}
	dir := t.TempDir()
	const runs = 40
	var paths []string
	for i := range runs {
		var rows []heldRow
		for n := i; n < len(all); n += runs {
			rows = append(rows, heldRow{row: &all[n]})
		}
		slices.Reverse(rows)
		path := filepath.Join(dir, fmt.Sprintf("run-%d.parquet", i))
		if _, err := writeFile(path, heldRows(sorted(rows))); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	if all, err := narrow(dir, paths, limitsWithin(1<<30)); err != nil || len(all) != runs {
		t.Fatalf("much memory: %d files are left, %v", len(all), err)
	}
	paths, err := narrow(dir, paths, limitsWithin(0))
	if err != nil || len(paths) != 16 {
		t.Fatal(paths, err)
	}
	whole := filepath.Join(dir, "whole")
	if _, err := writeFile(whole, rawRows(mergeRows(paths))); err != nil {
		t.Fatal(err)
	}
	object, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	got, err := parquettest.Rows(object)
	if err != nil || len(got) != len(all) {
		t.Fatalf("%d rows, %v", len(got), err)
	}
	for i := range got {
		if got[i].Line != all[i].Line {
			t.Fatalf("row %d is line %d", i, got[i].Line)
		}
	}
	missing := []string{paths[0], filepath.Join(dir, "missing")}
	if _, err := writeFile(filepath.Join(dir, "x"), rawRows(mergeRows(missing))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing run: %v, want os.ErrNotExist", err)
	}
}

func TestExcess(t *testing.T) {
	const mb = 1 << 20
	same := func(n int, size int64) []int64 { return slices.Repeat([]int64{size}, n) }
	limits := mergeLimits{width: 16, bytes: 150 * mb}
	for name, c := range map[string]struct {
		sizes []int64
		want  int
	}{
		"none":                          {nil, 0},
		"as many as can be merged":      {same(16, mb), 0},
		"one too many":                  {same(17, mb), 2},
		"ten too many":                  {same(26, mb), 11},
		"far too many":                  {same(600, mb), 16},
		"too large":                     {same(16, 10*mb), 5},
		"far too large":                 {same(16, 40*mb), 3},
		"two are always merged at once": {same(2, 1000*mb), 0},
		"at least two are merged":       {same(3, 1000*mb), 2},
		"the last is too large":         {append(same(3, mb), 1000*mb), 3},
	} {
		t.Run(name, func(t *testing.T) {
			if got := limits.excess(c.sizes); got != c.want {
				t.Errorf("%d files, want %d", got, c.want)
			}
		})
	}
}
