package logformat

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/record"
)

// stopped sets the column of a rejection: that of a part of the line. A part that is a copy has no column.
func stopped(err error, line, part []byte) error {
	at := cap(line) - cap(part)
	isPart := at >= 0 && at+len(part) <= len(line) && (len(part) == 0 || &line[at] == &part[0])
	var r *record.Reject
	if isPart && errors.As(err, &r) {
		r.Column = utf8.RuneCount(line[:at]) + 1
	}
	return err
}

// shifted changes the column of a rejection of a part of a line to that in the line.
func shifted(err error, line, part []byte) error {
	var r *record.Reject
	if !errors.As(err, &r) || r.Column == 0 || len(line) == len(part) {
		return err
	}
	within := r.Column - 1
	r.Column = 0
	err = stopped(err, line, part)
	if r.Column > 0 {
		r.Column += within
	}
	return err
}

const (
	excerptColumns = 160 // that are shown of a line
	excerptBefore  = 100 // those before the marked column
)

// Excerpt returns the part of a line around a column, indented by two spaces, and below it a caret under the column. A
// column 0 is not known: then it returns the beginning of the line. Characters that are not printed are replaced.
func Excerpt(line []byte, column int) string {
	var shown []rune
	for _, c := range string(line[:min(len(line), utf8.UTFMax*(column+excerptColumns))]) {
		if !unicode.IsPrint(c) {
			c = utf8.RuneError
		}
		shown = append(shown, c)
	}
	from := 0
	if column > excerptBefore && len(shown) > excerptColumns {
		from = column - excerptBefore
	}
	from = min(from, len(shown))
	to := min(from+excerptColumns, len(shown))
	text, before := string(shown[from:to]), column-1-from
	if from > 0 {
		text, before = "…"+text, before+1
	}
	if to < len(shown) {
		text += "…"
	}
	if column == 0 {
		return "  " + text
	}
	return "  " + text + "\n  " + strings.Repeat(" ", before) + "^"
}

// stopBytes is the length of the part of a line in which that place is looked for.
const stopBytes = 64 << 10

// prefixes are the beginnings of a regular expression, by which the place is found at which a line does not match it.
type prefixes struct {
	elements func() []element // made on first use: most expressions match every line

	mu       sync.Mutex
	compiled map[int]*regexp.Regexp // by the number of elements
}

// element is a part of a regular expression that matches after the part before it.
type element struct {
	part *syntax.Regexp
	name string // of the group that it is in, or the part itself
}

// newPrefixes returns the prefixes of a regular expression that compiles.
func newPrefixes(text string) *prefixes {
	return &prefixes{compiled: map[int]*regexp.Regexp{}, elements: sync.OnceValue(func() []element {
		parsed, err := syntax.Parse(text, syntax.Perl)
		if err != nil {
			return nil
		}
		return appendElements(nil, parsed, "")
	})}
}

// appendElements appends the elements of a part of an expression.
func appendElements(to []element, part *syntax.Regexp, group string) []element {
	switch part.Op {
	case syntax.OpConcat:
		for _, sub := range part.Sub {
			to = appendElements(to, sub, group)
		}
		return to
	case syntax.OpCapture:
		if group == "" {
			group = part.Name
		}
		return appendElements(to, part.Sub[0], group)
	case syntax.OpLiteral:
		for i, c := range part.Rune {
			one := &syntax.Regexp{Op: syntax.OpLiteral, Flags: part.Flags, Rune: []rune{c}}
			to = append(to, element{one, named(group, fmt.Sprintf("%q", string(part.Rune[i:])))})
		}
		return to
	case syntax.OpEndText, syntax.OpEndLine:
		return append(to, element{part, "the end of the line"})
	default:
		return append(to, element{part, named(group, part.String())})
	}
}

// named returns the name of a group, or the text of a part that is in none.
func named(group, text string) string {
	if group != "" {
		return group
	}
	return text
}

// stop returns the text of a line from where it does not match on, and what the expression has there.
func (p *prefixes) stop(line []byte) (rest []byte, expected string) {
	begin, elements := line[:min(len(line), stopBytes)], p.elements()
	least, most, end := 0, len(elements), 0 // the first elements match until the end; so many do not
	for most-least > 1 {
		middle := (least + most) / 2
		if found := p.prefix(middle).FindIndex(begin); found != nil {
			least, end = middle, found[1]
		} else {
			most = middle
		}
	}
	if len(elements) == 0 {
		return line, "another beginning"
	}
	return line[end:], elements[least].name
}

// prefix returns the expression of the first elements. It prefers the longest match.
func (p *prefixes) prefix(elements int) *regexp.Regexp {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.compiled[elements]; known != nil {
		return known
	}
	parts := make([]*syntax.Regexp, elements)
	for i := range parts {
		parts[i] = p.elements()[i].part
	}
	whole := &syntax.Regexp{Op: syntax.OpConcat, Sub: parts}
	compiled := regexp.MustCompile("^(?:" + whole.String() + ")") // parts of an expression that compiles
	compiled.Longest()
	p.compiled[elements] = compiled
	return compiled
}
