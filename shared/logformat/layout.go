package logformat

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
)

// layout is a log format that a format string defines: LogFormat of Apache or log_format of nginx. Its name is the
// format string itself, so that whoever has the name can read the log.
type layout struct {
	text   string
	start  string // text before the first variable
	parts  []part
	time   variable // the time, if several variables have parts of it
	escape escaping
	localTime
}

// part is a variable of a format string and what follows it.
type part struct {
	variable variable
	after    string // text after the variable; "" before another variable, and at the end
	end      string // after, and the first byte of the next variable's values; "" means the end of the line
	quoted   bool   // the variable is in double quotes
}

// variable is a variable of a format string, such as %>s or $status.
type variable struct {
	text  string // as in the format string
	role  role
	name  string // of the header, cookie, entry or member
	unit  string // of a time or a duration: timeSeconds and others, or a layout of package time
	first string // the first byte of all values, or ""
	ended bool   // a time is that of the end of the request
	list  bool   // values are lists of nginx: one for each server asked, between them ", " or " : "
}

// escaping is how a server escapes quotes in values.
type escaping int

const (
	escapeLog  escaping = iota // \" and \xHH
	escapeJSON                 // as in JSON strings
)

// IsFormatString reports whether the name of a format is a format string.
func IsFormatString(name string) bool { return strings.ContainsAny(name, "%$") }

// ByFormatString returns the format that a format string defines: LogFormat of Apache or log_format of nginx. The text
// may be a whole directive from the configuration of the server. The error is of kind fault.Invalid.
func ByFormatString(text string) (Format, error) {
	l := layout{text: text}
	format, next := strings.TrimSpace(text), apacheVariable
	if strings.Contains(format, "$") {
		format, l.escape = joinNginx(format)
		next = nginxVariable
	} else {
		format = unquoteApache(format)
	}
	if err := l.parse(format, next); err != nil {
		return nil, err
	}
	if err := l.check(); err != nil {
		return nil, err
	}
	return l, nil
}

func layoutError(format string, args ...any) error {
	return fault.New(fault.Invalid, "log format: "+format, args...)
}

// parse splits a format string into variables and the texts between them. The function next cuts a variable or some
// text off the beginning of a format. If it cuts off text, the variable has no text.
func (l *layout) parse(format string, next func(string) (v variable, text, rest string, err error)) error {
	literal := &l.start
	for len(format) > 0 {
		v, text, rest, err := next(format)
		if err != nil {
			return err
		}
		if v.text == "" {
			*literal += text
		} else {
			quoted := strings.HasSuffix(*literal, `"`) && strings.HasPrefix(rest, `"`)
			l.parts = append(l.parts, part{variable: v, quoted: quoted})
			literal = &l.parts[len(l.parts)-1].after
		}
		format = rest
	}
	return nil
}

// check returns an error if the values of a line could not be told apart, or if records would lack their time. If
// several variables have the same role, the first one sets the field.
func (l *layout) check() error {
	if err := l.chooseTime(); err != nil {
		return err
	}
	seen := map[role]bool{}
	for i := range l.parts {
		p := &l.parts[i]
		p.end = p.after
		if i+1 < len(l.parts) {
			next := l.parts[i+1].variable
			if p.end += next.first; p.end == "" {
				return layoutError("there is no text between %s and %s", p.variable.text, next.text)
			}
		}
		if r := p.variable.role; r.single() && seen[r] {
			p.variable.role = roleMember
		}
		seen[p.variable.role] = true
	}
	return nil
}

// Name returns the format string.
func (l layout) Name() string { return l.named(l.text) }

func (l layout) Matches(line []byte) bool {
	_, err := l.Convert(nil, line)
	return err == nil
}

func (layout) Complete(row *lake.Row) { complete(row) }

func (l layout) Convert(dst, line []byte) ([]byte, error) {
	if !strings.HasPrefix(l.start, `"`) {
		if inner := unwrap(line); len(inner) < len(line) {
			text, err := l.convert(dst, inner)
			return text, shifted(err, line, inner)
		}
	}
	return l.convert(dst, line)
}

// convert converts a line without quotes around it.
func (l layout) convert(dst, line []byte) ([]byte, error) {
	rest, ok := bytes.CutPrefix(line, []byte(l.start))
	if !ok {
		return nil, stopped(badLine("the line does not begin with %q", l.start), line, line)
	}
	c := layoutLine{localTime: l.localTime, o: newObject(dst)}
	for _, p := range l.parts {
		from := rest
		var value []byte
		if value, rest, ok = p.cut(from); !ok {
			return nil, stopped(badLine("there is no %q after %s", p.end, p.variable.text), line, from)
		}
		if p.quoted {
			value = l.escape.decode(value)
		}
		if err := c.set(p.variable, value); err != nil {
			return nil, stopped(err, line, from)
		}
	}
	if l.time.text != "" {
		if err := c.set(l.time, bytes.Join(c.times, []byte(" "))); err != nil {
			return nil, err
		}
	}
	return c.close(rest)
}

// cut splits the text at the end of the variable's value. A value in quotes may contain escaped quotes, and others that
// the text after the variable does not begin with, because not every server escapes quotes.
func (p part) cut(text []byte) (value, rest []byte, ok bool) {
	if p.end == "" {
		return text, nil, true
	}
	within := 0
	if p.variable.role != roleDuration && p.variable.role != roleUpstreamTimes {
		within = strings.Count(p.variable.unit, p.end) // times contain spaces
	}
	for i := 0; i < len(text); i++ {
		switch {
		case p.quoted && text[i] == '\\':
			i++
		case bytes.HasPrefix(text[i:], []byte(p.end)) && within > 0:
			within--
		case p.variable.list && isWithinList(text, i):
		case bytes.HasPrefix(text[i:], []byte(p.end)):
			rest = text[i+len(p.after):]
			if !p.quoted || len(p.end) > 1 || isEnd(rest) {
				return text[:i], rest, true
			}
		}
	}
	return nil, nil, false
}

// isWithinList reports whether a space is one of those between the values of a list.
func isWithinList(text []byte, i int) bool {
	return text[i] == ' ' && (bytes.HasSuffix(text[:i], []byte(",")) || bytes.HasSuffix(text[:i], []byte(" :")) ||
		bytes.HasPrefix(text[i:], []byte(" : ")))
}

// isEnd reports whether a closing quote before text ends a value.
func isEnd(text []byte) bool { return len(text) == 0 || text[0] == ' ' }

// decode decodes the escapes of a value.
func (e escaping) decode(value []byte) []byte {
	if e == escapeLog || bytes.IndexByte(value, '\\') < 0 {
		return unescapeLog(value)
	}
	var text string
	if err := json.Unmarshal(bytes.Join([][]byte{{'"'}, value, {'"'}}, nil), &text); err != nil {
		return value
	}
	return []byte(text)
}
