package catalog

import (
	"regexp"
	"strings"

	"github.com/orrery/orrery/shared/filter"
)

// Equal returns the condition that a field has one of the texts, which are values of records. A text that would be a
// network in the condition is written as a pattern that only this text matches.
func Equal(field string, negated bool, texts ...string) filter.Condition {
	c := filter.Condition{Field: filter.Word{Text: field}, Op: filter.Eq, Negated: negated}
	if c.List = len(texts) != 1; c.List {
		c.Op = filter.In
	}
	f, known := Lookup(field)
	slashed := strings.Contains(strings.Join(texts, ""), "/")
	if known && slashed && f.Sources[0].HasNetworks() {
		c.Op = filter.Regex
	}
	for _, text := range texts {
		if c.Op == filter.Regex {
			text = "^" + regexp.QuoteMeta(text) + "$"
		}
		c.Values = append(c.Values, filter.Value{Kind: filter.Text, Text: text, Quoted: true})
	}
	return c
}
