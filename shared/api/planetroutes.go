package api

import (
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/planet"
)

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
