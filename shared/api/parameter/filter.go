package parameter

import (
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/api/content"
)

// FilterOf returns the filter in a body of the parse route: the member "filters" of an object, a JSON filter itself,
// the field "filters" of a form, or the whole text. Objects and forms may have the other parameters, too.
func FilterOf(sent Body, params []Parameter) (Arguments, error) {
	switch sent.MediaType {
	case content.JSON:
		return filterOfJSON(sent.Text, params)
	case content.Form:
		return filterOfForm(string(sent.Text), params)
	case content.Multipart:
		fields, err := sent.Fields()
		if err != nil {
			return nil, err
		}
		return readFields("body", fields, params)
	}
	return onlyFilter(string(sent.Text)), nil
}

func onlyFilter(text string) Arguments {
	return Arguments{Filters.Name: text}
}

// filterOfForm treats a form without the field "filters" as the filter itself, which may be escaped. Escaped text has
// no white space, and a filter as text always has some, around "between".
func filterOfForm(text string, params []Parameter) (Arguments, error) {
	fields := fieldsOf(text)
	if slices.ContainsFunc(fields, func(f Field) bool { return f.Name == "filters" }) {
		return readFields("body", fields, params)
	}
	if !strings.ContainsAny(text, " \t\r\n") {
		return onlyFilter(unescape(text)), nil
	}
	return onlyFilter(text), nil
}

// filterOfJSON returns the filter in a JSON body. An object without members of a filter must have the member "filters".
func filterOfJSON(body []byte, params []Parameter) (Arguments, error) {
	if err := validJSON(body); err != nil {
		return nil, err
	}
	text := strings.TrimSpace(string(body))
	switch text[0] {
	case '"':
		value, _ := ReadText([]byte(text))
		return onlyFilter(value), nil
	case '[':
		return onlyFilter(text), nil
	}
	members, err := membersOf(body)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		switch m.Name {
		case "AND", "OR", "NOT", "field", "op", "value", "key":
			return onlyFilter(text), nil
		}
	}
	return ReadBody(body, params)
}
