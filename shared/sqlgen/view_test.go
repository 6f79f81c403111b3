package sqlgen

import (
	"errors"
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
	if _, err := TrinoView("traffic", "s3://b/lake/", nil, nil); err == nil {
		t.Error("a view of no objects was written")
	}
	fresh, merged := lake.Object{Path: "/data/lake/fresh/2026/01/01/10/a-0.parquet"}, lake.Object{}
	fresh.Partition = 491000
	merged.Path, merged.Partition = "/data/lake/compact/2026/01/01/11/ab.parquet", 491001
	sql, err = TrinoView("traffic", "s3://b/lake", []lake.Object{fresh, merged}, period)
	for _, part := range []string{
		"FROM traffic_fresh\n", "FROM traffic_compact\n", "'s3://b/lake/fresh/2026/01/01/10/a-0.parquet'",
		"'s3://b/lake/compact/2026/01/01/11/ab.parquet'", "AND ts_ms BETWEEN 5 AND 7",
		"datehour BETWEEN '" + fresh.Partition.String() + "' AND '" + fresh.Partition.String() + "'",
	} {
		if err != nil || !strings.Contains(sql, part) {
			t.Errorf("%v, the view does not have %q:\n%s", err, part, sql)
		}
	}
	many := make([]lake.Object, 20_000)
	for i := range many {
		many[i] = fresh
	}
	var tooLong *LimitError
	if _, err := TrinoView("traffic", "s3://b/lake", many, nil); !errors.As(err, &tooLong) {
		t.Errorf("a view of too many objects: %v", err)
	}
}
