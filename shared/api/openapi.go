package api

// The OpenAPI document is built with huma's OpenAPI types and schema registry. Nothing else of huma is used; routes are
// served by http.ServeMux. The purpose of huma's own routing is to decode and validate requests, but filters need the
// raw query, and its validation cannot report places and suggestions as ours does. The document and the served routes
// come from the same table in routes.go.

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/planet"
)

// builder holds an OpenAPI document under construction.
type builder struct {
	*huma.OpenAPI
	schemas huma.Registry
	address string // of the server, without a slash at the end; may be ""
}

// describe returns the OpenAPI document of the routes as JSON. Its servers have the address if it is not "".
func describe(routes []route, version, address string) []byte {
	address = strings.TrimRight(address, "/")
	d := builder{schemas: huma.NewMapRegistry("#/components/schemas/", schemaName), address: address}
	d.OpenAPI = &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Orrery API", Version: version,
			Description: "Recorded traffic of a web application security gateway, and the settings of its planets. " +
				"Filters are written as `status>=500, timestamp between 2026-01-01 and 2026-01-02` or as JSON; " +
				"`/data/fields` lists their fields.",
			License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
		},
		Servers: []*huma.Server{
			{URL: address + basePaths[0], Description: "This server"},
			{URL: address + basePaths[1], Description: "The same, for clients that use a short version"},
			{URL: address + basePaths[2], Description: "The same, for newer clients"},
		},
		Tags: []*huma.Tag{
			{Name: "data", Description: "Recorded traffic"},
			{Name: "planets", Description: "Settings of planets, and their history"},
			{Name: "filters", Description: "Saved filters, and their history"},
			{Name: "service", Description: "The service itself"},
		},
		Components: &huma.Components{Schemas: d.schemas, SecuritySchemes: map[string]*huma.SecurityScheme{
			"key": {
				Type: "apiKey", In: "header", Name: "x-api-key",
				Description: "The API key. `Authorization: Basic KEY` with the raw key is also accepted.",
			},
			"bearer": {Type: "http", Scheme: "bearer", Description: "The API key as a bearer token."},
			"basic":  {Type: "http", Scheme: "basic", Description: "The API key as user or as password."},
		}},
	}
	d.schemas.Map()["LogRecord"] = recordSchema()
	for i := range routes {
		if routes[i].tag != "" {
			d.add(&routes[i])
		}
	}
	if slices.ContainsFunc(routes, func(r route) bool { return r.tag == reportsTag }) {
		d.Tags = append(d.Tags, &huma.Tag{Name: reportsTag, Description: "Scheduled reports, their history and their runs"})
	}
	for _, schema := range d.schemas.Map() {
		loosen(schema)
	}
	if facet := d.schemas.Map()["FacetResult"]; facet != nil {
		facet.Properties["rest"] = orNull(facet.Properties["rest"])
	}
	if estimate := d.schemas.Map()["Estimate"]; estimate != nil {
		for _, name := range []string{"bytes", "wait_ms"} {
			estimate.Properties[name] = orNull(estimate.Properties[name])
		}
	}
	for name, properties := range nullable {
		if schema := d.schemas.Map()[name]; schema != nil {
			for _, property := range properties {
				schema.Properties[property] = orNull(schema.Properties[property])
			}
		}
	}
	text, err := d.MarshalJSON()
	if err != nil {
		panic("api: the OpenAPI document cannot be encoded: " + err.Error())
	}
	return text
}

// nullable lists the properties of schemas that may be null although huma's tags cannot express it: objects and lists.
var nullable = map[string][]string{
	"Installation":    {"extent", "hours", "ingest", "price", "key"},
	"InstallationKey": {"branches"},
	"Report":          {"previous"},
	"ScheduledReport": {"branches"},
	"ListedReport":    {"branches", "next", "last_run"},
}

// loosen corrects defaults of huma: our lists are never null, and answers may get additional members.
func loosen(s *huma.Schema) {
	s.AdditionalProperties = nil
	for _, p := range s.Properties {
		if p.Type == huma.TypeArray {
			p.Nullable = false
		}
		if p.Type == huma.TypeObject && p.Properties != nil {
			loosen(p)
		}
	}
}

// orNull returns a schema that also accepts null.
func orNull(s *huma.Schema) *huma.Schema {
	return &huma.Schema{Description: s.Description, OneOf: []*huma.Schema{s, {Type: "null"}}}
}

// schemaName returns the name of a type in the document: Container[search.StatsResult] is StatsResultContainer.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	for _, generic := range []string{"Container", "Results"} {
		if element, ok := strings.CutPrefix(name, generic); ok {
			return element + generic
		}
	}
	return name
}

func (d *builder) add(to *route) {
	op := &huma.Operation{
		Method: to.method, Path: to.path, OperationID: to.id, Tags: []string{to.tag},
		Summary: to.summary, Description: to.doc, Responses: map[string]*huma.Response{},
	}
	for _, name := range bracedNames(to.path) {
		p := find(pathParams, name)
		p.required = true
		op.Parameters = append(op.Parameters, p.openAPI("path"))
	}
	if to.body == nil {
		for i := range to.params {
			op.Parameters = append(op.Parameters, to.params[i].openAPI("query"))
		}
	}
	for i := range to.headers {
		op.Parameters = append(op.Parameters, to.headers[i].openAPI("header"))
	}
	if to.body != nil {
		op.RequestBody = d.requestBody(to)
	}
	for _, a := range to.answers {
		op.Responses[strconv.Itoa(a.status)] = d.response(to, a)
	}
	for _, status := range to.allErrors() {
		op.Responses[strconv.Itoa(status)] = d.errorResponse(to, status)
	}
	op.Security = []map[string][]string{}
	if to.scope != "" {
		// The empty requirement is for a local server, which needs no key.
		op.Security = []map[string][]string{{}, {"key": {}}, {"bearer": {}}, {"basic": {}}}
		op.Description += "\n\nRequires the scope `" + string(to.scope) + "` if the server requires keys."
		op.Description = strings.TrimSpace(op.Description)
	}
	d.AddOperation(op)
	if !to.underBase() {
		d.Paths[to.path].Servers = []*huma.Server{{URL: d.address + "/"}}
	}
}

// allErrors returns the error statuses of the route, including those of every route under a base path.
func (r *route) allErrors() []int {
	all := slices.Clone(r.errors)
	if r.underBase() {
		all = append(all, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotAcceptable,
			http.StatusMethodNotAllowed, http.StatusTooManyRequests, http.StatusInternalServerError)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

var braced = regexp.MustCompile(`\{([a-z_]+)\}`)

func bracedNames(path string) []string {
	var names []string
	for _, match := range braced.FindAllStringSubmatch(path, -1) {
		names = append(names, match[1])
	}
	return names
}

// notEmpty returns the schema of a parameter, which may not be the empty text, except of a required filter: there it is
// a mistake in the filter.
func (p *param) notEmpty(schema *huma.Schema) *huma.Schema {
	if schema.Type != "string" || schema.Enum != nil || mayBeEmpty([]param{*p}, p.name) {
		return schema
	}
	one, stricter := 1, *schema
	stricter.MinLength = &one
	return &stricter
}

func (p *param) openAPI(in string) *huma.Param {
	schema := p.schema
	if in != "header" { // an empty header is as good as none, unless its pattern or enum excludes it
		schema = p.notEmpty(schema)
	}
	return &huma.Param{
		Name:        p.name,
		In:          in,
		Description: p.doc,
		Required:    p.required,
		Schema:      schema,
		Example:     p.example,
	}
}

func (d *builder) requestBody(to *route) *huma.RequestBody {
	body := &huma.RequestBody{Description: to.body.doc, Required: true, Content: map[string]*huma.MediaType{}}
	for _, mediaType := range to.body.types {
		m := &huma.MediaType{Schema: &huma.Schema{Type: "string"}, Examples: map[string]*huma.Example{}}
		switch {
		case mediaType == jsonType && to.body.json != nil:
			m.Schema = to.body.json
		case mediaType == jsonType:
			m.Schema = memberSchema(to.params)
		case mediaType != textType:
			m.Schema = formSchema(to.params)
		}
		for _, e := range examplesOf(to.id, 0) {
			if e.status < 300 && e.request.mediaType() == mediaType {
				m.Examples[e.name] = e.openAPI(e.request)
			}
		}
		body.Content[mediaType] = m
	}
	return body
}

// memberSchema returns the schema of an object with the parameters as members.
func memberSchema(params []param) *huma.Schema {
	s := &huma.Schema{Type: "object", Properties: map[string]*huma.Schema{}, AdditionalProperties: false}
	for _, p := range params {
		member := p.schema
		if p.body != nil {
			member = p.body
		}
		s.Properties[p.name] = p.notEmpty(member)
		if p.required {
			s.Required = append(s.Required, p.name)
		}
	}
	return s
}

// formSchema returns the schema of a form with the parameters as text fields.
func formSchema(params []param) *huma.Schema {
	fields := slices.Clone(params)
	for i := range fields {
		fields[i].body = nil
	}
	return memberSchema(fields)
}

func (d *builder) response(to *route, a response) *huma.Response {
	r := &huma.Response{Description: a.doc, Headers: map[string]*huma.Param{"X-Request-Id": requestIDHeader}}
	if a.etag {
		r.Headers["ETag"] = etagHeader
	}
	if a.status == http.StatusAccepted {
		r.Headers["Retry-After"] = retryAfterHeader
		if to.runsOn() {
			r.Headers["Location"] = locationHeader
		}
	}
	if a.value == nil {
		return r
	}
	schema, ok := a.value.(*huma.Schema)
	if !ok {
		schema = d.schemas.Schema(reflect.TypeOf(a.value), true, "")
	}
	r.Content = map[string]*huma.MediaType{jsonType: {Schema: schema}}
	switch to.id {
	case "parse":
		r.Content[textType] = textContent()
	case metricsID:
		r.Content = map[string]*huma.MediaType{textType: textContent()}
	}
	switch {
	case a.status == http.StatusOK && to.ofGet() == reportID:
		addReports(r, d.schemas.Schema(reflect.TypeFor[Estimated](), true, ""))
	case a.status == http.StatusOK && to.choosesForm():
		addTables(r, to.offers)
	}
	addExamples(r.Content, examplesOf(to.id, a.status))
	for mediaType, content := range r.Content {
		if content.Examples == nil { // GET has the same answers
			only := map[string]*huma.MediaType{mediaType: content}
			addExamples(only, examplesOf(to.ofGet(), a.status))
		}
	}
	return r
}

// addTables adds the forms of a data answer other than JSON.
func addTables(r *huma.Response, offers []string) {
	for _, mediaType := range []string{csvType, ndjsonType} {
		if slices.Contains(offers, mediaType) {
			r.Content[mediaType] = textContent()
		}
	}
	for _, one := range metaHeaders {
		r.Headers[one.name] = textHeader(one.doc + " Not with JSON.")
	}
	r.Headers["Content-Disposition"] = textHeader("Name of a file to save the answer in. Not with JSON.")
}

func textContent() *huma.MediaType { return &huma.MediaType{Schema: &huma.Schema{Type: "string"}} }

func (d *builder) errorResponse(to *route, status int) *huma.Response {
	r := &huma.Response{
		Description: http.StatusText(status) + ".",
		Headers:     map[string]*huma.Param{"X-Request-Id": requestIDHeader},
		Content: map[string]*huma.MediaType{
			jsonType: {Schema: d.schemas.Schema(reflect.TypeFor[Error](), true, "")},
			textType: {Schema: &huma.Schema{Type: "string"}},
		},
	}
	if status == http.StatusNotAcceptable { // not possible for a client that accepts text
		delete(r.Content, textType)
	}
	if _, retry := retryAfter[status]; retry {
		r.Headers["Retry-After"] = retryAfterHeader
	}
	if status == http.StatusGatewayTimeout && to.runsOn() {
		r.Headers["Location"] = locationHeader
	}
	examples := examplesOf(to.id, status)
	if len(examples) == 0 {
		examples = examplesOf("", status) // other routes have the same errors
	}
	addExamples(r.Content, examples)
	if text := r.Content[textType]; text != nil && text.Examples == nil {
		addExamples(r.Content, examplesAsText(examples))
	}
	if text := r.Content[textType]; text != nil && text.Examples == nil {
		addExamples(r.Content, examplesOf("", status))
	}
	return r
}

// examplesAsText returns error examples converted to text. Mistakes of a filter are left out: their text contains the
// filter, which the JSON does not have.
func examplesAsText(examples []*example) []*example {
	var list []*example
	for _, e := range examples {
		var body Error
		if e.response.mediaType() != jsonType {
			continue
		}
		if err := json.Unmarshal([]byte(e.response.body), &body); err != nil {
			panic(fmt.Sprintf("api: example %s: %v", e.name, err))
		}
		if len(body.Errors) == 0 {
			asText := *e
			asText.response = message{
				head: strings.Replace(e.response.head, jsonType, textType+"; charset=utf-8", 1),
				body: strings.TrimRight(string(body.text()), "\n"),
			}
			list = append(list, &asText)
		}
	}
	return list
}

// runsOn reports whether the query of the route can outlive its request.
func (r *route) runsOn() bool { return find(r.headers, preferHeader.name) != nil }

var (
	retryAfterHeader = &huma.Param{
		Description: "Seconds after which to try again.",
		Schema:      &huma.Schema{Type: "integer"},
	}
	locationHeader  = textHeader("Location of the answer of the query, relative to the request.")
	requestIDHeader = textHeader("Identifies the request in the log.")
	etagHeader      = textHeader("Identifies this version, for If-Match and If-None-Match.")
)

func textHeader(description string) *huma.Param {
	return &huma.Param{Description: description, Schema: &huma.Schema{Type: "string"}}
}

func addExamples(content map[string]*huma.MediaType, examples []*example) {
	for _, e := range examples {
		m, ok := content[e.response.mediaType()]
		if !ok || e.response.body == "" {
			continue
		}
		if m.Examples == nil {
			m.Examples = map[string]*huma.Example{}
		}
		m.Examples[e.name] = e.openAPI(e.response)
	}
}

// openAPI returns the body of a message of the example.
func (e *example) openAPI(m message) *huma.Example {
	x := &huma.Example{Summary: e.summary, Value: m.body}
	switch m.mediaType() {
	case formType:
		x.Value = membersOfForm(fieldsOf(m.body))
	case multipartType:
		fields, err := partsOf(m.content())
		if err != nil {
			panic(fmt.Sprintf("api: example %s: %v", e.name, err))
		}
		x.Value = membersOfForm(fields)
	case jsonType:
		var value any
		if err := json.Unmarshal([]byte(m.body), &value); err != nil {
			panic(fmt.Sprintf("api: example %s: %v", e.name, err))
		}
		x.Value = value
	}
	return x
}

func membersOfForm(fields []field) map[string]any {
	members := map[string]any{}
	for _, f := range fields {
		members[f.name] = f.value
	}
	return members
}

// logRecord is the Go type of records in the document. Its schema is made from the catalogue.
type logRecord struct{}

// Schema implements huma.SchemaProvider.
func (logRecord) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Ref: "#/components/schemas/LogRecord"}
}

// recordSchema returns the schema of a record, with the fields of the catalogue. Types are left out and other members
// are allowed, because records keep what was ingested.
func recordSchema() *huma.Schema {
	s := &huma.Schema{
		Type: "object", Properties: map[string]*huma.Schema{},
		Description: "One recorded request: every member as it was recorded, " +
			"including members that are not in the catalogue.",
	}
	for i := range catalog.Fields {
		f := &catalog.Fields[i]
		s.Properties[f.Name] = &huma.Schema{Description: f.Doc}
	}
	return s
}

// CanonicalFilter is the canonical JSON form of a filter.
type CanonicalFilter struct {
	AND []CanonicalCondition `json:"AND"`
}

// CanonicalCondition is a condition of a CanonicalFilter. Its members are in this order.
type CanonicalCondition struct {
	Field string `json:"field" example:"status"`
	Key   string `json:"key,omitempty" example:"^name$"`
	Op    string `json:"op" example:"not eq"`
	Value any    `json:"value" doc:"A value, or a list of values"`
}

// queryResultSchema returns the schema of the answers of all data routes.
func queryResultSchema() *huma.Schema {
	s := &huma.Schema{}
	for _, name := range []string{
		"TopXResult", "StatsResult", "TimelineResult", "FacetResult", "HistogramResult", "DiffResult", "LogRecord",
	} {
		s.AnyOf = append(s.AnyOf, &huma.Schema{Ref: "#/components/schemas/" + name + "Container"})
	}
	return s
}

// filterBodySchema returns the schema of the JSON bodies of the parse route.
func filterBodySchema() *huma.Schema {
	condition := &huma.Schema{Type: "object", AdditionalProperties: true}
	return &huma.Schema{AnyOf: []*huma.Schema{
		memberSchema([]param{filtersParam, dayZoneParam}),
		{Type: "object", AdditionalProperties: true, Description: "A JSON filter, or one condition."},
		{Type: "array", Items: condition, Description: "The conditions of a JSON filter."},
		{Type: "string", Description: "A filter as text."},
	}}
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
							Type: "string", MinLength: whole(1), Pattern: `^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$`,
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
