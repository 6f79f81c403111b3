package logformat

import "bytes"

// The formats of proxies that a regular expression describes.

// envoy is the default format of Envoy. See envoyproxy.io/docs/envoy/latest/configuration/observability/access_log.
var envoy = mustPattern("envoy", `\[(?P<timestamp>[^\]]+)\] "(?P<request>[^"]*)" (?P<status>\d+) `+
	`(?P<proxy_response_flags>\S+) `+envoyTraffic+`$`)

// istio is the default format of Istio, which has more than that of Envoy. See
// istio.io/latest/docs/tasks/observability/logs/access-log.
var istio = mustPattern("istio", `\[(?P<timestamp>[^\]]+)\] "(?P<request>[^"]*)" (?P<status>\d+) `+
	`(?P<proxy_response_flags>\S+) (?P<proxy_response_code_details>\S+) `+
	`(?P<proxy_connection_termination_details>\S+) "(?P<proxy_upstream_transport_failure_reason>[^"]*)" `+envoyTraffic+
	` (?P<proxy_upstream_cluster>\S+) (?P<proxy_upstream_local_address>\S+) (?P<proxy_downstream_local_address>\S+) `+
	`(?P<peer>\S+) (?P<proxy_requested_server_name>\S+) `+
	`(?P<proxy_route_name>\S+)`)

// envoyTraffic is what the formats of Envoy and Istio have in common after their flags.
const envoyTraffic = `(?P<request_length>\d+) (?P<bytes_sent>\d+) (?P<request_time_ms>\d+) ` +
	`(?P<upstream_response_time_ms>\d+|-) "(?P<forwarded_for>[^"]*)" "(?P<user_agent>[^"]*)" "(?P<request_id>[^"]*)" ` +
	`"(?P<authority>[^"]*)" "(?P<upstream_addr>[^"]*)"`

// haproxyHTTP is the HTTP format of HAProxy (option httplog), with or without a header of syslog. See section 8.2.3 of
// its configuration manual.
var haproxyHTTP = behindSyslog{mustPattern("haproxy-http", `(?P<ip>[0-9a-fA-F.:]+|unix):(?P<client_port>\d+) `+
	`\[(?P<timestamp>\d{2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2}\.\d{3})\] `+
	`(?P<proxy_frontend>\S+) (?P<proxy_backend>[^/ ]+)/(?P<proxy_server>\S+) `+
	`(?P<proxy_request_ms>-?\d+)/(?P<proxy_queue_ms>-?\d+)/(?P<proxy_connect_ms>-?\d+)/`+
	`(?:-1|(?P<upstream_response_time_ms>\d+))/\+?(?P<request_time_ms>\d+) (?:-1|(?P<status>\d{3})) `+
	`\+?(?P<bytes_sent>\d+) (?P<proxy_request_cookie>\S+) (?P<proxy_response_cookie>\S+) `+
	`(?P<proxy_termination_state>\S{4}) (?P<proxy_connections>\d+/\d+/\d+/\d+/\+?\d+) (?P<proxy_queues>\d+/\d+) `+
	`(?:\{(?P<proxy_request_captures>[^}]*)\} )?(?:\{(?P<proxy_response_captures>[^}]*)\} )?"(?P<request>[^"]*)"?`)}

// behindSyslog is a format whose lines may have a header of syslog in front. They begin with the word before a time in
// brackets.
type behindSyslog struct{ Format }

func (f behindSyslog) Matches(line []byte) bool { return f.Format.Matches(withoutHeader(line)) }

func (f behindSyslog) Convert(dst, line []byte) ([]byte, error) {
	inner := withoutHeader(line)
	text, err := f.Format.Convert(dst, inner)
	return text, shifted(err, line, inner)
}

// withoutHeader returns the line from the word before the bracket of the time on.
func withoutHeader(line []byte) []byte {
	at := timeBracket(line)
	if at < 0 {
		return line
	}
	return line[bytes.LastIndexByte(line[:at], ' ')+1:]
}

// timeBracket returns the offset of the first " [" before two digits and a slash, or -1.
func timeBracket(line []byte) int {
	for at := 0; ; at += 2 {
		next := bytes.Index(line[at:], []byte(" ["))
		if next < 0 {
			return -1
		}
		if at += next; len(line) >= at+5 && isDigits(line[at+2:at+4]) && line[at+4] == '/' {
			return at
		}
	}
}

// mustPattern returns a format of this package.
func mustPattern(name, text string) Format {
	f, err := newPattern(name, text)
	if err != nil {
		panic("logformat: " + name + ": " + err.Error())
	}
	return f
}
