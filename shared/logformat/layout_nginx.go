package logformat

import (
	"regexp"
	"slices"
	"strings"
)

// nginxVariables lists the variables of nginx that set a field. Headers, cookies and all others follow from their
// names. See nginx.org/en/docs/varindex.html.
var nginxVariables = map[string]variable{
	"remote_addr":            {role: roleClient},
	"time_local":             {role: roleTime, unit: "02/Jan/2006:15:04:05 -0700"},
	"time_iso8601":           {role: roleTime, unit: "2006-01-02T15:04:05Z07:00"},
	"msec":                   {role: roleTime, unit: timeDecimal},
	"request":                {role: roleRequest},
	"request_uri":            {role: roleTarget, first: "/"},
	"uri":                    {role: rolePath, first: "/"},
	"document_uri":           {role: rolePath, first: "/"},
	"is_args":                {role: roleIgnored},
	"args":                   {role: roleArguments},
	"query_string":           {role: roleArguments},
	"request_method":         {role: roleMethod},
	"server_protocol":        {role: roleProtocol},
	"host":                   {role: roleAuthority},
	"server_name":            {role: roleHostname},
	"server_port":            {role: rolePort},
	"status":                 {role: roleStatus},
	"bytes_sent":             {role: roleBytesSent},
	"body_bytes_sent":        {role: roleBytesSent},
	"request_length":         {role: roleRequestLength},
	"request_time":           {role: roleDuration, unit: timeSeconds},
	"upstream_response_time": {role: roleUpstreamTimes, unit: timeSeconds},
	"upstream_addr":          {role: roleUpstreamAddresses},
	"upstream_status":        {role: roleUpstreamStatuses},
	"realip_remote_addr":     {role: roleProxy, name: "remote_ip"},
	"ssl_protocol":           {role: roleProxy, name: "ssl_protocol"},
	"ssl_cipher":             {role: roleProxy, name: "ssl_cipher"},
}

// nginxLists are the variables with a value for each server that nginx has asked.
var nginxLists = []string{
	"upstream_addr", "upstream_bytes_received", "upstream_bytes_sent", "upstream_connect_time", "upstream_header_time",
	"upstream_response_length", "upstream_response_time", "upstream_status",
}

var (
	nginxName      = regexp.MustCompile(`^\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})`)
	nginxDirective = regexp.MustCompile(`^log_format\s+\S+\s+(?:escape=(\w+)\s+)?`)
	nginxQuoted    = regexp.MustCompile(`'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"`)
)

// nginxTargets are the ways to write a target with several variables.
var nginxTargets = []string{"$uri$is_args$args", "$uri$is_args$query_string", "$document_uri$is_args$args"}

// joinNginx returns the format of a directive log_format, which may be several strings in quotes, or the text itself.
func joinNginx(text string) (string, escaping) {
	escape := escapeLog
	if m := nginxDirective.FindStringSubmatch(text); m != nil {
		if m[1] == "json" {
			escape = escapeJSON
		}
		text = strings.TrimSuffix(strings.TrimSpace(text[len(m[0]):]), ";")
		var b strings.Builder
		for _, m := range nginxQuoted.FindAllStringSubmatch(text, -1) {
			b.WriteString(nginxUnquote.Replace(m[1] + m[2]))
		}
		if b.Len() > 0 {
			text = b.String()
		}
	}
	if strings.HasPrefix(text, "{") {
		escape = escapeJSON
	}
	return text, escape
}

var nginxUnquote = strings.NewReplacer(`\\`, `\`, `\'`, `'`, `\"`, `"`, `\t`, "\t")

// nginxVariable cuts a variable or some text off the beginning of a format.
func nginxVariable(format string) (v variable, text, rest string, err error) {
	if format[0] != '$' {
		return variable{}, format[:1], format[1:], nil
	}
	for _, target := range nginxTargets {
		if rest, ok := strings.CutPrefix(format, target); ok {
			return variable{text: target, role: roleTarget, first: "/"}, "", rest, nil
		}
	}
	m := nginxName.FindStringSubmatch(format)
	if m == nil {
		return variable{}, "", "", layoutError("no name of a variable follows the dollar sign in %.20q", format)
	}
	name := m[1] + m[2]
	v = nginxVariables[name]
	if header, ok := strings.CutPrefix(name, "http_"); ok {
		v = variable{role: roleHeader, name: strings.ReplaceAll(header, "_", "-")}
	} else if cookie, ok := strings.CutPrefix(name, "cookie_"); ok {
		v = variable{role: roleCookie, name: cookie}
	}
	if v.text = m[0]; v.name == "" {
		v.name = name
	}
	v.list = slices.Contains(nginxLists, name)
	return v, "", format[len(m[0]):], nil
}
