package answers

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/question"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/search"
)

// ReportMissing reports everything that the answer lacks, in every format. If objects are missing, or with strict
// anything else, it returns an error with exit code 5, so that no script takes the answer for a complete one.
func (a Answer) ReportMissing(flags question.ParameterFlags, strict bool, stderr io.Writer) error {
	partial := a.reportLook(stderr)
	late, err := a.reportLag(stderr, time.Now())
	if err != nil {
		return err
	}
	a.reportDemo(stderr)
	if err := a.reportGaps(stderr); err != nil {
		return err
	}
	late = a.reportLate(stderr) || late
	lacks := !flags.Has("dry_run") && a.reportLacking(stderr)
	if strict && (partial || late || lacks || a.Meta.Truncated != nil || a.Meta.Saturated != nil || a.Meta.Demo) {
		return exit.With(exit.Incomplete, "the answer may be incomplete, and --strict is set")
	}
	return nil
}

// usualLag is the lag that is not reported. The clock of the server may also be slightly different.
const usualLag = time.Minute

// reportLag reports that logs of the period may not be in the data yet: the data is complete through a time before the
// end of the period, or before now if the period ends in the future.
func (a Answer) reportLag(stderr io.Writer, now time.Time) (late bool, _ error) {
	if a.Meta.Complete == nil {
		return false, nil
	}
	through, err := time.Parse(time.RFC3339, *a.Meta.Complete)
	if err != nil {
		return false, fmt.Errorf("the answer does not have the API's format: complete_through: %w", err)
	}
	end, err := time.Parse(time.RFC3339, a.Meta.Period.To)
	if err != nil {
		return false, fmt.Errorf("the answer does not have the API's format: period: %w", err)
	}
	if latest := now.Add(-usualLag); latest.Before(end) {
		end = latest
	}
	if late = through.Before(end); late {
		fmt.Fprintf(stderr, "orrery: the data is complete through %s; later logs may be missing\n",
			terminal.Printable(*a.Meta.Complete))
	}
	return late, nil
}

// reportLate reports records that have arrived since the token of --since, and that the answer lacks because their
// times are before it.
func (a Answer) reportLate(stderr io.Writer) bool {
	if a.Meta.Late == nil || *a.Meta.Late == 0 {
		return false
	}
	fmt.Fprintf(stderr, "orrery: %s arrived late and are not in the answer, because they are older than --since; "+
		"a query without --since finds them\n",
		terminal.Counted(*a.Meta.Late, "record"))
	return true
}

// reportLacking reports columns that some objects do not have, because an earlier version wrote them.
func (a Answer) reportLacking(stderr io.Writer) bool {
	if a.Meta.Estimate == nil {
		return false
	}
	for _, column := range a.Meta.Estimate.Lacking {
		fmt.Fprintln(stderr, "orrery:", terminal.Printable(column.String()))
	}
	return len(a.Meta.Estimate.Lacking) > 0
}

// reportDemo reports that the answer is not about real requests.
func (a Answer) reportDemo(stderr io.Writer) {
	if a.Meta.Demo {
		fmt.Fprintln(stderr, "orrery: these are generated records of a demo, because there are no others; "+
			"the first import removes them")
	}
}

// reportGaps reports missing records and objects. If objects are missing, it returns an error with exit code 5.
func (a Answer) reportGaps(stderr io.Writer) error {
	if t := a.Meta.Truncated; t != nil {
		fmt.Fprintf(stderr, "orrery: %s\n", a.truncation(t.Reason))
	}
	if names := a.Meta.Saturated; names != nil {
		fmt.Fprintf(stderr, "orrery: some sums have more than 64 bits; the nearest integer of 64 bits is printed: %s\n",
			terminal.Printable(strings.Join(names, ", ")))
	}
	if len(a.Meta.Skipped) == 0 {
		return nil
	}
	return exit.With(exit.Incomplete, fmt.Sprintf(
		"the answer is incomplete: %s could not be read. If you have removed files of the data folder on purpose, "+
			"orrery forget --missing forgets them", terminal.Counted(len(a.Meta.Skipped), "object")))
}

// ReportUnreadable lists the objects that could not be read. It comes before the report that nothing was found, which
// is only about the others.
func (a Answer) ReportUnreadable(stderr io.Writer) {
	for _, name := range a.Meta.Skipped[:min(len(a.Meta.Skipped), maxSkippedNames)] {
		fmt.Fprintln(stderr, "  unreadable:", terminal.Printable(name))
	}
}

// maxSkippedNames is the number of unreadable objects that are listed; --format json lists all.
const maxSkippedNames = 10

func (a Answer) truncation(reason string) string {
	results := len(a.Data.Results)
	switch {
	case a.Route == string(search.Values):
		return fmt.Sprintf("more values match than the %d printed; raise --limit or give a longer --prefix", results)
	case a.Route == string(search.Incidents):
		return fmt.Sprintf("there are more incidents than the %d printed; shorten the period", results)
	case reason == "limit":
		return fmt.Sprintf("more records match than the %d printed; raise --limit or narrow the period", results)
	}
	return fmt.Sprintf("more records match than the %d printed: the answer reached its size limit; "+
		"select fewer --fields or a shorter period", results)
}

// reportLook reports that values may be missing because only a part of the data, or none, was looked at.
func (a Answer) reportLook(stderr io.Writer) (partial bool) {
	m := a.Meta
	switch {
	case m.Unavailable != "":
		fmt.Fprintf(stderr, "orrery: there are no values: %s\n", terminal.Printable(m.Unavailable))
	case a.Route != string(search.Values) || m.Exact == nil || *m.Exact:
		return false
	case m.Scope == nil:
		fmt.Fprintln(stderr, "orrery: only the newest data was looked at; there may be more values")
	default:
		fmt.Fprintf(stderr, "orrery: %d of %s looked at, the newest first; there may be more values\n",
			m.Scope.Objects, terminal.Counted(m.Scope.Of, "object"))
	}
	return true
}
