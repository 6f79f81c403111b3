package filter_test

import (
	"testing"

	"github.com/orrery/orrery/shared/filter"
)

// FuzzParse runs checkParse on any text.
func FuzzParse(f *testing.F) {
	for _, m := range mistakes {
		f.Add(m.text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkParse(t, text) })
}

// FuzzRoundTrip prints any key and any two values in both forms and parses the result.
func FuzzRoundTrip(f *testing.F) {
	f.Add("x-y", true, uint8(0), `a"b\`, ` and `, false)
	f.Add("t", true, uint8(7), "now-15m", "now", false)
	f.Add("^a$", false, uint8(6), "(", "1 e", true)
	f.Fuzz(func(t *testing.T, key string, exact bool, op uint8, first, second string, negated bool) {
		c := filter.Condition{
			Field: filter.Word{Text: "headers"}, Negated: negated, Op: filter.Ops[int(op)%len(filter.Ops)],
			Key:    &filter.Key{Text: key, Exact: exact},
			Values: []filter.Value{{Kind: filter.Text, Text: first}, {Kind: filter.Text, Text: second}},
		}
		switch c.Op {
		case filter.In, filter.Regex:
			c.List = true
		case filter.Is:
			c.Values = []filter.Value{{Kind: filter.Bool, Text: "true"}}
		case filter.Between:
		default:
			c.Values = c.Values[:1]
		}
		once := filter.ParseJSON(filter.FormatJSON(filter.Filter{Conditions: []filter.Condition{c}}))
		if len(once.Problems) > 0 {
			t.Skip() // NUL, invalid UTF-8 or an empty pattern, which filters cannot contain
		}
		checkRoundTrip(t, once)
	})
}
