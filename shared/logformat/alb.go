package logformat

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/orrery/orrery/shared/lake"
)

// alb is the access log of AWS Application Load Balancers. The constants below are its fields, in order. Lines of older
// load balancers have fewer fields, lines of newer ones have more; the entry log_rest of proxy has unknown fields.
type alb struct{}

func (alb) Name() string { return "alb" }

// albTypes are the possible first words of a line.
var albTypes = []string{"http", "https", "h2", "grpcs", "ws", "wss"}

// The positions of the fields of a line. The first field, at position 0, is the type.
const (
	albTime = iota + 1
	albELB
	albClient
	albTarget
	albRequestTime
	albTargetTime
	albResponseTime
	albStatus
	albTargetStatus
	albReceived
	albSent
	albRequest
	albUserAgent
	albTLSCipher
	albTLSProtocol
	albTargetGroup
	albTraceID
	albDomain
	albCertificate
	albRulePriority
	albCreated
	albActions
	albRedirect
	albError
	albTargets
	albTargetStatuses
	albLast
)

// albProxy lists the fields of a line that become entries of proxy, with the names of these entries.
var albProxy = []struct {
	field int // position
	name  string
}{
	{0, "type"},
	{albELB, "elb"},
	{albRequestTime, "request_processing_time"},
	{albTargetTime, "target_processing_time"},
	{albResponseTime, "response_processing_time"},
	{albTLSCipher, "ssl_cipher"},
	{albTLSProtocol, "ssl_protocol"},
	{albTargetGroup, "target_group_arn"},
	{albCertificate, "chosen_cert_arn"},
	{albRulePriority, "matched_rule_priority"},
	{albCreated, "request_creation_time"},
	{albActions, "actions_executed"},
	{albRedirect, "redirect_url"},
	{albError, "error_reason"},
	{albLast, "classification"},
	{albLast + 1, "classification_reason"},
	{albLast + 2, "conn_trace_id"},
}

func (alb) Matches(line []byte) bool {
	kind, rest, _ := bytes.Cut(line, []byte(" "))
	stamp, _, ok := bytes.Cut(rest, []byte(" "))
	return ok && slices.Contains(albTypes, string(kind)) && bytes.HasSuffix(stamp, []byte("Z"))
}

func (alb) Complete(row *lake.Row) { complete(row) }

func (alb) Convert(dst, line []byte) ([]byte, error) {
	var room [40][]byte
	fields, err := albSplit(room[:0], line)
	if err != nil {
		return nil, err
	}
	field := func(i int) []byte {
		if i >= len(fields) {
			return nil
		}
		return dashToNil(fields[i])
	}
	o := newObject(dst)
	o.text("timestamp", field(albTime))
	client, port := splitHostPort(fields[albClient])
	client = bytes.Trim(client, "[]")
	if !isClient(client) {
		err := badLine("the client is %.80q, which is neither an address nor a host name", client)
		return nil, stopped(err, line, fields[albClient])
	}
	o.text("ip", dashToNil(client))
	o.text("client_port", port)
	albAppendRequest(&o, fields[albRequest])
	o.text("user_agent", field(albUserAgent))
	o.text("request_id", field(albTraceID))
	o.text("hostname", field(albDomain))
	if field, err := albAppendFigures(&o, fields); err != nil {
		return nil, stopped(err, line, field)
	}
	albAppendTargets(&o, field)
	albAppendDecision(&o, field(albActions))
	albAppendProxy(&o, field, fields[min(albLast+3, len(fields)):])
	return o.close(), nil
}

// albSplit appends the fields of a line to fields, without their quotes.
func albSplit(fields [][]byte, line []byte) ([][]byte, error) {
	for rest := line; len(rest) > 0; {
		var value []byte
		if rest[0] == '"' {
			var closed bool
			if value, rest, closed, _ = cutQuoted(rest); !closed {
				return nil, badLine("the line ends inside field %d", len(fields)+1)
			}
		} else {
			value, rest, _ = bytes.Cut(rest, []byte(" "))
		}
		fields = append(fields, value)
	}
	if len(fields) <= albUserAgent {
		return nil, badLine("%s; a load balancer writes at least %d", counted(len(fields), "field"), albUserAgent+1)
	}
	return fields, nil
}

// albAppendRequest writes the fields of the request line. The member request keeps a text that is not a request line.
func albAppendRequest(o *object, line []byte) {
	r, ok := parseRequest(line)
	if !ok {
		o.text("request", dashToNil(line))
		return
	}
	r.append(o)
}

// albAppendFigures writes the status, sizes and times. The load balancer logs -1 as the time of a step that it did not
// reach. With an error, it returns the field that is wrong.
func albAppendFigures(o *object, fields [][]byte) (wrong []byte, err error) {
	for _, f := range []struct {
		field int
		name  string
	}{{albStatus, "status"}, {albSent, "bytes_sent"}, {albReceived, "request_length"}} {
		switch value := fields[f.field]; {
		case string(value) == "-":
		case isDigits(value) && len(value) < 19:
			o.raw(f.name, unpadded(value))
		default:
			return value, badLine("%s is %q, not a number", f.name, value)
		}
	}
	var total, own int64
	reached := true
	for _, field := range []int{albRequestTime, albTargetTime, albResponseTime} {
		us, ok := microseconds(fields[field])
		if !ok {
			reached = false
			continue
		}
		total += us
		if field == albTargetTime {
			o.raw("upstream_response_time", fields[field])
		} else {
			own += us
		}
	}
	if reached {
		o.raw("request_time", appendSeconds(nil, total))
		o.raw("svc_latency", strconv.AppendInt(nil, own, 10))
	}
	return nil, nil
}

// microseconds parses seconds, such as 0.001. It returns false for -1 and for anything else.
func microseconds(word []byte) (int64, bool) {
	whole, fraction, _ := bytes.Cut(word, []byte("."))
	if !isSeconds(word) || len(whole) > 9 || len(fraction) > 6 {
		return 0, false
	}
	us, err := strconv.ParseInt(string(whole)+string(fraction)+"000000"[len(fraction):], 10, 64)
	return us, err == nil
}

// appendSeconds prints microseconds as seconds, without trailing zeros.
func appendSeconds(b []byte, us int64) []byte {
	b = strconv.AppendInt(b, us/1e6, 10)
	if us%1e6 == 0 {
		return b
	}
	fraction := strconv.AppendInt(nil, us%1e6+1e6, 10)[1:]
	return append(append(b, '.'), bytes.TrimRight(fraction, "0")...)
}

// albAppendTargets writes the addresses and statuses of the origins tried: the lists of newer lines, else the one
// target.
func albAppendTargets(o *object, field func(int) []byte) {
	addresses, statuses := field(albTargets), field(albTargetStatuses)
	if addresses == nil {
		addresses = field(albTarget)
	}
	if statuses == nil {
		statuses = field(albTargetStatus)
	}
	targets, codes := bytes.Fields(addresses), bytes.Fields(statuses)
	o.texts("upstream_addr", targets)
	if len(codes) > 0 && !slices.ContainsFunc(codes, func(c []byte) bool { return !isDigits(c) }) {
		for i := range codes {
			codes[i] = unpadded(codes[i])
		}
		o.raw("upstream_status", append(append([]byte("["), bytes.Join(codes, []byte(","))...), ']'))
	}
}

// albAppendDecision writes blocked and result when a firewall has checked the request, so that waf is one of the
// actions. The firewall has blocked the request when waf is the last action.
func albAppendDecision(o *object, actions []byte) {
	list := bytes.Split(actions, []byte(","))
	if !slices.ContainsFunc(list, func(a []byte) bool { return string(a) == "waf" }) {
		return
	}
	blocked := string(list[len(list)-1]) == "waf"
	o.flag("blocked", blocked)
	if blocked {
		o.text("result", []byte("Blocked"))
	} else {
		o.text("result", []byte("Passed"))
	}
}

// albAppendProxy writes the fields of albProxy, and the unknown fields at the end of the line.
func albAppendProxy(o *object, field func(int) []byte, unknown [][]byte) {
	list := make([]pair, 0, len(albProxy))
	for _, p := range albProxy {
		if value := field(p.field); value != nil {
			list = append(list, pair{[]byte(p.name), value})
		}
	}
	if rest := dashToNil(bytes.Join(unknown, []byte(" "))); len(rest) > 0 {
		list = append(list, pair{[]byte(logRest), rest})
	}
	o.pairs("proxy", list)
}
