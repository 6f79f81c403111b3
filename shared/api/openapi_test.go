package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/examples"
	"github.com/orrery/orrery/shared/api/openapi"
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
)

// loadDocument reads the document with a library that shares no code with the one that wrote it.
func loadDocument(t *testing.T) *openapi3.T {
	t.Helper()
	s := newTestServer(t, "scheduled reports", "reports at once", "imports", "metrics")
	body := s.send(t, examples.Message{Head: "GET /openapi.json HTTP/1.1\nHost: localhost"}).body
	loader := openapi3.NewLoader()
	document, err := loader.LoadFromData(body)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

func TestDocumentIsValidOpenAPI31(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	document := loadDocument(t)
	if !strings.HasPrefix(document.OpenAPI, "3.1.") {
		t.Errorf("version %s", document.OpenAPI)
	}
	err := document.Validate(t.Context(), openapi3.EnableExamplesValidation(), openapi3.IsOpenAPI31OrLater())
	if err != nil {
		t.Error(err)
	}
}

// TestDocumentShowsExamples: every answer and every error of every route has an example.
func TestDocumentShowsExamples(t *testing.T) {
	for path, item := range loadDocument(t).Paths.Map() {
		for method, op := range item.Operations() {
			for _, p := range op.Parameters {
				// The page would send an example unasked: a header, or a token of another query.
				unasked := p.Value.In == "header" || p.Value.Name == "cursor" || p.Value.Name == "since"
				if !unasked && p.Value.Example == nil {
					t.Errorf("%s %s: parameter %s has no example", method, path, p.Value.Name)
				}
			}
			if op.RequestBody != nil {
				for mediaType, content := range op.RequestBody.Value.Content {
					if len(content.Examples) == 0 {
						t.Errorf("%s %s: a body of type %s has no example", method, path, mediaType)
					}
				}
			}
			for status, response := range op.Responses.Map() {
				for mediaType, found := range response.Value.Content {
					// Reports as pages and as mails are long.
					if len(found.Examples) == 0 && mediaType != content.HTML && mediaType != content.Mail {
						t.Errorf("%s %s: status %s has no example of %s", method, path, status, mediaType)
					}
				}
			}
		}
	}
}

// TestErrorsAsText: the text errors in the document, which are converted from JSON examples, are what the server sends.
func TestErrorsAsText(t *testing.T) {
	errors := slices.DeleteFunc(examples.Of("", 0), func(e *examples.Example) bool {
		return e.Status < 400 || e.Status == http.StatusNotAcceptable // not possible for a client that accepts text
	})
	for _, e := range examples.ErrorsAsText(errors) {
		t.Run(e.File, func(t *testing.T) {
			request := e.Request
			request.Head += "\nAccept: text/plain"
			s := newTestServer(t, e.Setup...)
			if diff := cmp.Diff(e.Response.Head+"\n\n"+e.Response.Body, s.show(t, s.send(t, request))); diff != "" {
				t.Errorf("answer (-document +server):\n%s", diff)
			}
		})
	}
}

// TestAnswersFollowTheDocument validates the requests and responses of the examples against the document.
func TestAnswersFollowTheDocument(t *testing.T) {
	document := loadDocument(t)
	router, err := legacy.NewRouter(document, openapi3.DisableExamplesValidation()) // TestDocumentIsValidOpenAPI31 validates them
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range examples.All() {
		if e.Operation == "health" || e.Operation == "metrics" || e.Status == http.StatusMethodNotAllowed {
			continue // outside the base path; no operation
		}
		t.Run(e.File, func(t *testing.T) {
			request := httpRequest(t, e)
			found, parameters, err := router.FindRoute(request)
			if err != nil {
				t.Fatal(err)
			}
			in := &openapi3filter.RequestValidationInput{
				Request: request, PathParams: parameters, Route: found,
				Options: &openapi3filter.Options{
					AuthenticationFunc:    openapi3filter.NoopAuthenticationFunc,
					IncludeResponseStatus: true,
				},
			}
			if e.Status < 300 {
				if err := openapi3filter.ValidateRequest(t.Context(), in); err != nil {
					t.Errorf("request: %v", err)
				}
			}
			validateResponse(t, in, e)
		})
	}
}

func validateResponse(t *testing.T, in *openapi3filter.RequestValidationInput, e *examples.Example) {
	t.Helper()
	out := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in,
		Status:                 e.Status,
		Header:                 http.Header{"X-Request-Id": {requestID}, "Content-Type": {e.Response.MediaType()}},
		Body:                   io.NopCloser(strings.NewReader(e.Response.Body)),
		Options:                in.Options,
	}
	if slices.Contains([]string{content.Text, content.CSV, content.NDJSON}, e.Response.MediaType()) {
		return // any text is valid
	}
	if err := openapi3filter.ValidateResponse(t.Context(), out); err != nil {
		t.Errorf("answer: %v", err)
	}
}

// httpRequest returns the request of an example for the validator, which needs an escaped URL.
func httpRequest(t *testing.T, e *examples.Example) *http.Request {
	t.Helper()
	lines := strings.Split(e.Request.Head, "\n")
	line := strings.Fields(lines[0])
	path, query, _ := strings.Cut(line[1], "?")
	values := url.Values{}
	fields, err := parameter.Body{Text: []byte(query), MediaType: content.Form}.Fields()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fields {
		values.Add(f.Name, f.Value)
	}
	r, err := http.NewRequest(line[0], path+"?"+values.Encode(), strings.NewReader(e.Request.Body))
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range lines[1:] {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Add(name, value)
	}
	return r
}

// TestDocumentIsDeterministic: clients keep it in files.
func TestDocumentIsDeterministic(t *testing.T) {
	s := &server{}
	if !bytes.Equal(openapi.Describe(s.routes(), "1", ""), openapi.Describe(s.routes(), "1", "")) {
		t.Error("two documents of one program differ")
	}
	if !json.Valid(openapi.Describe(s.routes(), "1", "")) {
		t.Error("the document is not JSON")
	}
}

// TestServersOfTheDocument: clients that are generated from the document reach a server behind a proxy, also below a
// path.
func TestServersOfTheDocument(t *testing.T) {
	for address, want := range map[string]string{
		"":                          "/api/v4.0 /",
		"https://orrery.example/":   "https://orrery.example/api/v4.0 https://orrery.example/",
		"https://tools.example/waf": "https://tools.example/waf/api/v4.0 https://tools.example/waf/",
	} {
		type servers []struct{ URL string }
		var document struct {
			Servers servers
			Paths   map[string]struct{ Servers servers }
		}
		s := newServer(t, func(c *Config) { c.Address = address })
		response, err := s.Client().Get(s.URL + "/openapi.json")
		if err != nil {
			t.Fatal(err)
		}
		err = json.NewDecoder(response.Body).Decode(&document)
		if err := errors.Join(err, response.Body.Close()); err != nil {
			t.Fatal(err)
		}
		if got := document.Servers[0].URL + " " + document.Paths["/healthz"].Servers[0].URL; got != want {
			t.Errorf("%q: %s, want %s", address, got, want)
		}
	}
}

// TestRecordsFollowTheDocument: members of records that stay as they were recorded have the types of the document.
func TestRecordsFollowTheDocument(t *testing.T) {
	schema := loadDocument(t).Components.Schemas["LogRecord"]
	for _, members := range []string{
		`"status":200,"blocked":true,"port":"443","request_time":1.5,"host":"shop.example"`,
		`"status":"200","blocked":"true","port":443,"request_time":"1.5"`,
		`"status":null,"blocked":null,"port":null,"request_time":null,"upstream_response_time":null`,
		`"status":2e2,"tags":["a",{"b":1}],"upstream_status":[200,"ok"],"headers":{"a":["b","c"]},"more":[1]`,
		`"status":"ok","blocked":1,"port":{"a":1},"host":[1],"tags":7`,
	} {
		var row lake.Row
		if _, err := record.NewDecoder().Decode([]byte(`{"timestamp":0,`+members+`}`), &row); err != nil {
			t.Fatal(err)
		}
		var value any
		if err := json.Unmarshal(record.AppendJSON(nil, &row, nil), &value); err != nil {
			t.Fatal(err)
		}
		if err := schema.Value.VisitJSON(value, openapi3.EnableJSONSchema2020()); err != nil {
			t.Errorf("%s: %v", members, err)
		}
	}
	if err := schema.Value.VisitJSON(map[string]any{"status": true}, openapi3.EnableJSONSchema2020()); err == nil {
		t.Error("the document allows a status that is a boolean")
	}
}
