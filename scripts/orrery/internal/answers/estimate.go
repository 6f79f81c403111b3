package answers

import (
	"fmt"
	"io"
	"strings"

	"github.com/orrery/orrery/shared/search"
)

// WriteEstimate prints what a query would read and cost.
func WriteEstimate(w io.Writer, e search.Estimate) error {
	var text strings.Builder
	line := func(name, value string) { fmt.Fprintf(&text, "%-10s %s\n", name, value) }
	if e.Partitions != nil {
		line("partitions", fmt.Sprint(*e.Partitions))
	}
	if e.Objects != nil {
		line("objects", fmt.Sprint(*e.Objects))
	}
	if e.Reused > 0 {
		line("reused", fmt.Sprint(e.Reused))
	}
	if e.Rows != nil {
		line("rows", fmt.Sprint(*e.Rows))
	}
	size := "not known"
	if e.Bytes != nil {
		size = fromTo(fmt.Sprint(e.Bytes.Low), fmt.Sprint(e.Bytes.High))
	}
	line("bytes", size)
	if p := e.CostUSD; p != nil {
		line("price", fromTo(fmt.Sprintf("$%.6f", p.Low), fmt.Sprintf("$%.6f", p.High)))
	}
	if t := e.WaitMS; t != nil {
		line("wait", fromTo(fmt.Sprintf("%.0f ms", t.Low), fmt.Sprintf("%.0f ms", t.High)))
	}
	for _, c := range e.Columns {
		size := ""
		if c.Bytes != nil {
			size = fmt.Sprintf(" %d", *c.Bytes)
		}
		line("column", c.Name+size)
	}
	for _, warning := range e.Warnings {
		line("warning", warning)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// fromTo returns a range as text, or one value if both ends are equal.
func fromTo(low, high string) string {
	if low == high {
		return low
	}
	return "from " + low + " to " + high
}
