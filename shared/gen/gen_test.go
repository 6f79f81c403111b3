package gen_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/gen"
)

var day = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// TestGolden checks that equal options give equal bytes everywhere. A deliberate change of the data changes these
// digests; any other difference is a bug.
func TestGolden(t *testing.T) {
	campaign, _ := gen.SceneByName("campaign")
	logins, _ := gen.SceneByName("quiet-logins")
	for _, test := range []struct {
		name    string
		options gen.Options
		want    string
	}{
		{
			"ordinary", gen.Options{Records: 10_000, Seed: 1, From: day},
			"2d74142573e126a5e69089e284f1af07202b3a2e81cf49e5283cab6af70ddd7d",
		},
		{
			"nasty", gen.Options{Records: 2_000, Seed: 1, From: day, Nasty: true},
			"2e9c9cc36b6367ea53021e97d24c8f1cc1918a73463a0ea298b5995eb9a3c736",
		},
		{
			"default period", gen.Options{Records: 100, Seed: 7},
			"89db58ea174f03120b6cedfd768dc9846d49d0f8dcb10ed1f8601a76f6ebd053",
		},
		{
			"with a tail", gen.Options{Records: 10_000, Seed: 1, From: day, Tail: 20},
			"5150a20eec85c8c088d34fa04879a1abe56dd07b7ed3adc81dd3b7b927298675",
		},
		{
			"scene", gen.Options{Records: 5_000, Seed: 1, From: day, Scene: campaign},
			"743a678cd913c6846cd7a8a56e25eaff307cbd739f738374df7534117edb67a8",
		},
		{
			"access log", gen.Options{Records: 5_000, Seed: 1, From: day, Scene: logins, AccessLog: true},
			"16d0fca43efe3468738b30e32bb8b97030f8ca3d4f6128146803e69c46133fd2",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			digest := sha256.New()
			if _, err := io.Copy(digest, gen.New(test.options)); err != nil {
				t.Fatal(err)
			}
			if got := hex.EncodeToString(digest.Sum(nil)); got != test.want {
				t.Errorf("digest %s, want %s", got, test.want)
			}
		})
	}
}

func TestRead(t *testing.T) {
	options := gen.Options{Records: 50, Seed: 3, From: day}
	var want []byte
	g := gen.New(options)
	for {
		line, ok := g.Next(want)
		if !ok {
			break
		}
		want = append(line, '\n')
	}
	if got := bytes.Count(want, []byte("\n")); got != 50 {
		t.Errorf("Next made %d lines, want 50", got)
	}
	if err := iotest.TestReader(gen.New(options), want); err != nil {
		t.Error(err)
	}
	if bytes.Equal(want, readAll(t, gen.Options{Records: 50, Seed: 4, From: day})) {
		t.Error("another seed gave the same records")
	}
	if got := readAll(t, gen.Options{}); len(got) != 0 {
		t.Errorf("options without records gave %q", got)
	}
}

func readAll(t *testing.T, o gen.Options) []byte {
	t.Helper()
	b, err := io.ReadAll(gen.New(o))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// records decodes the lines of a generator.
func records(t *testing.T, o gen.Options) []map[string]any {
	t.Helper()
	var list []map[string]any
	g := gen.New(o)
	for {
		line, ok := g.Next(nil)
		if !ok {
			return list
		}
		if bytes.IndexByte(line, '\n') >= 0 {
			t.Fatalf("a record has a line feed: %.200q", line)
		}
		var r map[string]any
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("record %d: %v: %.2000q", len(list), err, line)
		}
		list = append(list, r)
	}
}

// TestPeriod checks the times of records in periods much shorter and much longer than a day.
func TestPeriod(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	for _, test := range []struct {
		length  time.Duration
		records int
	}{
		{time.Millisecond, 5},
		{3 * time.Millisecond, 100},
		{time.Second, 10},
		{17 * time.Minute, 500},
		{time.Hour, 1},
		{48*time.Hour + time.Millisecond, 400},
		{800 * 24 * time.Hour, 400},
	} {
		for _, nasty := range []bool{false, true} {
			from, to := day.Add(time.Millisecond), day.Add(time.Millisecond+test.length)
			last := from
			list := records(t, gen.Options{Records: test.records, From: from, To: to, Nasty: nasty})
			for i, r := range list {
				at, err := time.Parse(time.RFC3339Nano, r["timestamp"].(string))
				if err != nil {
					t.Fatal(err)
				}
				if at.Before(last) || !at.Before(to) {
					t.Fatalf("%v, nasty %v: record %d is at %v, the last was at %v and the period ends at %v",
						test.length, nasty, i, at, last, to)
				}
				last = at
			}
			if len(list) != test.records {
				t.Errorf("%v: %d records, want %d", test.length, len(list), test.records)
			}
		}
	}
}

// TestRealism checks what the documentation of the package states about the data of a day.
func TestRealism(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	options := gen.Options{Records: 12_000, Seed: 2, From: day}
	list := records(t, options)
	sum := statisticsOf(list)

	for _, f := range catalog.Fields {
		switch f.Name {
		case "svcid", "svcsessionid", catalog.LogRest, catalog.RecordRef:
			continue
		}
		if sum.fields[f.Name] == 0 {
			t.Errorf("no record has the field %s", f.Name)
		}
	}
	for _, name := range []string{"cookie svcid", "cookie svcsessionid"} {
		if sum.fields[name] == 0 {
			t.Errorf("no record has a %s", name)
		}
	}
	for _, name := range []string{
		"additional_tags", "bytes_sent", "container", "geo_as_domain", "geo_as_name", "geo_as_type",
		"geo_company_country", "geo_company_domain", "geo_company_type", "geo_lat", "geo_long", "geo_mobile_carrier",
		"geo_mobile_country", "geo_mobile_mcc", "geo_mobile_mnc", "realip", "request_id", "request_length",
		"request_time", "ssl_cipher", "ssl_protocol", "status",
	} {
		if sum.fields["proxy "+name] == 0 {
			t.Errorf("no record has the proxy item %s", name)
		}
	}
	for _, name := range strings.Fields("secpol mapping flow limit acl content_filter") {
		if sum.fields["profiling "+name] == 0 {
			t.Errorf("no record has the profiling item %s", name)
		}
	}
	for _, status := range []float64{
		200, 247, 301, 304, 401, 403, 404, 429, 470, 471, 472, 473, 474, 499, 500, 502, 503, 504,
	} {
		if sum.statuses[status] == 0 {
			t.Errorf("no record has status %v", status)
		}
	}
	n := float64(len(list))
	for _, c := range []struct {
		what      string
		got       float64
		low, high float64
	}{
		{"share of blocked records", sum.count["blocked"] / n, 0.14, 0.15},
		{"share of bots", sum.count["bot"] / n, 0.15, 0.30},
		{"share of challenges", sum.count["challenged"] / n, 0.01, 0.04},
		{"share of monitored records", sum.count["monitor"] / n, 0.03, 0.05},
		{"share of branch prod", sum.count["prod"] / n, 0.93, 0.98},
		{"share of failing origins", sum.count["5xx"] / n, 0.005, 0.02},
		{"share of retried origins", sum.count["retried"] / n, 0.001, 0.01},
		{"share of origins slower than a second", sum.count["slow"] / n, 0.0005, 0.02},
		{"share with upstream_response_time null", sum.count["null origin time"] / n, 0.01, 0.10},
		{"share of the busiest address", sum.top("ip") / n, 0.001, 0.01},
		{"share of the busiest host", sum.top("host") / n, 0.1, 0.3},
		{"addresses", float64(len(sum.values["ip"])), 4_500, 6_000},
		{"hosts", float64(len(sum.values["host"])), 40, 40},
		{"tags per record", sum.count["tags"] / n, 19, 22},
		{"headers per record", sum.count["headers"] / n, 6, 7.5},
		{"bytes per record", float64(len(readAll(t, options))) / n, 2550, 2700},
		{"ratio of the busiest hour to the quietest", sum.hourRatio(), 3, 12},
	} {
		if c.got < c.low || c.got > c.high {
			t.Errorf("%s: %v, want %v to %v", c.what, c.got, c.low, c.high)
		}
	}
}

// statistics counts properties of records.
type statistics struct {
	fields   map[string]int
	statuses map[any]int
	values   map[string]map[any]int
	count    map[string]float64
	hours    [24]float64
}

func statisticsOf(list []map[string]any) statistics {
	s := statistics{
		fields:   map[string]int{},
		statuses: map[any]int{},
		values:   map[string]map[any]int{"ip": {}, "host": {}},
		count:    map[string]float64{},
	}
	add := func(name string, is bool) {
		if is {
			s.count[name]++
		}
	}
	for _, r := range list {
		for name := range r {
			s.fields[name]++
		}
		cookies, _ := r["cookies"].(map[string]any)
		for name := range cookies {
			s.fields["cookie "+name]++
		}
		for _, list := range []string{"proxy", "profiling"} {
			for _, item := range r[list].([]any) {
				s.fields[list+" "+item.(map[string]any)["name"].(string)]++
			}
		}
		s.statuses[r["status"]]++
		s.values["ip"][r["ip"]]++
		s.values["host"][r["host"]]++
		add("blocked", r["blocked"] == true)
		add("bot", r["bot"] == true)
		add("challenged", r["challenge"] == true || r["ichallenge"] == true)
		add("monitor", r["monitor"] == true)
		add("prod", r["branch"] == "prod")
		add("5xx", r["status"].(float64) >= 500)
		upstream, _ := r["upstream_data"].([]any)
		add("retried", len(upstream) > 1)
		originTime, reported := r["upstream_response_time"]
		seconds, _ := originTime.(float64)
		add("slow", seconds > 1)
		add("null origin time", reported && originTime == nil)
		s.count["tags"] += float64(len(r["tags"].([]any)))
		s.count["headers"] += float64(len(r["headers"].(map[string]any)))
		s.hours[int64(r["time_period"].(float64))/3600%24]++
	}
	return s
}

func (s statistics) top(field string) float64 {
	most := 0
	for _, n := range s.values[field] {
		most = max(most, n)
	}
	return float64(most)
}

func (s statistics) hourRatio() float64 { return slices.Max(s.hours[:]) / slices.Min(s.hours[:]) }

// TestConsistency checks that the fields of a record agree.
func TestConsistency(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	fieldOf := map[string]string{
		"acl":                     "acl_triggers",
		"content filter":          "cf_triggers",
		"content filter restrict": "cf_restrict_triggers",
		"global filter":           "gf_triggers",
		"rate limit":              "rl_triggers",
		"dynamic rule":            "dr_triggers",
	}
	stages := map[string]int{}
	for i, r := range records(t, gen.Options{Records: 4_000, Seed: 5, From: day}) {
		reasons := []string{}
		if reason, ok := r["reason"].(string); ok {
			reasons = append(reasons, reason)
		}
		if blocked := r["blocked"].(bool); blocked != (len(reasons) == 1) || blocked != (r["result"] == "Blocked") {
			t.Fatalf("record %d: blocked %v, result %v, reasons %v", i, blocked, r["result"], reasons)
		}
		monitors, _ := r["monitor_reasons"].([]any)
		if (len(monitors) > 0) != r["monitor"].(bool) {
			t.Fatalf("record %d: monitor %v with reasons %v", i, r["monitor"], monitors)
		}
		for _, m := range monitors {
			reasons = append(reasons, m.(string))
		}
		want := map[string]int{}
		for _, reason := range reasons {
			parts := strings.Split(reason, " - ")
			if len(parts) != 4 || parts[0] != "Block" && parts[0] != "Monitor" || !strings.HasPrefix(parts[3], "[") {
				t.Fatalf("record %d: reason %q does not have the grammar of reasons", i, reason)
			}
			stage, _, _ := strings.Cut(parts[1], " [")
			if strings.HasPrefix(stage, "acl ") {
				stage = "acl"
			}
			want[fieldOf[stage]]++
			stages[stage]++
		}
		if r["status"] == 247.0 {
			want["acl_triggers"]++ // a challenge is an action of its profile, without a reason
		}
		got := map[string]int{}
		for counter, n := range r["trigger_counters"].(map[string]any) {
			if n := int(n.(float64)); n > 0 {
				got[counter+"_triggers"] = n
			}
		}
		for _, field := range fieldOf {
			entries := 0
			switch v := r[field].(type) {
			case map[string]any:
				entries = 1
			case []any:
				entries = len(v)
			}
			if entries != want[field] || got[field] != want[field] {
				t.Fatalf("record %d: %s has %d entries, counted %d, reasons %v", i, field, entries, got[field], reasons)
			}
		}
		early := r["processing_stage"].(float64) < 6
		if _, reached := r["upstream_data"]; reached == early {
			t.Fatalf("record %d: stage %v, origin reached: %v", i, r["processing_stage"], reached)
		}
		origin, _ := r["upstream_response_time"].(float64)
		if total := origin + r["svc_latency"].(float64)/1e6; math.Abs(r["request_time"].(float64)-total) > 1e-9 {
			t.Fatalf("record %d: times do not add up", i)
		}
	}
	if len(stages) != len(fieldOf) {
		t.Errorf("the reasons are only of the stages %v", stages)
	}
}

// TestAttacks checks that the records contain the four kinds of burst.
func TestAttacks(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	type minute struct {
		second int64
		kind   string
	}
	perMinute := map[minute]int{}
	for _, r := range records(t, gen.Options{Records: 8_000, Seed: 1, From: day}) {
		kind := ""
		reason, _ := r["reason"].(string)
		switch {
		case strings.Contains(reason, "Login attempts"):
			kind = "credential stuffing"
		case strings.Contains(reason, "Too many paths"):
			kind = "scraping"
		case strings.Contains(reason, "cf-rule-category"):
			kind = "injection"
		case strings.Contains(reason, "Searches"):
			kind = "flood"
		}
		perMinute[minute{int64(r["time_period"].(float64)) / 60, kind}]++
	}
	for _, kind := range []string{"credential stuffing", "scraping", "injection", "flood"} {
		most := 0
		for m, n := range perMinute {
			if m.kind == kind {
				most = max(most, n)
			}
		}
		if most < 10 { // a minute has 5 records on average
			t.Errorf("%s has at most %d records per minute, want a burst", kind, most)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	g := gen.New(gen.Options{Records: 1 << 30, From: day})
	var line []byte
	for b.Loop() {
		line, _ = g.Next(line[:0])
		b.SetBytes(int64(len(line)))
	}
}

// TestTail checks that a part of the addresses, paths and browsers occur only once, in about as many records as asked for.
func TestTail(t *testing.T) {
	const records = 20_000
	for tail, want := range map[int][2]int{0: {0, 0}, 10: {1_500, 2_200}, 100: {15_000, 20_000}} {
		agents := map[string]int{}
		g := gen.New(gen.Options{Records: records, Seed: 5, From: day, Tail: tail})
		for {
			line, more := g.Next(nil)
			if !more {
				break
			}
			var record struct {
				Headers map[string]any `json:"headers"`
			}
			if err := json.Unmarshal(line, &record); err != nil {
				t.Fatal(err)
			}
			agent, _ := record.Headers["user-agent"].(string)
			if strings.Contains(agent, " Build/") {
				agents[agent]++
			}
		}
		if n := len(agents); n < want[0] || n > want[1] {
			t.Errorf("%d %%: %d browsers of the tail, want %v", tail, n, want)
		}
		for agent, n := range agents {
			if n > 1 {
				t.Errorf("%d %%: %s occurs %d times", tail, agent, n)
			}
		}
	}
}

// TestUniform: far more different paths are in the records if all are equally frequent.
func TestUniform(t *testing.T) {
	paths := map[bool]map[string]bool{false: {}, true: {}}
	for uniform, found := range paths {
		g := gen.New(gen.Options{Records: 20_000, Seed: 5, From: day, Uniform: uniform})
		for {
			line, more := g.Next(nil)
			if !more {
				break
			}
			var record struct {
				Path string `json:"path"`
			}
			if err := json.Unmarshal(line, &record); err != nil {
				t.Fatal(err)
			}
			found[record.Path] = true
		}
	}
	if zipf, uniform := len(paths[false]), len(paths[true]); uniform < 2*zipf {
		t.Errorf("%d different paths, and %d by Zipf's law", uniform, zipf)
	}
}
