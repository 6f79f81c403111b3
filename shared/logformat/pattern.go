package logformat

import (
	"bytes"
	"regexp"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
)

// pattern is a log format that a regular expression defines. The names of its groups are fields.
type pattern struct {
	name   string
	regexp *regexp.Regexp
	groups []variable // of each group; the whole match and groups without a name have no text
}

// patternPrefix begins the name of a format that its user defines with a regular expression, which follows.
const patternPrefix = "pattern:"

// IsPattern reports whether the name of a format is a regular expression.
func IsPattern(name string) bool { return strings.HasPrefix(name, patternPrefix) }

// ByPattern returns the format that a regular expression of Go with named groups defines. The expression must match the
// beginning of a line; what follows is the entry log_rest of proxy. The error is of kind fault.Invalid.
func ByPattern(text string) (Format, error) { return newPattern(patternPrefix+text, text) }

func newPattern(name, text string) (Format, error) {
	compiled, err := regexp.Compile("^(?:" + text + ")")
	if err != nil {
		return nil, fault.New(fault.Invalid, "pattern: %v", err)
	}
	p := pattern{name: name, regexp: compiled, groups: make([]variable, compiled.NumSubexp()+1)}
	seen := map[string]bool{}
	for i, group := range compiled.SubexpNames() {
		if group == "" {
			continue
		}
		if seen[group] {
			return nil, fault.New(fault.Invalid, "pattern: two groups have the name %s", group)
		}
		seen[group] = true
		p.groups[i] = groupVariable(group)
	}
	if !seen["timestamp"] {
		return nil, fault.New(fault.Invalid,
			"pattern: no group has the name timestamp; write the time as (?P<timestamp>…)")
	}
	return p, nil
}

// patternGroups lists the groups that do not simply have the name of the field with their text. In a name that ends with
// _ms or _us, the unit of a duration is milliseconds or microseconds instead of seconds.
var patternGroups = map[string]variable{
	"timestamp":              {role: roleTime, unit: timeAny},
	"ip":                     {role: roleClient},
	"forwarded_for":          {role: roleForwarded},
	"peer":                   {role: rolePeer},
	"request":                {role: roleRequest},
	"target":                 {role: roleTarget},
	"path":                   {role: rolePath},
	"query":                  {role: roleArguments},
	"method":                 {role: roleMethod},
	"protocol":               {role: roleProtocol},
	"authority":              {role: roleAuthority},
	"host":                   {role: roleAuthority},
	"hostname":               {role: roleHostname},
	"port":                   {role: rolePort},
	"status":                 {role: roleStatus},
	"bytes_sent":             {role: roleBytesSent},
	"request_length":         {role: roleRequestLength},
	"request_time":           {role: roleDuration, unit: timeSeconds},
	"upstream_response_time": {role: roleUpstreamTimes, unit: timeSeconds},
	"upstream_addr":          {role: roleUpstreamAddresses},
	"upstream_status":        {role: roleUpstreamStatuses},
	"user_agent":             {role: roleHeader},
	"referer":                {role: roleHeader},
}

// patternPrefixes are the beginnings of the names of groups that are an entry of a field with names and values.
var patternPrefixes = map[string]role{"header_": roleHeader, "cookie_": roleCookie, "proxy_": roleProxy}

// groupVariable returns what a group with a name means.
func groupVariable(name string) variable {
	v := variable{name: name}
	if known, ok := patternGroups[name]; ok {
		v = known
		v.name = name
	}
	for _, unit := range []string{timeMilliseconds, timeMicroseconds} {
		if known := patternGroups[strings.TrimSuffix(name, "_"+unit)]; known.unit == timeSeconds && known.unit != v.unit &&
			strings.HasSuffix(name, "_"+unit) {
			v = known
			v.unit = unit
		}
	}
	for prefix, role := range patternPrefixes {
		if entry, ok := strings.CutPrefix(name, prefix); ok && entry != "" {
			v = variable{role: role, name: entry}
		}
	}
	if v.role == roleHeader {
		v.name = strings.ReplaceAll(v.name, "_", "-")
	}
	v.text = name
	return v
}

// Name returns the name, which for a format of a user has the expression.
func (p pattern) Name() string { return p.name }

func (p pattern) Matches(line []byte) bool {
	_, err := p.Convert(nil, line)
	return err == nil
}

func (pattern) Complete(row *lake.Row) { complete(row) }

func (p pattern) Convert(dst, line []byte) ([]byte, error) {
	found := p.regexp.FindSubmatchIndex(line)
	if found == nil {
		if IsPattern(p.name) {
			return nil, badLine("the pattern does not match the line")
		}
		return nil, badLine("the line does not have the format %s", p.name)
	}
	c := layoutLine{o: newObject(dst)}
	for i, v := range p.groups {
		if v.text == "" {
			continue
		}
		from, to := found[2*i], found[2*i+1]
		if from < 0 && v.role != roleTime {
			continue // the group did not take part in the match
		}
		var value []byte
		if from >= 0 {
			value = line[from:to]
		}
		if err := c.set(v, value); err != nil {
			return nil, err
		}
	}
	return c.close(line[found[1]:])
}

// timeLayouts are the times that a group timestamp may have, besides seconds, milliseconds and microseconds of Unix.
// Fractions of seconds may follow the seconds. A time without a zone is in UTC.
var timeLayouts = []string{
	"2006-01-02T15:04:05Z07:00",
	"02/Jan/2006:15:04:05 -0700",
	"02/Jan/2006:15:04:05",
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05",
	"2006-01-02T15:04:05",
	"2006-01-02T15:04:05-0700",
	"2006-01-02 15:04:05 -0700",
	"2006/01/02 15:04:05",
	"Mon, 02 Jan 2006 15:04:05 MST",
	"Mon Jan _2 15:04:05 2006",
}

// parseTime parses a time that has any of the layouts.
func parseTime(value []byte, layouts []string) (t time.Time, ok bool) {
	text := string(value)
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// isNumber reports whether a text is a time of Unix: digits with at most one decimal point.
func isNumber(value []byte) bool {
	whole, fraction, _ := bytes.Cut(value, []byte("."))
	return len(whole) > 0 && isDigits(whole) && isDigits(append([]byte("0"), fraction...))
}
