package answers

import (
	"fmt"
	"io"

	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/mark"
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
		fmt.Fprintf(stderr, "%s: %s\n", terminal.Printable(m.At), mark.Words(m))
	}
}
