package logformat

import (
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/pattern"
)

// patternFormat is a log format that a regular expression defines. The names of its groups are fields.
type patternFormat struct {
	name   string
	regexp *regexp.Regexp
	groups []variable // of each group; the whole match and groups without a name have no text
	*prefixes
	localTime
}

// patternPrefix begins the name of a format that its user defines with a regular expression, which follows.
const patternPrefix = "pattern:"

// IsPattern reports whether the name of a format is a regular expression.
func IsPattern(name string) bool { return strings.HasPrefix(name, patternPrefix) }

// ByPattern returns the format that a regular expression of Go with named groups defines. The expression must match the
// beginning of a line; what follows is the entry log_rest of proxy. The error is of kind fault.Invalid.
func ByPattern(text string) (Format, error) { return newPattern(patternPrefix+text, text) }

func newPattern(name, text string) (Format, error) {
	tree, err := syntax.Parse("^(?:"+text+")", syntax.Perl)
	if err != nil {
		return nil, fault.New(fault.Invalid, "pattern: %v", err)
	}
	if work := pattern.WorkOf(tree); work > pattern.FewWork {
		return nil, fault.New(fault.Invalid, "pattern: its repeats and options have about %d instructions, which may all be "+
			"tried at every byte of a line, and %d are allowed; shorten the repeats", work, pattern.FewWork)
	}
	compiled, err := regexp.Compile("^(?:" + text + ")")
	if err != nil {
		return nil, fault.New(fault.Invalid, "pattern: %v", err)
	}
	p := patternFormat{
		name: name, regexp: compiled, groups: make([]variable, compiled.NumSubexp()+1), prefixes: newPrefixes(text),
	}
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

// patternGroups lists the groups that do not simply have the name of the field with their text. In a name that ends
// with _ms or _us, the unit of a duration is milliseconds or microseconds instead of seconds.
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
func (p patternFormat) Name() string { return p.named(p.name) }

func (p patternFormat) Matches(line []byte) bool {
	_, err := p.Convert(nil, line)
	return err == nil
}

func (patternFormat) Complete(row *lake.Row) { complete(row) }

func (p patternFormat) Convert(dst, line []byte) ([]byte, error) {
	found := p.regexp.FindSubmatchIndex(line)
	if found == nil {
		rest, expected := p.prefixes.stop(line)
		err := badLine("the line does not have the format %s, which has %s here", p.name, expected)
		if IsPattern(p.name) {
			err = badLine("the pattern does not match the line: it has %s here", expected)
		}
		return nil, stopped(err, line, rest)
	}
	c := layoutLine{localTime: p.localTime, o: newObject(dst)}
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
			return nil, stopped(err, line, value)
		}
	}
	return c.close(line[found[1]:])
}
