package document

import "github.com/orrery/orrery/shared/fault"

// NotFound returns the error of a store that does not have the document or, if number is not 0, no such version.
func NotFound(id ID, number int) error {
	switch {
	case number != 0:
		return fault.New(fault.NotFound, "%s has no version %d", id, number)
	case id.Name == "":
		return fault.New(fault.NotFound, "there is no %s in configuration %q", id.Kind, id.Config)
	}
	return fault.New(fault.NotFound, "there is no %s %q in configuration %q", id.Kind, id.Name, id.Config)
}

// Taken returns the error of a store for a version whose number is not the next.
func Taken(id ID, number int) error {
	return fault.New(fault.Conflict, "version %d of %s is not the next one", number, id)
}

func isDeletion(id ID, number int) error {
	return fault.New(fault.NotFound, "version %d of %s is its deletion, which has no contents", number, id)
}

func notYetThere(id ID) error {
	return fault.Wrap(fault.Conflict, NotFound(id, 0), "the %s does not exist yet", id.Kind)
}

func alreadyThere(id ID, newest Info) error {
	return fault.New(fault.Conflict, "the %s exists already, with ETag %s", id.Kind, newest.ETag)
}

func changedSince(id ID, newest Info) error {
	return fault.New(fault.Conflict, "the %s has changed since it was read: its ETag is now %s "+
		"(version %d, written by %s). Read it again, make your change to that, and send it with the new ETag",
		id.Kind, newest.ETag, newest.Number, newest.By)
}
