package api

import (
	"fmt"
	"strings"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/planet"
)

// The error messages of this package. Messages about filters, query parameters and planets are in their packages.

func errForeignHost() error {
	return fault.New(fault.Forbidden, "a server without API keys answers requests to a loopback name only: "+
		"use localhost, or start the server with a key")
}

func errForeignPage() error {
	return fault.New(fault.Forbidden, "requests from web pages of other origins are refused")
}

func errNoKey() error {
	return fault.New(fault.Unauthorized, `an API key is needed: `+
		`send it as "Authorization: Basic KEY", "Authorization: Bearer KEY" or "x-api-key: KEY"`)
}

func errUnknownKey() error {
	return fault.New(fault.Unauthorized, "the API key is not known")
}

func errWrongKeys() error {
	return fault.New(fault.TooMany, "too many requests from this address had an unknown API key; "+
		"check the key and try again in a minute")
}

func errScope(scope keys.Scope) error {
	return fault.New(fault.Forbidden, "the API key does not have the scope %s", scope)
}

func errNoRoute(path, near string) error {
	if near != "" {
		return fault.New(fault.NotFound, "there is no route %s; did you mean %s?", path, near)
	}
	if path == "/" {
		return fault.New(fault.NotFound, "there is no console here; /openapi.json lists the routes of the API")
	}
	return fault.New(fault.NotFound, "there is no route %s; /openapi.json lists the routes", path)
}

func errAnswerTooLarge(sent int) error {
	return fault.New(fault.EngineLimit, "the answer would have %d bytes, more than the %d that can be sent: "+
		"accept compression (Accept-Encoding: gzip), or ask for longer segments, fewer keys or a shorter period",
		sent, maxAnswer)
}

func errConfigName(config string) error {
	return fault.New(fault.NotFound, "there is no configuration %q", config)
}

func errEntry(id string) error {
	return fault.New(fault.NotFound,
		"there is no planet %q; the planet of every configuration is %q", id, planet.EntryID)
}

func errMaintenance() error {
	return fault.New(fault.Forbidden, "System is under maintenance. "+
		"Create, update, and delete requests are not allowed until upgrade is done.")
}

func errPreconditionNeeded() error {
	return fault.New(fault.Precondition, "this deployment needs a precondition: "+
		"send If-Match with the ETag that you read, or If-None-Match: * to create")
}

func badName(noun, name string, loc ...any) Detail {
	return Detail{
		Loc: loc, Type: "value_error.name",
		Msg: fmt.Sprintf("%q is not the name of a %s: names have 1 to 64 characters of a-z, 0-9 and -", name, noun),
	}
}

func badTimeOf(text, member string) Detail {
	return Detail{
		Loc: []any{"body", member}, Type: "value_error.time",
		Msg: fmt.Sprintf("%q is not a time in RFC 3339 format, such as 2026-11-16T00:00:00Z", text),
	}
}

func badPeriod(message, member string) Detail {
	return Detail{Loc: []any{"body", member}, Msg: message, Type: "value_error.period"}
}

func errReportOfOthers(name string) error {
	return fault.New(fault.Forbidden, "the name %q belongs to a report about branches that the API key does not have; "+
		"use another name", name)
}

func tooLong(most int, loc ...any) Detail {
	return Detail{Loc: loc, Msg: fmt.Sprintf("must have at most %d characters", most), Type: "value_error.max_length"}
}

func missing(loc ...any) Detail {
	return Detail{Loc: loc, Msg: "field required", Type: "value_error.missing"}
}

func repeated(loc ...any) Detail {
	return Detail{Loc: loc, Msg: "given more than once", Type: "value_error.repeated"}
}

func empty(loc ...any) Detail {
	return Detail{Loc: loc, Msg: "empty: leave it out, or give it a value", Type: "value_error.empty"}
}

func notUTF8(text string, loc ...any) Detail {
	at := validPrefix([]byte(text))
	return Detail{
		Loc:  loc,
		Msg:  fmt.Sprintf("not UTF-8: byte %#02x at offset %d does not begin a character", text[at], at),
		Type: "value_error.utf8",
	}
}

// wrongType takes the wanted type with its article: the error type of "a list of strings" is type_error.list.
func wrongType(want string, loc ...any) Detail {
	return Detail{Loc: loc, Msg: "must be " + want, Type: "type_error." + strings.Trim(strings.Fields(want)[1], ",")}
}

func notJSON(err error) Detail {
	return Detail{Loc: []any{"body"}, Msg: "the body is not JSON: " + err.Error(), Type: "value_error.jsondecode"}
}

func notMultipart(err error) Detail {
	return Detail{
		Loc:  []any{"body"},
		Msg:  "the body is not a multipart form: " + err.Error(),
		Type: "value_error.multipart",
	}
}

func brokenBody() Detail {
	return Detail{Loc: []any{"body"}, Msg: "the body could not be read completely", Type: "value_error"}
}

func unwantedBody() Detail {
	return Detail{Loc: []any{"body"}, Msg: "this route takes no body", Type: "value_error.unwanted"}
}

func badHeader(name, msg string) Detail {
	return Detail{Loc: []any{"header", name}, Msg: msg, Type: "value_error"}
}

func badVersion(text string) Detail {
	return Detail{
		Loc:  []any{"path", "version"},
		Msg:  fmt.Sprintf("%q is not a version number", text),
		Type: "type_error.integer",
	}
}

// unknown reports a parameter that the route does not have. In a query it may be the rest of a filter with an unescaped
// ampersand, unless it resembles a parameter of another route.
func unknown(known []string, afterFilters bool, loc ...any) Detail {
	name := fmt.Sprint(loc[len(loc)-1])
	d := Detail{Loc: loc, Msg: "unknown parameter", Type: "value_error.unknown"}
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
	if near == dayZoneParam.name && !strings.EqualFold(name, near) {
		return ""
	}
	return near
}
