package logs

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/logformat"
)

// PrintUnrecognized prints the first line of a log, why each format does not match it, and where the one that matches
// the most of it stops.
func PrintUnrecognized(w io.Writer, log string, e *logformat.UnrecognizedError) {
	fmt.Fprintf(w, "%s begins with\n  %.*q\n", terminal.Printable(log), logformat.MaxShown, e.First)
	if e.Wrapped != nil {
		return
	}
	for _, miss := range e.Missed {
		fmt.Fprintf(w, "  %-13s %s\n", miss.Format, terminal.Printable(miss.Reason))
	}
	nearest := slices.MaxFunc(e.Missed, func(a, b logformat.Miss) int { return cmp.Compare(a.Column, b.Column) })
	if e.Members == nil && nearest.Column > 1 {
		fmt.Fprintf(w, "%s is the nearest, and stops here:\n%s\n", nearest.Format,
			logformat.Excerpt([]byte(e.First), nearest.Column))
	}
}

// TOMLOf returns the line of a source in orrery.toml with mappings.
func TOMLOf(mappings []string) string {
	pairs := make([]string, len(mappings))
	for i, mapping := range mappings {
		field, path, _ := strings.Cut(mapping, "=")
		pairs[i] = fmt.Sprintf("%s = %s", field, strconv.Quote(path))
	}
	return "map = { " + strings.Join(pairs, ", ") + " }"
}
