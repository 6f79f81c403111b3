package local

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/search"
)

// TestPagesDuringCompaction reads all pages of logs while hours are compacted and replaced objects removed between the
// pages. Filters of both ways to find records are used: the scan and DuckDB, if there is one.
func TestPagesDuringCompaction(t *testing.T) {
	conditions := []string{`, request_id~"[13579]$"`, "", ", status<202", `, not request_id="r7"`}
	if testing.Short() {
		conditions = conditions[:2]
	}
	for _, condition := range conditions {
		t.Run("with the condition "+condition, func(t *testing.T) {
			p, err := Open(t.Context(), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := p.Close(); err != nil {
					t.Error(err)
				}
			}()
			random := rand.New(rand.NewPCG(5, 0))
			log := &strings.Builder{}
			written := 0
			grow := func() {
				for range 120 {
					at := time.Date(2026, 1, 1, 10, 20*random.IntN(9), random.IntN(3), 0, time.UTC)
					fmt.Fprintf(log, `{"processing_stage":6,"timestamp":"%s","request_id":"r%d","status":%d}`+"\n",
						at.Format(time.RFC3339), written, 200+random.IntN(3))
					written++
				}
				if _, err := p.Store.Import(t.Context(), "a.log", strings.NewReader(log.String()), ingest.Options{}); err != nil {
					t.Fatal(err)
				}
			}
			for range 5 {
				grow()
			}
			merged := 0
			compact := func() {
				report, err := p.Store.Compact(t.Context(), datadir.CompactOptions{Grace: time.Nanosecond})
				if err != nil {
					t.Fatal(err)
				}
				merged += report.Hours
			}
			r := search.Request{
				Route: search.Logs, Limit: "2500", Fields: "request_id",
				Filters: "timestamp between 2026-01-01 and 2026-01-02" + condition,
			}
			ids := func() (list []string) {
				t.Helper()
				page, err := p.Search.Search(t.Context(), r)
				if err != nil {
					t.Fatal(err)
				}
				for i := range page.Logs.Len() {
					list = append(list, string(page.Logs.AppendJSON(nil, i)))
				}
				r.Cursor = ""
				if next := *page.Meta.Next; next != nil {
					r.Cursor = *next
				}
				return list
			}
			pages := func(between func()) (list []string) {
				t.Helper()
				for first := true; first || r.Cursor != ""; first = false {
					r.Limit = strconv.Itoa(20 + random.IntN(120))
					list = append(list, ids()...)
					between()
				}
				return list
			}
			want := ids()
			if diff := cmp.Diff(want, pages(compact)); diff != "" || merged == 0 {
				t.Fatalf("%d hours were compacted; all pages (-whole +pages):\n%s", merged, diff)
			}
			grow()
			r.Limit = "2500"
			want = ids()
			var exported []string
			after := ""
			err = p.Export(t.Context(), r, func(part search.Result) error {
				for i := range part.Logs.Len() {
					exported = append(exported, string(part.Logs.AppendJSON(nil, i)))
				}
				if next := *part.Meta.Next; next != nil && after == "" {
					after = *next
					compact()
				}
				return nil
			})
			if diff := cmp.Diff(want, exported); diff != "" || err != nil || after == "" {
				t.Fatalf("the export, %v (-whole +export):\n%s", err, diff)
			}
			r.Cursor = after
			if rest := ids(); len(rest) == 0 || !slices.Equal(rest, want[len(want)-len(rest):]) {
				t.Errorf("%d records after the first part of an export, want the last ones", len(rest))
			}
			seen := map[string]int{}
			for _, id := range pages(func() { grow(); compact() }) {
				seen[id]++
			}
			for _, id := range want {
				if seen[id] == 0 {
					t.Errorf("record %s of the first page's data is missing", id)
				}
			}
			for id, n := range seen {
				if n > 1 {
					t.Errorf("record %s comes %d times", id, n)
				}
			}
		})
	}
}
