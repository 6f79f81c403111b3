package filter

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// node is a JSON value with its place. The standard library's decoder tells neither where a member stands
// nor that it is repeated.
type node struct {
	kind    nodeKind
	span    Span
	text    string   // of a string: the text without escapes; of a number or literal: as written
	inside  Span     // of a string: the span without its quotes
	quoted  bool     // a string in the quotes that JSON has
	members []member // of an object
	items   []node   // of an array
}

type member struct {
	name  Word // its span leaves out the quotes
	value node
}

type nodeKind uint8

const (
	brokenNode nodeKind = iota // could not be read, and said so
	objectNode
	arrayNode
	stringNode
	numberNode
	boolNode
	nullNode
)

// jsonReader reads JSON. It mends what it can (and says so), so that one slip hides no other mistake.
type jsonReader struct {
	text    string
	at      int
	path    []step // where we are, for pointers
	closers []byte // the brackets that must still close
	errs    Errors
	stopped bool // nothing after this place makes sense
	tokens  *[]Token
}

// step is one step of a JSON pointer: a member, or an index when name is "".
type step struct {
	name  string
	index int
}

// document reads the values of the text, which commas may separate: a sequence of conditions needs no bracket.
func (r *jsonReader) document() (values []node) {
	comma := -1
	for {
		r.space()
		if r.ended() {
			break
		}
		if c := r.text[r.at]; c == ',' {
			r.fail(jsonComma(Span{r.at, 1}))
			r.mark()
			continue
		}
		if len(values) > 0 && comma < 0 {
			if c := r.text[r.at]; c != '{' {
				r.stop(jsonAfterEnd(r.text, r.at))
				break
			}
			r.fail(jsonMissingComma(r.text, r.at))
		}
		r.path = append(r.path[:0], step{index: len(values)})
		values = append(values, r.value())
		if comma = r.comma(); comma >= 0 {
			if r.space(); !r.stopped && r.at == len(r.text) {
				r.fail(jsonComma(Span{comma, 1}))
			}
		}
	}
	if len(values) < 2 {
		for i := range r.errs {
			r.errs[i].Pointer = strings.TrimPrefix(r.errs[i].Pointer, "/0")
		}
	}
	return values
}

// comma takes a comma and gives its offset, or -1.
func (r *jsonReader) comma() int {
	r.space()
	if r.ended() || r.text[r.at] != ',' {
		return -1
	}
	r.mark()
	return r.at - 1
}

func (r *jsonReader) value() node {
	r.space()
	if r.ended() {
		return node{kind: brokenNode, span: Span{len(r.text), 0}}
	}
	switch c := r.text[r.at]; {
	case c == '{':
		return r.object()
	case c == '[':
		return r.array()
	case c == '"':
		return r.string()
	case c == '-' || c == '+' || c == '.' || '0' <= c && c <= '9':
		return r.number()
	}
	if quoted, ok := r.wrongString(); ok {
		return quoted
	}
	if r.bareEnd() > r.at {
		return r.literal()
	}
	r.fail(jsonExpectedValue(r.text, r.at))
	r.resync()
	return node{kind: brokenNode, span: Span{r.at, 0}}
}

// object reads
//
//	"{" [ member { "," member } ] "}"
func (r *jsonReader) object() node {
	n := node{kind: objectNode, span: Span{Offset: r.at}, members: make([]member, 0, len(memberNames))}
	r.sequence('}', func(int) {
		m, ok := r.member()
		if ok {
			n.members = append(n.members, m)
		}
	})
	n.span = between(n.span.Offset, r.at)
	return n
}

// array reads
//
//	"[" [ value { "," value } ] "]"
func (r *jsonReader) array() node {
	n := node{kind: arrayNode, span: Span{Offset: r.at}}
	r.sequence(']', func(i int) {
		r.path = append(r.path, step{index: i})
		n.items = append(n.items, r.value())
		r.path = r.path[:len(r.path)-1]
	})
	n.span = between(n.span.Offset, r.at)
	return n
}

// sequence reads what stands between two brackets, with a comma between two elements.
func (r *jsonReader) sequence(closer byte, element func(i int)) {
	if len(r.closers) == MaxDepth {
		r.stop(jsonTooDeep(Span{r.at, 1}))
		return
	}
	r.mark()
	r.closers = append(r.closers, closer)
	defer func() { r.closers = r.closers[:len(r.closers)-1] }()
	for i, comma := 0, -1; ; i++ {
		for r.space(); !r.ended() && r.text[r.at] == ','; r.space() {
			r.fail(jsonComma(Span{r.at, 1}))
			r.mark()
		}
		if r.stopped {
			return
		}
		if r.closing(closer) {
			if comma >= 0 && i > 0 {
				r.fail(jsonComma(Span{comma, 1}))
			}
			return
		}
		if r.at == len(r.text) {
			r.stop(jsonUnclosed(r.text, r.closers))
			return
		}
		if i > 0 && comma < 0 {
			r.fail(jsonMissingComma(r.text, r.at))
		}
		before := r.at
		element(i)
		if comma = r.comma(); comma < 0 && !r.stopped && r.at < len(r.text) && !r.atCloser() {
			switch {
			case r.text[r.at] == ';':
				r.fail(jsonSemicolon(Span{r.at, 1}))
				r.mark()
				comma = r.at - 1
			case r.at == before || strings.IndexByte(`"{[`, r.text[r.at]) < 0:
				r.fail(jsonUnexpected(r.text, r.at))
				r.resync()
				comma = r.comma()
			}
		}
	}
}

func (r *jsonReader) atCloser() bool { return r.text[r.at] == '}' || r.text[r.at] == ']' }

// closing takes the closing bracket. Of a wrong one it is guessed whether it was meant for this level, or
// this level's own is missing.
func (r *jsonReader) closing(closer byte) bool {
	if r.at == len(r.text) || !r.atCloser() {
		return false
	}
	if r.text[r.at] == closer {
		r.mark()
		return true
	}
	outer := len(r.closers) - 2
	if outer >= 0 && r.text[r.at] == r.closers[outer] {
		r.fail(jsonMissingCloser(r.at, closer))
		return true
	}
	r.fail(jsonWrongCloser(Span{r.at, 1}, closer))
	r.mark()
	return true
}

// member reads
//
//	string ":" value
func (r *jsonReader) member() (member, bool) {
	name, ok := r.memberName()
	if !ok {
		r.fail(jsonExpectedName(r.text, r.at))
		r.resync()
		return member{}, false
	}
	r.path = append(r.path, step{name: name.Text})
	defer func() { r.path = r.path[:len(r.path)-1] }()
	r.space()
	switch {
	case r.ended():
		return member{}, false
	case r.text[r.at] == ':':
		r.mark()
	case r.text[r.at] == '=':
		r.fail(jsonEquals(Span{r.at, 1}))
		r.mark()
	case r.text[r.at] == ',' || r.atCloser():
		r.fail(jsonNoValue(name))
		return member{}, false
	default:
		r.fail(jsonMissingColon(r.text, r.at))
	}
	if r.space(); !r.ended() && (r.text[r.at] == ',' || r.atCloser()) {
		r.fail(jsonNoValue(name))
		return member{}, false
	}
	return member{name, r.value()}, true
}

func (r *jsonReader) memberName() (Word, bool) {
	if r.text[r.at] == '"' {
		n := r.string()
		return Word{n.text, n.inside}, true
	}
	if n, ok := r.wrongString(); ok {
		return Word{n.text, n.span}, true
	}
	end := r.bareEnd()
	if end == r.at {
		return Word{}, false
	}
	span := between(r.at, end)
	r.fail(jsonUnquotedName(r.text, span))
	r.take(WordToken, span)
	return Word{span.of(r.text), span}, true
}

// string reads a string. Escapes that JSON does not have stand for themselves: in a regular expression \d
// was meant as it is written.
func (r *jsonReader) string() node {
	start := r.at
	end, closed := r.stringEnd(start)
	if !closed {
		r.fail(jsonUnclosedString(r.text, start))
		if end == len(r.text) {
			r.stopped = true
		}
		r.take(StringToken, between(start, end))
		return node{kind: brokenNode, span: between(start, end)}
	}
	r.take(StringToken, between(start, end))
	return node{kind: stringNode, span: between(start, end), text: r.unescape(start+1, end-1), inside: between(start+1, end-1), quoted: true}
}

// stringEnd is the offset after the closing quote. A string that is open at the end of its line is closed
// there, unless it does close where a value may end: then the line break was meant as text.
func (r *jsonReader) stringEnd(start int) (end int, closed bool) {
	line := -1
	for i := start + 1; i < len(r.text); i++ {
		switch r.text[i] {
		case '\\':
			i++
		case '\n':
			if line < 0 {
				line = i
			}
		case '"':
			after := strings.TrimLeft(r.text[i+1:min(i+65, len(r.text))], " \t\r\n")
			if line >= 0 && after != "" && strings.IndexByte(",:}]", after[0]) < 0 {
				return line, false
			}
			return i + 1, true
		}
	}
	if line >= 0 {
		return line, false
	}
	return len(r.text), false
}

func (r *jsonReader) unescape(from, to int) string {
	raw := r.text[from:to]
	plain := true
	for i := range len(raw) {
		if raw[i] == '\\' || raw[i] < ' ' {
			plain = false
			break
		}
	}
	if plain {
		return raw
	}
	var b strings.Builder
	b.Grow(len(raw))
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '\\':
			decoded, width, ok := decodeEscape(raw[i:])
			if !ok {
				r.fail(jsonEscape(r.text, Span{from + i, width}))
				b.WriteString(raw[i : i+width])
			} else {
				if decoded == 0 {
					r.fail(nulCharacter(Span{from + i, width}))
				}
				b.WriteRune(decoded)
			}
			i += width
		case c < ' ':
			r.fail(jsonControl(Span{from + i, 1}, c))
			b.WriteByte(c)
			i++
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// decodeEscape decodes the escape that a text begins with. width is its length, also when it is none.
func decodeEscape(s string) (decoded rune, width int, ok bool) {
	if len(s) == 1 {
		return 0, 1, false
	}
	if i := strings.IndexByte(`"\/bfnrt`, s[1]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 2, true
	}
	if s[1] != 'u' {
		_, size := utf8.DecodeRuneInString(s[1:])
		return 0, 1 + size, false
	}
	high, ok := hex4(s)
	if !ok {
		return 0, 2, false
	}
	if !utf16.IsSurrogate(high) {
		return high, 6, true
	}
	if low, ok := hex4(s[6:]); ok {
		if pair := utf16.DecodeRune(high, low); pair != utf8.RuneError {
			return pair, 12, true
		}
	}
	return 0, 6, false
}

// hex4 reads \uXXXX.
func hex4(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(n), err == nil
}

// number reads a number; text that only begins like one, as a date does, is told to want quotes.
func (r *jsonReader) number() node {
	span := between(r.at, r.bareEnd())
	n := node{kind: numberNode, span: span, text: span.of(r.text), inside: span}
	r.take(BareToken, span)
	if !isJSONNumber(n.text) {
		if _, err := strconv.ParseFloat(n.text, 64); err != nil {
			n.kind = stringNode
		}
		r.fail(jsonNumber(n.text, span, n.kind == stringNode))
	}
	return n
}

// isJSONNumber tells whether a text is a number as JSON writes it: no +, no leading zeros, no bare point.
func isJSONNumber(s string) bool {
	digits := func() bool {
		n := len(s) - len(strings.TrimLeft(s, "0123456789"))
		s = s[n:]
		return n > 0
	}
	s = strings.TrimPrefix(s, "-")
	if strings.HasPrefix(s, "0") {
		s = s[1:]
	} else if !digits() {
		return false
	}
	if rest, ok := strings.CutPrefix(s, "."); ok {
		if s = rest; !digits() {
			return false
		}
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		if s = s[1:]; s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		if !digits() {
			return false
		}
	}
	return s == ""
}

// literal reads true, false or null; any other bare text is told to want quotes.
func (r *jsonReader) literal() node {
	span := between(r.at, r.bareEnd())
	n := node{span: span, text: span.of(r.text), inside: span}
	r.take(WordToken, span)
	lower := strings.ToLower(n.text)
	if lower == "none" || lower == "nil" || lower == "undefined" {
		lower = "null"
	}
	switch lower {
	case "true", "false":
		n.kind = boolNode
	case "null":
		n.kind = nullNode
	default:
		n.kind = stringNode
		r.fail(jsonUnquotedText(n.text, span))
		return n
	}
	if n.text != lower {
		r.fail(jsonLiteral(n.text, span, lower))
		n.text = lower
	}
	return n
}

// bareEnd is the end of the word or number at this place.
func (r *jsonReader) bareEnd() int {
	n := strings.IndexAny(r.text[r.at:], " \t\r\n,:;={}[]\"'“”")
	if n < 0 {
		return len(r.text)
	}
	return r.at + n
}

// wrongString reads a string in quotes that JSON does not have.
func (r *jsonReader) wrongString() (node, bool) {
	closers := ""
	curly, size := curlyQuote(r.text[r.at:])
	switch {
	case curly:
		closers = "“”„‟\""
	case r.text[r.at] == '\'':
		closers = "'"
	default:
		return node{}, false
	}
	length := strings.IndexAny(r.text[r.at+size:], closers+"\n")
	if length < 0 || r.text[r.at+size+length] == '\n' {
		return node{}, false
	}
	inside := Span{r.at + size, length}
	_, closer := curlyQuote(r.text[inside.End():])
	whole := between(r.at, inside.End()+closer)
	n := node{kind: stringNode, span: whole, text: inside.of(r.text), inside: inside}
	r.fail(wrongQuotes(whole, jsonString(n.text)))
	r.take(StringToken, whole)
	return n, true
}

// resync moves to the next comma or closing bracket of this level.
func (r *jsonReader) resync() {
	depth := 0
	for ; r.at < len(r.text); r.at++ {
		switch r.text[r.at] {
		case '"':
			end, _ := r.stringEnd(r.at)
			r.at = max(r.at, end-1)
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return
			}
			depth--
		case ',':
			if depth == 0 {
				return
			}
		}
	}
}

// space moves over white space; a byte order mark may open the text.
func (r *jsonReader) space() {
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			r.at++
		case c >= utf8.RuneSelf && spaceAt(r.text[r.at:]) > 0:
			r.at += spaceAt(r.text[r.at:]) // pasted from a page; it stands for a space everywhere
		default:
			return
		}
	}
}

func (r *jsonReader) ended() bool { return r.stopped || r.at == len(r.text) }

// mark takes a mark of one byte.
func (r *jsonReader) mark() { r.take(MarkToken, Span{r.at, 1}) }

func (r *jsonReader) take(kind TokenKind, span Span) {
	r.at = span.End()
	if r.tokens != nil {
		*r.tokens = append(*r.tokens, Token{kind, span})
	}
}

func (r *jsonReader) stop(e Error) {
	r.fail(e)
	r.stopped = true
}

func (r *jsonReader) fail(e Error) {
	if r.stopped {
		return
	}
	for _, s := range r.path {
		if s.name != "" {
			e.Pointer += pointerStep(s.name)
		} else {
			e.Pointer += "/" + strconv.Itoa(s.index)
		}
	}
	r.errs = append(r.errs, e)
	r.stopped = len(r.errs) >= MaxErrors
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// pointerStep is a member's name as a step of a JSON pointer (RFC 6901).
func pointerStep(name string) string { return "/" + pointerEscapes.Replace(name) }
