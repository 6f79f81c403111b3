package trino_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/trino/trinotest"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// TestDamagedObject damages an object in several ways and checks that the cluster's error is recognized.
func TestDamagedObject(t *testing.T) {
	tables := trinotest.Load(t, enginetest.Records(t, 400, 3), trinotest.NothingCompacted)
	objects, err := tables.Store.Objects(t.Context(), -1<<40, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	o := objects[len(objects)/2]
	whole, err := os.ReadFile(o.Path)
	if err != nil {
		t.Fatal(err)
	}
	changed := func(at int) []byte { return append(append(slices.Clone(whole[:at]), "XXXXXXXX"...), whole[at+8:]...) }
	text := func(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.DateTime) }
	period := fmt.Sprintf("timestamp between %s and %s", text(o.MinTsMs), text(o.MaxTsMs+1000))
	for _, damage := range []struct {
		name    string
		content []byte
		named   bool // the cluster names the object
	}{
		{"not Parquet", []byte("this is not a Parquet file at all"), true},
		{"shorter than a footer", []byte("PAR1"), true},
		{"cut", whole[:len(whole)/2], true},
		{"without its beginning", whole[len(whole)/3:], true},
		{"with a changed footer", changed(len(whole) - 300), true},
		{"with a changed page header", changed(4), false},
	} {
		t.Run(damage.name, func(t *testing.T) {
			if err := os.WriteFile(o.Path, damage.content, 0o600); err != nil {
				t.Fatal(err)
			}
			_, _, err := tables.Engine().Run(t.Context(), bind(t, period, query.TopX{Limit: 5}))
			var e *engine.DamageError
			if fault.KindOf(err) != fault.Damaged || !errors.As(err, &e) {
				t.Fatal(err)
			}
			if want := lake.NameOf(o.Path); damage.named && e.Object != want || e.From != o.Partition || e.To != o.Partition {
				t.Errorf("%+v, want %s", e, want)
			}
		})
	}
}
