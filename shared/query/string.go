package query

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/pattern"
)

// String prints the bound query for people, one fact a line: the period, the scope if it differs, the shape, and each
// condition as the columns and typed values that it tests.
func (q Query) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "period %s\n", q.Period)
	if q.Scope.Period != q.Period {
		fmt.Fprintf(&b, "scope  %s\n", q.Scope.Period)
	}
	fmt.Fprintf(&b, "shape  %s\n", shapeText(q.Shape))
	if d, ok := q.Shape.(Diff); ok {
		if d.Against.Kind != AgainstNothing {
			fmt.Fprintf(&b, "other  %s\n", d.Baseline)
		}
	}
	for _, s := range q.Selections() {
		for _, c := range s.Conditions {
			fmt.Fprintf(&b, "select %s\n", c)
		}
	}
	for _, c := range q.Conditions {
		fmt.Fprintf(&b, "where  %s\n", c)
	}
	return b.String()
}

func (p Period) String() string {
	if p.Empty() {
		return "nothing"
	}
	return instantText(p.FromMs) + " … " + instantText(p.ToMs)
}

func instantText(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.999Z")
}

func shapeText(s Shape) string {
	switch s := s.(type) {
	case Logs:
		text := fmt.Sprintf("logs limit=%d", s.Limit)
		if s.Fields != nil {
			text += " fields=" + strings.Join(s.Fields, ",")
		}
		if s.OlderThan != nil {
			text += " older than " + s.OlderThan.String()
		}
		if s.NewerThan != nil {
			text += " newer than " + s.NewerThan.String()
		}
		return text
	case Stats:
		text := "stats " + segmentText(s.SegmentSeconds, s.Zone)
		if s.GroupByHostname {
			text += " group_by=hostname"
		}
		if s.By != nil {
			text += " group_by=" + s.By.String()
		}
		if s.Percentiles {
			text += " figures=percentiles"
		}
		return text
	case Timeline:
		return "timeline " + segmentText(s.SegmentSeconds, s.Zone)
	case TopX:
		text := fmt.Sprintf("topx limit=%d", s.Limit)
		if s.Labels != nil {
			text += " labels=" + strings.Join(s.Labels, ",")
		}
		if s.Percentiles {
			text += " figures=percentiles"
		}
		return text
	case Facets:
		order := "requests"
		if s.ByBlocked {
			order = "blocked"
		}
		return fmt.Sprintf("facets limit=%d order=%s by=%s", s.Limit, order, strings.Join(dimensionTexts(s.By), ","))
	case Diff:
		return fmt.Sprintf("diff limit=%d least=%d by=%s", s.Limit, s.Least, strings.Join(dimensionTexts(s.By), ","))
	case Histogram:
		text := fmt.Sprintf("histogram %s measure=%s", segmentText(s.SegmentSeconds, s.Zone), s.Measure)
		if s.By != nil {
			text += fmt.Sprintf(" by=%s limit=%d", s.By, s.Limit)
		}
		return text
	case Counts:
		return fmt.Sprintf("counts %s by=%s", segmentText(s.SegmentSeconds, nil), s.By)
	case Sequences:
		return fmt.Sprintf("sequences by=%s over=%d", strings.Join(dimensionTexts(s.Key), ","), s.Over)
	case Values:
		return fmt.Sprintf("values limit=%d of=%s %s counts=%t", s.Limit, s.By, s.Find, s.Counts)
	}
	panic(fmt.Sprintf("query: no text for %T", s))
}

func segmentText(seconds int64, zone *time.Location) string {
	text := "segment=" + Length(seconds)
	if zone != nil {
		text += " tz=" + zone.String()
	}
	return text
}

// String prints the terms of the condition, or its alternatives. Any of them must hold; with "not", none of them.
func (c Condition) String() string {
	terms := make([]string, len(c.Terms))
	for i, t := range c.Terms {
		terms[i] = t.String()
	}
	for _, alternative := range c.Any {
		all := make([]string, len(alternative))
		for i, one := range alternative {
			all[i] = one.String()
		}
		terms = append(terms, "("+strings.Join(all, " and ")+")")
	}
	text := strings.Join(terms, " or ")
	if c.Negated {
		return "not (" + text + ")"
	}
	return text
}

// String prints the term: its values and their test.
func (t Term) String() string {
	return t.place() + " " + testText(t.Test)
}

func (t Term) place() string {
	if t.Source.Layout == catalog.Place {
		return "reference"
	}
	place := t.Source.Column
	if t.Source.Member != "" {
		place += "." + t.Source.Member
	}
	if t.Key != nil {
		place += "[" + t.Key.String() + "]"
	}
	if t.Source.Layout != catalog.Scalar {
		place = "any " + place
	}
	return place
}

// String prints the group like a condition, or as a source and every test that its values must pass.
func (g Group) String() string {
	if len(g.Every) == 0 {
		return Condition{Field: g.Field, Negated: g.Negated, Terms: g.Terms, Any: g.Any}.String()
	}
	text := g.Terms[0].place() + " every:"
	for _, test := range g.Every {
		text += " " + testText(test)
	}
	return text
}

// String prints the key: a quoted name, or a pattern between slashes.
func (k *Key) String() string {
	if k.Pattern != nil {
		return "/" + k.Pattern.Canonical + "/"
	}
	return strconv.Quote(k.Name)
}

func testText(t Test) string {
	switch t := t.(type) {
	case BoolIs:
		return "is " + strconv.FormatBool(t.Want)
	case TextIn:
		return "in " + listText(t.Values, strconv.Quote)
	case IntIn:
		return "in " + listText(t.Values, func(n int64) string { return strconv.FormatInt(n, 10) })
	case IntRange:
		return "from " + boundText(t.Min) + " to " + boundText(t.Max)
	case NumberRange:
		return "as a number " + numberRangeText(t)
	case NetworkIn:
		return "in networks " + listText(t.Networks, netip.Prefix.String)
	case InList:
		return "in list " + t.Name
	case RefIn:
		return "in " + listText(t.Refs, lake.Ref.String)
	case PairIn:
		return "in " + listText(t.Pairs, pairText)
	case Matches:
		return "matches " + listText(t.Patterns, func(r *pattern.Regex) string { return "/" + r.Canonical + "/" })
	}
	panic(fmt.Sprintf("query: no text for %T", t))
}

func listText[T any](values []T, text func(T) string) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = text(v)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func pairText(p lake.Pair) string { return strconv.Quote(p.Name) + ": " + strconv.Quote(p.Value) }

func boundText(n *int64) string {
	if n == nil {
		return "any"
	}
	return strconv.FormatInt(*n, 10)
}

func numberRangeText(t NumberRange) string {
	var parts []string
	bound := func(n *float64, open bool, sign string) {
		if n == nil {
			return
		}
		if !open {
			sign += "="
		}
		parts = append(parts, sign+" "+strconv.FormatFloat(*n, 'g', -1, 64))
	}
	bound(t.Min, t.MinOpen, ">")
	bound(t.Max, t.MaxOpen, "<")
	return strings.Join(parts, " and ")
}
