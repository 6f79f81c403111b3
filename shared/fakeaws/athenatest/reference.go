// Package athenatest has a backend for the emulator of Athena that answers with the reference evaluation, for tests.
package athenatest

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/orrery/orrery/shared/fakeaws/emulator"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/sqlgen"
	"github.com/orrery/orrery/shared/testkit/reference"
)

// Reference is a backend that does not execute SQL. It recognizes the statements of registered queries and answers the
// queries with the reference evaluation. Other statements are syntax errors.
type Reference struct {
	rows []*lake.Row

	mu    sync.Mutex
	known map[string]query.Query // the registered queries by statement
}

var _ emulator.Backend = (*Reference)(nil)

// NewReference returns a backend over rows, which may be in any order.
func NewReference(rows []lake.Row) *Reference {
	r := &Reference{known: map[string]query.Query{}}
	for i := range rows {
		r.rows = append(r.rows, &rows[i])
	}
	return r
}

// Register registers a query: for logs each window, and for topx also its parts. The query must have the scope and
// watermark with which the engine prints it. Register ignores a query that cannot be printed, because the engine
// refuses it.
func (r *Reference) Register(q query.Query) {
	for _, window := range q.Windows() {
		part := q
		part.Scope.Period = window
		r.add(part)
	}
	if topx, ok := q.Shape.(query.TopX); ok {
		for _, part := range query.TopXParts {
			topx.Labels = part.Labels
			q.Shape = topx
			r.add(q)
		}
	}
}

func (r *Reference) add(q query.Query) {
	script, err := sqlgen.Athena(q)
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known[script.Statements[0].SQL] = q
}

// Run answers the statement of a registered query. It ignores comment lines before the statement.
func (r *Reference) Run(ctx context.Context, s emulator.Statement, scanned func(int64)) (emulator.Result, error) {
	sql := s.SQL
	for strings.HasPrefix(sql, "--") {
		_, sql, _ = strings.Cut(sql, "\n")
	}
	r.mu.Lock()
	q, known := r.known[sql]
	r.mu.Unlock()
	if !known {
		return emulator.Result{}, &emulator.Failure{
			Category: 2, Type: 1006, Reason: "SYNTAX_ERROR: the statement is not registered with the reference backend",
		}
	}
	scanned(int64(len(r.rows)) * 100)
	if err := ctx.Err(); err != nil {
		return emulator.Result{}, err
	}
	return resultOf(q, reference.Evaluate(&q, r.rows)), nil
}

// resultOf returns an answer as the rows that the statement of its query returns.
func resultOf(q query.Query, a query.Answer) emulator.Result {
	switch shape := q.Shape.(type) {
	case query.Logs:
		return logsResult(shape, a.Logs)
	case query.Stats:
		return statsResult(shape, a.Stats)
	case query.Timeline:
		t := newResult("segment requests blocked challenges human origin_blocked ips sessions " +
			"bytes_sent statuses origin_statuses")
		for _, r := range a.Timeline {
			t.add(r.Segment, r.Requests, r.Blocked, r.Challenges, r.Human, r.OriginBlocked, r.IPs, r.Sessions,
				r.BytesSent, counts(r.Statuses), counts(r.OriginStatuses))
		}
		return t.Result
	case query.TopX:
		t := newResult("label key requests blocked bots challenges human monitored bytes_sent request_length " +
			"origin_count origin_sum origin_min origin_max svc_count svc_sum svc_min svc_max " +
			"total_count total_sum total_min total_max first_asn first_country first_organization" +
			percentileColumns(shape.Percentiles))
		for _, r := range a.TopX {
			t.add(withPercentiles(shape.Percentiles, r.Percentiles, r.Label, r.Key, r.Requests, r.Blocked, r.Bots,
				r.Challenges, r.Human, r.Monitored,
				r.BytesSent, r.RequestLength,
				r.Origin.Count, r.Origin.Sum, r.Origin.Min, r.Origin.Max, r.Svc.Count, r.Svc.Sum, r.Svc.Min, r.Svc.Max,
				r.Total.Count, r.Total.Sum, r.Total.Min, r.Total.Max,
				r.FirstASN, r.FirstCountry, r.FirstOrganization)...)
		}
		return t.Result
	case query.Facets:
		return facetsResult(a.Facets)
	case query.Histogram:
		return histogramResult(shape, a.Histogram)
	case query.Diff:
		return diffResult(a.Diff)
	case query.Counts:
		return countsResult(shape, a.Counts)
	case query.Sequences:
		return sequencesResult(shape, a.Sequences)
	}
	panic(fmt.Sprintf("athenatest: no result for %T", q.Shape))
}

func countsResult(shape query.Counts, rows []query.CountsRow) emulator.Result {
	columns := "segment value n"
	for i := range shape.Of {
		columns += fmt.Sprintf(" n_%d", i+1)
	}
	t := newResult(columns)
	for _, r := range rows {
		cells := []any{r.Segment, any(nil)}
		if r.HasValue {
			cells[1] = r.Value
		}
		for _, n := range r.N {
			cells = append(cells, n)
		}
		t.add(cells...)
	}
	return t.Result
}

func sequencesResult(shape query.Sequences, a query.SequencesAnswer) emulator.Result {
	columns := "ts_ms ts_nanos selected"
	for i := range shape.Key {
		columns += fmt.Sprintf(" key_%d", i+1)
	}
	for i := range len(shape.With) + len(shape.Also) {
		columns += fmt.Sprintf(" with_%d", i+1)
	}
	t := newResult(columns)
	for _, s := range a.Sequences {
		for _, r := range s.Requests {
			cells := []any{r.TsNs / 1_000_000, r.TsNs % 1_000_000, int64(r.Selected)}
			for _, part := range s.Key {
				cells = append(cells, part)
			}
			for i := range shape.With {
				if r.With[i] < 0 {
					cells = append(cells, nil)
				} else {
					cells = append(cells, a.Values[r.With[i]])
				}
			}
			for i := range shape.Also {
				if r.Also[i] < 0 {
					cells = append(cells, nil)
				} else {
					cells = append(cells, string(a.Texts.At(r.Also[i])))
				}
			}
			t.add(cells...)
		}
	}
	return t.Result
}

func histogramResult(shape query.Histogram, all []query.Series) emulator.Result {
	t := newResult("series value total distinct_values segment n")
	distinct := query.DistinctValues(all)
	for i, s := range all {
		number, value := i+1, any(nil)
		switch s.Kind {
		case query.SeriesAll:
			number = 0
		case query.SeriesValue:
			value = s.Value
		case query.SeriesOther:
			number = shape.Limit + 1
		case query.SeriesAbsent:
			number = shape.Limit + 2
		}
		for _, p := range s.Points {
			t.add(int64(number), value, s.Total, distinct, p.Segment, p.N)
		}
	}
	return t.Result
}

func diffResult(a query.DiffAnswer) emulator.Result {
	t := newResult("dimension kind value distinct_values selected baseline")
	add := func(dimension int, kind query.DiffKind, value any, distinct int64, n query.Sides) {
		t.add(int64(dimension), int64(kind), value, distinct, n.Selected, n.Baseline)
	}
	if a.Requests == (query.Sides{}) {
		return t.Result
	}
	add(0, query.DiffAbsent, nil, 1, a.Requests)
	for i, term := range a.Terms {
		for _, v := range term.Values {
			add(i+1, query.DiffFrequent, v.Value, 1, v.Sides)
		}
		if others := term.Distinct - int64(len(term.Values)); others > 0 {
			add(i+1, query.DiffOthers, nil, others, query.Sides{})
		}
		absent := query.Sides{
			Selected: a.Requests.Selected - term.Requests.Selected,
			Baseline: a.Requests.Baseline - term.Requests.Baseline,
		}
		if absent != (query.Sides{}) {
			add(i+1, query.DiffAbsent, nil, 1, absent)
		}
	}
	return t.Result
}

func facetsResult(a query.FacetsAnswer) emulator.Result {
	t := newResult("dimension value requests blocked challenges monitored human " +
		"distinct_values sum_requests sum_blocked")
	add := func(dimension int, value any, v query.Flagged, f query.Facet) {
		t.add(int64(dimension), value, v.Requests, v.Blocked, v.Challenges, v.Monitored, v.Human,
			f.Distinct, f.Sum, f.SumBlocked)
	}
	if a.Requests == 0 {
		return t.Result
	}
	all := query.Flagged{Requests: a.Requests}
	add(0, nil, all, query.Facet{Distinct: 1, Sum: a.Requests})
	for i, f := range a.Facets {
		for _, v := range f.Values {
			add(i+1, v.Value, v.Flagged, f)
		}
		if absent := a.Requests - f.Requests; absent > 0 {
			add(i+1, nil, query.Flagged{Requests: absent}, query.Facet{Distinct: 1, Sum: absent})
		}
	}
	return t.Result
}

// table is a result to which rows are added.
type table struct{ emulator.Result }

func newResult(columns string) *table {
	t := &table{}
	for _, name := range strings.Fields(columns) {
		t.Columns = append(t.Columns, emulator.Column{Name: name, Type: "varchar"})
	}
	return t
}

func (t *table) add(values ...any) {
	row := make([]*string, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case string:
			row[i] = &v
		case int64:
			text := strconv.FormatInt(v, 10)
			row[i] = &text
		case nil:
		default:
			panic(fmt.Sprintf("athenatest: no text for %T", v))
		}
	}
	t.Rows = append(t.Rows, row)
}

// counts returns the counts by status as a JSON object, or nil, which is NULL, if there are none.
func counts(list []query.StatusCount) any {
	if len(list) == 0 {
		return nil
	}
	m := make(map[int64]int64, len(list))
	for _, c := range list {
		m[c.Status] = c.Count
	}
	return printJSON(m)
}

func logsResult(shape query.Logs, found []*lake.Row) emulator.Result {
	t := newResult("ts_ms ts_nanos source line record")
	for _, r := range found {
		members := map[string]any{}
		all := reflect.ValueOf(r).Elem()
		for _, name := range shape.RecordColumns() {
			members[name] = valueOf(all.Field(fieldOf(all.Type(), name)))
		}
		t.add(r.TsMs, r.TsNanos, r.Source, r.Line, printJSON(members))
	}
	return t.Result
}

func printJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic("athenatest: encode a record: " + err.Error())
	}
	return string(text)
}

func columnOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("parquet"), ",")
	return name
}

func fieldOf(t reflect.Type, column string) int {
	for i := range t.NumField() {
		if columnOf(t.Field(i)) == column {
			return i
		}
	}
	panic("athenatest: no column " + column)
}

// valueOf returns a value of a row for JSON. Structs become objects whose members have the names of the columns.
func valueOf(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return valueOf(v.Elem())
	case reflect.Slice:
		if v.IsNil() {
			return nil
		}
		list := make([]any, v.Len())
		for i := range list {
			list[i] = valueOf(v.Index(i))
		}
		return list
	case reflect.Struct:
		members := map[string]any{}
		for i := range v.NumField() {
			members[columnOf(v.Type().Field(i))] = valueOf(v.Field(i))
		}
		return members
	}
	return v.Interface()
}
