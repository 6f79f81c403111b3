// Package fault labels errors with the kind of failure, so that the HTTP layer can choose a status code without knowing
// which package failed. A kind exists only if some code branches on it.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Kind classifies failures by what a caller can do about them.
type Kind uint8

const (
	Internal     Kind = iota // a bug or an operational problem; the zero value, so no unlabeled error blames the user
	Invalid                  // a parameter or body has the wrong shape or value
	NotFound                 // the named thing does not exist, or the caller may not know that it does
	Conflict                 // another writer wrote first
	Precondition             // a required precondition is missing
	Forbidden                // the caller is known and not allowed
	Unauthorized             // the credentials are missing or unknown
	TooMany                  // the caller sent too many requests; try later
	TooLarge                 // the size exceeds a documented limit
	EngineLimit              // the query is valid, but exceeds a limit of the engine
	RegexRefused             // the engine refused the regular expression
	Unavailable              // a dependency is down or the queue is long; try later
	Timeout                  // the time limit is exceeded
	Canceled                 // the caller is gone
	Full                     // there is no space to write; reading still works
	ReadOnly                 // the data can be read, but not changed; the message has no paths, because clients see it
	Damaged                  // stored data cannot be read until it is repaired; a retry does not help
)

// Error is a failure of a known kind. Message is a complete text for the user; Err is the cause, for the log only.
type Error struct {
	Kind       Kind
	Message    string
	RetryAfter time.Duration // for TooMany, Unavailable and Timeout, the time after which a retry may succeed; 0 if unknown
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

// New returns an error of a kind with a message for the user.
func New(kind Kind, format string, args ...any) error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Wrap returns an error of a kind with a message for the user and a cause for the log.
func Wrap(kind Kind, err error, format string, args ...any) error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...), Err: err}
}

// KindOf returns the kind of the outermost Error in the chain of err, or Internal if there is none.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}
