package api

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

// pathParams are the parameters of paths.
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
		schema:  &huma.Schema{Type: "integer", Minimum: float(1), Maximum: float(maxVersion)},
		example: 1,
	},
}

var (
	filtersParam = param{
		name:     "filters",
		doc:      "The filter, in the query-string form or the JSON form. It must contain a period.",
		required: true,
		schema:   &huma.Schema{Type: "string", MinLength: whole(1)},
		body:     filterSchema(1),
		example:  exampleFilter,
		read:     readFilters,
	}
	segmentParam = param{
		name: "segment",
		doc: "Length of a segment: 1m, 5m, 15m, 1h, 6h, 1d, 2d, 4d, 8d … By default a minute for periods " +
			"up to 24 hours, then the shortest that gives at most 1,500 segments.",
		schema: &huma.Schema{Type: "string", Pattern: segmentPattern},
		body: &huma.Schema{OneOf: []*huma.Schema{
			{Type: "string", Pattern: segmentPattern}, {Type: "integer", Minimum: float(1)},
		}},
		example: "5m",
		read:    readLength,
	}
	groupByParam = param{
		name:    "group_by",
		doc:     "hostname (or host, if there is none), or another field, with a key if it has members.",
		schema:  &huma.Schema{Type: "string"},
		example: "hostname",
		read:    readText,
	}
	figuresParam = param{
		name:    "figures",
		doc:     "percentiles: also p50, p90 and p99 of the total, the origin and the service time.",
		schema:  &huma.Schema{Type: "string", Enum: []any{search.FiguresPercentiles}},
		example: search.FiguresPercentiles,
		read:    readText,
	}
	orderParam = param{
		name: "order",
		doc:  "What comes first: the values with the most requests, or with the most blocked requests.",
		schema: &huma.Schema{
			Type: "string", Enum: []any{search.OrderRequests, search.OrderBlocked}, Default: search.OrderRequests,
		},
		example: search.OrderBlocked,
		read:    readText,
	}
	measureParam = param{
		name:    "measure",
		doc:     "What to sum up.",
		schema:  &huma.Schema{Type: "string", Enum: measures(), Default: string(query.Measures[0])},
		example: string(query.MeasureBlocked),
		read:    readText,
	}
	selectParam = param{
		name: "select",
		doc: "Conditions of the selected requests, as in `filters`, but without a period: the other requests are the " +
			"baseline.",
		schema:  filtersParam.schema,
		body:    filtersParam.body,
		example: "blocked is true",
		read:    readFilters,
	}
	againstParam = param{
		name: "against",
		doc: "The other period, which is the baseline: previous (the same length, right before), a length of time such " +
			"as 1d or 7d (the same period, so much earlier), or two times such as 2026-01-01..2026-01-02 or now-2d..now-1d.",
		schema:  &huma.Schema{Type: "string", Pattern: `^(previous|\+?[0-9]+[smhd]|.+\.\..+)$`},
		example: "previous",
		read:    readText,
	}
	leastParam = integerParam("least",
		"Values with fewer requests, on the side on which their share is larger, are no findings.", 5,
		&huma.Schema{Type: "integer", Minimum: float(1), Default: float64(search.DefaultLeast)})
	fieldsParam = param{
		name:    "fields",
		doc:     "Names of the fields to return, separated by commas. By default all.",
		schema:  &huma.Schema{Type: "string", Pattern: `^\s*[a-z_]+\s*(,\s*[a-z_]+\s*)*$`},
		body:    namesSchema(&huma.Schema{Type: "string", Pattern: `^\s*[a-z_]+\s*$`}, 0),
		example: "timestamp,host,status",
		read:    readNames,
	}
	cursorParam = param{
		name:   "cursor",
		doc:    "`meta.next` of the page before. The other parameters, except `limit`, must be the same.",
		schema: &huma.Schema{Type: "string", Pattern: tokenPattern},
		read:   readText,
	}
	sinceParam = param{
		name:   "since",
		doc:    "`meta.head` of an earlier answer: only records that are newer than those of that answer.",
		schema: &huma.Schema{Type: "string", Pattern: tokenPattern},
		read:   readText,
	}
	dryRunParam = booleanParam("dry_run", "true: the query does not run. The answer has no results, and "+
		"`meta.estimate` has what the query would read and cost.")
	preferHeader = param{
		name: "Prefer", schema: &huma.Schema{Type: "string"},
		doc: "respond-async: answer at once with the location of the result.",
	}
	syntaxHeader = param{
		name: "syntax", schema: &huma.Schema{Type: "string"},
		doc: "string_query: read the filter in the query-string form even if it begins with a brace or a bracket.",
	}
	ifMatch = param{
		name: "If-Match", schema: &huma.Schema{Type: "string", MinLength: whole(1), Pattern: matchPattern},
		doc: "Write only if the newest version has this ETag, or, with *, if there is one.",
	}
	ifNoneMatchWrite = param{
		name: "If-None-Match", schema: &huma.Schema{Type: "string", Enum: []any{"*"}},
		doc: "*: write only if it does not exist yet.",
	}
	ifNoneMatchRead = param{
		name: "If-None-Match", schema: &huma.Schema{Type: "string"},
		doc: "Answer 304 if the newest version still has this ETag.",
	}
)

// segmentPattern is the form of a length of a segment.
const segmentPattern = "^[1-9][0-9]*[smhd]?$"

// tokenPattern is the form of meta.next and meta.head.
const tokenPattern = "^[A-Za-z0-9_-]+$"

// filterSchema returns the schema of the member of a body that is a filter with at least so many conditions.
func filterSchema(conditions int) *huma.Schema {
	text, list := &huma.Schema{Type: "string"}, &huma.Schema{
		Type: "array", Items: &huma.Schema{Type: "object", AdditionalProperties: true},
	}
	if conditions > 0 {
		text.MinLength, list.MinItems = whole(1), &conditions
	}
	return &huma.Schema{
		Description: "The filter: text in either form, or the JSON form itself.",
		OneOf:       []*huma.Schema{text, {Type: "object", AdditionalProperties: true}, list},
	}
}

// namesSchema returns the schema of the member of a body that readNames reads: a list of names, at most so many; 0: any
// number.
func namesSchema(name *huma.Schema, most int) *huma.Schema {
	s := &huma.Schema{Type: "array", Items: name, MinItems: whole(1)}
	if most > 0 {
		s.MaxItems = &most
	}
	return s
}

// matchPattern is the form of If-Match: * or a list of ETags.
const matchPattern = `^(\*|(W/)?"[^",]*"( *, *(W/)?"[^",]*")*)$`

// exampleFilter is the example on the interactive page. Its period includes all records.
const exampleFilter = "timestamp between 2020-01-01 and 2100-01-01, status>=500"

const limitName = "limit"

// dataParams are the parameters of all data routes.
var dataParams = []string{
	filtersParam.name, limitName, segmentParam.name, groupByParam.name, fieldsParam.name, byName, orderParam.name,
	measureParam.name, selectParam.name, againstParam.name, leastParam.name, cursorParam.name, sinceParam.name,
	figuresParam.name, formatName, csvName, fieldParam.name, prefixParam.name, containsParam.name, countsParam.name,
	dryRunParam.name, tzParam.name,
}

func measures() []any {
	var list []any
	for _, m := range query.Measures {
		list = append(list, string(m))
	}
	return list
}

const byName = "by"

func byParam(doc string, most int, standard, example string) param {
	p := param{
		name: byName, doc: doc, example: example, read: readNames,
		schema: &huma.Schema{Type: "string"},
		body:   namesSchema(&huma.Schema{Type: "string", MinLength: whole(1)}, most),
	}
	if standard != "" {
		p.schema.Default = standard
	}
	return p
}

func limitParam(doc string, standard, most float64) param {
	return integerParam(limitName, doc, 10,
		&huma.Schema{Type: "integer", Minimum: float(1), Maximum: &most, Default: standard})
}

func integerParam(name, doc string, example int, schema *huma.Schema) param {
	return param{name: name, doc: doc, schema: schema, body: orDigits(schema), example: example, read: readInteger}
}

// booleanParam returns a parameter that is false by default.
func booleanParam(name, doc string) param {
	schema := &huma.Schema{Type: "boolean", Default: false}
	return param{name: name, doc: doc, schema: schema, body: orBooleanText(schema), example: true, read: readBoolean}
}

func float(f float64) *float64 { return &f }
