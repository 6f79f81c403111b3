package api

import (
	"bytes"
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/savedfilter"
)

// SavedFilters is the saved filters of a configuration, by name.
type SavedFilters struct {
	Filters []SavedFilter `json:"filters"`
}

// SavedFilter is a version of a saved filter.
type SavedFilter struct {
	Name        string          `json:"name" example:"server-errors"`
	Filters     string          `json:"filters" doc:"The canonical query string" example:"status>=500"`
	JSON        CanonicalFilter `json:"json" doc:"The canonical JSON form"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Version     int             `json:"version" doc:"1, 2, 3, … without gaps"`
	At          time.Time       `json:"at" doc:"When the version was written, UTC"`
	By          string          `json:"by" doc:"Name of the API key that wrote it"`
	ETag        string          `json:"etag" doc:"For If-Match"`
}

// filterRoutes returns the routes of saved filters.
func (s *resourceServer) filterRoutes() []route {
	d := documents{
		resourceServer: s, store: s.Documents, limit: savedfilter.MaxBytes, find: named(savedfilter.Kind, "name", "saved filter"),
		parse: readSavedFilter, show: showFilter, list: s.listFilters,
	}
	return d.routes(documentTexts{
		id: "filter", tag: filtersTag, param: "name", noun: "saved filter", it: "filter", put: "Save a filter",
		stored: "The filter is stored in its canonical form. Every accepted write is kept as a version.",
		again:  "Writes an earlier version as a new version, also of a deleted filter.",
		listed: SavedFilters{}, one: SavedFilter{}, read: keys.ConfRead, write: keys.ConfWrite,
		params: []param{savedFilterParam, titleParam, descriptionParam},
		body:   &requestBody{doc: "The filter.", types: []string{jsonType}},
	})
}

var (
	savedFilterParam = param{
		name:     "filters",
		doc:      "The filter, in the query-string form or the JSON form. It needs no period.",
		required: true,
		schema:   &huma.Schema{Type: "string"},
		body:     filterSchema(0),
		example:  "status>=500",
		read:     readFilters,
	}
	titleParam = param{
		name: "title", doc: "A title for lists.", example: "Server errors", read: readText,
		schema: &huma.Schema{Type: "string", MaxLength: new(savedfilter.MaxTitle)},
	}
	descriptionParam = param{
		name: "description", doc: "What the filter is for.", example: "Answers that the origin failed to give.",
		read:   readText,
		schema: &huma.Schema{Type: "string", MaxLength: new(savedfilter.MaxDescription)},
	}
)

// listFilters returns the saved filters of a configuration.
func (s *resourceServer) listFilters(c *call, config string) (any, error) {
	list, err := s.Documents.List(c.r.Context(), savedfilter.Kind, config)
	if err != nil {
		return nil, err
	}
	v := SavedFilters{Filters: make([]SavedFilter, len(list))}
	for i, one := range list {
		if v.Filters[i], err = savedFilterOf(one.Name, one.Version); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// readSavedFilter reads a filter from the body of a request.
func readSavedFilter(c *call, body []byte) (replacement, error) {
	args, err := readBody(body, c.route.params)
	if err != nil {
		return nil, err
	}
	if wrong := longTexts(args); len(wrong) > 0 {
		return nil, wrong
	}
	c.filters = args["filters"]
	f, err := savedfilter.New(parseFilter(c.filters, c.r.Header), args["title"], args["description"])
	if err != nil {
		return nil, err
	}
	return unconditional(f.Text()), nil
}

func longTexts(args arguments) details {
	var wrong details
	for _, p := range []param{titleParam, descriptionParam} {
		if most := *p.schema.MaxLength; utf8.RuneCountInString(args[p.name]) > most {
			wrong = append(wrong, tooLong(most, "body", p.name))
		}
	}
	return wrong
}

// savedFilterOf returns a version of a saved filter as the API shows it.
func savedFilterOf(name string, v document.Version) (SavedFilter, error) {
	f, err := savedfilter.Stored(v.Text)
	if err != nil {
		return SavedFilter{}, err
	}
	saved := SavedFilter{
		Name: name, Filters: f.Filters, Title: f.Title, Description: f.Description,
		Version: v.Number, At: v.At, By: v.By, ETag: v.ETag,
	}
	decoder := json.NewDecoder(bytes.NewReader(f.JSON))
	decoder.UseNumber() // large integers keep their digits
	return saved, decoder.Decode(&saved.JSON)
}

func showFilter(id document.ID, v document.Version) ([]byte, error) {
	f, err := savedFilterOf(id.Name, v)
	return encode(f), err
}
