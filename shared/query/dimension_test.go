package query_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/testkit/reference"
)

func TestParseDimensions(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{
			"fields of every kind",
			"status, blocked,tags,processing_stage,svcid", "status,blocked,tags,processing_stage,svcid",
		},
		{"header names are in lower case", `headers["User-Agent"]`, `headers["user-agent"]`},
		{"other names are exact", `cookies["SID"],arguments[""]`, `cookies["SID"],arguments[""]`},
		{
			"members with one value, and in lists",
			`security_config["acl_active"],upstream_data["status"]`,
			`security_config["acl_active"],upstream_data["status"]`,
		},
		{"networks", "ip,ip/24,ip/16,ip/48 , ip/64", "ip,ip/24,ip/16,ip/48,ip/64"},
		{"the defaults of facets", query.DefaultFacets, query.DefaultFacets},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, err := query.ParseDimensions(c.text)
			if err != nil {
				t.Fatal(err)
			}
			texts := make([]string, len(list))
			for i, d := range list {
				texts[i] = d.String()
			}
			if got := strings.Join(texts, ","); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestDimensionMistakes(t *testing.T) {
	for _, c := range []struct{ name, text, code, message string }{
		{"times are not groupable", "timestamp", "not_groupable", "a time or a duration; the others are acl_triggers"},
		{"seconds are times", "time_period", "not_groupable", ""},
		{"durations are not groupable", "request_time", "not_groupable", ""},
		{"microseconds are durations", "svc_latency", "not_groupable", ""},
		{"durations of members are not groupable", `upstream_data["response_time"]`, "not_groupable", ""},
		{"members need a key", "headers", "not_groupable", `name one of them: headers["name"]`},
		{"members of closed keys need a key", "security_config", "not_groupable", `security_config["acl_active"]`},
		{"a pattern is several members", `headers[~"^x"]`, "not_groupable", "pattern"},
		{"fields without members take no key", `status["a"]`, "key_not_taken", ""},
		{"unknown members", `trigger_counters["acls"]`, "unknown_key", "its members are acl,"},
		{"unknown fields suggest the nearest", "contry", "unknown_field", `did you mean "country"?`},
		{"a reference", "record_ref", "not_groupable", "by record_ref, which is different for every record"},
		{
			"networks of another size", "ip/25", "not_groupable",
			"cannot be grouped by ip/25; the networks are ip/24, ip/16 of IPv4 and ip/48, ip/64 of IPv6",
		},
		{"a length with a leading zero", "ip/024", "not_groupable", "ip/024; the networks are"},
		{"a length that is no number", "ip/x", "not_groupable", "ip/x; the networks are"},
		{"networks of a field without addresses", "host/24", "not_groupable", "host has no networks"},
		{"networks of a field with members", "headers/24", "not_groupable", "headers has no networks"},
		{"networks of an unknown field", "ipp/24", "unknown_field", `did you mean "ip"?`},
		{"networks that are given twice", "ip/24,ip,ip/24", "value_error", "ip/24 is given twice"},
		{"a field that is given twice", `ip,headers["A"],headers["a"]`, "value_error", `headers["a"] is given twice`},
		{"no field", "", "value_error", "column 1: expected"},
		{"too many fields", strings.Repeat("ip,", 16) + "ip", "value_error", "17 fields are too many"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := query.ParseDimensions(c.text)
			var wrong *query.DimensionError
			if !errors.As(err, &wrong) || wrong.Code != c.code || !strings.Contains(wrong.Message, c.message) {
				t.Errorf("%+v, want %s: %s", err, c.code, c.message)
			}
		})
	}
}

// everyDimension returns a dimension for every source of every field.
func everyDimension(t *testing.T) []query.Dimension {
	t.Helper()
	var list []query.Dimension
	for i := range catalog.Fields {
		f := &catalog.Fields[i]
		texts := append([]string{f.Name}, f.Networks()...)
		switch f.Keys {
		case catalog.ClosedKeys:
			texts = nil
			for _, name := range f.Members() {
				texts = append(texts, f.Name+`["`+name+`"]`)
			}
		case catalog.OpenKeys, catalog.FoldedKeys:
			texts = []string{f.Name + `["name"]`, f.Name + `["x-name"]`}
		}
		for _, text := range texts {
			parsed, err := query.ParseDimensions(text)
			var wrong *query.DimensionError
			if errors.As(err, &wrong) && wrong.Code == "not_groupable" {
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			list = append(list, parsed...)
		}
	}
	return list
}

// TestConditionsOfFacets checks that the conditions of a value select the records that it counts, and all others.
func TestConditionsOfFacets(t *testing.T) {
	rows := querytest.Rows(rand.New(rand.NewPCG(1, 2)), 150)
	counted := func(text string) int64 {
		q := bindShape(t, "timestamp between 1970-01-01 and 2100-01-01"+text, query.Facets{Limit: 1})
		return reference.Evaluate(&q, rows).Facets.Requests
	}
	values := 0
	dimensions := everyDimension(t)
	for _, d := range dimensions {
		q := bindShape(t, "timestamp between 1970-01-01 and 2100-01-01",
			query.Facets{By: []query.Dimension{d}, Limit: 80})
		for _, v := range reference.Evaluate(&q, rows).Facets.Facets[0].Values {
			values++
			with, without, ok := d.Condition(v.Value)
			if !ok {
				t.Errorf("%s: no condition for %q", d, v.Value)
				continue
			}
			if n := counted(", " + with); n != v.Requests {
				t.Errorf("%s holds for %d records, but %d are counted", with, n, v.Requests)
			}
			if n := counted(", " + without); n != int64(len(rows))-v.Requests {
				t.Errorf("%s holds for %d records", without, n)
			}
		}
	}
	if len(dimensions) < 65 || values < 500 {
		t.Errorf("only %d values of %d dimensions are tested", values, len(dimensions))
	}
}

// TestConditionsOfNetworks checks that a condition on the whole family selects the records with a network, and the negated
// one the records without.
func TestConditionsOfNetworks(t *testing.T) {
	rows := querytest.Rows(rand.New(rand.NewPCG(1, 2)), 400)
	counted := func(text string) int64 {
		q := bindShape(t, "timestamp between 1970-01-01 and 2100-01-01"+text, query.Facets{Limit: 1})
		return reference.Evaluate(&q, rows).Facets.Requests
	}
	for _, d := range querytest.Dimensions("ip/24,ip/16,ip/48,ip/64") {
		family := "0.0.0.0/0"
		if d.Network.Six {
			family = "::/0"
		}
		q := bindShape(t, "timestamp between 1970-01-01 and 2100-01-01",
			query.Facets{By: []query.Dimension{d}, Limit: 80})
		n, all := reference.Evaluate(&q, rows).Facets.Facets[0].Requests, int64(len(rows))
		if in, others := counted(", ip="+family), counted(", ip!="+family); in != n || others != all-n || n == 0 || n == all {
			t.Errorf("%d of %d records have a value of %s; %d are in %s, and %d are not", n, all, d, in, family, others)
		}
	}
}

func TestValuesWithoutCondition(t *testing.T) {
	list, err := query.ParseDimensions("url")
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"a\x00", "\xff"} {
		if with, _, ok := list[0].Condition(value); ok {
			t.Errorf("%q has the condition %s", value, with)
		}
	}
}

func TestDimensionValues(t *testing.T) {
	text := func(s string) *string { return &s }
	row := &lake.Row{
		IP:             text("192.0.2.7"),
		Tags:           []string{"b", "a", "b"},
		UpstreamStatus: []int64{502, 200, 502},
		SvcID:          text("first"), SvcIDMore: []string{"second", "first"},
		Headers:      []lake.Pair{{Name: "X-A", Value: "1"}, {Name: "x-a", Value: "2"}, {Name: "x-b", Value: "3"}},
		Cookies:      []lake.Pair{{Name: "A", Value: "1"}, {Name: "a", Value: "2"}},
		UpstreamData: []lake.Upstream{{}, {Addr: text("10.0.0.1")}},
	}
	for _, c := range []struct{ name, by, want string }{
		{"different elements of a list", "tags", "a b"},
		{"integers as text", "upstream_status", "200 502"},
		{"every cookie of the name", "svcid", "first second"},
		{"header names without regard to case", `headers["x-A"]`, "1 2"},
		{"other names with regard to case", `cookies["a"]`, "2"},
		{"members that are present", `upstream_data["addr"]`, "10.0.0.1"},
		{"nothing of an absent field", "url", ""},
		{"the network of an address", "ip/24", "192.0.2.0/24"},
		{"a larger one", "ip/16", "192.0.0.0/16"},
		{"no network of the other family", "ip/64", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, err := query.ParseDimensions(c.by)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(list[0].Values(row), " "); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestNetworkOfText compares the networks of 10,000 texts with package netip.
func TestNetworkOfText(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 5))
	found := map[int]int{}
	for range 10_000 {
		text := querytest.AddressText(r, querytest.Network(r))
		for _, d := range querytest.Dimensions("ip/24,ip/16,ip/48,ip/64") {
			want, inside := querytest.Around(text, d.Network.Bits)
			got := d.Values(&lake.Row{IP: &text})
			if inside != (len(got) == 1) || inside && got[0] != want {
				t.Fatalf("%s of %q: %q, want %q, %v", d, text, got, want, inside)
			}
			if inside {
				found[d.Network.Bits]++
			}
		}
	}
	for _, size := range catalog.NetworkSizes {
		if found[size.Bits] < 1_000 {
			t.Errorf("only %d texts are in networks %s", found[size.Bits], size)
		}
	}
}

// FuzzParseDimensions checks that a printed dimension is the same dimension.
func FuzzParseDimensions(f *testing.F) {
	for _, text := range []string{
		query.DefaultFacets, `headers["A"],cookies["\\"]`, `trigger_counters["acl"]`, "ip,ip", "ip/24,ip/064",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := query.ParseDimensions(text)
		for _, d := range list {
			again, err := query.ParseDimensions(d.String())
			if err != nil || len(again) != 1 || again[0].String() != d.String() {
				t.Fatalf("%s is parsed as %v: %v", d, again, err)
			}
		}
		if wrong := (*query.DimensionError)(nil); err != nil && (!errors.As(err, &wrong) || wrong.Code == "") {
			t.Fatalf("error %v", err)
		}
	})
}

// TestSeriesAddUp checks that the series of a segment add up to the requests of the timeline, for dimensions with
// at most one value in a record.
func TestSeriesAddUp(t *testing.T) {
	rows := querytest.Rows(rand.New(rand.NewPCG(3, 4)), 200)
	const all = "timestamp between 2026-01-01 and 2026-01-03"
	tested := 0
	for _, d := range everyDimension(t) {
		if !d.Single() {
			continue
		}
		tested++
		timeline := bindShape(t, all, query.Timeline{SegmentSeconds: 3600})
		left := map[int64]int64{}
		for _, row := range reference.Evaluate(&timeline, rows).Timeline {
			left[row.Segment] = row.Requests
		}
		histogram := bindShape(t, all, query.Histogram{SegmentSeconds: 3600, By: &d, Limit: 2})
		for _, s := range reference.Evaluate(&histogram, rows).Histogram {
			for _, p := range s.Points {
				left[p.Segment] -= p.N
			}
		}
		for segment, n := range left {
			if n != 0 {
				t.Errorf("%s: the series of segment %d lack %d requests", d, segment, n)
			}
		}
	}
	if tested < 30 {
		t.Errorf("only %d dimensions are tested", tested)
	}
}
