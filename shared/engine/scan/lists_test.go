package scan_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/orrery/orrery/shared/completionindex"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/lake"
)

func listsIn(t *testing.T, object lake.Object) *completionindex.Lists {
	t.Helper()
	encoded, err := scan.ValueLists(t.Context(), object.Path)
	if err != nil {
		t.Fatal(err)
	}
	lists, err := completionindex.Decode(encoded)
	if err != nil {
		t.Fatal(err)
	}
	return lists
}

// commonest returns the values of a field in rows as lists have them, and whether these are all.
func commonest(rows []lake.Row, values func(*lake.Row) []string) (list []string, all bool) {
	counts := map[string]int{}
	all = true
	for i := range rows {
		for _, value := range values(&rows[i]) {
			if len(value) > completionindex.MaxLength {
				all = false
				continue
			}
			counts[value]++
		}
	}
	list = slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b))
	})
	if len(list) > completionindex.MaxValues {
		return list[:completionindex.MaxValues], false
	}
	return list, all
}

// TestValueLists compares the lists of objects with their rows: every field of every branch.
func TestValueLists(t *testing.T) {
	rows := enginetest.Records(t, 900, 17)
	for i := range rows {
		rows[i].TsMs = enginetest.Start.UnixMilli() + int64(i)*7_200_000/int64(len(rows))
		rows[i].Source, rows[i].Line = "s", int64(i)
		if rows[i].Branch = nil; i%4 > 0 {
			rows[i].Branch = &[]string{"prod", "staging", ""}[i%4-1]
		}
	}
	compared := 0
	for _, object := range stored(t, rows) {
		lists := listsIn(t, object)
		if lists.Bytes != object.Bytes || len(lists.Branches) != 4 || lists.Cut {
			t.Fatalf("%d bytes instead of %d, %d branches, cut %t",
				lists.Bytes, object.Bytes, len(lists.Branches), lists.Cut)
		}
		for _, d := range completionindex.Dimensions() {
			for _, branch := range []*string{nil, rows[1].Branch, rows[2].Branch, rows[3].Branch} {
				same := func(name *string) bool {
					return name == branch || name != nil && branch != nil && *name == *branch
				}
				var in []lake.Row
				for _, r := range rows {
					if lake.PartitionOf(r.TsMs) == object.Partition && same(r.Branch) {
						in = append(in, r)
					}
				}
				want, wantAll := commonest(in, d.Values)
				var got []string
				all := lists.Each(d.String(), same, func(value string) { got = append(got, value) })
				if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || all != wantAll {
					t.Errorf("%s: all %t (-rows +lists):\n%s", d, all, diff)
				}
				compared += len(got)
			}
		}
	}
	if compared < 1000 {
		t.Errorf("only %d values were compared", compared)
	}
}

// TestValueListsOfManyRowGroups: the values of all row groups of an object are counted together.
func TestValueListsOfManyRowGroups(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes an object of two row groups")
	}
	const n = 130_000
	rows := make([]lake.Row, n)
	for i := range rows {
		country, host := fmt.Sprint(i%7), fmt.Sprint("late", i/(n-3))
		rows[i] = lake.Row{
			TsMs: enginetest.Start.UnixMilli(), Source: "s", Line: int64(i), Country: &country, Host: &host,
		}
		if i%2 == 0 {
			rows[i].Branch = &country
		}
	}
	lists := listsIn(t, stored(t, rows)[0])
	for _, c := range []struct {
		field string
		want  []string
	}{
		{"country", []string{"0", "1", "2", "3", "5", "4", "6"}},
		{"host", []string{"late0", "late1"}},
	} {
		var got []string
		without := func(branch *string) bool { return branch == nil }
		lists.Each(c.field, without, func(value string) { got = append(got, value) })
		if diff := gocmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.field, diff)
		}
	}
	if len(lists.Branches) != 8 || lists.Branches[0].Name != nil {
		t.Errorf("%d branches", len(lists.Branches))
	}
}

func TestValueListsOfEqualRowsAreEqual(t *testing.T) {
	rows := enginetest.Records(t, 300, 5)
	first, second := stored(t, slices.Clone(rows)), stored(t, slices.Clone(rows))
	for i := range first {
		a, err1 := scan.ValueLists(t.Context(), first[i].Path)
		b, err2 := scan.ValueLists(t.Context(), second[i].Path)
		if err := errors.Join(err1, err2); err != nil || !bytes.Equal(a, b) || len(a) > completionindex.MaxBytes {
			t.Errorf("object %d: %d and %d bytes, %v", i, len(a), len(b), err)
		}
	}
}

func TestValueListsFail(t *testing.T) {
	object := stored(t, enginetest.Records(t, 20, 5))[0]
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := scan.ValueLists(ctx, object.Path); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	var wrong *engine.ObjectError
	if _, err := scan.ValueLists(t.Context(), object.Path+"x"); !errors.As(err, &wrong) {
		t.Error(err)
	}
	overwriteDataPages(t, object.Path)
	if _, err := scan.ValueLists(t.Context(), object.Path); !errors.As(err, &wrong) {
		t.Error(err)
	}
}
