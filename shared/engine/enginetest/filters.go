package enginetest

import (
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
)

// Filters makes filters about records: every field, key rule, operator and sign, with values that the records
// have, nearly have, or do not have.
type Filters struct {
	random *rand.Rand
	rows   []lake.Row
}

// NewFilters prepares a generator; equal seeds give equal filters.
func NewFilters(rows []lake.Row, seed uint64) *Filters {
	return &Filters{random: rand.New(rand.NewPCG(seed, 0)), rows: rows}
}

// Next makes a filter. It may not mean anything, when a value from the records is not one that a filter can hold.
func (g *Filters) Next() filter.Filter {
	f := filter.Filter{Form: filter.JSON, Conditions: []filter.Condition{g.period()}}
	n := pick(g, []int{1, 1, 1, 1, 2, 2, 3})
	if g.oneIn(20) {
		n = 12
	}
	field := g.field()
	for range n {
		if !g.oneIn(3) { // else the same field again: such conditions are grouped
			field = g.field()
		}
		f.Conditions = append(f.Conditions, g.condition(field))
	}
	return f
}

func (g *Filters) oneIn(n int) bool { return g.random.IntN(n) == 0 }

func pick[T any](g *Filters, list []T) T { return list[g.random.IntN(len(list))] }

// period is most often all there is, else a part of it.
func (g *Filters) period() filter.Condition {
	from, to := Start, Start.Add(Length)
	if g.oneIn(3) {
		from = Start.Add(time.Duration(g.random.Int64N(int64(Length))))
		to = from.Add(time.Duration(g.random.Int64N(int64(Length))))
	}
	return between("timestamp", instant(from), instant(to))
}

func between(field string, values ...string) filter.Condition {
	c := filter.Condition{Field: filter.Word{Text: field}, Op: filter.Between}
	for _, v := range values {
		c.Values = append(c.Values, filter.Value{Kind: filter.Text, Text: v, Quoted: true})
	}
	return c
}

func instant(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000") }

func (g *Filters) field() *catalog.Field { return &catalog.Fields[g.random.IntN(len(catalog.Fields))] }

func (g *Filters) condition(field *catalog.Field) filter.Condition {
	c := filter.Condition{Field: filter.Word{Text: field.Name}, Negated: g.oneIn(3)}
	if field.Type == catalog.Time {
		a, b := g.row().TsMs, g.row().TsMs
		c.Op = filter.Between
		c.Values = between("", instant(time.UnixMilli(a)), instant(time.UnixMilli(b))).Values
		return c
	}
	source := pick(g, field.Sources)
	values := g.values(source)
	c.Key = g.key(field, source, values)
	c.Op = pick(g, source.Ops())
	n := 1
	switch c.Op {
	case filter.Between:
		n = 2
	case filter.In:
		n, c.List = 1+g.random.IntN(4), true
	case filter.Regex:
		if g.oneIn(4) {
			n, c.List = 1+g.random.IntN(10), true
		}
	}
	for range n {
		c.Values = append(c.Values, g.value(c.Op, source.Type, values))
	}
	return c
}

// key is none, a name that some record has, or a pattern that finds such a name.
func (g *Filters) key(field *catalog.Field, source catalog.Source, values []value) *filter.Key {
	name := source.Name
	if field.Keys != catalog.ClosedKeys && len(values) > 0 {
		name = pick(g, values).name
	}
	switch {
	case field.Keys == catalog.NoKey || g.oneIn(4):
		return nil
	case field.Keys == catalog.FoldedKeys && g.oneIn(2):
		name = strings.ToUpper(name)
	}
	if g.oneIn(3) {
		return &filter.Key{Text: "^" + regexp.QuoteMeta(part(g, name))}
	}
	return &filter.Key{Text: name, Exact: true}
}

// value is a value for an operator: of the records, near one, or strange.
func (g *Filters) value(op filter.Op, kind catalog.Type, values []value) filter.Value {
	text := pick(g, strangeTexts)
	if len(values) > 0 && !g.oneIn(6) {
		text = pick(g, values).text
	}
	switch {
	case op == filter.Is:
		return filter.Value{Kind: filter.Bool, Text: strconv.FormatBool(g.oneIn(2))}
	case op == filter.Regex:
		return filter.Value{Kind: filter.Text, Text: g.pattern(text), Quoted: true}
	case kind == catalog.String, kind == catalog.Any && op != filter.Eq && op != filter.In && !catalog.NumericText.MatchString(text):
		if kind == catalog.Any {
			return g.number(pick(g, strangeNumbers))
		}
		return filter.Value{Kind: filter.Text, Text: g.near(text), Quoted: true}
	case kind == catalog.Any && !catalog.NumericText.MatchString(text):
		return filter.Value{Kind: filter.Text, Text: g.near(text), Quoted: true}
	}
	if !catalog.NumericText.MatchString(text) {
		text = pick(g, strangeNumbers)
	}
	return g.number(text)
}

var (
	strangeTexts = []string{
		"", " ", "'", "''", `"`, `\`, `\'`, "%", "_", "a'b", "--", "/*", ";", "\n", "\t", "é", "E\u0301", "İ", "K", "ſ", "ß", "😀", "\u202e", "\ufeff",
		"NULL", "null", "true", "0", "-0", "1e5", "1E-3", "00", " 1", "0x10", "NaN", "x", "${a}", "$1", "?", ":a", "{{", "U&'\\0041'", "=cmd|' /C calc'!A0",
	}
	strangeNumbers = []string{"0", "-1", "1", "200", "403", "1000000", "9223372036854775807", "-9223372036854775808", "0.5", "1e3", "-0.0", "123456.789"}
)

// near is the text, or one like it.
func (g *Filters) near(text string) string {
	switch g.random.IntN(8) {
	case 0:
		return strings.ToUpper(text)
	case 1:
		return text + " "
	case 2:
		return part(g, text)
	}
	return text
}

// number is the number, or one beside it, as a JSON number.
func (g *Filters) number(text string) filter.Value {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && g.oneIn(3) && n < 1<<53 && n > -1<<53 {
		text = strconv.FormatInt(n+g.random.Int64N(3)-1, 10)
	}
	text = strings.TrimLeft(text, "0")
	if text == "" || text[0] == '.' || text[0] == 'e' || text[0] == 'E' {
		text = "0" + text
	}
	if strings.HasPrefix(text, "-0") && len(text) > 2 && text[2] != '.' {
		text = "-1"
	}
	return filter.Value{Kind: filter.Number, Text: text}
}

// pattern is a regular expression that finds the text, or one of general interest.
func (g *Filters) pattern(text string) string {
	quoted := regexp.QuoteMeta(part(g, text))
	switch g.random.IntN(8) {
	case 0:
		return "^" + quoted
	case 1:
		return "(?i)" + quoted
	case 2:
		return "^" + regexp.QuoteMeta(text) + "$"
	case 3:
		return "(?:" + quoted + `|\d{3})[^a]*$`
	case 4, 5:
		return pick(g, patterns)
	}
	return quoted
}

var patterns = []string{
	``, `.`, `^$`, `^.$`, `(?s)^.$`, `(?m)^a`, `a$`, `\d+`, `\D`, `^\w+$`, `\W`, `\s`, `\S\s\S`, `\bin\b`, `\Ba\B`, `[[:upper:]]`, `[^ -~]`, `\pL\pN`, `\p{Greek}`,
	`(?i)k`, `(?i)SS`, `(?i)mozilla|curl`, `[a-f0-9]{8}`, `(ab|cd)*x`, `(a+)+b`, `x{0}`, `\x{1F600}`, `\Q.*\E`, `(?i)[q-t]`, `\/`, `'`, `\\`, `(?U)a+?b`, `[&&]`, `[[a]`, `\.php$`, `^/[^/]*$`,
}

// part is a stretch of the text, whole characters.
func part(g *Filters, text string) string {
	runes := []rune(text)
	if len(runes) == 0 || !utf8.ValidString(text) {
		return text
	}
	from := g.random.IntN(len(runes))
	return string(runes[from : from+min(1+g.random.IntN(12), len(runes)-from)])
}

func (g *Filters) row() *lake.Row { return &g.rows[g.random.IntN(len(g.rows))] }

// value is a value that a record has at a source, as text.
type value struct{ name, text string }

// values lists the values at a source of some record that has any, after a few tries.
func (g *Filters) values(s catalog.Source) []value {
	for range 12 {
		if values := valuesAt(g.row(), s); len(values) > 0 {
			return values
		}
	}
	return nil
}

func valuesAt(r *lake.Row, s catalog.Source) []value {
	column := member(reflect.ValueOf(r), s.Column)
	if s.Layout == catalog.Scalar {
		if s.Member != "" && column.IsValid() {
			column = member(column, s.Member)
		}
		return textOf("", column)
	}
	var out []value
	for i := range column.Len() {
		switch one := column.Index(i); s.Layout {
		case catalog.Pairs:
			pair := one.Interface().(lake.Pair)
			out = append(out, value{pair.Name, pair.Value})
		case catalog.Structs:
			out = append(out, textOf("", member(one, s.Member))...)
		default:
			out = append(out, textOf("", one)...)
		}
	}
	return out
}

// member is a field of a struct by its column's name, invalid when the struct is missing.
func member(v reflect.Value, column string) reflect.Value {
	v = reflect.Indirect(v)
	if !v.IsValid() {
		return v
	}
	return v.Field(slices.IndexFunc(reflect.VisibleFields(v.Type()), func(f reflect.StructField) bool {
		return columnOf(v.Type(), f.Index[0]) == column
	}))
}

func textOf(name string, v reflect.Value) []value {
	v = reflect.Indirect(v)
	if !v.IsValid() {
		return nil
	}
	switch v.Kind() {
	case reflect.Int64:
		return []value{{name, strconv.FormatInt(v.Int(), 10)}}
	case reflect.Bool:
		return []value{{name, strconv.FormatBool(v.Bool())}}
	}
	return []value{{name, v.String()}}
}
