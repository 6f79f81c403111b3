// Package logformat converts a line of a log to a record of the specification. It has one file for each format, and
// detects the format by the first lines of a log. README.md lists the source of each field.
package logformat

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
)

// Format is a log format. It converts a line to a record of the specification, written as one JSON object, so that all
// formats share one decoder. A Format has no state, so several goroutines may use it at once.
type Format interface {
	// Name returns the name of the format for ByName.
	Name() string
	// Matches reports whether a line looks like this format. It need not be exact.
	Matches(line []byte) bool
	// Convert returns the record of a line: the line itself, or JSON appended to dst. For a line that is not of the
	// format, the error is a *record.Reject. Convert keeps members that are not in the specification as they are.
	Convert(dst, line []byte) ([]byte, error)
	// Complete sets the fields that depend on several others. It is called after defaults are set.
	Complete(row *lake.Row)
}

// Formats lists the formats in the order in which detection prefers them.
var Formats = []Format{native{}, awsWAF{}, caddy{}, alb{}, combined{}}

// ByName returns the format with a name. The name of a format that its user defines is a format string of Apache or
// nginx. The error for an unknown name lists the formats.
func ByName(name string) (Format, error) {
	if IsFormatString(name) {
		return ByFormatString(name)
	}
	names := make([]string, len(Formats))
	for i, s := range Formats {
		if s.Name() == name {
			return s, nil
		}
		names[i] = s.Name()
	}
	return nil, fault.New(fault.Invalid, "unknown format %q; use one of auto, %s", name, strings.Join(names, ", "))
}

// BadLine is the code of a line that does not have the format of its log.
const BadLine record.Code = "bad_line"

func badLine(format string, args ...any) error {
	return &record.Reject{Code: BadLine, Message: fmt.Sprintf(format, args...)}
}

// ByteOrderMark is the UTF-8 byte order mark. A log may begin with it; it is not part of the first line.
var ByteOrderMark = []byte("\xef\xbb\xbf")

// detectLines is the number of lines that Detect reads.
const detectLines = 20

// Detect returns the format that matches most of the first lines of a log.
func Detect(head []byte) (Format, error) {
	votes := make([]int, len(Formats))
	seen := 0
	for line := range bytes.Lines(bytes.TrimPrefix(head, ByteOrderMark)) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if seen++; seen > detectLines {
			break
		}
		for i, s := range Formats {
			if s.Matches(line) {
				votes[i]++
				break
			}
		}
	}
	best := 0
	for i := range Formats {
		if votes[i] > votes[best] {
			best = i
		}
	}
	if votes[best] == 0 {
		const message = "none of the first %d lines looks like a known log format; name the format with --format, " +
			"or give the format string of the server with --log-format"
		return nil, fault.New(fault.Invalid, message, min(seen, detectLines))
	}
	return Formats[best], nil
}
