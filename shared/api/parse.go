package api

import (
	"net/http"
	"strings"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
)

// parse converts a filter to its canonical JSON form, or, as text/plain, to its canonical query string.
func (s *server) parse(c *call) error {
	if _, err := readQuery(c.r.URL.RawQuery, nil); err != nil {
		return err
	}
	body, mediaType, err := c.body(maxFilterBody, jsonType, textType, formType)
	if err != nil {
		return err
	}
	if c.filters, err = filterOf(body, mediaType, c.route.params); err != nil {
		return err
	}
	q, err := query.Bind(parseFilter(c.filters, formOf(c.r.Header)), query.Logs{})
	if err != nil {
		return err
	}
	c.fingerprint = q.Fingerprint()
	if c.accepts == textType {
		c.send(answer{status: http.StatusOK, contentType: textType, body: []byte(filter.Format(q.Filter) + "\n")})
		return nil
	}
	c.send(answer{status: http.StatusOK, contentType: jsonType, body: []byte(filter.FormatJSON(q.Filter))})
	return nil
}

func parseFilter(text string, form filter.Form) filter.Filter {
	if form == filter.QueryString {
		return filter.ParseQueryString(text)
	}
	return filter.Parse(text)
}

// filterOf finds the filter in a body of the parse route: the member "filters" of an object, a JSON filter
// itself, the field "filters" of a form, or else the text as it is.
func filterOf(body []byte, mediaType string, params []param) (string, error) {
	switch mediaType {
	case jsonType:
		return filterOfJSON(body, params)
	case formType:
		for _, pair := range strings.Split(string(body), "&") {
			if value, ok := strings.CutPrefix(pair, "filters="); ok {
				return unescape(value), nil
			}
		}
		// A form that was encoded holds no blank, and a filter as text always does, around "between".
		if !strings.ContainsAny(string(body), " \t\r\n") {
			return unescape(string(body)), nil
		}
	}
	return string(body), nil
}

// filterOfJSON takes an object without any member of a filter as one that should have had "filters".
func filterOfJSON(body []byte, params []param) (string, error) {
	if err := validJSON(body); err != nil {
		return "", err
	}
	text := strings.TrimSpace(string(body))
	switch text[0] {
	case '"':
		value, _ := readText([]byte(text))
		return value, nil
	case '[':
		return text, nil
	}
	members, err := membersOf(body)
	if err != nil {
		return "", err
	}
	for _, m := range members {
		switch m.name {
		case "AND", "OR", "NOT", "field", "op", "value", "key":
			return text, nil
		}
	}
	g, err := readBody(body, params)
	return g["filters"], err
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
