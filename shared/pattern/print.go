package pattern

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// print prints a syntax tree as RE2 syntax that depends on no flag, no Unicode table and no peculiarity of an
// engine: it writes classes and case folds as code points, anchors as \A and \z, and drops captures. The result matches
// exactly the texts that the original matches. The extent of a match may differ, because laziness is dropped too.
func print(re *syntax.Regexp) string {
	var b strings.Builder
	write(&b, re)
	if hasEmptyMatchAtEndsOnly(re) {
		return b.String()
	}
	return "(" + b.String() + ")"
}

// hasEmptyMatchAtEndsOnly reports whether the only empty parts of a pattern are anchors at its ends. DuckDB 1.5.5
// rewrites sequences of literals as LIKE, and handles anchors and empty groups elsewhere incorrectly: k\A finds "k".
// A capture around the whole pattern prevents the rewriting.
func hasEmptyMatchAtEndsOnly(re *syntax.Regexp) bool {
	parts := []*syntax.Regexp{re}
	if re.Op == syntax.OpConcat {
		parts = re.Sub
	}
	if parts[0].Op == syntax.OpBeginText {
		parts = parts[1:]
	}
	if n := len(parts); n > 0 && parts[n-1].Op == syntax.OpEndText {
		parts = parts[:n-1]
	}
	return !slices.ContainsFunc(parts, hasEmptyMatch)
}

func hasEmptyMatch(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginText, syntax.OpEndText:
		return true
	}
	return slices.ContainsFunc(re.Sub, hasEmptyMatch)
}

// neverMatches is an empty character class: it matches nothing.
const neverMatches = `[^\x{0}-\x{10ffff}]`

func write(b *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpNoMatch:
		b.WriteString(neverMatches)
	case syntax.OpEmptyMatch:
		b.WriteString(`(?:)`)
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			writeLiteral(b, r, re.Flags&syntax.FoldCase != 0)
		}
	case syntax.OpCharClass:
		if len(re.Rune) == 0 {
			b.WriteString(neverMatches)
			return
		}
		writeClass(b, re.Rune)
	case syntax.OpAnyCharNotNL:
		b.WriteString(`[^\x{a}]`)
	case syntax.OpAnyChar:
		b.WriteString(`(?s:.)`)
	case syntax.OpBeginLine:
		b.WriteString(`(?m:^)`)
	case syntax.OpEndLine:
		b.WriteString(`(?m:$)`)
	case syntax.OpBeginText:
		b.WriteString(`\A`)
	case syntax.OpEndText:
		b.WriteString(`\z`)
	case syntax.OpWordBoundary:
		b.WriteString(`\b`)
	case syntax.OpNoWordBoundary:
		b.WriteString(`\B`)
	case syntax.OpCapture:
		writeGroup(b, re.Sub[0])
	case syntax.OpStar:
		writeRepeat(b, re.Sub[0], "*")
	case syntax.OpPlus:
		writeRepeat(b, re.Sub[0], "+")
	case syntax.OpQuest:
		writeRepeat(b, re.Sub[0], "?")
	case syntax.OpRepeat:
		writeRepeat(b, re.Sub[0], repeatCount(re.Min, re.Max))
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if sub.Op == syntax.OpAlternate {
				writeGroup(b, sub)
			} else {
				write(b, sub)
			}
		}
	case syntax.OpAlternate:
		for i, sub := range re.Sub {
			if i > 0 {
				b.WriteByte('|')
			}
			write(b, sub)
		}
	default:
		panic(fmt.Sprintf("query: unknown operator of a regular expression %v", re.Op))
	}
}

func writeGroup(b *strings.Builder, re *syntax.Regexp) {
	b.WriteString("(?:")
	write(b, re)
	b.WriteByte(')')
}

func writeRepeat(b *strings.Builder, re *syntax.Regexp, count string) {
	switch {
	case re.Op == syntax.OpCharClass, re.Op == syntax.OpAnyChar, re.Op == syntax.OpAnyCharNotNL,
		re.Op == syntax.OpCapture, re.Op == syntax.OpLiteral && len(re.Rune) == 1:
		write(b, re)
	default:
		writeGroup(b, re)
	}
	b.WriteString(count)
}

func repeatCount(low, high int) string {
	count := "{" + strconv.Itoa(low)
	if high != low {
		count += ","
		if high >= 0 {
			count += strconv.Itoa(high)
		}
	}
	return count + "}"
}

// writeLiteral prints one character; with fold, the class of all characters that differ from it only in case.
func writeLiteral(b *strings.Builder, r rune, fold bool) {
	if !fold || unicode.SimpleFold(r) == r {
		writeRune(b, r)
		return
	}
	b.WriteByte('[')
	writeRune(b, r)
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		writeRune(b, f)
	}
	b.WriteByte(']')
}

func writeClass(b *strings.Builder, ranges []rune) {
	b.WriteByte('[')
	for i := 0; i < len(ranges); i += 2 {
		writeRune(b, ranges[i])
		if ranges[i+1] > ranges[i] {
			b.WriteByte('-')
			writeRune(b, ranges[i+1])
		}
	}
	b.WriteByte(']')
}

// writeRune prints letters, digits and characters that are not an operator anywhere as they are, and all others by
// their code points.
func writeRune(b *strings.Builder, r rune) {
	if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("/_ ,;:=%@", r) {
		b.WriteByte(byte(r))
		return
	}
	b.WriteString(`\x{`)
	b.WriteString(strconv.FormatInt(int64(r), 16))
	b.WriteByte('}')
}

// wholeTexts lists the texts that a pattern matches when it is anchored at both ends and matches at most maxExact
// texts. Otherwise it returns nil.
func wholeTexts(re *syntax.Regexp) []string {
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	n := len(re.Sub)
	if re.Op != syntax.OpConcat || n < 2 || re.Sub[0].Op != syntax.OpBeginText || re.Sub[n-1].Op != syntax.OpEndText {
		return nil
	}
	return concatTexts(re.Sub[1 : n-1])
}

// texts lists the texts that a part of a pattern matches. It returns nil when there are more than maxExact, or when the
// part is of a kind that it does not expand.
func texts(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return []string{""}
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return []string{string(re.Rune)}
		}
	case syntax.OpCharClass:
		var all []string
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if all = append(all, string(r)); len(all) > maxExact {
					return nil
				}
			}
		}
		return all
	case syntax.OpCapture:
		return texts(re.Sub[0])
	case syntax.OpQuest:
		if all := texts(re.Sub[0]); all != nil && len(all) < maxExact {
			return append([]string{""}, all...)
		}
	case syntax.OpConcat:
		return concatTexts(re.Sub)
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			some := texts(sub)
			if all = append(all, some...); some == nil || len(all) > maxExact {
				return nil
			}
		}
		return all
	}
	return nil
}

func concatTexts(subs []*syntax.Regexp) []string {
	all := []string{""}
	for _, sub := range subs {
		ends := texts(sub)
		if ends == nil || len(all)*len(ends) > maxExact {
			return nil
		}
		longer := make([]string, 0, len(all)*len(ends))
		for _, begin := range all {
			for _, end := range ends {
				longer = append(longer, begin+end)
			}
		}
		all = longer
	}
	return all
}
