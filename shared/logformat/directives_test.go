package logformat

import (
	"strings"
	"testing"
)

// TestDirectives reads texts in pieces of every length. The last directive must be that of the whole text.
func TestDirectives(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"none":                           {"a\n b # c\n", ""},
		"the first line":                 {"#Fields: a b\n1 2\n", "#Fields: a b"},
		"after a byte order mark":        {"\xef\xbb\xbf#Fields: a b\n1 2\n", "#Fields: a b"},
		"after a further mark":           {"\xef\xbb\xbf#Fields: a\n1\n\xef\xbb\xbf#Fields: b\n", "#Fields: b"},
		"not after half a mark":          {"#Fields: a\n\xef\xbb#Fields: b\n", "#Fields: a"},
		"with a carriage return":         {"#Fields: a b\r\n1 2\r\n", "#Fields: a b"},
		"other directives":               {"#Version: 1.0\n#Fields: a\n#Date: now\n#\n", "#Fields: a"},
		"the last of several":            {"#Fields: a\n1\n#Fields: b\n#Fields: c\n2\n", "#Fields: c"},
		"in quotes":                      {"\"#Version: 1.0\"\r\n\"#Fields: a\"\n\"1\"\n\"\n\"2\"\n", "#Fields: a"},
		"not after a quote":              {"#Fields: a\n\" #Fields: b\"\n\"#Fields: c\n", "#Fields: a"},
		"not before its newline":         {"#Fields: a\n1\n#Fields: b", "#Fields: a"},
		"not within a line":              {"#Fields: a\nx #Fields: b\n", "#Fields: a"},
		"not longer than the limit":      {"#Fields: a\n#Fields: " + strings.Repeat("b", maxDirective) + "\n", "#Fields: a"},
		"after a comment that is longer": {"#" + strings.Repeat("b", maxDirective) + "\n#Fields: a\n", "#Fields: a"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{len(test.text), 1, 2, 3, 7, 11} {
				var d Directives
				for rest := []byte(test.text); len(rest) > 0; {
					n := min(size, len(rest))
					d.Add(rest[:n])
					rest = rest[n:]
				}
				if got := string(d.Last()); got != test.want {
					t.Errorf("pieces of %d bytes: got %q, want %q", size, got, test.want)
				}
			}
		})
	}
}

func TestW3CLines(t *testing.T) {
	const fields = "#Fields: date time c-ip cs-method cs-uri-stem sc-status"
	for name, test := range map[string]struct{ fields, line, want string }{
		"spaces separate values": {
			fields, "2026-05-17 10:05:03 1.2.3.4 GET /a 200",
			`{"timestamp":"2026-05-17T10:05:03Z","status":200,"ip":"1.2.3.4","method":"GET","path":"/a",` +
				`"path_parts":[{"name":"part1","value":"a"},{"name":"path","value":"/a"}]}`,
		},
		"a dash is absent": {
			fields, "2026-05-17 10:05:03 - - - -", `{"timestamp":"2026-05-17T10:05:03Z"}`,
		},
		"tabs separate values": {
			"#Fields: date time cs(User-Agent)", "2026-05-17\t10:05:03\ta b",
			`{"timestamp":"2026-05-17T10:05:03Z","user_agent":"a b"}`,
		},
		"an empty value between tabs is absent": {
			"#Fields: date time sc-status x-a", "2026-05-17\t10:05:03\t\t1",
			`{"timestamp":"2026-05-17T10:05:03Z","proxy":[{"name":"x-a","value":"1"}]}`,
		},
		"times have fractions": {
			"#Fields: date time", "2026-05-17 10:05:03.25", `{"timestamp":"2026-05-17T10:05:03.25Z"}`,
		},
		"the first of two fields of one meaning counts": {
			"#Fields: date time cs-method cs-method", "2026-05-17 10:05:03 GET PUT",
			`{"timestamp":"2026-05-17T10:05:03Z","method":"GET","proxy":[{"name":"cs-method","value":"PUT"}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, ok := w3c{name: w3cName}.After([]byte(test.fields))
			if !ok {
				t.Fatal("not a directive")
			}
			got, err := f.Convert(nil, []byte(test.line))
			if err != nil || string(got) != test.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, test.want)
			}
		})
	}
	for name, test := range map[string]struct{ fields, line, want string }{
		"fewer values": {fields, "2026-05-17 10:05:03 1.2.3.4 GET /a", "5 values, but #Fields lists 6"},
		"one value":    {fields, "foo", "the line has 1 value, but #Fields lists 6"},
		"more values":  {fields, "2026-05-17 10:05:03 1.2.3.4 GET /a b 200", "7 values, but #Fields lists 6"},
		"no date":      {"#Fields: time c-ip", "10:05:03 1.2.3.4", "does not list both date and time"},
		"a bad time":   {fields, "2026-05-17 25:05:03 1.2.3.4 GET /a 200", "not a time"},
		"a bad client": {fields, `2026-05-17 10:05:03 1.2.3.4:80 GET /a 200`, "neither an address nor a host name"},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			f, _ := w3c{name: w3cName}.After([]byte(test.fields))
			if got, err := f.Convert(nil, []byte(test.line)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
}
