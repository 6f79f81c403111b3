package record_test

import (
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
)

func TestAppendJSONFields(t *testing.T) {
	row := decode(t, `"host":"a","status":"200","cookies":{"svcid":"x"},"logs":["l"],"ja3":1,`+
		`"upstream_response_time":null,"rl_triggers":[]`)
	for names, want := range map[string]string{
		"status,host":                 `{"status":"200","host":"a"}`,
		"svcid":                       `{"svcid":"x"}`,
		"logs,ja3":                    `{"logs":["l"],"ja3":1}`,
		"ip,svcsessionid,no_such":     `{}`,
		"upstream_response_time,logs": `{"upstream_response_time":null,"logs":["l"]}`,
		"gf_triggers":                 `{}`,
	} {
		if got := string(record.AppendJSON(nil, &row, strings.Split(names, ","))); got != want {
			t.Errorf("%s: %s, want %s", names, got, want)
		}
	}
	if got := string(record.AppendJSON([]byte("x"), &row, []string{})); got != "x{}" {
		t.Errorf("no fields: %s", got)
	}
	const all = `{"cookies":{"svcid":"x"},"host":"a","time_period":1767323045,"timestamp":"2026-01-02T03:04:05Z",` +
		`"upstream_response_time":null,"logs":["l"],"rl_triggers":[],"status":"200","ja3":1}`
	if got := string(record.AppendJSON(nil, &row, nil)); got != all {
		t.Errorf("all fields: %s", got)
	}
}

func TestAppendJSONReferences(t *testing.T) {
	row := decode(t, `"host":"a"`)
	row.Source, row.Line = "9f86d081884c7d65", 42
	ref := `"record_ref":"` + lake.RefOf(&row).String() + `"`
	t.Run("only if asked for", func(t *testing.T) {
		if got := string(record.AppendJSON(nil, &row, nil)); strings.Contains(got, "record_ref") {
			t.Errorf("all fields: %s", got)
		}
		if got := string(record.AppendJSON(nil, &row, []string{"record_ref", "host"})); got != `{`+ref+`,"host":"a"}` {
			t.Errorf("printed %s", got)
		}
	})
	t.Run("a member of that name stays in the record but is not the reference", func(t *testing.T) {
		row := decode(t, `"record_ref":["x"]`)
		row.Source, row.Line = "9f86d081884c7d65", 42
		if got := string(record.AppendJSON(nil, &row, []string{"record_ref"})); got != `{`+ref+`}` {
			t.Errorf("printed %s", got)
		}
		if got := string(record.AppendJSON(nil, &row, nil)); !strings.Contains(got, `"ingested_record_ref":["x"]`) ||
			strings.Contains(got, `"record_ref"`) {
			t.Errorf("all fields: %s", got)
		}
	})
}

func TestAppendJSONOfTheRest(t *testing.T) {
	row := decode(t, `"host":"a","level":"info","user":{"name":"ann"},"code":[1,2],"log_rest":"x"`)
	const rest = `"level":"info","user.name":"ann","code":["1","2"],"log_rest":"x"`
	got := string(record.AppendJSON(nil, &row, []string{"log_rest", "host"}))
	if got != `{"log_rest":{`+rest+`},"host":"a"}` {
		t.Errorf("printed %s", got)
	}
	const all = `{"host":"a","time_period":1767323045,"timestamp":"2026-01-02T03:04:05Z",` +
		`"level":"info","user":{"name":"ann"},"code":[1,2],"log_rest":"x"}`
	if got := string(record.AppendJSON(nil, &row, nil)); got != all {
		t.Errorf("all fields: %s", got)
	}
}

// TestAppendJSONOfOtherRows prints rows with values that Decode never writes, as rows of other log formats may have.
func TestAppendJSONOfOtherRows(t *testing.T) {
	const times = `"time_period":0,"timestamp":"1970-01-01T00:00:00Z"}`
	for want, row := range map[string]lake.Row{
		`{"host":"\ufffda\u2028\u0001",` + times:         {Host: p("\xffa\u2028\x01")},
		`{"request_time":-9223372036854.775808,` + times: {TotalUs: p(int64(-1 << 63))},
		`{` + times: {Extra: p("not JSON"[:0]), Details: p("{}")},
	} {
		if got := string(record.AppendJSON(nil, &row, nil)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestSetDefault(t *testing.T) {
	for _, c := range []struct{ members, name, value, want string }{
		{`"ip":"::1"`, "branch", "prod", `{"branch":"prod"}`},
		{`"branch":"dev"`, "branch", "prod", `{"branch":"dev"}`},
		{`"branch":null`, "branch", "prod", `{"branch":null}`},
		{`"ip":"::1"`, "status", "200", `{"status":200}`},
		{`"status":"204"`, "status", "200", `{"status":"204"}`},
		{`"status":"x"`, "status", "200", `{"status":200}`},
		{`"ip":"::1"`, "request_time", "0.5", `{"request_time":0.5}`},
		{`"ip":"::1"`, "upstream_response_time", "1", `{"upstream_response_time":1}`},
		{`"upstream_response_time":null`, "upstream_response_time", "1", `{"upstream_response_time":null}`},
		{`"ip":"::1"`, "blocked", "true", `{"blocked":true}`},
		{`"ip":"::1"`, "tags", "a,b", `{"tags":["a,b"]}`},
		{`"tags":[]`, "tags", "a", `{"tags":[]}`},
		{`"ip":"::1"`, "processing_stage", "6", `{"processing_stage":6}`},
	} {
		row := decode(t, c.members)
		if err := record.SetDefault(&row, c.name, c.value); err != nil {
			t.Errorf("%s=%s: %v", c.name, c.value, err)
		}
		if got := string(record.AppendJSON(nil, &row, []string{c.name})); got != c.want {
			t.Errorf("%s with %s=%s: %s, want %s", c.members, c.name, c.value, got, c.want)
		}
	}
}

func TestSetDefaultErrors(t *testing.T) {
	const unsupported = `only fields with a single string, number or boolean can be set, and lists of strings`
	for _, c := range []struct{ name, value, want string }{
		{"hots", "a", `no field "hots"`},
		{"status", "ok", `set status: "ok" is not an integer of 64 bits`},
		{"status", "1.5", `set status: "1.5" is not an integer of 64 bits`},
		{"request_time", "0.0000001", `set request_time: "0.0000001" is not a number of seconds in whole microseconds`},
		{"blocked", "1", `set blocked: "1" is neither true nor false`},
		{"headers", "a", `set headers: ` + unsupported},
		{"timestamp", "a", `set timestamp: ` + unsupported},
		{"svcid", "a", `set svcid: ` + unsupported},
		{"record_ref", "a", `set record_ref: ` + unsupported},
		{"log_rest", "a", `set log_rest: ` + unsupported},
	} {
		if err := record.SetDefault(&lake.Row{}, c.name, c.value); err == nil || err.Error() != c.want {
			t.Errorf("%s=%s: %v, want %s", c.name, c.value, err, c.want)
		}
	}
}
