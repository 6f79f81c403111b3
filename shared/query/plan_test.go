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

func TestSpanOfAPage(t *testing.T) {
	from, to := int64(1767308400000), int64(1767315600000)
	early, late := query.Place{TsMs: from + 5}, query.Place{TsMs: to - 5}
	for _, c := range []struct {
		rule  string
		shape query.Logs
		want  query.Period
	}{
		{"the span ends at the place that records are older than", query.Logs{OlderThan: &late},
			query.Period{FromMs: from, ToMs: to - 5}},
		{"the span begins at the place that records are newer than", query.Logs{NewerThan: &early},
			query.Period{FromMs: from + 5, ToMs: to}},
		{"a place outside the period does not extend it", query.Logs{
			OlderThan: &query.Place{TsMs: to + 5}, NewerThan: &query.Place{TsMs: from - 5},
		}, query.Period{FromMs: from, ToMs: to}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if got := bindShape(t, midnight, c.shape).Span(); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestWindows(t *testing.T) {
	text := "timestamp between 2026-01-01 00:30 and 2026-01-11 02:15"
	q := bindShape(t, text, query.Logs{})
	windows := q.Windows()
	to := q.Period.ToMs
	for i, w := range windows {
		if w.ToMs != to || w.FromMs > w.ToMs {
			t.Errorf("window %d is %v, want its end at %d", i, w, to)
		}
		to = w.FromMs - 1
	}
	if to != q.Period.FromMs-1 {
		t.Errorf("the windows begin at %d, the period at %d", to+1, q.Period.FromMs)
	}
	const hour = 3_600_000
	if len(windows) != 5 || windows[0].ToMs-windows[0].FromMs != hour/4 || windows[1].ToMs-windows[1].FromMs != 4*hour-1 {
		t.Errorf("windows %v", windows)
	}
	for rule, q := range map[string]query.Query{
		"figures need the whole period": bindShape(t, text, query.Stats{}),
		"an empty span has one window":  bindShape(t, text, query.Logs{OlderThan: &query.Place{TsMs: 1}}),
	} {
		if windows := q.Windows(); len(windows) != 1 || windows[0] != q.Scope.Period {
			t.Errorf("%s, but the windows are %v", rule, windows)
		}
	}
}

func TestPlacesAreOrderedLikeRecords(t *testing.T) {
	var rows []*lake.Row
	for _, ms := range []int64{-1, 0, 1} {
		for _, nanos := range []int64{0, 999_999} {
			for _, source := range []string{"", "a", "b"} {
				rows = append(rows, &lake.Row{TsMs: ms, TsNanos: nanos, Source: source, Line: 1},
					&lake.Row{TsMs: ms, TsNanos: nanos, Source: source, Line: 2})
			}
		}
	}
	texts := map[string]bool{}
	for _, a := range rows {
		texts[query.PlaceOf(a).String()] = true
		for _, b := range rows {
			if got, want := query.PlaceOf(a).Compare(query.PlaceOf(b)), lake.Compare(a, b); got != want {
				t.Errorf("%s and %s compare as %d, their records as %d", query.PlaceOf(a), query.PlaceOf(b), got, want)
			}
		}
	}
	if len(texts) != len(rows) {
		t.Errorf("%d places have %d texts", len(rows), len(texts))
	}
}

func TestColumns(t *testing.T) {
	last := len(lake.ColumnNames) - 1
	wholeRecord := lake.ColumnNames[:last] // log_rest, the last column, is only read if the question names it
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
		{``, query.Logs{}, wholeRecord},
		{`, log_rest["a"]="b"`, query.Logs{}, lake.ColumnNames},
		{`, log_rest~"a"`, query.Logs{Fields: []string{"ip"}},
			[]string{"ts_ms", "ts_nanos", "source", "line", "ip", "extra", "log_rest"}},
		{``, query.Logs{Fields: []string{"log_rest"}}, []string{"ts_ms", "ts_nanos", "source", "line", "log_rest"}},
		{`, record_ref="AYCg1e3uZkkKks0Jp4_QIMFr-ioIN9aV4uou"`, query.Timeline{},
			[]string{"ts_ms", "source", "line", "ip", "session", "status", "bytes_sent", "blocked", "human",
				"challenge", "ichallenge", "upstream_status"}},
		{``, query.Logs{Fields: []string{"record_ref"}}, []string{"ts_ms", "ts_nanos", "source", "line"}},
		{``, query.Logs{Fields: []string{"ip"}, OlderThan: &query.Place{}},
			[]string{"ts_ms", "ts_nanos", "source", "line", "ip", "extra"}},
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
