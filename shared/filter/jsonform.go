package filter

import (
	"slices"
	"strconv"
	"strings"
)

// ParseJSON parses a filter in the JSON form:
//
//	{"AND":[{"field":"timestamp","op":"between","value":["2026-01-01","2026-01-02"]},
//	        {"field":"status","op":"eq","value":404}]}
//
// Mistakes are in Problems; the conditions without mistakes are parsed nevertheless.
func ParseJSON(text string) Filter {
	f := Filter{Text: text, Syntax: JSON}
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
	f.Conditions, f.Incomplete = form.conditions, form.incomplete
	f.Problems = slices.Concat(reader.errs, form.errs).Sorted()
	return f
}

// jsonForm converts JSON values to conditions.
type jsonForm struct {
	text       string
	conditions []Condition
	incomplete []Condition
	errs       Errors
	syntax     Errors // the mistakes that jsonReader has reported
}

// document converts a group, a condition, an array of them, or a sequence of them.
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

// all converts the elements of an array. The index of each is appended to the pointer.
func (j *jsonForm) all(values []node, pointer string, negated bool) {
	for i, value := range values {
		j.one(value, pointer+"/"+strconv.Itoa(i), negated)
	}
}

// one converts a group or a condition.
func (j *jsonForm) one(n node, pointer string, negated bool) {
	if n.kind != objectNode {
		if n.kind != brokenNode && !j.hasSyntaxError(n.span) {
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

// groupKind returns the kind of group that the name of a member stands for, "AND", "OR" or "NOT", or "" if the name
// belongs to no group. It knows the spellings of other languages.
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

// group converts an object whose only member is AND or NOT.
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
		// The reader has reported the mistake.
	default:
		j.fail(expectedConditions(j.text, m.value.span), pointer)
	}
}

// not converts the value of NOT: one condition, alone or in an array. NOT over several would be an OR.
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
	case read == 0 && len(j.errs) == errs && !j.hasSyntaxError(n.span):
		j.fail(notNothing(n.span), pointer)
	}
}

// memberNames lists the members of a condition in canonical order.
var memberNames = []string{"field", "key", "op", "value", "list"}

// memberAliases maps names that users write by mistake to the names of members.
var memberAliases = map[string]string{
	"name": "field", "operator": "op", "operation": "op", "values": "value", "val": "value",
	"param": "key", "parameter": "key",
}

// condition converts
//
//	{"field": string, "key": string?, "op": string, ("value": value | "list": string)}
func (j *jsonForm) condition(n node, pointer string, negated bool) {
	parts := j.parts(n, pointer)
	var missing []string
	for _, name := range memberNames {
		optional := name == "key" || name == "list" || name == "value" && parts.list != nil
		if *parts.named(name) == nil && !optional {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 && !j.hasSyntaxError(n.span) {
		j.fail(missingMembers(n.span, missing), pointer)
	}
	c := Condition{Span: n.span, Pointer: pointer}
	named := j.field(&c, parts, pointer)
	ok := j.key(&c, parts.key, pointer) && named
	ok = j.operator(&c, parts.op, pointer) && ok
	if parts.list != nil {
		ok = j.listName(&c, parts, pointer) && ok
	} else {
		ok = ok && j.values(&c, parts.value, pointer)
	}
	c.Negated = c.Negated != negated
	switch {
	case ok:
		j.conditions = append(j.conditions, c)
	case named && len(j.errs) < MaxErrors:
		j.incomplete = append(j.incomplete, c)
	}
}

// parts are the members of a condition. A member that the condition lacks is nil.
type parts struct{ field, key, op, value, list *member }

// named returns a pointer to the part with the given name, or nil if a condition has no such member.
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
	case "list":
		return &p.list
	}
	return nil
}

// parts sorts the members of a condition by name. A misspelt name is reported and read as the name that was meant.
func (j *jsonForm) parts(n node, pointer string) (found parts) {
	for i := range n.members {
		m := &n.members[i]
		part := found.named(m.name.Text)
		switch {
		case part == nil:
			// The loop below reads unknown names, so that they cannot take the place of a known name.
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
		meant, ok := memberAliases[strings.ToLower(m.name.Text)]
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

// dotted splits field.member and field:member into a field and a key and reports whether it did. If the condition has
// a member key as well (keyed), only the field is kept.
func (j *jsonForm) dotted(c *Condition, keyed bool) bool {
	at := strings.IndexAny(c.Field.Text, ".:")
	if at < 0 || !isName(c.Field.Text[:at]) || at+1 == len(c.Field.Text) {
		return false
	}
	field, key := c.Field.Span, c.Field.Span
	if len(c.Field.Text) == field.Length { // without escapes, the places are known
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

// listName reads the name of a list of values, which stands in the place of the value of in.
func (j *jsonForm) listName(c *Condition, parts parts, pointer string) bool {
	m := parts.list
	if !j.isString(m, pointer) {
		return false
	}
	pointer += pointerStep(m.name.Text)
	switch {
	case parts.value != nil:
		return j.failed(listAndValue(m.name), pointer)
	case c.Op != In && c.Op != 0:
		return j.failed(listOperator(m.name, c.Op), pointer)
	}
	name := strings.TrimPrefix(m.value.text, "@")
	if !ValidListName(name) {
		return j.failed(wrongListName(m.value.span, name), pointer)
	}
	if name != m.value.text {
		j.fail(listNameMark(m.value.span, name), pointer)
	}
	c.List, c.Values = true, []Value{{Kind: ListName, Text: name, Quoted: true, Span: m.value.span}}
	return true
}

// isString reports whether the value of a member is a string, and records a mistake if it is not.
func (j *jsonForm) isString(m *member, pointer string) bool {
	if m.value.kind == stringNode {
		return true
	}
	if m.value.kind != brokenNode {
		j.fail(wrongMemberType(j.text, m), pointer+pointerStep(m.name.Text))
	}
	return false
}

// values converts the value of a condition and checks that its operator takes it.
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

// scalarOf converts a string, number or boolean. ok is false for any other node.
func scalarOf(n *node) (v Value, ok bool) {
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

func isBoolean(text string) bool {
	return strings.EqualFold(text, "true") || strings.EqualFold(text, "false")
}

// fits reports whether the operator takes values of this shape: one value, two values or a list.
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
		if c.List || !isBoolean(c.Values[0].Text) {
			return j.failed(expectedBoolean(j.text, c.OpSpan, n.span), pointer)
		}
		c.Values[0].Text = strings.ToLower(c.Values[0].Text)
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

// hasSyntaxError reports whether the reader found a mistake within a span. If it did, members that are missing there
// are not reported as a second mistake.
func (j *jsonForm) hasSyntaxError(span Span) bool {
	return slices.ContainsFunc(j.syntax, func(e Error) bool {
		return span.Offset <= e.Span.Offset && e.Span.Offset <= span.End()
	})
}

// fail records a mistake. Mistakes are found in the order of the text, and only the first MaxErrors are reported.
func (j *jsonForm) fail(e Error, pointer string) {
	if len(j.errs) == MaxErrors {
		return
	}
	e.Pointer = pointer
	j.errs = append(j.errs, e)
}

// failed records a mistake that makes the condition unusable, and returns false.
func (j *jsonForm) failed(e Error, pointer string) bool {
	j.fail(e, pointer)
	return false
}
