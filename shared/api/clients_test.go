package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/api/examples"
)

// TestDocumentForGeneratedClients: names of the document that are different words in it are also different words in the
// clients that are generated from it. scripts/release.sh compiles such clients.
func TestDocumentForGeneratedClients(t *testing.T) {
	s := newTestServer(t, "scheduled reports", "reports at once", "metrics")
	text := s.send(t, examples.Message{Head: "GET /openapi.json HTTP/1.1\nHost: localhost"}).body
	for _, mistake := range mistakesForClients(t, text) {
		t.Error(mistake)
	}
}

// TestMistakesForClients: documents for which clients would not compile or work.
func TestMistakesForClients(t *testing.T) {
	const operation = `"paths":{"/report":{"get":{"operationId":"report-post","parameters":[%s]}}},`
	for _, c := range []struct{ name, document, want string }{
		{"a schema with the name of a type", `"components":{"schemas":{"List":{}}}`,
			"schemas/List: the name is one of a type in generated code"},
		{"schemas that differ by case", `"components":{"schemas":{"TopX":{},"Topx":{}}}`,
			"schemas: TopX and Topx are one name in clients"},
		{"members that differ by an underscore",
			`"components":{"schemas":{"Row":{"properties":{"blockedBefore":{},"blocked_before":{}}}}}`,
			"schemas/Row/properties: blockedBefore and blocked_before are one name in clients"},
		{"values that differ by a sign", `"components":{"schemas":{"Row":{"enum":["not held","not-held"]}}}`,
			"schemas/Row/enum: not held and not-held are one name in clients"},
		{"parameters that differ by case", fmt.Sprintf(operation, `{"name":"Prefer"},{"name":"prefer"}`),
			"report-post: Prefer and prefer are one name in clients"},
		{"values of a parameter and of a member",
			fmt.Sprintf(operation, `{"name":"kind","schema":{"enum":["a"]}}`) +
				`"components":{"schemas":{"ReportPost":{"properties":{"kind":{"enum":["b"]}}}}}`,
			"report-post: generated code names the enum of kind like that of ReportPost.kind"},
		{"a schema with the name of a request",
			fmt.Sprintf(operation, "") + `"components":{"schemas":{"ReportPostRequest":{}}}`,
			"report-post: the request has the name of the schema ReportPostRequest"},
		{"a reference to no schema", `"components":{"schemas":{"Row":{"items":{"$ref":"#/components/schemas/Cell"}}}}`,
			"schemas/Row/items: #/components/schemas/Cell does not exist"},
		{"an object without a name among alternatives",
			`"components":{"schemas":{"Row":{"oneOf":[{"type":"string"},{"type":"object"}]}}}`,
			"schemas/Row/oneOf: an object has no name"},
		{"one schema in two alternatives",
			`"components":{"schemas":{"A":{},"Row":{"anyOf":[{"$ref":"#/components/schemas/A"},` +
				`{"type":"array","items":{"$ref":"#/components/schemas/A"}}]}}}`,
			"schemas/Row/anyOf: #/components/schemas/A is in two alternatives"},
		{"a required object that may be null",
			`"components":{"schemas":{"A":{},"Row":{"required":["a"],"properties":{"a":{"oneOf":[` +
				`{"$ref":"#/components/schemas/A"},{"type":"null"}]}}}}}`,
			"schemas/Row: a is required and may be null"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := mistakesForClients(t, []byte("{"+strings.TrimSuffix(c.document, ",")+"}"))
			if diff := cmp.Diff([]string{c.want}, got); diff != "" {
				t.Errorf("mistakes (-want +got):\n%s", diff)
			}
		})
	}
}

// typesOfClients are types of the languages of clients that generated code uses by these names.
var typesOfClients = strings.Fields(`Any Annotated ClassVar Dict List Literal Optional Self Set Tuple Type Union
	Boolean Byte Character Class Double Float Integer Long Map Number Object Short String Void
	Array Blob Date Promise Request Response`)

// clientNames checks a document. It is a walk over its JSON, because a library would refuse some mistakes itself.
type clientNames struct {
	schemas  map[string]any
	mistakes []string
}

func mistakesForClients(t *testing.T, text []byte) []string {
	t.Helper()
	var document struct {
		Paths      map[string]map[string]any
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	n := clientNames{schemas: document.Components.Schemas}
	names := slices.Sorted(maps.Keys(n.schemas))
	n.differ("schemas", names)
	for _, name := range names {
		if slices.Contains(typesOfClients, name) {
			n.add("schemas/"+name, "the name is one of a type in generated code")
		}
		n.schema("schemas/"+name, n.schemas[name])
	}
	for _, path := range slices.Sorted(maps.Keys(document.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(document.Paths[path])) {
			if op, ok := document.Paths[path][method].(map[string]any); ok {
				n.operation(op)
			}
		}
	}
	return n.mistakes
}

func (n *clientNames) add(place, mistake string) { n.mistakes = append(n.mistakes, place+": "+mistake) }

// word returns what all conversions of a name to the style of a language have in common.
func word(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("_- ", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// differ adds the names that clients cannot distinguish.
func (n *clientNames) differ(place string, names []string) {
	first := map[string]string{}
	for _, name := range names {
		if other, ok := first[word(name)]; ok {
			n.add(place, other+" and "+name+" are one name in clients")
		}
		first[word(name)] = name
	}
}

// operation checks the names of an operation and its parameters, and the schemas of its bodies.
func (n *clientNames) operation(op map[string]any) {
	id, _ := op["operationId"].(string)
	parameters, _ := op["parameters"].([]any)
	var names []string
	for _, p := range parameters {
		parameter, _ := p.(map[string]any)
		name, _ := parameter["name"].(string)
		names = append(names, name)
		n.schema(id, parameter["schema"])
		for schema, value := range n.schemas {
			enums := valuesOf(parameter["schema"]) != nil && valuesOf(memberOf(value, name)) != nil
			if word(schema) == word(id) && enums {
				n.add(id, fmt.Sprintf("generated code names the enum of %[1]s like that of %[2]s.%[1]s", name, schema))
			}
		}
	}
	n.differ(id, names)
	for schema := range n.schemas {
		if word(schema) == word(id)+"request" {
			n.add(id, "the request has the name of the schema "+schema)
		}
	}
	n.bodies(id, op["requestBody"])
	responses, _ := op["responses"].(map[string]any)
	for _, status := range slices.Sorted(maps.Keys(responses)) {
		n.bodies(id+"/"+status, responses[status])
	}
}

func (n *clientNames) bodies(place string, message any) {
	body, _ := message.(map[string]any)
	content, _ := body["content"].(map[string]any)
	for _, mediaType := range slices.Sorted(maps.Keys(content)) {
		media, _ := content[mediaType].(map[string]any)
		n.schema(place+"/"+mediaType, media["schema"])
	}
}

func valuesOf(schema any) any {
	s, _ := schema.(map[string]any)
	return s["enum"]
}

func memberOf(schema any, name string) any {
	s, _ := schema.(map[string]any)
	properties, _ := s["properties"].(map[string]any)
	return properties[name]
}

// schema checks a schema and those inside it.
func (n *clientNames) schema(place string, schema any) {
	s, ok := schema.(map[string]any)
	if !ok {
		return
	}
	if ref, ok := s["$ref"].(string); ok {
		if _, exists := n.schemas[strings.TrimPrefix(ref, "#/components/schemas/")]; !exists {
			n.add(place, ref+" does not exist")
		}
	}
	if values, ok := s["enum"].([]any); ok {
		var names []string
		for _, value := range values {
			names = append(names, fmt.Sprint(value))
		}
		n.differ(place+"/enum", names)
	}
	properties, _ := s["properties"].(map[string]any)
	names := slices.Sorted(maps.Keys(properties))
	n.differ(place+"/properties", names)
	for _, name := range names {
		n.schema(place+"/properties/"+name, properties[name])
	}
	n.required(place, s["required"], properties)
	for _, key := range []string{"items", "additionalProperties"} {
		n.schema(place+"/"+key, s[key])
	}
	for _, key := range []string{"oneOf", "anyOf", "allOf"} {
		alternatives, _ := s[key].([]any)
		n.alternatives(place+"/"+key, alternatives)
	}
}

// alternatives checks the alternatives of a schema. Generators for Java fail at an object without a name, and those for
// TypeScript at a schema that is there twice.
func (n *clientNames) alternatives(place string, alternatives []any) {
	seen := map[string]bool{}
	for _, alternative := range alternatives {
		n.schema(place, alternative)
		one, _ := alternative.(map[string]any)
		if one["type"] == "object" && one["properties"] == nil {
			n.add(place, "an object has no name")
		}
		items, _ := one["items"].(map[string]any)
		for _, schema := range []map[string]any{one, items} {
			ref, ok := schema["$ref"].(string)
			if ok && seen[ref] {
				n.add(place, ref+" is in two alternatives")
			}
			seen[ref] = true
		}
	}
}

// required checks that no required member is an object or null: clients for Java fail at the null.
func (n *clientNames) required(place string, required any, properties map[string]any) {
	list, _ := required.([]any)
	for _, name := range list {
		property, _ := properties[fmt.Sprint(name)].(map[string]any)
		alternatives, _ := property["oneOf"].([]any)
		isRef := func(v any) bool { s, _ := v.(map[string]any); return s["$ref"] != nil }
		isNull := func(v any) bool { s, _ := v.(map[string]any); return s["type"] == "null" }
		if slices.ContainsFunc(alternatives, isRef) && slices.ContainsFunc(alternatives, isNull) {
			n.add(place, fmt.Sprint(name)+" is required and may be null")
		}
	}
}
