// Package logformat turns a line of a log into a record of the specification: one file for each format, and the
// detection of the format by the first lines of a log. README.md says which field comes from where.
package logformat

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
)

// Format is a log format. It turns a line into a record of the specification, written as one JSON object, so that all
// formats share one decoder. A Format has no state: several goroutines may use it at once.
type Format interface {
	// Name is what --format calls it.
	Name() string
	// Matches reports whether a line looks like this format; it need not be exact.
	Matches(line []byte) bool
	// Convert returns the record of a line: the line itself, or JSON appended to dst. A line that is not of the
	// format is a *record.Reject. Members that the specification does not know are kept as they are.
	Convert(dst, line []byte) ([]byte, error)
	// Complete sets the fields that follow from several others, after defaults were set.
	Complete(row *lake.Row)
}

// Formats lists the formats in the order in which detection prefers them.
var Formats = []Format{native{}, awsWAF{}, alb{}, combined{}}

// ByName returns the format of a name.
func ByName(name string) (Format, error) {
	names := make([]string, len(Formats))
	for i, s := range Formats {
		if s.Name() == name {
			return s, nil
		}
		names[i] = s.Name()
	}
	return nil, fault.New(fault.Invalid, "unknown format %q: it is one of auto, %s", name, strings.Join(names, ", "))
}

// BadLine is the code of a line that is not of the format.
const BadLine record.Code = "bad_line"

func badLine(format string, args ...any) error {
	return &record.Reject{Code: BadLine, Message: fmt.Sprintf(format, args...)}
}

// ByteOrderMark may begin a log. It is no part of the first line.
var ByteOrderMark = []byte("\xef\xbb\xbf")

// detectLines is how many lines detection looks at.
const detectLines = 20

// Detect returns the format that most of the first lines of a log look like.
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
		return nil, fault.New(fault.Invalid, "none of the first %d lines looks like a known log format; say which with --format", min(seen, detectLines))
	}
	return Formats[best], nil
}
