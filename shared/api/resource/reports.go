package resource

import (
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/report/definition"
)

// ScheduledReport is a version of the definition of a scheduled report.
type ScheduledReport struct {
	Name string `json:"name" example:"weekly"`
	definition.Definition
	Branches []string  `json:"branches" doc:"Branches that the report covers, taken from the key that wrote the version; null: all"`
	Version  int       `json:"version" doc:"Number of the version: 1, 2, 3, … without gaps"`
	Written  time.Time `json:"written" doc:"When the version was written, UTC"`
	By       string    `json:"by" doc:"Name of the API key that wrote the version"`
	ETag     string    `json:"etag" doc:"ETag of the version, for If-Match"`
}

// definitionRoutes returns the routes of scheduled reports, if there are any.
func (s *server) definitionRoutes() []route.Route {
	if s.Definitions == nil {
		return nil
	}
	return s.scheduledReports().routes(documentTexts{
		id: "report", tag: route.ReportsTag, param: "report", noun: "scheduled report", nouns: "scheduled reports",
		it: "report", put: "Schedule a report",
		list: "Lists each report with its next run and the run that was due last. On this and all other routes of " +
			"scheduled reports, a key that is limited to branches sees only the reports that cover no other branches.",
		stored: "The key also needs the scope `data:read`. The report covers the branches of the key that writes it, " +
			"whichever key reads it. The server pauses the report when that key expires or is revoked. Every " +
			"accepted write is kept as a version.",
		again: "Writes an earlier version as a new version, even if the report is deleted. The new version belongs " +
			"to the key of this request. The key also needs the scope `data:read`.",
		listed: ScheduledReports{}, one: ScheduledReport{}, read: keys.ReportRead, write: keys.ReportWrite,
		body: &route.RequestBody{Doc: "The report.", Types: []string{content.JSON}, JSON: definitionSchema()},
	})
}

// scheduledReports returns the scheduled reports as documents. A caller sees those that are only about its branches.
func (s *server) scheduledReports() documents {
	return documents{
		server: s, store: s.Documents, limit: definition.MaxBody, find: named(definition.Kind, "report", "scheduled report"),
		parse: s.readReport, show: showReport, list: s.listReports,
		visible: func(c *route.Call, text string) (bool, error) {
			stored, err := definition.Read(text)
			return err == nil && definition.VisibleTo(c.Caller.Branches, stored.Branches), err
		},
		hidden: errReportOfOthers,
		again:  s.readAgain,
	}
}

// definitionSchema returns the schema of a report in a request.
func definitionSchema() *huma.Schema {
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	schema := huma.SchemaFromType(registry, reflect.TypeFor[definition.Definition]())
	delete(schema.Properties, "paused_because")
	schema.Required = []string{"period"}
	filters := *parameter.FilterSchema(0)
	filters.Description = "Text in either form, or the JSON form itself, without a period. By default all requests."
	schema.Properties["filters"] = &filters
	schema.AdditionalProperties = false
	limitDefinition(schema)
	return schema
}

// titlePattern is the form of a title: some text, and no control characters.
const titlePattern = `^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$`

// timePattern is the form of the time of a day at which a report is made.
const timePattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$"

// limitDefinition adds what a definition is refused for and a schema can describe.
func limitDefinition(schema *huma.Schema) {
	of := schema.Properties
	of["title"].Pattern, of["title"].MaxLength = titlePattern, new(definition.MaxTitle)
	of["at"].Pattern = timePattern
	of["tz"].Pattern = parameter.DayZone.Schema.Pattern
	for _, day := range definition.Weekdays {
		of["weekday"].Enum = append(of["weekday"].Enum, day)
	}
	of["max_bytes"].Minimum = new(1.0)
	deliver := of["deliver"]
	deliver.Nullable, deliver.MaxItems = false, new(definition.MaxDestinations)
	deliver.Items = &huma.Schema{OneOf: []*huma.Schema{
		{
			Type: "object", AdditionalProperties: false, Required: []string{"mail"},
			Properties: map[string]*huma.Schema{"mail": {
				Type: "array", MinItems: new(1), MaxItems: new(definition.MaxAddresses),
				Items: &huma.Schema{Type: "string", MinLength: new(1), Pattern: "@"},
			}},
		},
		{
			Type: "object", AdditionalProperties: false, Required: []string{"to"},
			Properties: map[string]*huma.Schema{"to": {Type: "string", MinLength: new(1)}},
		},
	}}
}

// listReports returns the scheduled reports of a configuration that the caller may see.
func (s *server) listReports(c *route.Call, config string) (any, error) {
	list, err := s.Documents.List(c.Request.Context(), definition.Kind, config)
	if err != nil {
		return nil, err
	}
	v := ScheduledReports{
		Reports: []ListedReport{}, Destinations: orEmpty(s.Definitions.Destinations), Domains: orEmpty(s.Definitions.Domains),
	}
	for _, one := range list {
		report, err := scheduledReportOf(one.Name, one.Version)
		if err != nil {
			return nil, err
		}
		if !definition.VisibleTo(c.Caller.Branches, report.Branches) {
			continue
		}
		listed, err := s.listedReport(c, config, report)
		if err != nil {
			return nil, err
		}
		v.Reports = append(v.Reports, listed)
	}
	return v, nil
}

// readReport reads a definition from the body of a request. A report whose definition is no longer valid can be paused.
func (s *server) readReport(c *route.Call, body []byte) (replacement, error) {
	form := parameter.SyntaxOf(c.Request.Header)
	d, wrong := definition.Parse(body, form, *s.Definitions)
	return replacedBy(c, func(old definition.Definition) (definition.Definition, error) {
		if wrong == nil {
			return d, nil
		}
		if paused, ok := definition.ParsePause(body, form, old); ok {
			return paused, nil
		}
		return d, wrong
	})
}

// readAgain reads the definition of an earlier version. Its destinations may no longer exist.
func (s *server) readAgain(c *route.Call, text string) (replacement, error) {
	stored, err := definition.Read(text)
	if err != nil {
		return nil, err
	}
	stored.Reason = ""
	d, err := definition.Parse(content.Encode(stored.Definition), 0, *s.Definitions)
	if err != nil {
		return nil, err
	}
	return replacedBy(c, func(definition.Definition) (definition.Definition, error) { return d, nil })
}

// replacedBy returns the replacement of a definition by one of the caller.
func replacedBy(
	c *route.Call, replace func(old definition.Definition) (definition.Definition, error),
) (replacement, error) {
	if err := c.Caller.Require(keys.DataRead); err != nil {
		return nil, err
	}
	return func(text string) (string, error) {
		var old definition.Stored
		if text != "" {
			var err error
			if old, err = definition.Read(text); err != nil {
				return "", err
			}
		}
		d, err := replace(old.Definition)
		if err != nil {
			return "", err
		}
		return storedBy(c, d, old).Text(), nil
	}, nil
}

// storedBy returns a definition with the branches and the key of the caller. Whoever only pauses or resumes a report
// does not change them, except the key if the server paused the report because of it.
func storedBy(c *route.Call, d definition.Definition, old definition.Stored) definition.Stored {
	stored := definition.Stored{Definition: d, Branches: c.Caller.Branches, Key: c.Caller.KeyID}
	same := old.Definition
	same.Paused, same.Reason = d.Paused, d.Reason
	if d.Paused == old.Paused || !reflect.DeepEqual(d, same) {
		return stored
	}
	if stored.Branches = old.Branches; old.Reason == "" {
		stored.Key = old.Key
	}
	return stored
}

// scheduledReportOf returns a version of a report as the API shows it.
func scheduledReportOf(name string, v document.Version) (ScheduledReport, error) {
	stored, err := definition.Read(v.Text)
	return ScheduledReport{
		Name: name, Definition: stored.Definition, Branches: stored.Branches,
		Version: v.Number, Written: v.At, By: v.By, ETag: v.ETag,
	}, err
}

func showReport(id document.ID, v document.Version) ([]byte, error) {
	report, err := scheduledReportOf(id.Name, v)
	return content.Encode(report), err
}
