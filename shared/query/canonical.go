package query

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
)

// canonicalValues returns the canonical form of the values of a bound condition: numbers in their shortest form,
// durations in whole microseconds, times in UTC and ascending, networks masked. Other text stays as written.
func canonicalValues(sources []catalog.Source, op filter.Op, values []operand) []filter.Value {
	canonical := make([]filter.Value, 0, len(values))
	for _, v := range values {
		canonical = append(canonical, canonicalValue(sources, op, v))
	}
	if op == filter.In {
		return distinct(canonical)
	}
	if sources[0].Type == catalog.Time {
		slices.SortFunc(canonical, func(a, b filter.Value) int { return strings.Compare(a.Text, b.Text) })
	}
	return canonical
}

func canonicalValue(sources []catalog.Source, op filter.Op, v operand) filter.Value {
	asText := op == filter.Eq || op == filter.In
	number := v.number
	durations := true
	for _, s := range sources {
		switch s.Type {
		case catalog.Time:
			t, _ := parseTime(v.Text)
			return textValue(canonicalTime(t.UnixMilli()))
		case catalog.String, catalog.Reference:
			if s.HasNetworks() {
				return textValue(canonicalNetwork(v.Text))
			}
			return textValue(v.Text)
		case catalog.Any:
			if asText {
				return textValue(v.Text)
			}
			f, _ := number.float()
			number, _ = parseDecimal(strconv.FormatFloat(f, 'e', -1, 64))
		}
		durations = durations && s.Type == catalog.Float
	}
	switch {
	case op == filter.Is || !v.numeric:
		return filter.Value{Kind: filter.Bool, Text: strings.ToLower(v.Text)}
	case durations:
		number = number.scaled(6).rounded().scaled(-6)
	}
	return filter.Value{Kind: filter.Number, Text: number.String()}
}

func textValue(text string) filter.Value {
	return filter.Value{Kind: filter.Text, Text: text, Quoted: true}
}

// canonicalPeriod returns the canonical condition for a period.
func canonicalPeriod(p Period) filter.Condition {
	return filter.Condition{
		Field: filter.Word{Text: "timestamp"}, Op: filter.Between,
		Values: []filter.Value{textValue(canonicalTime(p.FromMs)), textValue(canonicalTime(p.ToMs))},
	}
}

// canonicalTime formats epoch milliseconds as YYYY-MM-DD HH:MM:SS in UTC, with the milliseconds unless they are 0.
func canonicalTime(ms int64) string {
	t := time.UnixMilli(ms).UTC()
	if t.Nanosecond() != 0 {
		return t.Format("2006-01-02 15:04:05.000")
	}
	return t.Format(time.DateTime)
}

// identity returns a text that is equal for two canonical conditions exactly when they are equal.
func identity(c *filter.Condition) string {
	id := make([]byte, 0, 64)
	id = append(id, c.Field.Text...)
	id = append(id, 0, byte(c.Op), flag(c.Negated), flag(c.List))
	if c.Key != nil {
		id = append(id, 1+flag(c.Key.Exact))
		id = append(id, c.Key.Text...)
	}
	for _, v := range c.Values {
		id = append(id, 0, byte(v.Kind))
		id = append(id, v.Text...) // no value contains a NUL
	}
	return string(id)
}

func flag(set bool) byte {
	if set {
		return 1
	}
	return 0
}

// Fingerprint returns a hash of the canonical filter: the first 128 bits of SHA-256, in hex. Filters that are written
// differently but mean the same, in the ways that the language reference lists, have equal fingerprints.
func (q Query) Fingerprint() string {
	sum := sha256.Sum256([]byte(filter.FormatJSON(q.Filter)))
	return hex.EncodeToString(sum[:16])
}
