package completion

import (
	"slices"
	"strings"
)

// bash writes a function for bash 3.2, which macOS has, and later. Bash splits --flag=value into three words.
func bash(b *strings.Builder, program string, commands []command) {
	linef(b, "# Completion of %s for bash.", program)
	linef(b, "_%s() {", program)
	b.WriteString(`	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} at= i words= flags= kind=
	if [[ $cur == = ]]; then
		cur=
	elif [[ $prev == = ]]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	for ((i = 1; i < COMP_CWORD; i++)); do
		case "$at ${COMP_WORDS[i]}" in
`)
	linef(b, "\t\t%s) at=\"$at ${COMP_WORDS[i]}\" ;;", patterns(commands, quoted, " | "))
	b.WriteString("\t\tesac\n\tdone\n\tcase \"$at $prev\" in\n")
	valued(commands, func(c command, f flag) {
		linef(b, "\t%s) %s ;;", quoted(c.path+" --"+f.name), bashValue(f.value))
	})
	b.WriteString("\t*)\n\t\tcase \"$at\" in\n")
	for _, c := range commands {
		linef(b, "\t\t%s) flags=%s %s ;;", quoted(c.path), quoted(strings.Join(names(c.flags), " ")),
			bashValue(value{c.argument.kind, slices.Concat(childNames(c), c.argument.words)}))
	}
	b.WriteString(`		esac
		[[ $cur != -* ]] || words=$flags kind=
		;;
	esac
	COMPREPLY=($(compgen -W "$words" -- "$cur"))
	[[ -n $kind ]] || return 0
	local IFS=$'\n'
	COMPREPLY+=($(compgen "$kind" -- "$cur"))
	compopt -o filenames 2>/dev/null || true
}
`)
	linef(b, "complete -F _%s %s", program, program)
}

// bashValue returns assignments of words and of the kind of files.
func bashValue(v value) string {
	assignments := "words=" + quoted(strings.Join(v.words, " "))
	switch v.kind {
	case file:
		assignments += " kind=-f"
	case folder:
		assignments += " kind=-d"
	case nothing, words:
	}
	return assignments
}
