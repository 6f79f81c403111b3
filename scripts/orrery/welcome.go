package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// welcome prints the address of the server and the period of its data. It reports whether there are records.
func (s *serveCommand) welcome(w io.Writer, base string, extent lake.Extent) bool {
	fmt.Fprintf(w, "\nOrrery answers on %s (console), %s/api/ (interactive API page); Ctrl-C stops it.\n", base, base)
	if s.Watch {
		fmt.Fprintf(w, "Logs that are put into %s/raw/ are imported.\n", terminal.Printable(string(s.Data)))
	}
	switch {
	case extent.Rows > 0:
		from, to := time.UnixMilli(extent.MinTsMs).UTC(), time.UnixMilli(extent.MaxTsMs).UTC()
		fmt.Fprintf(w, "%s from %s to %s UTC.", terminal.Counted(extent.Rows, "record"), from.Format(time.DateTime),
			to.Format(time.DateTime))
	case s.Trino != "":
		fmt.Fprint(w, "The cluster's tables hold no records yet; "+
			"shared/engine/trino/README.md describes how to load them.\n\n")
	default:
		fmt.Fprintf(w, "There is no data yet. Import a log:\n\n"+
			"  go run ./scripts/orrery import --data %s access.log.gz\n\n", terminal.Printable(string(s.Data)))
	}
	return extent.Rows > 0
}

// firstQuestion is a question about the newest records.
type firstQuestion struct {
	title, route string
	condition    string // "" for all records
}

// The questions to try first, the best ones first. A question is printed only if some records fulfil its condition.
var firstQuestions = []firstQuestion{
	{"who is attacking", "topx?limit=3", "blocked is true"},
	{"why were requests blocked", "logs?limit=3&fields=timestamp,ip,path,reason", "blocked is true"},
	{"server errors over time", "timeline?segment=1h", "status>=500"},
	{"which paths are not found", "facets?by=path&limit=5", "status=404"},
	{"which programs call themselves bots", "facets?by=user_agent&limit=5", `user_agent~"(?i)bot"`},
	{"requests over time", "timeline?segment=1h", ""},
	{"the busiest addresses, paths and hosts", "topx?limit=3", ""},
	{"the newest requests", "logs?limit=3&fields=timestamp,ip,path,status", ""},
}

const (
	numberTried = 3               // of first questions that are printed
	tryWithin   = 2 * time.Second // for finding them
)

// tryQuestions prints commands that ask three questions about the newest day of the records. For a data folder, it picks
// questions that the records can answer, as far as it finds them until ctx ends.
func tryQuestions(
	ctx context.Context, w io.Writer, base string, product *local.Product, extent lake.Extent, keyed bool,
) {
	period := newestDay(extent)
	has := func(string) bool { return true }
	if product.Store != nil { // a cluster's queries may cost
		has = func(condition string) bool { return hasRecords(ctx, product, filter.Joined(period, condition)) }
	}
	fmt.Fprint(w, " Three things to try:\n\n")
	key := ""
	if keyed {
		fmt.Fprint(w, "  # once, to set the key\n  export ORRERY_API_KEY=…\n\n")
		key = ` -H "x-api-key: $ORRERY_API_KEY"`
	}
	for _, q := range questionsWith(has) {
		fmt.Fprintf(w, "  # %s\n  curl -sG '%s/api/v4.0/data/%s'%s --data-urlencode 'filters=%s'\n\n",
			q.title, base, q.route, key, filter.Joined(period, q.condition))
	}
}

// questionsWith returns the first questions whose conditions some records fulfil.
func questionsWith(has func(condition string) bool) (questions []firstQuestion) {
	known := map[string]bool{"": true}
	for _, q := range firstQuestions {
		is, asked := known[q.condition]
		if !asked {
			is = has(q.condition)
			known[q.condition] = is
		}
		if is {
			if questions = append(questions, q); len(questions) == numberTried {
				break
			}
		}
	}
	return questions
}

// hasRecords reports whether a filter finds records. It returns false if that is not known in time.
func hasRecords(ctx context.Context, product *local.Product, text string) bool {
	q, err := query.Bind(filter.Parse(text), query.Logs{Limit: 1, Fields: []string{"timestamp"}})
	if err != nil {
		return false
	}
	answer, _, err := product.Engine.Run(ctx, q)
	return err == nil && len(answer.Logs) > 0
}

// newestDay returns the condition for the last 24 hours of the records, or for all of them if they span less.
func newestDay(extent lake.Extent) string {
	last := time.UnixMilli(extent.MaxTsMs).UTC().Truncate(time.Second)
	from, to := time.UnixMilli(extent.MinTsMs).UTC().Truncate(time.Second), last.Add(time.Second)
	if to.Year() > 9999 { // which no filter can have
		to = last
	}
	if day := to.Add(-24 * time.Hour); day.After(from) {
		from = day
	}
	return filter.During(from.UnixMilli(), to.UnixMilli())
}
