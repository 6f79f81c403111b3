package query

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ConditionsIdentity returns a text that is equal for two lists of conditions only if the same records meet all
// conditions of either. It does not depend on their order.
func ConditionsIdentity(conditions []Condition) string {
	ids := make([]string, len(conditions))
	for i, c := range conditions {
		ids[i] = c.identity()
	}
	slices.Sort(ids)
	return strings.Join(slices.Compact(ids), "\n") // quoted texts have no line breaks
}

func (c Condition) identity() string {
	id := strconv.AppendBool(nil, c.Negated)
	for _, t := range c.Terms {
		id = fmt.Appendf(id, " %s %s", sourceIdentity(t), testIdentity(t.Test))
	}
	for _, alternative := range c.Any {
		id = fmt.Appendf(id, " any %q", ConditionsIdentity(alternative))
	}
	return string(id)
}

// Identity returns a text that is equal for two dimensions only if every record has the same values in both.
func (d Dimension) Identity() string {
	ids := make([]string, len(d.Sources))
	for i, t := range d.Terms() {
		ids[i] = sourceIdentity(t)
	}
	if d.Network != nil {
		ids = append(ids, d.Network.String())
	}
	if d.Joined {
		ids = append(ids, "joined")
	}
	return strings.Join(ids, " ")
}

// sourceIdentity returns a text that is equal for two terms only if they test the same values.
func sourceIdentity(t Term) string {
	id := fmt.Sprintf("%q %q %d %d", t.Source.Column, t.Source.Member, t.Source.Layout, t.Source.Type)
	switch {
	case t.Key == nil:
		return id
	case t.Key.Pattern != nil:
		return id + fmt.Sprintf(" ~%t %q", t.Fold, t.Key.Pattern.Canonical)
	}
	return id + fmt.Sprintf(" =%t %q", t.Fold, t.Key.Name)
}

// testIdentity returns a text that is equal for two tests only if the same values pass them.
func testIdentity(test Test) string {
	switch test := test.(type) {
	case BoolIs, IntIn, NetworkIn, RefIn: // they have no texts of users
		return fmt.Sprintf("%T%v", test, test)
	case IntRange:
		least, most := test.Bounds()
		return fmt.Sprintf("ints %d %d", least, most)
	case NumberRange:
		return fmt.Sprintf("numbers %s %s %t %t", bound(test.Min), bound(test.Max), test.MinOpen, test.MaxOpen)
	case Matches:
		sources := make([]string, len(test.Patterns))
		for i, p := range test.Patterns {
			sources[i] = p.Canonical
		}
		return fmt.Sprintf("matches %q", sources)
	case TextIn:
		return fmt.Sprintf("texts %q", test.Values)
	case InList:
		return "list " + test.Handle()
	}
	panic(fmt.Sprintf("query: no identity of %T", test))
}

func bound(n *float64) string {
	if n == nil {
		return "none"
	}
	return strconv.FormatFloat(*n, 'g', -1, 64)
}
