package filter

import (
	"regexp"
	"strings"
)

// In the JSON form one text says both what a key is and how it is read: session is a name, ^x\.y$ is the
// name x.y, anything else is a pattern. These functions go both ways.

// jsonKey reads a key of the JSON form.
func jsonKey(text string) Key {
	if plainKey(text) {
		return Key{Text: text, Exact: true}
	}
	return patternKey(text)
}

// patternKey reads a pattern. One that only one name can match is that name; (?:name) is how the JSON form
// writes a pattern that would else read as a name.
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

// MemberText is what stands for field.member in the place of a field's name: headers["host"], or in JSON, inside
// its quotes, headers","key":"host.
func MemberText(form Form, field, member string) string {
	if form == QueryString {
		return field + "[" + quote(member) + "]"
	}
	if !plainKey(member) {
		member = Key{Text: member, Exact: true}.jsonText()
	}
	return field + `","key":` + strings.TrimSuffix(jsonString(member), `"`)
}

// jsonText is the key as the JSON form writes it; jsonKey reads it back.
func (k Key) jsonText() string {
	switch {
	case k.Exact:
		return "^" + regexp.QuoteMeta(k.Text) + "$"
	case plainKey(k.Text):
		return "(?:" + k.Text + ")"
	}
	return k.Text
}

// plainKey tells whether a text is made only of letters, digits, _ and -.
func plainKey(text string) bool {
	for i := range len(text) {
		if c := text[i]; !isNameByte(c) && c != '-' {
			return false
		}
	}
	return text != ""
}

// anchoredName is the one text that ^…$ can match, if the inside is literal text with its special
// characters escaped.
func anchoredName(pattern string) (string, bool) {
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

// isPunctuation tells which characters RE2 takes literally after a backslash.
func isPunctuation(c byte) bool {
	return c > ' ' && c < 0x7f && (c == '_' || !isNameByte(c))
}

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}
