package logformat

import (
	_ "embed"
	"strings"
)

//go:embed README.md
var readme string

// Describe returns the section of README.md about a format: what it is, and where each field comes from. It returns ""
// for a name that has no section.
func Describe(name string) string {
	if of, ok := aliases[name]; ok {
		name = of
	}
	_, section, found := strings.Cut(readme, "\n## "+name+"\n")
	if !found {
		return ""
	}
	section, _, _ = strings.Cut(section, "\n## ")
	return strings.TrimSpace(section) + "\n"
}
