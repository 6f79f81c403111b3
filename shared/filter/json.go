package filter

import (
	"strconv"
	"strings"
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
