package query

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
)

// Dimension is a field, one member of it, or the networks of its addresses, by whose values records are grouped. Its
// values are texts: integers in digits, booleans as true and false. A record counts once for each of its different
// values.
//
// The value in a dimension of networks is the canonical text of the network: 192.0.2.0/24. A record has none if its text
// is not the canonical text of an address, as NetworkIn defines it, or if the address is of the other family.
type Dimension struct {
	Field   *catalog.Field
	Key     *Key // the name of the member, never a pattern; nil for a field without members
	Fold    bool // names compare without regard to ASCII case
	Sources []catalog.Source
	Network *catalog.NetworkSize // nil: the values themselves
	Joined  bool                 // the values of a member are one value; see AsOne
}

// maxDimensions is the largest number of dimensions of one query.
const maxDimensions = 16

// ParseDimensions reads a list of dimensions, such as country,headers["accept"]. The error is a *DimensionError.
func ParseDimensions(text string) ([]Dimension, error) {
	parsed, err := filter.ParseDimensions(text)
	if err != nil {
		return nil, &DimensionError{Code: codeDimensionSyntax, Message: err.Error()}
	}
	if len(parsed) > maxDimensions {
		return nil, tooManyDimensions(len(parsed))
	}
	var list []Dimension
	for _, p := range parsed {
		d, err := bindDimension(p)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(list, func(other Dimension) bool { return other.String() == d.String() }) {
			return nil, repeatedDimension(d)
		}
		list = append(list, d)
	}
	return list, nil
}

func bindDimension(p filter.Dimension) (Dimension, error) {
	field, ok := catalog.Lookup(p.Field.Text)
	if !ok {
		return Dimension{}, unknownDimension(p.Field.Text)
	}
	d := Dimension{Field: field, Sources: field.Sources, Fold: field.Keys == catalog.FoldedKeys}
	switch {
	case !field.Groupable():
		return Dimension{}, notGroupable(p)
	case p.Length != "":
		return networksOf(d, p.Length)
	case p.Key == nil && field.Keys != catalog.NoKey:
		return Dimension{}, dimensionWithoutKey(field)
	case p.Key == nil:
		return d, nil
	case field.Keys == catalog.NoKey:
		return Dimension{}, dimensionWithKey(field)
	case !p.Key.Exact:
		return Dimension{}, dimensionWithPattern(field)
	}
	d.Key = &Key{Name: p.Key.Text}
	if d.Fold {
		d.Key.Name = lowerASCII(d.Key.Name)
	}
	if field.Keys == catalog.ClosedKeys {
		source, ok := field.Member(d.Key.Name)
		switch {
		case !ok:
			return Dimension{}, unknownMember(field, d.Key.Name)
		case !source.Groupable():
			return Dimension{}, notGroupable(p)
		}
		d.Sources = []catalog.Source{source}
	}
	return d, nil
}

// networksOf returns the dimension of the networks of d whose prefixes have a length.
func networksOf(d Dimension, length string) (Dimension, error) {
	if !d.Field.HasNetworks() {
		return Dimension{}, withoutNetworks(d.Field)
	}
	for i, size := range catalog.NetworkSizes {
		if size.String() == "/"+length {
			d.Network = &catalog.NetworkSizes[i]
			return d, nil
		}
	}
	return Dimension{}, otherNetworks(d.Field, length)
}

// String returns the dimension as a filter writes it.
func (d Dimension) String() string {
	printed := filter.Dimension{Field: filter.Word{Text: d.Field.Name}}
	if d.Key != nil {
		printed.Key = &filter.Key{Text: d.Key.Name, Exact: true}
	}
	if d.Network != nil {
		printed.Length = strconv.Itoa(d.Network.Bits)
	}
	return printed.String()
}

func dimensionTexts(list []Dimension) []string {
	texts := make([]string, len(list))
	for i, d := range list {
		texts[i] = d.String()
	}
	return texts
}

// Type returns the type of the values: catalog.String, Int or Bool.
func (d Dimension) Type() catalog.Type {
	if t := d.Sources[0].Type; t == catalog.Int || t == catalog.Bool {
		return t
	}
	return catalog.String
}

// Single reports whether a record has at most one value.
func (d Dimension) Single() bool {
	return d.Joined || len(d.Sources) == 1 && d.Sources[0].Layout == catalog.Scalar
}

// AsOne returns the dimension of a member, such as a header, with one value for each record: its values in their order,
// joined by spaces, as gateways do before they count. Other dimensions are returned as they are.
func (d Dimension) AsOne() Dimension {
	d.Joined = d.Key != nil && len(d.Sources) == 1 && d.Sources[0].Layout == catalog.Pairs
	return d
}

// Terms returns a term without a test for each source. Its MatchesName selects the names in a name/value field.
func (d Dimension) Terms() []Term {
	terms := make([]Term, len(d.Sources))
	for i, s := range d.Sources {
		terms[i] = Term{Source: s}
		if s.Layout == catalog.Pairs {
			terms[i].Key, terms[i].Fold = d.Key, d.Fold
		}
	}
	return terms
}

// Values returns the different values of a record, sorted by their bytes.
func (d Dimension) Values(r *lake.Row) []string {
	var values []string
	for _, t := range d.Terms() {
		for _, e := range Elements(r, t.Source) {
			if !t.MatchesName(e.Name) {
				continue
			}
			if value, ok := d.ValueOf(e.Value); ok {
				values = append(values, value)
			}
		}
	}
	if d.Joined && len(values) > 0 {
		return []string{strings.Join(values, " ")}
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// ValueOf returns the value of a record that has a text at a source. ok is false if the text is in no network of the
// dimension.
func (d Dimension) ValueOf(text string) (value string, ok bool) {
	if d.Network == nil {
		return text, true
	}
	address, ok := addressOf(text)
	if !ok || address.Is6() != d.Network.Six {
		return "", false
	}
	network, err := address.Prefix(d.Network.Bits)
	return network.String(), err == nil
}

// Condition returns the condition that holds for the records with a value, and the one that holds for all others, as a
// query string writes them. ok is false if no filter can hold the value.
func (d Dimension) Condition(value string) (with, without string, ok bool) {
	if strings.ContainsRune(value, 0) || !utf8.ValidString(value) {
		return "", "", false
	}
	c := catalog.Equal(d.Field.Name, false, value)
	if d.Network != nil { // the value is not a text of records
		c = filter.Condition{Field: c.Field, Op: filter.Eq, Values: []filter.Value{textValue(value)}}
	}
	if d.Key != nil {
		c.Key = &filter.Key{Text: d.Key.Name, Exact: true}
	}
	switch d.Type() {
	case catalog.Bool:
		c.Op, c.Values = filter.Is, []filter.Value{{Kind: filter.Bool, Text: value}}
	case catalog.Int:
		c.Values = []filter.Value{{Kind: filter.Number, Text: value}}
	}
	with = c.String()
	c.Negated = true
	return with, c.String(), true
}

// DimensionError is the error of a list of dimensions.
type DimensionError struct {
	Code       string // stable
	Message    string
	Suggestion string // a valid dimension, or ""
}

func (e *DimensionError) Error() string { return e.Message }

// Codes of DimensionError.
const (
	codeDimensionSyntax = "value_error"
	codeNotGroupable    = "not_groupable"
)

func tooManyDimensions(n int) error {
	return &DimensionError{
		Code:    codeDimensionSyntax,
		Message: fmt.Sprintf("%d fields are too many: a query has at most %d", n, maxDimensions),
	}
}

func repeatedDimension(d Dimension) error {
	return &DimensionError{Code: codeDimensionSyntax, Message: fmt.Sprintf("%s is given twice", d)}
}

func unknownDimension(name string) error {
	e := &DimensionError{Code: codeUnknownField, Message: fmt.Sprintf("unknown field %q", name)}
	if e.Suggestion = nearestField(name); e.Suggestion != "" {
		e.Message += fmt.Sprintf("; did you mean %q?", e.Suggestion)
	}
	return e
}

func notGroupable(p filter.Dimension) error {
	var names []string
	for i := range catalog.Fields {
		f := &catalog.Fields[i]
		switch {
		case !f.Groupable():
		case f.Keys == catalog.NoKey:
			names = append(append(names, f.Name), f.Networks()...)
		default:
			names = append(names, f.Name+`["…"]`)
		}
	}
	what := "a time or a duration"
	if p.Field.Text == catalog.RecordRef {
		what = "different for every record"
	}
	return &DimensionError{
		Code: codeNotGroupable,
		Message: fmt.Sprintf("records cannot be grouped by %s, which is %s; the others are %s",
			p, what, strings.Join(names, ", ")),
	}
}

func withoutNetworks(field *catalog.Field) error {
	e := &DimensionError{
		Code:    codeNotGroupable,
		Message: field.Name + " has no networks, so it takes no length of a prefix",
	}
	if field.Keys == catalog.NoKey {
		e.Suggestion = field.Name
	}
	return e
}

func otherNetworks(field *catalog.Field, length string) error {
	var sizes [2][]string
	for i, name := range field.Networks() {
		family := 0
		if catalog.NetworkSizes[i].Six {
			family = 1
		}
		sizes[family] = append(sizes[family], name)
	}
	return &DimensionError{
		Code: codeNotGroupable,
		Message: fmt.Sprintf("records cannot be grouped by %s/%s; the networks are %s of IPv4 and %s of IPv6",
			field.Name, length, strings.Join(sizes[0], ", "), strings.Join(sizes[1], ", ")),
	}
}

func dimensionWithoutKey(field *catalog.Field) error {
	names := append(field.Members(), field.Names...)
	names = append(names, "name")
	e := &DimensionError{
		Code:       codeNotGroupable,
		Message:    fmt.Sprintf("%s has many members; name one of them: ", field.Name),
		Suggestion: filter.MemberText(filter.QueryString, field.Name, names[0]),
	}
	e.Message += e.Suggestion
	return e
}

func dimensionWithKey(field *catalog.Field) error {
	return &DimensionError{
		Code:       codeKeyNotTaken,
		Message:    fmt.Sprintf("%s has no members, so it takes no key", field.Name),
		Suggestion: field.Name,
	}
}

func dimensionWithPattern(field *catalog.Field) error {
	return &DimensionError{
		Code:    codeNotGroupable,
		Message: fmt.Sprintf("records are grouped by one member of %s, not by those that match a pattern", field.Name),
	}
}

func unknownMember(field *catalog.Field, name string) error {
	return &DimensionError{
		Code: codeUnknownKey,
		Message: fmt.Sprintf("field %q has no member %q; its members are %s",
			field.Name, name, strings.Join(field.Members(), ", ")),
		Suggestion: filter.Nearest(name, field.Members()),
	}
}
