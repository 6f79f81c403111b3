package logformat

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// Table returns where each field comes from in the logs of a format that its user defines, as a table like those of
// README.md. It returns "" for other formats.
func Table(f Format) string {
	var t fieldTable
	switch f := f.(type) {
	case layout:
		t.addLayout(f)
	case patternFormat:
		if !IsPattern(f.name) {
			return ""
		}
		t.addPattern(f)
	case *jsonLog:
		if !IsMapping(f.name) {
			return ""
		}
		t.addMappings(f)
	default:
		return ""
	}
	return t.String()
}

// fieldTable lists the sources of fields, the preferred ones first.
type fieldTable struct {
	sources map[string][]string // by field
	others  []string            // names of members, and of entries of fields
	later   map[role][]string   // sources that count after those of other roles
	rest    string              // what happens to other members of a line
}

// tableFields lists fields in the order of the table.
var tableFields = []string{
	"timestamp", "time_period", "ip", "method", "path", "query", "protocol", "arguments", "path_parts", "url",
	"authority", "host", "hostname", "port", "status", "bytes_sent", "request_length", "request_time",
	"upstream_response_time", "upstream_addr", "upstream_status", "user_agent", "referer", "headers", "cookies",
}

func (t *fieldTable) addLayout(l layout) {
	for _, p := range l.parts {
		t.add(p.variable, p.variable.text)
	}
	if len(l.parts) > 0 && l.parts[len(l.parts)-1].end != "" {
		t.set(`proxy["log_rest"]`, "the rest of the line")
	}
	t.complete()
}

func (t *fieldTable) addPattern(p patternFormat) {
	for _, v := range p.groups {
		if v.text != "" {
			t.add(v, v.text)
		}
	}
	t.set(`proxy["log_rest"]`, "the rest of the line")
	t.complete()
}

func (t *fieldTable) addMappings(f *jsonLog) {
	for _, v := range f.variables {
		t.add(v.variable, v.source())
	}
	t.complete()
	t.rest = "\nAll other members keep their names and values; log_rest[\"NAME\"] finds them.\n"
}

// source returns the path of a mapping with its unit or its comparison.
func (v jsonVariable) source() string {
	names := make([]string, len(v.path))
	for i, name := range v.path {
		if names[i] = name; name == "" || strings.ContainsAny(name, ` ."/*=`) || strings.TrimSpace(name) != name {
			names[i] = `"` + name + `"`
		}
	}
	path := pathText(names)
	switch {
	case v.equals != nil:
		return path + comparison + `"` + *v.equals + `"`
	case v.scale == nil:
		return path
	case v.scale.Num().Cmp(big.NewInt(1)) == 0:
		return path + "/" + v.scale.Denom().String()
	case v.scale.IsInt():
		return path + "*" + v.scale.Num().String()
	}
	return path + "*" + v.scale.RatString()
}

// set adds a source of a field.
func (t *fieldTable) set(field, source string) {
	if t.sources == nil {
		t.sources = map[string][]string{}
	}
	if !slices.Contains(t.sources[field], source) {
		t.sources[field] = append(t.sources[field], source)
	}
	if !slices.Contains(tableFields, field) && !slices.Contains(t.others, field) {
		t.others = append(t.others, field)
	}
}

// add adds a variable as a source of the fields that layoutLine sets from its role.
func (t *fieldTable) add(v variable, source string) {
	for _, field := range fieldsOfVariable(v) {
		t.set(field, source)
	}
	if t.later == nil {
		t.later = map[role][]string{}
	}
	if v.role != roleHeader || strings.EqualFold(v.name, "host") {
		t.later[v.role] = append(t.later[v.role], source)
	}
}

// complete adds what layoutLine takes from a variable if another one has no value, and the URL.
func (t *fieldTable) complete() {
	for _, r := range []role{roleForwarded, rolePeer} {
		for _, source := range t.later[r] {
			t.set("ip", source)
		}
	}
	for _, r := range []role{roleRequest, roleTarget, roleHeader, roleAuthority, roleHostname} {
		for _, source := range t.later[r] {
			if r == roleRequest || r == roleTarget {
				source += " with an absolute target"
			}
			t.set("authority", source)
			t.set("host", source)
			t.set("port", source)
		}
	}
	for _, source := range t.later[rolePort] {
		t.set("port", source)
	}
	if len(t.sources["path"]) > 0 {
		t.set("url", "host and path")
	}
}

// fieldsOfVariable returns the fields that a variable sets whatever other variables there are.
func fieldsOfVariable(v variable) []string {
	switch v.role {
	case roleMember:
		return []string{v.name}
	case roleTime, roleTimePart:
		return []string{"timestamp", "time_period"}
	case roleClient:
		return []string{"ip"}
	case roleForwarded:
		return []string{`headers["x-forwarded-for"]`}
	case roleRequest:
		return []string{"method", "path", "query", "protocol", "arguments", "path_parts"}
	case roleTarget:
		return []string{"path", "query", "arguments", "path_parts"}
	case rolePath:
		return []string{"path", "path_parts"}
	case roleArguments:
		return []string{"query", "arguments"}
	case roleHeader:
		return headerFields(v.name)
	case roleCookie:
		return []string{fmt.Sprintf("cookies[%q]", v.name)}
	case roleProxy, rolePeer:
		return []string{fmt.Sprintf("proxy[%q]", v.name)}
	}
	return simpleFields[v.role]
}

// simpleFields lists the fields of roles that are the text or the number of one field.
var simpleFields = map[role][]string{
	roleMethod: {"method"}, roleProtocol: {"protocol"}, roleHostname: {"hostname"},
	roleStatus: {"status"}, roleBytesSent: {"bytes_sent"}, roleRequestLength: {"request_length"},
	roleDuration: {"request_time"}, roleUpstreamTimes: {"upstream_response_time"},
	roleUpstreamAddresses: {"upstream_addr"}, roleUpstreamStatuses: {"upstream_status"},
}

// headerFields returns the fields of a header.
func headerFields(name string) []string {
	switch name = strings.ToLower(name); name {
	case "host":
		return nil
	case "user-agent":
		return []string{"user_agent"}
	case "referer":
		return []string{"referer"}
	case "cookie":
		return []string{"cookies"}
	}
	return []string{fmt.Sprintf("headers[%q]", name)}
}

// String returns a row for all fields with the same sources.
func (t *fieldTable) String() string {
	var b strings.Builder
	b.WriteString("| field | from |\n|---|---|\n")
	done := map[string]bool{}
	all := slices.Concat(tableFields, t.others)
	for _, field := range all {
		if done[field] || len(t.sources[field]) == 0 {
			continue
		}
		var fields []string
		for _, other := range all {
			if slices.Equal(t.sources[other], t.sources[field]) {
				fields = append(fields, "`"+other+"`")
				done[other] = true
			}
		}
		fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(fields, ", "), cellOf(t.sources[field]))
	}
	b.WriteString(t.rest)
	return b.String()
}

// cellOf returns the text of a cell with sources.
func cellOf(sources []string) string {
	cells := make([]string, len(sources))
	for i, source := range sources {
		cells[i] = strings.ReplaceAll(source, "|", `\|`)
	}
	return strings.Join(cells, "; ")
}
