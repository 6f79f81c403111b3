package completion

import (
	"slices"
	"strings"
)

// zsh writes a function that is loaded from a folder of fpath, or defined by the script.
func zsh(b *strings.Builder, program string, commands []command) {
	linef(b, "#compdef %s", program)
	linef(b, "_%s() {", program)
	b.WriteString(`	local at= cur=$words[CURRENT] before=$words[CURRENT-1] i
	local -a choices flags
	for ((i = 2; i < CURRENT; i++)); do
		case "$at $words[i]" in
`)
	linef(b, "\t\t(%s) at=\"$at $words[i]\" ;;", patterns(commands, quoted, "|"))
	b.WriteString(`		esac
	done
	if [[ $cur == --*=* ]]; then
		before=${cur%%=*}
		compset -P '*='
	fi
	case "$at $before" in
`)
	valued(commands, func(c command, f flag) {
		linef(b, "\t(%s) %s; return ;;", quoted(c.path+" --"+f.name), zshValue(f.value))
	})
	b.WriteString("\tesac\n\tcase \"$at\" in\n")
	for _, c := range commands {
		linef(b, "\t(%s)", quoted(c.path))
		var flags []word
		for _, f := range c.flags {
			flags = append(flags, word{"--" + f.name, f.help})
		}
		linef(b, "\t\tflags=(%s)", described(flags))
		if choices := slices.Concat(c.children, plain(c.argument.words)); len(choices) > 0 {
			linef(b, "\t\tchoices=(%s)", described(choices))
		}
		if c.argument.kind >= file {
			linef(b, "\t\t[[ $cur == -* ]] || %s", zshValue(value{kind: c.argument.kind}))
		}
		b.WriteString("\t\t;;\n")
	}
	b.WriteString(`	esac
	if [[ $cur == -* ]]; then
		_describe -o flag flags
	elif ((${#choices})); then
		_describe choice choices
	fi
}
`)
	linef(b, "if [[ $funcstack[1] == _%[1]s ]]; then\n\t_%[1]s \"$@\"\nelse\n\tcompdef _%[1]s %[1]s\nfi", program)
}

// zshValue returns the command that completes a value.
func zshValue(v value) string {
	switch v.kind {
	case words:
		quotedWords := make([]string, len(v.words))
		for i, w := range v.words {
			quotedWords[i] = quoted(w)
		}
		return "compadd -- " + strings.Join(quotedWords, " ")
	case file:
		return "_files"
	case folder:
		return "_files -/"
	case nothing:
	}
	return "true"
}

// described returns the words of an array for _describe.
func described(list []word) string {
	var all []string
	for _, w := range list {
		text := strings.ReplaceAll(w.name, ":", `\:`)
		if w.help != "" {
			text += ":" + w.help
		}
		all = append(all, quoted(text))
	}
	return strings.Join(all, " ")
}

func plain(names []string) []word {
	var list []word
	for _, name := range names {
		list = append(list, word{name: name})
	}
	return list
}
