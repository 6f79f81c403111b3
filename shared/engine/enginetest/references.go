package enginetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/testkit/reference"
)

// testReferences finds records by their references, although many records have the same time.
func testReferences(t *testing.T, open func(rows []lake.Row) engine.Engine) {
	rows := Records(t, 240, 37)
	for i := range rows {
		rows[i].TsMs = Start.Add(time.Duration(i%7) * 47 * time.Minute).UnixMilli()
		rows[i].TsNanos = int64(i % 2)
	}
	checkReferences(t, open(rows), rows)
}

// referenceSamples is the number of records that are looked for, fewReferenceSamples that with -short or -suite.every.
const (
	referenceSamples    = 6
	fewReferenceSamples = 2
)

// checkReferences checks that no two rows have the same reference, and that an engine over the rows finds some of them
// by their references, without a period.
func checkReferences(t *testing.T, e engine.Engine, rows []lake.Row) {
	t.Helper()
	all := pointers(rows)
	owners := map[lake.Ref]string{}
	for _, r := range all {
		place := query.PlaceOf(r).String()
		if other, taken := owners[lake.RefOf(r)]; taken {
			t.Errorf("the records at %s and %s have the same reference", other, place)
		}
		owners[lake.RefOf(r)] = place
	}
	find := func(text string, shape query.Shape) []*lake.Row {
		t.Helper()
		q := bind(t, text, shape)
		check(t, e, q, all)
		return reference.Evaluate(&q, all).Logs
	}
	samples := referenceSamples
	if few() {
		samples = fewReferenceSamples
	}
	every, written := periodOf(all), []string{}
	for i := 0; i < len(rows); i += max(1, len(rows)/samples) {
		ref := fmt.Sprintf("%q", lake.RefOf(all[i]))
		found := find("record_ref="+ref, query.Logs{Limit: 5})
		if len(found) != 1 || found[0] != all[i] {
			t.Errorf("%s of %s finds %d records", ref, query.PlaceOf(all[i]), len(found))
		}
		written = append(written, ref)
	}
	several := strings.Join(written, ", ")
	if found := find("record_ref in ("+several+")", query.Logs{Limit: len(rows)}); len(found) != len(written) {
		t.Errorf("%d references find %d records", len(written), len(found))
	}
	found := find("not record_ref in ("+several+"), "+every, query.Logs{Limit: len(rows)})
	if len(found) != len(rows)-len(written) {
		t.Errorf("%d of %d records do not have one of %d references", len(found), len(rows), len(written))
	}
	find("record_ref in ("+several+")", query.Timeline{SegmentSeconds: 86_400})
	none := []string{
		fmt.Sprintf("record_ref=%q", lake.RefTo(all[0].TsMs, all[0].Source, -7)),
		"record_ref=" + written[0] + ", record_ref=" + written[len(written)-1],
		"record_ref=" + written[0] + ", timestamp between 1999-01-01 and 1999-01-02",
	}
	for _, text := range none {
		if found := find(text, query.Logs{Limit: 5}); len(found) > 0 && len(written) > 1 {
			t.Errorf("%s finds %d records", text, len(found))
		}
	}
}

// periodOf returns the condition on the period of rows.
func periodOf(rows []*lake.Row) string {
	from, to := rows[0].TsMs, rows[0].TsMs
	for _, r := range rows {
		from, to = min(from, r.TsMs), max(to, r.TsMs)
	}
	return "timestamp between " + instant(time.UnixMilli(from)) + " and " + instant(time.UnixMilli(to))
}
