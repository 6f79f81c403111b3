package filter_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/orrery/orrery/shared/filter"
	"pgregory.net/rapid"
)

// meaning is what a condition says, whatever the form and spelling it says it in.
type meaning struct {
	Field   string
	Key     string
	Exact   bool
	HasKey  bool
	Negated bool
	Op      filter.Op
	List    bool
	Values  []string
}

func meaningOf(f filter.Filter) []meaning {
	all := make([]meaning, 0, len(f.Conditions))
	for _, c := range f.Conditions {
		m := meaning{Field: c.Field.Text, Negated: c.Negated, Op: c.Op, List: c.List && c.Op != filter.Between}
		if c.Op == filter.Eq && c.List {
			m.Op = filter.In
		}
		if c.Key != nil {
			m.HasKey, m.Key, m.Exact = true, c.Key.Text, c.Key.Exact
		}
		for _, v := range c.Values {
			m.Values = append(m.Values, v.Text)
		}
		all = append(all, m)
	}
	return all
}

// checkRoundTrip prints a filter in both forms and reads it back.
func checkRoundTrip(t interface {
	Helper()
	Errorf(string, ...any)
}, f filter.Filter) {
	t.Helper()
	want := meaningOf(f)
	for _, again := range []filter.Filter{filter.ParseQueryString(filter.Format(f)), filter.ParseJSON(filter.FormatJSON(f))} {
		if len(again.Problems) > 0 {
			t.Errorf("what was printed has mistakes:\n%s", filter.Draw(again.Text, again.Problems))
		}
		if diff := cmp.Diff(want, meaningOf(again)); diff != "" {
			t.Errorf("%s\nmeans something else (-printed +read):\n%s", again.Text, diff)
		}
	}
}

// nasty is text made to break quoting.
func nasty() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{
		`"`, `\`, `\\`, `\"`, `,`, `(`, `)`, ` and `, ` or `, ` `, `=`, `~`, `!`, `<`, `>`, `not `, "\n", "\t", "\x01", `'`, `“`, `;`, `&&`,
		`{`, `[`, `]`, `:`, `a`, `b=1`, `^`, `$`, `(?:`, `.`, `é`, `😀`, "\u202e", "\u00a0", "\ufeff", "\u2028", `404`, `2026-01-01`, `-`, `e`, `+`, `true`,
	})
	return rapid.OneOf(
		rapid.Map(rapid.SliceOfN(piece, 0, 6), func(pieces []string) string { return strings.Join(pieces, "") }),
		rapid.Map(rapid.String(), func(s string) string { return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "") }),
	)
}

// TestRoundTrip prints any conditions in both forms and reads back the same.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f filter.Filter
		for range rapid.IntRange(0, 4).Draw(t, "conditions") {
			f.Conditions = append(f.Conditions, anyCondition(t))
		}
		checkRoundTrip(t, f)
	})
}

func anyCondition(t *rapid.T) filter.Condition {
	c := filter.Condition{
		Field:   filter.Word{Text: rapid.SampledFrom([]string{"status", "x", "in", "between", "is", "and", "or", "user-agent"}).Draw(t, "field")},
		Op:      rapid.SampledFrom(filter.Ops).Draw(t, "op"),
		Negated: rapid.Bool().Draw(t, "negated"),
	}
	switch rapid.IntRange(0, 2).Draw(t, "key") {
	case 1:
		c.Key = &filter.Key{Text: nasty().Draw(t, "name"), Exact: true}
	case 2:
		// A pattern that only one name matches is that name; the parsers never leave it a pattern.
		c.Key = &filter.Key{Text: nasty().Draw(t, "pattern") + rapid.SampledFrom([]string{"x", "-", "|y", ".*"}).Draw(t, "rest")}
	}
	text := func() filter.Value { return filter.Value{Kind: filter.Text, Text: nasty().Draw(t, "value")} }
	switch c.Op {
	case filter.Is:
		c.Values = []filter.Value{{Kind: filter.Bool, Text: rapid.SampledFrom([]string{"true", "false"}).Draw(t, "bool")}}
	case filter.Between:
		c.Values = []filter.Value{text(), text()}
	case filter.Eq, filter.In, filter.Regex:
		c.List = c.Op == filter.In || rapid.Bool().Draw(t, "list")
		c.Values = []filter.Value{text()}
		for c.List && rapid.Bool().Draw(t, "more") {
			c.Values = append(c.Values, text())
		}
	default:
		c.Values = []filter.Value{{Kind: filter.Number, Text: rapid.SampledFrom([]string{"0", "-1", "1.5e-3", "404"}).Draw(t, "number")}}
	}
	return c
}

// TestKeysStayApart writes a name and the same text as a pattern; they never read back as each other.
func TestKeysStayApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := nasty().Draw(t, "key") + "x"
		printed := func(exact bool) (string, string) {
			f := filter.Filter{Conditions: []filter.Condition{{
				Field: filter.Word{Text: "headers"}, Key: &filter.Key{Text: text, Exact: exact}, Op: filter.Eq, Values: []filter.Value{{Kind: filter.Text}},
			}}}
			checkRoundTrip(t, f)
			return filter.Format(f), filter.FormatJSON(f)
		}
		nameQuery, nameJSON := printed(true)
		patternQuery, patternJSON := printed(false)
		if nameQuery == patternQuery || nameJSON == patternJSON {
			t.Errorf("name and pattern %q print alike: %s, %s", text, nameQuery, nameJSON)
		}
	})
}

// TestMistakesHaveAPlace parses any text in both forms.
func TestMistakesHaveAPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkParse(t, nasty().Draw(t, "start")+"a=1, "+nasty().Draw(t, "middle")+"="+nasty().Draw(t, "end"))
		checkParse(t, `{"AND":[{"field":`+nasty().Draw(t, "field")+`"op":"eq",`+nasty().Draw(t, "value")+`}]}`)
	})
}

// checkParse holds either parser to its promises for any text: it returns, spans and edits lie inside the
// text on whole characters, there are at most MaxErrors mistakes in order, and they can be drawn.
func checkParse(t interface {
	Helper()
	Errorf(string, ...any)
}, text string) {
	t.Helper()
	inside := func(what string, s filter.Span) {
		if s.Offset < 0 || s.Length < 0 || s.End() > len(text) {
			t.Errorf("%q: %s %+v lies outside the text", text, what, s)
		} else if utf8.ValidString(text) && !utf8.ValidString(text[s.Offset:s.End()]) {
			t.Errorf("%q: %s %+v cuts a character", text, what, s)
		}
	}
	for _, f := range []filter.Filter{filter.ParseQueryString(text), filter.ParseJSON(text)} {
		for i, e := range f.Problems {
			inside(e.Code, e.Span)
			if e.Fix != nil {
				inside("fix of "+e.Code, e.Fix.Span)
			}
			if e.Code == "" || e.Message == "" {
				t.Errorf("%q: a mistake without code or message: %+v", text, e)
			}
			if i > 0 && e.Span.Offset < f.Problems[i-1].Span.Offset {
				t.Errorf("%q: mistakes are not in order", text)
			}
		}
		if len(f.Problems) > filter.MaxErrors {
			t.Errorf("%q: %d mistakes", text, len(f.Problems))
		}
		for _, c := range f.Conditions {
			inside("condition", c.Span)
			inside("field", c.Field.Span)
			inside("operator", c.OpSpan)
			if c.Key != nil {
				inside("key", c.Key.Span)
			}
			for _, v := range c.Values {
				inside("value", v.Span)
				inside("part of a value", f.Within(v, 0, len(v.Text)))
			}
			if len(c.Values) == 0 {
				t.Errorf("%q: a condition without values", text)
			}
		}
		for _, c := range f.Incomplete {
			inside("incomplete condition", c.Span)
			inside("field", c.Field.Span)
			if c.Key != nil {
				inside("key", c.Key.Span)
			}
			if c.Field.Text == "" || len(f.Problems) == 0 {
				t.Errorf("%q: an incomplete condition without a field or a mistake: %+v", text, c)
			}
		}
		for _, token := range filter.Tokens(f) {
			inside("token", token.Span)
		}
		f.Problems.Fixed(text)
		if drawn := filter.Draw(text, f.Problems); (drawn == "") != (len(f.Problems) == 0) || !utf8.ValidString(drawn) {
			t.Errorf("%q: drawn as %q", text, drawn)
		}
		if len(f.Problems) == 0 {
			checkRoundTrip(t, f)
		}
	}
}
