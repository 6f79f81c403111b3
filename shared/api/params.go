package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

// param is a parameter of a route. The POST form of a route has it as a member of the body.
type param struct {
	name     string
	doc      string
	required bool
	schema   *huma.Schema // of the query parameter
	body     *huma.Schema // of the member; nil: schema
	example  any
	// read converts the member to the text of a parameter, or returns the type that it must have.
	read func(json.RawMessage) (text string, want string)
}

func names(params []param) []string {
	list := make([]string, len(params))
	for i, p := range params {
		list[i] = p.name
	}
	return list
}

// arguments is the values of parameters, as text.
type arguments map[string]string

// maxDetails is the maximum number of details of an error.
const maxDetails = 20

// readQuery reads the parameters of a query.
func readQuery(raw string, params []param) (arguments, error) {
	return readFields("query", fieldsOf(raw), params)
}

// field is an unescaped field of a query or form.
type field struct{ name, value string }

// fieldsOf returns the fields of a query or form. It does not use net/url, which drops fields with semicolons: browsers
// do not escape semicolons, braces, brackets, bars and backslashes. A plus is a space, and a percent sign without two
// hexadecimal digits is kept.
func fieldsOf(raw string) []field {
	var list []field
	for _, pair := range strings.Split(raw, "&") {
		if pair != "" {
			name, value, _ := strings.Cut(pair, "=")
			list = append(list, field{unescape(name), unescape(value)})
		}
	}
	return list
}

// ignored reports whether a parameter is ignored. Names with an initial underscore are cache busters.
func ignored(name string) bool { return strings.HasPrefix(name, "_") }

// readFields reads parameters from fields. place is the location for errors: "query" or "body".
func readFields(place string, fields []field, params []param) (arguments, error) {
	args, wrong := arguments{}, details(nil)
	for _, f := range fields {
		_, twice := args[f.name]
		switch {
		case ignored(f.name):
			continue
		case len(wrong) == maxDetails:
			return nil, wrong
		case !known(params, f.name):
			_, afterFilters := args["filters"]
			wrong = append(wrong, unknown(names(params), afterFilters, place, f.name))
		case twice:
			wrong = append(wrong, repeated(place, f.name))
		case f.value == "" && !mayBeEmpty(params, f.name):
			wrong = append(wrong, empty(place, f.name))
		case !utf8.ValidString(f.value) && !isFilter(f.name):
			wrong = append(wrong, notUTF8(f.value, place, f.name))
		}
		args[f.name] = f.value
	}
	return args.complete(place, params, wrong)
}

// readBody reads parameters from the members of a JSON object.
func readBody(body []byte, params []param) (arguments, error) {
	members, err := membersOf(body)
	if err != nil {
		return nil, err
	}
	args, wrong := arguments{}, details(nil)
	for _, m := range members {
		_, twice := args[m.name]
		switch {
		case ignored(m.name):
			continue
		case len(wrong) == maxDetails:
			return nil, wrong
		case !known(params, m.name):
			wrong = append(wrong, unknown(names(params), false, "body", m.name))
			continue
		case twice:
			wrong = append(wrong, repeated("body", m.name))
			continue
		}
		text, want := find(params, m.name).read(m.value)
		switch {
		case want != "":
			wrong = append(wrong, wrongType(want, "body", m.name))
		case text == "" && !mayBeEmpty(params, m.name):
			wrong = append(wrong, empty("body", m.name))
		case !utf8.ValidString(text) && !isFilter(m.name):
			wrong = append(wrong, notUTF8(text, "body", m.name))
		}
		args[m.name] = text
	}
	return args.complete("body", params, wrong)
}

// complete returns the arguments, or wrong extended by the missing required parameters.
func (args arguments) complete(place string, params []param, wrong details) (arguments, error) {
	for _, p := range params {
		if _, ok := args[p.name]; p.required && !ok {
			wrong = append(wrong, missing(place, p.name))
		}
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	return args, nil
}

func known(params []param, name string) bool { return find(params, name) != nil }

// mayBeEmpty reports whether the route, and not the reading of parameters, refuses an empty value: an empty filter is a
// mistake in the filter, unless the route has a default for it.
func mayBeEmpty(params []param, name string) bool {
	return name == filtersParam.name && find(params, name).required
}

// isFilter reports whether a parameter has a filter, of which package filter reports the mistakes.
func isFilter(name string) bool { return name == filtersParam.name || name == selectName }

func find(params []param, name string) *param {
	for i := range params {
		if params[i].name == name {
			return &params[i]
		}
	}
	return nil
}

// unescape decodes the escapes of a query or form and keeps invalid ones.
func unescape(s string) string {
	if !strings.ContainsAny(s, "%+") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '+':
			b = append(b, ' ')
		case s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			b = append(b, unhex(s[i+1])<<4|unhex(s[i+2]))
			i += 2
		default:
			b = append(b, s[i])
		}
	}
	return string(b)
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func unhex(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c >= 'a':
		return c - 'a' + 10
	}
	return c - 'A' + 10
}

type member struct {
	name  string
	value json.RawMessage
}

// membersOf returns the members of a JSON object in order, including repeated ones.
func membersOf(body []byte) ([]member, error) {
	if err := validJSON(body); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(body))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, details{wrongType("an object", "body")}
	}
	var members []member
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, details{notJSON(err)}
		}
		m := member{name: name.(string)} // a member begins with its name
		if err := d.Decode(&m.value); err != nil {
			return nil, details{notJSON(err)}
		}
		members = append(members, m)
	}
	return members, nil
}

func validJSON(body []byte) error {
	var value json.RawMessage
	if err := json.Unmarshal(body, &value); err != nil {
		return details{notJSON(err)}
	}
	return nil
}

// content is a body and its type.
type content struct {
	text      []byte
	mediaType string
	boundary  string // of a multipart body
}

// prepare waits until the body of the request may be parsed. release ends this time.
func (s *server) prepare(c *call) (release func(), err error) {
	if s.Prepare == nil {
		return func() {}, nil
	}
	return s.Prepare(c.r.Context(), c.callerID)
}

// body reads a body of at most limit bytes that has one of the media types want.
func (c *call) body(limit int64, want ...string) (content, error) {
	coding := strings.TrimSpace(strings.Join(c.r.Header.Values("Content-Encoding"), ", "))
	if coding != "" && !strings.EqualFold(coding, "identity") {
		c.w.Header().Set("Accept-Encoding", "identity") // RFC 9110, section 15.5.16
		return content{}, errEncodedBody(coding)
	}
	sent := c.r.Header.Get("Content-Type")
	mediaType, options, err := mime.ParseMediaType(sent)
	charset := options["charset"]
	unicode := charset == "" || strings.EqualFold(charset, "utf-8")
	if err != nil || !unicode || !slices.Contains(want, mediaType) {
		return content{}, errMediaType(sent, want...)
	}
	if c.r.ContentLength > limit {
		return content{}, &http.MaxBytesError{Limit: limit}
	}
	text, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, limit))
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return content{}, err
		}
		return content{}, details{brokenBody()}
	}
	return content{text, mediaType, options["boundary"]}, nil
}

// noBody returns an error if the request has a body, which would otherwise be ignored.
func (c *call) noBody() error {
	switch n, err := io.ReadFull(c.r.Body, make([]byte, 1)); {
	case n > 0:
		return details{unwantedBody()}
	case err != io.EOF:
		return details{brokenBody()}
	}
	return nil
}
