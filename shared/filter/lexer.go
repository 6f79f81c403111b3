package filter

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lexer finds the tokens of the query-string form. It has no current place. The parser keeps the place, and knows
// whether a token or a value is expected.
type lexer struct{ text string }

// class is the kind of token that a byte can begin.
type class uint8

const (
	classWord class = iota // also every byte of a character beyond ASCII, except spaces and curly quotes
	classSpace
	classOperator
	classMark
	classQuote
	classOther
)

// classes is the class of each byte. The colon is not an operator, but many languages use it for the equals sign.
var classes = func() (table [256]class) {
	for c, set := range map[class]string{
		classSpace:    " \t\r\n\v\f",
		classOperator: "=!<>~:",
		classMark:     ",()[]",
		classQuote:    `"`,
		classOther:    "&|;{}\x00",
	} {
		for i := range len(set) {
			table[set[i]] = c
		}
	}
	return table
}()

// token returns the next token at or after an offset. It never returns a bare value.
func (l lexer) token(at int) Token {
	at = l.skip(at)
	if at == len(l.text) {
		return Token{endToken, Span{at, 0}}
	}
	switch classes[l.text[at]] {
	case classOperator:
		return Token{OperatorToken, between(at, l.run(at, classOperator))}
	case classMark:
		return Token{MarkToken, Span{at, 1}}
	case classQuote:
		end, _ := l.stringEnd(at)
		return Token{StringToken, between(at, end)}
	case classOther:
		end := at + 1
		for end < len(l.text) && l.text[end] == l.text[at] {
			end++
		}
		return Token{otherToken, between(at, end)}
	}
	if quote, size := curlyQuote(l.text[at:]); quote {
		return Token{otherToken, Span{at, size}}
	}
	return Token{WordToken, between(at, l.wordEnd(at))}
}

// skip returns the offset of the first byte at or after an offset that is not white space or a byte order mark.
func (l lexer) skip(at int) int {
	for at < len(l.text) {
		size := spaceAt(l.text[at:])
		if size == 0 {
			break
		}
		at += size
	}
	return at
}

func (l lexer) run(at int, c class) int {
	for at < len(l.text) && classes[l.text[at]] == c {
		at++
	}
	return at
}

func (l lexer) wordEnd(at int) int {
	for at < len(l.text) && classes[l.text[at]] == classWord {
		if l.text[at] < utf8.RuneSelf {
			at++
			continue
		}
		quote, size := curlyQuote(l.text[at:])
		if quote || spaceAt(l.text[at:]) > 0 {
			break
		}
		at += size
	}
	return at
}

// stringEnd returns the offset after the closing quote of the string that begins at an offset. If there is no closing
// quote, it returns the length of the text and false.
func (l lexer) stringEnd(at int) (end int, ok bool) {
	for i := at + 1; i < len(l.text); i++ {
		switch l.text[i] {
		case '"':
			return i + 1, true
		case '\\':
			if i+1 < len(l.text) && (l.text[i+1] == '"' || l.text[i+1] == '\\') {
				i++
			}
		}
	}
	return len(l.text), false
}

// unquote unescapes the text between the quotes of a string: \" and \\ are escapes, any other backslash is literal.
func unquote(inside string) string {
	if strings.IndexByte(inside, '\\') < 0 {
		return inside
	}
	var b strings.Builder
	b.Grow(len(inside))
	for i := 0; i < len(inside); i++ {
		if inside[i] == '\\' && i+1 < len(inside) && (inside[i+1] == '"' || inside[i+1] == '\\') {
			i++
		}
		b.WriteByte(inside[i])
	}
	return b.String()
}

// spaceAt returns the size of the white space character at the start of s, or 0 if there is none. s is not empty.
func spaceAt(s string) int {
	if s[0] < utf8.RuneSelf {
		if classes[s[0]] == classSpace {
			return 1
		}
		return 0
	}
	if r, size := utf8.DecodeRuneInString(s); unicode.IsSpace(r) || r == '\ufeff' {
		return size
	}
	return 0
}

func trimStart(s string) string { return s[lexer{s}.skip(0):] }

// trimEnd returns the offset after the last character of text[from:to] that is not white space.
func (l lexer) trimEnd(from, to int) int {
	trimmed := strings.TrimRightFunc(l.text[from:to], func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' })
	return from + len(trimmed)
}

// curlyQuote reports whether s begins with a typographic double quote, and returns the size of its first character.
func curlyQuote(s string) (bool, int) {
	r, size := utf8.DecodeRuneInString(s)
	return r == '“' || r == '”' || r == '„' || r == '‟', size
}

// isName reports whether s has the syntax of a field name.
func isName(s string) bool {
	for i := range len(s) {
		if !isNameByte(s[i]) {
			return false
		}
	}
	return s != "" && (s[0] < '0' || s[0] > '9')
}
