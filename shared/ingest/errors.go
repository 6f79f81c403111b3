package ingest

import (
	"errors"
	"io"
	"maps"
	"regexp"
	"slices"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
)

// This file has the errors of an input as a whole. They are written for the user who started the import. In each case
// nothing of the input is imported.

// cutOff is the error of compressed data that end too early.
func cutOff(format string) error {
	return fault.New(fault.Invalid, "the %[1]s file is cut off: its end is missing, and nothing of it was imported. "+
		"Import a complete copy, or the rest of this one as text: %[1]s -dc FILE | orrery import --as FILE -", format)
}

// damaged is the error of data that cannot be decompressed.
func damaged(format string, cause error) error {
	return fault.Wrap(fault.Invalid, cause,
		"the %s file is damaged, and nothing of it was imported; import an intact copy", format)
}

// conversion is the command in a remedy that converts a text.
var conversion = regexp.MustCompile(`: ((?:iconv|tr) [^|]*?)(?: <)? FILE \|`)

// notALog is the error of an input that is a container, perhaps in a compressed file.
func notALog(c container, compression string) error {
	name, remedy := c.name, c.remedy
	if compression != "" {
		name += ", compressed with " + compression
		// A command that reads the file reads what another one decompresses.
		remedy = conversion.ReplaceAllString(remedy, ": "+compression+" -dc FILE | $1 |")
	}
	return fault.New(fault.Invalid, "this is %s, not a log, and nothing of it was imported. %s", name, remedy)
}

// unknownField is the error of a default for an unknown field. nearest is the most similar field or "".
func unknownField(name, nearest string) error {
	if nearest == "" {
		return fault.New(fault.Invalid, "there is no field %q to set", name)
	}
	return fault.New(fault.Invalid, "there is no field %q to set; did you mean %q?", name, nearest)
}

// tooManyPartitions is the error of a log whose records are in too many hours.
func tooManyPartitions(hours map[lake.Partition]struct{}) error {
	sorted := slices.Sorted(maps.Keys(hours))
	return fault.New(fault.Invalid, "the records are in more than %d hours, from %s to %s, and each hour would become "+
		"a file. Nothing was imported; if the times are right, split the log by year",
		MaxPartitions, sorted[0], sorted[len(sorted)-1])
}

// OlderCopy is wrapped by the error of a log that may be an older, shorter copy of an imported log. A caller that still
// has the imported log can compare the two with IsOlderCopy.
type OlderCopy struct{ Of Entry }

func (o *OlderCopy) Error() string { return "the longer log was imported as " + o.Of.Name }

// olderCopy is the error of a log of length bytes that may be an older, shorter copy of the imported log e.
func olderCopy(length int64, e Entry) error {
	remedy := "under another name"
	if e.Log == "" { // every name matches
		remedy = "without the lines that both logs have"
	}
	return fault.Wrap(fault.Invalid, &OlderCopy{Of: e}, "this log begins like source %s, "+
		"of which %d bytes are imported, "+
		"and ends after %d bytes: it looks like an older copy, and its lines would be counted twice. "+
		"Nothing was imported; if it is another log, import it %s",
		e.Source, e.Length, length, remedy)
}

// archiveError returns an error of kind fault.Invalid for an archive that cannot be read. It returns io.EOF and nil as
// they are.
func archiveError(err error) error {
	var known *fault.Error
	var origin *originError
	switch {
	case err == nil || err == io.EOF: //nolint:errorlint // a wrapped io.EOF is not the end
		return err
	case errors.As(err, &known):
		return err
	case errors.As(err, &origin):
		return origin.cause
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fault.New(fault.Invalid,
			"the archive is cut off: its end is missing. The logs before that are imported; import a complete copy")
	}
	return fault.Wrap(fault.Invalid, err, "the archive is damaged; import an intact copy")
}

// encryptedMember is the error of an encrypted member of an archive.
func encryptedMember() error {
	return fault.New(fault.Invalid, "the member is encrypted. Unpack the archive and import the logs in it")
}

// sparseMember is the error of a file of which a tar archive leaves out the parts without data.
func sparseMember() error {
	return fault.New(fault.Invalid, "the file has holes, which the archive leaves out (tar -S), and nothing of it was "+
		"imported. Unpack the archive and import the log")
}

// tooManyMembers is the error of an archive with more members than an import reads.
func tooManyMembers() error {
	return fault.New(fault.Invalid, "the archive has more than %d members, of which the first are imported. "+
		"Unpack it and import the others", MaxMembers)
}

// decompressionBomb is the error of an archive whose content is much longer than logs are.
func decompressionBomb() error {
	return fault.New(fault.Invalid, "the content is more than %d times as long as the archive, and the rest of it is "+
		"not read. If it is logs, unpack the archive and import them", bombRatio)
}
