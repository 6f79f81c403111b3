package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

// parse converts a filter to its canonical JSON form or, if text/plain is accepted, to its canonical query string.
func (s *dataServer) parse(c *call) error {
	if _, err := readQuery(c.r.URL.RawQuery, nil); err != nil {
		return err
	}
	return c.parse(maxFilterBody, c.route.body.types, func(sent sentBody) error { return s.convert(c, sent) })
}

// convert answers with the canonical form of the filter in a body.
func (s *dataServer) convert(c *call, sent sentBody) error {
	args, err := filterOf(sent, c.route.params)
	if err != nil {
		return err
	}
	c.filters = args[filtersParam.name]
	clock, err := search.ClockOf(s.present(), args[dayZoneParam.name])
	if err != nil {
		return err
	}
	q, err := query.Bind(parseFilter(c.filters, c.r.Header), query.Logs{}, query.WithClock(clock))
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

// filterOf returns the filter in a body of the parse route: the member "filters" of an object, a JSON filter itself,
// the field "filters" of a form, or the whole text. Objects and forms may have the other parameters, too.
func filterOf(sent sentBody, params []param) (arguments, error) {
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
func (s *dataServer) fields(c *call) error {
	if _, err := readQuery(c.r.URL.RawQuery, nil); err != nil {
		return err
	}
	var v Fields
	v.Data.Results = catalog.Describe()
	c.sendJSON(http.StatusOK, v)
	return nil
}

// CanonicalFilter is the canonical JSON form of a filter.
type CanonicalFilter struct {
	AND []CanonicalCondition `json:"AND"`
}

// CanonicalCondition is a condition of a CanonicalFilter. Its members are in this order.
type CanonicalCondition struct {
	Field string `json:"field" example:"status"`
	Key   string `json:"key,omitempty" example:"^name$"`
	Op    string `json:"op" example:"not eq"`
	Value any    `json:"value" doc:"A value, or a list of values"`
}

// filterBodySchema returns the schema of the JSON bodies of the parse route.
func filterBodySchema() *huma.Schema {
	condition := &huma.Schema{Type: "object", AdditionalProperties: true}
	return &huma.Schema{AnyOf: []*huma.Schema{
		memberSchema([]param{filtersParam, dayZoneParam}),
		{Type: "object", AdditionalProperties: true, Description: "A JSON filter, or one condition."},
		{Type: "array", Items: condition, Description: "The conditions of a JSON filter."},
		{Type: "string", Description: "A filter as text."},
	}}
}
