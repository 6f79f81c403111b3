package filter

import "strings"

// until tells where a bare value ends, besides the end of the text.
type until uint8

const (
	untilComma until = iota // at the next comma
	untilClose              // at the next comma or closing bracket: inside a list
	untilAnd                // at the next comma or the word and: after between
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
		p.fail(unclosedString(Span{at, 1}, end))
		p.take(Token{StringToken, between(at, end)})
		return Value{Kind: Text, Text: unquote(p.text[at+1 : max(at+1, end)]), Quoted: true, Span: between(at, end)}, true
	}
	span := between(at, end)
	p.checkNUL(span)
	p.take(Token{StringToken, span})
	return Value{Kind: Text, Text: unquote(p.text[at+1 : end-1]), Quoted: true, Span: span}, true
}

// bareValue takes a value without quotes, white space around it trimmed. It may hold spaces, : / % and =, so
// path=/a b means "/a b". Text that was more likely meant as something else is a mistake: nobody finds out
// from an empty answer that a quote or a comma was missing.
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
	if curly, _ := curlyQuote(text); curly || len(text) > 1 && single(text) {
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

// bareEnd is where the bare value at an offset ends, white space after it included.
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
		end++ // bareValue says that it wants quotes
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

// repeatComma tells whether a comma between two texts is that of a repeat in a pattern, as in a{1,3}. Cut
// there, both halves would be patterns that nobody meant.
func repeatComma(before, after string) bool {
	const digits = "0123456789"
	low := strings.TrimRight(before, digits)
	return len(low) < len(before) && strings.HasSuffix(low, "{") && strings.HasPrefix(strings.TrimLeft(after[:min(len(after), 8)], digits), "}")
}

// curlyValue takes a value in quotes that this language does not have, commas inside included.
func (p *parser) curlyValue(v *Value) {
	start := v.Span.Offset
	closers := "“”„‟"
	if p.text[start] == '\'' || strings.HasPrefix(p.text[start:], "‘") {
		closers = "" // the value already ends with its partner
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
	p.fail(wrongQuotes(v.Span, quote(inside.of(p.text))))
	p.take(Token{BareToken, v.Span})
	v.Text, v.Span = inside.of(p.text), inside
}

// single tells whether a text is wrapped in single quotes, straight or curly.
func single(text string) bool {
	return strings.HasPrefix(text, "'") && strings.HasSuffix(text, "'") ||
		strings.HasPrefix(text, "‘") && (strings.HasSuffix(text, "’") || strings.HasSuffix(text, "‘")) && len(text) > len("‘")
}

// stripQuotes is the inside of a text that wrong quotes stand around, or the text itself.
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

// bracketedBetween reads between (a, b) and between [a and b], and says how it is written.
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
//	"in" "(" value { "," value } ")"
func (p *parser) in(c *Condition) bool {
	t := p.peek()
	if p.mark(t, "(") {
		return p.list(c)
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
	if ok {
		p.fail(inOne(p.text, v.Span))
	}
	c.List, c.Values = true, []Value{v}
	return ok
}

// closerOf is the bracket that closes a list of another language, 0 when the text opens none.
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
// A list that is not closed ends, for what it is worth, before the next condition.
func (p *parser) list(c *Condition) bool {
	open := p.peek()
	p.take(open)
	c.List = true
	type place struct{ at, last, values, errs int }
	var next *place // where a condition seems to follow
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

// regexList tells whether what follows ~ is a list of patterns rather than one that begins with a bracket:
// (?i)curl and (a|b)c are patterns, (a, b) and ("a") are lists. A pattern cannot hold a bare comma.
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

// equalsList tells whether a list follows = where in was meant. A bare value may begin with a bracket, so
// it is one only if the rest makes no sense otherwise.
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
	if t.Kind == StringToken {
		p.fail(quotedBoolean(t.Span, word))
	}
	p.take(t)
	c.Values = []Value{{Kind: Bool, Text: word, Span: t.Span}}
	return true
}
