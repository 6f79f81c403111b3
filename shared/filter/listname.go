package filter

import "regexp"

// validListName has the form of names of lists of values: a name, before it a configuration and a slash, and after it a
// colon and the number of a version. The configuration and the version may be missing.
var validListName = regexp.MustCompile(
	`\A(?:[A-Za-z0-9][A-Za-z0-9_.-]{0,63}/)?[a-z0-9-]{1,64}(?::[1-9][0-9]{0,8})?\z`)

// ValidListName reports whether a text has the form of the name of a list of values, without the @ before it.
func ValidListName(text string) bool { return validListName.MatchString(text) }

// namesList reports whether the condition names a list of values instead of values.
func (c Condition) namesList() bool { return len(c.Values) == 1 && c.Values[0].Kind == ListName }

// ListNames returns the names of lists of values in the conditions of the filter, in the order of the text.
func (f Filter) ListNames() []string {
	var names []string
	for _, c := range f.Conditions {
		if c.namesList() {
			names = append(names, c.Values[0].Text)
		}
	}
	return names
}
