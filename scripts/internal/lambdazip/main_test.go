package main

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/testkit/testlevel"
)

// top is the root folder of the repository.
const top = "../../.."

func TestPack(t *testing.T) {
	in, out := t.TempDir(), filepath.Join(t.TempDir(), "new")
	program := bytes.Repeat([]byte("program "), 1000)
	write(t, filepath.Join(in, "topx"), program)
	write(t, filepath.Join(in, "logs"), make([]byte, 8001))
	write(t, filepath.Join(in, "report"), make([]byte, 8002))
	var output strings.Builder
	err := pack(in, out, map[string]int{"": 8000, "report": 8002}, &output)
	if err == nil || !strings.Contains(err.Error(), "logs has 8001 bytes") || strings.Contains(err.Error(), "topx") ||
		strings.Contains(err.Error(), "report") {
		t.Errorf("too large: %v", err)
	}
	if !strings.HasPrefix(output.String(), "logs ") ||
		!strings.Contains(output.String(), "\ntopx                   8000 bytes") {
		t.Errorf("output:\n%s", output.String())
	}
	r, err := zip.OpenReader(filepath.Join(out, "topx.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if len(r.File) != 1 || r.File[0].Name != "bootstrap" || r.File[0].Mode() != 0o755 {
		t.Fatalf("%+v", r.File[0])
	}
	f, err := r.File[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, program) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestFunctionsAreSmall checks that functions do not import the local engines, cgo or the CDK. Protobuf, which parquet-go's
// main package needs, doubles the size of a program, because its reflection makes the linker keep every method of every
// type.
func TestFunctionsAreSmall(t *testing.T) {
	foreign := []string{
		"duckdb", "runtime/cgo", "awscdk", "jsii", "alecthomas/kong", "net/rpc", "text/template", "sqlite",
		"google.golang.org/protobuf", "parquettest", "prometheus", "chromedp",
	}
	list := exec.Command(
		"go", "list", "-tags", "lambda.norpc,netgo,osusergo", "-f", `{{.ImportPath}} {{join .Deps " "}}`, "./functions/...")
	list.Dir, list.Env = top, append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOFLAGS=")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	imports := map[string][]string{} // by function, or internal package
	for line := range strings.Lines(string(out)) {
		packages := strings.Fields(line)
		imports[filepath.Base(packages[0])] = packages
	}
	for _, f := range lambdas.All {
		unwanted := foreign
		if strings.HasPrefix(f.Name, "report") || f.Name == lambdas.Older { // package report writes HTML
			isTemplate := func(part string) bool { return part == "text/template" }
			unwanted = slices.DeleteFunc(slices.Clone(foreign), isTemplate)
		}
		packages := imports[f.Name]
		if len(packages) < 100 {
			t.Fatalf("%s has %d packages: the pattern no longer matches its folder", f.Name, len(packages))
		}
		for _, name := range packages {
			for _, part := range unwanted {
				if strings.Contains(name, part) {
					t.Errorf("%s imports %s", f.Name, name)
				}
			}
		}
	}
}

// The maximum sizes of programs. Lambda reads the whole program before its first answer.
const (
	ceiling      = 20_500_000 // for arm64
	ceilingAMD64 = 22_000_000 // that of scripts/build.sh
)

// reportCeiling is the maximum size of the functions that write HTML. The reflection of templates makes the linker keep
// every method of every type.
const reportCeiling = 33_000_000

// TestBuildIsReproducible builds functions and checks the sizes. It builds some of them again, in another folder and with
// other variables in the environment, and compares the bytes. It takes minutes and runs only if ORRERY_TEST_BUILD is set.
// At the long level it builds every function for arm64, else a few for amd64: TestDeployed builds every function for that.
func TestBuildIsReproducible(t *testing.T) {
	if os.Getenv("ORRERY_TEST_BUILD") == "" {
		t.Skip("set ORRERY_TEST_BUILD=1 to build functions, some of them twice, and compare the bytes")
	}
	first, second := t.TempDir(), t.TempDir()
	again := []string{"ingest", "not-found", "planet-put", "topx"}
	arch := testlevel.Of("amd64", "amd64", "arm64")
	build(t, top, nil, append([]string{"--arch", arch, "--out", first}, testlevel.Of(again, again, nil)...)...)
	other := []string{"TZ=Asia/Tokyo", "GOFLAGS=-tags=other", "GOAMD64=v3"}
	build(t, copyOfTree(t), other, append([]string{"--arch", arch, "--out", second}, again...)...)
	zips, err := filepath.Glob(filepath.Join(first, "*", "*.zip"))
	if err != nil || len(zips) == 0 {
		t.Fatalf("%d zips, %v", len(zips), err)
	}
	for _, path := range zips {
		name := strings.TrimPrefix(path, first)
		most := testlevel.Of[uint64](ceilingAMD64, ceilingAMD64, ceiling)
		if slices.Contains([]string{"report.zip", "report-now.zip", "older.zip"}, filepath.Base(path)) {
			most = reportCeiling
		}
		if n := programSize(t, path); n > most {
			t.Errorf("%s contains %d bytes, more than %d", name, n, most)
		}
	}
	for _, name := range again {
		name := filepath.Join(arch, name+".zip")
		if !bytes.Equal(read(t, filepath.Join(first, name)), read(t, filepath.Join(second, name))) {
			t.Errorf("%s differs in the second build", name)
		}
	}
}

// TestBuildAgain builds one function with the script several times.
func TestBuildAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a function")
	}
	out := t.TempDir()
	again := func() string {
		t.Helper()
		output, err := exec.Command("bash", top+"/scripts/build.sh", "--arch", "amd64", "--out", out, "fields").Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		return string(output)
	}
	if got := again(); !strings.Contains(got, "zipped") {
		t.Errorf("the first build printed %q", got)
	}
	path := filepath.Join(out, "amd64", "fields.zip")
	want := read(t, path)
	if got := again(); !strings.Contains(got, "unchanged") {
		t.Errorf("a build of unchanged source printed %q", got)
	}
	write(t, path, want[:1000])
	if got := again(); strings.Contains(got, "unchanged") || !bytes.Equal(read(t, path), want) {
		t.Errorf("a build over a damaged zip printed %q", got)
	}
	if got := again(); !strings.Contains(got, "unchanged") {
		t.Errorf("a build of unchanged source printed %q", got)
	}
}

// programSize returns the size of the program in a zip.
func programSize(t *testing.T, path string) uint64 {
	t.Helper()
	r, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	return r.File[0].UncompressedSize64
}

// copyOfTree returns a folder with the files that a build needs, outside a repository.
func copyOfTree(t *testing.T) string {
	t.Helper()
	to := t.TempDir()
	for _, folder := range []string{"functions", "shared", "scripts"} {
		if err := os.CopyFS(filepath.Join(to, folder), os.DirFS(filepath.Join(top, folder))); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"go.mod", "go.sum"} {
		write(t, filepath.Join(to, file), read(t, filepath.Join(top, file)))
	}
	return to
}

// build builds functions of a tree.
func build(t *testing.T, place string, env []string, arguments ...string) {
	t.Helper()
	script := exec.Command("bash", append([]string{"scripts/build.sh"}, arguments...)...)
	script.Dir, script.Env = place, append(os.Environ(), env...)
	output, err := script.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	t.Logf("%s", output)
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
