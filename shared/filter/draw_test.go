package filter_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/orrery/orrery/shared/filter"
)

func TestPosition(t *testing.T) {
	const text = "é=1,\nb=😀x"
	for _, test := range []struct{ offset, line, column int }{
		{-1, 1, 1}, {0, 1, 1}, {2, 1, 2}, {5, 1, 5}, {6, 2, 1}, {8, 2, 3}, {12, 2, 4}, {100, 2, 5},
	} {
		if line, column := filter.Position(text, test.offset); line != test.line || column != test.column {
			t.Errorf("Position(%d) = %d, %d; want %d, %d", test.offset, line, column, test.line, test.column)
		}
	}
}

func TestDraw(t *testing.T) {
	at := func(text, part, message, suggestion string) filter.Error {
		span := filter.Span{Offset: strings.Index(text, part), Length: len(part)}
		return filter.Error{Message: message, Suggestion: suggestion, Span: span}
	}
	const hots = `status=404, hots="x"`
	const wide = "日本=é, e\u0301=x"
	const hidden = "a\t\x1b[31m\u202e=x"
	long := strings.Repeat("a", 300)
	for _, test := range []struct {
		name, text string
		err        filter.Error
		want       string
	}{
		{"a suggestion follows the message", hots, at(hots, "hots", `unknown field "hots"`, "host"), `
column 13: unknown field "hots"; did you mean "host"?
  status=404, hots="x"
              ^^^^
`},
		{"a suggestion in the message is not repeated", `a=1`, at(`a=1`, "a", `did you mean "b"?`, "b"), `
column 1: did you mean "b"?
  a=1
  ^
`},
		{"the second line", "a=1,\r\nb=2,\r\nc=3", at("a=1,\r\nb=2,\r\nc=3", "b", "no", ""), `
line 2, column 1: no
  b=2,
  ^
`},
		{"an empty span at the end", "a=", filter.Error{Message: "no", Span: filter.Span{Offset: 2}}, `
column 3: no
  a=
    ^
`},
		{"a span of several lines", "a\nb", at("a\nb", "a\nb", "no", ""), `
line 1, column 1: no
  a
  ^
`},
		{"wide and combining characters", wide, at(wide, "x", "no", ""),
			"\ncolumn 10: no\n  " + wide + "\n            ^\n"},
		{"characters that move the cursor", hidden, at(hidden, "x", "no \x1b", ""), `
column 10: no ·
  a ·[31m·=x
           ^
`},
		{"a place outside the text", "a", filter.Error{Message: "no", Span: filter.Span{Offset: 7, Length: 2}}, `
column 2: no
  a
   ^
`},
		{"a long line", long + "x" + long, at(long+"x"+long, "x", "no", ""), `
column 301: no
  …` + long[:73] + `x` + long[:24] + `…
` + strings.Repeat(" ", 76) + `^
`},
		{"a long span", "b" + long, at("b"+long, long, "no", ""), `
column 2: no
  b` + long[:49] + `…
   ` + strings.Repeat("^", 50) + `
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := filter.Draw(test.text, filter.Errors{test.err})
			if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n"), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDrawSeveralMistakes(t *testing.T) {
	const text = `hots=1, stats=2`
	got := filter.Draw(text, filter.Errors{
		{Message: "one", Span: filter.Span{Offset: 0, Length: 4}},
		{Message: "two", Span: filter.Span{Offset: 8, Length: 5}},
	})
	want := "column 1: one\n  hots=1, stats=2\n  ^^^^\n\ncolumn 9: two\n  hots=1, stats=2\n          ^^^^^\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestErrors(t *testing.T) {
	spanA, spanB := filter.Span{Offset: 0, Length: 1}, filter.Span{Offset: 2, Length: 1}
	errs := filter.Errors{
		{Message: "b", Span: spanB, Fix: &filter.Edit{Span: spanB, Text: "B"}},
		{Message: "a", Span: spanA, Fix: &filter.Edit{Span: spanA, Text: "A"}},
	}
	if got := errs.Sorted().Error(); got != "a; b" {
		t.Errorf("sorted: %q", got)
	}
	if got := errs[0].Error(); got != "b" {
		t.Errorf("one: %q", got)
	}
	if got, ok := errs.Fixed("a b"); got != "A B" || !ok {
		t.Errorf("fixed: %q, %t", got, ok)
	}
	overlap := append(errs, filter.Error{Fix: &filter.Edit{Span: filter.Span{Offset: 0, Length: 3}, Text: "x"}})
	if got, ok := overlap.Fixed("a b"); ok {
		t.Errorf("two corrections of one place gave %q", got)
	}
	if got, ok := errs.Fixed("a"); ok {
		t.Errorf("corrections outside the text gave %q", got)
	}
}

func TestNearest(t *testing.T) {
	fields := []string{
		"host", "hostname", "status", "timestamp", "time_period",
		"user_agent", "geo_region", "request_id", "request_time", "tags",
	}
	for word, want := range map[string]string{
		"hots": "host", "Host": "host", "stauts": "status", "user-agent": "user_agent", "useragent": "user_agent",
		"timestmp": "timestamp", "geo": "geo_region", "time": "", "request": "", "colour": "", "": "", "x": "",
		"tag": "tags", "hostnam": "hostname", "hhost": "host",
		strings.Repeat("host", 40): "",
	} {
		if got := filter.Nearest(word, fields); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
	if got := filter.Nearest("abc", []string{strings.Repeat("abc", 40)}); got != "" {
		t.Errorf("a name longer than any suggested: %q", got)
	}
}
