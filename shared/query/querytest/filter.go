// Package querytest generates the inputs with which every engine is tested: random filters over the whole catalog,
// random records, and the truth table of absent values.
package querytest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// Filter returns a random filter that binds, in either form. It uses every field, operator, kind of key, negation and
// list. Most values are from the records, so that conditions hold for some of them.
func Filter(r *rand.Rand, rows []*lake.Row) string {
	return newGenerator(r, rows, catalog.Names()).filter([]int{0, 1, 1, 1, 2, 2, 3, 5}[r.IntN(8)])
}

// FilterOn returns a random filter of a period and n conditions on the given fields.
func FilterOn(r *rand.Rand, rows []*lake.Row, n int, fields ...string) string {
	return newGenerator(r, rows, fields).filter(n)
}

// generator generates one filter.
type generator struct {
	r      *rand.Rand
	rows   []*lake.Row
	row    *lake.Row // the record for which most conditions hold; never nil
	fields []string
}

func newGenerator(r *rand.Rand, rows []*lake.Row, fields []string) *generator {
	g := &generator{r: r, rows: rows, row: &lake.Row{}, fields: fields}
	if len(rows) > 0 {
		g.row = pick(r, rows)
	}
	return g
}

func (g *generator) filter(n int) string {
	conditions := []filter.Condition{g.period()}
	for range n {
		conditions = append(conditions, g.condition())
	}
	f := filter.Filter{Conditions: conditions}
	if g.periodFollows(conditions[1:]) && g.chance(2) {
		conditions = conditions[1:]
		f.Conditions = conditions
	}
	if g.chance(2) {
		return filter.FormatJSON(f)
	}
	g.r.Shuffle(len(conditions), func(i, j int) { // the period must stay the first condition on the timestamp
		if conditions[i].Field.Text != "timestamp" && conditions[j].Field.Text != "timestamp" {
			conditions[i], conditions[j] = conditions[j], conditions[i]
		}
	})
	if len(conditions) > 1 && g.chance(2) && conditions[1].Field.Text != "timestamp" {
		conditions[0], conditions[1] = conditions[1], conditions[0]
	}
	return filter.Format(f)
}

// periodFollows reports whether the filter needs no period, because a condition is on references. No condition may be
// on the timestamp: it would become the period.
func (g *generator) periodFollows(conditions []filter.Condition) bool {
	follows := false
	for _, c := range conditions {
		if c.Field.Text == "timestamp" {
			return false
		}
		follows = follows || c.Field.Text == catalog.RecordRef && !c.Negated
	}
	return follows
}

// period returns a period that usually covers all records. Otherwise it begins or ends near one of them.
func (g *generator) period() filter.Condition {
	from, to := int64(0), int64(4102444800000) // to the year 2100
	if g.chance(3) {
		from = g.row.TsMs - int64(g.r.IntN(3))*int64(g.r.IntN(3_600_000))
	}
	if g.chance(3) {
		to = g.row.TsMs + int64(g.r.IntN(3))*int64(g.r.IntN(3_600_000))
	}
	return filter.Condition{Field: filter.Word{Text: "timestamp"}, Op: filter.Between, Values: g.times(from, to)}
}

// times formats two instants in any order and in any of the accepted layouts.
func (g *generator) times(from, to int64) []filter.Value {
	if g.chance(4) {
		from, to = to, from
	}
	return []filter.Value{g.time(from), g.time(to)}
}

var timeLayouts = []string{
	"2006-01-02 15:04:05.000",
	"2006-01-02T15:04:05.000Z",
	"2006-01-02T15:04:05.000000-07:00",
	"20060102T150405.000Z",
	"2006-01-02t15:04:05.000-0700",
}

func (g *generator) time(ms int64) filter.Value {
	zone := time.FixedZone("", (g.r.IntN(27)-13)*3600+g.r.IntN(2)*1800)
	layout := pick(g.r, timeLayouts)
	t := time.UnixMilli(ms).UTC()
	if strings.Contains(layout, "-07") {
		t = t.In(zone)
	}
	return text(t.Format(layout))
}

// condition returns a random condition on a random field.
func (g *generator) condition() filter.Condition {
	field, ok := catalog.Lookup(pick(g.r, g.fields))
	if !ok {
		panic("querytest: unknown field")
	}
	source := pick(g.r, field.Sources)
	c := filter.Condition{Field: filter.Word{Text: field.Name}, Op: pick(g.r, source.Ops()), Negated: g.chance(3)}
	sample, known := g.sample(source, c.Op)
	c.Key = g.key(field, source, sample.Name)
	switch source.Type {
	case catalog.Time:
		c.Values = g.times(g.row.TsMs-int64(g.r.IntN(1000)), g.row.TsMs+int64(g.r.IntN(1000)))
		return c
	case catalog.Reference:
		g.references(&c)
	case catalog.String:
		g.textValues(&c, sample.Value)
		if source.HasNetworks() && c.Op != filter.Regex {
			g.networks(c.Values)
		}
	case catalog.Any:
		if c.Op == filter.Eq || c.Op == filter.In || c.Op == filter.Regex {
			g.textValues(&c, sample.Value)
		} else {
			g.numbers(&c, sample.Value, known)
		}
	case catalog.Bool:
		if c.Op == filter.Is || c.Op == filter.Eq && g.chance(2) {
			c.Values = []filter.Value{{Kind: filter.Bool, Text: strconv.FormatBool(g.chance(2))}}
		} else {
			g.numbers(&c, strconv.Itoa(g.r.IntN(2)), true)
		}
	default:
		g.numbers(&c, sample.Value, known)
	}
	return c
}

// sample returns a value of the source from g.row or another row; for numeric operators, a number. If it finds none, it
// returns a fixed pair and false.
func (g *generator) sample(s catalog.Source, op filter.Op) (lake.Pair, bool) {
	numeric := s.Type == catalog.Any && op != filter.Eq && op != filter.In && op != filter.Regex
	for try := range 4 {
		row := g.row
		if try > 0 && len(g.rows) > 0 {
			row = pick(g.r, g.rows)
		}
		elements := slices.DeleteFunc(query.Elements(row, s), func(e lake.Pair) bool {
			return !writable(e.Name) || !writable(e.Value) || numeric && !catalog.NumericText.MatchString(e.Value)
		})
		if len(elements) > 0 {
			return pick(g.r, elements), true
		}
	}
	return lake.Pair{Name: "name", Value: "value"}, false
}

// writable reports whether a filter can contain a text, and the text is short enough for a report.
func writable(text string) bool {
	return len(text) <= 300 && utf8.ValidString(text) && !strings.Contains(text, "\x00")
}

// key returns no key, the exact name, a pattern that matches it, or another pattern.
func (g *generator) key(field *catalog.Field, s catalog.Source, name string) *filter.Key {
	switch field.Keys {
	case catalog.NoKey:
		return nil
	case catalog.ClosedKeys:
		if g.chance(2) && hasOneType(field) {
			return nil
		}
		if g.chance(3) {
			return &filter.Key{Text: "^" + s.Name + "$|^nothing$"}
		}
		return &filter.Key{Text: s.Name, Exact: true}
	}
	switch g.r.IntN(6) {
	case 0, 1:
		return nil
	case 2:
		return &filter.Key{Text: "^" + regexp.QuoteMeta(prefix(g.r, name))}
	case 3:
		return &filter.Key{Text: pick(g.r, []string{"o", "(?i)^x-", "[0-9]$", "^.$", "name|value", "(?s)."})}
	case 4:
		if field.Keys == catalog.FoldedKeys {
			return &filter.Key{Text: strings.ToUpper(name), Exact: true}
		}
	}
	return &filter.Key{Text: name, Exact: true}
}

// hasOneType reports whether all members of the field have the same type, so that any value binds without a key.
func hasOneType(field *catalog.Field) bool {
	return !slices.ContainsFunc(field.Sources, func(s catalog.Source) bool { return s.Type != field.Sources[0].Type })
}

// textValues sets the values of a condition on texts: mostly the sample or patterns of it.
func (g *generator) textValues(c *filter.Condition, sample string) {
	one := func() string {
		garbage := pick(g.r, []string{"", "no such value", "' OR 1=1 --", `\`, "%", "é", "\u202e", "0", "null"})
		switch {
		case c.Op == filter.Regex && g.chance(8):
			return regexp.QuoteMeta(garbage)
		case c.Op == filter.Regex:
			return g.pattern(sample)
		case g.chance(8):
			return garbage
		}
		return sample
	}
	c.Values = []filter.Value{text(one())}
	if c.Op == filter.In || c.Op != filter.Eq && g.chance(3) {
		c.List = true
		for range g.r.IntN(3) {
			c.Values = append(c.Values, text(one()))
		}
	}
}

// networks replaces some values, which are texts, by networks around them.
func (g *generator) networks(values []filter.Value) {
	for i, v := range values {
		address, err := netip.ParseAddr(v.Text)
		switch {
		case g.chance(3):
		case g.chance(4):
			values[i] = text(Network(g.r).String())
		case err == nil && address.Zone() == "":
			values[i] = text(netip.PrefixFrom(address, g.r.IntN(address.BitLen()+1)).String())
		}
	}
}

// references sets the values of a condition on references: mostly references to the records.
func (g *generator) references(c *filter.Condition) {
	one := func() string {
		row := g.row
		if len(g.rows) > 0 {
			row = pick(g.r, g.rows)
		}
		switch g.r.IntN(4) {
		case 0:
			return lake.RefTo(row.TsMs, row.Source, -1).String() // of no record, at the time of one
		case 1:
			return lake.RefOf(row).String()
		}
		return lake.RefOf(g.row).String()
	}
	c.Values = []filter.Value{text(one())}
	if c.Op == filter.In {
		c.List = true
		for range g.r.IntN(4) {
			c.Values = append(c.Values, text(one()))
		}
	}
}

// pattern returns a regular expression that often matches the sample.
func (g *generator) pattern(sample string) string {
	part := prefix(g.r, sample)
	switch g.r.IntN(10) {
	case 0:
		return "^" + regexp.QuoteMeta(sample) + "$"
	case 1:
		return "(?i)" + regexp.QuoteMeta(strings.ToUpper(part))
	case 2:
		return regexp.QuoteMeta(part) + "$"
	case 3:
		return "^(?:" + regexp.QuoteMeta(part) + "|nothing)"
	case 4:
		suffix := pick(g.r, []string{".*", "+", "?", "{1,3}", `\b`, `.{0,5}$`, "|^$"})
		return "(?:" + regexp.QuoteMeta(part) + ")" + suffix
	case 5, 6:
		return pick(g.r, []string{
			`[0-9]+`, `^\w+$`, `\pL{2,}`, `[^a-z]`, `(?i)[k-s]{2}`, `\s`, `\bs`, `^$`, `(?s)a.b`, `(?m)^[[:upper:]]`,
			`\.`, `(a|b)*c`, `^(GET|POST)$`, `\d{1,3}\.\d{1,3}`, `[\x00-\x1f]`, `(?i)ſ`, `(?U)a+?`, `\Qa.b\E`,
			`x{0}`, `\B-`, `^[^/]*/`, `[^\n]$`, `(?-s).$`,
		})
	}
	return regexp.QuoteMeta(part)
}

// numbers sets the values of a condition on numbers, near the sample if it is known.
func (g *generator) numbers(c *filter.Condition, sample string, known bool) {
	n, err := strconv.ParseFloat(sample, 64)
	if err != nil || !known {
		n, sample = float64(g.r.IntN(500)), strconv.Itoa(g.r.IntN(500))
	}
	one := func() filter.Value {
		literal := sample
		if whole := n == float64(int64(n)) && n > -1e15 && n < 1e15; whole && g.chance(2) {
			literal = strconv.FormatInt(int64(n)+int64(g.r.IntN(3)-1), 10)
		}
		if g.chance(3) || !jsonNumber.MatchString(literal) {
			return text(literal)
		}
		return filter.Value{Kind: filter.Number, Text: literal}
	}
	c.Values = []filter.Value{one()}
	switch c.Op {
	case filter.Between:
		c.Values = append(c.Values, one())
	case filter.In:
		c.List = true
		for range g.r.IntN(4) {
			c.Values = append(c.Values, one())
		}
	}
}

// jsonNumber matches a JSON number, which has no leading zeros.
var jsonNumber = regexp.MustCompile(`\A-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?\z`)

// chance returns true with a probability of 1/n.
func (g *generator) chance(n int) bool { return g.r.IntN(n) == 0 }

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// prefix returns a random number of characters from the beginning of a text, at most 11.
func prefix(r *rand.Rand, s string) string {
	runes := []rune(s)
	return string(runes[:min(len(runes), r.IntN(12))])
}

func text(s string) filter.Value { return filter.Value{Kind: filter.Text, Text: s, Quoted: true} }

// Explain returns the error of a filter that does not bind as text, for the report of a test.
func Explain(err error) string {
	if e := (*query.FilterError)(nil); errors.As(err, &e) {
		return filter.Draw(e.Text, e.Errors)
	}
	return fmt.Sprint(err)
}
