package resource

import (
	"bytes"
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/problem"
	"github.com/orrery/orrery/shared/api/route"
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
	Name        string                    `json:"name" example:"server-errors"`
	Filters     string                    `json:"filters" doc:"The canonical query string" example:"status>=500"`
	JSON        parameter.CanonicalFilter `json:"json" doc:"The canonical JSON form"`
	Title       string                    `json:"title,omitempty"`
	Description string                    `json:"description,omitempty"`
	Version     int                       `json:"version" doc:"Number of the version: 1, 2, 3, … without gaps"`
	At          time.Time                 `json:"at" doc:"When the version was written, UTC"`
	By          string                    `json:"by" doc:"Name of the API key that wrote the version"`
	ETag        string                    `json:"etag" doc:"ETag of the version, for If-Match"`
}

// filterRoutes returns the routes of saved filters.
func (s *server) filterRoutes() []route.Route {
	d := documents{
		server: s, store: s.Documents, limit: savedfilter.MaxBytes, find: named(savedfilter.Kind, "name", "saved filter"),
		parse: readSavedFilter, show: showFilter, list: s.listFilters,
	}
	return d.routes(documentTexts{
		id: "filter", tag: route.FiltersTag, param: "name", noun: "saved filter", nouns: "saved filters", it: "filter",
		put:    "Save a filter",
		stored: "The filter is stored in its canonical form. Every accepted write is kept as a version.",
		again:  "Writes an earlier version as a new version, even if the filter is deleted.",
		listed: SavedFilters{}, one: SavedFilter{}, read: keys.ConfRead, write: keys.ConfWrite,
		params: []parameter.Parameter{savedFilterParam, titleParam, descriptionParam},
		body:   &route.RequestBody{Doc: "The filter.", Types: []string{content.JSON}},
	})
}

var (
	savedFilterParam = parameter.Parameter{
		Name:     "filters",
		Doc:      "The filter, in the query-string form or the JSON form. It needs no period.",
		Required: true,
		Schema:   &huma.Schema{Type: "string"},
		Body:     parameter.FilterSchema(0),
		Example:  "status>=500",
		Read:     parameter.ReadFilters,
	}
	titleParam = parameter.Parameter{
		Name: "title", Doc: "A title for lists.", Example: "Server errors", Read: parameter.ReadText,
		Schema: &huma.Schema{Type: "string", MaxLength: new(savedfilter.MaxTitle)},
	}
	descriptionParam = parameter.Parameter{
		Name: "description", Doc: "What the filter is for.", Example: "Answers that the origin failed to give.",
		Read:   parameter.ReadText,
		Schema: &huma.Schema{Type: "string", MaxLength: new(savedfilter.MaxDescription)},
	}
)

// listFilters returns the saved filters of a configuration.
func (s *server) listFilters(c *route.Call, config string) (any, error) {
	list, err := s.Documents.List(c.Request.Context(), savedfilter.Kind, config)
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
func readSavedFilter(c *route.Call, body []byte) (replacement, error) {
	args, err := parameter.ReadBody(body, c.Route.Params)
	if err != nil {
		return nil, err
	}
	if wrong := longTexts(args); len(wrong) > 0 {
		return nil, wrong
	}
	c.Filters = args["filters"]
	f, err := savedfilter.New(parameter.ParseFilter(c.Filters, c.Request.Header), args["title"], args["description"])
	if err != nil {
		return nil, err
	}
	return unconditional(f.Text()), nil
}

func longTexts(args parameter.Arguments) problem.Details {
	var wrong problem.Details
	for _, p := range []parameter.Parameter{titleParam, descriptionParam} {
		if most := *p.Schema.MaxLength; utf8.RuneCountInString(args[p.Name]) > most {
			wrong = append(wrong, tooLong(most, "body", p.Name))
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
	return content.Encode(f), err
}
