package why

import (
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/catalog"
)

// dots stand for a value that is covered.
const dots = "••••••"

// sensitive reports whether the values of a field may identify a person or give access. Fields that the catalogue does
// not have count as sensitive.
func sensitive(field string) bool {
	f, known := catalog.Lookup(field)
	return !known || f.Describe().Sensitive
}

// plainHeaders are the headers that are shown although headers are sensitive: browsers choose their values, not persons.
var plainHeaders = strings.Fields("accept accept-encoding accept-language cache-control connection content-length content-type dnt " +
	"host pragma range sec-ch-ua sec-ch-ua-mobile sec-ch-ua-platform sec-fetch-dest sec-fetch-mode sec-fetch-site " +
	"sec-fetch-user te upgrade-insecure-requests user-agent")

// sectionFields has the fields that the sections of triggers are parts of, where the names differ.
var sectionFields = map[string]string{"args": "arguments", "uri": "path"}

// fieldOf returns the field that a section of triggers is a part of.
func fieldOf(section string) string {
	if field, ok := sectionFields[section]; ok {
		return field
	}
	return section
}

// repeating are the members of triggers that repeat a part of the request.
var repeating = []string{"value", "matched", "extra"}

// paired are the fields whose members are objects with a name and a value.
var paired = []string{"proxy", "profiling", "biometric"}

// covered returns a record whose sensitive values are replaced by dots. The names of members stay.
func covered(r Record) Record {
	safe := Record{}
	for field, value := range r {
		safe[field] = coveredValue(field, value)
	}
	return safe
}

func coveredValue(field string, value any) any {
	switch value := value.(type) {
	case nil:
		return nil
	case []any:
		list := make([]any, len(value))
		for i, element := range value {
			list[i] = coveredValue(field, element)
		}
		return list
	case map[string]any:
		return coveredMembers(field, value)
	}
	switch {
	case !isSecret(field, "", nil):
		return value
	case field == "query":
		return coveredQuery(textOf(value))
	}
	return dots
}

func coveredMembers(field string, members Record) any {
	name, named := members["name"].(string)
	pair := named && slices.Contains(paired, field)
	safe := map[string]any{}
	for key, value := range members {
		secret := isSecret(field, key, members)
		if pair {
			secret = key == "value" && isSecret(field, name, members)
		}
		if safe[key] = value; secret {
			safe[key] = dots
		}
	}
	return safe
}

// isSecret reports whether a value, or its member with a key, is shown only on demand.
func isSecret(field, key string, members Record) bool {
	switch {
	case field == "headers":
		return sensitive(field) && !slices.Contains(plainHeaders, strings.ToLower(key))
	case field == "proxy":
		return key == "realip" && sensitive("ip")
	case !strings.HasSuffix(field, "_triggers"):
		return sensitive(field)
	}
	return slices.Contains(repeating, key) && sensitive(fieldOf(members.text("section")))
}

// coveredQuery keeps the names of a query: q=••••••. A part without an equals sign may be a value.
func coveredQuery(query string) string {
	parts := strings.Split(strings.TrimPrefix(query, "?"), "&")
	for i, part := range parts {
		name, value, ok := strings.Cut(part, "=")
		switch {
		case part == "":
		case ok && value != "":
			parts[i] = name + "=" + dots
		default:
			parts[i] = dots
		}
	}
	return strings.Join(parts, "&")
}
