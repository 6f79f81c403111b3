package local_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/ingest/datadir"
)

// TestLate follows a log as a client does, with the meta.head of the answer before, while logs are imported and
// compacted. Every answer counts the records that arrived late since the answer before. A table has the number in a
// header.
func TestLate(t *testing.T) {
	product := openProduct(t, t.TempDir())
	imports := 0
	put := func(times ...string) {
		t.Helper()
		imports++
		var log strings.Builder
		for i, at := range times {
			fmt.Fprintf(&log, `{"processing_stage":6,"timestamp":"2026-01-01T%sZ","status":%d,"ip":"192.0.2.%d"}`+"\n",
				at, 200+i, imports)
		}
		importLog(t, product, fmt.Sprintf("%d.log", imports), log.String())
	}
	head := ""
	ask := func(filter string) (late string, records string) {
		t.Helper()
		parameters := "&limit=1"
		if head != "" {
			parameters += "&since=" + head
		}
		w := askedData(t, product, "logs", testDay+filter, parameters)
		if w.Code != http.StatusOK {
			t.Fatal(w.Body)
		}
		m := metaOf(t, w.Body.Bytes())
		header := strings.Replace(string(m["late"]), "null", "unknown", 1)
		table := askedData(t, product, "logs", testDay+filter, parameters+"&format=csv")
		if got := table.Header().Get("X-Orrery-Late"); got != header {
			t.Errorf("as CSV: X-Orrery-Late is %q, want %q", got, header)
		}
		head = strings.Trim(string(m["head"]), `"`)
		return string(m["late"]), w.Body.String()
	}
	put("10:00:00", "10:30:00", "10:30:01")
	put("10:00:01", "10:30:02")
	for _, step := range []struct {
		rule   string
		before func()
		filter string
		late   string
	}{
		{"without since there are no late records", func() {}, "", ""},
		{"nothing has arrived", func() {}, "", "0"},
		{"only newer records have arrived", func() { put("10:30:03", "10:31:00") }, "", "0"},
		{"records of earlier hours and of this one have arrived", func() {
			put("08:00:00", "10:30:59.999", "10:31:00.001")
			put("10:29:00")
		}, "", "3"},
		{"they are counted once", func() {}, "", "0"},
		{"those that do not match are not counted", func() { put("08:00:00", "08:00:01") }, ", status=201", "1"},
		{"a compaction merges only records that the answer before has seen", func() { compact(t, product) }, ", status=201", "0"},
		{"a compaction merges them with later ones", func() {
			put("10:00:05")
			compact(t, product)
		}, ", status=201", "null"},
		{"the next answer counts again", func() { put("10:00:06", "10:00:07") }, ", status=201", "1"},
	} {
		t.Run(step.rule, func(t *testing.T) {
			step.before()
			if late, body := ask(step.filter); late != step.late {
				t.Errorf("late is %q, want %q, in %.300s", late, step.late, body)
			}
		})
	}
}

func compact(t *testing.T, product *local.Product) {
	t.Helper()
	if _, err := product.Store.Compact(t.Context(), datadir.CompactOptions{}); err != nil {
		t.Fatal(err)
	}
}
