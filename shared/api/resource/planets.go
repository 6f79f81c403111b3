package resource

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/planet"
)

// Message is the answer of a write.
type Message struct {
	Message string `json:"message"`
}

// planetRoutes returns the routes of planets.
func (s *server) planetRoutes() []route.Route {
	const all = "/conf/{config}/planets"
	const entry = all + "/{entry_id}"
	planets := s.planets()
	settings := []route.Response{
		{Status: http.StatusOK, Doc: "The settings.", Value: settingsSchema(true), ETag: true},
		{Status: http.StatusNotModified, Doc: "The client has them already.", ETag: true},
	}
	return []route.Route{
		{
			ID:      "planet-get",
			Method:  http.MethodGet,
			Path:    all,
			Tag:     route.PlanetsTag,
			Summary: "Read a planet",
			Scope:   keys.ConfRead,
			Offers:  content.Offers,
			Headers: []parameter.Parameter{ifNoneMatchRead},
			Answers: settings,
			Errors:  []int{http.StatusNotFound, http.StatusUnprocessableEntity},
			Handle:  planets.get,
		},
		{
			ID:      "planet-put",
			Method:  http.MethodPut,
			Path:    entry,
			Tag:     route.PlanetsTag,
			Summary: "Replace a planet",
			Doc: "Every accepted write is kept as a version. " +
				"The planet is created when the configuration has none.",
			Scope:   keys.ConfWrite,
			Offers:  content.Offers,
			Headers: []parameter.Parameter{ifMatch, ifNoneMatchWrite},
			Body: &route.RequestBody{
				Doc:   "The settings. Unknown members are kept.",
				Types: []string{content.JSON},
				JSON:  settingsSchema(false),
			},
			Answers: []route.Response{
				{Status: http.StatusOK, Doc: "The settings were replaced, or the planet was created.", Value: Message{}, ETag: true},
			},
			Errors: slices.Concat(route.BodyErrors, route.WriteErrors),
			Handle: planets.put,
		},
		{
			ID:      "planet-versions",
			Method:  http.MethodGet,
			Path:    entry + "/versions",
			Tag:     route.PlanetsTag,
			Summary: "History of a planet",
			Scope:   keys.ConfRead,
			Offers:  content.Offers,
			Answers: []route.Response{
				{Status: http.StatusOK, Doc: "Every version, newest first, without its settings.", Value: Versions{}},
			},
			Errors: []int{http.StatusNotFound, http.StatusUnprocessableEntity},
			Handle: planets.versions,
		},
		{
			ID:      "planet-version",
			Method:  http.MethodGet,
			Path:    entry + "/versions/{version}",
			Tag:     route.PlanetsTag,
			Summary: "Read a version of a planet",
			Scope:   keys.ConfRead,
			Offers:  content.Offers,
			Headers: []parameter.Parameter{ifNoneMatchRead},
			Answers: settings,
			Errors:  []int{http.StatusNotFound, http.StatusUnprocessableEntity},
			Handle:  planets.getVersion,
		},
		{
			ID:      "planet-restore",
			Method:  http.MethodPost,
			Path:    entry + "/versions/{version}/restore",
			Tag:     route.PlanetsTag,
			Summary: "Restore a version of a planet",
			Doc:     "Writes the settings of an earlier version as a new version.",
			Scope:   keys.ConfWrite,
			Offers:  content.Offers,
			Headers: []parameter.Parameter{ifMatch},
			Answers: []route.Response{{Status: http.StatusOK, Doc: "The version was restored.", Value: Message{}, ETag: true}},
			Errors:  route.WriteErrors,
			Handle:  planets.restore,
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

// planets returns the planets as documents. Their routes differ from the routes of other documents: a configuration has
// one planet, which is never deleted, and clients expect a message as the answer to a write.
func (s *server) planets() documents {
	return documents{
		server: s, store: s.Planets, limit: planet.MaxBytes,
		find: func(c *route.Call) (document.ID, error) {
			config, err := entryOf(c)
			return planet.DocumentOf(config), err
		},
		parse: func(_ *route.Call, body []byte) (replacement, error) {
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
