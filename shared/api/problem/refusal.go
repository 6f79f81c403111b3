package problem

import (
	"net/http"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/fault"
)

// Refusal is an error specific to HTTP, with its status.
type Refusal struct {
	Status  int
	Message string
	Allow   string // value of the header Allow
	Closes  bool   // nothing that follows on the connection is read
}

func (r *Refusal) Error() string { return r.Message }

// NotAcceptable is the error for a client that accepts none of the media types.
func NotAcceptable(offers []string) error {
	message := "the answer is available only as " + strings.Join(offers, " or ")
	return &Refusal{Status: http.StatusNotAcceptable, Message: message}
}

// AnswerTooLarge is the error for an answer that would have so many bytes as sent.
func AnswerTooLarge(sent int) error {
	return fault.New(fault.EngineLimit, "the answer would have %d bytes, more than the %d that can be sent: "+
		"accept compression (Accept-Encoding: gzip), or ask for longer segments, fewer keys or a shorter period",
		sent, content.MaxAnswer)
}

// ErrReportGoesOn is the error of a report whose questions are not all answered yet. A later request has their answers.
var ErrReportGoesOn = &fault.Error{
	Kind: fault.Timeout, Message: "some questions of the report are not answered yet", RetryAfter: 5 * time.Second,
}

// ErrIncidentsGoOn is the error of incidents some of whose questions are not answered yet. A later request has their
// answers.
var ErrIncidentsGoOn = &fault.Error{
	Kind: fault.Timeout, Message: "some questions of the incidents are not answered yet", RetryAfter: 5 * time.Second,
}

// NoRoute is the error for a path without a route. near is a similar path, or "".
func NoRoute(path, near string) error {
	if near != "" {
		return fault.New(fault.NotFound, "there is no route %s; did you mean %s?", path, near)
	}
	if path == "/" {
		return fault.New(fault.NotFound, "there is no console here; /openapi.json lists the routes of the API")
	}
	return fault.New(fault.NotFound, "there is no route %s; /openapi.json lists the routes", path)
}
