package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/catalog"
)

type fieldsCommand struct{}

// Run prints the catalogue, one field per line.
func (fieldsCommand) Run(c terminal.Console) error {
	w := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "field\ttype\toperators\tkeys\texample\tmeaning")
	for _, f := range catalog.Describe() {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n",
			f.Name, f.Type, strings.Join(f.Operators, " "), keysText(f.Key), f.Example, f.Doc)
	}
	return w.Flush()
}

// keysText returns the keys that a field accepts: the names of its members, "any", or "-".
func keysText(k *catalog.Keys) string {
	if k == nil {
		return "-"
	}
	if len(k.Members) == 0 {
		return "any"
	}
	names := make([]string, len(k.Members))
	for i, m := range k.Members {
		names[i] = m.Name
	}
	return strings.Join(names, " ")
}
