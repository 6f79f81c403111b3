// Package completion writes scripts with which shells complete the command line of a program. Everything in a script
// comes from the table of commands and flags that also parses the command line.
package completion

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// Shells lists the shells that have a script.
var Shells = []string{"bash", "fish", "zsh"}

// Write writes the script of a shell.
func Write(w io.Writer, shell string, program *kong.Node) error {
	commands := commandsOf(program, "")
	var b strings.Builder
	switch shell {
	case "bash":
		bash(&b, program.Name, commands)
	case "fish":
		fish(&b, program.Name, commands)
	case "zsh":
		zsh(&b, program.Name, commands)
	default:
		panic("completion: unknown shell " + shell)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// kind is what a value can be completed with.
type kind int

const (
	nothing kind = iota
	words        // one of a list
	file
	folder
)

// command is a command that a user can have typed so far. The program itself is one, too.
type command struct {
	path     string // the names after the program's, each after a space
	children []word
	flags    []flag
	argument value // what an argument can be; words and files of several arguments are taken together
}

type word struct{ name, help string }

type value struct {
	kind  kind
	words []string
}

type flag struct {
	word
	short   rune // 0: none
	boolean bool
	value   value
}

// commandsOf returns a command and all commands below it.
func commandsOf(n *kong.Node, path string) []command {
	c := command{path: path}
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			boolean := f.IsBool() || f.IsCounter()
			one := flag{word: word{f.Name, f.Help}, short: f.Short, boolean: boolean}
			if !boolean {
				one.value = valueOf(f.Value, f.PlaceHolder)
			}
			c.flags = append(c.flags, one)
			if f.Tag.Negatable != "" {
				c.flags = append(c.flags, flag{word: word{"no-" + f.Name, "Do not: " + f.Help}, boolean: true})
			}
		}
	}
	for _, p := range n.Positional {
		v := valueOf(p, p.Tag.PlaceHolder)
		c.argument.kind = max(c.argument.kind, v.kind)
		c.argument.words = append(c.argument.words, v.words...)
	}
	list := []command{c}
	for _, child := range n.Children {
		if !child.Hidden {
			list[0].children = append(list[0].children, word{child.Name, child.Help})
			list = append(list, commandsOf(child, path+" "+child.Name)...)
		}
	}
	return list
}

// valueOf returns what a value can be, by its list or by its placeholder or name.
func valueOf(v *kong.Value, placeholder string) value {
	if v.Enum != "" {
		return value{words, v.EnumSlice()}
	}
	if placeholder == "" && v.Flag == nil {
		placeholder = strings.ToUpper(v.Name)
	}
	switch placeholder {
	case "FILE":
		return value{kind: file}
	case "DIR":
		return value{kind: folder}
	}
	return value{}
}

// valued calls add for each flag with a value.
func valued(commands []command, add func(c command, f flag)) {
	for _, c := range commands {
		for _, f := range c.flags {
			if !f.boolean {
				add(c, f)
			}
		}
	}
}

// patterns returns the commands below the program as patterns of a case.
func patterns(commands []command, quote func(string) string, separator string) string {
	var list []string
	for _, c := range commands[1:] {
		list = append(list, quote(c.path))
	}
	return strings.Join(list, separator)
}

// names returns the flags as they are typed.
func names(flags []flag) []string {
	var list []string
	for _, f := range flags {
		list = append(list, "--"+f.name)
	}
	return list
}

func childNames(c command) []string {
	var list []string
	for _, child := range c.children {
		list = append(list, child.name)
	}
	return list
}

// quoted returns text in single quotes, for bash and zsh.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func linef(b *strings.Builder, format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
