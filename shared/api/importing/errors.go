package importing

import (
	"fmt"

	"github.com/orrery/orrery/shared/api/problem"
	"github.com/orrery/orrery/shared/fault"
)

func errHeader() error {
	return fault.New(fault.Forbidden, "the header %s: true is missing, which says that the request is meant", header)
}

func errBranches() error {
	return fault.New(fault.Forbidden, "the API key is limited to branches, and a log may have records of others: "+
		"use a key without branches")
}

func errLength() error {
	return problem.Details{{
		Loc: []any{"header", "Content-Length"}, Msg: "is missing; send the length of the log", Type: "value_error.missing",
	}}
}

func errCutOff() error {
	return problem.Details{{
		Loc: []any{"body"}, Msg: "the log was not received completely, and nothing of it was imported", Type: "value_error",
	}}
}

func errAnyway() error {
	return problem.Details{{
		Loc: []any{"query", anywayParam.Name}, Msg: "must be true or false", Type: "value_error",
	}}
}

func errSet() error {
	return problem.Details{{
		Loc: []any{"query", setParam.Name}, Msg: "write FIELD=VALUE, such as host=www.example.com", Type: "value_error",
	}}
}

func errName() error {
	return problem.Details{{
		Loc:  []any{"query", nameParam.Name},
		Msg:  fmt.Sprintf("must be the name of a file without folders, of at most %d bytes", maxName),
		Type: "value_error",
	}}
}

// Unconfirmed returns the error for a log that looks like a mistake. what says why.
func Unconfirmed(what string) error {
	return problem.Details{{
		Loc: []any{"body"}, Msg: what + ". To import it nevertheless, send anyway=true", Type: "unconfirmed",
	}}
}
