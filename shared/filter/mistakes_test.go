package filter_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/orrery/orrery/shared/filter"
)

// mistakes lists filters with mistakes: the codes of the mistakes in order, and the corrected filter if every mistake
// has a correction.
var mistakes = []struct{ name, text, codes, fixed string }{
	{"== means =", `status==404`, "unknown_operator", `status=404`},
	{"=~ means ~", `path=~x`, "unknown_operator", `path~x`},
	{"<> means !=", `status <> 404`, "unknown_operator", `status != 404`},
	{"a colon means =", `status:404`, "unknown_operator", `status=404`},
	{"=> means >=", `status=>404`, "unknown_operator", `status>=404`},
	{
		"names of the JSON form",
		`status gte 404, path not regex "x"`,
		"unknown_operator unknown_operator",
		`status >= 404, path !~ "x"`,
	},
	{"not before a symbol", `status not = 404`, "unknown_operator", `status != 404`},
	{"not before a symbol without a negation", `status not > 404`, "unknown_operator", ``},
	{"not before a run", `status not =< 404`, "unknown_operator", ``},
	{
		"a misspelt operator keeps its negation",
		`a nin (1), b nbetween 1 and 2, c notin (3), d nregex x, e nis true`,
		"unknown_operator unknown_operator unknown_operator unknown_operator unknown_operator",
		`a not in (1), b not between 1 and 2, c not in (3), d !~ x, e not is true`,
	},
	{"a list of values in brackets", `ip in (@tor), a=b`, "wrong_list_name", `ip in @tor, a=b`},
	{"not the name of a list", `ip in @Tor, a in @x:0, b in @`, "wrong_list_name wrong_list_name wrong_list_name", ``},
	{"a list and a value", `{"field":"ip","op":"in","list":"tor","value":["a"]}`, "list_and_value", ``},
	{"a list without in", `{"field":"ip","op":"eq","list":"tor"}`, "list_operator", ``},
	{"a list that is no text", `{"field":"ip","op":"in","list":["tor"]}`, "wrong_type", ``},
	{
		"the name of a list with @ in JSON", `{"field":"ip","op":"in","list":"@tor"}`, "wrong_list_name",
		`{"field":"ip","op":"in","list":"tor"}`,
	},
	{"! before a word of the JSON form", `a !regex x, b !eq 1`, "unknown_operator unknown_operator", `a !~ x, b != 1`},
	{"a negation of >", `a ngt 1`, "unknown_operator", ``},
	{
		"two negations are ambiguous",
		`a not nin (1), b not ne 1, c nnin (1)`,
		"unknown_operator unknown_operator expected_operator",
		``,
	},
	{"a misspelt word with a negation", `a nbetwen 1 and 2`, "unknown_operator", `a not between 1 and 2`},
	{"a misspelt word", `status betwen 1 and 2`, "unknown_operator", `status between 1 and 2`},
	{"an unknown symbol", `status :~ 4`, "unknown_operator", ``},
	{"no operator", `status`, "expected_operator", ``},
	{"an unknown word", `path resembles x, status=1`, "expected_operator", ``},
	{"an operator of another language", `path contains x, status=1`, "unknown_operator", `path ~ x, status=1`},
	{"a comma in a bare value", `organization=Smith, Inc, status=404`, "expected_operator", ``},
	{"a value is missing at the end", `status=`, "missing_value", ``},
	{"a value is missing before a comma", `status= , host=x, path is`, "missing_value missing_value", ``},
	{"a value is missing before a separator", `a=; b=2`, "missing_value", ``},
	{
		"a value begins like an operator",
		`path~<script>, path = !x`,
		"bare_start bare_start",
		`path~"<script>", path = "!x"`,
	},
	{
		"a value begins like an operator after not",
		`path not ~<script>x, a~!!b`,
		"unknown_operator bare_start bare_start",
		`path !~"<script>x", a~"!!b"`,
	},
	{
		"a repeat in a bare pattern",
		`path~^/a{1,3}$, path~(a{2,})+, path~(b{1,2}), path~(c{1,2}, d)`,
		"bare_comma bare_comma bare_comma bare_comma",
		`path~"^/a{1,3}$", path~"(a{2,})+", path~("b{1,2}"), path~("c{1,2}", d)`,
	},
	{"a trailing comma", `status=404, `, "extra_comma", `status=404 `},
	{"a leading comma", `, status=404`, "extra_comma", ` status=404`},
	{"commas in a row", `a=1,, ,b=2,,`, "extra_comma extra_comma", `a=1,b=2`},
	{
		"and",
		`a=1 and b=2 AND c in (1) && d=4`,
		"wrong_separator wrong_separator wrong_separator",
		`a=1, b=2, c in (1), d=4`,
	},
	{"and after a comma", `a=1, and b=2`, "wrong_separator", `a=1, b=2`},
	{"and not after a comma", `a=1, and not b=2`, "wrong_separator", `a=1, not b=2`},
	{"a semicolon", `a=1; b="2"; c is true`, "wrong_separator wrong_separator", `a=1, b="2", c is true`},
	{"a line break", "a=1\nb=2", "missing_comma", "a=1,\nb=2"},
	{"no comma after between", `a between 1 and 2 b=2`, "missing_comma", `a between 1 and 2, b=2`},
	{"no comma", `a="1" b=2`, "missing_comma", `a="1", b=2`},
	{"text after a string", `a="1"x, b=2`, "expected_comma", ``},
	{"text after a list", `a in (1) x y`, "expected_comma", ``},
	{"or", `a=1 or b=2 || c="3" OR d=4`, "or_unsupported or_unsupported or_unsupported", ``},
	{"or in brackets", `(a=1 or b=")"), c=3`, "or_unsupported", ``},
	{"brackets", `(a=1, b=2), c==3`, "grouping unknown_operator", ``},
	{"unclosed brackets", `not (a=1`, "grouping", ``},
	{
		"! means not",
		`!a=1, b !in (1), c ! in (1)`,
		"wrong_not wrong_not wrong_not",
		`not a=1, b not in (1), c not  in (1)`,
	},
	{"not twice", `not not a=1, not not not b=2`, "wrong_not wrong_not", ` a=1, not b=2`},
	{"is not", `blocked is not true`, "wrong_not", `blocked not is true`},
	{"is with another value", `blocked is yes, bot is 1`, "expected_boolean expected_boolean", ``},
	{"a comma in between", `a between 1, 2`, "wrong_between", `a between 1 and 2`},
	{"a comma without a space in between", `a between 1,5`, "wrong_between", `a between 1 and 5`},
	{"between with one value", `a between 1, b=2, c between 1`, "wrong_between wrong_between", ``},
	{"between without its second value", `a between 1 and, b between and 2`, "missing_value missing_value", ``},
	{"between with three values", `a between 1 and 2 and 3`, "expected_comma", ``},
	{
		"between with brackets",
		`a between (1, 2), b between [1 and 2]`,
		"wrong_between wrong_between",
		`a between 1 and 2, b between 1 and 2`,
	},
	{"between with odd brackets", `a between (x), b=1, c between [`, "wrong_between wrong_between", ``},
	{"in without brackets", `a in 1, b in ["x"]`, "expected_list expected_list", `a in (1), b in ("x")`},
	{"in with other brackets", `a in {1,2}, b not in ["x"], c in {1`, "expected_list expected_list unclosed_list", ``},
	{"in without a value", `a in , b in [1`, "missing_value unclosed_list", ``},
	{"an empty list", `a in (), b~( )`, "empty_list empty_list", ``},
	{"commas in a list", `a in (1,,2,), b in (,1)`, "extra_comma extra_comma extra_comma", `a in (1,2), b in (1)`},
	{"a list without a comma", `a in ("1" "2")`, "expected_comma", ``},
	{"an open list", `a in (1, 2, b=3`, "unclosed_list", `a in (1, 2), b=3`},
	{"an open list at the end", `a in (1, "2"`, "unclosed_list", `a in (1, "2")`},
	{"an open empty list", `a in (`, "unclosed_list", ``},
	{"a list after =", `a=(1, 2), b!=("x")`, "expected_one expected_one", `a in (1, 2), b not in ("x")`},
	{"an open string", `a="x, y, b=2`, "unclosed_string", `a="x, y", b=2`},
	{"an open string at the end", `a=1, b="`, "unclosed_string", `a=1, b=""`},
	{"a closing quote alone", `a=x", b=2`, "stray_quote", `a="x", b=2`},
	{"a quote in the middle", `a=x"y`, "stray_quote", ``},
	{"curly quotes", `a=“x, y”, b = ‘z’`, "wrong_quotes wrong_quotes", `a="x, y", b = "z"`},
	{"unclosed curly quotes", `a=“x`, "wrong_quotes", `a="x"`},
	{"single quotes", `a='x'`, "wrong_quotes", `a="x"`},
	{"a quoted field", `"a"=1`, "expected_field", `a=1`},
	{"no field", `=1, ="x", a=1`, "expected_field", ``},
	{"an invalid field name", `ä=1, b=1`, "expected_field", ``},
	{"an invalid field name in quotes", `"a b"=1`, "expected_field", ``},
	{"a dotted field", `headers.host=x`, "dotted_field", `headers["host"]=x`},
	{
		"a colon before a member",
		`headers:host=x, headers:x-id between 1 and 2`,
		"dotted_field dotted_field",
		`headers["host"]=x, headers["x-id"] between 1 and 2`,
	},
	{"a colon after an invalid field name", `user-agent:x=1`, "unknown_operator", `user-agent=x=1`},
	{
		"a colon before a member or a value",
		`headers:host=x, status:404, path: /a=b`,
		"dotted_field unknown_operator unknown_operator",
		`headers["host"]=x, status=404, path= /a=b`,
	},
	{
		"a key without quotes",
		`headers[host]=x, headers['a']=y`,
		"wrong_key wrong_key",
		`headers["host"]=x, headers["a"]=y`,
	},
	{"an open key", `headers["host"=x, headers[host=y, headers["x`, "wrong_key wrong_key wrong_key", ``},
	{"an open key after its string", `headers["host"=x`, "wrong_key", `headers["host"]=x`},
	{"an empty key", `headers[]=x, headers[~""]=y`, "empty_key empty_key", ``},
	{"NUL", "a=x\x00, b=\"\x00\", c[\"\x00\"]=1, d=‘\x00’", "nul nul nul wrong_quotes nul", ``},
	{"invalid UTF-8", "a=é\xff", "invalid_utf8", ``},

	{"JSON inside the query-string form", `x{"a"`, "expected_operator", ``},
	{
		"JSON: a trailing comma",
		`[{"field":"a","op":"eq","value":[1,],},],`,
		"extra_comma extra_comma extra_comma extra_comma",
		`[{"field":"a","op":"eq","value":[1]}]`,
	},
	{"JSON: a leading comma", `,{"field":"a","op":"eq","value":1}`, "not_json", ``},
	{
		"JSON: commas in a row",
		`[{"field":"a",,"op":"eq","value":1}]`,
		"extra_comma",
		`[{"field":"a","op":"eq","value":1}]`,
	},
	{
		"JSON: commas in a sequence",
		`{"field":"a","op":"eq","value":1},,{"field":"b","op":"eq","value":1}`,
		"extra_comma",
		`{"field":"a","op":"eq","value":1},{"field":"b","op":"eq","value":1}`,
	},
	{
		"JSON: no comma",
		`[{"field":"a" "op":"eq","value":["x" "y"]} {"field":"a","op":"eq","value":1}]`,
		"missing_comma missing_comma missing_comma",
		`[{"field":"a" ,"op":"eq","value":["x" ,"y"]} ,{"field":"a","op":"eq","value":1}]`,
	},
	{
		"JSON: no comma in a sequence",
		`{"field":"a","op":"eq","value":1}{"field":"b","op":"eq","value":1}`,
		"missing_comma",
		`{"field":"a","op":"eq","value":1},{"field":"b","op":"eq","value":1}`,
	},
	{"JSON: a semicolon", `[{"field":"a";"op":"eq","value":1}]`, "json_syntax", `[{"field":"a","op":"eq","value":1}]`},
	{"JSON: =", `{"field"="a","op" "eq","value":1}`, "json_syntax json_syntax", `{"field":"a","op" :"eq","value":1}`},
	{"JSON: a member without a value", `{"field","op":,"value":}`, "missing_value missing_value missing_value", ``},
	{
		"JSON: names without quotes",
		`{field:"a",op:"eq",value:b}`,
		"json_syntax json_syntax json_syntax json_syntax",
		`{"field":"a","op":"eq","value":"b"}`,
	},
	{
		"JSON: wrong quotes",
		`{'field':"a","op":“eq”,"value":'x'}`,
		"wrong_quotes wrong_quotes wrong_quotes",
		`{"field":"a","op":"eq","value":"x"}`,
	},
	{"JSON: unclosed wrong quotes", `{"field":'a`, "json_syntax json_syntax", ``},
	{
		"JSON: literals of other languages",
		`[{"field":"a","op":"is","value":True},{"field":"a","op":"is","value":FALSE}]`,
		"json_syntax json_syntax",
		`[{"field":"a","op":"is","value":true},{"field":"a","op":"is","value":false}]`,
	},
	{
		"JSON: escapes of regular expressions",
		`{"field":"a","op":"regex","value":"\d\é"}`,
		"bad_escape bad_escape",
		`{"field":"a","op":"regex","value":"\\d\\é"}`,
	},
	{"JSON: half a surrogate pair", `{"field":"a","op":"eq","value":"\ud800\u12"}`, "bad_escape bad_escape", ``},
	{
		"JSON: control characters",
		"{\"field\":\"a\",\"op\":\"eq\",\"value\":\"x\ty\nz\"}",
		"json_syntax json_syntax",
		`{"field":"a","op":"eq","value":"x\ty\nz"}`,
	},
	{
		"JSON: numbers",
		`[{"field":"a","op":"eq","value":01},{"field":"a","op":"eq","value":+1},{"field":"a","op":"eq","value":1.}]`,
		"bad_number bad_number bad_number",
		`[{"field":"a","op":"eq","value":1},{"field":"a","op":"eq","value":1},{"field":"a","op":"eq","value":1}]`,
	},
	{
		"JSON: numbers without a whole part",
		`[{"field":"a","op":"eq","value":.5},{"field":"a","op":"eq","value":-.5e1},` +
			`{"field":"a","op":"eq","value":-007}]`,
		"bad_number bad_number bad_number",
		`[{"field":"a","op":"eq","value":0.5},{"field":"a","op":"eq","value":-0.5e1},` +
			`{"field":"a","op":"eq","value":-7}]`,
	},
	{
		"JSON: more numbers",
		`[{"field":"a","op":"eq","value":-},{"field":"a","op":"eq","value":1e}]`,
		"bad_number bad_number",
		`[{"field":"a","op":"eq","value":"-"},{"field":"a","op":"eq","value":"1e"}]`,
	},
	{
		"JSON: a time without quotes",
		`{"field":"t","op":"between","value":[2026-01-01,"2026-01-02"]}`,
		"bad_number",
		`{"field":"t","op":"between","value":["2026-01-01","2026-01-02"]}`,
	},
	{
		"JSON: an open bracket",
		`{"AND":[{"field":"a","op":"eq","value":[1`,
		"json_syntax",
		`{"AND":[{"field":"a","op":"eq","value":[1]}]}`,
	},
	{
		"JSON: a bracket of this level is missing",
		`{"AND":[{"field":"a","op":"eq","value":[1}]}`,
		"json_syntax",
		`{"AND":[{"field":"a","op":"eq","value":[1]}]}`,
	},
	{
		"JSON: a wrong bracket",
		`[{"field":"a","op":"eq","value":1],{"field":"a","op":"eq","value":1}]`,
		"json_syntax json_syntax",
		``,
	},
	{
		"JSON: a wrong bracket of no level",
		`[[{"field":"a","op":"eq","value":[1,{}}]}]]`,
		"json_syntax json_syntax json_syntax",
		``,
	},
	{"JSON: text after the end", `{"field":"a","op":"eq","value":1} x`, "json_syntax", ``},
	{"JSON: text after a value", `{"field":"a" x,"op":"eq","value":1}`, "json_syntax", ``},
	{"JSON: no name", `{:1,"field":"a","op":"eq","value":1}`, "json_syntax", ``},
	{"JSON: no value", `{"field":=,"op":"eq","value":1}`, "json_syntax", ``},
	{"JSON: an open string", "{\"field\":\"a,\n\"op\":\"eq\",\"value\":1}", "unclosed_string missing_comma", ``},
	{"JSON: an open string at the end", `{"field":"a`, "unclosed_string", ``},
	{"JSON: an open name", "{\"fie\n", "unclosed_string json_syntax", ``},
	{"JSON: an empty object", `[{}]`, "missing_member", ``},
	{"JSON: members are missing", `{"field":"a"}`, "missing_member", ``},
	{
		"JSON: unknown members",
		`{"filed":"a","operator":"eq","value":1,"x":2}`,
		"unknown_member unknown_member unknown_member",
		``,
	},
	{
		"JSON: misspelt members",
		`{"Field":"a","op":"eq","values":[1]}`,
		"unknown_member unknown_member",
		`{"field":"a","op":"eq","value":[1]}`,
	},
	{"JSON: repeated members", `{"field":"a","field":"b","op":"eq","value":1}`, "repeated_member", ``},
	{"JSON: wrong types of members", `{"field":1,"op":null,"value":1,"key":2}`, "wrong_type wrong_type wrong_type", ``},
	{
		"JSON: a key that is a number",
		`{"field":"a","op":"eq","value":1,"key":2}`,
		"wrong_type",
		`{"field":"a","op":"eq","value":1,"key":"2"}`,
	},
	{
		"JSON: wrong types of values",
		`[{"field":"a","op":"eq","value":null},{"field":"a","op":"eq","value":[{},[]]}]`,
		"wrong_type wrong_type wrong_type",
		``,
	},
	{
		"JSON: operators",
		`[{"field":"a","op":"EQ","value":1},{"field":"a","op":"!=","value":1},` +
			`{"field":"a","op":"not_in","value":[1]},{"field":"a","op":"nin","value":[1]},` +
			`{"field":"a","op":"not matches","value":"x"}]`,
		"unknown_operator unknown_operator unknown_operator unknown_operator unknown_operator",
		`[{"field":"a","op":"eq","value":1},{"field":"a","op":"not eq","value":1},` +
			`{"field":"a","op":"not in","value":[1]},{"field":"a","op":"not in","value":[1]},` +
			`{"field":"a","op":"not regex","value":"x"}]`,
	},
	{
		"JSON: a misspelt operator keeps its negation",
		`[{"field":"a","op":"!in","value":[1]},{"field":"a","op":"ngt","value":1},` +
			`{"field":"a","op":"nregex","value":"x"},{"field":"a","op":"nbetween","value":[1,2]},` +
			`{"field":"a","op":"!betwen","value":[1,2]}]`,
		"unknown_operator unknown_operator unknown_operator unknown_operator unknown_operator",
		`[{"field":"a","op":"not in","value":[1]},{"field":"a","op":"not gt","value":1},` +
			`{"field":"a","op":"not regex","value":"x"},{"field":"a","op":"not between","value":[1,2]},` +
			`{"field":"a","op":"not between","value":[1,2]}]`,
	},
	{
		"JSON: two negations are ambiguous",
		`[{"field":"a","op":"not nin","value":[1]},{"field":"a","op":"not !=","value":1}]`,
		"unknown_operator unknown_operator",
		``,
	},
	{
		"JSON: a negation of nothing",
		`[{"field":"a","op":"ni","value":[1]},{"field":"a","op":"not","value":1},{"field":"a","op":"!","value":1}]`,
		"unknown_operator unknown_operator unknown_operator",
		``,
	},
	{
		"JSON: a misspelt operator",
		`[{"field":"a","op":"not betwen","value":[1,2]},{"field":"a","op":"regx","value":"x"}]`,
		"unknown_operator unknown_operator",
		`[{"field":"a","op":"not between","value":[1,2]},{"field":"a","op":"regex","value":"x"}]`,
	},
	{"JSON: an unknown operator", `{"field":"a","op":"resembles","value":1}`, "unknown_operator", ``},
	{
		"JSON: an operator of another language",
		`{"field":"a","op":"contains","value":"x"}`,
		"unknown_operator",
		`{"field":"a","op":"regex","value":"x"}`,
	},
	{
		"JSON: a dotted field",
		`{"field":"headers.host","op":"eq","value":1}`,
		"dotted_field",
		`{"field":"headers","key":"host","op":"eq","value":1}`,
	},
	{"JSON: a dotted field and a key", `{"field":"headers.host","key":"x","op":"eq","value":1}`, "dotted_field", ``},
	{
		"JSON: an invalid field name",
		`[{"field":"a b","op":"eq","value":1},{"field":"Not","op":"eq","value":1}]`,
		"expected_field expected_field",
		``,
	},
	{"JSON: an empty key", `{"field":"a","key":"","op":"eq","value":1}`, "empty_key", ``},
	{"JSON: NUL", "{\"field\":\"a\",\"op\":\"eq\",\"value\":\"\\u0000\x00\"}", "nul nul", ``},
	{
		"JSON: between",
		`[{"field":"a","op":"between","value":1},{"field":"a","op":"between","value":[1,2,3]}]`,
		"wrong_between wrong_between",
		``,
	},
	{
		"JSON: in",
		`[{"field":"a","op":"in","value":1},{"field":"a","op":"in","value":[]}]`,
		"expected_list empty_list",
		``,
	},
	{
		"JSON: in with one value",
		`{"field":"a","op":"in","value":"x"}`,
		"expected_list",
		`{"field":"a","op":"in","value":["x"]}`,
	},
	{"JSON: gt with a list", `{"field":"a","op":"gt","value":[1]}`, "expected_one", ``},
	{
		"JSON: is",
		`[{"field":"a","op":"is","value":1},{"field":"a","op":"is","value":[true]}]`,
		"expected_boolean expected_boolean",
		``,
	},
	{"JSON: OR", `{"OR":[{"field":"a","op":"eq","value":1}]}`, "or_unsupported", ``},
	{
		"JSON: or, any, $or",
		`[{"or":[]},{"any":[]},{"$or":[]},{"AND":[],"OR":[]}]`,
		"or_unsupported or_unsupported or_unsupported or_unsupported",
		``,
	},
	{"JSON: AND in other spellings", `{"and":[{"$and":[]}]}`, "unknown_member unknown_member", `{"AND":[{"AND":[]}]}`},
	{
		"JSON: AND of one",
		`{"AND":{"field":"a","op":"eq","value":1}}`,
		"expected_condition",
		`{"AND":[{"field":"a","op":"eq","value":1}]}`,
	},
	{
		"JSON: AND of no condition",
		`[{"AND":1},{"AND":[2,[]]}]`,
		"expected_condition expected_condition expected_condition",
		``,
	},
	{
		"JSON: NOT of several",
		`{"NOT":[{"field":"a","op":"eq","value":1},{"field":"a","op":"eq","value":1}]}`,
		"not_several",
		``,
	},
	{
		"JSON: NOT of a group of several",
		`{"NOT":{"AND":[{"field":"a","op":"eq","value":1},{"field":"a","op":"eq","value":1}]}}`,
		"not_several",
		``,
	},
	{"JSON: NOT of nothing", `{"NOT":[]}`, "expected_condition", ``},
	{
		"JSON: a group twice",
		`{"AND":[{"field":"a","op":"eq","value":1}],"AND":[{"field":"b","op":"qe","value":1}]}`,
		"repeated_member unknown_operator",
		``,
	},
	{"JSON: a group with other members", `{"AND":[],"NOT":{}}`, "mixed_group", ``},
}

func TestMistakes(t *testing.T) {
	for _, test := range mistakes {
		t.Run(test.name, func(t *testing.T) {
			f := filter.Parse(test.text)
			if strings.HasPrefix(test.name, "JSON: a leading") {
				f = filter.ParseJSON(test.text)
			}
			if diff := cmp.Diff(test.codes, codesOf(f.Problems)); diff != "" {
				t.Errorf("%s\ncodes (-want +got):\n%s\n%s", test.text, diff, filter.Draw(test.text, f.Problems))
			}
			fixed, ok := f.Problems.Fixed(test.text)
			if diff := cmp.Diff(test.fixed, fixed); diff != "" {
				t.Errorf("corrected (-want +got):\n%s", diff)
			}
			if !ok {
				return
			}
			again := filter.Parse(fixed)
			if len(again.Problems) > 0 {
				t.Errorf("the correction has mistakes:\n%s", filter.Draw(fixed, again.Problems))
			}
			if diff := cmp.Diff(semanticsOf(f), semanticsOf(again)); diff != "" && !strings.Contains(test.text, "[") {
				t.Errorf("the correction has another meaning than the filter (-filter +corrected):\n%s", diff)
			}
			checkParse(t, test.text)
		})
	}
}

func codesOf(errs filter.Errors) string {
	codes := make([]string, len(errs))
	for i, e := range errs {
		codes[i] = e.Code
	}
	return strings.Join(codes, " ")
}
