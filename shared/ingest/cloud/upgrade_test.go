package cloud_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/gzipped"
	"github.com/orrery/orrery/shared/lakestate"
)

// newOldWorld returns a world with the ledger in testdata/ledger-by-content.json.gz. A version that identified logs by
// their content alone has written it, with the imports of the records 0 to 2, of 100 to 104 and then 100 to 108, and of
// 2000 to 2999 and then 2000 to 3009, one each second.
func newOldWorld(t *testing.T) *world {
	t.Helper()
	w := newWorldWith(t, "ledger-by-content.json.gz")
	w.format = "orrery"
	return w
}

// newWorldWith returns a world with a ledger in testdata.
func newWorldWith(t *testing.T, name string) *world {
	t.Helper()
	w := newWorld(t)
	w.restore(name)
	return w
}

// restore writes the items of a ledger in testdata.
func (w *world) restore(name string) {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err == nil {
		text, err = gzipped.Text(text)
	}
	var items []struct {
		Partition, Sort string
		Body            json.RawMessage
	}
	if err == nil {
		err = json.Unmarshal(text, &items)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	for _, item := range items {
		change := lakestate.Change{Key: lakestate.Key{Partition: item.Partition, Sort: item.Sort}, Body: item.Body}
		if err := w.table.Write(w.t.Context(), change); err != nil {
			w.t.Fatal(err)
		}
	}
}

// oldRecords returns records as that version imported them, whose format would not be detected.
func oldRecords(from, to int, every time.Duration) string {
	return strings.ReplaceAll(records(from, to, every), `"processing_stage":6,`, "")
}

func TestImportAfterUpgrade(t *testing.T) {
	imported := [][2]int{{0, 3}, {0, 2}, {100, 105}, {100, 109}, {2000, 3000}, {2000, 3010}, {2000, 2009}}
	t.Run("a log that was imported before is known under any key", func(t *testing.T) {
		w := newOldWorld(t)
		for _, key := range []string{"raw/web1/access.log", "raw/web2/access.log.1"} {
			for _, part := range imported {
				r := w.importLog(key, oldRecords(part[0], part[1], time.Second))
				if r.Records != 0 || r.Known != int64(part[1]-part[0]) {
					t.Errorf("%s: %+v", key, r)
				}
			}
		}
		w.expect(map[string]int{})
	})
	t.Run("a grown log continues its source", func(t *testing.T) {
		w := newOldWorld(t)
		want := map[string]int{}
		for _, part := range [][2]int{{0, 3}, {100, 109}, {2000, 3010}} {
			before := w.importLog("raw/web1/access.log", oldRecords(part[0], part[1], time.Second))
			for n := 1; n < 3; n++ {
				r := w.importLog("raw/web1/access.log", oldRecords(part[0], part[1]+n, time.Second))
				if r.Records != 1 || r.Source != before.Source {
					t.Errorf("%+v, want source %s", r, before.Source)
				}
				want[fmt.Sprintf("r%d", part[1]+n-1)] = 1
			}
		}
		for _, part := range imported {
			if r := w.importLog("raw/web2/access.log", oldRecords(part[0], part[1], time.Second)); r.Records != 0 {
				t.Errorf("what was imported before is not known any more: %+v", r)
			}
		}
		w.expect(want)
	})
	t.Run("a log with another name than the one that continued a source is another log", func(t *testing.T) {
		w := newOldWorld(t)
		w.importLog("raw/web1/access.log", oldRecords(0, 4, time.Second))
		for range 2 {
			w.importLog("raw/web2/access.log", oldRecords(0, 4, time.Second))
			w.importLog("raw/web3/access.log", oldRecords(0, 3, time.Second)+oldRecords(500, 501, time.Second))
		}
		w.expect(map[string]int{"r0": 2, "r1": 2, "r2": 2, "r3": 2, "r500": 1})
	})
}
