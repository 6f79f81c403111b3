package parameter

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"strings"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/problem"
)

// Body is the body of a request and its type.
type Body struct {
	Text      []byte
	MediaType string
	Boundary  string // of a multipart body
}

// Field is an unescaped field of a query or form.
type Field struct{ Name, Value string }

// Fields returns the fields of a form.
func (b Body) Fields() ([]Field, error) {
	if b.MediaType == content.Multipart {
		return partsOf(b)
	}
	return fieldsOf(string(b.Text)), nil
}

// fieldsOf returns the fields of a query or form. It does not use net/url, which drops fields with semicolons: browsers
// do not escape semicolons, braces, brackets, bars and backslashes. A plus is a space, and a percent sign without two
// hexadecimal digits is kept.
func fieldsOf(raw string) []Field {
	var list []Field
	for _, pair := range strings.Split(raw, "&") {
		if pair != "" {
			name, value, _ := strings.Cut(pair, "=")
			list = append(list, Field{unescape(name), unescape(value)})
		}
	}
	return list
}

// partsOf returns the fields of a multipart form. The value of a file field is the content of the file.
func partsOf(sent Body) ([]Field, error) {
	parts := multipart.NewReader(bytes.NewReader(sent.Text), sent.Boundary)
	var fields []Field
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return fields, nil
		}
		if err != nil {
			return nil, problem.Details{notMultipart(err)}
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return nil, problem.Details{notMultipart(err)}
		}
		fields = append(fields, Field{part.FormName(), string(value)})
	}
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
