package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

type parseCommand struct {
	Filter string `arg:"" help:"A filter in either form; - reads it from standard input."`
	TZ     string `name:"tz" help:"The time zone of today and yesterday." placeholder:"Europe/Berlin"`
}

// Run prints the canonical filter in both forms: JSON on the first line, query string on the second. Relative times and
// those that they stand for go to standard error.
func (p *parseCommand) Run(c console) error {
	text, err := filterText(p.Filter, c.in)
	if err != nil {
		return err
	}
	clock, err := search.ClockOf(search.Present(time.Now()), p.TZ)
	if err != nil {
		return &exitError{code: exitUsage, message: err.Error()}
	}
	q, err := query.Bind(filter.Parse(text), query.Logs{Limit: 1}, query.WithClock(clock))
	if err != nil {
		return drawn(err, c.err)
	}
	for _, r := range q.Relative {
		fmt.Fprintf(c.err, "%s is %s\n", terminal.Printable(r.Text), time.UnixMilli(r.Ms).UTC().Format(time.RFC3339))
	}
	_, err = fmt.Fprintf(c.shown(), "%s\n%s\n", filter.FormatJSON(q.Filter), filter.Format(q.Filter))
	return err
}

// filterText returns the filter of a command line: the argument itself, or standard input for "-".
func filterText(arg string, in io.Reader) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return "", fmt.Errorf("read the filter from standard input: %w", err)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// drawn prints the mistakes of a filter under its text, and the corrected filter if there is one. It returns other
// errors unchanged.
func drawn(err error, stderr io.Writer) error {
	var wrong *query.FilterError
	if !errors.As(err, &wrong) {
		return err
	}
	fmt.Fprint(stderr, filter.Draw(wrong.Text, wrong.Errors))
	if wrong.Fixed != "" {
		fmt.Fprintf(stderr, "corrected: %s\n", terminal.Printable(wrong.Fixed))
	}
	return &exitError{code: exitFailed}
}
