package record_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
)

func TestDecodeFindsWhatNoFieldHas(t *testing.T) {
	for _, c := range []struct {
		name, members string
		want          []lake.Pair
	}{
		{"nothing", `"host":"a"`, nil},
		{"text", `"level":"info"`, pairsOf("level", "info")},
		{"numbers and booleans are literals", `"a":1.50,"b":-2e3,"c":true,"d":false`,
			pairsOf("a", "1.50", "b", "-2e3", "c", "true", "d", "false")},
		{"null", `"a":null,"b":[null],"c":{"d":null}`, nil},
		{"empty values", `"a":"","b":[],"c":{}`, pairsOf("a", "")},
		{"escapes", `"n\u00e4me":"l\"i\ne","a":{"\\":"\ud83d\ude00"}`, pairsOf("näme", "l\"i\ne", `a.\`, "😀")},
		{"half a surrogate pair", `"a":"\ud800"`, pairsOf("a", "\ufffd")},
		{"no name", `"":"x","a":{"":"y"}`, pairsOf("", "x", "a.", "y")},
		{"list", `"a":["x",1,null,true]`, pairsOf("a", "x", "a", "1", "a", "true")},
		{"object", `"user":{"name":"ann","id":7},"z":"x"`, pairsOf("user.name", "ann", "user.id", "7", "z", "x")},
		{"a dot in a name", `"a.b":1,"a":{"b":2}`, pairsOf("a.b", "1", "a.b", "2")},
		{"list of objects", `"a":[{"b":1,"c":[2,{"d":3}]},[{"b":4}]]`,
			pairsOf("a.b", "1", "a.c", "2", "a.c.d", "3", "a.b", "4")},
		{"white space", ` "a" : { "b" : [ 1 , "x y" ] } `, pairsOf("a.b", "1", "a.b", "x y")},
		{"eight levels", `"a":` + nested(8, `{ "x" : 1 }`), pairsOf("a"+strings.Repeat(".b", 8), `{"x":1}`)},
		{"seven levels", `"a":` + nested(7, `{"x":1}`), pairsOf("a"+strings.Repeat(".b", 7)+".x", "1")},
		{"lists are levels", `"a":[[[[[[[[[ 1 , 2 ],3]]]]]]]]`, pairsOf("a", "[1,2]", "a", "3")},
		{"long name of an object", `"` + strings.Repeat("n", 257) + `":{"x": 1}`,
			pairsOf(strings.Repeat("n", 257), `{"x":1}`)},
		{"longest name of an object", `"` + strings.Repeat("n", 256) + `":{"x": 1}`,
			pairsOf(strings.Repeat("n", 256)+".x", "1")},
		{"repeated member", `"a":"x","a":{"b":"y"}`, pairsOf("a.b", "y")},
		{"repeated inner member", `"a":{"b":1,"b":2}`, pairsOf("a.b", "1", "a.b", "2")},
		{"field with a value that it cannot have", `"status":"done","host":{"name":"x"},"blocked":"maybe","request_time":"-"`,
			pairsOf("status", "done", "host.name", "x", "blocked", "maybe", "request_time", "-")},
		{"field with a number of more than 64 bits", `"bytes_sent":9223372036854775808`,
			pairsOf("bytes_sent", "9223372036854775808")},
		{"field with a value that is nearly right", `"status":"200","port":443,"processing_stage":"6"`, nil},
		{"field that is null", `"status":null,"host":null,"upstream_response_time":null,"headers":null`, nil},
		{"field of many values with another shape", `"headers":"x","tags":{"a":1},"upstream_data":["y"],"security_config":7,` +
			`"upstream_status":["ok"],"trigger_counters":[1],"processing_stage":{"a":2},"time_period":"noon","cookies":[3]`,
			pairsOf("headers", "x", "tags.a", "1", "upstream_data", "y", "security_config", "7", "upstream_status", "ok",
				"trigger_counters", "1", "processing_stage.a", "2", "time_period", "noon", "cookies", "3")},
		{"field of many values, some of them right", `"tags":["a",1],"upstream_status":[200,"ok"],"headers":{"a":1}`, nil},
		{"open field", `"logs":{"a":1}`, nil},
		{"service cookie", `"svcid":"x","svcsessionid":{"a":1}`, pairsOf("svcsessionid.a", "1")},
		{"names of fields that no line has", `"log_rest":{"a":"x"},"record_ref":"y"`,
			pairsOf("log_rest.a", "x", "record_ref", "y")},
		{"rest of a line of text",
			`"proxy":[{"name":"log_rest","value":"a b"},{"name":"status","value":"1"},{"name":"log_rest","value":"c"}],"z":1`,
			pairsOf("z", "1", "", "a b", "", "c")},
	} {
		t.Run(c.name, func(t *testing.T) {
			row := decode(t, c.members)
			if diff := cmp.Diff(c.want, row.LogRest); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.members, diff)
			}
		})
	}
	t.Run("invalid UTF-8", func(t *testing.T) {
		var row lake.Row
		if _, err := record.NewDecoder().Decode([]byte("{\"timestamp\":0,\"a\xff\":\"\xfe\"}"), &row); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(pairsOf("a\ufffd", "\ufffd"), row.LogRest); diff != "" {
			t.Error(diff)
		}
	})
}

// TestDecodeMovesMisfits: a value that its field cannot have is printed as a member of log_rest, and not under its name.
func TestDecodeMovesMisfits(t *testing.T) {
	for _, c := range []struct{ name, members, want, fields string }{
		{"values of a wrong type", `"host":{"name":"x"},"status":"ok","ip":"::1","level":1`,
			`{"ip":"::1","level":1,"log_rest":{"host":{"name":"x"},"status":"ok"}}`, "host status"},
		{"literals of the type", `"status":"200","blocked":"true","port":443,"bytes_sent":9223372036854775808`,
			`{"status":"200","blocked":"true","port":443,"bytes_sent":9223372036854775808}`, ""},
		{"null", `"status":null`, `{"status":null}`, ""},
		{"some values of the type", `"tags":["a",{"b":1}],"upstream_status":[200,"ok"]`,
			`{"tags":["a",{"b":1}],"upstream_status":[200,"ok"]}`, ""},
		{"names without values", `"headers":["x"],"cookies":7`, `{"log_rest":{"headers":["x"],"cookies":7}}`, "headers cookies"},
		{"time_period", `"time_period":"noon"`, `{"log_rest":{"time_period":"noon"}}`, "time_period"},
		{"a cookie beside its member", `"svcid":{"a":1},"cookies":{"svcid":"x"}`,
			`{"cookies":{"svcid":"x"},"log_rest":{"svcid":{"a":1}}}`, "svcid"},
		{"a member log_rest", `"log_rest":{"a":1}`, `{"log_rest":{"a":1}}`, ""},
		{"a member log_rest and a value of a wrong type", `"log_rest":1,"ingested_log_rest":2,"status":"ok"`,
			`{"log_rest":{"status":"ok"},"ingested_ingested_log_rest":1,"ingested_log_rest":2}`, "status"},
		{"a repeated member", `"status":"ok","status":200`, `{"status":200}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := record.NewDecoder()
			var row lake.Row
			if _, err := d.Decode([]byte(`{"timestamp":0,`+c.members+`}`), &row); err != nil {
				t.Fatal(err)
			}
			want, err := parse([]byte(c.want))
			if err != nil {
				t.Fatal(err)
			}
			printed := record.AppendJSON(nil, &row, nil)
			got, err := parse(printed)
			if err != nil {
				t.Fatalf("%s: %v", printed, err)
			}
			delete(got.(map[string]any), "timestamp")
			delete(got.(map[string]any), "time_period")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", printed, diff)
			}
			if fields := strings.Join(d.Misfits(), " "); fields != c.fields {
				t.Errorf("misfits %s, want %s", fields, c.fields)
			}
		})
	}
}

// TestMisfitIsNotItsField: the field of a value of a wrong type is absent, and log_rest has the value.
func TestMisfitIsNotItsField(t *testing.T) {
	row := decode(t, `"status":"ok","host":{"name":"x"}`)
	const want = `{"log_rest":{"status":"ok","host.name":"x"}}`
	if got := string(record.AppendJSON(nil, &row, []string{"status", "host", "log_rest"})); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// pairsOf returns pairs of names and values.
func pairsOf(texts ...string) (list []lake.Pair) {
	for pair := range slices.Chunk(texts, 2) {
		list = append(list, lake.Pair{Name: pair[0], Value: pair[1]})
	}
	return list
}

// nested returns an object in n objects, each the member b of the next.
func nested(n int, innermost string) string {
	return strings.Repeat(`{"b":`, n) + innermost + strings.Repeat("}", n)
}

// TestDecodeDividesTheFirstPairs: from the 1,000th pair of a record on, what is left of arrays and objects is one
// value.
func TestDecodeDividesTheFirstPairs(t *testing.T) {
	numbers := func(from, to int) string {
		var list []string
		for i := from; i <= to; i++ {
			list = append(list, fmt.Sprint(i))
		}
		return strings.Join(list, ",")
	}
	for _, c := range []struct {
		name, members string
		count         int
		last          []lake.Pair
	}{
		{"999 elements", `"a":[` + numbers(1, 999) + `],"b":"x"`, 1000, pairsOf("a", "999", "b", "x")},
		{"1,000 elements", `"a":[` + numbers(1, 1000) + `]`, 1000, pairsOf("a", "999", "a", "[1000]")},
		{"1,002 elements", `"a":[` + numbers(1, 1002) + ` ]`, 1000, pairsOf("a", "999", "a", "[1000,1001,1002]")},
		{"members", `"a":{"l":[` + numbers(1, 999) + `],"m": {"n":1}, "o" : "p q" }`, 1000,
			pairsOf("a.l", "999", "a", `{"m":{"n":1},"o":"p q"}`)},
		{"lists in lists", `"a":[[` + numbers(1, 1000) + `],2,[3]]`, 1001, pairsOf("a", "[1000]", "a", "[2,[3]]")},
		{"members that follow", `"a":[` + numbers(1, 999) + `],"b":[1,2],"c":"x","d":{"e":1}`, 1002,
			pairsOf("b", "[1,2]", "c", "x", "d", `{"e":1}`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			row := decode(t, c.members)
			if len(row.LogRest) != c.count {
				t.Fatalf("%d pairs, want %d", len(row.LogRest), c.count)
			}
			if diff := cmp.Diff(c.last, row.LogRest[c.count-len(c.last):]); diff != "" {
				t.Errorf("the last pairs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDecodeBoundsThePairs: no line has pairs that take much more memory than the line.
func TestDecodeBoundsThePairs(t *testing.T) {
	name := strings.Repeat("n", 250)
	for _, members := range []string{
		`"` + strings.Repeat("n", 400_000) + `":[` + strings.Repeat("1,", 200_000) + `1]`,
		`"` + name + `":{"` + name + `":{` + strings.Repeat(`"a":1,`, 100_000) + `"a":1}}`,
		`"` + name + `":{` + strings.Repeat(`"a":1,`, 2_000) + `"a":1}`,
		`"a":` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000),
		`"a":[` + strings.Repeat(`[{"b":[[]]}],`, 60_000) + `1]`,
	} {
		row := decode(t, members)
		if got, most := row.Memory(), int64(3*len(members)+600_000); got > most {
			t.Errorf("%.20s…: the row takes %d bytes, more than %d", members, got, most)
		}
	}
}

// TestDecodeFindsEveryOtherText: every text in a member that is no field is in the value of a pair.
func TestDecodeFindsEveryOtherText(t *testing.T) {
	d := record.NewDecoder()
	rapid.Check(t, func(t *rapid.T) {
		text := anyValue(t, 9)
		value, err := parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var row lake.Row
		if _, err := d.Decode([]byte(`{"timestamp":0,"other":`+text+`}`), &row); err != nil {
			t.Fatal(err)
		}
		for _, leaf := range textsIn(value) {
			if !slices.ContainsFunc(row.LogRest, func(p lake.Pair) bool {
				return strings.HasPrefix(p.Name, "other") && (p.Value == leaf || inJSON(p.Value, leaf))
			}) {
				t.Fatalf("%s: no pair has %q: %q", text, leaf, row.LogRest)
			}
		}
	})
}

// textsIn returns the texts in a JSON value.
func textsIn(value any) (texts []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, element := range v {
			texts = append(texts, textsIn(element)...)
		}
	case map[string]any:
		for _, member := range v {
			texts = append(texts, textsIn(member)...)
		}
	}
	return texts
}

// inJSON reports whether a text is a JSON text that contains another one.
func inJSON(text, part string) bool {
	value, err := parse([]byte(text))
	return err == nil && slices.Contains(textsIn(value), part)
}
