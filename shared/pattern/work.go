package pattern

import "regexp/syntax"

// FewWork is the work of patterns that need no limit: ordinary ones, and lists of some hundred words.
const FewWork = 1_000

// mostWork is the limit of the estimate. A repeat can be inside another one, so sums are kept below it.
const mostWork = 1 << 30

// WorkOf estimates how much work a pattern can cause for each byte of a text. Go's engine and RE2 take time that is
// linear in the text, but the factor can be as large as the program: (a?){1000} tries a thousand instructions at every
// byte.
//
// WorkOf returns about the number of instructions that an engine may have to try at one byte. These are the
// instructions of repeats and options, because a text can be in many places of them at once, and the classes of
// characters. Literal text counts only inside repeats. Of alternatives, the outermost ones count: the others are not
// tried before a literal text has matched.
func WorkOf(re *syntax.Regexp) int { return workOf(re, false, false) }

// workOf is WorkOf for a part of an expression, which may be inside a repeat or inside an alternative.
func workOf(re *syntax.Regexp, repeated, alternative bool) int {
	work := 0
	switch re.Op {
	case syntax.OpLiteral:
		if repeated {
			work = len(re.Rune)
		}
		return work
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest:
		return atMost(1 + workOf(re.Sub[0], true, alternative))
	case syntax.OpRepeat:
		copies := max(re.Min, re.Max, 1)
		return atMost(copies * (1 + workOf(re.Sub[0], true, alternative)))
	case syntax.OpAlternate:
		if !alternative || repeated {
			work = len(re.Sub)
		}
		alternative = true
	}
	for _, sub := range re.Sub {
		work = atMost(work + workOf(sub, repeated, alternative))
	}
	return work
}

func atMost(work int) int { return min(work, mostWork) }
