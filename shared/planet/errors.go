package planet

import (
	"fmt"
	"strings"

	"github.com/orrery/orrery/shared/fault"
)

// Problem is one error in a body of settings. Loc is its place, such as ["body", "trusted_nets", 2, "address"].
type Problem struct {
	Loc  []any // strings and ints
	Msg  string
	Type string // stable: value_error.missing, type_error.string, …
}

// maxProblems is the maximum number of problems reported at once.
const maxProblems = 20

// Problems is the errors in a body, at most maxProblems, in the order of the rules.
type Problems []Problem

func (p Problems) Error() string {
	parts := make([]string, len(p))
	for i, one := range p {
		parts[i] = one.Msg
	}
	return strings.Join(parts, "; ")
}

func (p *Problems) add(loc []any, kind, format string, args ...any) {
	if len(*p) < maxProblems {
		*p = append(*p, Problem{Loc: loc, Type: kind, Msg: fmt.Sprintf(format, args...)})
	}
}

// asError returns the problems as an error of kind fault.Invalid, or nil if there are none.
func (p Problems) asError() error {
	if len(p) == 0 {
		return nil
	}
	return fault.Wrap(fault.Invalid, p, "the planet settings are invalid")
}

// All error messages of the package are below.

func (p *Problems) missing(loc []any) { p.add(loc, "value_error.missing", "field required") }

func (p *Problems) wrongType(loc []any, want kind) {
	p.add(loc, "type_error."+string(want), "must be %s", want.article())
}

func (p *Problems) repeated(loc []any) {
	p.add(loc, "value_error.repeated", "this member is given more than once")
}

func (p *Problems) notJSON(format string, args ...any) {
	p.add(at(), "value_error.jsondecode", "the body is not JSON: "+format, args...)
}

func (p *Problems) otherID(got string) {
	p.add(at("id"), "value_error.id", "the body is of entry %q, the path of entry %q", got, EntryID)
}

func (p *Problems) emptyText(loc []any) { p.add(loc, "value_error.empty", "must not be empty") }

func (p *Problems) badSource(loc []any, source string) {
	p.add(loc, "value_error.source", "%q is not a source; use %q or %q", source, SourceIP, SourceGlobalFilter)
}

// otherForm reports a member of an entry that belongs to entries of another source.
func (p *Problems) otherForm(loc []any, source string) {
	p.add(loc, "value_error.source", "only entries with \"source\": %q have %s", source, loc[len(loc)-1])
}

func (p *Problems) badAddress(loc []any, address string) {
	p.add(loc, "value_error.address",
		"%q is not an IP address or a network such as 192.0.2.0/24 or 2001:db8::/32", address)
}

func (p *Problems) sameNetwork(loc []any, address, first string, index int) {
	p.add(loc, "value_error.duplicate", "%q is the same network as %q at index %d", address, first, index)
}

func tooLarge() error {
	return fault.New(fault.TooLarge, "planet settings may have at most %d bytes", MaxBytes)
}
