package filter

import "strings"

// rejectJSON reports whether the text is in the JSON form. If it is, one mistake is recorded for the whole text.
func (p *parser) rejectJSON() bool {
	at := p.skip(0)
	if at < len(p.text) && (p.text[at] == '{' || p.text[at] == '[') {
		p.fail(jsonHere(Span{at, 1}))
		return true
	}
	return false
}

// separator consumes the text between two conditions. Anything other than one comma is recorded as a mistake.
func (p *parser) separator() {
	t := p.peek()
	switch {
	case t.Kind == endToken:
	case p.mark(t, ","):
		p.commas(false)
	case p.isJoiner(t) && p.looksLikeCondition(t.Span.End()):
		p.fail(wrongJoiner(p.text, t.Span, true))
		p.take(t)
	case p.looksLikeCondition(t.Span.Offset):
		p.fail(missingComma(p.text, p.last, t.Span))
	default:
		end := p.trimEnd(t.Span.Offset, p.nextComma(t.Span.Offset))
		p.fail(expectedComma(p.text, between(t.Span.Offset, end)))
		p.recover()
		if p.mark(p.peek(), ",") {
			p.commas(false)
		}
	}
}

// commas consumes a run of commas. Exactly one is valid between two conditions, and none at the start or the end.
func (p *parser) commas(atStart bool) {
	first := p.peek()
	if !p.mark(first, ",") {
		return
	}
	before := p.last
	last, count := first, 0
	for t := first; p.mark(t, ","); t = p.peek() {
		p.take(t)
		last = t
		count++
	}
	run := join(first.Span, last.Span)
	switch atEnd := p.peek().Kind == endToken; {
	case atStart || atEnd:
		p.fail(extraComma(run, between(min(before, run.Offset), run.End()), ""))
	case count > 1:
		p.fail(extraComma(run, run, ","))
	}
}

// grouping consumes brackets around conditions and records one mistake for all of them. It returns false.
func (p *parser) grouping(open Token) bool {
	end, depth := open.Span.Offset, 0
	for end < len(p.text) {
		switch p.text[end] {
		case '"':
			end, _ = p.stringEnd(end)
			continue
		case '(':
			depth++
		case ')':
			depth--
		}
		end++
		if depth == 0 {
			break
		}
	}
	whole := between(open.Span.Offset, end)
	p.at, p.last = end, end
	return p.failed(grouped(p.text, whole))
}

// recover skips to the next comma that seems to be followed by a condition, or to the end of the text. It does nothing
// if the next token is a comma.
func (p *parser) recover() {
	if t := p.peek(); p.mark(t, ",") {
		return
	}
	p.at = p.nextCondition(p.at)
}

// nextCondition returns the offset of the next comma that seems to be followed by a condition, or the end of the text.
func (p *parser) nextCondition(at int) int {
	for at < len(p.text) {
		at = p.nextComma(at)
		if at < len(p.text) && p.looksLikeCondition(at+1) {
			return at
		}
		at++
	}
	return len(p.text)
}

func (p *parser) nextComma(at int) int {
	if n := strings.IndexByte(p.text[at:], ','); n >= 0 {
		return at + n
	}
	return len(p.text)
}

// looksLikeCondition reports whether a name with an operator or a key follows at an offset.
func (p *parser) looksLikeCondition(at int) bool {
	t := p.token(at)
	if next := p.token(t.Span.End()); p.word(t, "not") && next.Kind == WordToken {
		t = next
	}
	return t.Kind == WordToken && isName(t.Span.of(p.text)) && p.looksLikeTest(t.Span.End())
}

// looksLikeTest reports whether an operator or a key, and text after it, follows at an offset.
func (p *parser) looksLikeTest(at int) bool {
	next := p.token(at)
	if p.word(next, "not") {
		next = p.token(next.Span.End())
	}
	text := next.Span.of(p.text)
	after := p.token(next.Span.End())
	switch {
	case next.Kind == OperatorToken:
		return strings.IndexByte(text, ':') < 0 // rv:1.0 is common in values
	case p.mark(next, "["):
		return after.Kind == StringToken || after.Kind == OperatorToken
	case p.word(next, "between"):
		return after.Kind != endToken && !p.mark(after, ",")
	case p.word(next, "in"):
		return p.mark(after, "(")
	case p.word(next, "is"):
		return p.word(after, "true") || p.word(after, "false")
	}
	return false
}

// isJoiner reports whether a token is one that other languages write between conditions, such as and or &&.
func (p *parser) isJoiner(t Token) bool {
	if p.word(t, "and") || p.word(t, "or") {
		return true
	}
	if t.Kind != otherToken {
		return false
	}
	switch p.text[t.Span.Offset] {
	case '&', '|', ';':
		return true
	}
	return false
}

// joinerWithin searches a bare value for another condition after and, or, &&, ||, ; or a line break. It returns the end
// of the value before that, or end if there is none. If anySpace is set, any white space counts as a line break, as
// after between, whose values are numbers or times.
func (p *parser) joinerWithin(at, end int, anySpace bool) int {
	for i := at; i < end; i++ {
		switch classes[p.text[i]] {
		case classSpace:
			t := p.token(i)
			if t.Span.Offset >= end {
				return end
			}
			joiner := p.isJoiner(t) && p.looksLikeCondition(t.Span.End())
			gap := anySpace || strings.IndexByte(p.text[i:t.Span.Offset], '\n') >= 0
			if joiner || gap && p.looksLikeCondition(t.Span.Offset) {
				return i
			}
			i = t.Span.Offset - 1
		case classOther:
			if t := p.token(i); p.isJoiner(t) && (t.Span.Length > 1 || p.text[i] == ';') {
				if p.looksLikeCondition(t.Span.End()) {
					return i
				}
				i = t.Span.End() - 1
			}
		}
	}
	return end
}
