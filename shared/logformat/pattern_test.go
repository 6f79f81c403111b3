package logformat

import (
	"errors"
	"strings"
	"testing"
)

func TestPatterns(t *testing.T) {
	for name, test := range map[string]struct{ pattern, line, want string }{
		"groups are fields": {
			`(?P<timestamp>\S+ \S+) (?P<ip>\S+) (?P<method>\S+) (?P<target>\S+) (?P<status>\d+) (?P<request_time_ms>[\d.]+)ms`,
			"2026-05-17 10:05:03,25 203.0.113.7 GET /a?b=1 200 12.5ms and more",
			`{"timestamp":"2026-05-17T10:05:03.25Z","status":200,"request_time":0.0125,"ip":"203.0.113.7",` +
				`"method":"GET","path":"/a","query":"?b=1","arguments":[{"name":"b","value":"1"}],` +
				`"path_parts":[{"name":"part1","value":"a"},{"name":"path","value":"/a"}],"proxy":[{"name":"log_rest","value":"and more"}]}`,
		},
		"prefixes are members of fields": {
			`(?P<timestamp>\d+) (?P<header_x_tenant>\S+) (?P<cookie_lang>\S+) (?P<proxy_zone>\S+) (?P<user_agent>.*)`,
			"1779012303 t1 en eu curl/8",
			`{"timestamp":"1779012303","user_agent":"curl/8","headers":[{"name":"x-tenant","value":"t1"}],` +
				`"cookies":[{"name":"lang","value":"en"}],"proxy":[{"name":"zone","value":"eu"}]}`,
		},
		"other names are members": {
			`(?P<timestamp>\d+) (?P<reason>\w+) (?P<team>\w+)`, "1779012303 limit blue",
			`{"timestamp":"1779012303","reason":"limit","team":"blue"}`,
		},
		"the client is the first that is known": {
			`(?P<timestamp>\d+) (?P<peer>\S+) (?P<forwarded_for>.*)`, "1779012303 10.0.0.1:99 198.51.100.1, 203.0.113.7",
			`{"timestamp":"1779012303","ip":"203.0.113.7","headers":[{"name":"x-forwarded-for",` +
				`"value":"198.51.100.1, 203.0.113.7"}],"proxy":[{"name":"peer","value":"10.0.0.1:99"}]}`,
		},
		"a group that takes no part in the match, an empty one and a dash are absent": {
			`(?P<timestamp>\d+)(?: (?P<ip>\S+))? "(?P<method>[^"]*)" (?P<host>\S+)`, `1779012303 "" -`,
			`{"timestamp":"1779012303"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := ByName("pattern:" + test.pattern)
			if err != nil {
				t.Fatal(err)
			}
			got, err := f.Convert(nil, []byte(test.line))
			if err != nil || string(got) != test.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, test.want)
			}
		})
	}
}

func TestPatternTimes(t *testing.T) {
	f, err := ByPattern(`(?P<timestamp>.*)`)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"2026-05-17T12:05:03.5+02:00":     "2026-05-17T10:05:03.5Z",
		"2026-05-17T10:05:03":             "2026-05-17T10:05:03Z",
		"2026-05-17 10:05:03.123456789":   "2026-05-17T10:05:03.123456789Z",
		"2026/05/17 10:05:03":             "2026-05-17T10:05:03Z",
		"17/May/2026:12:05:03 +0200":      "2026-05-17T10:05:03Z",
		"17/May/2026:10:05:03.655":        "2026-05-17T10:05:03.655Z",
		"Sun, 17 May 2026 10:05:03 GMT":   "2026-05-17T10:05:03Z",
		"Sun May 17 10:05:03 2026":        "2026-05-17T10:05:03Z",
		"1779012303.25":                   "1779012303.25",
		"yesterday":                       "",
		"17.5.2026":                       "",
		"":                                "",
		"-":                               "",
		"2026-02-30 10:05:03":             "",
		"99999999999999999999999999999e9": "",
	} {
		got, err := f.Convert(nil, []byte(text))
		switch {
		case want == "" && err == nil:
			t.Errorf("%q is %s", text, got)
		case want != "" && (err != nil || string(got) != `{"timestamp":"`+want+`"}`):
			t.Errorf("%q is %s, %v, want %s", text, got, err, want)
		}
	}
}

func TestPatternErrors(t *testing.T) {
	for text, want := range map[string]string{
		`(?P<timestamp>`:                        "missing closing )",
		`(?P<ip>.*)`:                            "no group has the name timestamp",
		`(?P<timestamp>\d+) (?P<ip>.)(?P<ip>.)`: "two groups have the name ip",
		`(?P<timestamp>(?!x).*)`:                "invalid or unsupported Perl syntax",
		`(?P<timestamp>\d+) (a?){1000}`:         "about 3002 instructions, which may all be tried at every byte of a line, and 1000",
	} {
		if _, err := ByPattern(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestUnrecognizedLogs(t *testing.T) {
	for log, test := range map[string]struct {
		first, text string
		formats     string // that are listed, because they have such lines
	}{
		"\n secret=1\nanother\n": {
			"secret=1", "none of the first 2 lines looks", "cloudfront w3c alb envoy istio haproxy-http combined",
		},
		`{"secret":1}`: {
			`{"secret":1}`, "the first line does not look", "orrery aws-waf caddy nginx-json cloudfront",
		},
	} {
		_, err := Detect([]byte(log))
		var e *UnrecognizedError
		if !errors.As(err, &e) {
			t.Fatal(err)
		}
		if e.First != test.first || !strings.HasPrefix(err.Error(), test.text) {
			t.Errorf("%+v", e)
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error has text of the log: %v", err)
		}
		var formats []string
		for _, miss := range e.Missed {
			formats = append(formats, miss.Format)
			if miss.Reason == "" {
				t.Errorf("%s has no reason", miss.Format)
			}
		}
		if got := strings.Join(formats, " "); got != test.formats {
			t.Errorf("%s: listed %s, want %s", log, got, test.formats)
		}
	}
}

func TestDescribe(t *testing.T) {
	for _, name := range Names() {
		if !strings.Contains(Describe(name), " ") {
			t.Errorf("no description of %s", name)
		}
	}
	if got := Describe("nothing"); got != "" {
		t.Errorf("got %s", got)
	}
}
