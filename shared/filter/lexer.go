package filter

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lexer finds the tokens of the query-string form. It keeps no place: the parser knows where it is, and
// whether a token or a value may stand there.
type lexer struct{ text string }

// class is what a byte can begin.
type class uint8

const (
	classWord class = iota // also every byte of a character beyond ASCII, but for spaces and curly quotes
	classSpace
	classOperator
	classMark
	classQuote
	classOther
)

// The colon is no operator, but many languages have it where this one has the equals sign.
var classes = func() (table [256]class) {
	for c, set := range map[class]string{
		classSpace: " \t\r\n\v\f", classOperator: "=!<>~:", classMark: ",()[]", classQuote: `"`, classOther: "&|;{}\x00",
	} {
		for i := range len(set) {
			table[set[i]] = c
		}
	}
	return table
}()

// token is the next token at or after an offset, never a value.
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

// skip moves over white space and byte order marks.
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

// stringEnd is the offset after the closing quote of the string that opens at an offset; ok is false, and
// the offset that of the end, when there is none.
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

// unquote is the text of a string's inside: \" and \\ are escapes, any other backslash stands for itself.
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

// spaceAt is the size of the white space character that a text begins with, or 0.
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

// trimEnd is the offset after the last character of text[from:to] that is not white space.
func (l lexer) trimEnd(from, to int) int {
	trimmed := strings.TrimRightFunc(l.text[from:to], func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' })
	return from + len(trimmed)
}

// curlyQuote tells whether a text begins with a double quote of typography, and the size of its first character.
func curlyQuote(s string) (bool, int) {
	r, size := utf8.DecodeRuneInString(s)
	return r == '“' || r == '”' || r == '„' || r == '‟', size
}

// isName tells whether a text is made as the names of fields are.
func isName(s string) bool {
	for i := range len(s) {
		if !isNameByte(s[i]) {
			return false
		}
	}
	return s != "" && (s[0] < '0' || s[0] > '9')
}
