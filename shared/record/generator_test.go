package record_test

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

var (
	textNames = []string{
		"asn", "authority", "branch", "challenge_type", "country", "geo_region", "host", "hostname", "ip",
		"method", "organization", "path", "port", "protocol", "query", "reason", "referer", "request_id", "result",
		"session", "url", "user_agent", "version",
	}
	intNames    = []string{"status", "bytes_sent", "request_length", "svc_latency", "time_period"}
	secondNames = []string{"request_time", "upstream_response_time"}
	flagNames   = []string{"blocked", "bot", "human", "challenge", "ichallenge", "monitor"}
	textLists   = []string{"tags", "monitor_reasons", "upstream_addr"}
	pairNames   = []string{"headers", "cookies", "arguments", "path_parts", "session_ids", "proxy", "profiling"}
	openNames   = []string{
		"acl_triggers", "cf_triggers", "cf_restrict_triggers", "dr_triggers", "gf_triggers", "rl_triggers",
		"biometric", "logs",
	}
	otherNames = []string{
		"upstream_status", "upstream_data", "trigger_counters", "security_config", "processing_stage", "svcid",
		"svcsessionid", "unknown", "log_rest", "", "ünknown", "a\\\"b", "st\\u0061tus", "name", "value",
	}
	allNames = concat(textNames, intNames, secondNames, flagNames, textLists, pairNames, openNames, otherNames)

	integers = []string{
		"0", "1", "200", "-1", "-0", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
		"123456789012345678901234567890", "2e2", "200.0", "2.5", "1e400", "1E-2", "100e-2", "1e999999999999",
		"0e5",
	}
	decimals = []string{
		"0", "0.0", "1.5", "0.000001", "0.0000001", "0.1234567890123", "1e-6", "1e-7", "12345678.25", "-0.5",
		"-0.0000005", "9223372036854.775807", "9223372036854.775808", "1e300", "0.100000000000000005551",
		"1e-999999999999",
	}
	timestamp = []string{
		`"2026-01-02T03:04:05.678Z"`, `"2026-01-02T03:04:05Z"`, `"2026-12-31 23:59:59.123456789-11:30"`,
		`"2026-01-02t03:04:05,1234567890123z"`, `"2026-01-02_03:04"`, `"2026-01-02 03:04:05 +0200"`,
		`"1969-12-31T23:59:59.5Z"`, "1700000000", "1700000000123", "1700000000123456", "1700000000123456789",
		"1700000000.25", "-1.5", `"1700000000"`, "1.7e9", "1.7000000005e9",
	}
	badTimes = []string{
		"null", "true", `"2026-02-29T00:00:00Z"`, `"2026-13-01T00:00:00Z"`, `"2026-01-01"`, `"24:00"`, `""`,
		`"2026-01-01T24:00:00Z"`, `"2026-01-01T00:00:60Z"`, `"0000-01-01T00:00:00+01:00"`,
		`"9999-12-31T23:59:59-01:00"`, `"2026-01-01T00:00:00.Z"`, `"2026-01-01T00:00:00Z "`, "1e400",
		"0.0000000001", "{}", "[]",
	}
	texts = []string{
		"", "a", "200", "true", "6", "0.5", "1e3", "null", "it\\\"s", "back\\\\slash", "\\u0000", "\\u0041\\/",
		"tab\\t\\b\\f\\n\\r", "\\ud83d\\ude00", "\\ud800", "\\udc00\\ud800", "\\ud800\\u0041", "ünïcödé",
		"\u2028\u2029", "\u202eRTL", "\U0001F600", "\x7f", "=cmd()", "%27 OR 1=1", "\xff\xfe", "\xed\xa0\x80",
		"cut\xe2\x82", "long",
	}
)

func concat(lists ...[]string) (all []string) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// anyLine generates lines, most of which are records: valid and unexpected values for every field, both shapes of
// pairs, duplicates, escapes, invalid UTF-8, white space.
func anyLine() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var members []string
		add := func(name, value string) {
			members = append(members, fmt.Sprintf(`%s"%s"%s:%s%s`, space(t), name, space(t), space(t), value))
		}
		switch rapid.IntRange(0, 20).Draw(t, "time") {
		case 0:
		case 1:
			add("timestamp", pick(t, badTimes))
		default:
			add("timestamp", pick(t, timestamp))
		}
		for range rapid.IntRange(0, 12).Draw(t, "members") {
			name := pick(t, allNames)
			if rapid.IntRange(0, 2).Draw(t, "odd") == 0 {
				add(name, anyValue(t, 3))
			} else {
				add(name, fieldValue(t, name))
			}
		}
		line := "{" + strings.Join(members, ",") + space(t) + "}"
		if rapid.IntRange(0, 40).Draw(t, "cut") == 0 {
			line = line[:rapid.IntRange(0, len(line)).Draw(t, "to")]
		}
		return line
	})
}

func pick(t *rapid.T, from []string) string { return rapid.SampledFrom(from).Draw(t, "pick") }

func space(t *rapid.T) string { return pick(t, []string{"", "", "", "", "", "", " ", "\t\r ", "\n"}) }

// quoted generates a JSON string.
func quoted(t *rapid.T) string {
	s := pick(t, texts)
	if s == "long" {
		s = strings.Repeat("x", rapid.IntRange(200, 70_000).Draw(t, "length"))
	}
	return `"` + s + `"`
}

// fieldValue generates a value of the type of a field.
func fieldValue(t *rapid.T, name string) string {
	is := func(names []string) bool { return slices.Contains(names, name) }
	switch {
	case is(intNames):
		return pick(t, integers)
	case is(secondNames):
		return pick(t, decimals)
	case is(flagNames):
		return pick(t, []string{"true", "false"})
	case is(textLists):
		return list(t, 4, func() string { return quoted(t) })
	case name == "upstream_status":
		return list(t, 4, func() string { return pick(t, integers) })
	case is(pairNames):
		return pairs(t)
	case is(openNames):
		return list(t, 3, func() string {
			return object(t, 3, []string{"name", "value", "action", "tags"}, func() string { return anyValue(t, 2) })
		})
	case name == "upstream_data":
		return list(t, 3, func() string {
			return object(t, 3, []string{"addr", "response_time", "status"}, func() string {
				return pick(t, concat(decimals, integers, []string{`"10.0.0.1:80"`}))
			})
		})
	case name == "trigger_counters":
		names := []string{"acl", "cf", "cf_restrict", "dr", "gf", "rl"}
		return object(t, 6, names, func() string { return pick(t, integers) })
	case name == "security_config":
		names := []string{
			"acl_active", "cf_active", "cf_rules", "gf_rules", "revision", "rl_rules", "secpolentryid", "secpolid",
		}
		return object(t, 8, names, func() string { return pick(t, []string{"true", "false", "3", `"text"`}) })
	case name == "processing_stage":
		return pick(t, concat(integers, []string{quoted(t)}))
	}
	return quoted(t)
}

// pairs generates names and values in one of the two shapes, sometimes very many.
func pairs(t *rapid.T) string {
	most := 6
	if rapid.IntRange(0, 15).Draw(t, "many") == 0 {
		most = 80
	}
	names := []string{"a", "b", "svcid", "svcsessionid", "Host", "\\u0061", ""}
	for i := range most {
		names = append(names, fmt.Sprint("n", i))
	}
	if rapid.Bool().Draw(t, "as list") {
		return list(t, most, func() string {
			members := []string{fmt.Sprintf(`"name":"%s"`, pick(t, names)), `"value":` + quoted(t)}
			if rapid.Bool().Draw(t, "value first") {
				members[0], members[1] = members[1], members[0]
			}
			return "{" + strings.Join(members, ",") + "}"
		})
	}
	return object(t, most, names, func() string {
		if rapid.IntRange(0, 4).Draw(t, "several") == 0 {
			return list(t, 3, func() string { return quoted(t) })
		}
		return quoted(t)
	})
}

func list(t *rapid.T, most int, element func() string) string {
	elements := make([]string, rapid.IntRange(0, most).Draw(t, "elements"))
	for i := range elements {
		elements[i] = space(t) + element()
	}
	return "[" + strings.Join(elements, ",") + space(t) + "]"
}

func object(t *rapid.T, most int, names []string, value func() string) string {
	members := make([]string, rapid.IntRange(0, most).Draw(t, "members"))
	for i := range members {
		members[i] = fmt.Sprintf(`%s"%s":%s`, space(t), pick(t, names), value())
	}
	return "{" + strings.Join(members, ",") + space(t) + "}"
}

// anyValue generates a JSON value. Objects and arrays are nested at most depth levels deep.
func anyValue(t *rapid.T, depth int) string {
	most := 7
	if depth == 0 {
		most = 5
	}
	switch rapid.IntRange(0, most).Draw(t, "kind") {
	case 0:
		return "null"
	case 1:
		return pick(t, []string{"true", "false"})
	case 2:
		return pick(t, integers)
	case 3:
		return pick(t, decimals)
	case 6:
		return list(t, 3, func() string { return anyValue(t, depth-1) })
	case 7:
		names := []string{"name", "value", "a", "addr", "status", "acl", "acl_active"}
		return object(t, 3, names, func() string { return anyValue(t, depth-1) })
	}
	return quoted(t)
}
