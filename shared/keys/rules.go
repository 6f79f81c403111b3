package keys

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/orrery/orrery/shared/fault"
)

// Limits of a grant.
const (
	maxBranches    = 100
	maxBranchBytes = 128 // bytes
)

// namePattern is the form of key names. Logs and the history of planets show them.
var namePattern = regexp.MustCompile(`\A[A-Za-z0-9][A-Za-z0-9_.@ -]{0,63}\z`)

// check returns the first error in a grant.
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

// All error messages of the package are below.

func badName(name string) error {
	return fault.New(fault.Invalid, "%q is not a valid key name: start with a letter or digit, "+
		"then use up to 63 letters, digits, spaces and _ . @ -", name)
}

func noScope() error {
	return fault.New(fault.Invalid, "a key needs at least one scope; the scopes are %s", scopeList())
}

func badScope(scope Scope) error {
	return fault.New(fault.Invalid, "there is no scope %q; the scopes are %s", string(scope), scopeList())
}

func tooManyBranches(count int) error {
	return fault.New(fault.Invalid, "%d branches are too many: name at most %d, or none to allow all branches",
		count, maxBranches)
}

func badBranch(branch string) error {
	return fault.New(fault.Invalid, "%q is not a valid branch: use 1 to %d bytes of printable characters",
		branch, maxBranchBytes)
}

func badExpiry(at time.Time) error {
	return fault.New(fault.Invalid, "the expiry time %s is not in the future", at.UTC().Format(time.RFC3339))
}

func noKeyToRevoke(which string) error {
	return fault.New(fault.NotFound, "no key has the ID %q, and no active key has that name", which)
}

func ambiguousName(name string, named []Key) error {
	ids := make([]string, len(named))
	for i, k := range named {
		ids[i] = k.ID
	}
	return fault.New(fault.Conflict, "%d keys have the name %q; use one of their IDs: %s",
		len(named), name, strings.Join(ids, ", "))
}

// NotFound returns the error of a store that has no key with the ID.
func NotFound(id string) error { return fault.New(fault.NotFound, "there is no key %s", id) }

// Taken returns the error of a store in which another key has the ID.
func Taken(id string) error {
	return fault.New(fault.Conflict, "another key already has the ID %s", id)
}

func scopeList() string {
	texts := make([]string, len(Scopes()))
	for i, scope := range Scopes() {
		texts[i] = string(scope)
	}
	return strings.Join(texts, ", ")
}
