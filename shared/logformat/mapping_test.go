package logformat

import (
	"strings"
	"testing"
)

func TestMappings(t *testing.T) {
	for name, test := range map[string]struct {
		mappings   []string
		line, want string
	}{
		"paths lead into objects": {
			[]string{"timestamp=at", "ip=client.ip", "header_accept=req.headers.Accept"},
			`{"at":"2026-05-17T10:05:03Z","client":{"ip":"203.0.113.7","port":99},"req":{"headers":{"Accept":"*/*"}}}`,
			`{"timestamp":"2026-05-17T10:05:03Z","ip":"203.0.113.7","headers":[{"name":"accept","value":"*/*"}],` +
				`"client":{"port":99}}`,
		},
		"numbers have units": {
			[]string{
				"timestamp=at/1000000000", "request_time=took_ms/1000", "upstream_response_time_ms=up", "bytes_sent=kB*1024",
				"weight=w/4",
			},
			`{"at":1779012303250000000,"took_ms":12.5,"up":"3","kB":2,"w":1}`,
			`{"timestamp":"1779012303.25","request_time":0.0125,"upstream_response_time":0.003,"bytes_sent":2048,` +
				`"weight":0.25}`,
		},
		"numbers may have an exponent": {
			[]string{"timestamp=at", "request_time=took"}, `{"at":1.77901230325e9,"took":1.25e-05}`,
			`{"timestamp":"1779012303.25","request_time":0.000012}`,
		},
		"times with names of months": {
			[]string{"timestamp=at"}, `{"at":"17/Dec/2026:12:05:03 +0200"}`, `{"timestamp":"2026-12-17T10:05:03Z"}`,
		},
		"names may be quoted": {
			[]string{`timestamp="@t"."a.b/c"`}, `{"@t":{"a.b/c":1779012303}}`, `{"timestamp":"1779012303"}`,
		},
		"a whole URL is a target": {
			[]string{"timestamp=t", "target=uri"}, `{"t":1779012303,"uri":"https://shop.example:8443/a?b=1"}`,
			`{"timestamp":"1779012303","path":"/a","query":"?b=1","arguments":[{"name":"b","value":"1"}],` +
				`"path_parts":[{"name":"part1","value":"a"},{"name":"path","value":"/a"}],` +
				`"authority":"shop.example:8443","host":"shop.example","port":"8443"}`,
		},
		"members with the names of fields are these fields": {
			[]string{"timestamp=t"},
			`{"t":1779012303,"ip":"203.0.113.7","method":"GET","path":"/a?b=1","status":200,"request_time":0.5}`,
			`{"timestamp":"1779012303","status":200,"request_time":0.5,"ip":"203.0.113.7","method":"GET","path":"/a",` +
				`"query":"?b=1","arguments":[{"name":"b","value":"1"}],` +
				`"path_parts":[{"name":"part1","value":"a"},{"name":"path","value":"/a"}]}`,
		},
		"a mapped field is preferred to a member of its name": {
			[]string{"timestamp=t", "status=res.code"}, `{"t":1779012303,"status":"done","res":{"code":204}}`,
			`{"timestamp":"1779012303","status":204,"log_status":"done"}`,
		},
		"a member whose value cannot be the field stays a member": {
			[]string{"timestamp=t"}, `{"t":1779012303,"status":"done","host":{"name":"web1"}}`,
			`{"timestamp":"1779012303","host":{"name":"web1"},"status":"done"}`,
		},
		"other fields and members keep their values": {
			[]string{"timestamp=t", "blocked=waf.block", "tags=waf.tags"},
			`{"t":1779012303,"waf":{"block":true,"tags":["a","b"]},"level":"info","n":null}`,
			`{"timestamp":"1779012303","blocked":true,"tags":["a","b"],"level":"info","n":null}`,
		},
		"a comparison is true or false, and the member stays": {
			[]string{"timestamp=t", `blocked=fw.Action=="block"`, `hit = "c=d" == "a b"`, "bot=bot"},
			`{"t":1779012303,"fw":{"Action":"block","id":1},"c=d":"miss","bot":"true"}`,
			`{"timestamp":"1779012303","blocked":true,"hit":false,"bot":"true","fw":{"id":1},"Action":"block","c=d":"miss"}`,
		},
		"an absent value is equal to nothing": {
			[]string{"timestamp=t", `blocked=a=="block"`, `bot=b=="x"`, `human=c=="1"`, `monitor=d=="true"`},
			`{"t":1779012303,"a":"-","b":null,"c":1,"d":{"e":true}}`,
			`{"timestamp":"1779012303","human":true,"monitor":false,"b":null,"c":1,"d":{"e":true}}`,
		},
		"an empty text and a dash are absent": {
			[]string{"timestamp=t", "ip=client"}, `{"t":1779012303,"client":"-","method":"","team":"-"}`,
			`{"timestamp":"1779012303"}`,
		},
		"lists of upstreams": {
			[]string{"timestamp=t", "upstream_addr=ups", "upstream_status=codes"},
			`{"t":1779012303,"ups":["10.0.0.1:80","10.0.0.2:80"],"codes":[502,200]}`,
			`{"timestamp":"1779012303","upstream_addr":["10.0.0.1:80","10.0.0.2:80"],"upstream_status":[502,200]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := ByMapping(test.mappings)
			if err != nil {
				t.Fatal(err)
			}
			if f, err = ByName(f.Name()); err != nil { // as from a ledger
				t.Fatal(err)
			}
			got, err := f.Convert(nil, []byte(test.line))
			if err != nil || string(got) != test.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, test.want)
			}
		})
	}
}

func TestMappingsRejectBadLines(t *testing.T) {
	f, err := ByMapping([]string{"timestamp=t", "ip=client.ip", "request_time=ms/1000", "blocked=Action"})
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		`{"t":1`:                          "not a record of a log in JSON",
		`[1]`:                             "not a record of a log in JSON",
		`{"t":"now"}`:                     "not a time",
		`{"t":1,"client":{"ip":"1.2.3"}}`: "neither an address nor a host name",
		`{"t":1,"client":{"ip":{}}}`:      "client.ip is an object",
		`{"t":1,"ms":"fast"}`:             `ms is "fast", which is not a number`,
		`{"t":1,"ms":1e999}`:              "which is not a number",
		`{"t":"yesterday"}`:               "not a time",
		`{"t":1,"ms":-1}`:                 "not a duration",
		`{"t":1,"Action":"block"}`:        `Action is "block", but blocked is true or false`,
		`{"t":1,"Action":1}`:              `Action is "1", but blocked is true or false`,
		`{"t":1,"Action":{"a":1}}`:        "but blocked is true or false",
	} {
		if got, err := f.Convert(nil, []byte(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v, want %s", line, got, err, want)
		}
	}
}

func TestMappingErrors(t *testing.T) {
	for text, want := range map[string]string{
		"ip":                       "column 1: write FIELD=PATH",
		"=a":                       "column 1: write FIELD=PATH",
		"ip=":                      "column 4: the name of a member is missing",
		"ip=a..b":                  "column 6: the name of a member is missing",
		"ip=a.":                    "column 6: the name of a member is missing",
		`ip="a`:                    "column 4: the closing quote is missing",
		`ip="a"b`:                  "column 7: write a dot before a member",
		"ip=ä/1000":                "column 5: the values of ip are no numbers with a unit",
		"request_time=ms/":         `column 17: "" is not a number`,
		"request_time=ms/0":        "column 17: \"0\" is not a number above 0",
		"request_time=ms/1000*2":   `column 17: "1000*2" is not a number`,
		"request_time=ms / 1/1000": "is not a number",
		"url=u":                    "column 1: url follows from other fields",
		"blocked=a==":              "column 12: write the text in double quotes",
		"blocked=a==block":         "column 12: write the text in double quotes",
		`blocked=a=="block`:        "column 12: the closing quote is missing",
		`blocked=a=="block"/2`:     "column 19: nothing can follow the text",
		`status=a=="200"`:          "column 9: a comparison is true or false, which status cannot be",
		`reason=a=="x"`:            "column 9: a comparison is true or false, which reason cannot be",
		`blocked==="x"`:            "column 9: the name of a member is missing",
	} {
		if _, err := ByMapping([]string{text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := ByMapping([]string{"ip=a", "ip=b"}); err == nil || !strings.Contains(err.Error(), "two mappings") {
		t.Errorf("two mappings of one field: %v", err)
	}
}

func TestCheckHead(t *testing.T) {
	for name, test := range map[string]struct{ mapping, head, want string }{
		"a text": {"blocked=fw.Action", `{"timestamp":1}` + "\n" + `{"timestamp":2,"fw":{"Action":"block"}}` + "\n{",
			`fw.Action is "block", but blocked is true or false; ` +
				`compare it with the text for true: --map 'blocked=fw.Action=="block"'`},
		"a text with a quote": {"blocked=a", `{"timestamp":1,"a":"\""}`, `--map 'blocked=a=="TEXT"'`},
		"true and false":      {"blocked=a", `{"timestamp":1,"a":"true"}` + "\n" + `{"timestamp":1,"a":false}`, ""},
		"a comparison":        {`blocked=a=="block"`, `{"timestamp":1,"a":"block"}`, ""},
		"another bad line":    {"blocked=a", `{"timestamp":"noon"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := ByMapping([]string{test.mapping})
			if err != nil {
				t.Fatal(err)
			}
			err = CheckHead(f, []byte(test.head))
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// FuzzByMapping parses any mapping. The name of its format must define the same format, and its table the same source.
func FuzzByMapping(f *testing.F) {
	for _, seed := range []string{
		"ip=a", `ip="a.b".c`, "request_time=ms/1000", "bytes_sent=kB*1024", `blocked=Action=="block"`, `x = "a=b" == " "`,
		`ip=""`, `blocked=a==`, "a==b", `a==="b"`, `blocked="=="=="=="`,
		"ip=\"\r\"", "ip=\"\u00a0a\"",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := parseMapping(text)
		if err != nil {
			return
		}
		again, err := parseMapping("blocked=" + jsonVariable{path: v.path}.source())
		if err != nil || strings.Join(again.path, "\x00") != strings.Join(v.path, "\x00") {
			t.Errorf("%q has the path %q, printed as %q: %q, %v", text, v.path, jsonVariable{path: v.path}.source(), again.path, err)
		}
		if v.equals == nil {
			return
		}
		again, err = parseMapping("blocked=" + v.source())
		if err != nil || again.equals == nil || *again.equals != *v.equals {
			t.Errorf("%q is printed as %q: %v", text, v.source(), err)
		}
	})
}
