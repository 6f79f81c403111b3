// Package logformat converts a line of a log to a record of the specification. It has one file for each format, and
// detects the format by the first lines of a log. README.md lists the source of each field.
package logformat

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
)

// Format is a log format. It converts a line to a record of the specification, written as one JSON object, so that all
// formats share one decoder. A Format has no state, so several goroutines may use it at once. If the meaning of a line
// depends on lines before it, the format is Directed.
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
var Formats = []Format{
	native{}, awsWAF{}, caddy{}, nginxJSON, cloudFront, w3c{name: w3cName}, alb{}, envoy, istio, haproxyHTTP, combined{},
}

// aliases are further names of formats.
var aliases = map[string]string{
	"common": "combined", "vcombined": "combined", "apache": "combined", "nginx": "combined", "iis": "w3c",
}

// ByName returns the format with a name. The name of a format that its user defines is a format string of Apache or
// nginx, a regular expression after "pattern:", or a list of mappings after "map:". The error for an unknown name lists
// the formats.
func ByName(name string) (Format, error) {
	if list, ok := strings.CutPrefix(name, mappingPrefix); ok {
		return byMappingName(list)
	}
	if text, ok := strings.CutPrefix(name, patternPrefix); ok {
		return ByPattern(text)
	}
	if IsFormatString(name) {
		return ByFormatString(name)
	}
	if of, ok := aliases[name]; ok {
		name = of
	}
	for _, f := range Formats {
		if f.Name() == name {
			return f, nil
		}
	}
	return nil, fault.New(fault.Invalid, "unknown format %q; use one of auto, %s", name, strings.Join(Names(), ", "))
}

// Names returns the names of the formats, in the order of Formats, and then their further names.
func Names() []string {
	names := make([]string, len(Formats))
	for i, f := range Formats {
		names[i] = f.Name()
	}
	return append(names, slices.Sorted(maps.Keys(aliases))...)
}

// Convert converts a line as f.Convert does. If the line is not of the format, but is in quotes, which some exports put
// around every line, Convert converts the text inside.
func Convert(f Format, dst, line []byte) ([]byte, error) {
	text, err := f.Convert(dst, line)
	if err == nil {
		return text, nil
	}
	if inner := unwrap(line); len(inner) < len(line) {
		if text, err := f.Convert(dst, inner); err == nil {
			return text, nil
		}
	}
	return nil, err
}

// matches reports whether a line looks like a format, perhaps in quotes.
func matches(f Format, line []byte) bool {
	if f.Matches(line) {
		return true
	}
	inner := unwrap(line)
	return len(inner) < len(line) && f.Matches(inner)
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
	var first []byte
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
		if seen == 1 {
			first = line
		}
		for i, s := range Formats {
			if matches(s, line) {
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
		return nil, &fault.Error{Kind: fault.Invalid, Err: unrecognized(first, min(seen, detectLines))}
	}
	return Formats[best], nil
}

// UnrecognizedError is the error for a log of no known format. Its text has nothing of the log.
type UnrecognizedError struct {
	Lines  int    // how many lines Detect has read
	First  string // the first line
	Missed []Miss
}

// Miss is why a line does not have a format.
type Miss struct{ Format, Reason string }

func unrecognized(first []byte, lines int) error {
	e := &UnrecognizedError{Lines: lines, First: string(first)}
	for _, f := range Formats {
		reason := "the line is no JSON object"
		if _, err := f.Convert(nil, first); err != nil {
			reason = err.Error()
		} else if len(first) > 0 && first[0] == '{' {
			reason = "the object has no member that the format always has"
		}
		e.Missed = append(e.Missed, Miss{f.Name(), reason})
	}
	return e
}

func (e *UnrecognizedError) Error() string {
	return fmt.Sprintf("none of the first %d lines looks like a known log format; name the format with --format, "+
		"or describe it with --log-format, --pattern or --map", e.Lines)
}
