package logformat

import (
	"errors"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/record"
)

// TestStops: a rejection of a line of text has the column where the line stops having its format. The lines have a caret
// below that column.
func TestStops(t *testing.T) {
	const haproxy = `203.0.113.7:33317 [17/May/2026:10:05:03.655] in a/b 10/0/30/69/109 200 2750`
	for _, test := range []struct{ format, line, caret, want string }{
		{"haproxy-http", haproxy + ` - - ---- 1/1/1/1/0 0/0 {a} {b} {c} "GET / HTTP/1.1"`,
			`                                                                                                           ^`, `which has "\"" here`},
		{"haproxy-http", `May 17 10:05:03 lb haproxy[1]: 203.0.113.7:33317 [17/May/2026:10:05:03.655] in a/b 10/0/30/109 200`,
			`                                                                                              ^`, `which has "/" here`},
		{"envoy", `[2026-05-17T10:05:03Z] "GET / HTTP/1.1" ok - 0 0`, `                                        ^`, "has status"},
		{"combined", `203.0.113.7 - - 17/May/2026 "GET / HTTP/1.1" 200 5`, `                ^`, "no time"},
		{"combined", `203.0.113.7 - - [17/Mai/2026:10:05:03 +0000] "GET / HTTP/1.1" 200 5`, `                 ^`, "not a time"},
		{"combined", `203.0.113.7 - - [17/May/2026:10:05:03 +0000] GET / HTTP/1.1 200 5`,
			`                                             ^`, "no request"},
		{"combined", `203.0.113.7 - - [17/May/2026:10:05:03 +0000] "GET /ä HTTP/1.1" 20x 5`,
			`                                                               ^`, "no status"},
		{"combined", `203.0.113.7 - - [17/May/2026:10:05:03 +0000] "GET / HTTP/1.1" 200 five`,
			`                                                                  ^`, "no number of bytes"},
		{"combined", `"203.0.113.7 - - [17/May/2026:10:05:03 +0000] "GET / HTTP/1.1" 20x 5"`,
			`                                                               ^`, "no status"},
		{"combined", `1.2.3.4:5 - - [17/May/2026:10:05:03 +0000] "GET / HTTP/1.1" 200 5`, `^`, "neither an address"},
		{`%h %t "%r" %>s`, `203.0.113.7 [17/May/2026:10:05:03 +0000] "GET / HTTP/1.1`,
			`                                          ^`, `there is no`},
		{`%h %t "%r" %>s`, `203.0.113.7 [17/May/2026:10:05:03 +0000] "GET / HTTP/1.1" 20x`,
			`                                                          ^`, `not a status`},
		{`<$msec> $status`, `(1.0> 200`, `^`, `does not begin with`},
		{`pattern:(?P<timestamp>\S+) (?P<ip>\S+) "(?P<path>[^"]*)" (?P<status>\d+)`, `2026-05-17T10:05:03Z 203.0.113.7 '/' 200`,
			`                                 ^`, `it has "\"" here`},
		{`pattern:(?P<timestamp>\S+) (?:ab|c)+ (?P<status>\d+)$`, `2026-05-17T10:05:03Z cab 200 5`,
			`                            ^`, `it has the end of the line here`},
		{`pattern:(?P<timestamp>\S+) (?:ab|c)+ (?P<status>\d+)`, `2026-05-17T10:05:03Z x 200`,
			`                     ^`, `it has (?:ab|c)+ here`},
		{`pattern:(?P<timestamp>\S+) (?P<status>\d+)`, `2026-05-17T10:05:03Z 2000`, `                     ^`, "not a status"},
		{`pattern:(?P<timestamp>a)|b`, `c`, `^`, "here"},
		{"alb", `http 2026-07-05T04:47:50Z elb 1.2.3.4:5 - 0.1 0.1 0.1 two 200 1 1 "GET http://a:80/ HTTP/1.1" "-"`,
			`                                                      ^`, `status is "two"`},
	} {
		t.Run(test.format+"/"+test.want, func(t *testing.T) {
			f, err := ByName(test.format)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Convert(f, nil, []byte(test.line))
			var r *record.Reject
			if !errors.As(err, &r) || !strings.Contains(r.Message, test.want) {
				t.Fatalf("%v, want %s", err, test.want)
			}
			if got, want := Excerpt([]byte(test.line), r.Column), "  "+test.line+"\n  "+test.caret; got != want {
				t.Errorf("%v\n%s\nwant\n%s", err, got, want)
			}
		})
	}
}

func TestExcerpt(t *testing.T) {
	for name, test := range map[string]struct {
		line   string
		column int
		want   string
	}{
		"a column that is not known":      {"abc", 0, "  abc"},
		"the end of a line":               {"abc", 4, "  abc\n     ^"},
		"an empty line":                   {"", 1, "  \n  ^"},
		"characters that are not printed": {"ä\x1b[2K\u202e\xffb", 8, "  ä\ufffd[2K\ufffd\ufffdb\n         ^"},
		"the beginning of a long line":    {strings.Repeat("a", 200), 3, "  " + strings.Repeat("a", 160) + "…\n    ^"},
		"the middle of a long line": {strings.Repeat("a", 300), 201,
			"  …" + strings.Repeat("a", 160) + "…\n  " + strings.Repeat(" ", 100) + "^"},
		"the end of a long line": {strings.Repeat("a", 300), 301,
			"  …" + strings.Repeat("a", 99) + "\n  " + strings.Repeat(" ", 100) + "^"},
	} {
		if got := Excerpt([]byte(test.line), test.column); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, test.want)
		}
	}
}
