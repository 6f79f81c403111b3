package wire

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/api/reportapi"
)

// TestReportSchema: the functions describe reports as a server does that makes them.
func TestReportSchema(t *testing.T) {
	document := documentOf(t, api.Config{Reports: reportapi.Maker{}})
	var components struct {
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(document, &components); err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(inlined(t, components.Components.Schemas, schemaOf(t, document))); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("reportschema.json", want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want.String(), string(reportSchema)); diff != "" {
		t.Errorf("run with -update and read the diff (-server +file):\n%s", diff)
	}
}

// TestReportsHaveTheirSchema: the schema in the description accepts reports, and refuses other documents.
func TestReportsHaveTheirSchema(t *testing.T) {
	loaded, err := openapi3.NewLoader().LoadFromData(documentOf(t, describing(api.Config{})))
	if err != nil {
		t.Fatal(err)
	}
	if err := loaded.Validate(t.Context(), openapi3.IsOpenAPI31OrLater(), openapi3.DisableExamplesValidation()); err != nil {
		t.Error(err)
	}
	schema := loaded.Paths.Find("/data/report").Get.Responses.Value("200").Value.Content["application/json"].Schema.Value
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "report", "testdata", "incomplete.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := visit(schema, text); err != nil {
		t.Error(err)
	}
	if err := visit(schema, bytes.Replace(text, []byte(`"unit": "requests"`), []byte(`"unit": 1`), 1)); err == nil {
		t.Error("a figure with a number as its unit is accepted")
	}
}

func visit(schema *openapi3.Schema, text []byte) error {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	return schema.VisitJSON(value, openapi3.EnableJSONSchema2020())
}

// documentOf returns the OpenAPI document of a server.
func documentOf(t *testing.T, c api.Config) []byte {
	t.Helper()
	c.Log, c.Now, c.Serves = slog.New(slog.DiscardHandler), at, []string{"openapi"}
	handler, err := api.New(c)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/openapi.json", nil))
	return w.Body.Bytes()
}

// schemaOf returns the schema of reports in JSON of a document.
func schemaOf(t *testing.T, document []byte) any {
	t.Helper()
	var d struct {
		Paths map[string]struct {
			Get struct {
				Responses map[string]struct {
					Content map[string]struct{ Schema any }
				}
			}
		}
	}
	if err := json.Unmarshal(document, &d); err != nil {
		t.Fatal(err)
	}
	schema := d.Paths["/data/report"].Get.Responses["200"].Content["application/json"].Schema
	if schema == nil {
		t.Fatalf("the document does not describe reports: %.300s", document)
	}
	return schema
}

// inlined returns a schema with the schemas that it refers to in place of the references.
func inlined(t *testing.T, schemas map[string]any, schema any) any {
	t.Helper()
	switch schema := schema.(type) {
	case map[string]any:
		if to, ok := schema["$ref"].(string); ok {
			name, ok := strings.CutPrefix(to, "#/components/schemas/")
			if !ok || schemas[name] == nil {
				t.Fatalf("no schema is %s", to)
			}
			return inlined(t, schemas, schemas[name])
		}
		all := map[string]any{}
		for name, member := range schema {
			all[name] = inlined(t, schemas, member)
		}
		return all
	case []any:
		var all []any
		for _, one := range schema {
			all = append(all, inlined(t, schemas, one))
		}
		return all
	}
	return schema
}
