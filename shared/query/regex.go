package query

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/filter"
)

// Regex is a user's RE2 pattern, parsed once and re-printed canonically. Only the re-print reaches an engine.
type Regex struct {
	Source    string // as written, for the canonical filter
	Canonical string // RE2 syntax, printed from the syntax tree
	Compiled  *regexp.Regexp

	size int // of the program, in instructions
}

// maxPattern is the longest pattern, in bytes.
const maxPattern = 4096

// maxExact is how many texts a pattern may stand for and still be bound as those texts.
const maxExact = 32

// parseRegex reads a pattern as Go's regexp/syntax does, with fold as if it began with (?i). When the pattern,
// without fold, can match only a few whole texts (^/login$), these are returned beside it: equality is what
// engines can look up.
func parseRegex(pattern string, fold bool) (*Regex, []string, *regexProblem) {
	if len(pattern) > maxPattern {
		return nil, nil, &regexProblem{code: codeRegexTooLarge, what: "pattern over 4 kB", length: len(pattern)}
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, nil, explainRegex(pattern, err)
	}
	exact := wholeTexts(tree)
	if fold {
		if tree, err = syntax.Parse(pattern, syntax.Perl|syntax.FoldCase); err != nil {
			return nil, nil, explainRegex(pattern, err)
		}
	}
	size := programSize(tree)
	if size > maxProgram {
		return nil, nil, &regexProblem{code: codeRegexTooLarge, what: "too large once compiled", length: len(pattern)}
	}
	canonical := printRegex(tree)
	compiled, err := regexp.Compile(canonical)
	if err != nil {
		return nil, nil, &regexProblem{code: codeRegexTooLarge, what: err.Error(), length: len(pattern)}
	}
	return &Regex{Source: pattern, Canonical: canonical, Compiled: compiled, size: size}, exact, nil
}

// parsePattern reads a pattern of the filter, or records why it is refused and where in the filter's text.
func (b *binder) parsePattern(v filter.Value, fold bool, member string) (*Regex, []string, bool) {
	pattern, exact, problem := parseRegex(v.Text, fold)
	if problem == nil {
		b.programs += pattern.size
		if b.programs <= maxPrograms {
			return pattern, exact, true
		}
		problem = &regexProblem{code: codeRegexTooLarge, what: "all patterns together are too large once compiled", length: len(v.Text)}
	}
	span := v.Span
	if span.Length > 0 { // a filter that was not parsed has no text to point into
		span = b.filter.Within(v, problem.offset, problem.offset+problem.length)
	}
	b.fail(regexRefused(problem, span, member))
	return nil, nil, false
}

// regexProblem is why a pattern is refused: a code, the construct, and where it stands in the pattern.
type regexProblem struct {
	code           string
	what           string
	offset, length int
}

// explainRegex finds the construct that the parser could not take.
func explainRegex(pattern string, err error) *regexProblem {
	var e *syntax.Error
	if !errors.As(err, &e) {
		return &regexProblem{code: codeRegexSyntax, what: err.Error(), length: len(pattern)}
	}
	at := func(code, what, expr string) *regexProblem {
		return &regexProblem{code: code, what: what, offset: findConstruct(pattern, expr), length: len(expr)}
	}
	switch e.Code {
	case syntax.ErrInvalidPerlOp, syntax.ErrInvalidNamedCapture:
		offset := findConstruct(pattern, e.Expr)
		prefix, name := groupName(pattern[offset:])
		return &regexProblem{code: codeRegexUnsupported, what: name + " " + prefix, offset: offset, length: len(prefix)}
	case syntax.ErrInvalidEscape:
		if what := escapeName(e.Expr); what != "" {
			return at(codeRegexUnsupported, what, e.Expr)
		}
		return at(codeRegexSyntax, "unknown escape "+e.Expr, e.Expr)
	case syntax.ErrInvalidRepeatOp:
		if strings.HasSuffix(e.Expr, "+") {
			return at(codeRegexUnsupported, "possessive quantifier "+e.Expr, e.Expr)
		}
		return at(codeRegexSyntax, "repeat of a repeat "+e.Expr, e.Expr)
	case syntax.ErrInvalidRepeatSize:
		return at(codeRegexUnsupported, "repeat over 1000 in all "+e.Expr, e.Expr)
	case syntax.ErrLarge, syntax.ErrNestingDepth:
		return &regexProblem{code: codeRegexTooLarge, what: "too large once compiled", length: len(pattern)}
	case syntax.ErrMissingParen:
		return &regexProblem{code: codeRegexSyntax, what: "unclosed (", offset: unclosedGroup(pattern), length: 1}
	case syntax.ErrUnexpectedParen:
		return &regexProblem{code: codeRegexSyntax, what: "unexpected )", offset: unopenedGroup(pattern), length: 1}
	case syntax.ErrTrailingBackslash:
		return &regexProblem{code: codeRegexSyntax, what: `trailing \`, offset: len(pattern) - 1, length: 1}
	}
	return at(codeRegexSyntax, e.Code.String()+" "+e.Expr, e.Expr)
}

// groupName names a group beginning with (? that RE2 does not have.
func groupName(group string) (prefix, name string) {
	for _, g := range []struct{ prefix, name string }{
		{"(?=", "look-ahead"}, {"(?!", "negative look-ahead"},
		{"(?<=", "look-behind"}, {"(?<!", "negative look-behind"},
		{"(?>", "atomic group"}, {"(?(", "conditional group"}, {"(?#", "comment group"},
		{"(?|", "branch reset group"}, {"(?R", "recursion"}, {"(?&", "recursion"},
		{"(?P=", "back-reference"}, {"(?P>", "recursion"},
		{"(?P<", "badly named group"}, {"(?<", "badly named group"},
	} {
		if strings.HasPrefix(group, g.prefix) {
			return g.prefix, g.name
		}
	}
	return group[:min(len(group), 3)], "such group"
}

// escapeName names an escape that other languages have and RE2 has not, or gives "".
func escapeName(escape string) string {
	if len(escape) < 2 {
		return ""
	}
	switch c := escape[1]; {
	case '1' <= c && c <= '9', c == 'k', c == 'g':
		return "back-reference " + escape
	case c == 'Z', c == 'G', c == 'K':
		return "anchor " + escape
	case c == 'h', c == 'H', c == 'R', c == 'X', c == 'V', c == 'N':
		return "character class " + escape
	case c == 'u', c == 'U':
		return "escape " + escape + ` (write \x{…})`
	}
	return ""
}

// findConstruct finds where expr begins in the pattern, at a place where a construct can begin: not behind a
// backslash, not inside \Q…\E.
func findConstruct(pattern, expr string) int {
	for i := 0; i < len(pattern); i = nextConstruct(pattern, i) {
		if strings.HasPrefix(pattern[i:], expr) {
			return i
		}
	}
	return max(strings.Index(pattern, expr), 0)
}

// nextConstruct steps over one character, escape or quotation.
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

// unclosedGroup finds the innermost "(" that is never closed.
func unclosedGroup(pattern string) int {
	open, _ := matchGroups(pattern)
	if len(open) == 0 {
		return 0
	}
	return open[len(open)-1]
}

// unopenedGroup finds the first ")" that closes nothing.
func unopenedGroup(pattern string) int {
	_, stray := matchGroups(pattern)
	return max(stray, 0)
}

// matchGroups pairs parentheses outside of classes; it gives those left open and the first stray ")", or -1.
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

// classEnd finds the "]" that closes the class at an offset: not one that comes first in it, nor that of [:alpha:].
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
