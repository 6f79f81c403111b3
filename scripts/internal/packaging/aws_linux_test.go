package main

import (
	"archive/zip"
	"bytes"
	"debug/elf"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestAWS makes the deployment on AWS twice and compares the bytes, and looks at it as one who unpacks it: the CDK
// toolkit lists its stacks outside of a checkout, and every function has its zip. It takes minutes and runs only if
// ORRERY_TEST_BUILD is set.
func TestAWS(t *testing.T) {
	if os.Getenv("ORRERY_TEST_BUILD") == "" {
		t.Skip("set ORRERY_TEST_BUILD=1 to build the functions and synthesise their stacks")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is missing, which the CDK needs")
	}
	t.Chdir("../../..")
	archive := makeAWS(t)
	if !bytes.Equal(archive, makeAWS(t)) {
		t.Error("the second archive differs")
	}
	top, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	const name = "orrery_1.2.3_aws"
	unpacked := t.TempDir()
	files := untar(t, archive, true)
	for i, f := range files {
		if err := writeBelow(filepath.Join(unpacked, f.name), f.content, f.mode); err != nil {
			t.Fatal(err)
		}
		files[i].name = strings.TrimPrefix(f.name, name+"/")
		if strings.HasSuffix(f.name, ".json") && (bytes.Contains(f.content, []byte(top)) || bytes.Contains(f.content, []byte(os.TempDir()))) {
			t.Errorf("%s names a folder of this machine", f.name)
		}
	}
	checkFunctions(t, files)
	for _, part := range []struct{ name, text string }{
		{"README.md", "deploy --app orrery_1.2.3_aws"}, {"CHANGELOG.md", "# Changes"}, {"LICENSE", "Apache License"},
		{licencesFile, "github.com/aws/aws-lambda-go"}, {licencesFile, "Swagger UI"}, {"doc/infra/README.md", "## First day on AWS"},
		{"doc/events/RUNBOOKS.md", "# "}, {"doc/shared/api/README.md", "# "},
	} {
		if !bytes.Contains(contentOf(t, files, part.name), []byte(part.text)) {
			t.Errorf("%s lacks %q", part.name, part.text)
		}
	}
	checkToolkit(t, unpacked, name)
}

// makeAWS makes the archive of the version 1.2.3.
func makeAWS(t *testing.T) []byte {
	t.Helper()
	r := &release{version: "1.2.3", out: t.TempDir(), work: t.TempDir(), log: io.Discard}
	shared, err := r.commonFiles(t.Context())
	if err == nil {
		err = r.writeAWS(t.Context(), shared)
	}
	if err != nil {
		t.Fatal(err)
	}
	archive, err := os.ReadFile(filepath.Join(r.out, "orrery_1.2.3_aws.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

// checkFunctions checks that each function of the templates has a zip with a program for its architecture, and that it
// knows the version.
func checkFunctions(t *testing.T, files []file) {
	t.Helper()
	paths := map[string]string{} // of the files that a deployment uploads, by their keys in the bucket
	for _, f := range files {
		if !strings.HasSuffix(f.name, ".assets.json") {
			continue
		}
		var assets struct {
			Files map[string]struct {
				Source       struct{ Path string }
				Destinations map[string]struct{ ObjectKey string }
			}
		}
		if err := json.Unmarshal(f.content, &assets); err != nil {
			t.Fatal(err)
		}
		for _, a := range assets.Files {
			for _, to := range a.Destinations {
				paths[to.ObjectKey] = a.Source.Path
			}
			contentOf(t, files, a.Source.Path)
		}
	}
	var template struct {
		Resources map[string]struct {
			Type       string
			Properties json.RawMessage
		}
	}
	if err := json.Unmarshal(contentOf(t, files, "orrery-api.template.json"), &template); err != nil {
		t.Fatal(err)
	}
	sources, err := filepath.Glob("functions/*/main.go")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, source := range sources {
		want = append(want, "orrery-"+filepath.Base(filepath.Dir(source)))
	}
	for _, resource := range template.Resources {
		if resource.Type != "AWS::Lambda::Function" {
			continue
		}
		var p struct {
			FunctionName  string
			Architectures []string
			Code          struct{ S3Key string }
			Environment   struct{ Variables map[string]any }
		}
		if err := json.Unmarshal(resource.Properties, &p); err != nil {
			t.Fatal(err)
		}
		got = append(got, p.FunctionName)
		if v := p.Environment.Variables["ORRERY_VERSION"]; v != "1.2.3" || !slices.Equal(p.Architectures, []string{awsArchitecture}) {
			t.Errorf("%s: version %v for %q", p.FunctionName, v, p.Architectures)
		}
		checkZip(t, p.FunctionName, contentOf(t, files, paths[p.Code.S3Key]))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the template has the functions %q, want %q", got, want)
	}
}

// checkZip checks that a zip has a program for Linux on arm64, as Lambda starts it.
func checkZip(t *testing.T, function string, content []byte) {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil || len(archive.File) != 1 || archive.File[0].Name != "bootstrap" || archive.File[0].Mode().Perm()&0o111 == 0 {
		t.Fatalf("%s: the zip lacks an executable bootstrap: %v", function, err)
	}
	opened, err := archive.File[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	program, err := io.ReadAll(opened)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := elf.NewFile(bytes.NewReader(program)); err != nil || f.Machine != elf.EM_AARCH64 {
		t.Errorf("%s: %+v, %v", function, f, err)
	}
}

// checkToolkit has the CDK toolkit, in the version that the guide names, list the stacks.
func checkToolkit(t *testing.T, folder, name string) {
	t.Helper()
	guide, err := os.ReadFile(filepath.Join(folder, name, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("scripts/cdk.sh")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^version=(\S+)$`).FindSubmatch(text)
	if version == nil || bytes.Count(guide, append([]byte("npx aws-cdk@"), version[1]...)) != 2 {
		t.Errorf("the guide names another version of the toolkit than %q", version)
	}
	list := exec.Command("bash", script, "ls", "--app", name)
	list.Dir = folder
	output, err := list.Output()
	if err != nil || string(output) != "orrery-data\norrery-api\norrery-ops\n" {
		t.Errorf("%v: %s", err, output)
	}
}
