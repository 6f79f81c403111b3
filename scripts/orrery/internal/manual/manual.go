// Package manual writes the manual pages of a program. Everything about commands and flags comes from the table that
// also parses the command line.
package manual

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/alecthomas/kong"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
)

// Options are what the pages have besides commands.
type Options struct {
	Version string
	About   string                   // a sentence about the program
	Help    func(*kong.Value) string // the help of a flag or an argument
}

// Pages returns the manual pages by the names of their files: one of the program, and one of each command.
func Pages(program *kong.Node, o Options) map[string]string {
	pages := map[string]string{program.Name + ".1": o.programPage(program)}
	for _, c := range visible(program) {
		pages[program.Name+"-"+c.Name+".1"] = o.commandPage(program.Name, c)
	}
	return pages
}

func (o Options) programPage(program *kong.Node) string {
	var b strings.Builder
	o.begin(&b, program.Name, o.About)
	fmt.Fprintf(&b, ".B %s\n.I command\n[\\fIargument\\fR ...]\n.SH DESCRIPTION\n%s\n", roff(program.Name), roff(o.About))
	b.WriteString(".SH COMMANDS\n")
	for _, c := range visible(program) {
		fmt.Fprintf(&b, ".TP\n.BR %s (1)\n%s\n", roff(program.Name+"-"+c.Name), roff(c.Help))
	}
	b.WriteString(".SH ENVIRONMENT\nA flag of the command line takes precedence over its variable.\n")
	for _, v := range variables(program) {
		fmt.Fprintf(&b, ".TP\n.B %s\nthe flag %s\n", roff(v.name), roff(strings.Join(v.flags, ", ")))
	}
	b.WriteString(".SH EXIT STATUS\n")
	for _, m := range exit.Meanings {
		fmt.Fprintf(&b, ".TP\n.B %d\n%s\n", m.Code, roff(m.Text))
	}
	return b.String()
}

func (o Options) commandPage(program string, c *kong.Node) string {
	var b strings.Builder
	o.begin(&b, program+"-"+c.Name, c.Help)
	leaves := c.Leaves(true)
	if c.Leaf() {
		leaves = []*kong.Node{c}
	}
	for i, leaf := range leaves {
		if i > 0 {
			b.WriteString(".br\n")
		}
		fmt.Fprintf(&b, ".B %s\n%s\n", roff(program+" "+leaf.Path()), roff(arguments(leaf)))
	}
	if c.Leaf() {
		fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", roff(c.Help))
		o.values(&b, c)
	} else {
		b.WriteString(".SH DESCRIPTION\n")
		for _, leaf := range leaves {
			fmt.Fprintf(&b, ".SS %s\n%s\n", roff(program+" "+leaf.Path()), roff(leaf.Help))
			o.values(&b, leaf)
		}
	}
	fmt.Fprintf(&b, ".SH SEE ALSO\n.BR %s (1)\n", roff(program))
	return b.String()
}

// begin writes the header of a page up to the heading of its synopsis.
func (o Options) begin(b *strings.Builder, name, help string) {
	fmt.Fprintf(b, ".TH %s 1 \"\" \"Orrery %s\" \"Orrery\"\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n",
		strings.ToUpper(roff(name)), roff(o.Version), roff(name), roff(strings.TrimSuffix(help, ".")))
}

// values writes the arguments and the flags of a command.
func (o Options) values(b *strings.Builder, c *kong.Node) {
	for _, p := range c.Positional {
		fmt.Fprintf(b, ".TP\n.I %s\n%s\n", roff(strings.ToUpper(p.Name)), roff(o.Help(p)))
	}
	for _, group := range c.AllFlags(true) {
		for _, f := range group {
			name := strings.TrimPrefix(f.String(), "--")
			if f.Tag.Negatable != "" {
				name = "[no-]" + name
			}
			if f.Short == 0 {
				name = "--" + name
			}
			fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(name), roff(o.Help(f.Value)))
		}
	}
}

// arguments returns the synopsis of the arguments of a command.
func arguments(c *kong.Node) string {
	var words []string
	for _, p := range c.Positional {
		word := strings.ToUpper(p.Name)
		if p.IsCumulative() {
			word += " ..."
		}
		if !p.Required {
			word = "[" + word + "]"
		}
		words = append(words, word)
	}
	return strings.Join(append(words, "[flag ...]"), " ")
}

type variable struct {
	name  string
	flags []string
}

// variables returns the variables of the environment that set flags, in order.
func variables(program *kong.Node) []variable {
	flags := map[string][]string{}
	for _, c := range program.Leaves(true) {
		for _, f := range c.Flags {
			for _, env := range f.Envs {
				if name := "--" + f.Name; !f.Hidden && !slices.Contains(flags[env], name) {
					flags[env] = append(flags[env], name)
				}
			}
		}
	}
	var list []variable
	for name, of := range flags {
		list = append(list, variable{name, of})
	}
	slices.SortFunc(list, func(a, b variable) int { return strings.Compare(a.name, b.name) })
	return list
}

func visible(n *kong.Node) []*kong.Node {
	return slices.DeleteFunc(slices.Clone(n.Children), func(c *kong.Node) bool { return c.Hidden })
}

var escapes = strings.NewReplacer(
	`\`, `\e`, "-", `\-`, "\n", " ", "\"", `\(dq`, "'", `\(aq`, "^", `\(ha`, "~", `\(ti`, "`", `\(ga`,
)

// roff returns text for a line of a page, in ASCII, because groff reads other characters by the locale. A line that
// begins with a period would be a request.
func roff(text string) string {
	text = escapes.Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	var b strings.Builder
	for _, r := range text {
		if r > unicode.MaxASCII {
			fmt.Fprintf(&b, `\[u%04X]`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
