package resource

import (
	"fmt"

	"github.com/orrery/orrery/shared/api/problem"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/planet"
)

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

func badName(noun, name string, loc ...any) problem.Detail {
	return problem.Detail{
		Loc: loc, Type: "value_error.name",
		Msg: fmt.Sprintf("%q is not the name of a %s: names have 1 to 64 characters of a-z, 0-9 and -", name, noun),
	}
}

func badTimeOf(text, member string) problem.Detail {
	return problem.Detail{
		Loc: []any{"body", member}, Type: "value_error.time",
		Msg: fmt.Sprintf("%q is not a time in RFC 3339 format, such as 2026-11-16T00:00:00Z", text),
	}
}

func badPeriod(message, member string) problem.Detail {
	return problem.Detail{Loc: []any{"body", member}, Msg: message, Type: "value_error.period"}
}

func errReportOfOthers(name string) error {
	return fault.New(fault.Forbidden, "the name %q belongs to a report about branches that the API key does not have; "+
		"use another name", name)
}

func tooLong(most int, loc ...any) problem.Detail {
	return problem.Detail{Loc: loc, Msg: fmt.Sprintf("must have at most %d characters", most), Type: "value_error.max_length"}
}

func badHeader(name, msg string) problem.Detail {
	return problem.Detail{Loc: []any{"header", name}, Msg: msg, Type: "value_error"}
}

func badVersion(text string) problem.Detail {
	return problem.Detail{
		Loc:  []any{"path", "version"},
		Msg:  fmt.Sprintf("%q is not a version number", text),
		Type: "type_error.integer",
	}
}
