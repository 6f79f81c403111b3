package query

import (
	"slices"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
)

// boundKey is the bound key of a condition.
type boundKey struct {
	key       *Key // nil when the condition has none
	canonical *filter.Key
	fold      bool
}

// bindKey returns the values that a condition tests: the sources, and for open keys the names in them.
//
// A name made only of letters, digits, _ and - is exact; the parser has marked it so. A pattern that can match only one
// name is that exact name too.
func (b *binder) bindKey(field *catalog.Field, c *filter.Condition) ([]catalog.Source, boundKey, bool) {
	if c.Key == nil {
		return field.Sources, boundKey{fold: field.Keys == catalog.FoldedKeys}, true
	}
	if field.Keys == catalog.NoKey {
		b.fail(b.mergeDotted(c, keyNotTaken(field, c.Key)))
		return nil, boundKey{}, false
	}
	key, ok := b.parseKey(field, c.Key)
	if !ok {
		return nil, boundKey{}, false
	}
	if field.Keys != catalog.ClosedKeys {
		return field.Sources, key, true
	}
	sources := slices.Clone(field.Sources)
	sources = slices.DeleteFunc(sources, func(s catalog.Source) bool { return !key.key.Matches(s.Name) })
	if len(sources) == 0 {
		b.fail(b.mergeDotted(c, unknownKey(b.filter.Syntax, field, c.Key)))
		return nil, boundKey{}, false
	}
	return sources, key, true
}

// parseKey parses the text of a key as an exact name or a pattern.
func (b *binder) parseKey(field *catalog.Field, k *filter.Key) (boundKey, bool) {
	fold := field.Keys == catalog.FoldedKeys
	name := k.Text
	if !b.checkText(name, k.Span, "key") {
		return boundKey{}, false
	}
	if !k.Exact {
		pattern, exact, ok := b.parsePattern(keyValue(k), fold, "key")
		if !ok {
			return boundKey{}, false
		}
		if len(exact) != 1 {
			return boundKey{key: &Key{Pattern: pattern}, canonical: &filter.Key{Text: name}, fold: fold}, true
		}
		name = exact[0]
	}
	if fold {
		name = lowerASCII(name)
	}
	return boundKey{key: &Key{Name: name}, canonical: &filter.Key{Text: name, Exact: true}, fold: fold}, true
}

// keyValue returns the key as a value, to locate errors in it. The span of a key excludes its quotes, the span of a
// value includes them.
func keyValue(k *filter.Key) filter.Value {
	if !k.Quoted {
		return filter.Value{Text: k.Text, Span: k.Span}
	}
	quoted := filter.Span{Offset: k.Span.Offset - 1, Length: k.Span.Length + 2}
	return filter.Value{Text: k.Text, Quoted: true, Span: quoted}
}

// Matches reports whether the key selects the member with this name.
func (k *Key) Matches(name string) bool {
	if k.Pattern != nil {
		return k.Pattern.MatchString(name)
	}
	return k.Name == name
}

// lowerASCII lowers A to Z and leaves every other character alone.
func lowerASCII(s string) string {
	lowered := []byte(s)
	for i, c := range lowered {
		if 'A' <= c && c <= 'Z' {
			lowered[i] = c + 'a' - 'A'
		}
	}
	return string(lowered)
}
