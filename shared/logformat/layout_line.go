package logformat

import (
	"bytes"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// role is what the value of a variable means.
type role int

const (
	roleMember role = iota // a member of the record with the variable's name
	roleIgnored
	roleTime
	roleClient
	roleForwarded // the header X-Forwarded-For; its last address is the client, unless another variable is
	rolePeer      // address:port of the connection; the client, unless another variable is
	roleRequest   // GET /path?query HTTP/1.1
	roleTarget    // /path?query
	rolePath      // /path
	roleArguments // query, with or without its question mark
	roleMethod
	roleProtocol
	roleAuthority // host[:port] that the client asked for
	roleHostname  // host as configured
	rolePort
	roleStatus
	roleBytesSent
	roleRequestLength
	roleDuration // how long the request took
	roleHeader
	roleCookie
	roleProxy // an entry of proxy
	roleUpstreamTimes
	roleUpstreamAddresses
	roleUpstreamStatuses
	roleTimePart // a part of the time
)

// single reports whether a record has one value of the role.
func (r role) single() bool {
	switch r {
	case roleMember, roleIgnored, roleHeader, roleCookie, roleProxy, roleTimePart:
		return false
	}
	return true
}

// layoutLine is a line while it is converted: the record as far as it is written, and values that are written last.
type layoutLine struct {
	localTime
	o               object
	request         request
	client          []byte
	forwarded, peer []byte // the client, unless it is known
	host, authority []byte // the header Host, and what the server takes for the host
	hostname, port  []byte
	headers         []pair
	cookies, proxy  []pair
	times           [][]byte // parts of the time
	fraction        []byte   // digits of the fraction of the second, unless a part has them
}

// set takes the value of a variable. An empty value and a dash are absent.
func (c *layoutLine) set(v variable, value []byte) error {
	if len(value) == 0 || string(value) == "-" {
		if v.role == roleTime || v.role == roleTimePart {
			return badLine("%s is empty", v.text)
		}
		if v.role == roleBytesSent {
			c.o.raw("bytes_sent", []byte("0"))
		}
		return nil
	}
	switch v.role {
	case roleTime:
		return c.setTime(v, value)
	case roleTimePart:
		return c.addTime(v, value)
	case roleClient:
		if !isClient(value) {
			return badLine("%s is %.80q, which is neither an address nor a host name", v.text, value)
		}
		c.client = value
	case roleForwarded:
		c.headers = append(c.headers, pair{[]byte("x-forwarded-for"), value})
		if last := bytes.TrimSpace(value[bytes.LastIndexByte(value, ',')+1:]); isAddress(last) {
			c.forwarded = last
		}
	case rolePeer:
		c.proxy = append(c.proxy, pair{[]byte(v.name), value})
		if host, _ := splitHostPort(value); isAddress(bytes.Trim(host, "[]")) {
			c.peer = bytes.Trim(host, "[]")
		}
	case roleStatus:
		if (len(value) != 3 || !isDigits(value)) && string(value) != "0" { // 0: no answer was sent
			return badLine("%s is %.80q, which is not a status of three digits", v.text, value)
		}
		c.o.raw("status", unpadded(value))
	case roleBytesSent:
		return c.setWhole("bytes_sent", v, value)
	case roleRequestLength:
		return c.setWhole("request_length", v, value)
	case roleDuration:
		return c.setDuration(v, value)
	case roleUpstreamTimes, roleUpstreamAddresses, roleUpstreamStatuses:
		return c.setUpstream(v, value)
	default:
		c.setText(v, value)
	}
	return nil
}

// setText takes the value of a variable that may have any value.
func (c *layoutLine) setText(v variable, value []byte) {
	switch v.role {
	case roleMember:
		c.o.text(v.name, value)
	case roleRequest:
		if r, ok := parseRequest(value); ok {
			c.request = r
		} else if string(value) != "- - -" { // the request is unknown
			c.o.text("request", value)
		}
	case roleTarget:
		c.request.setTarget(value)
	case rolePath:
		c.request.path = value
	case roleArguments:
		if c.request.query = value; value[0] != '?' {
			c.request.query = append([]byte("?"), value...)
		}
	case roleMethod:
		c.request.method = value
	case roleProtocol:
		c.request.protocol = value
	case roleAuthority:
		c.authority = value
	case roleHostname:
		c.hostname = value
	case rolePort:
		c.port = value
	case roleHeader:
		c.setHeader(v.name, value)
	case roleCookie:
		c.cookies = append(c.cookies, pair{[]byte(v.name), value})
	case roleProxy:
		c.proxy = append(c.proxy, pair{[]byte(v.name), value})
	}
}

// setHeader takes a header. The headers that have a field of their own are only that field. A Cookie header becomes
// cookies; it stays a header only if formatCookies does not reproduce it exactly.
func (c *layoutLine) setHeader(name string, value []byte) {
	switch strings.ToLower(name) {
	case "host":
		c.host = value
	case "user-agent":
		c.o.text("user_agent", value)
	case "referer":
		c.o.text("referer", value)
	case "cookie":
		list := parseCookies(value)
		c.cookies = append(c.cookies, list...)
		if !bytes.Equal(formatCookies(list), value) {
			c.headers = append(c.headers, pair{[]byte(name), value})
		}
	default:
		c.headers = append(c.headers, pair{[]byte(name), value})
	}
}

// The ways to write a time, besides layouts of package time.
const (
	timeAny          = "any"
	timeSeconds      = "s"
	timeMilliseconds = "ms"
	timeMicroseconds = "us"
	timeDecimal      = "decimal" // seconds with a decimal point
	fractionOf3      = "digits3" // after the decimal point of the second
	fractionOf6      = "digits6"
)

// addTime takes a part of the time.
func (c *layoutLine) addTime(v variable, value []byte) error {
	if !isFraction(v.unit) {
		c.times = append(c.times, value)
		return nil
	}
	if !isDigits(value) || len(value) != digitsOf[v.unit] {
		return badLine("%s is %.80q, which is not %d digits", v.text, value, digitsOf[v.unit])
	}
	c.fraction = value
	return nil
}

// setTime writes the time of the record.
func (c *layoutLine) setTime(v variable, value []byte) error {
	unit := v.unit
	if unit == timeAny && isNumber(value) {
		unit = timeSeconds
	}
	switch unit {
	case timeSeconds, timeDecimal, timeMilliseconds, timeMicroseconds: // the decoder tells the units apart by magnitude
		if c.fraction != nil {
			value = slices.Concat(value, []byte("."), c.fraction)
		}
		if _, err := strconv.ParseFloat(string(value), 64); err != nil {
			return badLine("%s is %.80q, which is not a time", v.text, value)
		}
		c.o.text("timestamp", value)
		return nil
	}
	layouts := []string{unit}
	if unit == timeAny {
		layouts = timeLayouts
	}
	t, ok := c.parseTime(value, layouts)
	if !ok {
		return badLine("%s is %.80q, which is not a time like %s", v.text, value, strings.Join(layouts, " or "))
	}
	if c.fraction != nil {
		nanoseconds, err := strconv.Atoi(string(c.fraction) + "000000000"[len(c.fraction):])
		if err != nil {
			return badLine("%s has the fraction %.80q", v.text, c.fraction)
		}
		t = t.Add(time.Duration(nanoseconds))
	}
	c.o.text("timestamp", t.UTC().AppendFormat(nil, rfc3339))
	return nil
}

func (c *layoutLine) setWhole(field string, v variable, value []byte) error {
	if !isDigits(value) || len(value) > 18 {
		return badLine("%s is %.80q, which is not a number of bytes", v.text, value)
	}
	c.o.raw(field, unpadded(value))
	return nil
}

// setDuration writes how long the request took, in seconds.
func (c *layoutLine) setDuration(v variable, value []byte) error {
	us, ok := durationOf(value, v.unit)
	if !ok {
		return badLine("%s is %.80q, which is not a duration", v.text, value)
	}
	c.o.raw("request_time", appendSeconds(nil, us))
	return nil
}

// durationOf returns microseconds. Fractions of a microsecond are cut off.
func durationOf(value []byte, unit string) (us int64, ok bool) {
	n, ok := new(big.Rat).SetString(string(value))
	if !ok || len(value) > 20 || n.Sign() < 0 || bytes.ContainsAny(value, "eE/_xXpP") {
		return 0, false
	}
	switch unit {
	case timeSeconds:
		n.Mul(n, big.NewRat(1e6, 1))
	case timeMilliseconds:
		n.Mul(n, big.NewRat(1e3, 1))
	}
	whole := new(big.Int).Quo(n.Num(), n.Denom())
	return whole.Int64(), whole.IsInt64()
}

// setUpstream writes what nginx logs about the servers that it asked: one value for each, between them ", ", or " : "
// after an internal redirect.
func (c *layoutLine) setUpstream(v variable, value []byte) error {
	list := bytes.Split(bytes.ReplaceAll(value, []byte(" : "), []byte(", ")), []byte(", "))
	list = slices.DeleteFunc(list, func(x []byte) bool { return len(x) == 0 || string(x) == "-" })
	switch v.role {
	case roleUpstreamAddresses:
		c.o.texts("upstream_addr", list)
	case roleUpstreamStatuses:
		for i, x := range list {
			if !isDigits(x) || len(x) > 9 {
				return badLine("%s is %.80q, which is not a list of statuses", v.text, value)
			}
			list[i] = unpadded(x)
		}
		if len(list) > 0 {
			c.o.raw("upstream_status", append(append([]byte("["), bytes.Join(list, []byte(","))...), ']'))
		}
	case roleUpstreamTimes:
		total := int64(0)
		for _, x := range list {
			us, ok := durationOf(x, v.unit)
			if !ok {
				return badLine("%s is %.80q, which is not a list of durations", v.text, value)
			}
			total += us
		}
		if len(list) > 0 {
			c.o.raw("upstream_response_time", appendSeconds(nil, total))
		}
	}
	return nil
}

// close writes the remaining fields and returns the record. The rest is the text of the line that no variable has.
func (c *layoutLine) close(rest []byte) ([]byte, error) {
	c.finish(rest)
	return c.o.close(), nil
}

// finish writes the remaining fields.
func (c *layoutLine) finish(rest []byte) {
	for _, ip := range [][]byte{c.client, c.forwarded, c.peer} {
		if ip != nil {
			c.o.text("ip", ip)
			break
		}
	}
	r := &c.request
	for _, authority := range [][]byte{c.host, c.authority, c.hostname} {
		if r.authority == nil && string(authority) != "_" {
			r.authority = authority
		}
	}
	if _, port := splitHostPort(r.authority); port == nil {
		c.o.text("port", c.port)
	}
	c.o.text("hostname", c.hostname)
	r.append(&c.o)
	c.o.pairs("headers", c.headers)
	c.o.pairs("cookies", c.cookies)
	if rest = dashToNil(bytes.TrimLeft(rest, " ")); len(rest) > 0 {
		c.proxy = append(c.proxy, pair{[]byte(logRest), rest})
	}
	c.o.pairs("proxy", c.proxy)
}
