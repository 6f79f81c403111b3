package record_test

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/record/recordtest"
)

// decode decodes a record that consists of a timestamp and the given members.
func decode(t *testing.T, members string) lake.Row {
	t.Helper()
	line := `{"timestamp":"2026-01-02T03:04:05Z",` + members + `}`
	var row lake.Row
	if _, err := record.NewDecoder().Decode([]byte(line), &row); err != nil {
		t.Fatal(err)
	}
	return row
}

func p[T any](v T) *T { return &v }

func TestDecodeColumns(t *testing.T) {
	type pairs = []lake.Pair
	for _, test := range []struct {
		name    string
		members string
		column  func(*lake.Row) any
		want    any
		extra   string // "" for nil
	}{
		{
			name:    "text",
			members: `"host":"a"`,
			column:  func(r *lake.Row) any { return r.Host },
			want:    p("a"),
		},
		{
			name:    "number for text",
			members: `"port":443`,
			column:  func(r *lake.Row) any { return r.Port },
			want:    p("443"),
			extra:   `{"port":443}`,
		},
		{
			name:    "null for text",
			members: `"host":null`,
			column:  func(r *lake.Row) any { return r.Host },
			want:    (*string)(nil),
			extra:   `{"host":null}`,
		},
		{
			name:    "list for text",
			members: `"host":["a"]`,
			column:  func(r *lake.Row) any { return r.Host },
			want:    (*string)(nil),
			extra:   `{"log_rest":{"host":["a"]}}`,
		},
		{
			name:    "integer",
			members: `"status":200`,
			column:  func(r *lake.Row) any { return r.Status },
			want:    p(int64(200)),
		},
		{
			name:    "large integer",
			members: `"bytes_sent":9223372036854775807`,
			column:  func(r *lake.Row) any { return r.BytesSent },
			want:    p(int64(9223372036854775807)),
		},
		{
			name:    "huge integer",
			members: `"bytes_sent":9223372036854775808`,
			column:  func(r *lake.Row) any { return r.BytesSent },
			want:    (*int64)(nil),
			extra:   `{"bytes_sent":9223372036854775808}`,
		},
		{
			name:    "integer as text",
			members: `"status":"200"`,
			column:  func(r *lake.Row) any { return r.Status },
			want:    p(int64(200)),
			extra:   `{"status":"200"}`,
		},
		{
			name:    "text that is not exactly an integer",
			members: `"status":" 200"`,
			column:  func(r *lake.Row) any { return r.Status },
			want:    (*int64)(nil),
			extra:   `{"log_rest":{"status":" 200"}}`,
		},
		{
			name:    "integer with fraction",
			members: `"status":200.5`,
			column:  func(r *lake.Row) any { return r.Status },
			want:    (*int64)(nil),
			extra:   `{"log_rest":{"status":200.5}}`,
		},
		{
			name:    "integer written as float",
			members: `"status":2e2`,
			column:  func(r *lake.Row) any { return r.Status },
			want:    p(int64(200)),
		},
		{
			name:    "seconds",
			members: `"request_time":0.120`,
			column:  func(r *lake.Row) any { return r.TotalUs },
			want:    p(int64(120_000)),
		},
		{
			name:    "seconds finer than a microsecond",
			members: `"request_time":0.0000015`,
			column:  func(r *lake.Row) any { return r.TotalUs },
			want:    p(int64(2)),
			extra:   `{"request_time":0.0000015}`,
		},
		{
			name:    "seconds rounded down",
			members: `"request_time":0.00000149999`,
			column:  func(r *lake.Row) any { return r.TotalUs },
			want:    p(int64(1)),
			extra:   `{"request_time":0.00000149999}`,
		},
		{
			name:    "seconds rounded to zero",
			members: `"request_time":1e-30`,
			column:  func(r *lake.Row) any { return r.TotalUs },
			want:    p(int64(0)),
			extra:   `{"request_time":1e-30}`,
		},
		{
			name:    "negative seconds",
			members: `"request_time":-0.5`,
			column:  func(r *lake.Row) any { return r.TotalUs },
			want:    p(int64(-500_000)),
		},
		{
			name:    "latency is microseconds",
			members: `"svc_latency":812`,
			column:  func(r *lake.Row) any { return r.SvcUs },
			want:    p(int64(812)),
		},
		{
			name:    "null origin time",
			members: `"upstream_response_time":null`,
			column:  func(r *lake.Row) any { return r.OriginNull },
			want:    true,
		},
		{
			name:    "absent origin time",
			members: `"host":"a"`,
			column:  func(r *lake.Row) any { return r.OriginNull },
			want:    false,
		},
		{
			name:    "boolean",
			members: `"bot":false`,
			column:  func(r *lake.Row) any { return r.Bot },
			want:    p(false),
		},
		{
			name:    "boolean as text",
			members: `"bot":"true"`,
			column:  func(r *lake.Row) any { return r.Bot },
			want:    p(true),
			extra:   `{"bot":"true"}`,
		},
		{
			name:    "number for boolean",
			members: `"bot":1`,
			column:  func(r *lake.Row) any { return r.Bot },
			want:    (*bool)(nil),
			extra:   `{"log_rest":{"bot":1}}`,
		},
		{
			name:    "list",
			members: `"tags":["a","b"]`,
			column:  func(r *lake.Row) any { return r.Tags },
			want:    []string{"a", "b"},
		},
		{
			name:    "empty list",
			members: `"tags":[]`,
			column:  func(r *lake.Row) any { return r.Tags },
			want:    []string{},
		},
		{
			name:    "list with other elements",
			members: `"tags":["a",1,null,{}]`,
			column:  func(r *lake.Row) any { return r.Tags },
			want:    []string{"a", "1"},
			extra:   `{"tags":["a",1,null,{}]}`,
		},
		{
			name:    "text for list",
			members: `"tags":"a"`,
			column:  func(r *lake.Row) any { return r.Tags },
			want:    []string{"a"},
			extra:   `{"tags":"a"}`,
		},
		{
			name:    "null for list",
			members: `"tags":null`,
			column:  func(r *lake.Row) any { return r.Tags },
			want:    []string(nil),
			extra:   `{"tags":null}`,
		},
		{
			name:    "list of integers",
			members: `"upstream_status":[200,"502"]`,
			column:  func(r *lake.Row) any { return r.UpstreamStatus },
			want:    []int64{200, 502},
			extra:   `{"upstream_status":[200,"502"]}`,
		},
		{
			name:    "object",
			members: `"headers":{"a":"1","b":["2","3"]}`,
			column:  func(r *lake.Row) any { return r.Headers },
			want:    pairs{{Name: "a", Value: "1"}, {Name: "b", Value: "2"}, {Name: "b", Value: "3"}},
		},
		{
			name:    "list of pairs",
			members: `"headers":[{"name":"a","value":"1"},{"value":"2","name":"a"}]`,
			column:  func(r *lake.Row) any { return r.Headers },
			want:    pairs{{Name: "a", Value: "1"}, {Name: "a", Value: "2"}},
		},
		{
			name:    "object with other values",
			members: `"headers":{"a":1,"b":null,"c":{ "d": 1 }}`,
			column:  func(r *lake.Row) any { return r.Headers },
			want:    pairs{{Name: "a", Value: "1"}, {Name: "c", Value: `{"d":1}`}},
			extra:   `{"headers":{"a":1,"b":null,"c":{"d":1}}}`,
		},
		{
			name:    "array of one",
			members: `"headers":{"a":["1"]}`,
			column:  func(r *lake.Row) any { return r.Headers },
			want:    pairs{{Name: "a", Value: "1"}},
			extra:   `{"headers":{"a":["1"]}}`,
		},
		{
			name:    "repeated name",
			members: `"headers":{"a":"1","a":"2"}`,
			column:  func(r *lake.Row) any { return r.Headers },
			want:    pairs{{Name: "a", Value: "1"}, {Name: "a", Value: "2"}},
			extra:   `{"headers":{"a":"1","a":"2"}}`,
		},
		{
			name:    "list with other elements than pairs",
			members: `"headers":[{"name":"a","value":"1","x":0},{"name":"b"},"c"]`,
			column:  func(r *lake.Row) any { return r.Headers },
			want:    pairs{{Name: "a", Value: "1"}},
			extra:   `{"headers":[{"name":"a","value":"1","x":0},{"name":"b"},"c"]}`,
		},
		{
			name:    "object for proxy",
			members: `"proxy":{"realip":"::1"}`,
			column:  func(r *lake.Row) any { return r.Proxy },
			want:    pairs{{Name: "realip", Value: "::1"}},
			extra:   `{"proxy":{"realip":"::1"}}`,
		},
		{
			name:    "svcid is the first cookie",
			members: `"cookies":[{"name":"svcid","value":"x"},{"name":"svcid","value":"y"}]`,
			column:  func(r *lake.Row) any { return r.SvcID },
			want:    p("x"),
		},
		{
			name:    "svcsessionid is the cookie",
			members: `"cookies":{"svcsessionid":"z"}`,
			column:  func(r *lake.Row) any { return r.SvcSessionID },
			want:    p("z"),
		},
		{
			name:    "svcid without a cookie",
			members: `"svcid":"x"`,
			column:  func(r *lake.Row) any { return r.SvcID },
			want:    p("x"),
			extra:   `{"svcid":"x"}`,
		},
		{
			name:    "a cookie replaces svcid",
			members: `"svcid":"x","cookies":{"svcid":"y"}`,
			column:  func(r *lake.Row) any { return r.SvcID },
			want:    p("y"),
			extra:   `{"svcid":"x"}`,
		},
		{
			name:    "time period of the record",
			members: `"time_period":17`,
			column:  func(r *lake.Row) any { return r.TimePeriod },
			want:    int64(17),
		},
		{
			name:    "time period from timestamp",
			members: `"host":"a"`,
			column:  func(r *lake.Row) any { return r.TimePeriod },
			want:    int64(1767323045),
		},
		{
			name:    "null time period",
			members: `"time_period":null`,
			column:  func(r *lake.Row) any { return r.TimePeriod },
			want:    int64(1767323045),
			extra:   `{"time_period":null}`,
		},
		{
			name:    "stage as number",
			members: `"processing_stage":6`,
			column:  func(r *lake.Row) any { return r.ProcessingStage },
			want:    p("6"),
		},
		{
			name:    "stage as text",
			members: `"processing_stage":"acl"`,
			column:  func(r *lake.Row) any { return r.ProcessingStage },
			want:    p("acl"),
		},
		{
			name:    "stage as number in quotes",
			members: `"processing_stage":"6"`,
			column:  func(r *lake.Row) any { return r.ProcessingStage },
			want:    p("6"),
			extra:   `{"processing_stage":"6"}`,
		},
		{
			name:    "counters",
			members: `"trigger_counters":{"acl":1,"rl":0}`,
			column:  func(r *lake.Row) any { return r.TriggerCounters },
			want:    &lake.TriggerCounters{ACL: p(int64(1)), RL: p(int64(0))},
		},
		{
			name:    "unknown counter",
			members: `"trigger_counters":{"acl":1,"new":2}`,
			column:  func(r *lake.Row) any { return r.TriggerCounters },
			want:    &lake.TriggerCounters{ACL: p(int64(1))},
			extra:   `{"trigger_counters":{"acl":1,"new":2}}`,
		},
		{
			name:    "empty counters",
			members: `"trigger_counters":{}`,
			column:  func(r *lake.Row) any { return r.TriggerCounters },
			want:    &lake.TriggerCounters{},
		},
		{
			name:    "config",
			members: `"security_config":{"acl_active":true,"cf_rules":3,"revision":"a"}`,
			column:  func(r *lake.Row) any { return r.SecurityConfig },
			want:    &lake.SecurityConfig{ACLActive: p(true), CFRules: p(int64(3)), Revision: p("a")},
		},
		{
			name:    "attempts at the origin",
			members: `"upstream_data":[{"addr":"a","response_time":0.25,"status":200},{}]`,
			column:  func(r *lake.Row) any { return r.UpstreamData },
			want:    []lake.Upstream{{Addr: p("a"), ResponseUs: p(int64(250_000)), Status: p(int64(200))}, {}},
		},
		{
			name:    "object for attempts",
			members: `"upstream_data":{"status":200}`,
			column:  func(r *lake.Row) any { return r.UpstreamData },
			want:    []lake.Upstream{{Status: p(int64(200))}},
			extra:   `{"upstream_data":{"status":200}}`,
		},
		{
			name:    "unknown field",
			members: `"ja3" : [ 1, "a b" ]`,
			column:  func(r *lake.Row) any { return r.Host },
			want:    (*string)(nil),
			extra:   `{"ja3":[1,"a b"]}`,
		},
		{
			name:    "open field with object",
			members: `"acl_triggers":{"action":"deny","tags":["all",1],"deep":{"a": [1]},"none":null}`,
			column:  func(r *lake.Row) any { return r.ACLTriggers },
			want: pairs{
				{Name: "action", Value: "deny"},
				{Name: "tags", Value: "all"},
				{Name: "tags", Value: "1"},
				{Name: "deep", Value: `{"a":[1]}`},
			},
		},
		{
			name:    "open field with list",
			members: `"logs":["a",1,true,null,[2, 3],{"b":"c"}]`,
			column:  func(r *lake.Row) any { return r.Logs },
			want:    pairs{{Value: "a"}, {Value: "1"}, {Value: "true"}, {Value: "[2,3]"}, {Name: "b", Value: "c"}},
		},
		{
			name:    "open field with empty list",
			members: `"gf_triggers":[]`,
			column:  func(r *lake.Row) any { return r.GFTriggers },
			want:    pairs{},
		},
		{
			name:    "open field with null",
			members: `"gf_triggers":null`,
			column:  func(r *lake.Row) any { return r.GFTriggers },
			want:    pairs(nil),
		},
		{
			name: "biometric",
			members: `"biometric":[{"name":"score","value":0.5},{"value":"v","name":"n"},` +
				`{"name":"only"},{"name":"x","value":null}]`,
			column: func(r *lake.Row) any { return r.Biometric },
			want: pairs{
				{Name: "score", Value: "0.5"},
				{Name: "n", Value: "v"},
				{Name: "name", Value: "only"},
				{Name: "name", Value: "x"},
			},
		},
		{
			name:    "details are exact",
			members: `"logs":[ 1.0, "\u0041" ],"rl_triggers":[]`,
			column:  func(r *lake.Row) any { return r.Details },
			want:    p(`{"logs":[1.0,"\u0041"],"rl_triggers":[]}`),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			row := decode(t, test.members)
			if got := test.column(&row); !reflect.DeepEqual(got, test.want) {
				t.Error("column: ", cmp.Diff(test.want, got))
			}
			extra := ""
			if row.Extra != nil {
				extra = *row.Extra
			}
			if extra != test.extra {
				t.Errorf("extra %s, want %s", extra, test.extra)
			}
		})
	}
}

func TestDecodeTimestamps(t *testing.T) {
	for text, want := range map[string]string{
		`"2026-01-02T03:04:05Z"`:                     "2026-01-02T03:04:05Z",
		`"2026-01-02T03:04:05.670Z"`:                 "2026-01-02T03:04:05.670Z",
		`"2026-01-02 03:04:05.123456789+02:00"`:      "2026-01-02T01:04:05.123456789Z",
		`"2026-01-02 03:04:05,5 -0330"`:              "2026-01-02T06:34:05.5Z",
		`"2026-01-02t03:04+14"`:                      "2026-01-01T13:04:00Z",
		`"2026-01-02_03:04:05z"`:                     "2026-01-02T03:04:05Z",
		`"1969-12-31T23:59:59.25Z"`:                  "1969-12-31T23:59:59.25Z",
		`"0000-01-01T00:00:00Z"`:                     "0000-01-01T00:00:00Z",
		`"2026-01-02T03:04:05.12345678901234Z"`:      "2026-01-02T03:04:05.12345678901234Z",
		`"2024-02-29T00:00:00.12345678901234-01:00"`: "2024-02-29T01:00:00.12345678901234Z",
		`1700000000`:                                 "2023-11-14T22:13:20Z",
		`"1700000000"`:                               "2023-11-14T22:13:20Z",
		`1700000000.125`:                             "2023-11-14T22:13:20.125Z",
		`1700000000125`:                              "2023-11-14T22:13:20.125Z",
		`1700000000125000`:                           "2023-11-14T22:13:20.125000Z",
		`1700000000125000000`:                        "2023-11-14T22:13:20.125000000Z",
		`-0.25`:                                      "1969-12-31T23:59:59.75Z",
		`1.7e9`:                                      "2023-11-14T22:13:20.000000000Z",
		`9223372036`:                                 "2262-04-11T23:47:16Z",
		`9223372036854`:                              "2262-04-11T23:47:16.854Z",
		`-9223372036854775`:                          "1677-09-21T00:12:43.145225Z",
		`-9223372036854775808`:                       "1677-09-21T00:12:43.145224192Z",
		`9223372037`:                                 "", // out of the range of nanoseconds in 64 bits
		`9223372036855`:                              "",
		`9227000000000`:                              "",
		`9223372036854776`:                           "",
		`-9223372036854776`:                          "",
		`9223372036854775808`:                        "",
		`"2026-01-02"`:                               "",
		`"2026-02-29T00:00:00Z"`:                     "",
		`"2026-00-01T00:00:00Z"`:                     "",
		`"2026-01-01T24:00:00Z"`:                     "",
		`"2026-01-01T00:00:60Z"`:                     "",
		`"2026-01-01T00:00:00.Z"`:                    "",
		`"2026-01-01T00:00:00+25:00"`:                "",
		`"2026-01-01T00:00:00Zulu"`:                  "",
		`"9999-12-31T23:59:59-00:01"`:                "",
		`"Jan 2 2026"`:                               "",
		`{"a":1}`:                                    "",
		`0.0000000001`:                               "",
		`1e30`:                                       "",
	} {
		var row lake.Row
		_, err := record.NewDecoder().Decode([]byte(`{"timestamp":`+text+`}`), &row)
		got := ""
		if err == nil {
			got = strings.Split(string(record.AppendJSON(nil, &row, []string{"timestamp"})), `"`)[3]
		} else if codeOf(err) != record.BadTimestamp {
			t.Errorf("%s: %v", text, err)
		}
		if got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}

func TestDecodeRejects(t *testing.T) {
	const prefix = `{"timestamp":"2026-01-02T03:04:05Z"`
	tooLong := `{"timestamp":"` + strings.Repeat("x", record.MaxLine) + `"}`
	tooDeep := `{"timestamp":0,"a":` + strings.Repeat("[", 20_000)
	for line, want := range map[string]string{
		prefix + `,"a":}`:      `bad_json: byte 41: expected a value, found '}'`,
		prefix + `,"a":1,}`:    `bad_json: byte 43: expected a value after ',', found '}'`,
		prefix + `} x`:         `bad_json: byte 38: expected the end of the line, found 'x'`,
		prefix:                 `bad_json: the line ends where ',' or '}' is expected`,
		prefix + `,"a":"\x"}`:  `bad_json: byte 42: expected a valid escape, found '\\'`,
		"{\"a\":\"\x00\"}":     `bad_json: byte 7: expected an escaped control character, found '\x00'`,
		`{1:2}`:                `bad_json: byte 2: expected a member's name in quotes, found '1'`,
		`{"a" 2}`:              `bad_json: byte 6: expected ':', found '2'`,
		`{"a":-}`:              `bad_json: byte 6: expected a number, found '-'`,
		`[1]`:                  `not_object: the line is JSON, but not an object`,
		`[1`:                   `bad_json: the line ends where ',' or ']' is expected`,
		``:                     `bad_json: the line ends where a value is expected`,
		`{"host":"a"}`:         `no_timestamp: the record has no timestamp`,
		`{"timestamp":"soon"}`: `bad_timestamp: timestamp "soon" is not ISO 8601 or Unix time`,
		tooLong:                `too_large: the line has 1000016 bytes, more than 1000000`,
		tooDeep:                `bad_json: byte 10020: expected at most 10000 levels of nesting, found '['`,
	} {
		_, err := record.NewDecoder().Decode([]byte(line), &lake.Row{})
		if got := fmt.Sprintf("%s: %v", codeOf(err), err); got != want {
			t.Errorf("%.60s: %s, want %s", line, got, want)
		}
	}
}

func TestDecodeNotes(t *testing.T) {
	for line, want := range map[string]record.Notes{
		`{"timestamp":0,"host":"a"}`:                     {},
		`{"timestamp":0,"host":"\ud83d\ude00"}`:          {},
		"{\"timestamp\":0,\"host\":\"\xff\"}":            {InvalidUTF8: true},
		`{"timestamp":0,"host":"\ud800"}`:                {InvalidUTF8: true},
		`{"timestamp":0,"host":"a","host":"b"}`:          {Duplicates: true},
		`{"timestamp":0,"x":1,"x":1}`:                    {Duplicates: true},
		`{"timestamp":"never","timestamp":0}`:            {Duplicates: true},
		"{\"timestamp\":0,\"x\":\"\xff\",\"\\u0078\":1}": {InvalidUTF8: true, Duplicates: true},
	} {
		var row lake.Row
		got, err := record.NewDecoder().Decode([]byte(line), &row)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v", line, got, err)
		}
		raw := ""
		if row.RawLine != nil {
			b, err := base64.StdEncoding.DecodeString(*row.RawLine)
			if err != nil {
				t.Fatal(err)
			}
			raw = string(b)
		}
		if want := map[bool]string{true: line}[want != record.Notes{}]; raw != want {
			t.Errorf("%q: raw line %q", line, raw)
		}
	}
}

func TestDecodeOrdinaryRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, which runs with -short")
	}
	d := record.NewDecoder()
	for _, line := range recordtest.Lines(2_000, start, time.Hour) {
		var row lake.Row
		if !checkLine(t, d, line) {
			t.Fatalf("%s: rejected", line)
		}
		notes, err := d.Decode(line, &row)
		if err != nil || notes != (record.Notes{}) || row.Extra != nil || row.RawLine != nil {
			t.Fatalf("%s: notes %+v, extra %v, %v", line, notes, row.Extra, err)
		}
	}
}

// TestDecodeRowsStayValid compares rows from one decoder with rows from a decoder each.
func TestDecodeRowsStayValid(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, which runs with -short")
	}
	lines := recordtest.Lines(3_000, start, time.Hour)
	shared := record.NewDecoder()
	rows := make([]lake.Row, len(lines))
	buffer := []byte{}
	for i, line := range lines {
		buffer = append(buffer[:0], line...) // Decode must not retain the line
		if _, err := shared.Decode(buffer, &rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	for i := range lines {
		var alone lake.Row
		if _, err := record.NewDecoder().Decode(lines[i], &alone); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(rows[i], alone) {
			t.Fatalf("line %d: %s", i, cmp.Diff(alone, rows[i]))
		}
	}
}

// TestDecodeDropsInternedStrings checks that interned strings, which keep chunks of memory alive, are dropped.
func TestDecodeDropsInternedStrings(t *testing.T) {
	d := record.NewDecoder()
	var first, later lake.Row
	line := []byte(`{"timestamp":0,"host":"a"}`)
	if _, err := d.Decode(line, &first); err != nil {
		t.Fatal(err)
	}
	for range 70_000 {
		if _, err := d.Decode(line, &later); err != nil {
			t.Fatal(err)
		}
	}
	if first.Host == later.Host || *first.Host != *later.Host {
		t.Error("the string is still interned")
	}
}

// TestDecodeCatalogFields checks that every field of the catalogue is decoded into its column.
func TestDecodeCatalogFields(t *testing.T) {
	for _, f := range catalog.Fields {
		t.Run(f.Name, func(t *testing.T) {
			value := map[catalog.Type]string{
				catalog.String: `"x"`,
				catalog.Int:    "7",
				catalog.Float:  "7",
				catalog.Bool:   "true",
				catalog.Time:   "7",

				catalog.Reference: `"x"`,
			}[f.Type]
			switch {
			case f.Keys == catalog.ClosedKeys && f.Name == "upstream_data":
				value = `[{"status":7}]`
			case f.Keys == catalog.ClosedKeys:
				value = "{}"
			case f.Sources[0].Layout == catalog.Pairs:
				value = `[{"name":"n","value":"v"}]`
			case f.Sources[0].Layout == catalog.List:
				value = "[" + value + "]"
			case f.Type == catalog.Any:
				value = "7"
			}
			members := fmt.Sprintf("%q:%s", f.Name, value)
			if f.Type == catalog.Time {
				members = `"host":"x"`
			}
			row := decode(t, members)
			column, _ := lake.ColumnByName(f.Sources[0].Column)
			for i, c := range lake.Columns {
				if c.Name == column.Name && reflect.ValueOf(row).Field(i).IsZero() {
					t.Errorf("column %s is empty", c.Name)
				}
			}
			got := string(record.AppendJSON(nil, &row, []string{f.Name}))
			if !strings.HasPrefix(got, fmt.Sprintf("{%q:", f.Name)) {
				t.Errorf("printed %s", got)
			}
		})
	}
}

// TestDecodeManyNames checks that decoding many names does not take quadratic time.
func TestDecodeManyNames(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, which runs with -short")
	}
	var members, headers []string
	for i := range 20_000 {
		members = append(members, fmt.Sprintf(`"x%d":%d`, i, i))
		headers = append(headers, fmt.Sprintf(`"h%d":"%d"`, i, i))
	}
	d := record.NewDecoder()
	for _, line := range []string{
		`{"timestamp":0,` + strings.Join(members, ",") + `}`,
		`{"timestamp":0,"headers":{` + strings.Join(headers, ",") + `}}`,
		`{"timestamp":0,"headers":{` + strings.Join(headers, ",") + `,"h1":"twice"}}`,
		`{"timestamp":0,"headers":{"a":"1"},"b":2}`,
	} {
		if !checkLine(t, d, []byte(line)) {
			t.Errorf("%.40s… was rejected", line)
		}
	}
}

// TestDecodeRepeatedServiceCookies checks that the columns of svcid and svcsessionid contain all cookies of that name.
func TestDecodeRepeatedServiceCookies(t *testing.T) {
	var row lake.Row
	const line = `{"timestamp":"2026-01-01T00:00:00Z","cookies":{"svcid":["a","b","c"],"svcsessionid":"x"}}`
	if _, err := record.NewDecoder().Decode([]byte(line), &row); err != nil {
		t.Fatal(err)
	}
	if *row.SvcID != "a" || !slices.Equal(row.SvcIDMore, []string{"b", "c"}) {
		t.Errorf("svcid %q and %q", *row.SvcID, row.SvcIDMore)
	}
	if *row.SvcSessionID != "x" || row.SvcSessionIDMore != nil {
		t.Errorf("svcsessionid %q and %q", *row.SvcSessionID, row.SvcSessionIDMore)
	}
}
