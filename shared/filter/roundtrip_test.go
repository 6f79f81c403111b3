package filter_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/orrery/orrery/shared/filter"
	"pgregory.net/rapid"
)

// semantics is the meaning of a condition, independent of its form and spelling.
type semantics struct {
	Field   string
	Key     string
	Exact   bool
	HasKey  bool
	Negated bool
	Op      filter.Op
	List    bool
	Named   bool // the value is the name of a list of values
	Values  []string
}

func semanticsOf(f filter.Filter) []semantics {
	all := make([]semantics, 0, len(f.Conditions))
	for _, c := range f.Conditions {
		m := semantics{Field: c.Field.Text, Negated: c.Negated, Op: c.Op, List: c.List && c.Op != filter.Between}
		if c.Op == filter.Eq && c.List {
			m.Op = filter.In
		}
		if c.Key != nil {
			m.HasKey, m.Key, m.Exact = true, c.Key.Text, c.Key.Exact
		}
		for _, v := range c.Values {
			m.Values = append(m.Values, v.Text)
			m.Named = v.Kind == filter.ListName
		}
		all = append(all, m)
	}
	return all
}

// checkRoundTrip prints a filter in both forms, parses the result and compares the meanings.
func checkRoundTrip(t interface {
	Helper()
	Errorf(string, ...any)
}, f filter.Filter) {
	t.Helper()
	want := semanticsOf(f)
	for _, again := range []filter.Filter{
		filter.ParseQueryString(filter.Format(f)),
		filter.ParseJSON(filter.FormatJSON(f)),
	} {
		if len(again.Problems) > 0 {
			t.Errorf("the printed filter has mistakes:\n%s", filter.Draw(again.Text, again.Problems))
		}
		if diff := cmp.Diff(want, semanticsOf(again)); diff != "" {
			t.Errorf("%s\nhas another meaning (-printed +parsed):\n%s", again.Text, diff)
		}
	}
}

// anyText generates texts, many of them with characters that need quotes or escapes.
func anyText() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{
		`"`, `\`, `\\`, `\"`, `,`, `(`, `)`, ` and `, ` or `, ` `, `=`, `~`, `!`, `<`, `>`, `not `, "\n", "\t", "\x01",
		`'`, `“`, `;`, `&&`, `{`, `[`, `]`, `:`, `a`, `b=1`, `^`, `$`, `(?:`, `.`, `é`, `😀`, "\u202e", "\u00a0",
		"\ufeff", "\u2028", `404`, `2026-01-01`, `-`, `e`, `+`, `true`,
	})
	valid := func(s string) string { return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "") }
	return rapid.OneOf(
		rapid.Map(rapid.SliceOfN(piece, 0, 6), func(pieces []string) string { return strings.Join(pieces, "") }),
		rapid.Map(rapid.String(), valid),
	)
}

// TestRoundTrip prints any conditions in both forms and parses the result.
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
	fields := []string{"status", "x", "in", "between", "is", "and", "or", "user-agent"}
	c := filter.Condition{
		Field:   filter.Word{Text: rapid.SampledFrom(fields).Draw(t, "field")},
		Op:      rapid.SampledFrom(filter.Ops).Draw(t, "op"),
		Negated: rapid.Bool().Draw(t, "negated"),
	}
	switch rapid.IntRange(0, 2).Draw(t, "key") {
	case 1:
		c.Key = &filter.Key{Text: anyText().Draw(t, "name"), Exact: true}
	case 2:
		// The parsers turn a pattern that only one name matches into that name.
		rest := rapid.SampledFrom([]string{"x", "-", "|y", ".*"})
		c.Key = &filter.Key{Text: anyText().Draw(t, "pattern") + rest.Draw(t, "rest")}
	}
	text := func() filter.Value { return filter.Value{Kind: filter.Text, Text: anyText().Draw(t, "value")} }
	switch c.Op {
	case filter.Is:
		literal := rapid.SampledFrom([]string{"true", "false"}).Draw(t, "bool")
		c.Values = []filter.Value{{Kind: filter.Bool, Text: literal}}
	case filter.Between:
		c.Values = []filter.Value{text(), text()}
	case filter.Eq, filter.In, filter.Regex:
		c.List = c.Op == filter.In || rapid.Bool().Draw(t, "list")
		c.Values = []filter.Value{text()}
		if c.Op == filter.In && rapid.Bool().Draw(t, "named") {
			names := rapid.SampledFrom([]string{"tor", "and", "in-2", "staging/tor", "not.x/a:12"})
			c.Values[0] = filter.Value{Kind: filter.ListName, Text: names.Draw(t, "list name")}
			return c
		}
		for c.List && rapid.Bool().Draw(t, "more") {
			c.Values = append(c.Values, text())
		}
	default:
		literal := rapid.SampledFrom([]string{"0", "-1", "1.5e-3", "404"}).Draw(t, "number")
		c.Values = []filter.Value{{Kind: filter.Number, Text: literal}}
	}
	return c
}

// TestKeyNameAndPatternDiffer prints a name and a pattern with the same text and checks that the results differ.
func TestKeyNameAndPatternDiffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyText().Draw(t, "key") + "x"
		printed := func(exact bool) (string, string) {
			f := filter.Filter{Conditions: []filter.Condition{{
				Field:  filter.Word{Text: "headers"},
				Key:    &filter.Key{Text: text, Exact: exact},
				Op:     filter.Eq,
				Values: []filter.Value{{Kind: filter.Text}},
			}}}
			checkRoundTrip(t, f)
			return filter.Format(f), filter.FormatJSON(f)
		}
		nameQuery, nameJSON := printed(true)
		patternQuery, patternJSON := printed(false)
		if nameQuery == patternQuery || nameJSON == patternJSON {
			t.Errorf("name and pattern %q are printed alike: %s, %s", text, nameQuery, nameJSON)
		}
	})
}

// TestParseAnyText runs checkParse on generated texts, some of them almost valid.
func TestParseAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyText()
		checkParse(t, text.Draw(t, "start")+"a=1, "+text.Draw(t, "middle")+"="+text.Draw(t, "end"))
		checkParse(t, `{"AND":[{"field":`+text.Draw(t, "field")+`"op":"eq",`+text.Draw(t, "value")+`}]}`)
	})
}

// checkParse parses a text in both forms and checks what is true of every text: the parser returns, spans and edits are
// inside the text and split no character, there are at most MaxErrors mistakes in the order of the text, and Draw
// accepts them. A filter without mistakes must survive a round trip.
func checkParse(t interface {
	Helper()
	Errorf(string, ...any)
}, text string) {
	t.Helper()
	inside := func(what string, s filter.Span) {
		if s.Offset < 0 || s.Length < 0 || s.End() > len(text) {
			t.Errorf("%q: %s %+v is outside the text", text, what, s)
		} else if utf8.ValidString(text) && !utf8.ValidString(text[s.Offset:s.End()]) {
			t.Errorf("%q: %s %+v splits a character", text, what, s)
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
