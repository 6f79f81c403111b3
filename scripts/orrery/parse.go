package main

import (
	"fmt"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/question"
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
func (p *parseCommand) Run(c terminal.Console) error {
	text, err := question.FilterText(p.Filter, c.In)
	if err != nil {
		return err
	}
	clock, err := search.ClockOf(search.Present(time.Now()), p.TZ)
	if err != nil {
		return exit.With(exit.Usage, err.Error())
	}
	q, err := query.Bind(filter.Parse(text), query.Logs{Limit: 1}, query.WithClock(clock))
	if err != nil {
		return question.Drawn(err, c.Err)
	}
	for _, r := range q.Relative {
		fmt.Fprintf(c.Err, "%s is %s\n", terminal.Printable(r.Text), time.UnixMilli(r.Ms).UTC().Format(time.RFC3339))
	}
	_, err = fmt.Fprintf(c.Shown(), "%s\n%s\n", filter.FormatJSON(q.Filter), filter.Format(q.Filter))
	return err
}
