// Package fault says what kind of failure an error is, so that the edge can choose a status code
// without knowing which package failed. Only kinds that somebody branches on exist.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Kind is what a caller may do about a failure.
type Kind uint8

const (
	Internal     Kind = iota // ours to mend; the zero value, so an unlabelled error never blames the user
	Invalid                  // a parameter or body has the wrong shape or value
	NotFound                 // what was named does not exist, or the caller may not know that it does
	Conflict                 // somebody else wrote first
	Precondition             // a required precondition is missing
	Forbidden                // known caller, not allowed
	Unauthorized             // no or unknown credentials
	TooLarge                 // over a documented limit of size
	EngineLimit              // the query is right, but more than the engine can take
	RegexRefused             // the engine could not take the regular expression
	Unavailable              // a dependency is down or the line is long; try later
	Timeout                  // the time allowed ran out
	Canceled                 // the caller went away
)

// Error is a failure of a known kind. Message is for the user and complete in itself; Err is the cause,
// for the log only.
type Error struct {
	Kind       Kind
	Message    string
	RetryAfter time.Duration // for Unavailable and Timeout: when trying again may help; 0 when unknown
	Err        error
}

func (e *Error) Error() string {
	switch {
	case e.Err == nil:
		return e.Message
	case e.Message == "":
		return e.Err.Error()
	}
	return e.Message + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// New makes an error of a kind with a message for the user.
func New(kind Kind, format string, args ...any) error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Wrap labels a cause with a kind and a message for the user; the cause is for the log.
func Wrap(kind Kind, err error, format string, args ...any) error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...), Err: err}
}

// KindOf tells the kind of an error: the outermost label in its chain, or Internal.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}
