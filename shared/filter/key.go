package filter

import (
	"regexp"
	"strings"
)

// In the JSON form, the text of a key determines whether the key is a name or a pattern: session is a name, ^x\.y$ is
// the name x.y, and anything else is a pattern. The functions below convert in both directions.

// jsonKey parses a key of the JSON form.
func jsonKey(text string) Key {
	if plainKey(text) {
		return Key{Text: text, Exact: true}
	}
	return patternKey(text)
}

// patternKey parses a pattern. A pattern that only one name can match becomes that name. The JSON form writes
// (?:name) for a pattern that would be read as a name otherwise.
func patternKey(pattern string) Key {
	if name, ok := anchoredName(pattern); ok {
		return Key{Text: name, Exact: true}
	}
	if inner, ok := strings.CutPrefix(pattern, "(?:"); ok {
		if inner, ok = strings.CutSuffix(inner, ")"); ok && plainKey(inner) {
			return Key{Text: inner}
		}
	}
	return Key{Text: pattern}
}

// MemberText returns the correction of field.member in the place of a field's name: headers["host"], or in JSON,
// inside the quotes of the name, headers","key":"host.
func MemberText(syntax Syntax, field, member string) string {
	if syntax == QueryString {
		return field + "[" + Quote(member) + "]"
	}
	if !plainKey(member) {
		member = Key{Text: member, Exact: true}.jsonText()
	}
	return field + `","key":` + strings.TrimSuffix(jsonString(member), `"`)
}

// jsonText returns the key in the JSON form. It is the inverse of jsonKey.
func (k Key) jsonText() string {
	switch {
	case k.Exact:
		return "^" + regexp.QuoteMeta(k.Text) + "$"
	case plainKey(k.Text):
		return "(?:" + k.Text + ")"
	}
	return k.Text
}

// plainKey reports whether text consists only of letters, digits, _ and -, and is not empty.
func plainKey(text string) bool {
	for i := range len(text) {
		if c := text[i]; !isNameByte(c) && c != '-' {
			return false
		}
	}
	return text != ""
}

// anchoredName returns the only text that a pattern ^…$ can match. ok is false unless the part between the anchors is
// literal text with its special characters escaped.
func anchoredName(pattern string) (text string, ok bool) {
	inside, ok := strings.CutPrefix(pattern, "^")
	if !ok {
		return "", false
	}
	var name strings.Builder
	for i := 0; i < len(inside); i++ {
		switch c := inside[i]; {
		case c == '$':
			return name.String(), i == len(inside)-1
		case c == '\\':
			i++
			if i == len(inside) || !isPunctuation(inside[i]) {
				return "", false
			}
			name.WriteByte(inside[i])
		case strings.IndexByte(`.+*?()|[]{}^`, c) >= 0:
			return "", false
		default:
			name.WriteByte(c)
		}
	}
	return "", false
}

// isPunctuation reports whether RE2 takes c literally after a backslash.
func isPunctuation(c byte) bool {
	return c > ' ' && c < 0x7f && (c == '_' || !isNameByte(c))
}

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}
