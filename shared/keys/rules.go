package keys

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/orrery/orrery/shared/fault"
)

// What a grant may say.
const (
	maxBranches    = 100
	maxBranchBytes = 128 // bytes
)

// namePattern is how keys may be called: the name stands in logs and in the history of planets.
var namePattern = regexp.MustCompile(`\A[A-Za-z0-9][A-Za-z0-9_.@ -]{0,63}\z`)

// check tells the first thing that is wrong with a grant.
func (g Grant) check(now time.Time) error {
	if !namePattern.MatchString(g.Name) {
		return badName(g.Name)
	}
	if len(g.Scopes) == 0 {
		return noScope()
	}
	for _, scope := range g.Scopes {
		if !slices.Contains(Scopes(), scope) {
			return badScope(scope)
		}
	}
	if len(g.Branches) > maxBranches {
		return tooManyBranches(len(g.Branches))
	}
	for _, branch := range g.Branches {
		if branch == "" || len(branch) > maxBranchBytes || strings.ContainsFunc(branch, notPrintable) {
			return badBranch(branch)
		}
	}
	if !g.Expires.IsZero() && !g.Expires.After(now) {
		return badExpiry(g.Expires)
	}
	return nil
}

func notPrintable(r rune) bool { return !unicode.IsPrint(r) }

// The messages, one function each, so that their voice is one.

func badName(name string) error {
	return fault.New(fault.Invalid, "%q is no name for a key: begin with a letter or digit, then at most 63 of letters, digits, space and _ . @ -", name)
}

func noScope() error {
	return fault.New(fault.Invalid, "a key without a scope allows nothing; scopes are %s", scopeList())
}

func badScope(scope Scope) error {
	return fault.New(fault.Invalid, "there is no scope %q; scopes are %s", string(scope), scopeList())
}

func tooManyBranches(count int) error {
	return fault.New(fault.Invalid, "%d branches are too many: a key may name %d, or none to see all", count, maxBranches)
}

func badBranch(branch string) error {
	return fault.New(fault.Invalid, "%q is no branch: it has 1 to %d bytes of printable characters", branch, maxBranchBytes)
}

func badExpiry(at time.Time) error {
	return fault.New(fault.Invalid, "a key that expires at %s would never be of use", at.UTC().Format(time.RFC3339))
}

func noneToRevoke(which string) error {
	return fault.New(fault.NotFound, "no key has the ID %q, and none that is not revoked has that name", which)
}

func severalToRevoke(name string, named []Key) error {
	ids := make([]string, len(named))
	for i, k := range named {
		ids[i] = k.ID
	}
	return fault.New(fault.Conflict, "%d keys are called %q: name the one you mean by its ID, which is one of %s", len(named), name, strings.Join(ids, ", "))
}

// NotFound is the error of a store that has no key with that ID.
func NotFound(id string) error { return fault.New(fault.NotFound, "there is no key %s", id) }

// Taken is the error of a store in which another key has that ID.
func Taken(id string) error { return fault.New(fault.Conflict, "another key is %s already", id) }

func scopeList() string {
	texts := make([]string, len(Scopes()))
	for i, scope := range Scopes() {
		texts[i] = string(scope)
	}
	return strings.Join(texts, ", ")
}
