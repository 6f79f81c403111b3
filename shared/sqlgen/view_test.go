package sqlgen

import (
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

func TestView(t *testing.T) {
	whole := map[string]int64{}
	for _, name := range lake.ColumnNames {
		whole[name] = 0
	}
	older := map[string]int64{}
	for name := range whole {
		if name != "log_rest" {
			older[name] = 0
		}
	}
	period := &query.Period{FromMs: 5, ToMs: 7}
	sql, err := View("traffic", []lake.Object{{Path: "/it's", ColumnBytes: whole}}, period)
	if err != nil || strings.Contains(sql, "UNION") || strings.Contains(sql, "record_ref") {
		t.Errorf("%v\n%s", err, sql)
	}
	for _, part := range []string{
		"CREATE OR REPLACE VIEW traffic AS\nSELECT\n  make_timestamp(ts_ms * 1000 + ts_nanos // 1000) AS timestamp,",
		"total_us / 1E+06 AS request_time", "svc_us AS svc_latency", "'/it''s'", "WHERE ts_ms BETWEEN 5 AND 7",
	} {
		if !strings.Contains(sql, part) {
			t.Errorf("the view does not have %q:\n%s", part, sql)
		}
	}
	mixed := []lake.Object{{Path: "/new", ColumnBytes: whole}, {Path: "/old", ColumnBytes: older}}
	sql, err = View("traffic", mixed, nil)
	if err != nil || !strings.Contains(sql, "UNION ALL") || strings.Contains(sql, "WHERE") {
		t.Errorf("%v\n%s", err, sql)
	}
	if !strings.Contains(sql, `CAST(NULL AS STRUCT(name VARCHAR, value VARCHAR)[]) AS log_rest`) {
		t.Errorf("an earlier object has no values of log_rest:\n%s", sql)
	}
	for _, name := range []string{"", "a b", `x"; DROP`, "Traffic"} {
		if _, err := View(name, nil, nil); err == nil {
			t.Errorf("the name %q was accepted", name)
		}
	}
}
