package filter

import "strings"

// ParseQueryString parses a filter in the query-string form:
//
//	status=404, host!="shop.example", timestamp between 2026-01-01 and 2026-01-02
//
// Mistakes are in Problems; the conditions without mistakes are parsed nevertheless.
func ParseQueryString(text string) Filter {
	if errs, bad := unreadable(text); bad {
		return Filter{Text: text, Syntax: QueryString, Problems: errs}
	}
	p := parser{lexer: lexer{text}}
	p.filters()
	return Filter{
		Text:       text,
		Syntax:     QueryString,
		Conditions: p.conditions,
		Incomplete: p.incomplete,
		Problems:   p.errs.Sorted(),
	}
}

// parser parses the query-string form.
type parser struct {
	lexer
	at         int // the offset from which the next token is searched
	last       int // the end of the last token consumed
	conditions []Condition
	incomplete []Condition
	errs       Errors
	tokens     *[]Token // for Tokens: every token consumed
}

// filters parses
//
//	filters = condition { "," condition } .
//
// It stops after MaxErrors mistakes: more are not reported, and finding them in a hostile text takes quadratic time.
func (p *parser) filters() {
	if p.rejectJSON() {
		return
	}
	p.commas(true)
	for p.peek().Kind != endToken && len(p.errs) < MaxErrors {
		if c, ok := p.condition(); ok {
			p.conditions = append(p.conditions, c)
		} else {
			p.recover()
		}
		p.separator()
	}
}

// condition parses
//
//	condition = [ "not" ] field [ "[" [ "~" ] string "]" ] test .
func (p *parser) condition() (c Condition, ok bool) {
	if t := p.peek(); p.isJoiner(t) && p.looksLikeCondition(t.Span.End()) {
		p.fail(wrongJoiner(p.text, t.Span, false))
		p.take(t)
	}
	start := p.peek().Span
	c.Negated = p.not()
	c.Field, c.Key, ok = p.field()
	bare := ok && c.Key == nil && p.peek().Kind != OperatorToken
	if ok {
		ok = p.test(&c)
	}
	c.Span = between(start.Offset, p.last)
	// A word without a key or an operator is more likely a part of a value than a field.
	if !ok && c.Field.Text != "" && (!bare || c.OpSpan.Length > 0) {
		p.incomplete = append(p.incomplete, c)
	}
	return c, ok
}

// not consumes a leading not and reports whether it negates the condition.
func (p *parser) not() (negated bool) {
	first := p.peek()
	count := 0
	for {
		t := p.peek()
		switch {
		case p.word(t, "not"):
		case count == 0 && t.Kind == OperatorToken && t.Span.of(p.text) == "!":
			p.fail(wrongNot(t.Span))
		default:
			if count > 1 {
				p.fail(doubleNot(between(first.Span.Offset, p.last), count))
			}
			return negated
		}
		p.take(t)
		count++
		negated = !negated
	}
}

// field parses the field and its key. If only the key is invalid, it still returns the field.
func (p *parser) field() (Word, *Key, bool) {
	t := p.peek()
	switch {
	case p.mark(t, "("):
		return Word{}, nil, p.grouping(t)
	case t.Kind == StringToken && isName(strings.Trim(t.Span.of(p.text), `"`)):
		p.fail(quotedField(p.text, t.Span))
		p.take(t)
		name := Word{strings.Trim(t.Span.of(p.text), `"`), t.Span}
		key, ok := p.key()
		return name, key, ok
	}
	if t.Kind != WordToken {
		return Word{}, nil, p.failed(expectedField(p.text, p.place(t)))
	}
	p.take(t)
	name := Word{t.Span.of(p.text), t.Span}
	if member, ok := p.dotted(&name); ok {
		return name, member, true
	}
	if !plainKey(name.Text) {
		return Word{}, nil, p.failed(wrongField(name.Span, name.Text))
	}
	key, ok := p.key()
	return name, key, ok
}

// dotted reads field.member and field:member as field["member"] and records the mistake.
func (p *parser) dotted(name *Word) (*Key, bool) {
	field, member, ok := strings.Cut(name.Text, ".")
	span := between(name.Span.Offset+len(field)+1, name.Span.End())
	if !ok && isName(field) {
		if span, ok = p.colonMember(); ok {
			member = span.of(p.text)
		}
	}
	if !ok || !isName(field) || member == "" {
		return nil, false
	}
	p.fail(dottedField(between(name.Span.Offset, span.End()), field, member))
	*name = Word{field, Span{name.Span.Offset, len(field)}}
	return &Key{Text: member, Exact: true, Dotted: true, Span: span}, true
}

// colonMember consumes a colon and a name if an operator follows them, as in headers:host="x". Otherwise the colon is
// meant as the operator, as in status:404.
func (p *parser) colonMember() (member Span, ok bool) {
	colon := p.token(p.at)
	if colon.Span.of(p.text) != ":" || colon.Span.Offset != p.last {
		return Span{}, false
	}
	name := p.token(colon.Span.End())
	end := name.Span.End()
	if name.Span.Offset != colon.Span.End() || !plainKey(name.Span.of(p.text)) {
		return Span{}, false
	}
	if p.mark(p.token(end), "[") || !p.looksLikeTest(end) {
		return Span{}, false
	}
	p.take(colon)
	p.take(name)
	return name.Span, true
}

// key parses
//
//	[ "[" [ "~" ] string "]" ]
func (p *parser) key() (*Key, bool) {
	open := p.peek()
	if !p.mark(open, "[") {
		return nil, true
	}
	p.take(open)
	t, pattern := p.peek(), false
	if t.Kind == OperatorToken && t.Span.of(p.text) == "~" {
		p.take(t)
		t, pattern = p.peek(), true
	}
	inside, quoted, ok := p.keyString(open, t)
	if !ok {
		return nil, false
	}
	key := Key{Text: unquote(inside.of(p.text)), Exact: true}
	if pattern {
		key = patternKey(key.Text)
		if key.Text == "" && !key.Exact {
			p.fail(emptyKey(t.Span))
		}
	}
	key.Span, key.Quoted = inside, quoted
	p.checkNUL(inside)
	if end := p.peek(); p.mark(end, "]") {
		p.take(end)
	} else {
		p.fail(unclosedKey(between(open.Span.Offset, p.last)))
	}
	return &key, true
}

// keyString consumes the string of a key and returns its inside. Text without quotes up to the closing bracket is
// recorded as a mistake and read as the key.
func (p *parser) keyString(open, t Token) (inside Span, quoted, ok bool) {
	if t.Kind == StringToken {
		if end, closed := p.stringEnd(t.Span.Offset); closed {
			p.take(t)
			return between(t.Span.Offset+1, end-1), true, true
		}
	}
	length := strings.IndexAny(p.text[t.Span.Offset:], "]\n,=")
	if length < 0 || p.text[t.Span.Offset+length] != ']' {
		return Span{}, false, p.failed(unclosedKey(open.Span))
	}
	whole := between(t.Span.Offset, p.trimEnd(t.Span.Offset, t.Span.Offset+length))
	if whole.Length == 0 {
		return Span{}, false, p.failed(emptyKey(between(open.Span.Offset, t.Span.End())))
	}
	inside = stripQuotes(p.text, whole)
	p.fail(unquotedKey(p.text, whole, inside))
	p.take(Token{BareToken, whole})
	return inside, false, true
}

// test parses
//
//	test = ( "=" | "!=" | ">" | "<" | ">=" | "<=" ) value
//	     | ( "~" | "!~" ) ( value | "(" value { "," value } ")" )
//	     | [ "not" ] "between" value "and" value
//	     | [ "not" ] "in" ( "(" value { "," value } ")" | "@" list )
//	     | [ "not" ] "is" ( "true" | "false" ) .
func (p *parser) test(c *Condition) bool {
	op, span, ok := p.operator()
	if !ok {
		return false
	}
	c.Op, c.OpSpan = op.op, span
	c.Negated = c.Negated != op.negated
	switch c.Op {
	case Between:
		return p.between(c)
	case In:
		return p.in(c)
	case Is:
		return p.is(c)
	case Regex:
		if p.regexList() {
			return p.list(c)
		}
	case Eq:
		if p.equalsList() {
			p.fail(equalsList(c.OpSpan, op.negated))
			c.Op = In
			return p.list(c)
		}
	}
	v, ok := p.value(c.OpSpan, untilComma)
	c.Values = []Value{v}
	return ok
}

// operator consumes the operator of a condition and returns it with its place. A misspelt operator is recorded as a
// mistake and read as the operator that was meant.
func (p *parser) operator() (operator, Span, bool) {
	start := p.peek()
	negated := false
	if p.word(start, "not") {
		p.take(start)
		negated = true
	}
	t := p.peek()
	span := join(start.Span, t.Span)
	switch t.Kind {
	case OperatorToken:
		return p.symbol(start, t, negated)
	case WordToken:
		return p.wordOperator(t, span, negated)
	}
	return operator{}, Span{}, p.failed(expectedOperator(p.text, p.last, p.place(t)))
}

// symbol consumes an operator that is not a word. start is its first token: t, or a not before t.
func (p *parser) symbol(start, t Token, negated bool) (operator, Span, bool) {
	if next := p.token(t.Span.End()); !negated && t.Span.of(p.text) == "!" {
		word := strings.ToLower(next.Span.of(p.text))
		if _, foreign := foreignWords[word]; foreign || wordOperators[word] != 0 {
			if !foreign {
				p.fail(wrongNot(t.Span))
			}
			p.take(t)
			return p.wordOperator(next, join(t.Span, next.Span), true)
		}
	}
	t.Span.Length = symbolLength(t.Span.of(p.text))
	text, span := t.Span.of(p.text), join(start.Span, t.Span)
	meant, wrong := foreignSymbols[text]
	if wrong {
		text = meant
	}
	op, known := symbols[text]
	if !known {
		return operator{}, Span{}, p.failed(wrongOperator(p.text, join(start.Span, p.peek().Span), ""))
	}
	op.negated = op.negated != negated
	if wrong || negated {
		text, _ = symbolOf(op.op, op.negated) // "" for not >, where not is written before the field
		p.fail(wrongOperator(p.text, span, text))
	}
	p.take(t)
	return op, span, true
}

// symbolLength returns the length of the operator at the start of a run of operator characters. The rest of the run is
// the start of a bare value. A bare value may begin with a colon; bareValue reports any other such character.
func symbolLength(run string) int {
	for n := len(run); n > 0; n-- {
		if _, ok := symbols[run[:n]]; ok {
			return n
		}
		if _, ok := foreignSymbols[run[:n]]; ok && n == len(run) {
			return n
		}
	}
	return 0
}

// wordOperator consumes an operator that is a word. span includes a not before t.
func (p *parser) wordOperator(t Token, span Span, negated bool) (operator, Span, bool) {
	word := strings.ToLower(t.Span.of(p.text))
	if op, ok := wordOperators[word]; ok {
		p.take(t)
		return operator{op, negated}, span, true
	}
	meant, ok := guessWordOperator(word)
	if !ok {
		return operator{}, Span{}, p.failed(expectedOperator(p.text, p.last, t.Span))
	}
	both := negated && meant.negated // not nin is ambiguous
	meant.negated = meant.negated != negated
	suggestion := meant.text()
	if both {
		suggestion = ""
	}
	p.fail(wrongOperator(p.text, span, suggestion))
	p.take(t)
	return meant, span, true
}

func (p *parser) peek() Token { return p.token(p.at) }

func (p *parser) take(t Token) {
	p.at, p.last = t.Span.End(), t.Span.End()
	if p.tokens != nil {
		*p.tokens = append(*p.tokens, t)
	}
}

func (p *parser) mark(t Token, text string) bool {
	return t.Kind == MarkToken && t.Span.of(p.text) == text
}

// word reports whether a token is the given word, ignoring case.
func (p *parser) word(t Token, word string) bool {
	return t.Kind == WordToken && strings.EqualFold(t.Span.of(p.text), word)
}

// place returns the span at which an unexpected token is reported. The end of the text is reported right after the last
// token.
func (p *parser) place(t Token) Span {
	if t.Kind == endToken {
		return Span{p.last, 0}
	}
	return t.Span
}

func (p *parser) fail(e Error) { p.errs = append(p.errs, e) }

// failed records a mistake that makes the condition unusable, and returns false.
func (p *parser) failed(e Error) bool {
	p.fail(e)
	return false
}

// checkNUL records a mistake if the text contains NUL, which no engine accepts in a text.
func (p *parser) checkNUL(span Span) {
	if i := strings.IndexByte(span.of(p.text), 0); i >= 0 {
		p.fail(nulCharacter(Span{span.Offset + i, 1}))
	}
}
