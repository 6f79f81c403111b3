package gen

import "strings"

// hostile lists difficult texts as JSON strings, each with the class of problem that it tests. The list is short, so
// that a filter made from one record matches others.
var hostile = []struct{ class, literal string }{
	{"empty", `""`},
	{"space", `" "`},
	{"quote", `"it's \"quoted\" 'twice' "`},
	{"quote", `"'"`},
	{"backslash", `"C:\\temp\\new\\u0041"`},
	{"backslash", `"\\"`},
	{"NUL", `"before\u0000after"`},
	{"NUL", `"\u0000"`},
	{"control", `"line\nbreak\r\n\ttab \u001b[31m\u007f"`},
	{"percent", `"100%25 %s %d %% %00 %2e%2e/%c0%af"`},
	{"percent", `"%"`},
	{"right to left", `"\u202eexe.txt\u202c \u05e9\u05dc\u05d5\u05dd"`},
	{"right to left", `"مرحبا"`},
	{"four bytes", `"😀 \ud83d\ude00 𝔘𝔫𝔦 🏴‍☠️"`},
	{"combining", `"e\u0301 é ﬁ \u0130 \u0131 ß \u017f \u212a"`},
	{"byte order mark", `"\ufeffshop.example"`},
	{"line separator", `"a\u2028b\u2029c"`},
	{"formula", `"=1+1"`},
	{"formula", `"+49 30 1234"`},
	{"formula", `"-2+3"`},
	{"formula", `"@SUM(A1)"`},
	{"formula", `"=HYPERLINK(\"http://evil.example\",\"x\")"`},
	{"SQL", `"'; DROP TABLE requests; --"`},
	{"SQL", `"1' OR '1'='1"`},
	{"SQL", `"a''b"`},
	{"SQL", `"%_like\\_"`},
	{"regex", `"a.b*c+d?(e|f)[g]{1,2}^$\\d"`},
	{"regex", `"(?i)["`},
	{"regex", `"(a+)+$"`},
	{"filter", `"x, blocked is true"`},
	{"filter", `"a and b)"`},
	{"filter", `"~=!<>"`},
	{"surrogate", `"\ud800"`},
	{"surrogate", `"low first \udc00\ud83d end"`},
	{"escapes", `"\/\b\f\u0041\u00e9\u20AC"`},
	{"number", `"403"`},
	{"number", `"1e3"`},
	{"number", `"-0"`},
	{"number", `"007"`},
	{"number", `"NaN"`},
	{"number", `"99999999999999999999.5"`},
	{"word", `"null"`},
	{"word", `"true"`},
	{"word", `"undefined"`},
	{"case", `"passed"`},
	{"case", `"PASSED"`},
	{"markup", `"<script>alert(1)</script>&amp;"`},
	{"path", `"../../etc/passwd"`},
	{"name", `"__proto__"`},
}

// long lists values of 32 kB and more.
var long = []string{
	`"` + strings.Repeat("a", 32<<10) + `"`,
	`"` + strings.Repeat(`\"'`, 16<<10) + `"`,
	`"` + strings.Repeat("😀", 8<<10) + `"`,
	`"` + strings.Repeat("%s(", 11<<10) + `"`,
}

// pairNames lists names of headers, cookies and arguments. They differ in case or contain special characters, and one
// is empty.
var pairNames = []string{
	`"X-Repeated"`, `"x-repeated"`, `"X-REPEATED"`, `""`, `"user-agent"`, `"User-Agent"`, `"svcid"`, `"svcsessionid"`,
	`"a b"`, `"quo\"te"`, `"back\\slash"`, `"nul\u0000"`, `"__proto__"`, `"name"`, `"value"`, `"dotted.name"`,
	`"list[0]"`, `"名前"`, `"😀"`, `"\ud800"`, `"$ref"`, `"*"`, `"^anchored$"`, `"part1"`, `"path"`, `"status"`,
	`"%00"`, `"=1+1"`, `"\u202ertl"`, `"\u017f"`, `"\u212a"`,
}

// otherValues lists values of types that a field may not have.
var otherValues = []string{
	`null`, `true`, `false`, `0`, `-1`, `200.0`, `1e2`, `0.123456789012`, `-0.0`, `1.5e-7`,
	`9223372036854775807`, `9223372036854775808`, `-9223372036854775809`, `99999999999999999999999999`, `1e300`,
	`3.141592653589793238`, `"200"`, `"true"`, `"0.25"`, `"12abc"`, `""`,
	`[]`, `{}`, `[null]`, `[[]]`, `["a",1,null,true,{"b":[]}]`, `{"a":{"b":{"c":[1,2.5,"x"]}}}`, `{"":""}`,
}

// unknownNames lists names of members that are not in the specification.
var unknownNames = []string{
	`"unknown"`, `"Status"`, `"ts_ms"`, `"source"`, `"line"`, `"extra"`, `"details"`, `"x'; --"`, `"nul\u0000"`, `"😀"`,
	`""`, `"timestamp2"`,
}

// The fields by type, quoted as in a record.
var (
	textFields = quotedNames("request_id ip host hostname authority method path query url protocol port version " +
		"branch country geo_region asn organization user_agent referer session result reason challenge_type " +
		"processing_stage")
	numberFields = quotedNames("time_period status bytes_sent request_length request_time svc_latency " +
		"upstream_response_time")
	flagFields  = quotedNames("blocked bot human challenge ichallenge monitor")
	listFields  = quotedNames("tags monitor_reasons upstream_addr upstream_status")
	pairFields  = quotedNames("headers cookies arguments path_parts session_ids")
	entryFields = quotedNames("proxy profiling")
	openFields  = quotedNames("acl_triggers cf_triggers cf_restrict_triggers dr_triggers gf_triggers rl_triggers " +
		"biometric logs")
	structFields = quotedNames("trigger_counters security_config upstream_data")
)

// structValues lists hostile values of the fields with known members.
var structValues = map[string][]string{
	`"trigger_counters"`: {
		`{}`, `{"acl":null,"cf":1}`, `{"acl":"2","cf":3}`, `{"acl":99999999999999999999,"gf":1}`, `{"acl":1,"zz":5}`,
		`{"rl":2.0}`, `{"dr":-1,"cf_restrict":4}`, `[]`, `7`,
	},
	`"security_config"`: {
		`{}`, `{"acl_active":"true"}`, `{"acl_active":1,"cf_active":null}`, `{"revision":17}`,
		`{"revision":"'; --","cf_rules":"12"}`, `{"gf_rules":1.5,"secpolid":""}`,
		`{"acl_active":false,"extra":{"a":1}}`, `""`,
	},
	`"upstream_data"`: {
		`[]`, `[{}]`, `[null]`, `[{"addr":null,"response_time":null,"status":null}]`,
		`[{"addr":"10.0.0.1:80"},{"status":502}]`,
		`[{"addr":"","response_time":"0.5","status":"200"}]`,
		`[{"addr":"a","response_time":0.123456789012,"status":200,"zone":"b"}]`,
		`[{"status":99999999999999999999}]`, `{"addr":"x","status":200}`, `[7]`,
		`[{"addr":"10.0.0.2:80","response_time":1e-6,"status":200},` +
			`{"addr":"10.0.0.2:80","response_time":0.000001,"status":200}]`,
	},
}

// openValues lists hostile values of the open fields.
var openValues = []string{
	`[]`, `{}`, `null`, `[{}]`, `[null]`, `["note",7,true,null,""]`, `"note"`, `3`,
	`{"acl_action":"deny","action":"custom","extra":null,"tags":["all","bot","all"],` +
		`"trigger_id":"acl1","trigger_name":"x'; --"}`,
	`[{"acl_action":"","tags":[],"trigger_id":""},{"acl_action":"deny","tags":["a",1,null]}]`,
	`{"action":"monitor","name":"q","risk_level":5,"ruleid":"1","section":"args","value":"' OR 1=1 \u0000 %"}`,
	`[{"risk_level":"5","value":"=1+1"},{"risk_level":5.0},{"risk_level":99999999999999999999}]`,
	`[{"name":"score","value":0.93},{"name":"score","value":"0.50"},{"name":"","value":null}]`,
	`[{"name":"😀","value":{"deep":[[1],[2,{"x":"y"}]]}}]`,
	`[["nested",["list"]],{"nested":{"object":{}}}]`,
	`{"a":1.10,"b":1e2,"c":-0.0,"d":"\ud800"}`,
}

// quotedNames returns each of the names, which are separated by spaces, between double quotes.
func quotedNames(names string) []string {
	list := strings.Fields(names)
	for i := range list {
		list[i] = `"` + list[i] + `"`
	}
	return list
}
