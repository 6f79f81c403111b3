package local_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/local"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
)

// TestPatternsAreLimitedByTheirWork: fifty patterns of a thousand repeats kept both cores busy for minutes over 60,000
// records. Every way to answer refuses them, and none refuses them for few records, or a long list of words.
func TestPatternsAreLimitedByTheirWork(t *testing.T) {
	store := enginetest.NewStore(t, enginetest.Records(t, 1_500, 5))
	var large, words strings.Builder
	for i := range 50 {
		fmt.Fprintf(&large, `, user_agent!~"(a?){1000}%d"`, i)
		fmt.Fprintf(&words, `, user_agent!~"bot%d|crawler%d|spider%d"`, i, i, i)
	}
	figures, logs := query.Stats{SegmentSeconds: 3600}, query.Logs{Limit: 3}
	sql := open(t, store)
	sql.OnlySQL()
	for name, e := range map[string]*local.Engine{"scan": openWithout(t, store), "both": open(t, store), "DuckDB": sql} {
		for _, c := range []struct {
			filter  string
			shape   query.Shape
			refused bool
		}{
			{hours + large.String(), figures, true},
			{hours + large.String(), logs, true},
			{hours + strings.ReplaceAll(large.String(), "user_agent", `headers["user-agent"]`), figures, true},
			{hours, query.Diff{Select: querytest.Selection(strings.TrimPrefix(large.String(), ", "))}, true},
			{hours + `, request_id="none"` + large.String(), figures, false},
			{hours + words.String(), figures, false},
		} {
			q := bind(t, c.filter, c.shape)
			_, _, err := e.Run(t.Context(), q)
			if refused := fault.KindOf(err) == fault.RegexRefused; refused != c.refused || err != nil && !refused {
				t.Errorf("%s, %T of %.90s: %v", name, c.shape, c.filter, err)
			}
		}
		err := e.Export(t.Context(), bind(t, hours+large.String(), logs), func(engine.ExportPart) error { return nil })
		if fault.KindOf(err) != fault.RegexRefused {
			t.Errorf("%s, an export: %v", name, err)
		}
	}
}
