package filter_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/orrery/orrery/shared/filter"
)

// TestParse parses filters without mistakes and prints them in both forms.
func TestParse(t *testing.T) {
	for _, test := range []struct{ name, text, query, json string }{
		{"a symbol and a bare value", `status=404`, `status="404"`, `{"field":"status","op":"eq","value":"404"}`},
		{
			"white space around tokens is ignored",
			" \n status \t = \n 404 \n",
			`status="404"`,
			`{"field":"status","op":"eq","value":"404"}`,
		},
		{
			"a bare value runs to the comma",
			`path = /%3Carea%3E x=1 a:b`,
			`path="/%3Carea%3E x=1 a:b"`,
			`{"field":"path","op":"eq","value":"/%3Carea%3E x=1 a:b"}`,
		},
		{"a bare value may begin with a colon", `ip=::1`, `ip="::1"`, `{"field":"ip","op":"eq","value":"::1"}`},
		{
			"a bare value may contain and",
			`organization=Marks and Spencer`,
			`organization="Marks and Spencer"`,
			`{"field":"organization","op":"eq","value":"Marks and Spencer"}`,
		},
		{
			"a bare value may contain quotes in pairs",
			`reason=acl ["all"]`,
			`reason="acl [\"all\"]"`,
			`{"field":"reason","op":"eq","value":"acl [\"all\"]"}`,
		},
		{
			"a bare value may contain semicolons and versions",
			`user_agent=Mozilla/5.0 (X11; Linux; rv:1.0)`,
			`user_agent="Mozilla/5.0 (X11; Linux; rv:1.0)"`,
			`{"field":"user_agent","op":"eq","value":"Mozilla/5.0 (X11; Linux; rv:1.0)"}`,
		},
		{"the empty text is quoted", `path=""`, `path=""`, `{"field":"path","op":"eq","value":""}`},
		{
			"a string may contain any text",
			`path="a, b=c (d) and \"e\" \\"`,
			`path="a, b=c (d) and \"e\" \\"`,
			`{"field":"path","op":"eq","value":"a, b=c (d) and \"e\" \\"}`,
		},
		{
			"other backslashes are literal",
			`path~"\d\\d"`,
			`path~"\d\d"`,
			`{"field":"path","op":"regex","value":"\\d\\d"}`,
		},
		{"a list of values", `ip in @tor`, `ip in @tor`, `{"field":"ip","op":"in","list":"tor"}`},
		{
			"a version of a list of another configuration",
			`not ip not IN @staging/tor:3 , a=b`,
			`ip in @staging/tor:3, a="b"`,
			`{"field":"ip","op":"in","list":"staging/tor:3"},{"field":"a","op":"eq","value":"b"}`,
		},
		{"a text that begins with @", `a in ("@tor")`, `a in ("@tor")`, `{"field":"a","op":"in","value":["@tor"]}`},
		{"two negations cancel", `not status!=404`, `status="404"`, `{"field":"status","op":"eq","value":"404"}`},
		{
			"not without a negated symbol",
			`not status>=404`,
			`not status>="404"`,
			`{"field":"status","op":"not gte","value":"404"}`,
		},
		{
			"not before a word operator",
			`NOT country NOT IN (a,b)`,
			`country in ("a", "b")`,
			`{"field":"country","op":"in","value":["a","b"]}`,
		},
		{
			"in with one value",
			`method not in (GET)`,
			`method not in ("GET")`,
			`{"field":"method","op":"not in","value":["GET"]}`,
		},
		{
			"booleans",
			`blocked IS True, bot not is false`,
			`blocked is true, bot not is false`,
			`{"field":"blocked","op":"is","value":true},{"field":"bot","op":"not is","value":false}`,
		},
		{
			"between",
			`status not between 500 AND "599"`,
			`status not between 500 and 599`,
			`{"field":"status","op":"not between","value":["500","599"]}`,
		},
		{
			"between with text that is neither number nor time",
			`a between "x and y" and b`,
			`a between "x and y" and "b"`,
			`{"field":"a","op":"between","value":["x and y","b"]}`,
		},
		{
			"a time with an offset",
			`timestamp between 2026-01-01 10:00+02:00 and 20260102T10Z`,
			`timestamp between 2026-01-01 10:00+02:00 and 20260102T10Z`,
			`{"field":"timestamp","op":"between","value":["2026-01-01 10:00+02:00","20260102T10Z"]}`,
		},
		{
			"a pattern that begins with a flag",
			`user_agent~(?i)curl`,
			`user_agent~"(?i)curl"`,
			`{"field":"user_agent","op":"regex","value":"(?i)curl"}`,
		},
		{
			"a pattern that begins with a group",
			`path!~(a|b)c`,
			`path!~"(a|b)c"`,
			`{"field":"path","op":"not regex","value":"(a|b)c"}`,
		},
		{
			"several patterns",
			`path~(a, "b,c")`,
			`path~("a", "b,c")`,
			`{"field":"path","op":"regex","value":["a","b,c"]}`,
		},
		{
			"one pattern as a list",
			`path ~ ( a|b ) , x=1`,
			`path~("a|b"), x="1"`,
			`{"field":"path","op":"regex","value":["a|b"]},{"field":"x","op":"eq","value":"1"}`,
		},
		{
			"an exact key",
			`headers [ "x.y" ] = 1`,
			`headers["x.y"]="1"`,
			`{"field":"headers","key":"^x\\.y$","op":"eq","value":"1"}`,
		},
		{
			"an empty exact key",
			`arguments[""]=1`,
			`arguments[""]="1"`,
			`{"field":"arguments","key":"^$","op":"eq","value":"1"}`,
		},
		{
			"a pattern key",
			`headers[~"^x-"]=1`,
			`headers[~"^x-"]="1"`,
			`{"field":"headers","key":"^x-","op":"eq","value":"1"}`,
		},
		{
			"a pattern key that only one name matches",
			`headers[~"^x\-y$"]=1`,
			`headers["x-y"]="1"`,
			`{"field":"headers","key":"^x-y$","op":"eq","value":"1"}`,
		},
		{
			"a pattern key that looks like a name",
			`headers[~"host"]=1`,
			`headers[~"host"]="1"`,
			`{"field":"headers","key":"(?:host)","op":"eq","value":"1"}`,
		},
		{
			"a pattern key of any character",
			`headers[~"^x.y$"]=1`,
			`headers[~"^x.y$"]="1"`,
			`{"field":"headers","key":"^x.y$","op":"eq","value":"1"}`,
		},
		{"a no-break space", "status\u00a0=\u00a0404", `status="404"`, `{"field":"status","op":"eq","value":"404"}`},

		{
			"JSON: one condition",
			`{"field":"status","op":"eq","value":404}`,
			`status=404`,
			`{"field":"status","op":"eq","value":404}`,
		},
		{
			"JSON: any order, white space",
			"\ufeff { \"value\" : 404 , \n \"op\":\"not eq\",\"field\":\"status\" } ",
			`status!=404`,
			`{"field":"status","op":"not eq","value":404}`,
		},
		{
			"JSON: an array",
			`[{"field":"a","op":"gt","value":-1.5e3},{"field":"b","op":"is","value":true}]`,
			`a>-1.5e3, b is true`,
			`{"field":"a","op":"gt","value":-1.5e3},{"field":"b","op":"is","value":true}`,
		},
		{
			"JSON: a sequence",
			`{"field":"a","op":"lt","value":0},{"field":"b","op":"is","value":"true"}`,
			`a<0, b is true`,
			`{"field":"a","op":"lt","value":0},{"field":"b","op":"is","value":"true"}`,
		},
		{
			"JSON: nested AND",
			`{"AND":[{"AND":[{"field":"a","op":"lte","value":1}]},{"AND":[]},{"field":"b","op":"eq","value":true}]}`,
			`a<=1, b=true`,
			`{"field":"a","op":"lte","value":1},{"field":"b","op":"eq","value":true}`,
		},
		{
			"JSON: NOT",
			`{"NOT":{"field":"a","op":"regex","value":"x"}}`,
			`a!~"x"`,
			`{"field":"a","op":"not regex","value":"x"}`,
		},
		{
			"JSON: NOT over an array of one",
			`{"AND":[{"NOT":[{"field":"a","op":"not in","value":["x"]}]}]}`,
			`a in ("x")`,
			`{"field":"a","op":"in","value":["x"]}`,
		},
		{
			"JSON: NOT of NOT",
			`{"NOT":{"NOT":{"AND":[{"field":"a","op":"gt","value":1}]}}}`,
			`a>1`,
			`{"field":"a","op":"gt","value":1}`,
		},
		{
			"JSON: eq over an array",
			`{"field":"a","op":"not eq","value":["x",1]}`,
			`a not in ("x", 1)`,
			`{"field":"a","op":"not in","value":["x",1]}`,
		},
		{
			"JSON: a plain key is a name",
			`{"field":"h","key":"x-y_1","op":"eq","value":1}`,
			`h["x-y_1"]=1`,
			`{"field":"h","key":"^x-y_1$","op":"eq","value":1}`,
		},
		{
			"JSON: an anchored key is a name",
			`{"field":"h","key":"^x\\.\"y$","op":"eq","value":1}`,
			`h["x.\"y"]=1`,
			`{"field":"h","key":"^x\\.\"y$","op":"eq","value":1}`,
		},
		{
			"JSON: any other key is a pattern",
			`{"field":"h","key":"x.y","op":"eq","value":1}`,
			`h[~"x.y"]=1`,
			`{"field":"h","key":"x.y","op":"eq","value":1}`,
		},
		{
			"JSON: a group of a name is a pattern",
			`{"field":"h","key":"(?:xy)","op":"eq","value":1}`,
			`h[~"xy"]=1`,
			`{"field":"h","key":"(?:xy)","op":"eq","value":1}`,
		},
		{
			"JSON: half an anchor is a pattern",
			`{"field":"h","key":"^x","op":"eq","value":1}`,
			`h[~"^x"]=1`,
			`{"field":"h","key":"^x","op":"eq","value":1}`,
		},
		{
			"JSON: an escape of RE2 is a pattern",
			`{"field":"h","key":"^\\d$","op":"eq","value":1}`,
			`h[~"^\d$"]=1`,
			`{"field":"h","key":"^\\d$","op":"eq","value":1}`,
		},
		{
			"JSON: escapes",
			`{"field":"a","op":"eq","value":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"}`,
			"a=\"\\\"\\/\b\f\n\r\té😀\"",
			`{"field":"a","op":"eq","value":"\"\\/\u0008\u000c\n\r\té😀"}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := filter.Parse(test.text)
			if len(f.Problems) > 0 {
				t.Fatalf("mistakes found:\n%s", filter.Draw(test.text, f.Problems))
			}
			if diff := cmp.Diff(test.query, filter.Format(f)); diff != "" {
				t.Errorf("query string (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(`{"AND":[`+test.json+`]}`, filter.FormatJSON(f)); diff != "" {
				t.Errorf("JSON (-want +got):\n%s", diff)
			}
			checkRoundTrip(t, f)
		})
	}
}

func TestParseForm(t *testing.T) {
	for text, syntax := range map[string]filter.Syntax{
		``:         filter.QueryString,
		`a=1`:      filter.QueryString,
		` {`:       filter.JSON,
		"\n[]":     filter.JSON,
		"\ufeff{}": filter.JSON,
	} {
		if got := filter.Parse(text).Syntax; got != syntax {
			t.Errorf("Parse(%q).Syntax = %d, want %d", text, got, syntax)
		}
	}
}

func TestParseSpansAndPointers(t *testing.T) {
	type place struct{ Pointer, Condition, Field, Key, Op, Value string }
	for _, test := range []struct {
		text string
		want []place
	}{
		{`not headers[~"é"] != a b , status not in ("1", 2)`, []place{
			{"", `not headers[~"é"] != a b`, "headers", "é", "!=", "a b"},
			{"", `status not in ("1", 2)`, "status", "", "not in", `"1"`},
		}},
		{`{"AND":[{"field":"a","op":"not eq","value":"x"},` +
			`{"NOT":{"key":"k","field":"b","op":"in","value":[1]}}]}`, []place{
			{"/AND/0", `{"field":"a","op":"not eq","value":"x"}`, "a", "", "not eq", `"x"`},
			{"/AND/1/NOT", `{"key":"k","field":"b","op":"in","value":[1]}`, "b", "k", "in", "1"},
		}},
	} {
		f := filter.Parse(test.text)
		of := func(s filter.Span) string { return test.text[s.Offset:s.End()] }
		var got []place
		for _, c := range f.Conditions {
			p := place{c.Pointer, of(c.Span), of(c.Field.Span), "", of(c.OpSpan), of(c.Values[0].Span)}
			if c.Key != nil {
				p.Key = of(c.Key.Span)
			}
			got = append(got, p)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.text, diff)
		}
	}
}

// TestWithin finds the x of a value's text in the filter's text, with different escapes before it.
func TestWithin(t *testing.T) {
	for _, text := range []string{
		`path=abx`, `path="abx"`, `path="\"\\\dx"`, `path="éx"`,
		`{"field":"path","op":"eq","value":"abx"}`, `{"field":"path","op":"eq","value":"\"\n\u00e9\ud83d\ude00éx"}`,
	} {
		f := filter.Parse(text)
		v := f.Conditions[0].Values[0]
		at := strings.IndexByte(v.Text, 'x')
		span := f.Within(v, at, at+1)
		if got := text[span.Offset:span.End()]; got != "x" {
			t.Errorf("%s: found %q at %d", text, got, span.Offset)
		}
		if span := f.Within(v, 1000, 1001); span.Offset > v.Span.End() {
			t.Errorf("%s: a place outside the value is at %d, outside the text", text, span.Offset)
		}
	}
}

func TestTokens(t *testing.T) {
	for text, want := range map[string]string{
		`not a["k"]~(x, "y"), b between 1 and 2`: `not|a|[|"k"|]|~|(|x|,|"y"|)|,|b|between|1|and|2`,
		`{"field":"a","value":[1,true]}`:         `{|"field"|:|"a"|,|"value"|:|[|1|,|true|]|}`,
		"\xff":                                   ``,
	} {
		var got []string
		for _, token := range filter.Tokens(filter.Parse(text)) {
			got = append(got, text[token.Span.Offset:token.Span.End()])
		}
		if diff := cmp.Diff(want, strings.Join(got, "|")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
