// Package exit has the exit codes of the commands, and errors that have one.
package exit

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
)

// Exit codes, the same for every command.
const (
	Done        = 0
	Failed      = 1 // standard error has the reason
	Usage       = 2 // the command line is invalid
	Rejected    = 3 // imported, but some lines were rejected and put into quarantine
	Doubt       = 4 // not imported or removed, because it is probably a mistake, or is JSON of no known format
	Incomplete  = 5 // answered, compacted or backed up, but some objects could not be read
	Interrupted = 130
)

// Meanings lists the exit codes.
var Meanings = []struct {
	Code int
	Text string
}{
	{Done, "done"},
	{Failed, "failed; standard error has the reason"},
	{Usage, "the command line is invalid, or put refused a log that another flag would allow"},
	{Rejected, "imported, but some lines were rejected; quarantine/ of the data folder has them with line number and reason"},
	{Doubt, "nothing was imported or removed. import refuses a log that is probably a mistake, because most of its lines " +
		"are no records or are in the data already; --anyway imports it. import refuses JSON of no known format; --map or " +
		"--format imports it. import refuses a log with only records older than the folder keeps. compact and forget " +
		"--missing refuse to remove more than 10 % of the records; --yes allows it. If anything else failed as well, the " +
		"exit code is 1"},
	{Incomplete, "answered, compacted or backed up, but some objects could not be read; standard error lists them. query --strict also " +
		"exits with 5 if the answer falls short in any other way"},
	{Interrupted, "interrupted by Ctrl-C, SIGTERM or SIGHUP; serve exits with 0"},
}

// Error is an error with its own exit code. The message is empty if it has been printed already.
type Error struct {
	Code    int
	Message string
}

func (e *Error) Error() string { return e.Message }

// With returns an error with an exit code and a message.
func With(code int, message string) error { return &Error{Code: code, Message: message} }

// CodeOf prints an error and returns its exit code.
func CodeOf(err error, ctx context.Context, stderr io.Writer) int {
	var own *Error
	switch {
	case err == nil:
		return Done
	case errors.As(err, &own):
		if own.Message != "" {
			fmt.Fprintln(stderr, "orrery:", terminal.Printable(own.Message, '\n', '\t'))
		}
		return own.Code
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		fmt.Fprintln(stderr, "orrery: interrupted; no partial results are left, run the command again to continue")
		return Interrupted
	}
	fmt.Fprintln(stderr, "orrery:", terminal.Printable(err.Error(), '\n', '\t')) // names of files may contain any character
	return Failed
}
