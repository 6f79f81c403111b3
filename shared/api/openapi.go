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
			{Name: dataTag, Description: "Recorded traffic"},
			{Name: planetsTag, Description: "Settings of planets, and their history"},
			{Name: filtersTag, Description: "Saved filters, and their history"},
			{Name: serviceTag, Description: "The service itself"},
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

// add adds a route.
func (d *builder) add(to *route) {
	op := &huma.Operation{
		Method: to.method, Path: to.path, OperationID: to.id, Tags: []string{to.tag},
		Summary: to.summary, Description: to.doc, Responses: map[string]*huma.Response{},
	}
	for _, name := range bracedNames(to.path) {
		p := pathParam(name)
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
	if to.atRoot {
		d.Paths[to.path].Servers = []*huma.Server{{URL: d.address + "/"}}
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
	for name, doc := range a.headers {
		r.Headers[name] = textHeader(doc)
	}
	if a.value == nil && a.texts == nil {
		return r
	}
	r.Content = map[string]*huma.MediaType{}
	if a.value != nil {
		r.Content[jsonType] = &huma.MediaType{Schema: d.schemaOf(a.value)}
	}
	if a.other != nil {
		r.Content[jsonType].Schema = &huma.Schema{AnyOf: []*huma.Schema{d.schemaOf(a.value), d.schemaOf(a.other)}}
	}
	for _, mediaType := range a.texts {
		r.Content[mediaType] = &huma.MediaType{Schema: &huma.Schema{Type: "string"}}
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

// schemaOf returns a schema, or the schema of the type of a value.
func (d *builder) schemaOf(value any) *huma.Schema {
	if schema, ok := value.(*huma.Schema); ok {
		return schema
	}
	return d.schemas.Schema(reflect.TypeOf(value), true, "")
}

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
	if Repeatable(status) {
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
		addExamples(r.Content, errorsAsText(examples))
	}
	if text := r.Content[textType]; text != nil && text.Examples == nil {
		addExamples(r.Content, examplesOf("", status))
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
