package logformat

import (
	"bytes"
	"slices"
	"strings"
)

// nginxJSON is the access log of nginx with a log_format that writes one JSON object per line (escape=json). The names
// of the members are those of variables, or other usual ones. If a line has several members for one field, the first in
// this table counts.
var nginxJSON = func() *jsonLog {
	f := newJSONLog("nginx-json", isNginxJSON, jsonVariables(false, nginxJSONNames()))
	f.dynamic = nginxDynamic
	return f
}()

// namedVariable is a member of an object and what it means.
type namedVariable struct {
	name string
	variable
}

// nginxAliases are usual names of members that are not those of variables.
var nginxAliases = []namedVariable{
	{"@timestamp", variable{role: roleTime, unit: timeAny}},
	{"timestamp", variable{role: roleTime, unit: timeAny}},
	{"time", variable{role: roleTime, unit: timeAny}},
	{"ts", variable{role: roleTime, unit: timeAny}},
	{"client_ip", variable{role: roleClient}},
	{"remote_ip", variable{role: roleClient}},
	{"method", variable{role: roleMethod}},
	{"path", variable{role: roleTarget}},
	{"request_path", variable{role: rolePath}},
	{"url", variable{role: roleTarget}},
	{"query", variable{role: roleArguments}},
	{"protocol", variable{role: roleProtocol}},
	{"http_referrer", variable{role: roleHeader, name: "referer"}},
	{"referer", variable{role: roleHeader, name: "referer"}},
	{"referrer", variable{role: roleHeader, name: "referer"}},
	{"user_agent", variable{role: roleHeader, name: "user-agent"}},
	{"http_user_agent", variable{role: roleHeader, name: "user-agent"}},
	{"x_forwarded_for", variable{role: roleHeader, name: "x-forwarded-for"}},
}

// nginxOrder lists the variables of nginx of which a line may have several for one field, the preferred ones first.
var nginxOrder = []string{
	"request", "request_uri", "msec", "time_iso8601", "time_local", "remote_addr", "body_bytes_sent", "bytes_sent",
	"host",
}

// nginxJSONNames lists the names of members, the preferred ones first. The member uri may have a query.
func nginxJSONNames() []namedVariable {
	var list, others []namedVariable
	for name, v := range nginxVariables {
		if name == "uri" || name == "document_uri" {
			v = variable{role: roleTarget}
		}
		if slices.Contains(nginxOrder, name) {
			continue
		}
		others = append(others, namedVariable{name, v})
	}
	for _, name := range nginxOrder {
		list = append(list, namedVariable{name, nginxVariables[name]})
	}
	slices.SortFunc(others, func(a, b namedVariable) int { return strings.Compare(a.name, b.name) })
	return slices.Concat(list, others, nginxAliases)
}

// jsonVariables returns the variables of members of the outermost object.
func jsonVariables(lenient bool, names []namedVariable) []jsonVariable {
	list := make([]jsonVariable, 0, len(names))
	for _, n := range names {
		v := n.variable
		if v.name == "" {
			v.name = n.name
		}
		v.text = n.name
		list = append(list, jsonVariable{variable: v, path: []string{n.name}, lenient: lenient})
	}
	return list
}

// isNginxJSON reports whether an object has the names of variables of nginx.
func isNginxJSON(line []byte) bool {
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return bytes.Contains(line, []byte(`"`+name+`"`)) })
	}
	return has("remote_addr") && has("request_uri", "request", "uri", "request_method") &&
		has("body_bytes_sent", "bytes_sent", "time_iso8601", "time_local", "msec", "request_time")
}

// nginxDynamic returns the variable of a header or a cookie.
func nginxDynamic(name string) (variable, bool) {
	if !strings.HasPrefix(name, "http_") && !strings.HasPrefix(name, "cookie_") {
		return variable{}, false
	}
	v, _, rest, err := nginxVariable("$" + name)
	v.text = name
	return v, err == nil && rest == ""
}
