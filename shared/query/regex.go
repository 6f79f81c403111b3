package query

import (
	"regexp"
)

// Regex is a user's RE2 pattern, parsed once and re-printed canonically. Only the re-print reaches an engine.
type Regex struct {
	Source    string // as written, for the canonical filter
	Canonical string // RE2 syntax, printed from the syntax tree
	Compiled  *regexp.Regexp
}
