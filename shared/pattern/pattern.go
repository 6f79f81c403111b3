// Package pattern parses the regular expressions of filters, which are RE2's, and prints them for each engine.
package pattern

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Regex is a user's RE2 pattern, parsed once and printed in canonical form. Engines get only the canonical form.
type Regex struct {
	Source    string // as written, for the canonical filter
	Canonical string // RE2 syntax, printed from the syntax tree

	size     int       // of the compiled program, in instructions
	work     int       // see WorkOf
	literals *literals // that it looks for; nil: it is another pattern
	compile  sync.Once
	compiled *regexp.Regexp // nil: nothing was matched yet
}

// Work returns the work of the pattern for each byte of a text; see WorkOf.
func (r *Regex) Work() int { return r.work }

// Size returns the size of the compiled program, in instructions.
func (r *Regex) Size() int { return r.size }

// IsLiteral reports whether the pattern looks for a few texts, so that MatchString is fast.
func (r *Regex) IsLiteral() bool { return r.literals != nil }

// MatchString reports whether a text has a match of the pattern. The first call that needs the program compiles it, so a
// query takes no memory for programs while it waits, or if it matches no text with its patterns.
func (r *Regex) MatchString(text string) bool {
	if r.literals != nil {
		if found, known := r.literals.in(text); known {
			return found
		}
	}
	r.compile.Do(func() { r.compiled = regexp.MustCompile(r.Canonical) }) // Parse has parsed it
	return r.compiled.MatchString(text)
}

// maxPattern is the longest pattern, in bytes.
const maxPattern = 4096

// maxExact is the largest number of texts that Parse returns for a pattern that matches only whole texts.
const maxExact = 32

// Parse parses a pattern as Go's regexp/syntax does. With fold, it parses the pattern as if it began with (?i). When
// the pattern without fold can match only a few whole texts, as ^/login$ does, Parse also returns these texts, because
// engines can look up equal values.
func Parse(pattern string, fold bool) (*Regex, []string, *Problem) {
	if len(pattern) > maxPattern {
		return nil, nil, Exceeded(pattern, "the pattern is longer than 4 kB")
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, nil, explain(pattern, err)
	}
	exact := wholeTexts(tree)
	if fold {
		if tree, err = syntax.Parse(pattern, syntax.Perl|syntax.FoldCase); err != nil {
			return nil, nil, explain(pattern, err)
		}
	}
	size := programSize(tree)
	if size > MaxProgram {
		return nil, nil, Exceeded(pattern, programTooLarge)
	}
	canonical := print(tree)
	if _, err := syntax.Parse(canonical, syntax.Perl); err != nil {
		return nil, nil, Exceeded(pattern, err.Error())
	}
	return &Regex{Source: pattern, Canonical: canonical, size: size, work: WorkOf(tree), literals: literalsOf(tree)}, exact, nil
}

// Problem is the reason why a pattern is refused.
type Problem struct {
	Code           string // Malformed, Unsupported or TooLarge
	What           string // the construct, or for TooLarge the limit
	Offset, Length int    // of the construct in the pattern, in bytes
}

// The codes of problems.
const (
	Malformed   = "regex_syntax"
	Unsupported = "regex_unsupported"
	TooLarge    = "regex_too_large"
)

// programTooLarge explains the refusal of a pattern with a large program.
const programTooLarge = "the compiled pattern exceeds the limit of RE2"

// Exceeded returns the problem of a pattern that exceeds a limit.
func Exceeded(pattern, what string) *Problem {
	return &Problem{Code: TooLarge, What: what, Length: len(pattern)}
}

// explain returns the construct that the parser refused.
func explain(pattern string, err error) *Problem {
	var e *syntax.Error
	if !errors.As(err, &e) {
		return &Problem{Code: Malformed, What: err.Error(), Length: len(pattern)}
	}
	at := func(code, what, expr string) *Problem {
		return &Problem{Code: code, What: what, Offset: findConstruct(pattern, expr), Length: len(expr)}
	}
	switch e.Code {
	case syntax.ErrInvalidPerlOp, syntax.ErrInvalidNamedCapture:
		offset := findConstruct(pattern, e.Expr)
		prefix, name := groupName(pattern[offset:])
		if name == backReference {
			if end := strings.IndexByte(pattern[offset:], ')'); end >= 0 {
				prefix = pattern[offset : offset+end+1]
			}
			name += " " + prefix + repeatGroup
		} else {
			name += " " + prefix
		}
		return &Problem{Code: Unsupported, What: name, Offset: offset, Length: len(prefix)}
	case syntax.ErrInvalidEscape:
		if what := escapeName(e.Expr); what != "" {
			return at(Unsupported, what, e.Expr)
		}
		return at(Malformed, "unknown escape "+e.Expr, e.Expr)
	case syntax.ErrInvalidRepeatOp:
		if strings.HasSuffix(e.Expr, "+") {
			return at(Unsupported, "possessive quantifier "+e.Expr, e.Expr)
		}
		return at(Malformed, "repeat of a repeat "+e.Expr, e.Expr)
	case syntax.ErrInvalidRepeatSize:
		if fixed := ascendingRepeat(e.Expr); fixed != "" {
			return at(Malformed, "the repeat "+e.Expr+" has its larger number first (write "+fixed+")", e.Expr)
		}
		return at(Unsupported, "more than 1000 repeats in total "+e.Expr, e.Expr)
	case syntax.ErrLarge, syntax.ErrNestingDepth:
		return Exceeded(pattern, programTooLarge)
	case syntax.ErrMissingParen:
		return &Problem{Code: Malformed, What: "unclosed (", Offset: unclosedGroup(pattern), Length: 1}
	case syntax.ErrUnexpectedParen:
		return &Problem{Code: Malformed, What: "unexpected )", Offset: unopenedGroup(pattern), Length: 1}
	case syntax.ErrTrailingBackslash:
		return &Problem{Code: Malformed, What: `trailing \`, Offset: len(pattern) - 1, Length: 1}
	}
	return at(Malformed, e.Code.String()+" "+e.Expr, e.Expr)
}

const (
	backReference = "back-reference"
	repeatGroup   = " (write the pattern of the group again)"
)

var repeatRange = regexp.MustCompile(`^\{([0-9]+),([0-9]+)\}$`)

// ascendingRepeat returns a repeat whose numbers are not in ascending order with its numbers swapped, or "" for others.
func ascendingRepeat(expr string) string {
	m := repeatRange.FindStringSubmatch(expr)
	if m == nil {
		return ""
	}
	least, err := strconv.Atoi(m[1])
	most, err2 := strconv.Atoi(m[2])
	if err != nil || err2 != nil || least <= most {
		return ""
	}
	return fmt.Sprintf("{%d,%d}", most, least)
}

// groupName returns the prefix and the name of a group beginning with (? that RE2 does not have.
func groupName(group string) (prefix, name string) {
	for _, g := range []struct{ prefix, name string }{
		{"(?=", "look-ahead"}, {"(?!", "negative look-ahead"},
		{"(?<=", "look-behind"}, {"(?<!", "negative look-behind"},
		{"(?>", "atomic group"}, {"(?(", "conditional group"}, {"(?#", "comment group"},
		{"(?|", "branch reset group"}, {"(?R", "recursion"}, {"(?&", "recursion"},
		{"(?P=", backReference}, {"(?P>", "recursion"},
		{"(?P<", "badly named group"}, {"(?<", "badly named group"},
	} {
		if strings.HasPrefix(group, g.prefix) {
			return g.prefix, g.name
		}
	}
	return group[:min(len(group), 3)], "unknown group"
}

// escapeName returns the name of an escape that other languages have and RE2 does not have, or "".
func escapeName(escape string) string {
	if len(escape) < 2 {
		return ""
	}
	switch c := escape[1]; {
	case '1' <= c && c <= '9', c == 'k', c == 'g':
		return backReference + " " + escape + repeatGroup
	case c == 'Z', c == 'G', c == 'K':
		return "anchor " + escape
	case c == 'h', c == 'H', c == 'R', c == 'X', c == 'V', c == 'N':
		return "character class " + escape
	case c == 'u', c == 'U':
		return "escape " + escape + ` (write \x{…})`
	}
	return ""
}

// findConstruct returns the offset of expr in the pattern, at a place where a construct can begin: not after a
// backslash and not inside \Q…\E. The parser refuses "(?P" only if it does not begin a named group.
func findConstruct(pattern, expr string) int {
	for i := 0; i < len(pattern); i = nextConstruct(pattern, i) {
		if strings.HasPrefix(pattern[i:], expr) && (expr != "(?P" || !strings.HasPrefix(pattern[i:], "(?P<")) {
			return i
		}
	}
	return max(strings.Index(pattern, expr), 0)
}

// nextConstruct returns the offset after the character, escape or quotation at i.
func nextConstruct(pattern string, i int) int {
	if pattern[i] != '\\' || i+1 == len(pattern) {
		_, size := utf8.DecodeRuneInString(pattern[i:])
		return i + size
	}
	if pattern[i+1] != 'Q' {
		return i + 2
	}
	if end := strings.Index(pattern[i:], `\E`); end >= 0 {
		return i + end + 2
	}
	return len(pattern)
}

// unclosedGroup returns the offset of the innermost "(" that is never closed.
func unclosedGroup(pattern string) int {
	open, _ := matchGroups(pattern)
	if len(open) == 0 {
		return 0
	}
	return open[len(open)-1]
}

// unopenedGroup returns the offset of the first ")" that closes nothing.
func unopenedGroup(pattern string) int {
	_, stray := matchGroups(pattern)
	return max(stray, 0)
}

// matchGroups pairs the parentheses outside classes. It returns the offsets of those left open, and of the first ")"
// without a "(", or -1.
func matchGroups(pattern string) (open []int, stray int) {
	for i := 0; i < len(pattern); i = nextConstruct(pattern, i) {
		switch c := pattern[i]; {
		case c == '[':
			i = classEnd(pattern, i)
		case c == '(':
			open = append(open, i)
		case c == ')' && len(open) > 0:
			open = open[:len(open)-1]
		case c == ')':
			return open, i
		}
	}
	return open, -1
}

// classEnd returns the offset of the "]" that closes the class at i. A "]" that comes first in the class does not close
// it, nor does the "]" of [:alpha:].
func classEnd(pattern string, i int) int {
	i++
	if strings.HasPrefix(pattern[i:], "^") {
		i++
	}
	if strings.HasPrefix(pattern[i:], "]") {
		i++
	}
	for i < len(pattern) && pattern[i] != ']' {
		if end := strings.Index(pattern[i:], ":]"); strings.HasPrefix(pattern[i:], "[:") && end >= 0 {
			i += end + len(":]")
		} else {
			i = nextConstruct(pattern, i)
		}
	}
	return min(i, len(pattern)-1)
}
