package logformat

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"slices"
	"strings"

	"github.com/go-faster/jx"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
)

// caddy is the access log of Caddy 2, one JSON object per line. Members with a field in the specification become that
// field; all others keep their names.
type caddy struct{}

func (caddy) Name() string { return "caddy" }

// caddyLogger is the name of the logger of access logs; a name may follow after a dot.
const caddyLogger = "http.log.access"

func (caddy) Matches(line []byte) bool {
	return bytes.HasPrefix(line, []byte("{")) &&
		bytes.Contains(line, []byte(`"`+caddyLogger)) &&
		bytes.Contains(line, []byte(`"request"`))
}

func (caddy) Complete(row *lake.Row) { complete(row) }

// caddyLine holds the members of a line that are written after all others are read.
type caddyLine struct {
	o                  object
	logger             string
	found              bool // the line has a request
	request            request
	headers            []pair
	clientIP, remoteIP []byte
	tls                []pair
	rest               object // members of the request without a field in the specification
}

func (caddy) Convert(dst, line []byte) ([]byte, error) {
	c := caddyLine{o: newObject(dst), rest: newObject(nil)}
	d := jx.DecodeBytes(line)
	if err := d.ObjBytes(func(d *jx.Decoder, key []byte) error { return c.member(d, string(key)) }); err != nil {
		return nil, &record.Reject{Code: record.BadJSON, Message: fmt.Sprintf("not an access log of Caddy: %v", err)}
	}
	if c.logger != "" && c.logger != caddyLogger && !strings.HasPrefix(c.logger, caddyLogger+".") {
		return nil, badLine("the logger %q is not an access log", c.logger)
	}
	if !c.found {
		return nil, badLine("the line has no member request")
	}
	c.appendRequest()
	return c.o.close(), nil
}

// caddyNames are members that only change their name.
var caddyNames = map[string]string{
	"ts":         "timestamp",
	"duration":   "request_time",
	"size":       "bytes_sent",
	"bytes_read": "request_length",
}

// member reads one member of the line.
func (c *caddyLine) member(d *jx.Decoder, name string) error {
	if name == "request" {
		c.found = true
		return d.ObjBytes(func(d *jx.Decoder, key []byte) error { return c.requestMember(d, string(key)) })
	}
	if name == "user_id" && d.Next() == jx.String {
		user, err := d.StrAppend(nil)
		if len(user) > 0 {
			c.o.text("remote_user", user)
		}
		return err
	}
	raw, err := d.Raw()
	if err != nil {
		return err
	}
	if renamed, ok := caddyNames[name]; ok {
		name = renamed
	}
	c.o.raw(name, raw)
	if name == "logger" {
		c.logger, err = jx.DecodeBytes(raw).Str()
	}
	return err
}

// requestMember reads one member of the request.
func (c *caddyLine) requestMember(d *jx.Decoder, name string) (err error) {
	switch name {
	case "client_ip":
		c.clientIP, err = d.StrAppend(nil)
	case "remote_ip":
		c.remoteIP, err = d.StrAppend(nil)
	case "method":
		c.request.method, err = d.StrAppend(nil)
	case "proto":
		c.request.protocol, err = d.StrAppend(nil)
	case "host":
		c.request.authority, err = d.StrAppend(nil)
	case "uri":
		var target []byte
		target, err = d.StrAppend(nil)
		c.request.setTarget(target)
	case "headers":
		err = d.ObjBytes(func(d *jx.Decoder, key []byte) error { return c.header(d, bytes.Clone(key)) })
	default:
		var raw []byte
		if raw, err = d.Raw(); err != nil {
			return err
		}
		c.rest.raw(name, raw)
		if name == "tls" {
			err = c.connection(jx.DecodeBytes(raw))
		}
	}
	return err
}

// header reads the values of one header.
func (c *caddyLine) header(d *jx.Decoder, name []byte) error {
	return d.Arr(func(d *jx.Decoder) error {
		value, err := d.StrAppend(nil)
		c.headers = append(c.headers, pair{name, value})
		return err
	})
}

// connection reads the member tls: the numbers of the protocol's version and of the cipher suite.
func (c *caddyLine) connection(d *jx.Decoder) error {
	return d.ObjBytes(func(d *jx.Decoder, key []byte) error {
		switch string(key) {
		case "version":
			version, err := d.UInt16()
			name := strings.Replace(tls.VersionName(version), "TLS ", "TLSv", 1)
			c.tls = append(c.tls, pair{[]byte("ssl_protocol"), []byte(name)})
			return err
		case "cipher_suite":
			suite, err := d.UInt16()
			c.tls = append(c.tls, pair{[]byte("ssl_cipher"), []byte(cipherSuite(suite))})
			return err
		}
		return d.Skip()
	})
}

// cipherSuites has the names of cipher suites. tls.CipherSuiteName makes a list of all of them for each answer.
var cipherSuites = func() map[uint16]string {
	names := map[uint16]string{}
	for _, suite := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
		names[suite.ID] = suite.Name
	}
	return names
}()

func cipherSuite(id uint16) string {
	if name, ok := cipherSuites[id]; ok {
		return name
	}
	return tls.CipherSuiteName(id) // its number
}

// caddyRedacted is the value of the headers Cookie, Authorization and others, unless the server is configured to log
// credentials.
const caddyRedacted = "REDACTED"

// appendRequest writes the request. The client is client_ip, which respects trusted proxies; then remote_ip, the
// address of the connection, becomes an entry of proxy.
func (c *caddyLine) appendRequest() {
	client := c.clientIP
	if client == nil {
		client = c.remoteIP
	} else if c.remoteIP != nil {
		c.tls = append(c.tls, pair{[]byte("remote_ip"), c.remoteIP})
	}
	c.o.text("ip", client)
	appendHeaders(&c.o, c.headers, caddyRedacted)
	c.request.append(&c.o)
	c.o.pairs("proxy", c.tls)
	if c.rest.comma {
		c.o.raw("request", c.rest.close())
	}
}
