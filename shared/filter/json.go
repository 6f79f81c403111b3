package filter

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// node is a JSON value with its place. The decoder of the standard library reports neither the place of a member
// nor that a member is repeated.
type node struct {
	kind    nodeKind
	span    Span
	text    string   // of a string: the unescaped text; of a number or literal: the text as written
	inside  Span     // of a string: the span without the quotes
	quoted  bool     // a string in double quotes, as JSON requires
	members []member // of an object
	items   []node   // of an array
}

type member struct {
	name  Word // its span excludes the quotes
	value node
}

type nodeKind uint8

const (
	brokenNode nodeKind = iota // a value that could not be parsed; its mistake is reported
	objectNode
	arrayNode
	stringNode
	numberNode
	boolNode
	nullNode
)

// jsonReader parses JSON. It reports a mistake and continues as if the text were corrected, so that one mistake does
// not hide the others.
type jsonReader struct {
	text    string
	at      int
	path    []step // the current place, for JSON pointers
	closers []byte // the closing brackets that are still expected
	errs    Errors
	stopped bool // whether reading ended at a mistake after which the text cannot be understood
	tokens  *[]Token
}

// step is one step of a JSON pointer: the name of a member, or an index if name is "".
type step struct {
	name  string
	index int
}

// document parses the values of the text. There may be several, separated by commas, because a sequence of
// conditions needs no brackets around it.
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

// comma consumes a comma and returns its offset, or -1 if there is none.
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

// object parses
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

// array parses
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

// sequence parses the elements between two brackets, which are separated by commas.
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

// closing consumes the closing bracket and reports whether there is one. A wrong bracket that closes the outer level
// means that the bracket of this level is missing; any other was meant for this level.
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

// member parses
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

// resync skips to the next comma or closing bracket of this level.
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

// space skips white space, including byte order marks and the spaces of Unicode.
func (r *jsonReader) space() {
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			r.at++
		case c >= utf8.RuneSelf && spaceAt(r.text[r.at:]) > 0:
			r.at += spaceAt(r.text[r.at:]) // pasted from a web page; accepted as a space everywhere
		default:
			return
		}
	}
}

func (r *jsonReader) ended() bool { return r.stopped || r.at == len(r.text) }

// mark consumes a mark of one byte.
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

// pointerStep returns the name of a member as a step of a JSON pointer (RFC 6901).
func pointerStep(name string) string { return "/" + pointerEscapes.Replace(name) }
