package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const folder = "../../shared/console"

func TestDistIsBuiltFromTheSources(t *testing.T) {
	want, err := build(folder)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]byte{}
	for _, path := range filesIn(t, "dist") {
		got[filepath.Base(path)] = read(t, path)
	}
	if !maps.EqualFunc(want, got, bytes.Equal) {
		t.Errorf("dist has %q, the sources give %q; run: go run ./scripts/console", namesOf(got), namesOf(want))
	}
}

func TestBudget(t *testing.T) {
	var script, style int
	for _, path := range filesIn(t, "dist") {
		content := read(t, path)
		switch filepath.Ext(path) {
		case ".js":
			script += len(content)
			if n := zipped(t, content); n > 60_000 {
				t.Errorf("%s has %d bytes with gzip, more than 60,000", path, n)
			}
		case ".css":
			style += len(content)
		}
	}
	if script == 0 || script > 170_000 {
		t.Errorf("the scripts have %d bytes, more than 170,000 or none", script)
	}
	if style == 0 || style > 20_000 {
		t.Errorf("the styles have %d bytes, more than 20,000 or none", style)
	}
}

func zipped(t *testing.T, content []byte) int {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Len()
}

func TestLibrariesAreUnchanged(t *testing.T) {
	want := string(read(t, filepath.Join(folder, "vendor", "SHA256SUMS")))
	var got strings.Builder
	for _, path := range filesIn(t, "vendor") {
		name, err := filepath.Rel(filepath.Join(folder, "vendor"), path)
		if err != nil {
			t.Fatal(err)
		}
		if name != "SHA256SUMS" {
			fmt.Fprintf(&got, "%x  %s\n", sha256.Sum256(read(t, path)), filepath.ToSlash(name))
		}
	}
	if got.String() != want {
		t.Errorf("the files differ from SHA256SUMS:\n%s", got.String())
	}
}

var (
	importPattern = regexp.MustCompile(`(?m)^(?:import|export)[^;]*? from '([^']+)';`)
	domPattern    = regexp.MustCompile(
		`\b(?:document|window|location|navigator|localStorage|sessionStorage|fetch|history|setTimeout)\b[.(]`)
	colourPattern = regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b|\brgba?\(`)
)

func TestPureModulesImportNoDOM(t *testing.T) {
	for _, path := range sources(t) {
		if filepath.Base(filepath.Dir(path)) != "pure" {
			continue
		}
		text := string(read(t, path))
		for _, m := range importPattern.FindAllStringSubmatch(text, -1) {
			if !regexp.MustCompile(`^\./[a-z]+$`).MatchString(m[1]) {
				t.Errorf("%s imports %s", path, m[1])
			}
		}
		if m := domPattern.FindString(text); m != "" {
			t.Errorf("%s uses %s", path, m)
		}
	}
}

func TestSourcesImportOnlyVendoredLibraries(t *testing.T) {
	found := 0
	for _, path := range sources(t) {
		for _, m := range importPattern.FindAllStringSubmatch(string(read(t, path)), -1) {
			found++
			if !strings.HasPrefix(m[1], ".") && libraries[m[1]] == "" {
				t.Errorf("%s imports %s", path, m[1])
			}
		}
	}
	if found < 50 {
		t.Fatalf("only %d imports: the pattern no longer matches them", found)
	}
}

func TestColoursAreInOneFile(t *testing.T) {
	for _, path := range append(sources(t), filepath.Join(folder, "src", "app.css")) {
		for _, line := range strings.Split(string(read(t, path)), "\n") {
			if m := colourPattern.FindString(line); m != "" {
				t.Errorf("%s has the colour %s: %s", path, m, strings.TrimSpace(line))
			}
		}
	}
}

func TestSourceLines(t *testing.T) {
	for _, path := range sources(t) {
		for i, line := range strings.Split(string(read(t, path)), "\n") {
			if n := len([]rune(strings.ReplaceAll(line, "\t", "    "))); n > 140 {
				t.Errorf("%s:%d has %d columns, more than 140", path, i+1, n)
			}
		}
	}
}

// TestProductHasNoBuildTools checks that programs for users contain neither the bundler nor the driver of browsers.
func TestProductHasNoBuildTools(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "./scripts/orrery", "./functions/...")
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if !slices.Contains(packages, "github.com/orrery/orrery/shared/console") {
		t.Error("the product does not contain the console")
	}
	for _, name := range packages {
		for _, part := range []string{"evanw/esbuild", "chromedp"} {
			if strings.Contains(name, part) {
				t.Errorf("the product contains %s", name)
			}
		}
	}
}

// TestTypes checks the types of the sources with the native compiler of TypeScript.
func TestTypes(t *testing.T) {
	compiler := os.Getenv("ORRERY_TSC")
	if compiler == "" {
		t.Skip("ORRERY_TSC is not set; scripts/tools/tsc.sh installs the compiler and prints its path")
	}
	for _, project := range []string{"tsconfig.json", "tsconfig.pure.json"} {
		t.Run(project, func(t *testing.T) {
			out, err := exec.Command(compiler, "--project", filepath.Join(folder, project)).CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func filesIn(t *testing.T, name string) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(filepath.Join(folder, name), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(paths)
	return paths
}

func sources(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(filesIn(t, "src"), func(path string) bool {
		return !strings.HasSuffix(path, ".ts") && !strings.HasSuffix(path, ".tsx")
	})
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
