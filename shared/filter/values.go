package filter

import "strings"

// until is the place where a bare value ends, apart from the end of the text.
type until uint8

const (
	untilComma until = iota // at the next comma
	untilClose              // at the next comma or closing bracket: inside a list
	untilAnd                // at the next comma or at the word and: after between
)

// value parses
//
//	value = string | bare .
//
// op is the operator that the value belongs to.
func (p *parser) value(op Span, stop until) (Value, bool) {
	at := p.skip(p.at)
	if p.atEndOfValue(at, stop) {
		return Value{}, p.failed(missingValue(p.text, op))
	}
	if p.text[at] == '"' {
		return p.stringValue(at)
	}
	return p.bareValue(op, at, stop)
}

func (p *parser) atEndOfValue(at int, stop until) bool {
	return at == len(p.text) || p.text[at] == ',' || stop == untilClose && p.text[at] == ')' ||
		stop == untilAnd && p.word(p.token(at), "and")
}

func (p *parser) stringValue(at int) (Value, bool) {
	end, closed := p.stringEnd(at)
	if !closed {
		end = p.trimEnd(at, p.nextCondition(at))
		span := between(at, end)
		p.fail(unclosedString(Span{at, 1}, end))
		p.take(Token{StringToken, span})
		return Value{Kind: Text, Text: unquote(p.text[at+1 : max(at+1, end)]), Quoted: true, Span: span}, true
	}
	span := between(at, end)
	p.checkNUL(span)
	p.take(Token{StringToken, span})
	return Value{Kind: Text, Text: unquote(p.text[at+1 : end-1]), Quoted: true, Span: span}, true
}

// bareValue consumes a value without quotes and trims the white space around it. The value may contain spaces, :, /, %
// and =, so path=/a b means "/a b". Text that was more likely meant otherwise is a mistake, because an empty answer
// would not show the user that a quote or a comma is missing.
func (p *parser) bareValue(op Span, at int, stop until) (Value, bool) {
	end := p.bareEnd(at, stop)
	if stop != untilClose {
		end = p.joinerWithin(at, end, stop == untilAnd)
	}
	end = p.trimEnd(at, end)
	if end == at {
		return Value{}, p.failed(missingValue(p.text, op))
	}
	span := between(at, end)
	text := span.of(p.text)
	v := Value{Kind: Text, Text: text, Span: span}
	if curly, _ := curlyQuote(text); curly || len(text) > 1 && singleQuoted(text) {
		p.curlyValue(&v)
		return v, true
	}
	switch {
	case classes[text[0]] == classOperator && text[0] != ':':
		p.fail(bareStart(p.text, span))
	case strings.IndexByte(text, ',') >= 0:
		p.fail(bareComma(span, text))
	case strings.Count(text, `"`)%2 == 1:
		stray := strayQuote(p.text, span)
		p.fail(stray)
		if stray.Fix != nil {
			v.Text = strings.TrimSuffix(text, `"`)
		}
	}
	p.checkNUL(span)
	p.take(Token{BareToken, span})
	return v, true
}

// bareEnd returns the end of the bare value at an offset, including the white space after it.
func (p *parser) bareEnd(at int, stop until) int {
	marks := ","
	if stop == untilClose {
		marks = ",)"
	}
	end := at
	for {
		n := strings.IndexAny(p.text[end:], marks)
		if n < 0 {
			end = len(p.text)
			break
		}
		end += n
		if p.text[end] == ')' || !repeatComma(p.text[at:end], p.text[end+1:]) {
			break
		}
		end++ // bareValue reports that the value needs quotes
	}
	if stop == untilAnd {
		for i := at; i < end; i++ {
			if classes[p.text[i]] != classSpace {
				continue
			}
			t := p.token(i)
			if p.word(t, "and") && t.Span.Offset < end {
				return i
			}
			i = max(i, t.Span.Offset-1)
		}
	}
	return end
}

// repeatComma reports whether the comma between two texts belongs to a repeat in a pattern, as in a{1,3}. Such a comma
// does not end the value: the two parts would be patterns that were not meant.
func repeatComma(before, after string) bool {
	const digits = "0123456789"
	low := strings.TrimRight(before, digits)
	high := strings.TrimLeft(after[:min(len(after), 8)], digits)
	return len(low) < len(before) && strings.HasSuffix(low, "{") && strings.HasPrefix(high, "}")
}

// curlyValue consumes a value in single or typographic quotes, including commas inside it, and records the mistake.
func (p *parser) curlyValue(v *Value) {
	start := v.Span.Offset
	closers := "“”„‟"
	if p.text[start] == '\'' || strings.HasPrefix(p.text[start:], "‘") {
		closers = "" // the value already ends with the closing quote
	}
	if closers != "" {
		_, size := curlyQuote(p.text[start:])
		if n := strings.IndexAny(p.text[start+size:], closers+`"`); n >= 0 {
			_, closer := curlyQuote(p.text[start+size+n:])
			v.Span = between(start, start+size+n+closer)
		}
	}
	inside := stripQuotes(p.text, v.Span)
	p.checkNUL(v.Span)
	p.fail(wrongQuotes(v.Span, Quote(inside.of(p.text))))
	p.take(Token{BareToken, v.Span})
	v.Text, v.Span = inside.of(p.text), inside
}

// singleQuoted reports whether text is in single quotes, straight or typographic.
func singleQuoted(text string) bool {
	if strings.HasPrefix(text, "‘") && len(text) > len("‘") {
		return strings.HasSuffix(text, "’") || strings.HasSuffix(text, "‘")
	}
	return strings.HasPrefix(text, "'") && strings.HasSuffix(text, "'")
}

// stripQuotes returns the span without the quotes around its text, of whatever kind they are.
func stripQuotes(text string, span Span) Span {
	const quotes = "“”„‟‘’'\"`"
	inside := span.of(text)
	trimmed := strings.TrimLeft(inside, quotes)
	start := span.Offset + len(inside) - len(trimmed)
	return Span{start, len(strings.TrimRight(trimmed, quotes))}
}

// between parses
//
//	"between" value "and" value
func (p *parser) between(c *Condition) bool {
	if t := p.peek(); p.mark(t, "(") || p.mark(t, "[") {
		return p.bracketedBetween(c, t)
	}
	low, ok := p.value(c.OpSpan, untilAnd)
	if !ok {
		return false
	}
	switch t := p.peek(); {
	case p.word(t, "and"):
		p.take(t)
	case p.mark(t, ",") && p.token(t.Span.End()).Kind != endToken && !p.looksLikeCondition(t.Span.End()):
		p.fail(betweenComma(p.text, t.Span))
		p.take(t)
	default:
		return p.failed(betweenOne(p.text, low.Span))
	}
	if p.atEndOfValue(p.skip(p.at), untilAnd) {
		return p.failed(betweenEnd(p.last))
	}
	high, ok := p.value(c.OpSpan, untilAnd)
	c.Values = []Value{low, high}
	return ok
}

// bracketedBetween parses between (a, b) and between [a and b] and records the mistake.
func (p *parser) bracketedBetween(c *Condition, open Token) bool {
	inside := p.text[open.Span.End():]
	length := strings.IndexAny(inside, ")]")
	if length < 0 {
		return p.failed(betweenBrackets(open.Span, ""))
	}
	whole := Span{open.Span.Offset, length + 2}
	inside = inside[:length]
	low, high, ok := strings.Cut(inside, ",")
	if !ok {
		low, high, ok = strings.Cut(inside, " and ")
	}
	low, high = strings.Trim(low, "\t\n\r \""), strings.Trim(high, "\t\n\r \"")
	if !ok || !isBound(low) || !isBound(high) {
		return p.failed(betweenBrackets(whole, ""))
	}
	p.fail(betweenBrackets(whole, low+" and "+high))
	c.Values = []Value{{Kind: Text, Text: low, Span: whole}, {Kind: Text, Text: high, Span: whole}}
	p.take(Token{otherToken, whole})
	return true
}

// in parses
//
//	"in" ( "(" value { "," value } ")" | "@" list )
func (p *parser) in(c *Condition) bool {
	t := p.peek()
	if p.mark(t, "(") {
		ok := p.list(c)
		if ok {
			p.checkBrackets(between(t.Span.Offset, p.last), c.Values)
		}
		return ok
	}
	if closer := closerOf(t.Span.of(p.text)); closer != 0 {
		n := strings.IndexByte(p.text[t.Span.Offset:], closer)
		if n < 0 {
			return p.failed(unclosedList(t.Span, p.last, false))
		}
		whole := Span{t.Span.Offset, n + 1}
		p.at = whole.End()
		return p.failed(inBrackets(p.text, whole))
	}
	v, ok := p.value(c.OpSpan, untilComma)
	c.List = true
	name, named := strings.CutPrefix(v.Text, "@")
	switch {
	case !ok:
	case named && !v.Quoted:
		v.Kind, v.Text = ListName, name
		if ok = ValidListName(name); !ok {
			p.fail(wrongListName(v.Span, name))
		}
	default:
		p.fail(inOne(p.text, v.Span))
	}
	c.Values = []Value{v}
	return ok
}

// checkBrackets reports a list of values whose name is in brackets, where it would be a text. In quotes it is one.
func (p *parser) checkBrackets(whole Span, values []Value) {
	name, named := strings.CutPrefix(values[0].Text, "@")
	if named && len(values) == 1 && !values[0].Quoted && ValidListName(name) {
		p.fail(bracketedListName(whole, name))
		values[0].Kind, values[0].Text = ListName, name
	}
}

// closerOf returns the closing bracket of a list in another language, or 0 if open is not the bracket of one.
func closerOf(open string) byte {
	switch open {
	case "[":
		return ']'
	case "{":
		return '}'
	}
	return 0
}

// list parses
//
//	"(" value { "," value } ")"
//
// A list without a closing bracket ends before the next text that looks like a condition.
func (p *parser) list(c *Condition) bool {
	open := p.peek()
	p.take(open)
	c.List = true
	type place struct{ at, last, values, errs int }
	var next *place // the first place where a condition seems to follow
	for {
		at := p.skip(p.at)
		if at == len(p.text) {
			break
		}
		if p.text[at] == ')' || p.text[at] == ',' {
			if p.text[at] == ',' || len(c.Values) > 0 {
				p.fail(listComma(at, p.last, p.text[at] == ','))
			} else {
				p.fail(emptyList(between(open.Span.Offset, at+1)))
			}
		} else if v, ok := p.value(c.OpSpan, untilClose); ok {
			c.Values = append(c.Values, v)
		}
		t := p.peek()
		switch {
		case p.mark(t, ")"):
			p.take(t)
			return len(c.Values) > 0
		case p.mark(t, ","):
			if next == nil && p.looksLikeCondition(t.Span.End()) {
				next = &place{t.Span.Offset, p.last, len(c.Values), len(p.errs)}
			}
			p.take(t)
		case t.Kind != endToken:
			return p.failed(expectedListComma(p.text, t.Span))
		}
		if len(p.errs) >= MaxErrors {
			return false
		}
	}
	if next != nil {
		p.at, p.last, c.Values, p.errs = next.at, next.last, c.Values[:next.values], p.errs[:next.errs]
	}
	p.fail(unclosedList(open.Span, p.last, len(c.Values) > 0))
	return len(c.Values) > 0
}

// regexList reports whether the text after ~ is a list of patterns rather than a pattern that begins with a bracket:
// (?i)curl and (a|b)c are patterns, (a, b) and ("a") are lists. A bare pattern cannot contain a comma.
func (p *parser) regexList() bool {
	open := p.peek()
	if !p.mark(open, "(") {
		return false
	}
	at := p.skip(open.Span.End())
	if at == len(p.text) || p.text[at] == '?' {
		return false
	}
	if p.text[at] == '"' {
		return true
	}
	end := p.bareEnd(at, untilClose)
	if end == len(p.text) || p.text[end] == ',' {
		return end < len(p.text)
	}
	after := p.token(end + 1)
	return after.Kind == endToken || p.mark(after, ",")
}

// equalsList reports whether a list follows =, so that in was meant. A bare value may begin with a bracket, so the text
// is a list only if it cannot be understood otherwise.
func (p *parser) equalsList() bool {
	open := p.peek()
	if !p.mark(open, "(") {
		return false
	}
	if first := p.skip(open.Span.End()); first < len(p.text) && p.text[first] == '"' {
		return true
	}
	end := p.bareEnd(open.Span.Offset, untilComma)
	text := p.text[open.Span.Offset:end]
	return strings.Count(text, "(") > strings.Count(text, ")") && end < len(p.text) && !p.looksLikeCondition(end+1)
}

// is parses
//
//	"is" ( "true" | "false" )
//
// The words may be in quotes and in any case, as after "=".
func (p *parser) is(c *Condition) bool {
	t := p.peek()
	if p.word(t, "not") {
		if v := p.token(t.Span.End()); p.word(v, "true") || p.word(v, "false") {
			p.fail(isNot(join(c.OpSpan, v.Span), p.text, v.Span))
			p.take(t)
			c.Negated = !c.Negated
			t = v
		}
	}
	word := strings.ToLower(strings.Trim(t.Span.of(p.text), `"`))
	if t.Kind != WordToken && t.Kind != StringToken || word != "true" && word != "false" {
		end := p.trimEnd(t.Span.Offset, p.bareEnd(t.Span.Offset, untilComma))
		p.fail(expectedBoolean(p.text, c.OpSpan, between(t.Span.Offset, end)))
		p.at, p.last = end, max(p.last, end)
		return false
	}
	p.take(t)
	c.Values = []Value{{Kind: Bool, Text: word, Span: t.Span}}
	return true
}
