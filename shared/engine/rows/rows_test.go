package rows_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/rows"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
)

var (
	statsColumns    = strings.Fields("segment hostname requests bandwidth time_us timed")
	timelineColumns = strings.Fields("segment requests blocked challenges human origin_blocked ips sessions " +
		"bytes_sent statuses origin_statuses")
	topXColumns = strings.Fields("label key requests blocked bots challenges human monitored " +
		"bytes_sent request_length origin_count origin_sum origin_min origin_max svc_count svc_sum svc_min svc_max " +
		"total_count total_sum total_min total_max first_asn first_country first_organization")
	facetsColumns = strings.Fields("dimension value requests blocked challenges monitored human " +
		"distinct_values sum_requests sum_blocked")
	histogramColumns = strings.Fields("series value total distinct_values segment n")
	diffColumns      = strings.Fields("dimension kind value distinct_values selected baseline")
	logsColumns      = strings.Fields("ts_ms ts_nanos source line record")
)

func TestAnswerStats(t *testing.T) {
	got, err := answer(query.Stats{SegmentSeconds: 60}, statsColumns,
		[]string{"1767308400", "a.example", "3", "-7", "9223372036854775807", "2"},
		[]string{"1767308460", "", "1", "0", "0", "0"})
	want := query.Answer{Stats: []query.StatsRow{
		{Segment: 1767308400, Hostname: "a.example", Requests: 3, Bandwidth: -7, TimeUs: 1<<63 - 1, Timed: 2},
		{Segment: 1767308460, Requests: 1},
	}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

// TestAnswerStatsByField checks that NULL is the absent value, and that percentiles are NULL without durations.
func TestAnswerStatsByField(t *testing.T) {
	shape := query.Stats{SegmentSeconds: 60, By: &querytest.Dimensions("country")[0], Percentiles: true}
	columns := strings.Fields("segment value requests bandwidth time_us timed origin_p50 origin_p90 origin_p99 " +
		"svc_p50 svc_p90 svc_p99 total_p50 total_p90 total_p99")
	got, err := answer(shape, columns,
		[]string{"60", "", "3", "7", "8", "2", null, null, null, "0", "0", "1", "2", "3", "4"},
		[]string{"60", null, "1", "0", "0", "0", null, null, null, null, null, null, null, null, null})
	want := query.Answer{Stats: []query.StatsRow{
		{
			Segment: 60, HasValue: true, Requests: 3, Bandwidth: 7, TimeUs: 8, Timed: 2,
			Percentiles: query.Percentiles{
				Svc: query.RanksAt([]int64{0, 0, 1}), Total: query.RanksAt([]int64{2, 3, 4}),
			},
		},
		{Segment: 60, Requests: 1},
	}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if _, err := answer(shape, columns[:14], make([]string, 14)); err == nil {
		t.Error("a result without a percentile is accepted")
	}
}

// TestAnswerTimeline: each status of a list of origin statuses counts, and lists with the same status add up.
func TestAnswerTimeline(t *testing.T) {
	got, err := answer(query.Timeline{SegmentSeconds: 60}, timelineColumns,
		[]string{
			"60", "9", "1", "2", "3", "4", "5", "6", "7",
			`{"404":1,"200":7,"-1":1}`,
			`{"":3,"502,200":2,"200":1,"502,502":4}`,
		},
		[]string{"120", "1", "0", "0", "0", "0", "0", "0", "0", null, null})
	want := query.Answer{Timeline: []query.TimelineRow{
		{
			Segment:       60,
			Requests:      9,
			Blocked:       1,
			Challenges:    2,
			Human:         3,
			OriginBlocked: 4,
			IPs:           5,
			Sessions:      6,
			BytesSent:     7,
			Statuses: []query.StatusCount{
				{Status: 200, Count: 7},
				{Status: -1, Count: 1},
				{Status: 404, Count: 1},
			},
			OriginStatuses: []query.StatusCount{{Status: 502, Count: 10}, {Status: 200, Count: 3}},
		},
		{Segment: 120, Requests: 1},
	}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestAnswerTopX(t *testing.T) {
	got, err := answer(query.TopX{Limit: 10}, topXColumns,
		strings.Split("url,/a,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,AS1,Ä,Z", ","))
	want := query.Answer{TopX: []query.TopXRow{{
		Label:             "url",
		Key:               "/a",
		Requests:          1,
		Blocked:           2,
		Bots:              3,
		Challenges:        4,
		Human:             5,
		Monitored:         6,
		BytesSent:         7,
		RequestLength:     8,
		Origin:            query.Times{Count: 9, Sum: 10, Min: 11, Max: 12},
		Svc:               query.Times{Count: 13, Sum: 14, Min: 15, Max: 16},
		Total:             query.Times{Count: 17, Sum: 18, Min: 19, Max: 20},
		FirstASN:          "AS1",
		FirstCountry:      "Ä",
		FirstOrganization: "Z",
	}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

// TestAnswerFacets checks that the row of dimension 0 counts all records, and that rows with the value NULL count the
// records without a value.
func TestAnswerFacets(t *testing.T) {
	shape := query.Facets{Limit: 2, By: querytest.Dimensions("country,tags,url")}
	got, err := answer(shape, facetsColumns,
		[]string{"0", null, "9", "1", "0", "0", "0", "1", "9", "1"},
		[]string{"1", "", "4", "1", "2", "3", "0", "3", "6", "2"},
		[]string{"1", "\u00c4", "1", "1", "0", "0", "1", "3", "6", "2"},
		[]string{"1", null, "3", "0", "0", "0", "0", "1", "3", "0"},
		[]string{"2", "a", "9", "1", "0", "0", "0", "1", "9", "1"},
		[]string{"3", null, "9", "1", "0", "0", "0", "1", "9", "1"})
	want := query.Answer{Facets: query.FacetsAnswer{Requests: 9, Facets: []query.Facet{
		{Requests: 6, Distinct: 3, Sum: 6, SumBlocked: 2, Values: []query.FacetValue{
			{Flagged: query.Flagged{Requests: 4, Blocked: 1, Challenges: 2, Monitored: 3}},
			{Value: "\u00c4", Flagged: query.Flagged{Requests: 1, Blocked: 1, Human: 1}},
		}},
		{Requests: 9, Distinct: 1, Sum: 9, SumBlocked: 1, Values: []query.FacetValue{
			{Value: "a", Flagged: query.Flagged{Requests: 9, Blocked: 1}},
		}},
		{},
	}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if got, err := answer(shape, facetsColumns); err != nil || !reflect.DeepEqual(got, query.Answer{}) {
		t.Errorf("no rows: %+v, %v", got, err)
	}
	wrong := []string{"4", "a", "1", "0", "0", "0", "0", "1", "1", "0"}
	total := []string{"0", null, "9", "1", "0", "0", "0", "1", "9", "1"}
	if _, err := answer(shape, facetsColumns, total, wrong); err == nil {
		t.Error("a dimension that the query does not have is no error")
	}
}

func TestAnswerDiff(t *testing.T) {
	shape := query.Diff{Least: 2, By: querytest.Dimensions("country,tags")}
	all := []string{"0", "2", null, "1", "3", "6"}
	got, err := answer(shape, diffColumns, all,
		[]string{"1", "0", "", "1", "2", "1"},
		[]string{"1", "1", null, "7", "1", "4"},
		[]string{"1", "2", null, "1", "0", "1"},
		[]string{"2", "2", null, "1", "3", "6"})
	want := query.Answer{Diff: query.DiffAnswer{Requests: query.Sides{Selected: 3, Baseline: 6}, Terms: []query.DiffTerm{
		{
			Requests: query.Sides{Selected: 3, Baseline: 5}, Distinct: 8,
			Values: []query.DiffValue{{Sides: query.Sides{Selected: 2, Baseline: 1}}},
		},
		{},
	}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if got, err := answer(shape, diffColumns); err != nil || !reflect.DeepEqual(got, query.Answer{}) {
		t.Errorf("no rows: %+v, %v", got, err)
	}
	for name, wrong := range map[string][]string{
		"a dimension that the query does not have": {"3", "0", "a", "1", "1", "1"},
		"a value that is NULL":                     {"1", "0", null, "1", "2", "1"},
	} {
		if _, err := answer(shape, diffColumns, all, wrong); err == nil {
			t.Errorf("%s is no error", name)
		}
	}
}

func TestAnswerHistogram(t *testing.T) {
	shape := query.Histogram{SegmentSeconds: 60, Limit: 1, By: &querytest.Dimensions("country")[0]}
	got, err := answer(shape, histogramColumns,
		[]string{"1", "a", "5", "4", "60", "2"},
		[]string{"1", "a", "5", "4", "120", "3"},
		[]string{"2", null, "-1", "4", "60", "-1"},
		[]string{"3", null, "0", "4", "180", "0"})
	want := query.Answer{Histogram: []query.Series{
		{
			Kind: query.SeriesValue, Value: "a", Total: 5,
			Points: []query.Point{{Segment: 60, N: 2}, {Segment: 120, N: 3}},
		},
		{Kind: query.SeriesOther, Total: -1, Points: []query.Point{{Segment: 60, N: -1}}, Distinct: 2},
		{Kind: query.SeriesAbsent, Points: []query.Point{{Segment: 180}}},
	}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	got, err = answer(query.Histogram{SegmentSeconds: 60}, histogramColumns, []string{"0", null, "7", "0", "0", "7"})
	want = query.Answer{Histogram: []query.Series{{Kind: query.SeriesAll, Total: 7, Points: []query.Point{{N: 7}}}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

// TestAnswerLogs: records of all kinds are read as they were stored. Absent and empty values stay different.
func TestAnswerLogs(t *testing.T) {
	stored := enginetest.Records(t, 600, 3)
	empty, nul := "", "\x00 \u2028 \U0001F600 \ufffd"
	stored = append(stored, lake.Row{
		TsMs: -1, Source: "s", Line: 1, RequestID: &empty, Path: &nul,
		Tags: []string{}, Headers: []lake.Pair{}, UpstreamStatus: []int64{}, UpstreamData: []lake.Upstream{{}},
		TriggerCounters: &lake.TriggerCounters{}, SecurityConfig: &lake.SecurityConfig{},
	})
	var cells [][]string
	for i := range stored {
		cells = append(cells, []string{"0", "0", "", "0", printed(t, &stored[i], lake.Columns)})
	}
	got, err := answer(query.Logs{Limit: len(stored)}, logsColumns, cells...)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Logs) != len(stored) {
		t.Fatalf("%d records of %d", len(got.Logs), len(stored))
	}
	for i := range stored {
		if !reflect.DeepEqual(*got.Logs[i], stored[i]) {
			t.Errorf("record %d (-stored +read):\n%s", i, cmp.Diff(stored[i], *got.Logs[i]))
		}
	}
}

// TestAnswerLogsOfFields: columns that the query does not ask for stay empty.
func TestAnswerLogsOfFields(t *testing.T) {
	got, err := answer(query.Logs{Limit: 1, Fields: []string{"ip"}}, []string{"RECORD"},
		[]string{`{"ts_ms":5,"ts_nanos":6,"source":"s","line":7,"ip":"192.0.2.1"}`})
	ip := "192.0.2.1"
	want := query.Answer{Logs: []*lake.Row{{TsMs: 5, TsNanos: 6, Source: "s", Line: 7, IP: &ip}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestAnswerLogsStopsAtTheMaximumOfMemory(t *testing.T) {
	const text = 1 << 20
	record := fmt.Sprintf(`{"ts_ms":1,"ts_nanos":1,"source":"s","line":1,"query":%q}`, strings.Repeat("x", text))
	for _, test := range []struct {
		name      string
		available int
		truncated bool
	}{
		{"all records fit", 30, false},
		{"more records than fit", 500, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			read := 0
			got, err := rows.Answer(query.Query{Shape: query.Logs{Limit: 2500}}, []string{"record"},
				func() ([]*string, error) {
					if read == test.available {
						return nil, io.EOF
					}
					read++
					return []*string{&record}, nil
				})
			if err != nil {
				t.Fatal(err)
			}
			var kept int64
			for _, row := range got.Logs {
				kept += row.Memory()
			}
			if kept > rows.MaxLogsMemory || got.Truncated != test.truncated {
				t.Errorf("%d bytes kept, truncated %t; want at most %d and %t",
					kept, got.Truncated, rows.MaxLogsMemory, test.truncated)
			}
			want := test.available
			if test.truncated {
				want = len(got.Logs) + 1 // one more than fits
			}
			if read != want || kept < rows.MaxLogsMemory/2 {
				t.Errorf("%d rows read and %d kept with %d bytes, want %d rows read", read, len(got.Logs), kept, want)
			}
		})
	}
	t.Run("the first record is always kept", func(t *testing.T) {
		huge := fmt.Sprintf(`{"ts_ms":1,"ts_nanos":1,"source":"s","line":1,"query":%q}`,
			strings.Repeat("x", rows.MaxLogsMemory+1))
		got, err := answer(query.Logs{Limit: 9}, []string{"record"}, []string{huge}, []string{record})
		if err != nil || len(got.Logs) != 1 || !got.Truncated {
			t.Errorf("%d records, truncated %t, %v", len(got.Logs), got.Truncated, err)
		}
	})
}

func TestAnswerWithoutRows(t *testing.T) {
	for _, shape := range []query.Shape{query.Logs{}, query.Stats{}, query.Timeline{}, query.TopX{}} {
		if got, err := answer(shape, nil); err != nil || !reflect.DeepEqual(got, query.Answer{}) {
			t.Errorf("%T: %+v, %v", shape, got, err)
		}
	}
}

// TestAnswerErrorsNameTheCell: an error names the row and the column, and what is wrong with the cell.
func TestAnswerErrorsNameTheCell(t *testing.T) {
	stats := func(cells ...string) (query.Answer, error) { return answer(query.Stats{}, statsColumns, cells) }
	logs := func(record string) (query.Answer, error) {
		return answer(query.Logs{}, []string{"record"}, []string{record})
	}
	timeline := func(statuses string) (query.Answer, error) {
		cells := []string{"0", "0", "0", "0", "0", "0", "0", "0", "0", statuses, null}
		return answer(query.Timeline{}, timelineColumns, cells)
	}
	for _, c := range []struct {
		want string
		ask  func() (query.Answer, error)
	}{
		{`result row 1: column requests: "3.5" is not an integer`, func() (query.Answer, error) {
			return stats("1", "h", "3.5", "1", "1", "1")
		}},
		{`result row 1: column bandwidth: "9223372036854775808" is not`, func() (query.Answer, error) {
			return stats("1", "h", "3", "9223372036854775808", "1", "1")
		}},
		{"result row 1: column hostname: it is NULL", func() (query.Answer, error) {
			return stats("1", null, "3", "1", "1", "1")
		}},
		{"result row 1 has 2 cells for 6 columns", func() (query.Answer, error) { return stats("1", "h") }},
		{"column timed: the result has no column of that name", func() (query.Answer, error) {
			return answer(query.Stats{}, statsColumns[:5], []string{"1", "h", "1", "1", "1"})
		}},
		{"two columns segment", func() (query.Answer, error) {
			return answer(query.Stats{}, []string{"segment", "SEGMENT"})
		}},
		{"column statuses: invalid character", func() (query.Answer, error) { return timeline("x") }},
		{"column statuses: json: cannot unmarshal", func() (query.Answer, error) {
			return timeline(`{"200":"1"}`)
		}},
		{`column statuses: "200;1" is not a list of statuses`, func() (query.Answer, error) {
			return timeline(`{"200;1":1}`)
		}},
		{"column record: it is NULL", func() (query.Answer, error) { return logs(null) }},
		{"column record: ts_nanos is missing", func() (query.Answer, error) { return logs(`{"ts_ms":1}`) }},
		{"column record: headers: unexpected string", func() (query.Answer, error) {
			return logs(`{"ts_ms":1,"ts_nanos":1,"source":"s","line":1,"headers":["x"]}`)
		}},
		{"column record: status: unexpected number 1.5", func() (query.Answer, error) {
			return logs(`{"status":1.5}`)
		}},
	} {
		if _, err := c.ask(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error is %v, want %s", err, c.want)
		}
	}
}

func TestAnswerReturnsErrorsOfReading(t *testing.T) {
	lost := errors.New("connection lost")
	next := func() ([]*string, error) { return nil, lost }
	if _, err := rows.Answer(query.Query{Shape: query.Stats{}}, statsColumns, next); !errors.Is(err, lost) {
		t.Errorf("error is %v", err)
	}
}

// FuzzAnswer: any result is an answer or an error, and never a panic.
func FuzzAnswer(f *testing.F) {
	f.Add("1", `{"200":1}`, `{"ts_ms":1,"ts_nanos":1,"source":"s","line":1,"headers":[{"name":"a","value":"b"}]}`)
	f.Add("-", `{"":1,"1,2":3}`, `{"upstream_data":[null,{"status":null}],"trigger_counters":{}}`)
	f.Fuzz(func(t *testing.T, number, statuses, record string) {
		for shape, row := range map[query.Shape][]string{
			query.Stats{}: {number, statuses, number, number, number, number},
			query.Timeline{}: {
				number, number, number, number, number, number, number, number, number, statuses, statuses,
			},
		} {
			columns := statsColumns
			if _, ok := shape.(query.Timeline); ok {
				columns = timelineColumns
			}
			if got, err := answer(shape, columns, row); err == nil && len(got.Stats)+len(got.Timeline) != 1 {
				t.Errorf("%T of one row is %+v", shape, got)
			}
		}
		got, err := answer(query.Logs{}, []string{"record"}, []string{record})
		if err != nil {
			return
		}
		again, err := answer(query.Logs{}, []string{"record"}, []string{printed(t, got.Logs[0], lake.Columns)})
		if err != nil || !reflect.DeepEqual(got, again) {
			t.Errorf("read, printed and read again: %v\n%s", err, cmp.Diff(got, again))
		}
	})
}

// null stands for a cell that is NULL.
const null = "\x00NULL"

// answer reads rows of cells.
func answer(shape query.Shape, columns []string, cells ...[]string) (query.Answer, error) {
	at := 0
	return rows.Answer(query.Query{Shape: shape}, columns, func() ([]*string, error) {
		if at == len(cells) {
			return nil, io.EOF
		}
		row := make([]*string, len(cells[at]))
		for i := range row {
			if cells[at][i] != null {
				row[i] = &cells[at][i]
			}
		}
		at++
		return row, nil
	})
}

// printed returns a row as engines print it: a JSON object of its columns.
func printed(t *testing.T, row *lake.Row, columns []lake.Column) string {
	t.Helper()
	text, err := json.Marshal(plain(reflect.ValueOf(row).Elem(), lake.Type{Kind: lake.Struct, Members: columns}))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// plain returns a stored value as maps, lists and scalars, under the names of the columns.
func plain(v reflect.Value, column lake.Type) any {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return plain(v.Elem(), column)
	case reflect.Slice:
		if v.IsNil() {
			return nil
		}
		list := []any{}
		for i := range v.Len() {
			list = append(list, plain(v.Index(i), *column.Elem))
		}
		return list
	case reflect.Struct:
		object := map[string]any{}
		for i, member := range column.Members {
			object[member.Name] = plain(v.Field(i), member.Type)
		}
		return object
	}
	return v.Interface()
}
