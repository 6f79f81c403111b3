package api

import (
	"math"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/planet"
)

// maxVersion is the largest number that is taken for that of a version.
const maxVersion = math.MaxInt32

// pathParam returns the parameter of paths with a name.
func pathParam(name string) *param { return find(pathParams, name) }

var pathParams = []param{
	{
		name:    "config",
		doc:     "Name of the configuration.",
		schema:  &huma.Schema{Type: "string", Pattern: "^" + planet.ConfigPattern + "$"},
		example: planet.FirstConfig,
	},
	{
		name:    "entry_id",
		doc:     "Id of the planet; every configuration has one.",
		schema:  &huma.Schema{Type: "string"},
		example: planet.EntryID,
	},
	{
		name:    "name",
		doc:     "Name of the saved filter.",
		schema:  &huma.Schema{Type: "string", Pattern: "^" + document.NamePattern + "$"},
		example: "server-errors",
	},
	{
		name:    "report",
		doc:     "Name of the scheduled report.",
		schema:  &huma.Schema{Type: "string", Pattern: "^" + document.NamePattern + "$"},
		example: "weekly",
	},
	{
		name:    "run",
		doc:     "Id of the run.",
		schema:  &huma.Schema{Type: "string"},
		example: "b793f16476532fabe039321d4624bb13",
	},
	{
		name:    "id",
		doc:     "Id of the query, from the Location of a 202 or 504.",
		schema:  &huma.Schema{Type: "string", Pattern: "^[0-9a-f]{32}$"},
		example: "3f1c0a9be2d84c57a6f0d1e2b3c4a596",
	},
	{
		name:    "version",
		doc:     "Number of the version.",
		schema:  &huma.Schema{Type: "integer", Minimum: new(1.0), Maximum: new(float64(maxVersion))},
		example: 1,
	},
}
