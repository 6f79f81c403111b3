package pattern

import (
	"fmt"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
)

// Joni prints a canonical RE2 pattern so that Joni, the engine behind regexp_like on Athena and Trino, finds it in
// exactly the same texts. Joni refuses one random pattern in twelve, or reads it differently, if it is not translated:
// $ also matches before a final line break, \b knows Unicode letters, \s matches the vertical tab, [ nests inside
// classes, (?i) folds one character to several. So the output uses Joni's own syntax for letters, digits and groups
// only: anchors and word boundaries become look-arounds, folds become classes, and every other character its code
// point.
//
// Joni backtracks. Nested repeats are simplified. If a repeat remains that can match the same text in exponentially
// many ways, Joni returns a warning.
func Joni(pattern string) (text, warning string) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		panic(fmt.Sprintf("pattern: canonical pattern %q does not parse: %v", pattern, err))
	}
	tree = plain(tree)
	if ambiguous(tree) {
		warning = "regular expression " + strconv.Quote(pattern) +
			" repeats something that can match the same text in many ways: Athena could search for ever"
	}
	var w joniWriter
	w.write(tree)
	return w.String(), warning
}

// plain removes everything from the tree that does not affect whether a text matches: captures, greediness, and
// repeats of repeats, so that (a+)+ becomes a+. It removes repeats of empty matches, which Joni refuses.
func plain(re *syntax.Regexp) *syntax.Regexp {
	out := *re
	out.Flags &^= syntax.NonGreedy
	out.Sub = make([]*syntax.Regexp, len(re.Sub))
	for i, sub := range re.Sub {
		out.Sub[i] = plain(sub)
	}
	switch out.Op {
	case syntax.OpCapture:
		return out.Sub[0]
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		return plainRepeat(&out)
	}
	return &out
}

func plainRepeat(re *syntax.Regexp) *syntax.Regexp {
	sub := re.Sub[0]
	if matchesOnlyEmpty(sub) {
		return &syntax.Regexp{Op: syntax.OpEmptyMatch}
	}
	outer, ok := boundsOf(re)
	inner, nested := boundsOf(sub)
	if !ok || !nested {
		return re
	}
	// Two nested repeats are one repeat if the counts they allow together have no gap. That is so if either is
	// unbounded and the inner one may run once.
	if inner.min > 1 || (inner.max >= 0 && outer.max >= 0) || (inner.max >= 0 && inner.max < 1) {
		return re
	}
	product := bounds{outer.min * inner.min, -1}
	if outer.max == 0 {
		return &syntax.Regexp{Op: syntax.OpEmptyMatch}
	}
	return product.of(sub.Sub[0])
}

// bounds is the minimum and maximum number of repeats. A max of -1 means no maximum.
type bounds struct{ min, max int }

func boundsOf(re *syntax.Regexp) (bounds, bool) {
	switch re.Op {
	case syntax.OpStar:
		return bounds{0, -1}, true
	case syntax.OpPlus:
		return bounds{1, -1}, true
	case syntax.OpQuest:
		return bounds{0, 1}, true
	case syntax.OpRepeat:
		return bounds{re.Min, re.Max}, true
	}
	return bounds{}, false
}

func (b bounds) of(sub *syntax.Regexp) *syntax.Regexp {
	re := &syntax.Regexp{Op: syntax.OpRepeat, Min: b.min, Max: b.max, Sub: []*syntax.Regexp{sub}}
	switch b {
	case bounds{0, -1}:
		re.Op = syntax.OpStar
	case bounds{1, -1}:
		re.Op = syntax.OpPlus
	case bounds{0, 1}:
		re.Op = syntax.OpQuest
	}
	return re
}

// matchesOnlyEmpty reports whether the tree consists of empty matches only.
func matchesOnlyEmpty(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return true
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat, syntax.OpConcat, syntax.OpAlternate:
		for _, sub := range re.Sub {
			if !matchesOnlyEmpty(sub) {
				return false
			}
		}
		return true
	}
	return false
}

type joniWriter struct{ strings.Builder }

const (
	wordByte = `[0-9A-Za-z_]`
	// The ends of texts and lines are look-aheads. If a pattern can match only at the end of the text (\z), Joni
	// searches only the last few bytes and misses the end itself after a character of several bytes: it does not find
	// [a-c]\z|\z in "É".
	atEnd         = `(?!(?s:.))`
	beforeLineEnd = `(?![^\x{a}])`
	noMatch       = `(?!)`
)

func (w *joniWriter) write(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpNoMatch:
		w.WriteString(noMatch)
	case syntax.OpEmptyMatch:
		w.WriteString(`(?:)`)
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			w.literal(r, re.Flags&syntax.FoldCase != 0)
		}
	case syntax.OpCharClass:
		w.class(re.Rune)
	case syntax.OpAnyCharNotNL:
		w.WriteString(`[^\x{a}]`)
	case syntax.OpAnyChar:
		w.WriteString(`(?s:.)`)
	case syntax.OpBeginLine:
		w.WriteString(`(?:\A|(?<=\x{a}))`)
	case syntax.OpEndLine:
		w.WriteString(beforeLineEnd)
	case syntax.OpBeginText:
		w.WriteString(`\A`)
	case syntax.OpEndText:
		w.WriteString(atEnd)
	case syntax.OpWordBoundary:
		w.WriteString(`(?:(?<=` + wordByte + `)(?!` + wordByte + `)|(?<!` + wordByte + `)(?=` + wordByte + `))`)
	case syntax.OpNoWordBoundary:
		w.WriteString(`(?:(?<=` + wordByte + `)(?=` + wordByte + `)|(?<!` + wordByte + `)(?!` + wordByte + `))`)
	case syntax.OpStar:
		w.repeat(re.Sub[0], "*")
	case syntax.OpPlus:
		w.repeat(re.Sub[0], "+")
	case syntax.OpQuest:
		w.repeat(re.Sub[0], "?")
	case syntax.OpRepeat:
		w.repeat(re.Sub[0], counts(re.Min, re.Max))
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			w.inConcat(sub)
		}
	case syntax.OpAlternate:
		for i, sub := range re.Sub {
			if i > 0 {
				w.WriteByte('|')
			}
			w.write(sub)
		}
	default:
		panic(fmt.Sprintf("sqlgen: no rendering for regexp operator %v", re.Op))
	}
}

func (w *joniWriter) inConcat(sub *syntax.Regexp) {
	if sub.Op == syntax.OpAlternate {
		w.group(sub)
		return
	}
	w.write(sub)
}

func (w *joniWriter) group(sub *syntax.Regexp) {
	w.WriteString("(?:")
	w.write(sub)
	w.WriteString(")")
}

func (w *joniWriter) repeat(sub *syntax.Regexp, times string) {
	w.group(sub)
	w.WriteString(times)
}

func counts(least, most int) string {
	switch most {
	case least:
		return fmt.Sprintf("{%d}", least)
	case -1:
		return fmt.Sprintf("{%d,}", least)
	}
	return fmt.Sprintf("{%d,%d}", least, most)
}

// literal writes one character. With fold it writes a class of all its cases.
func (w *joniWriter) literal(r rune, fold bool) {
	if !fold || unicode.SimpleFold(r) == r {
		w.WriteString(character(r))
		return
	}
	w.WriteByte('[')
	w.WriteString(character(r))
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		w.WriteString(character(f))
	}
	w.WriteByte(']')
}

// class writes ranges of characters.
func (w *joniWriter) class(ranges []rune) {
	if len(ranges) == 0 {
		w.WriteString(noMatch)
		return
	}
	w.WriteByte('[')
	for i := 0; i < len(ranges); i += 2 {
		w.WriteString(character(ranges[i]))
		if ranges[i+1] > ranges[i] {
			w.WriteString("-" + character(ranges[i+1]))
		}
	}
	w.WriteByte(']')
}

// character returns a character in a form that means itself everywhere in a pattern.
func character(r rune) string {
	if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
		return string(r)
	}
	return fmt.Sprintf(`\x{%x}`, r)
}
