package ingest

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
)

// Source is a log format. It turns a line into a record of the specification, written as one JSON object, so that
// every format shares one way of decoding. A Source has no state: several goroutines use it at once.
type Source interface {
	// Name is what --format calls it.
	Name() string
	// Matches tells whether a line looks like this format; it need not be perfect.
	Matches(line []byte) bool
	// Convert gives the record of a line: the line itself, or JSON appended to dst. A line that is not of the
	// format is a *record.Reject. Members that the specification does not know are kept as they are.
	Convert(dst, line []byte) ([]byte, error)
	// Complete fills what follows from several fields, after defaults were set.
	Complete(row *lake.Row)
}

// Sources lists the formats in the order in which detection prefers them.
var Sources = []Source{orrerySource{}, wafSource{}, albSource{}, combinedSource{}}

// SourceByName finds a format.
func SourceByName(name string) (Source, error) {
	names := make([]string, len(Sources))
	for i, s := range Sources {
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

// detectLines is how many lines detection looks at.
const detectLines = 20

// detect finds the format that most of the first lines look like.
func detect(head []byte) (Source, error) {
	var votes [8]int
	seen := 0
	for line := range bytes.Lines(bytes.TrimPrefix(head, byteOrderMark)) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if seen++; seen > detectLines {
			break
		}
		for i, s := range Sources {
			if s.Matches(line) {
				votes[i]++
				break
			}
		}
	}
	best := 0
	for i := range Sources {
		if votes[i] > votes[best] {
			best = i
		}
	}
	if votes[best] == 0 {
		return nil, fault.New(fault.Invalid, "none of the first %d lines looks like a known log format; say which with --format", min(seen, detectLines))
	}
	return Sources[best], nil
}

// object appends the members of one JSON object to b.
type object struct {
	b     []byte
	comma bool
}

func newObject(dst []byte) object { return object{b: append(dst, '{')} }

func (o *object) close() []byte { return append(o.b, '}') }

func (o *object) name(name string) {
	if o.comma {
		o.b = append(o.b, ',')
	}
	o.comma = true
	o.b = append(appendString(o.b, name), ':')
}

// raw appends a member whose value is JSON already.
func (o *object) raw(name string, value []byte) {
	o.name(name)
	o.b = append(o.b, value...)
}

// text appends a member of text; nil is no member.
func (o *object) text(name string, value []byte) {
	if value == nil {
		return
	}
	o.name(name)
	o.b = appendString(o.b, value)
}

func (o *object) flag(name string, value bool) {
	o.name(name)
	if value {
		o.b = append(o.b, "true"...)
	} else {
		o.b = append(o.b, "false"...)
	}
}

// pair is a name and a value.
type pair struct{ name, value []byte }

// pairs appends a list of {name, value}; an empty one is no member.
func (o *object) pairs(name string, list []pair) {
	if len(list) == 0 {
		return
	}
	o.name(name)
	o.b = append(o.b, '[')
	for i, p := range list {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = append(o.b, `{"name":`...)
		o.b = appendString(o.b, p.name)
		o.b = append(o.b, `,"value":`...)
		o.b = append(appendString(o.b, p.value), '}')
	}
	o.b = append(o.b, ']')
}

// texts appends a list of strings; an empty one is no member.
func (o *object) texts(name string, list [][]byte) {
	if len(list) == 0 {
		return
	}
	o.name(name)
	o.b = append(o.b, '[')
	for i, s := range list {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = appendString(o.b, s)
	}
	o.b = append(o.b, ']')
}

const hexDigits = "0123456789abcdef"

// appendString appends a JSON string. Bytes that are no UTF-8 go through as they are: the decoder counts and
// replaces them.
func appendString[T string | []byte](b []byte, s T) []byte {
	b = append(b, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(b, s[from:]...), '"')
}
