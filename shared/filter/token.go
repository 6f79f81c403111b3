package filter

// Token is a word, mark or value of a filter's text. Tokens come from parsing, because the kind of a piece of the
// query-string form depends on its place: 404 may be a value or a word.
type Token struct {
	Kind TokenKind
	Span Span
}

// TokenKind is the kind of a token.
type TokenKind string

const (
	WordToken     TokenKind = "word"     // a field, a word operator, a JSON literal
	OperatorToken TokenKind = "operator" // = != > < >= <= ~ !~
	MarkToken     TokenKind = "mark"     // , ( ) [ ] and in JSON { } :
	StringToken   TokenKind = "string"   // in quotes
	BareToken     TokenKind = "bare"     // a value without quotes, or a JSON number
	otherToken    TokenKind = "other"    // characters that are not part of the language
	endToken      TokenKind = "end"      // after the last character
)

// Tokens returns the tokens of a filter in the order in which the parser consumed them.
func Tokens(f Filter) []Token {
	var tokens []Token
	if _, bad := unreadable(f.Text); bad {
		return nil
	}
	if f.Syntax == JSON {
		(&jsonReader{text: f.Text, tokens: &tokens}).document()
		return tokens
	}
	p := parser{lexer: lexer{text: f.Text}, tokens: &tokens}
	p.filters()
	return tokens
}
