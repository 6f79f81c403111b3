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

// decode reads a record that consists of a timestamp and some members.
func decode(t *testing.T, members string) lake.Row {
	t.Helper()
	var row lake.Row
	if _, err := record.NewDecoder().Decode([]byte(`{"timestamp":"2026-01-02T03:04:05Z",`+members+`}`), &row); err != nil {
		t.Fatal(err)
	}
	return row
}

func p[T any](v T) *T { return &v }

func TestDecode_columns(t *testing.T) {
	type pairs = []lake.Pair
	for name, c := range map[string]struct {
		members string
		column  func(*lake.Row) any
		want    any
		extra   string // "" for nil
	}{
		"text":                       {`"host":"a"`, func(r *lake.Row) any { return r.Host }, p("a"), ""},
		"number_for_text":            {`"port":443`, func(r *lake.Row) any { return r.Port }, p("443"), `{"port":443}`},
		"null_for_text":              {`"host":null`, func(r *lake.Row) any { return r.Host }, (*string)(nil), `{"host":null}`},
		"list_for_text":              {`"host":["a"]`, func(r *lake.Row) any { return r.Host }, (*string)(nil), `{"host":["a"]}`},
		"integer":                    {`"status":200`, func(r *lake.Row) any { return r.Status }, p(int64(200)), ""},
		"large_integer":              {`"bytes_sent":9223372036854775807`, func(r *lake.Row) any { return r.BytesSent }, p(int64(9223372036854775807)), ""},
		"huge_integer":               {`"bytes_sent":9223372036854775808`, func(r *lake.Row) any { return r.BytesSent }, (*int64)(nil), `{"bytes_sent":9223372036854775808}`},
		"integer_as_text":            {`"status":"200"`, func(r *lake.Row) any { return r.Status }, p(int64(200)), `{"status":"200"}`},
		"no_exact_literal":           {`"status":" 200"`, func(r *lake.Row) any { return r.Status }, (*int64)(nil), `{"status":" 200"}`},
		"integer_with_fraction":      {`"status":200.5`, func(r *lake.Row) any { return r.Status }, (*int64)(nil), `{"status":200.5}`},
		"integer_written_as_float":   {`"status":2e2`, func(r *lake.Row) any { return r.Status }, p(int64(200)), ""},
		"seconds":                    {`"request_time":0.120`, func(r *lake.Row) any { return r.TotalUs }, p(int64(120_000)), ""},
		"seconds_finer_than_us":      {`"request_time":0.0000015`, func(r *lake.Row) any { return r.TotalUs }, p(int64(2)), `{"request_time":0.0000015}`},
		"seconds_rounded_down":       {`"request_time":0.00000149999`, func(r *lake.Row) any { return r.TotalUs }, p(int64(1)), `{"request_time":0.00000149999}`},
		"seconds_vanishing":          {`"request_time":1e-30`, func(r *lake.Row) any { return r.TotalUs }, p(int64(0)), `{"request_time":1e-30}`},
		"negative_seconds":           {`"request_time":-0.5`, func(r *lake.Row) any { return r.TotalUs }, p(int64(-500_000)), ""},
		"latency_is_microseconds":    {`"svc_latency":812`, func(r *lake.Row) any { return r.SvcUs }, p(int64(812)), ""},
		"origin_null":                {`"upstream_response_time":null`, func(r *lake.Row) any { return r.OriginNull }, true, ""},
		"origin_absent":              {`"host":"a"`, func(r *lake.Row) any { return r.OriginNull }, false, ""},
		"flag":                       {`"bot":false`, func(r *lake.Row) any { return r.Bot }, p(false), ""},
		"flag_as_text":               {`"bot":"true"`, func(r *lake.Row) any { return r.Bot }, p(true), `{"bot":"true"}`},
		"flag_as_number":             {`"bot":1`, func(r *lake.Row) any { return r.Bot }, (*bool)(nil), `{"bot":1}`},
		"list":                       {`"tags":["a","b"]`, func(r *lake.Row) any { return r.Tags }, []string{"a", "b"}, ""},
		"empty_list":                 {`"tags":[]`, func(r *lake.Row) any { return r.Tags }, []string{}, ""},
		"odd_elements":               {`"tags":["a",1,null,{}]`, func(r *lake.Row) any { return r.Tags }, []string{"a", "1"}, `{"tags":["a",1,null,{}]}`},
		"one_for_list":               {`"tags":"a"`, func(r *lake.Row) any { return r.Tags }, []string{"a"}, `{"tags":"a"}`},
		"null_for_list":              {`"tags":null`, func(r *lake.Row) any { return r.Tags }, []string(nil), `{"tags":null}`},
		"statuses":                   {`"upstream_status":[200,"502"]`, func(r *lake.Row) any { return r.UpstreamStatus }, []int64{200, 502}, `{"upstream_status":[200,"502"]}`},
		"object":                     {`"headers":{"a":"1","b":["2","3"]}`, func(r *lake.Row) any { return r.Headers }, pairs{{Name: "a", Value: "1"}, {Name: "b", Value: "2"}, {Name: "b", Value: "3"}}, ""},
		"list_of_pairs":              {`"headers":[{"name":"a","value":"1"},{"value":"2","name":"a"}]`, func(r *lake.Row) any { return r.Headers }, pairs{{Name: "a", Value: "1"}, {Name: "a", Value: "2"}}, ""},
		"value_is_no_text":           {`"headers":{"a":1,"b":null,"c":{ "d": 1 }}`, func(r *lake.Row) any { return r.Headers }, pairs{{Name: "a", Value: "1"}, {Name: "c", Value: `{"d":1}`}}, `{"headers":{"a":1,"b":null,"c":{"d":1}}}`},
		"array_of_one":               {`"headers":{"a":["1"]}`, func(r *lake.Row) any { return r.Headers }, pairs{{Name: "a", Value: "1"}}, `{"headers":{"a":["1"]}}`},
		"name_twice":                 {`"headers":{"a":"1","a":"2"}`, func(r *lake.Row) any { return r.Headers }, pairs{{Name: "a", Value: "1"}, {Name: "a", Value: "2"}}, `{"headers":{"a":"1","a":"2"}}`},
		"pair_with_more":             {`"headers":[{"name":"a","value":"1","x":0},{"name":"b"},"c"]`, func(r *lake.Row) any { return r.Headers }, pairs{{Name: "a", Value: "1"}}, `{"headers":[{"name":"a","value":"1","x":0},{"name":"b"},"c"]}`},
		"proxy_as_object":            {`"proxy":{"realip":"::1"}`, func(r *lake.Row) any { return r.Proxy }, pairs{{Name: "realip", Value: "::1"}}, `{"proxy":{"realip":"::1"}}`},
		"first_cookie_is_promoted":   {`"cookies":[{"name":"svcid","value":"x"},{"name":"svcid","value":"y"}]`, func(r *lake.Row) any { return r.SvcID }, p("x"), ""},
		"session_cookie_is_promoted": {`"cookies":{"svcsessionid":"z"}`, func(r *lake.Row) any { return r.SvcSessionID }, p("z"), ""},
		"svcid_without_cookie":       {`"svcid":"x"`, func(r *lake.Row) any { return r.SvcID }, p("x"), `{"svcid":"x"}`},
		"cookie_before_svcid":        {`"svcid":"x","cookies":{"svcid":"y"}`, func(r *lake.Row) any { return r.SvcID }, p("y"), `{"svcid":"x"}`},
		"time_period_as_ingested":    {`"time_period":17`, func(r *lake.Row) any { return r.TimePeriod }, int64(17), ""},
		"time_period_of_timestamp":   {`"host":"a"`, func(r *lake.Row) any { return r.TimePeriod }, int64(1767323045), ""},
		"time_period_null":           {`"time_period":null`, func(r *lake.Row) any { return r.TimePeriod }, int64(1767323045), `{"time_period":null}`},
		"stage_number":               {`"processing_stage":6`, func(r *lake.Row) any { return r.ProcessingStage }, p("6"), ""},
		"stage_text":                 {`"processing_stage":"acl"`, func(r *lake.Row) any { return r.ProcessingStage }, p("acl"), ""},
		"stage_number_as_text":       {`"processing_stage":"6"`, func(r *lake.Row) any { return r.ProcessingStage }, p("6"), `{"processing_stage":"6"}`},
		"counters":                   {`"trigger_counters":{"acl":1,"rl":0}`, func(r *lake.Row) any { return r.TriggerCounters }, &lake.TriggerCounters{ACL: p(int64(1)), RL: p(int64(0))}, ""},
		"unknown_counter":            {`"trigger_counters":{"acl":1,"new":2}`, func(r *lake.Row) any { return r.TriggerCounters }, &lake.TriggerCounters{ACL: p(int64(1))}, `{"trigger_counters":{"acl":1,"new":2}}`},
		"no_counters":                {`"trigger_counters":{}`, func(r *lake.Row) any { return r.TriggerCounters }, &lake.TriggerCounters{}, ""},
		"config":                     {`"security_config":{"acl_active":true,"cf_rules":3,"revision":"a"}`, func(r *lake.Row) any { return r.SecurityConfig }, &lake.SecurityConfig{ACLActive: p(true), CFRules: p(int64(3)), Revision: p("a")}, ""},
		"upstreams":                  {`"upstream_data":[{"addr":"a","response_time":0.25,"status":200},{}]`, func(r *lake.Row) any { return r.UpstreamData }, []lake.Upstream{{Addr: p("a"), ResponseUs: p(int64(250_000)), Status: p(int64(200))}, {}}, ""},
		"one_upstream":               {`"upstream_data":{"status":200}`, func(r *lake.Row) any { return r.UpstreamData }, []lake.Upstream{{Status: p(int64(200))}}, `{"upstream_data":{"status":200}}`},
		"unknown_field":              {`"ja3" : [ 1, "a b" ]`, func(r *lake.Row) any { return r.Host }, (*string)(nil), `{"ja3":[1,"a b"]}`},
		"open_object":                {`"acl_triggers":{"action":"deny","tags":["all",1],"deep":{"a": [1]},"none":null}`, func(r *lake.Row) any { return r.ACLTriggers }, pairs{{Name: "action", Value: "deny"}, {Name: "tags", Value: "all"}, {Name: "tags", Value: "1"}, {Name: "deep", Value: `{"a":[1]}`}}, ""},
		"open_list":                  {`"logs":["a",1,true,null,[2, 3],{"b":"c"}]`, func(r *lake.Row) any { return r.Logs }, pairs{{Value: "a"}, {Value: "1"}, {Value: "true"}, {Value: "[2,3]"}, {Name: "b", Value: "c"}}, ""},
		"open_empty":                 {`"gf_triggers":[]`, func(r *lake.Row) any { return r.GFTriggers }, pairs{}, ""},
		"open_null":                  {`"gf_triggers":null`, func(r *lake.Row) any { return r.GFTriggers }, pairs(nil), ""},
		"biometric":                  {`"biometric":[{"name":"score","value":0.5},{"value":"v","name":"n"},{"name":"only"},{"name":"x","value":null}]`, func(r *lake.Row) any { return r.Biometric }, pairs{{Name: "score", Value: "0.5"}, {Name: "n", Value: "v"}, {Name: "name", Value: "only"}, {Name: "name", Value: "x"}}, ""},
		"details_are_exact":          {`"logs":[ 1.0, "\u0041" ],"rl_triggers":[]`, func(r *lake.Row) any { return r.Details }, p(`{"logs":[1.0,"\u0041"],"rl_triggers":[]}`), ""},
	} {
		t.Run(name, func(t *testing.T) {
			row := decode(t, c.members)
			if got := c.column(&row); !reflect.DeepEqual(got, c.want) {
				t.Error("column: ", cmp.Diff(c.want, got))
			}
			extra := ""
			if row.Extra != nil {
				extra = *row.Extra
			}
			if extra != c.extra {
				t.Errorf("extra %s, want %s", extra, c.extra)
			}
		})
	}
}

func TestDecode_timestamps(t *testing.T) {
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
		`9223372037`:                                 "", // later than nanoseconds in 64 bits can say
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

func TestDecode_rejects(t *testing.T) {
	for line, want := range map[string]string{
		`{"timestamp":"2026-01-02T03:04:05Z","a":}`:     `bad_json: byte 41: a value expected, found '}'`,
		`{"timestamp":"2026-01-02T03:04:05Z","a":1,}`:   `bad_json: byte 43: a value after ',' expected, found '}'`,
		`{"timestamp":"2026-01-02T03:04:05Z"} x`:        `bad_json: byte 38: the end of the line expected, found 'x'`,
		`{"timestamp":"2026-01-02T03:04:05Z"`:           `bad_json: the line ends where ',' or '}' should be`,
		`{"timestamp":"2026-01-02T03:04:05Z","a":"\x"}`: `bad_json: byte 42: an escape expected, found '\\'`,
		"{\"a\":\"\x00\"}":                              `bad_json: byte 7: no bare control character in a string expected, found '\x00'`,
		`{1:2}`:                                         `bad_json: byte 2: a member's name in quotes expected, found '1'`,
		`{"a" 2}`:                                       `bad_json: byte 6: ':' expected, found '2'`,
		`{"a":-}`:                                       `bad_json: byte 6: a number expected, found '-'`,
		`[1]`:                                           `not_object: the line is JSON, but no object`,
		`[1`:                                            `bad_json: the line ends where ',' or ']' should be`,
		``:                                              `bad_json: the line ends where a value should be`,
		`{"host":"a"}`:                                  `no_timestamp: the record has no timestamp`,
		`{"timestamp":"soon"}`:                          `bad_timestamp: timestamp "soon" is no ISO 8601 or Unix time`,
		`{"timestamp":"` + strings.Repeat("x", record.MaxLine) + `"}`: `too_large: the line has 1000016 bytes, more than 1000000`,
		`{"timestamp":0,"a":` + strings.Repeat("[", 20_000):           `bad_json: byte 10020: less nesting expected, found '['`,
	} {
		_, err := record.NewDecoder().Decode([]byte(line), &lake.Row{})
		if got := fmt.Sprintf("%s: %v", codeOf(err), err); got != want {
			t.Errorf("%.60s: %s, want %s", line, got, want)
		}
	}
}

func TestDecode_notes_what_is_lost(t *testing.T) {
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

func TestDecode_ordinary_records_have_no_extra(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	d := record.NewDecoder()
	for _, line := range recordtest.Lines(2_000, start, time.Hour) {
		var row lake.Row
		if !checkLine(t, d, line) {
			t.Fatalf("%s: rejected", line)
		}
		if notes, err := d.Decode(line, &row); err != nil || notes != (record.Notes{}) || row.Extra != nil || row.RawLine != nil {
			t.Fatalf("%s: notes %+v, extra %v, %v", line, notes, row.Extra, err)
		}
	}
}

// TestDecode_rows_stay_valid compares rows that share one decoder's memory with rows that have one each.
func TestDecode_rows_stay_valid(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	lines := recordtest.Lines(3_000, start, time.Hour)
	shared := record.NewDecoder()
	rows := make([]lake.Row, len(lines))
	buffer := []byte{}
	for i, line := range lines {
		buffer = append(buffer[:0], line...) // Decode must not keep the line
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

// TestDecode_forgets_strings_in_time: interned strings keep chunks of memory alive.
func TestDecode_forgets_strings_in_time(t *testing.T) {
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
		t.Error("the string lives for ever")
	}
}

// TestFields_are_the_catalogue: every field of the catalogue is decoded into its column, and no other.
func TestFields_are_the_catalogue(t *testing.T) {
	for _, f := range catalog.Fields {
		t.Run(f.Name, func(t *testing.T) {
			value := map[catalog.Type]string{catalog.String: `"x"`, catalog.Int: "7", catalog.Float: "7", catalog.Bool: "true", catalog.Time: "7"}[f.Type]
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

// TestDecode_many_names: names are told apart in time that grows with their number, not its square.
func TestDecode_many_names(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
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
			t.Errorf("%.40s… is rejected", line)
		}
	}
}

// TestDecode_repeated_cookies_of_the_service: the fields svcid and svcsessionid mean the cookies, all of that name.
func TestDecode_repeated_cookies_of_the_service(t *testing.T) {
	var row lake.Row
	if _, err := record.NewDecoder().Decode([]byte(`{"timestamp":"2026-01-01T00:00:00Z","cookies":{"svcid":["a","b","c"],"svcsessionid":"x"}}`), &row); err != nil {
		t.Fatal(err)
	}
	if *row.SvcID != "a" || !slices.Equal(row.SvcIDMore, []string{"b", "c"}) || *row.SvcSessionID != "x" || row.SvcSessionIDMore != nil {
		t.Errorf("svcid %q and %q, svcsessionid %q and %q", *row.SvcID, row.SvcIDMore, *row.SvcSessionID, row.SvcSessionIDMore)
	}
}
