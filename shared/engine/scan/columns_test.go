package scan_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/testkit/testlevel"
)

// TestReadsTouchedColumns: a query reads exactly the columns that Query.Columns lists, from which its bytes and its
// price are calculated. Damage to other columns makes no difference; damage to its own does.
func TestReadsTouchedColumns(t *testing.T) {
	rows := enginetest.Records(t, 200, 43)
	objects := stored(t, rows)
	asked := slices.Clone(shapes)
	for _, by := range []string{"status", "country", "tags", "reason", `headers["host"]`} {
		dimension := querytest.Dimensions(by)
		asked = append(asked, query.Facets{Limit: 3, By: dimension})
		for _, measure := range query.Measures {
			asked = append(asked, query.Histogram{SegmentSeconds: 60, Measure: measure, Limit: 3, By: &dimension[0]})
		}
	}
	for i, shape := range asked {
		if i%testlevel.Of(9, 3, 1) > 0 {
			continue
		}
		q := bind(t, hours+`, method!="TRACE"`, shape)
		t.Run(fmt.Sprint(q.Shape), func(t *testing.T) {
			touched := q.Columns()
			others := damaged(t, objects, func(column string) bool { return !slices.Contains(touched, column) })
			if err := answer(t, q, rows, others, scan.Options{}); err != nil {
				t.Errorf("without the other columns: %v", err)
			}
			for _, own := range touched {
				without := damaged(t, objects, func(column string) bool { return column == own })
				_, _, err := scan.Answer(t.Context(), q, without, scan.Options{})
				var named *engine.ObjectError
				if !errors.As(err, &named) {
					t.Errorf("without column %s: error %v", own, err)
				}
			}
		})
	}
}

// damaged returns copies of objects in which all bytes of some columns are 0.
func damaged(t *testing.T, objects []lake.Object, some func(column string) bool) []lake.Object {
	t.Helper()
	dir := t.TempDir()
	copies := slices.Clone(objects)
	for i, o := range objects {
		content, err := os.ReadFile(o.Path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range file.Metadata().RowGroups {
			for _, column := range group.Columns {
				meta := &column.MetaData
				first := meta.DataPageOffset
				if meta.DictionaryPageOffset != 0 {
					first = meta.DictionaryPageOffset
				}
				if some(meta.PathInSchema[0]) {
					clear(content[first : first+meta.TotalCompressedSize])
				}
			}
		}
		copies[i].Path = filepath.Join(dir, fmt.Sprintf("%d.parquet", i))
		if err := os.WriteFile(copies[i].Path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return copies
}
