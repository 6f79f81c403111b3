package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/fault"
)

// refusal is an error specific to HTTP, with its status.
type refusal struct {
	status  int
	message string
	allow   string // value of the header Allow
	closes  bool   // nothing that follows on the connection is read
}

func (r *refusal) Error() string { return r.message }

func errNotAcceptable(offers []string) error {
	message := "the answer is available only as " + strings.Join(offers, " or ")
	return &refusal{status: http.StatusNotAcceptable, message: message}
}

func errAnswerTooLarge(sent int) error {
	return fault.New(fault.EngineLimit, "the answer would have %d bytes, more than the %d that can be sent: "+
		"accept compression (Accept-Encoding: gzip), or ask for longer segments, fewer keys or a shorter period",
		sent, maxAnswer)
}

// ErrReportGoesOn is the error of a report whose questions are not all answered yet. A later request has their answers.
var ErrReportGoesOn = &fault.Error{
	Kind: fault.Timeout, Message: "some questions of the report are not answered yet", RetryAfter: 5 * time.Second,
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
