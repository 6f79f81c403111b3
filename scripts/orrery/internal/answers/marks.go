package answers

import (
	"fmt"
	"io"

	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
)

// ReportMarks reports the changes of settings in the period. It prints to stderr, in every format but JSON, which has them
// in its meta.
func (a Answer) ReportMarks(format string, stderr io.Writer) {
	if a.Meta.Marks == nil || format == "json" {
		return
	}
	if len(*a.Meta.Marks) == 0 {
		fmt.Fprintln(stderr, "the settings do not change")
	}
	for _, m := range *a.Meta.Marks {
		if m.Kind == "planet" {
			fmt.Fprintf(stderr, "%s: the planet of %s has version %d, written by %s\n",
				terminal.Printable(m.At), terminal.Printable(m.Config), m.Version, terminal.Printable(m.By))
			continue
		}
		fmt.Fprintf(stderr, "%s: the settings change from revision %s to %s\n",
			terminal.Printable(m.At), terminal.Printable(m.Before), terminal.Printable(m.After))
	}
}
