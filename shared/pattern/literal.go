package pattern

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// literals are the texts that a pattern looks for. It matches if it finds one of them: ^/login(/|$) looks for /login/
// at the begin, and for /login as the whole text. That is several times faster than running the pattern.
type literals struct {
	list []literal
	fold bool // texts are in lower case, and a text is folded before
}

// literal is a text to look for: anywhere, or only at the begin, at the end, or both.
type literal struct {
	text       string
	begin, end bool
}

// maxLiterals is the largest number of texts that are looked for, one after the other.
const maxLiterals = 64

// literalsOf returns the texts that a pattern looks for, or nil if it has a part of another kind, or letters both in any case
// and in one case.
func literalsOf(re *syntax.Regexp) *literals {
	folded, exact := letters(re)
	list, ok := expand(re)
	if !ok || folded && exact {
		return nil
	}
	return &literals{list, folded}
}

// letters reports whether a part of a pattern has letters in any case, and letters in one case.
func letters(re *syntax.Regexp) (folded, exact bool) {
	switch re.Op {
	case syntax.OpLiteral:
		fold := re.Flags&syntax.FoldCase != 0
		return fold, !fold && slices.ContainsFunc(re.Rune, unicode.IsLetter)
	case syntax.OpCharClass:
		return false, true
	}
	for _, sub := range re.Sub {
		f, e := letters(sub)
		folded, exact = folded || f, exact || e
	}
	return folded, exact
}

// expand lists the alternatives of a part of a pattern. It is false if there are more than maxLiterals, or if the part is of
// a kind that it does not expand.
func expand(re *syntax.Regexp) (all []literal, ok bool) {
	switch re.Op {
	case syntax.OpNoMatch:
		return nil, true
	case syntax.OpEmptyMatch:
		return []literal{{}}, true
	case syntax.OpBeginText:
		return []literal{{begin: true}}, true
	case syntax.OpEndText:
		return []literal{{end: true}}, true
	case syntax.OpLiteral:
		text := string(re.Rune)
		if re.Flags&syntax.FoldCase != 0 {
			text = strings.ToLower(text)
		}
		return []literal{{text: text}}, isASCII(text)
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i+1] > unicode.MaxASCII || len(all)+int(re.Rune[i+1]-re.Rune[i]) >= maxLiterals {
				return nil, false
			}
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				all = append(all, literal{text: string(r)})
			}
		}
		return all, true
	case syntax.OpCapture:
		return expand(re.Sub[0])
	case syntax.OpQuest:
		all, ok = expand(re.Sub[0])
		return append(all, literal{}), ok && len(all) < maxLiterals
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			some, ok := expand(sub)
			if all = append(all, some...); !ok || len(all) > maxLiterals {
				return nil, false
			}
		}
		return all, true
	case syntax.OpConcat:
		all = []literal{{}}
		for _, sub := range re.Sub {
			ends, ok := expand(sub)
			if !ok || len(all)*len(ends) > maxLiterals {
				return nil, false
			}
			all = joined(all, ends)
		}
		return all, true
	default:
		return nil, false
	}
}

// joined returns each begin followed by each end, without those that no text has, such as a$b.
func joined(begins, ends []literal) (all []literal) {
	for _, a := range begins {
		for _, b := range ends {
			if a.end && b.text != "" || b.begin && a.text != "" {
				continue
			}
			all = append(all, literal{a.text + b.text, a.begin || b.begin, a.end || b.end})
		}
	}
	return all
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// in reports whether one of the texts is in a text. It cannot tell if case is folded and the text is not ASCII, because
// some letters beyond ASCII fold to letters of ASCII.
func (l *literals) in(text string) (found, known bool) {
	if l.fold {
		if !isASCII(text) {
			return false, false
		}
		text = strings.ToLower(text)
	}
	for _, one := range l.list {
		switch {
		case one.begin && one.end:
			found = text == one.text
		case one.begin:
			found = strings.HasPrefix(text, one.text)
		case one.end:
			found = strings.HasSuffix(text, one.text)
		default:
			found = strings.Contains(text, one.text)
		}
		if found {
			return true, true
		}
	}
	return false, true
}
