package api

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/report/definition"
)

// ScheduledReport is a version of the definition of a scheduled report.
type ScheduledReport struct {
	Name string `json:"name" example:"weekly"`
	definition.Definition
	Branches []string  `json:"branches" doc:"That the report is about, which are those of the key that wrote it; null: all"`
	Version  int       `json:"version" doc:"1, 2, 3, … without gaps"`
	Written  time.Time `json:"written" doc:"When the version was written, UTC"`
	By       string    `json:"by" doc:"Name of the API key that wrote it"`
	ETag     string    `json:"etag" doc:"For If-Match"`
}

const (
	reportsTag  = "reports"
	reportsPath = "/conf/{config}/reports"
	onePath     = reportsPath + "/{report}"
)

// definitionRoutes returns the routes of scheduled reports, if there are any.
func (s *server) definitionRoutes() []route {
	if s.Definitions == nil {
		return nil
	}
	found := []response{
		{http.StatusOK, "The report.", ScheduledReport{}, true},
		{http.StatusNotModified, "The client has it already.", nil, true},
	}
	reading := []int{http.StatusNotFound, http.StatusUnprocessableEntity}

	return []route{
		{
			id:      "reports",
			method:  http.MethodGet,
			path:    reportsPath,
			tag:     reportsTag,
			summary: "List scheduled reports",
			doc: "A key that is limited to branches gets the reports that are only about these, as by all routes of " +
				"scheduled reports. Each has its next run and the one that was due last.",
			scope:   keys.ReportRead,
			offers:  offers,
			answers: []response{{http.StatusOK, "The reports, by name.", ScheduledReports{}, false}},
			errors:  reading,
			handle:  s.listReports,
		},
		{
			id:      "report-get",
			method:  http.MethodGet,
			path:    onePath,
			tag:     reportsTag,
			summary: "Read a scheduled report",
			scope:   keys.ReportRead,
			offers:  offers,
			headers: []param{ifNoneMatchRead},
			answers: found,
			errors:  reading,
			handle:  s.getReport,
		},
		{
			id:      "report-put",
			method:  http.MethodPut,
			path:    onePath,
			tag:     reportsTag,
			summary: "Schedule a report",
			doc: "The key also needs the scope `data:read`. The report is about the branches of the key, also if another " +
				"key reads it. It is paused when the key expires or is revoked. Every accepted write is kept as a version.",
			scope:   keys.ReportWrite,
			offers:  offers,
			headers: []param{syntaxHeader, ifMatch, ifNoneMatchWrite},
			body:    &requestBody{doc: "The report.", types: []string{jsonType}, json: definitionSchema()},
			answers: []response{{http.StatusOK, "The report as it was stored.", ScheduledReport{}, true}},
			errors:  slices.Concat(bodyErrors, writeErrors, []int{http.StatusBadRequest}),
			handle:  s.putReport,
		},
		{
			id:      "report-delete",
			method:  http.MethodDelete,
			path:    onePath,
			tag:     reportsTag,
			summary: "Delete a scheduled report",
			doc:     "The deletion is a version, too. Earlier versions can still be read and restored.",
			scope:   keys.ReportWrite,
			offers:  offers,
			headers: []param{ifMatch},
			answers: []response{{http.StatusNoContent, "The report was deleted.", nil, false}},
			errors:  writeErrors,
			handle:  s.deleteReport,
		},
		{
			id:      "report-versions",
			method:  http.MethodGet,
			path:    onePath + "/versions",
			tag:     reportsTag,
			summary: "History of a scheduled report",
			scope:   keys.ReportRead,
			offers:  offers,
			answers: []response{
				{http.StatusOK, "Every version, newest first; also of a deleted report.", Versions{}, false},
			},
			errors: reading,
			handle: s.listReportVersions,
		},
		{
			id:      "report-version",
			method:  http.MethodGet,
			path:    onePath + "/versions/{version}",
			tag:     reportsTag,
			summary: "Read a version of a scheduled report",
			scope:   keys.ReportRead,
			offers:  offers,
			headers: []param{ifNoneMatchRead},
			answers: found,
			errors:  reading,
			handle:  s.getReportVersion,
		},
		{
			id:      "report-restore",
			method:  http.MethodPost,
			path:    onePath + "/versions/{version}/restore",
			tag:     reportsTag,
			summary: "Restore a version of a scheduled report",
			doc: "Writes an earlier version as a new version of the caller, also of a deleted report. The key also needs " +
				"the scope `data:read`.",
			scope:   keys.ReportWrite,
			offers:  offers,
			headers: []param{ifMatch, ifNoneMatchWrite},
			answers: []response{{http.StatusOK, "The report of the version.", ScheduledReport{}, true}},
			errors:  writeErrors,
			handle:  s.restoreReport,
		},
	}
}

// definitionSchema returns the schema of a report in a request.
func definitionSchema() *huma.Schema {
	registry := huma.NewMapRegistry("#/components/schemas/", schemaName)
	schema := huma.SchemaFromType(registry, reflect.TypeFor[definition.Definition]())
	delete(schema.Properties, "paused_because")
	schema.Required = []string{"period", "deliver"}
	filters := *filterSchema(0)
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
	of["title"].Pattern, of["title"].MaxLength = titlePattern, whole(definition.MaxTitle)
	of["at"].Pattern = timePattern
	of["tz"].Pattern = dayZoneParam.schema.Pattern
	for _, day := range definition.Weekdays {
		of["weekday"].Enum = append(of["weekday"].Enum, day)
	}
	of["max_bytes"].Minimum = float(1)
	deliver := of["deliver"]
	deliver.Nullable, deliver.MinItems, deliver.MaxItems = false, whole(1), whole(definition.MaxDestinations)
	deliver.Items = &huma.Schema{OneOf: []*huma.Schema{
		{
			Type: "object", AdditionalProperties: false, Required: []string{"mail"},
			Properties: map[string]*huma.Schema{"mail": {
				Type: "array", MinItems: whole(1), MaxItems: whole(definition.MaxAddresses),
				Items: &huma.Schema{Type: "string", MinLength: whole(1), Pattern: "@"},
			}},
		},
		{
			Type: "object", AdditionalProperties: false, Required: []string{"to"},
			Properties: map[string]*huma.Schema{"to": {Type: "string", MinLength: whole(1)}},
		},
	}}
}

// listReports sends the scheduled reports of a configuration that the caller may see.
func (s *server) listReports(c *call) error {
	config, err := c.config()
	if err != nil {
		return err
	}
	list, err := s.Documents.List(c.r.Context(), definition.Kind, config)
	if err != nil {
		return err
	}
	v := ScheduledReports{
		Reports: []ListedReport{}, Destinations: orEmpty(s.Definitions.Destinations), Domains: orEmpty(s.Definitions.Domains),
	}
	for _, one := range list {
		report, err := scheduledReportOf(one.Name, one.Version)
		if err != nil {
			return err
		}
		if !definition.VisibleTo(c.caller.Branches, report.Branches) {
			continue
		}
		listed, err := s.listedReport(c, config, report)
		if err != nil {
			return err
		}
		v.Reports = append(v.Reports, listed)
	}
	return c.sendList(v)
}

// getReport sends the newest version.
func (s *server) getReport(c *call) error {
	id, newest, err := s.visibleReport(c)
	if err == nil && newest.Deleted() {
		err = document.NotFound(id, 0)
	}
	if err != nil {
		return err
	}
	return c.sendReport(id, newest)
}

// putReport stores a definition.
func (s *server) putReport(c *call) error {
	id, change, err := s.reportChange(c)
	if err != nil {
		return err
	}
	sent, err := c.body(definition.MaxBody, jsonType)
	if err != nil {
		return err
	}
	release, err := s.prepare(c)
	if err != nil {
		return err
	}
	form := formOf(c.r.Header)
	d, wrong := definition.Parse(sent.text, form, *s.Definitions)
	release()
	return s.storeReport(c, id, change, func(old definition.Definition) (definition.Definition, error) {
		if wrong == nil {
			return d, nil
		}
		if paused, ok := definition.ParsePause(sent.text, form, old); ok {
			return paused, nil
		}
		return d, wrong
	})
}

// deleteReport deletes a definition.
func (s *server) deleteReport(c *call) error {
	id, change, err := s.reportChange(c)
	if err != nil {
		return err
	}
	if err := c.noBody(); err != nil {
		return err
	}
	if err := s.writeReport(c, id, change, func(change document.Change, _ definition.Stored) error {
		return document.Delete(c.r.Context(), s.Documents, id, change)
	}); err != nil {
		return err
	}
	c.send(answer{status: http.StatusNoContent})
	return nil
}

// listReportVersions sends the history.
func (s *server) listReportVersions(c *call) error {
	id, newest, err := s.visibleReport(c)
	if err != nil {
		return err
	}
	infos, err := s.Documents.Versions(c.r.Context(), id)
	if err != nil {
		return err
	}
	c.sendVersions(slices.DeleteFunc(infos, func(v document.Info) bool { return v.Number > newest.Number }))
	return nil
}

// getReportVersion sends one version.
func (s *server) getReportVersion(c *call) error {
	id, v, err := s.visibleVersion(c)
	if err != nil {
		return err
	}
	return c.sendReport(id, v)
}

// restoreReport makes an earlier version the newest. It is checked again, because a destination may no longer exist.
func (s *server) restoreReport(c *call) error {
	id, change, err := s.reportChange(c)
	if err != nil {
		return err
	}
	if err := c.noBody(); err != nil {
		return err
	}
	_, old, err := s.visibleVersion(c)
	if err != nil {
		return err
	}
	stored, err := definition.Read(old.Text)
	if err != nil {
		return err
	}
	stored.Reason = ""
	d, err := definition.Parse(encode(stored.Definition), 0, *s.Definitions)
	if err != nil {
		return err
	}
	return s.storeReport(c, id, change, func(definition.Definition) (definition.Definition, error) { return d, nil })
}

// storeReport writes the definition of the caller that replaces an old one, and sends it. There may be no old one.
func (s *server) storeReport(
	c *call, id document.ID, change document.Change, replace func(old definition.Definition) (definition.Definition, error),
) error {
	if !c.caller.Allows(keys.DataRead) {
		return errScope(keys.DataRead)
	}
	var v document.Version
	err := s.writeReport(c, id, change, func(change document.Change, old definition.Stored) error {
		d, err := replace(old.Definition)
		if err != nil {
			return err
		}
		change.Text = storedBy(c, d, old).Text()
		v, err = document.Put(c.r.Context(), s.Documents, id, change)
		return err
	})
	if err != nil {
		return err
	}
	report, err := scheduledReportOf(id.Name, v)
	if err != nil {
		return err
	}
	c.sendStored(v, report)
	return nil
}

// storedBy returns a definition with the branches and the key of the caller. Whoever only pauses or resumes a report does
// not change them, except the key if the server paused the report because of it.
func storedBy(c *call, d definition.Definition, old definition.Stored) definition.Stored {
	stored := definition.Stored{Definition: d, Branches: c.caller.Branches, Key: c.keyID}
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

// writeReport calls write if the caller may see the report that is there, with a change that fails if another report
// replaces it meanwhile. Then it tries again, unless the precondition of the caller does not hold.
func (s *server) writeReport(
	c *call, id document.ID, change document.Change, write func(change document.Change, old definition.Stored) error,
) error {
	ctx := c.r.Context()
	for {
		newest, stored, err := lastReport(ctx, s.Documents, id)
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
		if err == nil && !definition.VisibleTo(c.caller.Branches, stored.Branches) {
			return errReportOfOthers(id.Name)
		}
		pinned := change
		holds := len(change.Precondition.Match) == 0 || slices.Contains(change.Precondition.Match, newest.ETag)
		switch {
		case err != nil || newest.Deleted():
			pinned.Precondition.Absent = true
		case holds:
			pinned.Precondition.Match = []string{newest.ETag}
		}
		if change.Precondition.Exists || len(change.Precondition.Match) > 0 {
			pinned.Precondition.Absent = false // the caller gets the error of the condition
		}
		if newest.Deleted() {
			stored = definition.Stored{}
		}
		failed := write(pinned, stored)
		if fault.KindOf(failed) != fault.Conflict || ctx.Err() != nil {
			return failed
		}
		if now, err := s.Documents.Newest(ctx, id); err != nil || now.ETag == newest.ETag {
			return failed // nothing has changed meanwhile: it is the condition of the caller
		}
	}
}

// lastReport returns the newest version and its definition. That of a deletion is the one before it: every writer saw
// the version before its own, so whoever may see a version may see those before it.
func lastReport(
	ctx context.Context, store document.Store, id document.ID,
) (newest document.Version, stored definition.Stored, err error) {
	if newest, err = store.Newest(ctx, id); err != nil {
		return newest, stored, err
	}
	last := newest
	if last.Deleted() {
		if last, err = store.Version(ctx, id, newest.Number-1); err != nil {
			return newest, stored, err
		}
	}
	stored, err = definition.Read(last.Text)
	return newest, stored, err
}

// visibleReport returns the report in the path and its newest version, which the caller may see, and which may be a
// deletion. A version that is written meanwhile may be about other branches, so it is not read again.
func (s *server) visibleReport(c *call) (id document.ID, newest document.Version, err error) {
	if id, err = c.reportID(); err != nil {
		return id, newest, err
	}
	newest, stored, err := lastReport(c.r.Context(), s.Documents, id)
	if err == nil && !definition.VisibleTo(c.caller.Branches, stored.Branches) {
		err = document.NotFound(id, 0)
	}
	return id, newest, err
}

// visibleVersion returns the report and the version in the path.
func (s *server) visibleVersion(c *call) (id document.ID, v document.Version, err error) {
	number, err := c.version()
	if err != nil {
		return id, v, err
	}
	id, newest, err := s.visibleReport(c)
	if err != nil {
		return id, v, err
	}
	if number > newest.Number {
		return id, v, document.NotFound(id, number)
	}
	v, err = document.Read(c.r.Context(), s.Documents, id, number)
	return id, v, err
}

// reportID returns the report in the path.
func (c *call) reportID() (document.ID, error) {
	config, err := c.config()
	if err != nil {
		return document.ID{}, err
	}
	name := c.r.PathValue("report")
	if !document.ValidName(name) {
		return document.ID{}, details{badReportName(name)}
	}
	return definition.DocumentOf(config, name), nil
}

// reportChange returns the report in the path of a write, and the write without its text.
func (s *server) reportChange(c *call) (document.ID, document.Change, error) {
	return s.documentChange(c, c.reportID)
}

// scheduledReportOf returns a version of a report as the API shows it.
func scheduledReportOf(name string, v document.Version) (ScheduledReport, error) {
	stored, err := definition.Read(v.Text)
	return ScheduledReport{
		Name: name, Definition: stored.Definition, Branches: stored.Branches,
		Version: v.Number, Written: v.At, By: v.By, ETag: v.ETag,
	}, err
}

// sendReport sends a version, or 304 if the client has it.
func (c *call) sendReport(id document.ID, v document.Version) error {
	report, err := scheduledReportOf(id.Name, v)
	if err != nil {
		return err
	}
	c.sendDocument(v, report)
	return nil
}

// detailsOf returns the mistakes in a definition as details of an error.
func detailsOf(p definition.Problems) details {
	list := make(details, len(p))
	for i, one := range p {
		list[i] = Detail(one)
	}
	return list
}
