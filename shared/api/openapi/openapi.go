// Package openapi writes the OpenAPI document of the table of routes. The server answers by the same table.
//
// The document is built with huma's OpenAPI types and schema registry. Nothing else of huma is used. The purpose of
// huma's own routing is to decode and validate requests, but filters need the raw query, and its validation cannot
// report places and suggestions as ours does.
package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/examples"
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/problem"
	"github.com/orrery/orrery/shared/api/route"
)

// builder holds an OpenAPI document under construction.
type builder struct {
	*huma.OpenAPI
	schemas huma.Registry
	address string // of the server, without a slash at the end; may be ""
}

// Describe returns the OpenAPI document of the routes as JSON. Its servers have the address if it is not "".
func Describe(routes []route.Route, version, address string) []byte {
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
			{URL: address + route.BasePaths[0], Description: "This server"},
			{URL: address + route.BasePaths[1], Description: "The same, for clients that use a short version"},
			{URL: address + route.BasePaths[2], Description: "The same, for newer clients"},
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
	for i := range routes {
		if routes[i].Tag != "" {
			d.add(&routes[i])
		}
	}
	for _, tag := range route.Tags {
		if slices.ContainsFunc(routes, func(r route.Route) bool { return r.Tag == tag.Name }) {
			d.Tags = append(d.Tags, &huma.Tag{Name: tag.Name, Description: tag.Doc})
		}
	}
	for _, schema := range d.schemas.Map() {
		loosen(schema)
	}
	if facet := d.schemas.Map()["FacetResult"]; facet != nil {
		allowNull(facet, "rest")
	}
	if estimate := d.schemas.Map()["Estimate"]; estimate != nil {
		for _, name := range []string{"bytes", "wait_ms"} {
			allowNull(estimate, name)
		}
	}
	for name, properties := range nullable {
		if schema := d.schemas.Map()[name]; schema != nil {
			for _, property := range properties {
				allowNull(schema, property)
			}
		}
	}
	maps.Copy(d.schemas.Map(), parameter.FilterSchemas())
	text, err := d.MarshalJSON()
	if err != nil {
		panic("openapi: the OpenAPI document cannot be encoded: " + err.Error())
	}
	return text
}

// nullable lists the properties of schemas that may be null although huma's tags cannot express it: objects and lists.
var nullable = map[string][]string{
	"Installation":    {"extent", "kept", "hours", "ingest", "price", "key"},
	"InstallationKey": {"branches"},
	"ReportContents":  {"previous", "incidents", "marks"},
	"ScheduledReport": {"branches"},
	"ListedReport":    {"branches", "next", "last_run"},
	"WhatIfAttack":    {"knee"},
	"WhatIfResult":    {"attack"},
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

// allowNull makes a property of a schema accept null. An object is then not required, although it is always present:
// clients that are generated for Java check the members of a required object, and fail if it is null.
func allowNull(s *huma.Schema, name string) {
	property := s.Properties[name]
	s.Properties[name] = &huma.Schema{
		Description: property.Description, OneOf: []*huma.Schema{property, {Type: "null"}},
	}
	if property.Ref != "" {
		s.Required = slices.DeleteFunc(s.Required, func(required string) bool { return required == name })
	}
}

// renamed has the schemas that cannot have the names of their types, because generated clients would not compile. List
// is a type of Python and Java. With a schema Report, a client in TypeScript would define ReportTemplateEnum twice: for
// the member template of the schema, and for the parameter template of the route report.
var renamed = map[string]string{
	"List":   "FrequentValues",
	"Report": "ReportContents",
}

// schemaName returns the name of a type in the document: Container[search.StatsResult] is StatsResultContainer.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	if other, ok := renamed[name]; ok {
		return other
	}
	for _, generic := range []string{"Container", "Results"} {
		if element, ok := strings.CutPrefix(name, generic); ok {
			return element + generic
		}
	}
	return name
}

// add adds a route.
func (d *builder) add(to *route.Route) {
	op := &huma.Operation{
		Method: to.Method, Path: to.Path, OperationID: to.ID, Tags: []string{to.Tag},
		Summary: to.Summary, Description: to.Doc, Responses: map[string]*huma.Response{},
	}
	for _, name := range bracedNames(to.Path) {
		p := parameter.InPath(name)
		p.Required = true
		op.Parameters = append(op.Parameters, parameterOf(p, "path"))
	}
	if to.HasQuery() {
		for i := range to.Params {
			op.Parameters = append(op.Parameters, parameterOf(&to.Params[i], "query"))
		}
	}
	for i := range to.Headers {
		op.Parameters = append(op.Parameters, parameterOf(&to.Headers[i], "header"))
	}
	if to.Body != nil {
		op.RequestBody = d.requestBody(to)
	}
	for _, a := range to.Answers {
		op.Responses[strconv.Itoa(a.Status)] = d.response(to, a)
	}
	for _, status := range to.AllErrors() {
		op.Responses[strconv.Itoa(status)] = d.errorResponse(to, status)
	}
	op.Security = []map[string][]string{}
	if to.Scope != "" {
		// The empty requirement is for a local server, which needs no key.
		op.Security = []map[string][]string{{}, {"key": {}}, {"bearer": {}}, {"basic": {}}}
		op.Description += "\n\nRequires the scope `" + string(to.Scope) + "` if the server requires keys."
		op.Description = strings.TrimSpace(op.Description)
	}
	d.AddOperation(op)
	if to.AtRoot {
		d.Paths[to.Path].Servers = []*huma.Server{{URL: d.address + "/"}}
	}
}

var braced = regexp.MustCompile(`\{([a-z_]+)\}`)

func bracedNames(path string) []string {
	var names []string
	for _, match := range braced.FindAllStringSubmatch(path, -1) {
		names = append(names, match[1])
	}
	return names
}

// parameterOf describes a parameter in a place: path, query or header.
func parameterOf(p *parameter.Parameter, in string) *huma.Param {
	schema := p.Schema
	if in != "header" { // an empty header is as good as none, unless its pattern or enum excludes it
		schema = p.NotEmpty(schema)
	}
	return &huma.Param{
		Name:        p.Name,
		In:          in,
		Description: p.Doc,
		Required:    p.Required,
		Schema:      schema,
		Example:     p.Example,
	}
}

func (d *builder) requestBody(to *route.Route) *huma.RequestBody {
	body := &huma.RequestBody{Description: to.Body.Doc, Required: true, Content: map[string]*huma.MediaType{}}
	for _, mediaType := range to.Body.Types {
		m := &huma.MediaType{Schema: &huma.Schema{Type: "string"}, Examples: map[string]*huma.Example{}}
		switch {
		case mediaType == content.JSON && to.Body.JSON != nil:
			m.Schema = to.Body.JSON
		case mediaType == content.JSON:
			m.Schema = parameter.ObjectSchema(to.Params)
		case mediaType == content.Binary:
			m.Schema.Format = "binary"
		case mediaType != content.Text:
			m.Schema = parameter.FormRef()
		}
		for _, e := range examples.Of(to.ID, 0) {
			if e.Status < 300 && e.Request.MediaType() == mediaType {
				m.Examples[e.Name] = exampleOf(e, e.Request)
			}
		}
		body.Content[mediaType] = m
	}
	return body
}

func (d *builder) response(to *route.Route, a route.Response) *huma.Response {
	r := &huma.Response{Description: a.Doc, Headers: map[string]*huma.Param{"X-Request-Id": requestIDHeader}}
	if a.ETag {
		r.Headers["ETag"] = etagHeader
	}
	if a.Status == http.StatusAccepted {
		r.Headers["Retry-After"] = retryAfterHeader
		if to.RunsOn() {
			r.Headers["Location"] = locationHeader
		}
	}
	for name, doc := range a.Headers {
		r.Headers[name] = textHeader(doc)
	}
	if a.Value == nil && a.Texts == nil {
		return r
	}
	r.Content = map[string]*huma.MediaType{}
	if a.Value != nil {
		r.Content[content.JSON] = &huma.MediaType{Schema: d.schemaOf(a.Value)}
	}
	if a.Other != nil {
		r.Content[content.JSON].Schema = &huma.Schema{AnyOf: []*huma.Schema{d.schemaOf(a.Value), d.schemaOf(a.Other)}}
	}
	for _, mediaType := range a.Texts {
		r.Content[mediaType] = &huma.MediaType{Schema: &huma.Schema{Type: "string"}}
	}
	addExamples(r.Content, examples.Of(to.ID, a.Status))
	for mediaType, content := range r.Content {
		if content.Examples == nil { // GET has the same answers
			only := map[string]*huma.MediaType{mediaType: content}
			addExamples(only, examples.Of(to.OfGet(), a.Status))
		}
	}
	return r
}

// schemaOf returns a schema, or the schema of the type of a value.
func (d *builder) schemaOf(value any) *huma.Schema {
	if schema, ok := value.(*huma.Schema); ok {
		return schema
	}
	return d.schemas.Schema(reflect.TypeOf(value), true, "")
}

func (d *builder) errorResponse(to *route.Route, status int) *huma.Response {
	r := &huma.Response{
		Description: http.StatusText(status) + ".",
		Headers:     map[string]*huma.Param{"X-Request-Id": requestIDHeader},
		Content: map[string]*huma.MediaType{
			content.JSON: {Schema: d.schemas.Schema(reflect.TypeFor[problem.Error](), true, "")},
			content.Text: {Schema: &huma.Schema{Type: "string"}},
		},
	}
	if status == http.StatusNotAcceptable { // not possible for a client that accepts text
		delete(r.Content, content.Text)
	}
	if problem.Repeatable(status) {
		r.Headers["Retry-After"] = retryAfterHeader
	}
	if status == http.StatusGatewayTimeout && to.RunsOn() {
		r.Headers["Location"] = locationHeader
	}
	found := examples.Of(to.ID, status)
	if len(found) == 0 {
		found = examples.Of("", status) // other routes have the same errors
	}
	addExamples(r.Content, found)
	if text := r.Content[content.Text]; text != nil && text.Examples == nil {
		addExamples(r.Content, examples.ErrorsAsText(found))
	}
	if text := r.Content[content.Text]; text != nil && text.Examples == nil {
		addExamples(r.Content, examples.Of("", status))
	}
	return r
}

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

func addExamples(content map[string]*huma.MediaType, examples []*examples.Example) {
	for _, e := range examples {
		m, ok := content[e.Response.MediaType()]
		if !ok || e.Response.Body == "" {
			continue
		}
		if m.Examples == nil {
			m.Examples = map[string]*huma.Example{}
		}
		m.Examples[e.Name] = exampleOf(e, e.Response)
	}
}

// exampleOf returns the body of a message of an example.
func exampleOf(e *examples.Example, m examples.Message) *huma.Example {
	x := &huma.Example{Summary: e.Summary, Value: m.Body}
	switch m.MediaType() {
	case content.Form, content.Multipart:
		fields, err := m.Content().Fields()
		if err != nil {
			panic(fmt.Sprintf("openapi: example %s: %v", e.Name, err))
		}
		x.Value = membersOfForm(fields)
	case content.JSON:
		var value any
		if err := json.Unmarshal([]byte(m.Body), &value); err != nil {
			panic(fmt.Sprintf("openapi: example %s: %v", e.Name, err))
		}
		x.Value = value
	}
	return x
}

func membersOfForm(fields []parameter.Field) map[string]any {
	members := map[string]any{}
	for _, f := range fields {
		members[f.Name] = f.Value
	}
	return members
}
