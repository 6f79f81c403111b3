package pattern

import (
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// MaxProgram is the largest program of a pattern, in instructions. RE2 accepts a program of two thirds of its 8 MB, at
// 8 bytes per instruction: 699,000. DuckDB 1.5.5 refuses classes such as \pL, for which our count is nearly exact, from
// 692,000 instructions on. For everything else we count more than RE2 does.
const MaxProgram = 500_000

// programSize returns an upper bound of the number of instructions to which RE2 compiles a pattern.
func programSize(re *syntax.Regexp) int {
	size := 2
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			size += literalSize(r, re.Flags&syntax.FoldCase != 0)
		}
		return size
	case syntax.OpCharClass:
		return size + classSize(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return size + classSize([]rune{0, unicode.MaxRune})
	case syntax.OpRepeat:
		copies := max(re.Min, re.Max, 1)
		if re.Max < 0 {
			copies++
		}
		return saturate(size + copies*(programSize(re.Sub[0])+2))
	}
	for _, sub := range re.Sub {
		size = saturate(size + programSize(sub))
	}
	return size
}

// saturate keeps nested repeats from overflowing the count.
func saturate(size int) int { return min(size, MaxProgram+1) }

func literalSize(r rune, fold bool) int {
	size := utf8.RuneLen(r)
	if !fold {
		return size
	}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		size += utf8.RuneLen(f) + 1
	}
	return size
}

// classSize counts the byte ranges of a class of characters in UTF-8, and the choices between them. As in RE2,
// sequences with equal first bytes share them, and equal last bytes count once.
func classSize(ranges []rune) int {
	size := 0
	lasts := map[byteRange]bool{}
	var before []byteRange
	for i := 0; i < len(ranges); i += 2 {
		splitRange(ranges[i], ranges[i+1], func(bytes []byteRange) {
			first, last := bytes[:len(bytes)-1], bytes[len(bytes)-1]
			shared := 0
			for shared < min(len(first), len(before)) && first[shared] == before[shared] {
				shared++
			}
			size += 1 + len(first) - shared
			lasts[last] = true
			before = first
		})
	}
	return size + len(lasts)
}

type byteRange struct{ low, high byte }

// splitRange splits a range of characters into sequences of independent byte ranges, in order.
func splitRange(low, high rune, emit func(bytes []byteRange)) {
	if low < 0xE000 && high >= 0xD800 { // surrogates have no encoding
		if low < 0xD800 {
			splitRange(low, 0xD7FF, emit)
		}
		if high > 0xDFFF {
			splitRange(0xE000, high, emit)
		}
		return
	}
	for _, top := range []rune{0x7F, 0x7FF, 0xFFFF} {
		if low <= top && top < high {
			splitRange(low, top, emit)
			splitRange(top+1, high, emit)
			return
		}
	}
	for bits := 6; bits < 21; bits += 6 {
		mask := rune(1)<<bits - 1
		if low&^mask == high&^mask || high <= 0x7F {
			continue
		}
		if low&mask != 0 {
			splitRange(low, low|mask, emit)
			splitRange((low|mask)+1, high, emit)
			return
		}
		if high&mask != mask {
			splitRange(low, high&^mask-1, emit)
			splitRange(high&^mask, high, emit)
			return
		}
	}
	var from, to [utf8.UTFMax]byte
	n := utf8.EncodeRune(from[:], low)
	utf8.EncodeRune(to[:], high)
	bytes := make([]byteRange, n)
	for i := range bytes {
		bytes[i] = byteRange{from[i], to[i]}
	}
	emit(bytes)
}
