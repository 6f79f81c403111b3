package pattern

import (
	"regexp/syntax"
	"slices"
	"unicode"
)

// ambiguous reports whether a backtracking engine may need time exponential in the length of the text. It does if the
// same text can pass a loop of the pattern's automaton in two ways. Patterns that need polynomial time (.*.*) are not
// ambiguous: the engine's limit on running time protects against them.
//
// A counted repeat is treated as a loop, because (a|a){30} is as bad as (a|a)*.
func ambiguous(tree *syntax.Regexp) bool {
	if !hasRepeat(tree) {
		return false
	}
	prog, err := syntax.Compile(looped(tree).Simplify())
	if err != nil {
		return true
	}
	a, ok := automatonOf(prog)
	return !ok || a.loopsTwice() || a.steps > maxSteps
}

func hasRepeat(re *syntax.Regexp) bool {
	if _, ok := boundsOf(re); ok {
		return true
	}
	return slices.ContainsFunc(re.Sub, hasRepeat)
}

// looped replaces counted repeats by unlimited ones.
func looped(re *syntax.Regexp) *syntax.Regexp {
	out := *re
	out.Sub = make([]*syntax.Regexp, len(re.Sub))
	for i, sub := range re.Sub {
		out.Sub[i] = looped(sub)
	}
	if out.Op == syntax.OpRepeat {
		out.Op = syntax.OpStar
	}
	return &out
}

// automaton has a state for each character that the pattern reads, and for each state the states that can follow it.
type automaton struct {
	prog   *syntax.Prog
	states []uint32 // instruction of each state
	next   [][]edge
	steps  int // work done so far
}

type edge struct {
	to    int
	twice bool // several ways lead there without reading a character in between
}

// The limits of the analysis, whose time grows with the square of the number of states. Larger patterns count as
// ambiguous.
const (
	maxStates = 400
	maxSteps  = 2_000_000
)

func automatonOf(prog *syntax.Prog) (*automaton, bool) {
	a := &automaton{prog: prog}
	number := map[uint32]int{}
	for pc := range prog.Inst {
		if readsCharacter(&prog.Inst[pc]) {
			number[uint32(pc)] = len(a.states)
			a.states = append(a.states, uint32(pc))
		}
	}
	if len(a.states) > maxStates {
		return nil, false
	}
	for _, pc := range a.states {
		ways := map[uint32]int{}
		if !a.follow(prog.Inst[pc].Out, map[uint32]int{}, ways) {
			return nil, false
		}
		var edges []edge
		for to, n := range ways {
			edges = append(edges, edge{number[to], n > 1})
		}
		slices.SortFunc(edges, func(x, y edge) int { return x.to - y.to })
		a.next = append(a.next, edges)
	}
	return a, true
}

func readsCharacter(inst *syntax.Inst) bool {
	switch inst.Op {
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return true
	}
	return false
}

// follow counts the ways from pc to each state that read no character. It assumes that anchors hold. A way may pass an
// instruction twice: once to leave a round of a loop and once in the next round, as in (a*b*)*. follow returns false
// after maxSteps.
func (a *automaton) follow(pc uint32, onWay, ways map[uint32]int) bool {
	if a.steps++; a.steps > maxSteps {
		return false
	}
	inst := &a.prog.Inst[pc]
	switch {
	case readsCharacter(inst):
		ways[pc]++
		return true
	case inst.Op == syntax.InstMatch || inst.Op == syntax.InstFail || onWay[pc] == 2:
		return true
	}
	onWay[pc]++
	defer func() { onWay[pc]-- }()
	if inst.Op == syntax.InstAlt || inst.Op == syntax.InstAltMatch {
		if !a.follow(inst.Arg, onWay, ways) {
			return false
		}
	}
	return a.follow(inst.Out, onWay, ways)
}

// loopsTwice reports whether the automaton has a state from which some text leads back to that state in two ways. Two
// such ways are a cycle of pairs of states, which read the same text: the cycle contains a pair of equal states and a
// pair of different ones.
func (a *automaton) loopsTwice() bool {
	n := len(a.states)
	component := a.components()
	parted := make(map[int]bool)
	for p := range n {
		for q := range n {
			if p != q && component[p*n+q] >= 0 {
				parted[component[p*n+q]] = true
			}
		}
	}
	for q := range n {
		c := component[q*n+q]
		if c >= 0 && parted[c] {
			return true
		}
		for _, e := range a.next[q] {
			if c >= 0 && e.twice && component[e.to*n+e.to] == c {
				return true
			}
		}
	}
	return false
}

// components returns the number of the strongly connected component of each pair of states, or -1 for pairs that are
// on no cycle. It is Tarjan's algorithm with an explicit stack.
func (a *automaton) components() []int {
	n := len(a.states)
	meets := a.meetings()
	var (
		component = make([]int, n*n)
		index     = make([]int, n*n) // order of discovery, from 1
		low       = make([]int, n*n)
		onStack   = make([]bool, n*n)
		stack     []int
		found     int
		number    int
	)
	type frame struct {
		pair, child int
		next        []int
	}
	for i := range component {
		component[i] = -1
	}
	for q := range n {
		if index[q*n+q] != 0 {
			continue
		}
		frames := []frame{{pair: -1, next: []int{q*n + q}}}
		for len(frames) > 0 {
			f := &frames[len(frames)-1]
			if f.child < len(f.next) {
				child := f.next[f.child]
				f.child++
				if index[child] == 0 {
					found++
					index[child], low[child] = found, found
					stack, onStack[child] = append(stack, child), true
					frames = append(frames, frame{pair: child, next: a.pairsAfter(child, meets)})
				} else if onStack[child] && f.pair >= 0 {
					low[f.pair] = min(low[f.pair], index[child])
				}
				continue
			}
			frames = frames[:len(frames)-1]
			if f.pair < 0 {
				continue
			}
			if parent := frames[len(frames)-1].pair; parent >= 0 {
				low[parent] = min(low[parent], low[f.pair])
			}
			if low[f.pair] != index[f.pair] {
				continue
			}
			at := len(stack) - 1
			for stack[at] != f.pair {
				at--
			}
			members := stack[at:]
			onCycle := len(members) > 1 || slices.Contains(f.next, f.pair)
			for _, m := range members {
				onStack[m] = false
				if onCycle {
					component[m] = number
				}
			}
			number++
			stack = stack[:at]
		}
	}
	return component
}

// pairsAfter lists the pairs that can follow a pair if both states read the same character next.
func (a *automaton) pairsAfter(pair int, meets []bool) []int {
	n := len(a.states)
	if a.steps += len(a.next[pair/n]) * len(a.next[pair%n]); a.steps > maxSteps {
		return nil
	}
	var out []int
	for _, e := range a.next[pair/n] {
		for _, f := range a.next[pair%n] {
			if meets[e.to*n+f.to] {
				out = append(out, e.to*n+f.to)
			}
		}
	}
	return out
}

// meetings returns, for every pair of states, whether both can read the same character.
func (a *automaton) meetings() []bool {
	n := len(a.states)
	out := make([]bool, n*n)
	for p := range n {
		for q := p; q < n; q++ {
			met := meet(&a.prog.Inst[a.states[p]], &a.prog.Inst[a.states[q]])
			out[p*n+q], out[q*n+p] = met, met
		}
	}
	return out
}

// meet reports whether two instructions can read the same character. Two sets of ranges share a character if and only
// if the first character of a range of one is in the other.
func meet(x, y *syntax.Inst) bool {
	shared := func(r rune) bool { return x.MatchRune(r) && y.MatchRune(r) }
	return slices.ContainsFunc(firsts(x), shared) || slices.ContainsFunc(firsts(y), shared)
}

// firsts lists the first character of each range that an instruction reads. For a single character it lists all cases.
func firsts(inst *syntax.Inst) []rune {
	switch {
	case inst.Op == syntax.InstRuneAny || inst.Op == syntax.InstRuneAnyNotNL:
		return []rune{0}
	case len(inst.Rune) == 1:
		r := inst.Rune[0]
		all := []rune{r}
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			all = append(all, f)
		}
		return all
	}
	var out []rune
	for i := 0; i < len(inst.Rune); i += 2 {
		out = append(out, inst.Rune[i])
	}
	return out
}
