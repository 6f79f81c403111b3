package filter

import "strings"

// Format prints the conditions of a filter in the canonical query-string form. Values are printed unchanged;
// query.Bind makes them canonical.
//
//	timestamp between 2026-01-01 00:00:00 and 2026-01-02 00:00:00, status>=500, headers["host"]~"^shop"
func Format(f Filter) string {
	var b strings.Builder
	for i, c := range f.Conditions {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(c.String())
	}
	return b.String()
}

// String returns the condition in the canonical query-string form.
func (c Condition) String() string {
	var b strings.Builder
	spelling, prefix := operatorText(c)
	if prefix {
		b.WriteString("not ")
	}
	b.WriteString(c.Field.Text)
	if c.Key != nil {
		b.WriteByte('[')
		if !c.Key.Exact {
			b.WriteByte('~')
		}
		b.WriteString(Quote(c.Key.Text))
		b.WriteByte(']')
	}
	b.WriteString(spelling)
	formatValues(&b, c)
	return b.String()
}

// operatorText returns the operator of a condition in the query-string form. prefix is whether the operator has no
// negated spelling, so that the negation is a not before the field.
func operatorText(c Condition) (spelling string, prefix bool) {
	op := canonicalOp(c)
	if op == Is || op == In || op == Between {
		if c.Negated {
			return " not " + op.String() + " ", false
		}
		return " " + op.String() + " ", false
	}
	if spelling, ok := symbolOf(op, c.Negated); ok {
		return spelling, false
	}
	spelling, _ = symbolOf(op, false)
	return spelling, true
}

// canonicalOp returns the operator that the condition is printed with: eq with a list means in.
func canonicalOp(c Condition) Op {
	if c.Op == Eq && c.List {
		return In
	}
	return c.Op
}

func formatValues(b *strings.Builder, c Condition) {
	op := canonicalOp(c)
	switch {
	case op == Between:
		for i, v := range c.Values {
			if i > 0 {
				b.WriteString(" and ")
			}
			b.WriteString(bound(v))
		}
	case op == Is:
		b.WriteString(c.Values[0].Text)
	case c.namesList():
		b.WriteString("@" + c.Values[0].Text)
	case op == In || c.List:
		b.WriteByte('(')
		for i, v := range c.Values {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(scalar(v))
		}
		b.WriteByte(')')
	default:
		b.WriteString(scalar(c.Values[0]))
	}
}

// bound prints a value of between. Numbers and timestamps are printed without quotes, even if they had quotes.
func bound(v Value) string {
	if isBound(v.Text) {
		return v.Text
	}
	return Quote(v.Text)
}

// isBound reports whether text may be a number or a timestamp and therefore needs no quotes.
func isBound(text string) bool {
	return text != "" && (text[0] == '-' || '0' <= text[0] && text[0] <= '9') &&
		strings.Trim(text, "0123456789+-.:TZtzEe ") == "" && text[len(text)-1] != ' '
}

func scalar(v Value) string {
	if v.Kind == Number && isBound(v.Text) || v.Kind == Bool {
		return v.Text
	}
	return Quote(v.Text)
}

// Quote prints a string of the query-string form. A backslash is doubled only where it would escape the next
// character otherwise, which keeps regular expressions readable.
func Quote(text string) string {
	var b strings.Builder
	b.Grow(len(text) + 2)
	b.WriteByte('"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"':
			b.WriteByte('\\')
		case c == '\\' && (i+1 == len(text) || text[i+1] == '\\' || text[i+1] == '"'):
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	b.WriteByte('"')
	return b.String()
}

// FormatJSON prints the conditions of a filter in the canonical JSON form. Values are printed unchanged; query.Bind
// makes them canonical.
//
//	{"AND":[{"field":"headers","key":"^host$","op":"not eq","value":"shop.example"}]}
func FormatJSON(f Filter) string {
	var b strings.Builder
	b.WriteString(`{"AND":[`)
	for i, c := range f.Conditions {
		if i > 0 {
			b.WriteByte(',')
		}
		formatJSONCondition(&b, c)
	}
	b.WriteString("]}")
	return b.String()
}

func formatJSONCondition(b *strings.Builder, c Condition) {
	b.WriteString(`{"field":`)
	writeJSONString(b, c.Field.Text)
	if c.Key != nil {
		b.WriteString(`,"key":`)
		writeJSONString(b, c.Key.jsonText())
	}
	b.WriteString(`,"op":"`)
	b.WriteString(jsonOperator(canonicalOp(c), c.Negated))
	if c.namesList() {
		b.WriteString(`","list":`)
		writeJSONString(b, c.Values[0].Text)
		b.WriteByte('}')
		return
	}
	b.WriteString(`","value":`)
	if c.List || c.Op == Between || c.Op == In {
		b.WriteByte('[')
		for i, v := range c.Values {
			if i > 0 {
				b.WriteByte(',')
			}
			writeJSONValue(b, v)
		}
		b.WriteByte(']')
	} else {
		writeJSONValue(b, c.Values[0])
	}
	b.WriteByte('}')
}

func jsonOperator(op Op, negated bool) string {
	if negated {
		return "not " + op.String()
	}
	return op.String()
}

func writeJSONValue(b *strings.Builder, v Value) {
	if v.Kind == Text {
		writeJSONString(b, v.Text)
		return
	}
	b.WriteString(v.Text)
}

// jsonString returns text as a JSON string. It escapes only the characters that JSON requires to be escaped.
func jsonString(text string) string {
	var b strings.Builder
	writeJSONString(&b, text)
	return b.String()
}

func writeJSONString(b *strings.Builder, text string) {
	const hex = "0123456789abcdef"
	b.WriteByte('"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ':
			b.WriteString(`\u00`)
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
}
