package filter

import "strings"

// ParseQueryString reads a filter in the query-string form:
//
//	status=404, host!="shop.example", timestamp between 2026-01-01 and 2026-01-02
//
// What cannot be read is in Problems; the conditions around it are read all the same.
func ParseQueryString(text string) Filter {
	if errs, bad := unreadable(text); bad {
		return Filter{Text: text, Form: QueryString, Problems: errs}
	}
	p := parser{lexer: lexer{text}}
	p.filters()
	return Filter{Text: text, Form: QueryString, Conditions: p.conditions, Incomplete: p.incomplete, Problems: p.errs.Sorted()}
}

type parser struct {
	lexer
	at         int // where the next token is looked for
	last       int // the end of the last token taken
	conditions []Condition
	incomplete []Condition
	errs       Errors
	tokens     *[]Token // for Tokens: every token taken
}

// filters parses
//
//	filters = condition { "," condition } .
//
// It stops after MaxErrors mistakes: nobody reads more, and finding them in a hostile text costs its square.
func (p *parser) filters() {
	if p.foreign() {
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
	// A word without key or operator is more likely a piece of a value than a field.
	if !ok && c.Field.Text != "" && (!bare || c.OpSpan.Length > 0) {
		p.incomplete = append(p.incomplete, c)
	}
	return c, ok
}

// not takes a leading not and tells whether it inverts the condition.
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

// field parses the field and its key. The field may be there even if the key cannot be read.
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

// dotted takes field.member and field:member for field["member"], and says so.
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

// colonMember takes a colon and a name where an operator follows them: headers:host="x". Elsewhere the colon
// stands for the operator: status:404.
func (p *parser) colonMember() (member Span, ok bool) {
	colon := p.token(p.at)
	if colon.Span.of(p.text) != ":" || colon.Span.Offset != p.last {
		return Span{}, false
	}
	name := p.token(colon.Span.End())
	end := name.Span.End()
	if name.Span.Offset != colon.Span.End() || !plainKey(name.Span.of(p.text)) || p.mark(p.token(end), "[") || !p.looksLikeTest(end) {
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

// keyString takes the string of a key, or what stands in its place up to the bracket, and gives its inside.
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
//	     | [ "not" ] "in" "(" value { "," value } ")"
//	     | [ "not" ] "is" ( "true" | "false" ) .
func (p *parser) test(c *Condition) bool {
	spelling, ok := p.operator()
	if !ok {
		return false
	}
	c.Op, c.OpSpan = spelling.op, spelling.span
	c.Negated = c.Negated != spelling.negated
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
			p.fail(equalsList(c.OpSpan, spelling.negated))
			c.Op = In
			return p.list(c)
		}
	}
	v, ok := p.value(c.OpSpan, untilComma)
	c.Values = []Value{v}
	return ok
}

// spelling is an operator and where it was written.
type spelling struct {
	operator
	span Span
}

// operator takes the operator of a condition. One that is only misspelt is told and taken for what it means.
func (p *parser) operator() (spelling, bool) {
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
	return spelling{}, p.failed(expectedOperator(p.text, p.last, p.place(t)))
}

// symbol takes an operator that is no word. start is where it begins: at t, or at a not before it.
func (p *parser) symbol(start, t Token, negated bool) (spelling, bool) {
	if next := p.token(t.Span.End()); !negated && t.Span.of(p.text) == "!" {
		word := strings.ToLower(next.Span.of(p.text))
		if _, foreign := words[word]; foreign || wordOperators[word] != 0 {
			if !foreign {
				p.fail(wrongNot(t.Span))
			}
			p.take(t)
			return p.wordOperator(next, join(t.Span, next.Span), true)
		}
	}
	t.Span.Length = symbolLength(t.Span.of(p.text))
	text, span := t.Span.of(p.text), join(start.Span, t.Span)
	slip, wrong := slips[text]
	if wrong {
		text = slip
	}
	op, known := symbols[text]
	if !known {
		return spelling{}, p.failed(wrongOperator(p.text, join(start.Span, p.peek().Span), ""))
	}
	op.negated = op.negated != negated
	if wrong || negated {
		text, _ = symbolOf(op.op, op.negated) // none for not >: then the not belongs before the field
		p.fail(wrongOperator(p.text, span, text))
	}
	p.take(t)
	return spelling{op, span}, true
}

// symbolLength is how much of a run of operator characters is the operator. What follows is the start of a
// bare value: a colon, which may begin one, or what bareValue will say stands in quotes.
func symbolLength(run string) int {
	for n := len(run); n > 0; n-- {
		if _, ok := symbols[run[:n]]; ok {
			return n
		}
		if _, ok := slips[run[:n]]; ok && n == len(run) {
			return n
		}
	}
	return 0
}

func (p *parser) wordOperator(t Token, span Span, negated bool) (spelling, bool) {
	word := strings.ToLower(t.Span.of(p.text))
	if op, ok := wordOperators[word]; ok {
		p.take(t)
		return spelling{operator{op, negated}, span}, true
	}
	meant, ok := guessWordOperator(word)
	if !ok {
		return spelling{}, p.failed(expectedOperator(p.text, p.last, t.Span))
	}
	both := negated && meant.negated // not nin may mean either
	meant.negated = meant.negated != negated
	better := meant.text()
	if both {
		better = ""
	}
	p.fail(wrongOperator(p.text, span, better))
	p.take(t)
	return spelling{meant, span}, true
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

// word tells whether a token is a word, in any case.
func (p *parser) word(t Token, word string) bool {
	return t.Kind == WordToken && strings.EqualFold(t.Span.of(p.text), word)
}

// place is where a token that should not be there is shown: the end of the text is right after the last token.
func (p *parser) place(t Token) Span {
	if t.Kind == endToken {
		return Span{p.last, 0}
	}
	return t.Span
}

func (p *parser) fail(e Error) { p.errs = append(p.errs, e) }

// failed records a mistake after which the condition cannot be read; it is always false.
func (p *parser) failed(e Error) bool {
	p.fail(e)
	return false
}

// checkNUL refuses the one character that no engine takes in a text.
func (p *parser) checkNUL(span Span) {
	if i := strings.IndexByte(span.of(p.text), 0); i >= 0 {
		p.fail(nulCharacter(Span{span.Offset + i, 1}))
	}
}
