package filter

import (
	"slices"
	"strconv"
	"strings"
)

// ParseJSON reads a filter in the JSON form:
//
//	{"AND":[{"field":"timestamp","op":"between","value":["2026-01-01","2026-01-02"]},
//	        {"field":"status","op":"eq","value":404}]}
//
// What cannot be read is in Problems; the conditions around it are read all the same.
func ParseJSON(text string) Filter {
	f := Filter{Text: text, Form: JSON}
	if errs, bad := unreadable(text); bad {
		f.Problems = errs
		return f
	}
	if start := trimStart(text); start != "" && start[0] != '{' && start[0] != '[' {
		f.Problems = Errors{notJSON(characterAt(text, len(text)-len(start)))}
		return f
	}
	reader := jsonReader{text: text}
	values := reader.document()
	form := jsonForm{text: text, syntax: reader.errs}
	form.document(values)
	f.Conditions, f.Incomplete, f.Problems = form.conditions, form.incomplete, slices.Concat(reader.errs, form.errs).Sorted()
	return f
}

// jsonForm makes conditions of JSON values.
type jsonForm struct {
	text       string
	conditions []Condition
	incomplete []Condition
	errs       Errors
	syntax     Errors // what the reader has told already
}

// document reads one group, one condition, one array of them, or several of them in a row.
func (j *jsonForm) document(values []node) {
	if len(values) != 1 {
		j.all(values, "", false)
		return
	}
	if values[0].kind == arrayNode {
		j.all(values[0].items, "", false)
		return
	}
	j.one(values[0], "", false)
}

// all reads the elements of an array, each under its index.
func (j *jsonForm) all(values []node, pointer string, negated bool) {
	for i, value := range values {
		j.one(value, pointer+"/"+strconv.Itoa(i), negated)
	}
}

// one reads a group or a condition.
func (j *jsonForm) one(n node, pointer string, negated bool) {
	if n.kind != objectNode {
		if n.kind != brokenNode && !j.told(n.span) {
			j.fail(expectedCondition(j.text, n.span), pointer)
		}
		return
	}
	for _, m := range n.members {
		if kind := groupKind(m.name.Text); kind != "" {
			j.group(n, kind, pointer, negated)
			return
		}
	}
	j.condition(n, pointer, negated)
}

// groupKind tells what a member's name makes of an object: "AND", "OR" or "NOT", in the spellings of other
// languages too; "" if it is no group.
func groupKind(name string) string {
	switch strings.ToLower(strings.TrimPrefix(name, "$")) {
	case "and", "all", "&&", "must":
		return "AND"
	case "or", "any", "||", "should", "nor", "xor":
		return "OR"
	case "not", "!", "must_not":
		return "NOT"
	}
	return ""
}

// group reads an object of the one member AND or NOT.
func (j *jsonForm) group(n node, kind, pointer string, negated bool) {
	for _, other := range n.members {
		if groupKind(other.name.Text) == "OR" {
			j.fail(orUnsupported(other.name.Span), pointer+pointerStep(other.name.Text))
			return
		}
	}
	for _, other := range n.members {
		if groupKind(other.name.Text) != kind {
			j.fail(mixedGroup(n.span), pointer)
			return
		}
	}
	for i, m := range n.members {
		if i > 0 {
			j.fail(repeatedMember(m.name), pointer+pointerStep(m.name.Text))
		}
		j.groupMember(m, kind, pointer, negated)
	}
}

func (j *jsonForm) groupMember(m member, kind, pointer string, negated bool) {
	pointer += pointerStep(m.name.Text)
	if m.name.Text != kind {
		j.fail(wrongGroup(m.name, kind), pointer)
	}
	if kind == "NOT" {
		j.not(m.value, pointer, !negated)
		return
	}
	switch m.value.kind {
	case arrayNode:
		j.all(m.value.items, pointer, negated)
	case objectNode:
		j.fail(andWithoutArray(j.text, m.value.span), pointer)
		j.one(m.value, pointer, negated)
	case brokenNode:
		// Its own mistake is told.
	default:
		j.fail(expectedConditions(j.text, m.value.span), pointer)
	}
}

// not reads what NOT inverts: one condition, alone or in an array. Over several it would be an OR.
func (j *jsonForm) not(n node, pointer string, negated bool) {
	conditions, errs := len(j.conditions), len(j.errs)
	if n.kind == arrayNode {
		j.all(n.items, pointer, negated)
	} else {
		j.one(n, pointer, negated)
	}
	switch read := len(j.conditions) - conditions; {
	case read > 1:
		j.fail(notSeveral(n.span), pointer)
		j.incomplete = append(j.incomplete, j.conditions[conditions:]...)
		j.conditions = j.conditions[:conditions]
	case read == 0 && len(j.errs) == errs && !j.told(n.span):
		j.fail(notNothing(n.span), pointer)
	}
}

// memberNames are the members of a condition, in canonical order.
var memberNames = []string{"field", "key", "op", "value"}

// otherNames are names that people write for them.
var otherNames = map[string]string{
	"name": "field", "operator": "op", "operation": "op", "values": "value", "val": "value", "param": "key", "parameter": "key",
}

// condition reads
//
//	{"field": string, "key": string?, "op": string, "value": value}
func (j *jsonForm) condition(n node, pointer string, negated bool) {
	parts := j.parts(n, pointer)
	var missing []string
	for _, name := range memberNames {
		if *parts.named(name) == nil && name != "key" {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 && !j.told(n.span) {
		j.fail(missingMembers(n.span, missing), pointer)
	}
	c := Condition{Span: n.span, Pointer: pointer}
	named := j.field(&c, parts, pointer)
	ok := j.key(&c, parts.key, pointer) && named
	ok = j.operator(&c, parts.op, pointer) && ok
	ok = ok && j.values(&c, parts.value, pointer)
	c.Negated = c.Negated != negated
	switch {
	case ok:
		j.conditions = append(j.conditions, c)
	case named && len(j.errs) < MaxErrors:
		j.incomplete = append(j.incomplete, c)
	}
}

// parts are the members of a condition; nil for those that it lacks.
type parts struct{ field, key, op, value *member }

// named is the place of a member's value, or nil if no member is called so.
func (p *parts) named(name string) **member {
	switch name {
	case "field":
		return &p.field
	case "key":
		return &p.key
	case "op":
		return &p.op
	case "value":
		return &p.value
	}
	return nil
}

// parts sorts the members of a condition by name. A misspelt one is told and taken for what it means.
func (j *jsonForm) parts(n node, pointer string) (found parts) {
	for i := range n.members {
		m := &n.members[i]
		part := found.named(m.name.Text)
		switch {
		case part == nil:
			// Unknown names come second, so that they take no known one's place.
		case *part != nil:
			j.fail(repeatedMember(m.name), pointer+pointerStep(m.name.Text))
		default:
			*part = m
		}
	}
	for i := range n.members {
		m := &n.members[i]
		if found.named(m.name.Text) != nil {
			continue
		}
		meant, ok := otherNames[strings.ToLower(m.name.Text)]
		if !ok {
			meant = Nearest(m.name.Text, memberNames)
		}
		part := found.named(meant)
		if part == nil || *part != nil {
			j.fail(unknownMember(m.name, ""), pointer+pointerStep(m.name.Text))
			continue
		}
		j.fail(unknownMember(m.name, meant), pointer+pointerStep(m.name.Text))
		*part = m
	}
	return found
}

func (j *jsonForm) field(c *Condition, parts parts, pointer string) bool {
	m := parts.field
	if m == nil || !j.isString(m, pointer) {
		return false
	}
	c.Field = Word{m.value.text, m.value.inside}
	if j.dotted(c, parts.key != nil) {
		j.fail(jsonDottedField(m.value.inside, c.Field.Text, c.Key), pointer+"/field")
		return true
	}
	if !plainKey(c.Field.Text) || strings.EqualFold(c.Field.Text, "not") {
		j.fail(wrongField(m.value.span, c.Field.Text), pointer+"/field")
		return false
	}
	return true
}

// dotted takes field.member and field:member for a field and a key, unless the condition has a key besides.
func (j *jsonForm) dotted(c *Condition, keyed bool) bool {
	at := strings.IndexAny(c.Field.Text, ".:")
	if at < 0 || !isName(c.Field.Text[:at]) || at+1 == len(c.Field.Text) {
		return false
	}
	field, key := c.Field.Span, c.Field.Span
	if len(c.Field.Text) == field.Length { // no escapes: the places are known
		field, key = Span{field.Offset, at}, between(field.Offset+at+1, field.End())
	}
	if !keyed {
		c.Key = &Key{Text: c.Field.Text[at+1:], Exact: true, Dotted: true, Span: key}
	}
	c.Field = Word{c.Field.Text[:at], field}
	return true
}

func (j *jsonForm) key(c *Condition, m *member, pointer string) bool {
	if m == nil {
		return true
	}
	if m.value.kind == numberNode {
		j.fail(numberKey(m.value), pointer+"/key")
	} else if !j.isString(m, pointer) {
		return false
	}
	key := jsonKey(m.value.text)
	key.Span, key.Quoted = m.value.inside, m.value.quoted
	if key.Text == "" && !key.Exact {
		j.fail(emptyKey(m.value.span), pointer+"/key")
		return false
	}
	c.Key = &key
	return true
}

func (j *jsonForm) operator(c *Condition, m *member, pointer string) bool {
	if m == nil || !j.isString(m, pointer) {
		return false
	}
	c.OpSpan = m.value.inside
	meant, ok := jsonOperators[m.value.text]
	if !ok {
		guess, _ := guessJSONOperator(m.value.text)
		j.fail(wrongJSONOperator(m.value.text, c.OpSpan, guess), pointer+"/op")
		if meant, ok = jsonOperators[guess]; !ok {
			return false
		}
	}
	c.Op, c.Negated = meant.op, meant.negated
	return true
}

// isString tells whether a member has a text, and says so if not.
func (j *jsonForm) isString(m *member, pointer string) bool {
	if m.value.kind == stringNode {
		return true
	}
	if m.value.kind != brokenNode {
		j.fail(wrongMemberType(j.text, m), pointer+pointerStep(m.name.Text))
	}
	return false
}

// values reads the value of a condition and holds it to what its operator takes.
func (j *jsonForm) values(c *Condition, m *member, pointer string) bool {
	if m == nil {
		return false
	}
	items := []node{m.value}
	if m.value.kind == arrayNode {
		c.List = true
		items = m.value.items
	}
	c.Values = make([]Value, 0, len(items))
	ok := true
	for i := range items {
		v, fine := scalarOf(&items[i])
		c.Values = append(c.Values, v)
		if ok = ok && fine; fine || items[i].kind == brokenNode {
			continue
		}
		where := pointer + pointerStep(m.name.Text)
		if c.List {
			where += "/" + strconv.Itoa(i)
		}
		j.fail(wrongValueType(j.text, items[i].span), where)
	}
	return ok && j.fits(c, &m.value, pointer+pointerStep(m.name.Text))
}

// scalarOf is the value that a text, number or boolean of JSON is.
func scalarOf(n *node) (Value, bool) {
	switch n.kind {
	case stringNode:
		if !n.quoted {
			return Value{Kind: Text, Text: n.text, Span: n.inside}, true
		}
		return Value{Kind: Text, Text: n.text, Quoted: true, Span: n.span}, true
	case numberNode:
		return Value{Kind: Number, Text: n.text, Span: n.span}, true
	case boolNode:
		return Value{Kind: Bool, Text: n.text, Span: n.span}, true
	}
	return Value{}, false
}

// fits tells whether the values have the shape that the operator takes: one, two or a list.
func (j *jsonForm) fits(c *Condition, n *node, pointer string) bool {
	switch c.Op {
	case Between:
		if !c.List || len(c.Values) != 2 {
			return j.failed(betweenTwo(n.span), pointer)
		}
	case In:
		if !c.List {
			j.fail(inOneJSON(j.text, n.span), pointer)
			c.List = true
		}
	case Is:
		if c.List || c.Values[0].Text != "true" && c.Values[0].Text != "false" {
			return j.failed(expectedBoolean(j.text, c.OpSpan, n.span), pointer)
		}
	case Gt, Lt, Gte, Lte:
		if c.List {
			return j.failed(oneValue(c.Op, n.span), pointer)
		}
	}
	if c.List && len(c.Values) == 0 {
		return j.failed(emptyList(n.span), pointer)
	}
	return true
}

// told tells whether the reader found a mistake within a span. What is missing there is then no second one.
func (j *jsonForm) told(span Span) bool {
	return slices.ContainsFunc(j.syntax, func(e Error) bool {
		return span.Offset <= e.Span.Offset && e.Span.Offset <= span.End()
	})
}

// fail records a mistake. They come in the order of the text, so later ones than the first MaxErrors are never shown.
func (j *jsonForm) fail(e Error, pointer string) {
	if len(j.errs) == MaxErrors {
		return
	}
	e.Pointer = pointer
	j.errs = append(j.errs, e)
}

// failed records a mistake after which the condition cannot be read; it is always false.
func (j *jsonForm) failed(e Error, pointer string) bool {
	j.fail(e, pointer)
	return false
}
