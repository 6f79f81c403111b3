package completion

import "strings"

// fish writes a line for each command, flag and argument.
func fish(b *strings.Builder, program string, commands []command) {
	linef(b, "# Completion of %s for fish.", program)
	linef(b, "function __%s_at", program)
	b.WriteString(`	set -l at
	for word in (commandline -opc)[2..-1]
		switch "$at $word"
`)
	linef(b, "\t\t\tcase %s", patterns(commands, fishQuoted, " "))
	b.WriteString("\t\t\t\tset at \"$at $word\"\n\t\tend\n\tend\n\ttest \"$at\" = \"$argv[1]\"\nend\n")
	linef(b, "complete -c %s -f", program)
	for _, c := range commands {
		begin := "complete -c " + program + " -n " + fishQuoted("__"+program+"_at "+fishQuoted(c.path))
		for _, child := range c.children {
			linef(b, "%s -a %s -d %s", begin, child.name, fishQuoted(child.help))
		}
		if v := fishValue(c.argument); v != "" {
			linef(b, "%s %s", begin, v)
		}
		for _, f := range c.flags {
			line := begin + " -l " + f.name + " -d " + fishQuoted(f.help)
			if f.short != 0 {
				line += " -s " + string(f.short)
			}
			if !f.boolean {
				line += " -r " + fishValue(f.value)
			}
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
}

// fishValue returns the options that complete a value.
func fishValue(v value) string {
	var options []string
	if len(v.words) > 0 {
		options = append(options, "-f -a "+fishQuoted(strings.Join(v.words, " ")))
	}
	switch v.kind {
	case file:
		options = append(options, "-F")
	case folder:
		options = append(options, "-f -a '(__fish_complete_directories)'")
	case nothing, words:
	}
	return strings.Join(options, " ")
}

func fishQuoted(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}
