package query_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
)

const midnight = "timestamp between 2026-01-01 23:00 and 2026-01-02 01:00"

func bindShape(t *testing.T, text string, shape query.Shape) query.Query {
	t.Helper()
	q, err := query.Bind(filter.Parse(text), shape)
	if err != nil {
		t.Fatal(querytest.Explain(err))
	}
	return q
}

func TestSpan(t *testing.T) {
	for text, want := range map[string]query.Period{
		midnight: {FromMs: 1767308400000, ToMs: 1767315600000},
		midnight + ", timestamp between 2026-01-01 and 2026-01-02":     {FromMs: 1767308400000, ToMs: 1767312000000},
		midnight + ", not timestamp between 2026-01-01 and 2026-01-02": {FromMs: 1767308400000, ToMs: 1767315600000},
		midnight + ", timestamp between 2025-01-01 and 2025-01-02":     {FromMs: 1767308400000, ToMs: 1735776000000},
	} {
		if got := bindShape(t, text, query.Stats{}).Span(); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestColumns(t *testing.T) {
	for _, c := range []struct {
		filter string
		shape  query.Shape
		want   []string
	}{
		{
			`, status=404, headers["a"]="b"`,
			query.Stats{},
			[]string{"ts_ms", "host", "hostname", "status", "bytes_sent", "request_length", "total_us", "headers"},
		},
		{
			`, security_config["cf_rules"]>0`,
			query.Logs{Fields: []string{"ip", "rl_triggers", "timestamp"}},
			[]string{"ts_ms", "ts_nanos", "ts_digits", "source", "line", "ip", "security_config", "details", "extra"},
		},
		{``, query.Logs{}, lake.ColumnNames},
	} {
		q := bindShape(t, midnight+c.filter, c.shape)
		if diff := cmp.Diff(c.want, q.Columns()); diff != "" {
			t.Errorf("%s %T (-want +got):\n%s", c.filter, c.shape, diff)
		}
	}
	q := bindShape(t, midnight+", ip=a", query.Logs{})
	if diff := cmp.Diff([]string{"ts_ms", "ts_nanos", "source", "line", "ip"}, q.FindingColumns()); diff != "" {
		t.Errorf("FindingColumns (-want +got):\n%s", diff)
	}
}
