package answers

import (
	"fmt"
	"io"

	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/client"
)

// reportMarks prints the changes of the settings in the period of an answer.
func reportMarks(w io.Writer, marks []client.Mark) {
	if len(marks) == 0 {
		fmt.Fprintln(w, "the settings do not change")
	}
	for _, m := range marks {
		if m.Kind == "planet" {
			fmt.Fprintf(w, "%s: the planet of %s has version %d, written by %s\n",
				terminal.Printable(m.At), terminal.Printable(m.Config), m.Version, terminal.Printable(m.By))
			continue
		}
		fmt.Fprintf(w, "%s: the settings change from revision %s to %s\n",
			terminal.Printable(m.At), terminal.Printable(m.Before), terminal.Printable(m.After))
	}
}
