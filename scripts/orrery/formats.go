package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/orrery/orrery/shared/logformat"
)

type formatsCommand struct {
	Name string `arg:"" optional:"" help:"Format to describe: where each field comes from."`
}

// Run prints the description of one format, or a line for each format.
func (f *formatsCommand) Run(c console) error {
	if f.Name != "" {
		if _, err := logformat.ByName(f.Name); err != nil {
			return &exitError{code: exitUsage, message: err.Error()}
		}
		_, err := fmt.Fprint(c.out, logformat.Describe(f.Name))
		return err
	}
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	for _, name := range logformat.Names() {
		text, _, _ := strings.Cut(logformat.Describe(name), "\n\n")
		first, _, _ := strings.Cut(strings.ReplaceAll(text, "\n", " "), ". ")
		fmt.Fprintf(w, "%s\t%s\n", name, strings.TrimSuffix(first, "."))
	}
	fmt.Fprintln(w, "--log-format STRING\tAny other layout of Apache and nginx")
	fmt.Fprintln(w, "--pattern REGEXP\tAny other text")
	fmt.Fprintln(w, "--map FIELD=PATH\tAny other logs in JSON")
	return w.Flush()
}
