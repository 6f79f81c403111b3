package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
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
func (s *server) filterRoutes() []route {
	const all = "/conf/{config}/filters"
	const one = all + "/{name}"

	saved := []response{
		{http.StatusOK, "The filter.", SavedFilter{}, true},
		{http.StatusNotModified, "The client has it already.", nil, true},
	}
	reading := []int{http.StatusNotFound, http.StatusUnprocessableEntity}

	return []route{
		{
			id:      "filters",
			method:  http.MethodGet,
			path:    all,
			tag:     filtersTag,
			summary: "List saved filters",
			scope:   keys.ConfRead,
			offers:  offers,
			answers: []response{{http.StatusOK, "The saved filters, by name.", SavedFilters{}, false}},
			errors:  reading,
			handle:  s.listFilters,
		},
		{
			id:      "filter-get",
			method:  http.MethodGet,
			path:    one,
			tag:     filtersTag,
			summary: "Read a saved filter",
			scope:   keys.ConfRead,
			offers:  offers,
			headers: []param{ifNoneMatchRead},
			answers: saved,
			errors:  reading,
			handle:  s.getFilter,
		},
		{
			id:      "filter-put",
			method:  http.MethodPut,
			path:    one,
			tag:     filtersTag,
			summary: "Save a filter",
			doc:     "The filter is stored in its canonical form. Every accepted write is kept as a version.",
			scope:   keys.ConfWrite,
			offers:  offers,
			params:  []param{savedFilterParam, titleParam, descriptionParam},
			headers: []param{syntaxHeader, ifMatch, ifNoneMatchWrite},
			body:    &requestBody{doc: "The filter.", types: []string{jsonType}},
			answers: []response{{http.StatusOK, "The filter as it was saved.", SavedFilter{}, true}},
			errors:  slices.Concat(bodyErrors, writeErrors, []int{http.StatusBadRequest}),
			handle:  s.putFilter,
		},
		{
			id:      "filter-delete",
			method:  http.MethodDelete,
			path:    one,
			tag:     filtersTag,
			summary: "Delete a saved filter",
			doc:     "The deletion is a version, too. Earlier versions can still be read and restored.",
			scope:   keys.ConfWrite,
			offers:  offers,
			headers: []param{ifMatch},
			answers: []response{{http.StatusNoContent, "The filter was deleted.", nil, false}},
			errors:  writeErrors,
			handle:  s.deleteFilter,
		},
		{
			id:      "filter-versions",
			method:  http.MethodGet,
			path:    one + "/versions",
			tag:     filtersTag,
			summary: "History of a saved filter",
			scope:   keys.ConfRead,
			offers:  offers,
			answers: []response{
				{http.StatusOK, "Every version, newest first; also of a deleted filter.", Versions{}, false},
			},
			errors: reading,
			handle: s.listFilterVersions,
		},
		{
			id:      "filter-version",
			method:  http.MethodGet,
			path:    one + "/versions/{version}",
			tag:     filtersTag,
			summary: "Read a version of a saved filter",
			scope:   keys.ConfRead,
			offers:  offers,
			headers: []param{ifNoneMatchRead},
			answers: saved,
			errors:  reading,
			handle:  s.getFilterVersion,
		},
		{
			id:      "filter-restore",
			method:  http.MethodPost,
			path:    one + "/versions/{version}/restore",
			tag:     filtersTag,
			summary: "Restore a version of a saved filter",
			doc:     "Writes an earlier version as a new version, also of a deleted filter.",
			scope:   keys.ConfWrite,
			offers:  offers,
			headers: []param{ifMatch, ifNoneMatchWrite},
			answers: []response{{http.StatusOK, "The filter of the version.", SavedFilter{}, true}},
			errors:  writeErrors,
			handle:  s.restoreFilter,
		},
	}
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
		schema: &huma.Schema{Type: "string", MaxLength: whole(savedfilter.MaxTitle)},
	}
	descriptionParam = param{
		name: "description", doc: "What the filter is for.", example: "Answers that the origin failed to give.",
		read:   readText,
		schema: &huma.Schema{Type: "string", MaxLength: whole(savedfilter.MaxDescription)},
	}
)

func whole(n int) *int { return &n }

// listFilters sends the saved filters of a configuration.
func (s *server) listFilters(c *call) error {
	config, err := c.config()
	if err != nil {
		return err
	}
	list, err := s.Documents.List(c.r.Context(), savedfilter.Kind, config)
	if err != nil {
		return err
	}
	v := SavedFilters{Filters: make([]SavedFilter, len(list))}
	for i, one := range list {
		if v.Filters[i], err = savedFilterOf(one.Name, one.Version); err != nil {
			return err
		}
	}
	return c.sendList(v)
}

// getFilter sends the newest version.
func (s *server) getFilter(c *call) error {
	id, err := c.filterID()
	if err != nil {
		return err
	}
	v, err := document.Current(c.r.Context(), s.Documents, id)
	if err != nil {
		return err
	}
	return c.sendFilter(id, v)
}

// putFilter saves a filter.
func (s *server) putFilter(c *call) error {
	id, change, err := s.filterChange(c)
	if err != nil {
		return err
	}
	sent, err := c.body(savedfilter.MaxBytes, jsonType)
	if err != nil {
		return err
	}
	release, err := s.prepare(c)
	if err != nil {
		return err
	}
	f, err := readSavedFilter(c, sent.text)
	release()
	if err != nil {
		return err
	}
	change.Text = f.Text()
	v, err := document.Put(c.r.Context(), s.Documents, id, change)
	if err != nil {
		return err
	}
	return c.sendSavedFilter(id, v)
}

// readSavedFilter reads a filter from the body of a request.
func readSavedFilter(c *call, body []byte) (savedfilter.Filter, error) {
	args, err := readBody(body, c.route.params)
	if err != nil {
		return savedfilter.Filter{}, err
	}
	if wrong := longTexts(args); len(wrong) > 0 {
		return savedfilter.Filter{}, wrong
	}
	c.filters = args["filters"]
	return savedfilter.New(parseFilter(c.filters, formOf(c.r.Header)), args["title"], args["description"])
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

// deleteFilter deletes a filter.
func (s *server) deleteFilter(c *call) error {
	id, change, err := s.filterChange(c)
	if err != nil {
		return err
	}
	if err := c.noBody(); err != nil {
		return err
	}
	if err := document.Delete(c.r.Context(), s.Documents, id, change); err != nil {
		return err
	}
	c.send(answer{status: http.StatusNoContent})
	return nil
}

// listFilterVersions sends the history.
func (s *server) listFilterVersions(c *call) error {
	id, err := c.filterID()
	if err != nil {
		return err
	}
	infos, err := s.Documents.Versions(c.r.Context(), id)
	if err != nil {
		return err
	}
	if len(infos) == 0 {
		return document.NotFound(id, 0)
	}
	c.sendVersions(infos)
	return nil
}

// getFilterVersion sends one version.
func (s *server) getFilterVersion(c *call) error {
	id, err := c.filterID()
	if err != nil {
		return err
	}
	number, err := c.version()
	if err != nil {
		return err
	}
	v, err := document.Read(c.r.Context(), s.Documents, id, number)
	if err != nil {
		return err
	}
	return c.sendFilter(id, v)
}

// restoreFilter makes an earlier version the newest.
func (s *server) restoreFilter(c *call) error {
	id, change, err := s.filterChange(c)
	if err != nil {
		return err
	}
	number, err := c.version()
	if err != nil {
		return err
	}
	if err := c.noBody(); err != nil {
		return err
	}
	v, err := document.Restore(c.r.Context(), s.Documents, id, number, change)
	if err != nil {
		return err
	}
	return c.sendSavedFilter(id, v)
}

// filterID returns the saved filter in the path.
func (c *call) filterID() (document.ID, error) {
	config, err := c.config()
	if err != nil {
		return document.ID{}, err
	}
	name := c.r.PathValue("name")
	if !document.ValidName(name) {
		return document.ID{}, details{badFilterName(name)}
	}
	return savedfilter.DocumentOf(config, name), nil
}

// filterChange returns the saved filter in the path of a write, and the write without its text.
func (s *server) filterChange(c *call) (document.ID, document.Change, error) {
	return s.documentChange(c, c.filterID)
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

// sendFilter sends a version, or 304 if the client has it.
func (c *call) sendFilter(id document.ID, v document.Version) error {
	f, err := savedFilterOf(id.Name, v)
	if err != nil {
		return err
	}
	c.sendDocument(v, f)
	return nil
}

// sendSavedFilter answers a write with the version written.
func (c *call) sendSavedFilter(id document.ID, v document.Version) error {
	f, err := savedFilterOf(id.Name, v)
	if err != nil {
		return err
	}
	c.sendStored(v, f)
	return nil
}
