package ingest

import (
	"maps"
	"slices"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
)

// What is wrong with an input as a whole, in words for whoever started the import. In each case nothing of the input
// is imported.

// cutOff says that compressed data end too early.
func cutOff(format string) error {
	return fault.New(fault.Invalid, "the %[1]s file is cut off: its end is missing, and nothing of it was imported. Import a whole copy, "+
		"or what is left of this one as text: %[1]s -dc FILE | orrery import -", format)
}

// damaged says that compressed data cannot be decompressed.
func damaged(format string, cause error) error {
	return fault.Wrap(fault.Invalid, cause, "the %s file is damaged, and nothing of it was imported; import a whole copy", format)
}

// notALog says that an input, perhaps inside a compression, is of a kind that holds no lines of a log.
func notALog(c container, compression string) error {
	name := c.name
	if compression != "" {
		name += ", compressed with " + compression
	}
	return fault.New(fault.Invalid, "this is %s, not a log, and nothing of it was imported. %s", name, c.remedy)
}

// unknownField says that a default names no field; nearest may be empty.
func unknownField(name, nearest string) error {
	if nearest == "" {
		return fault.New(fault.Invalid, "there is no field %q to set", name)
	}
	return fault.New(fault.Invalid, "there is no field %q to set; did you mean %q?", name, nearest)
}

// tooManyPartitions says that the times of a log are spread too widely.
func tooManyPartitions(hours map[lake.Partition]struct{}) error {
	sorted := slices.Sorted(maps.Keys(hours))
	return fault.New(fault.Invalid, "the records lie in more than %d hours, from %s to %s: each would become a file of its own. "+
		"Nothing was imported; if the times are right, cut the log into several, by year", MaxPartitions, sorted[0], sorted[len(sorted)-1])
}

// OlderCopy is in the error of a log that may be an older, shorter copy of what an import took. Who still has that can
// tell, with HasBeginning.
type OlderCopy struct{ Of Entry }

func (o *OlderCopy) Error() string { return "the longer one was imported as " + o.Of.Name }

// olderCopy says that a log may be an older, shorter copy of one imported before.
func olderCopy(length int64, e Entry) error {
	return fault.Wrap(fault.Invalid, &OlderCopy{Of: e}, "this log begins as source %s does, of which %d bytes are imported, and ends after %d bytes: it looks like an older copy, "+
		"whose lines would be counted twice. Nothing was imported; if it is another log, import it without the lines that both have", e.Source, e.Length, length)
}
