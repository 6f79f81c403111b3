package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// generatedClients lists the generators whose clients are tested. A script generates and compiles the client in a
// folder of its own, and then runs the program, which calls it. shared/api/README.md has the same command lines.
var generatedClients = []struct {
	name    string
	program string // in testdata/clients
	as      string // its path in the folder
	script  string
}{
	{"openapi-generator_python", "openapi_generator.py", "calls.py", `
		java -jar "$TOOLS/openapi-generator.jar" generate -i "$DOCUMENT" -g python -o client
		PYTHONPATH=client "$TOOLS/bin/python" -c 'import openapi_client.models, openapi_client.api'
		PYTHONPATH=client "$TOOLS/bin/python" calls.py "$API" >answers`},
	{"oapi-codegen", "oapi_codegen.go", "main.go", `
		mkdir orrery
		"$TOOLS/oapi-codegen" -package orrery -generate types,client -o orrery/client.go "$DOCUMENT"
		go mod init example.com/client
		go mod tidy
		go run . "$API" >answers`},
	{"openapi-typescript", "openapi_typescript.ts", "main.ts", `
		ln -s "$TOOLS/node_modules" .
		node_modules/.bin/openapi-typescript "$DOCUMENT" -o client.d.ts
		node_modules/.bin/tsc --strict --target es2022 --module commonjs --moduleResolution node10 --types node main.ts
		node main.js "$API" >answers`},
	{"openapi-python-client", "openapi_python_client.py", "calls.py", `
		PATH=$TOOLS/bin:$PATH openapi-python-client generate --path "$DOCUMENT" --output-path client
		"$TOOLS/bin/python" -m compileall -q client
		PYTHONPATH=client "$TOOLS/bin/python" calls.py "$API" >answers`},
	{"openapi-generator_go", "openapi_generator.go", "client/calls/main.go", `
		java -jar "$TOOLS/openapi-generator.jar" generate -i "$DOCUMENT" -g go -o client
		cd client
		go mod tidy
		go build ./...
		go run ./calls "$API" >../answers`},
	{"openapi-generator_typescript-fetch", "typescript_fetch.ts", "main.ts", `
		java -jar "$TOOLS/openapi-generator.jar" generate -i "$DOCUMENT" -g typescript-fetch -o client
		ln -s "$TOOLS/node_modules" .
		node_modules/.bin/tsc --strict --target es2022 --module commonjs --moduleResolution node10 --types node main.ts
		node main.js "$API" >answers`},
	{"openapi-generator_java", "Calls.java", "client/src/main/java/Calls.java", `
		java -jar "$TOOLS/openapi-generator.jar" generate -i "$DOCUMENT" -g java -o client
		cd client
		mvn -q -B -DskipTests compile dependency:build-classpath -Dmdep.outputFile=classpath
		java -cp "target/classes:$(cat classpath)" Calls "$API" >../answers`},
}

// TestClients generates clients from the OpenAPI document of the real server. Each must compile and get the same
// answers.
func TestClients(t *testing.T) {
	tools := os.Getenv("ORRERY_TEST_CLIENTS")
	if tools == "" {
		t.Skip("set ORRERY_TEST_CLIENTS to the folder of the generators, which scripts/tools/clients.sh prints")
	}
	s := drained(t, tourData(t))
	saveFilter(t, s.base+"/api/v4.0/conf/prod/filters/errors")
	status, text := s.get("/openapi.json", nil)
	if status != http.StatusOK {
		t.Fatalf("the document was answered with status %d", status)
	}
	document := filepath.Join(t.TempDir(), "openapi.json")
	if err := os.WriteFile(document, text, 0o600); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "clients", "answers.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range generatedClients {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			program, err := os.ReadFile(filepath.Join("testdata", "clients", c.program))
			if err != nil {
				t.Fatal(err)
			}
			as := filepath.Join(folder, c.as)
			if err := os.MkdirAll(filepath.Dir(as), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(as, program, 0o600); err != nil {
				t.Fatal(err)
			}
			command := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", c.script)
			command.Dir = folder
			command.Env = append(environment(), "TOOLS="+tools, "DOCUMENT="+document, "API="+s.base+"/api/v4.0")
			if output, err := command.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, output[max(0, len(output)-5000):])
			}
			got, err := os.ReadFile(filepath.Join(folder, "answers"))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != string(want) {
				t.Errorf("answers:\n%swant:\n%s", got, want)
			}
		})
	}
}

func saveFilter(t *testing.T, address string) {
	t.Helper()
	body := strings.NewReader(`{"filters":"status>=500"}`)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, address, body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		t.Fatalf("saving a filter was answered with status %d", response.StatusCode)
	}
}
