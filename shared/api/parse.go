package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

// parse converts a filter to its canonical JSON form or, if text/plain is accepted, to its canonical query string.
func (s *server) parse(c *call) error {
	if _, err := readQuery(c.r.URL.RawQuery, nil); err != nil {
		return err
	}
	sent, err := c.body(maxFilterBody, c.route.body.types...)
	if err != nil {
		return err
	}
	release, err := s.prepare(c)
	if err != nil {
		return err
	}
	defer release()
	args, err := filterOf(sent, c.route.params)
	if err != nil {
		return err
	}
	c.filters = args[filtersParam.name]
	clock, err := search.ClockOf(s.present(), args[dayZoneParam.name])
	if err != nil {
		return err
	}
	q, err := query.Bind(parseFilter(c.filters, formOf(c.r.Header)), query.Logs{}, query.WithClock(clock))
	if err != nil {
		return err
	}
	c.fingerprint = q.Fingerprint()
	if q.Relative != nil {
		c.w.Header().Set(relativeHeader, relativeTimes(q.Relative))
	}
	if c.accepts == textType {
		c.send(answer{status: http.StatusOK, contentType: textType, body: []byte(filter.Format(q.Filter) + "\n")})
		return nil
	}
	c.send(answer{status: http.StatusOK, contentType: jsonType, body: []byte(filter.FormatJSON(q.Filter))})
	return nil
}

// relativeHeader shows the relative times of a filter beside the times that they stand for. The canonical filter has
// only the latter.
const relativeHeader = "X-Orrery-Relative-Times"

// maxRelativeTimes is the largest number of relative times in the header. Each has at most about 50 bytes.
const maxRelativeTimes = 20

func relativeTimes(all []query.RelativeTime) string {
	texts := make([]string, 0, maxRelativeTimes+1)
	for _, r := range all[:min(len(all), maxRelativeTimes)] {
		at := time.UnixMilli(r.Ms).UTC().Format("2006-01-02T15:04:05.999Z07:00")
		texts = append(texts, r.Text+"="+at)
	}
	if more := len(all) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, ", ")
}

func parseFilter(text string, syntax filter.Syntax) filter.Filter {
	if syntax == filter.QueryString {
		return filter.ParseQueryString(text)
	}
	return filter.Parse(text)
}

// filterOf returns the filter in a body of the parse route: the member "filters" of an object, a JSON filter itself,
// the field "filters" of a form, or the whole text. Objects and forms may have the other parameters, too.
func filterOf(sent content, params []param) (arguments, error) {
	switch sent.mediaType {
	case jsonType:
		return filterOfJSON(sent.text, params)
	case formType:
		return filterOfForm(string(sent.text), params)
	case multipartType:
		fields, err := partsOf(sent)
		if err != nil {
			return nil, err
		}
		return readFields("body", fields, params)
	}
	return onlyFilter(string(sent.text)), nil
}

func onlyFilter(text string) arguments { return arguments{filtersParam.name: text} }

// filterOfForm treats a form without the field "filters" as the filter itself, which may be escaped. Escaped text has
// no white space, and a filter as text always has some, around "between".
func filterOfForm(text string, params []param) (arguments, error) {
	fields := fieldsOf(text)
	if slices.ContainsFunc(fields, func(f field) bool { return f.name == "filters" }) {
		return readFields("body", fields, params)
	}
	if !strings.ContainsAny(text, " \t\r\n") {
		return onlyFilter(unescape(text)), nil
	}
	return onlyFilter(text), nil
}

// partsOf returns the fields of a multipart form. The value of a file field is the content of the file.
func partsOf(sent content) ([]field, error) {
	parts := multipart.NewReader(bytes.NewReader(sent.text), sent.boundary)
	var fields []field
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return fields, nil
		}
		if err != nil {
			return nil, details{notMultipart(err)}
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return nil, details{notMultipart(err)}
		}
		fields = append(fields, field{part.FormName(), string(value)})
	}
}

// filterOfJSON returns the filter in a JSON body. An object without members of a filter must have the member "filters".
func filterOfJSON(body []byte, params []param) (arguments, error) {
	if err := validJSON(body); err != nil {
		return nil, err
	}
	text := strings.TrimSpace(string(body))
	switch text[0] {
	case '"':
		value, _ := readText([]byte(text))
		return onlyFilter(value), nil
	case '[':
		return onlyFilter(text), nil
	}
	members, err := membersOf(body)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		switch m.name {
		case "AND", "OR", "NOT", "field", "op", "value", "key":
			return onlyFilter(text), nil
		}
	}
	return readBody(body, params)
}

// Fields is the catalogue of fields.
type Fields struct {
	Data Results[catalog.Description] `json:"data"`
}

// fields serves the catalogue.
func (s *server) fields(c *call) error {
	if _, err := readQuery(c.r.URL.RawQuery, nil); err != nil {
		return err
	}
	var v Fields
	v.Data.Results = catalog.Describe()
	c.sendJSON(http.StatusOK, v)
	return nil
}
