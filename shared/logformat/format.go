// Package logformat converts a line of a log to a record of the specification. It has one file for each format, and
// detects the format by the first lines of a log. README.md lists the source of each field.
package logformat

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-faster/jx"

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
	native{}, awsWAF{}, caddy{}, nginxJSON, cloudFront, w3c{name: w3cName}, alb{}, envoy, istio, haproxyHTTP,
	combined{},
}

// aliases are further names of formats.
var aliases = map[string]string{
	"common": "combined", "vcombined": "combined", "apache": "combined", "nginx": "combined", "iis": "w3c",
}

// ByName returns the format with a name. The name of a format that its user defines is a format string of Apache or
// nginx, a regular expression after "pattern:", or a list of mappings after "map:". A zone may be in front, see InZone.
// The error for an unknown name lists
// the formats.
func ByName(name string) (Format, error) {
	if zone, name := CutZone(name); zone != "" {
		f, err := ByName(name)
		if err != nil {
			return nil, err
		}
		return InZone(f, zone)
	}
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

// ByteOrderMark is the UTF-8 byte order mark. A line may begin with it, because the log does, or because the log
// consists of several that do. It is not part of the line.
var ByteOrderMark = []byte("\xef\xbb\xbf")

// detectLines is the number of lines that Detect reads.
const detectLines = 20

// Words returns the name of a format and its zone for people. A format that a user has defined has no name.
func Words(format string) string {
	if zone, format := CutZone(format); zone != "" {
		return Words(format) + ", " + zone
	}
	switch {
	case IsMapping(format):
		return "mapped JSON"
	case IsPattern(format):
		return "pattern"
	case IsFormatString(format):
		return "format string"
	}
	return format
}

// Detect returns the format that matches most of the first lines of a log. Records in Orrery's own format must be more
// than other objects with a timestamp. The error is of kind fault.Invalid and wraps an *UnrecognizedError.
func Detect(head []byte) (Format, error) {
	var lines [][]byte
	votes := make([]int, len(Formats))
	strangers := 0 // objects with a timestamp of no known format
	for line := range bytes.Lines(head) {
		line = bytes.TrimSpace(bytes.TrimPrefix(line, ByteOrderMark))
		if len(line) == 0 {
			continue
		}
		if len(lines) == detectLines {
			break
		}
		lines = append(lines, line)
		if f := formatOf(line); f >= 0 {
			votes[f]++
		} else if mayBeNative(line) && jx.Valid(line) {
			strangers++
		}
	}
	best := 0
	for i := range Formats {
		if votes[i] > votes[best] {
			best = i
		}
	}
	if votes[best] == 0 || isList(lines[0]) || Formats[best] == (native{}) && strangers >= votes[best] {
		return nil, &fault.Error{Kind: fault.Invalid, Err: unrecognized(lines)}
	}
	return Formats[best], nil
}

// formatOf returns the number of the format that a line looks like, or -1.
func formatOf(line []byte) int {
	return slices.IndexFunc(Formats, func(f Format) bool { return matches(f, line) })
}

// UnrecognizedError is the error for a log of no known format. Its text has nothing of the log.
type UnrecognizedError struct {
	Lines   int      // how many lines Detect has read
	First   string   // the first line
	Missed  []Miss   // by the formats in JSON if the first line is a JSON object, and by the others if not
	Members []string // of the objects in the lines or in their wrapper, as the paths of mappings; nil without objects
	Map     []string // mappings that fit the objects in the lines; nil if none are found
	Wrapped *Wrapped // nil, unless the lines are in a known wrapper, and those inside have a known format or are objects
}

// Miss is why a line does not have a format, and the column where it stops having it, or 0 if that is not known.
type Miss struct {
	Format, Reason string
	Column         int
}

func unrecognized(lines [][]byte) error {
	var first []byte
	if len(lines) > 0 {
		first = lines[0]
	}
	e := &UnrecognizedError{Lines: len(lines), First: string(first), Wrapped: cmp.Or(wrapped(lines), unlined(first))}
	isObject := bytes.HasPrefix(first, []byte("{"))
	for _, f := range Formats {
		if text, json := linesOf(f); isObject && !json || !isObject && !text {
			continue
		}
		reason := "the object has no member that the format always has"
		column := 0
		if f == (native{}) {
			reason = native{}.missed(first)
		} else if _, err := f.Convert(nil, first); err != nil {
			reason = err.Error()
			if r := (*record.Reject)(nil); errors.As(err, &r) {
				column = r.Column
			}
		}
		e.Missed = append(e.Missed, Miss{f.Name(), reason, column})
	}
	switch {
	case e.Wrapped != nil && e.Wrapped.objects != nil:
		e.Members, e.Wrapped.Map = membersAndMappings(e.Wrapped.objects)
	case e.Wrapped == nil && isObject:
		e.Members, e.Map = membersAndMappings(lines)
	}
	return e
}

// membersAndMappings returns the members of the objects in lines as the paths of mappings, and mappings that fit them.
func membersAndMappings(lines [][]byte) (members, mappings []string) {
	leaves := leavesOf(lines)
	for _, leaf := range leaves {
		members = append(members, jsonVariable{path: leaf.path}.source())
	}
	return members, suggestMappings(lines, leaves)
}

// linesOf reports whether the lines of a known format are text, JSON objects, or either.
func linesOf(f Format) (text, json bool) {
	switch f := f.(type) {
	case native, awsWAF, caddy, *jsonLog:
		return false, true
	case w3c:
		return true, f.name == cloudFrontName
	}
	return true, false
}

func (e *UnrecognizedError) Error() string {
	if e.Wrapped != nil {
		return e.Wrapped.String()
	}
	text := e.What()
	return text + "; name the format with --format, or describe it with --log-format, --pattern or --map"
}

// shownMembers is the number of members that ShownMembers lists.
const shownMembers = 40

// MaxShown is the number of bytes of the first line that a message about an UnrecognizedError shows.
const MaxShown = 400

// What says what is wrong, without a remedy.
func (e *UnrecognizedError) What() string {
	if e.Lines > 1 {
		return fmt.Sprintf("none of the first %d lines looks like a known log format", e.Lines)
	}
	return "the first line does not look like a known log format"
}

// ShownMembers returns the first members in a list, or "" if there are none.
func (e *UnrecognizedError) ShownMembers() string {
	text := strings.Join(e.Members[:min(len(e.Members), shownMembers)], ", ")
	if more := len(e.Members) - shownMembers; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
