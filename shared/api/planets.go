package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/planet"
)

// Message is the answer of a write.
type Message struct {
	Message string `json:"message"`
}

// planetRoutes returns the routes of planets.
func (s *resourceServer) planetRoutes() []route {
	const all = "/conf/{config}/planets"
	const entry = all + "/{entry_id}"
	planets := s.planets()
	settings := []response{
		{status: http.StatusOK, doc: "The settings.", value: settingsSchema(true), etag: true},
		{status: http.StatusNotModified, doc: "The client has them already.", etag: true},
	}
	return []route{
		{
			id:      "planet-get",
			method:  http.MethodGet,
			path:    all,
			tag:     planetsTag,
			summary: "Read a planet",
			scope:   keys.ConfRead,
			offers:  offers,
			headers: []param{ifNoneMatchRead},
			answers: settings,
			errors:  []int{http.StatusNotFound, http.StatusUnprocessableEntity},
			handle:  planets.get,
		},
		{
			id:      "planet-put",
			method:  http.MethodPut,
			path:    entry,
			tag:     planetsTag,
			summary: "Replace a planet",
			doc: "Every accepted write is kept as a version. " +
				"The planet is created when the configuration has none.",
			scope:   keys.ConfWrite,
			offers:  offers,
			headers: []param{ifMatch, ifNoneMatchWrite},
			body: &requestBody{
				doc:   "The settings. Unknown members are kept.",
				types: []string{jsonType},
				json:  settingsSchema(false),
			},
			answers: []response{
				{status: http.StatusOK, doc: "The settings were replaced, or the planet was created.", value: Message{}, etag: true},
			},
			errors: slices.Concat(bodyErrors, writeErrors),
			handle: planets.put,
		},
		{
			id:      "planet-versions",
			method:  http.MethodGet,
			path:    entry + "/versions",
			tag:     planetsTag,
			summary: "History of a planet",
			scope:   keys.ConfRead,
			offers:  offers,
			answers: []response{
				{status: http.StatusOK, doc: "Every version, newest first, without its settings.", value: Versions{}},
			},
			errors: []int{http.StatusNotFound, http.StatusUnprocessableEntity},
			handle: planets.versions,
		},
		{
			id:      "planet-version",
			method:  http.MethodGet,
			path:    entry + "/versions/{version}",
			tag:     planetsTag,
			summary: "Read a version of a planet",
			scope:   keys.ConfRead,
			offers:  offers,
			headers: []param{ifNoneMatchRead},
			answers: settings,
			errors:  []int{http.StatusNotFound, http.StatusUnprocessableEntity},
			handle:  planets.getVersion,
		},
		{
			id:      "planet-restore",
			method:  http.MethodPost,
			path:    entry + "/versions/{version}/restore",
			tag:     planetsTag,
			summary: "Restore a version of a planet",
			doc:     "Writes the settings of an earlier version as a new version.",
			scope:   keys.ConfWrite,
			offers:  offers,
			headers: []param{ifMatch},
			answers: []response{{status: http.StatusOK, doc: "The version was restored.", value: Message{}, etag: true}},
			errors:  writeErrors,
			handle:  planets.restore,
		},
	}
}

// settingsSchema returns the schema of planet settings; withID makes the id required.
func settingsSchema(withID bool) *huma.Schema {
	text := func() *huma.Schema { return &huma.Schema{Type: "string"} }
	empty := func() *huma.Schema { return &huma.Schema{Type: "string", MaxLength: new(int)} }
	open := func() *huma.Schema { return &huma.Schema{Type: "object", AdditionalProperties: true} }
	s := &huma.Schema{
		Type: "object", AdditionalProperties: true, Required: []string{"name", "trusted_nets", "ichallenge"},
		Properties: map[string]*huma.Schema{
			"id":   text(),
			"name": {Type: "string", Pattern: `\S`},
			"trusted_nets": {Type: "array", Items: &huma.Schema{OneOf: []*huma.Schema{
				{
					Type: "object", AdditionalProperties: true, Required: []string{"address", "comment"},
					Properties: map[string]*huma.Schema{
						"source": {Type: "string", Enum: []any{planet.SourceIP}, Default: planet.SourceIP},
						"address": {
							Type: "string", MinLength: new(1), Pattern: `^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$`,
							Description: "An IP address or a network, v4 or v6; no two may be the same network.",
						},
						"gf_id":   empty(),
						"comment": text(),
					},
				},
				{
					Type: "object", AdditionalProperties: true, Required: []string{"source", "gf_id", "comment"},
					Properties: map[string]*huma.Schema{
						"source":  {Type: "string", Enum: []any{planet.SourceGlobalFilter}},
						"gf_id":   {Type: "string", Pattern: `\S`, Description: "Id of a global filter."},
						"address": empty(),
						"comment": text(),
					},
				},
			}}},
			"ichallenge": {
				Type: "object", AdditionalProperties: true, Required: []string{"attrs", "lang", "palette", "position"},
				Properties: map[string]*huma.Schema{
					"attrs": open(), "lang": open(), "palette": {Type: "array", Items: text()}, "position": open(),
				},
			},
		},
	}
	if withID {
		s.Required = append(s.Required, "id")
	}
	return s
}

// planets returns the planets as documents. Their routes differ from those of others: there is one planet in a
// configuration, which is never deleted, and clients expect a message as the answer to a write.
func (s *resourceServer) planets() documents {
	return documents{
		resourceServer: s, store: planetStore{s.Planets}, limit: planet.MaxBytes,
		find: func(c *call) (document.ID, error) {
			config, err := entryOf(c)
			return planet.DocumentOf(config), err
		},
		parse: func(_ *call, body []byte) (replacement, error) {
			settings, err := planet.Parse(body)
			if err != nil {
				return nil, err
			}
			return unconditional(settings.Text()), nil
		},
		show: func(_ document.ID, v document.Version) ([]byte, error) { return planet.Stored(v.Text).JSON(), nil },
		written: func(v document.Version, restored int) any {
			switch {
			case restored > 0:
				return Message{fmt.Sprintf("Successfully restored version %d as version %d", restored, v.Number)}
			case v.Number == 1:
				return Message{"Successfully created entry"} // 200, because clients accept no other status
			}
			return Message{"Successfully updated entry"}
		},
	}
}

// planetStore is a store of planets as one of documents without names.
type planetStore struct{ planet.Store }

func (s planetStore) Newest(ctx context.Context, id document.ID) (document.Version, error) {
	v, err := s.Store.Newest(ctx, id.Config)
	return documentOf(v, err)
}

func (s planetStore) Version(ctx context.Context, id document.ID, number int) (document.Version, error) {
	v, err := s.Store.Version(ctx, id.Config, number)
	return documentOf(v, err)
}

func documentOf(v planet.Version, err error) (document.Version, error) {
	if err != nil {
		return document.Version{}, err
	}
	return v.Document(), nil
}

func (s planetStore) Versions(ctx context.Context, id document.ID) ([]document.Info, error) {
	return s.Store.Versions(ctx, id.Config)
}

func (s planetStore) Append(ctx context.Context, id document.ID, v document.Version) error {
	return s.Store.Append(ctx, id.Config, planet.Version{Info: v.Info, Settings: planet.Stored(v.Text)})
}

func (planetStore) List(context.Context, document.Kind, string) ([]document.Named, error) {
	return nil, nil
}
