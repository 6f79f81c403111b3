package parameter

import (
	"math"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/planet"
)

// MaxVersion is the largest number that a version can have in a path.
const MaxVersion = math.MaxInt32

// InPath returns the parameter of paths with a name.
func InPath(name string) *Parameter {
	p := Find(pathParams, name)
	if p == nil {
		panic("parameter: pathParams has no row for " + name)
	}
	return p
}

// pathParams are the parameters of paths.
var pathParams = []Parameter{
	{
		Name:    "config",
		Doc:     "Name of the configuration.",
		Schema:  &huma.Schema{Type: "string", Pattern: "^" + planet.ConfigPattern + "$"},
		Example: planet.FirstConfig,
	},
	{
		Name:    "entry_id",
		Doc:     "Id of the planet; every configuration has one.",
		Schema:  &huma.Schema{Type: "string"},
		Example: planet.EntryID,
	},
	{
		Name:    "name",
		Doc:     "Name of the saved filter.",
		Schema:  &huma.Schema{Type: "string", Pattern: "^" + document.NamePattern + "$"},
		Example: "server-errors",
	},
	{
		Name:    "list",
		Doc:     "Name of the list of values.",
		Schema:  &huma.Schema{Type: "string", Pattern: "^" + document.NamePattern + "$"},
		Example: "tor",
	},
	{
		Name:    "report",
		Doc:     "Name of the scheduled report.",
		Schema:  &huma.Schema{Type: "string", Pattern: "^" + document.NamePattern + "$"},
		Example: "weekly",
	},
	{
		Name:    "run",
		Doc:     "Id of the run.",
		Schema:  &huma.Schema{Type: "string"},
		Example: "b793f16476532fabe039321d4624bb13",
	},
	{
		Name:    "import_id",
		Doc:     "Id of the import.",
		Schema:  &huma.Schema{Type: "string"},
		Example: "8919c8c65be30052",
	},
	{
		Name:    "id",
		Doc:     "Id of the query, from the Location of a 202 or 504.",
		Schema:  &huma.Schema{Type: "string", Pattern: "^[0-9a-f]{32}$"},
		Example: "3f1c0a9be2d84c57a6f0d1e2b3c4a596",
	},
	{
		Name:    "version",
		Doc:     "Number of the version.",
		Schema:  &huma.Schema{Type: "integer", Minimum: new(1.0), Maximum: new(float64(MaxVersion))},
		Example: 1,
	},
}
