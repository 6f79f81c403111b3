package logformat

import (
	"regexp"
	"strings"
)

// apacheVariables lists the variables of Apache without an argument, with the names that they have as members. See
// httpd.apache.org/docs/current/mod/mod_log_config.html.
var apacheVariables = map[string]variable{
	"h":   {role: roleClient, name: "remote_host"},
	"a":   {role: roleClient, name: "remote_ip"},
	"A":   {name: "local_ip"},
	"l":   {name: "ident"},
	"u":   {name: "remote_user"},
	"t":   {role: roleTime, name: "time", unit: "[02/Jan/2006:15:04:05 -0700]", first: "["},
	"r":   {role: roleRequest, name: "request"},
	"m":   {role: roleMethod, name: "method"},
	"U":   {role: rolePath, name: "path", first: "/"},
	"q":   {role: roleArguments, name: "query"},
	"H":   {role: roleProtocol, name: "protocol"},
	"V":   {role: roleAuthority, name: "server_name"},
	"v":   {role: roleHostname, name: "canonical_name"},
	"p":   {role: rolePort, name: "server_port"},
	"s":   {role: roleStatus, name: "original_status"},
	"B":   {role: roleBytesSent, name: "body_bytes_sent"},
	"b":   {role: roleBytesSent, name: "body_bytes_sent"},
	"O":   {role: roleBytesSent, name: "bytes_out"},
	"I":   {role: roleRequestLength, name: "bytes_in"},
	"S":   {name: "bytes_in_and_out"},
	"D":   {role: roleDuration, name: "duration_us", unit: timeMicroseconds},
	"T":   {role: roleDuration, name: "duration_s", unit: timeSeconds},
	"f":   {name: "filename"},
	"k":   {name: "keepalive_requests"},
	"L":   {name: "log_id"},
	"P":   {name: "pid"},
	"R":   {name: "handler"},
	"X":   {name: "connection_status"},
	"^FB": {name: "first_byte_us"},
}

// apacheSSL lists the variables of mod_ssl that become entries of proxy.
var apacheSSL = map[string]string{"SSL_PROTOCOL": "ssl_protocol", "SSL_CIPHER": "ssl_cipher"}

var (
	apacheName = regexp.MustCompile(
		`^%(?:!?[0-9]{3}(?:,[0-9]{3})*)?[<>]?(?:\{([^}]*)\})?[<>]?(\^FB|\^ti|\^to|[A-Za-z])`)
	apacheDirective = regexp.MustCompile(`^(?:LogFormat\s+)?"((?:[^"\\]|\\.)*)"(?:\s+[A-Za-z0-9_-]+)?$`)
	apacheUnescape  = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\t`, "\t", `\n`, "\n")
)

// unquoteApache returns the format of a directive LogFormat, of its arguments, or of the text itself.
func unquoteApache(text string) string {
	if m := apacheDirective.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	if strings.Contains(text, `\"`) {
		text = apacheUnescape.Replace(text)
	}
	return text
}

// apacheVariable cuts a variable or some text off the beginning of a format.
func apacheVariable(format string) (v variable, text, rest string, err error) {
	if format[0] != '%' {
		return variable{}, format[:1], format[1:], nil
	}
	if rest, ok := strings.CutPrefix(format, "%%"); ok {
		return variable{}, "%", rest, nil
	}
	if rest, ok := strings.CutPrefix(format, "%U%q"); ok {
		return variable{text: "%U%q", role: roleTarget, first: "/"}, "", rest, nil
	}
	m := apacheName.FindStringSubmatch(format)
	if m == nil {
		return variable{}, "", "", layoutError(
			"no variable of Apache begins with %.20q; write %%%% for a percent sign", format,
		)
	}
	argument, letter := m[1], m[2]
	if argument != "" {
		v, err = apacheArgument(letter, argument)
	} else {
		v = apacheVariables[letter]
	}
	if err == nil && v.name == "" {
		err = layoutError("%s is not a variable of Apache", m[0])
	}
	v.text = m[0]
	return v, "", format[len(m[0]):], err
}

// apacheArgument returns a variable with an argument. Its name is empty if there is no such variable.
func apacheArgument(letter, argument string) (variable, error) {
	name := strings.ReplaceAll(strings.ToLower(argument), "-", "_")
	switch letter {
	case "i":
		return variable{role: roleHeader, name: argument}, nil
	case "C":
		return variable{role: roleCookie, name: argument}, nil
	case "o":
		return variable{name: "sent_http_" + name}, nil
	case "^ti", "^to":
		return variable{name: "trailer_" + name}, nil
	case "e", "n":
		if name == "unique_id" {
			name = "request_id"
		}
		return variable{name: name}, nil
	case "x":
		if entry, ok := apacheSSL[argument]; ok {
			return variable{role: roleProxy, name: entry}, nil
		}
		return variable{name: name}, nil
	case "a":
		return variable{role: roleProxy, name: "remote_ip"}, nil
	case "t":
		when, ended := strings.CutPrefix(argument, "end:")
		unit, err := strftime(strings.TrimPrefix(when, "begin:"))
		if ended {
			return variable{role: roleTime, name: "end_time", unit: unit, ended: true}, err
		}
		return variable{role: roleTime, name: "time", unit: unit}, err
	case "T":
		return variable{role: roleDuration, name: "duration_" + name, unit: name}, durationUnit(name)
	case "p":
		if argument == "remote" {
			return variable{name: "client_port"}, nil
		}
	}
	return apacheVariables[letter], nil
}

func durationUnit(unit string) error {
	switch unit {
	case timeSeconds, timeMilliseconds, timeMicroseconds:
		return nil
	}
	return layoutError("%q is not a unit of durations; use s, ms or us", unit)
}

// strftimeWords are the conversions of strftime that have an equivalent in package time.
var strftimeWords = map[byte]string{
	'Y': "2006", 'y': "06", 'm': "01", 'd': "02", 'e': "_2", 'b': "Jan", 'h': "Jan", 'B': "January", 'a': "Mon",
	'H': "15", 'I': "03", 'p': "PM", 'M': "04", 'S': "05", 'z': "-0700", 'T': "15:04:05", 'R': "15:04",
	'F': "2006-01-02", 'D': "01/02/06", '%': "%",
}

// strftime returns the unit of a time for the argument of %t.
func strftime(format string) (string, error) {
	switch format {
	case "sec", "%s":
		return timeSeconds, nil
	case "msec":
		return timeMilliseconds, nil
	case "usec":
		return timeMicroseconds, nil
	case "msec_frac":
		return fractionOf3, nil
	case "usec_frac":
		return fractionOf6, nil
	}
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		i++
		if i == len(format) || strftimeWords[format[i]] == "" {
			return "", layoutError("the time %q has a conversion that cannot be read back", format)
		}
		b.WriteString(strftimeWords[format[i]])
	}
	return b.String(), nil
}
