package ingest

import (
	"fmt"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/logformat"
)

const (
	// doubtLines is the number of lines at the beginning of the new part of a log that decide whether an import is
	// probably a mistake. They are judged after whole batches.
	doubtLines = 10_000
	// doubtLeast is the number of lines from which they are judged at all.
	doubtLeast = 10
)

// UnconfirmedError is the error of a cautious import that is probably a mistake. Nothing of the log was imported.
type UnconfirmedError struct {
	What   string // is odd about the log, one sentence or more
	remedy string // for the command
}

func (e *UnconfirmedError) Error() string { return e.What + e.remedy }

// OnlyDoubts reports whether nothing else has failed: every error that err joins is an UnconfirmedError, or that of a
// log whose lines are JSON objects of no known format.
func OnlyDoubts(err error) bool {
	switch e := err.(type) { //nolint:errorlint // it takes joined errors apart
	case *UnconfirmedError:
		return true
	case *logformat.UnrecognizedError:
		return e.Members != nil
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(err error) bool { return !OnlyDoubts(err) })
	case interface{ Unwrap() error }:
		return OnlyDoubts(e.Unwrap())
	}
	return false
}

// doubt judges the first lines of an import. It returns an UnconfirmedError if most of them are rejected. last means
// that no further lines follow.
func (p *pipeline) doubt(last bool) error {
	if !p.options.Cautious || p.judged {
		return nil
	}
	rejected := p.report.RejectedLines()
	total := p.report.Records + rejected
	if total < doubtLines && !last || total < doubtLeast {
		return nil
	}
	p.judged = true
	if 2*rejected <= total {
		return nil
	}
	return mostlyRejected(rejected, total, p.format.Name(), p.report.First)
}

// mostlyRejected is the error of a log of which most lines are not records.
func mostlyRejected(rejected, total int64, format, first string) error {
	what := fmt.Sprintf("%d of the first %d lines are not records of the format %s, and nothing was imported. "+
		"The first is %s", rejected, total, format, first)
	return &UnconfirmedError{what, "\nName the right --format, or import the other lines with --anyway"}
}

// allExpired is the error of a log of which all records are older than those that the lake keeps.
func allExpired(records int64, keptFrom time.Time) error {
	what := fmt.Sprintf("all %d records are of before %s UTC, and older ones are not kept, so nothing was imported. "+
		"To import them, keep records for longer: with keep in orrery.toml, or once with orrery compact --keep",
		records, keptFrom.UTC().Format(time.DateTime))
	return &UnconfirmedError{What: what}
}

// String returns the number of the line, why it is not a record, and its text with a mark where it stops being one.
func (r rejection) String() string {
	return fmt.Sprintf("line %d: %s:\n%s", r.line, r.reason, logformat.Excerpt(r.text, r.column))
}
