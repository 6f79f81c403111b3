package parameter

import (
	"fmt"
	"strings"

	"github.com/orrery/orrery/shared/api/problem"
	"github.com/orrery/orrery/shared/filter"
)

func missing(loc ...any) problem.Detail {
	return problem.Detail{Loc: loc, Msg: "field required", Type: "value_error.missing"}
}

func repeated(loc ...any) problem.Detail {
	return problem.Detail{Loc: loc, Msg: "given more than once", Type: "value_error.repeated"}
}

// Empty is the detail of a parameter or header with an empty value.
func Empty(loc ...any) problem.Detail {
	return problem.Detail{Loc: loc, Msg: "empty: leave it out, or give it a value", Type: "value_error.empty"}
}

func notUTF8(text string, loc ...any) problem.Detail {
	at := validPrefix([]byte(text))
	return problem.Detail{
		Loc:  loc,
		Msg:  fmt.Sprintf("not UTF-8: byte %#02x at offset %d does not begin a character", text[at], at),
		Type: "value_error.utf8",
	}
}

// wrongType takes the wanted type with its article: the error type of "a list of strings" is type_error.list.
func wrongType(want string, loc ...any) problem.Detail {
	return problem.Detail{Loc: loc, Msg: "must be " + want, Type: "type_error." + strings.Trim(strings.Fields(want)[1], ",")}
}

func notJSON(err error) problem.Detail {
	return problem.Detail{Loc: []any{"body"}, Msg: "the body is not JSON: " + err.Error(), Type: "value_error.jsondecode"}
}

func notMultipart(err error) problem.Detail {
	return problem.Detail{
		Loc:  []any{"body"},
		Msg:  "the body is not a multipart form: " + err.Error(),
		Type: "value_error.multipart",
	}
}

// unknown reports a parameter that the route does not have. In a query it may be the rest of a filter with an unescaped
// ampersand, unless it resembles a parameter of another route.
func unknown(known []string, afterFilters bool, loc ...any) problem.Detail {
	name := fmt.Sprint(loc[len(loc)-1])
	d := problem.Detail{Loc: loc, Msg: "unknown parameter", Type: "value_error.unknown"}
	switch near := nearestParam(name, known); {
	case near != "":
		d.Msg += fmt.Sprintf("; did you mean %q?", near)
	case len(known) == 0:
		d.Msg += "; this route takes no parameters"
	default:
		d.Msg += "; this route has " + strings.Join(known, ", ")
		if afterFilters && nearestParam(name, dataParams) == "" {
			d.Msg += `; if it belongs to the filter, write the & before it as %26`
		}
	}
	return d
}

// nearestParam returns the parameter that a name was most likely meant to be, or "". tz is so short that any two
// letters resemble it.
func nearestParam(name string, known []string) string {
	near := filter.Nearest(name, known)
	if near == DayZone.Name && !strings.EqualFold(name, near) {
		return ""
	}
	return near
}
