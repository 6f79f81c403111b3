package scheduled

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/api/resource"
	"github.com/orrery/orrery/shared/report/runs"
)

// Settled reports whether a run has ended, or is tried again only later.
func Settled(run resource.ReportRun) bool {
	if run.State.Ended() || run.State == runs.Queued && run.Reason != "" {
		return true
	}
	for _, d := range run.Deliveries {
		if d.State == runs.Waiting && d.Reason == "" {
			return false
		}
	}
	return run.State == runs.Rendered
}

// PrintRun prints a run and its deliveries. A run that has failed is an error.
func PrintRun(c terminal.Console, run resource.ReportRun) error {
	w := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "run\t%s\nperiod\t%s to %s\nstate\t%s\n", run.ID, run.From.Format(time.RFC3339),
		run.To.Format(time.RFC3339), run.State)
	if run.Verdict != "" {
		fmt.Fprintf(w, "verdict\t%s\n", run.Verdict)
	}
	for _, d := range run.Deliveries {
		fmt.Fprintf(w, "%s\t%s\n", d.Destination, terminal.OneLine(strings.Trim(string(d.State)+": "+d.Reason, ": ")))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	switch {
	case run.State == runs.Failed:
		return fmt.Errorf("the report failed: %s", terminal.OneLine(run.Reason))
	case run.Partial || run.Incomplete:
		return exit.With(exit.Incomplete, "the report is incomplete")
	case !run.State.Ended():
		fmt.Fprintf(c.Err, "orrery: %s; orrery serve tries again\n", cmp.Or(
			terminal.OneLine(run.Reason), "not all destinations have it",
		))
	}
	return nil
}

// Remarks returns what is to be known about a run.
func Remarks(run resource.ReportRun) string {
	var list []string
	if run.Incomplete {
		list = append(list, "incomplete data")
	}
	if run.Partial {
		list = append(list, "parts are missing")
	}
	if run.Reason != "" {
		list = append(list, run.Reason)
	}
	for _, d := range run.Deliveries {
		if d.Reason != "" {
			list = append(list, fmt.Sprintf("%s: %s", d.Destination, d.Reason))
		}
	}
	return strings.Join(list, "; ")
}
