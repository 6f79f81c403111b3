package why

import (
	"strings"

	"github.com/orrery/orrery/shared/catalog"
)

// alike returns the conditions of the requests that have the values of a record in the fields, or "" if the record has
// no text in the first one. Of a list, the first element counts.
func alike(r Record, fields ...string) string {
	var conditions []string
	for i, field := range fields {
		var value string
		if list := r.list(field); len(list) > 0 {
			value, _ = list[0].(string)
		}
		switch {
		case strings.ContainsRune(value, 0): // no filter can hold it
			return ""
		case value != "":
			conditions = append(conditions, catalog.Equal(field, false, value).String())
		case i == 0:
			return ""
		}
	}
	return strings.Join(conditions, ", ")
}

// pathOf returns the conditions of the requests for the path of a request.
func pathOf(r Record) string { return alike(r, "path", "host") }
