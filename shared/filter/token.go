package filter

// Token is a word, mark or value of a filter's text, as the parser took it. What a stretch of the
// query-string form is depends on where it stands (404 may be a value or a word), so tokens come from parsing.
type Token struct {
	Kind TokenKind
	Span Span
}

// TokenKind tells what a token is.
type TokenKind string

const (
	WordToken     TokenKind = "word"     // a field, a word operator, a JSON literal
	OperatorToken TokenKind = "operator" // = != > < >= <= ~ !~
	MarkToken     TokenKind = "mark"     // , ( ) [ ] and in JSON { } :
	StringToken   TokenKind = "string"   // in quotes
	BareToken     TokenKind = "bare"     // a value without quotes, or a JSON number
	otherToken    TokenKind = "other"    // nothing that the language has
	endToken      TokenKind = "end"      // after the last character
)

// Tokens lists the tokens of a filter in the order they were taken.
func Tokens(f Filter) []Token {
	var tokens []Token
	if _, bad := unreadable(f.Text); bad {
		return nil
	}
	if f.Form == JSON {
		(&jsonReader{text: f.Text, tokens: &tokens}).document()
		return tokens
	}
	p := parser{lexer: lexer{text: f.Text}, tokens: &tokens}
	p.filters()
	return tokens
}
