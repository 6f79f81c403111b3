package main

import (
	"bytes"
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

	"github.com/evanw/esbuild/pkg/api"
	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/console"
	"github.com/orrery/orrery/shared/gzipped"
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
	embedded := map[string][]byte{}
	err = fs.WalkDir(console.Files, ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			embedded[name], err = fs.ReadFile(console.Files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !maps.EqualFunc(want, embedded, bytes.Equal) {
		t.Errorf("dist.zip has %q, the sources give %q; run: go run ./scripts/console", namesOf(embedded), namesOf(want))
	}
}

// TestDistDoesNotDependOnItsPlace builds a copy of the sources in another folder.
func TestDistDoesNotDependOnItsPlace(t *testing.T) {
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	here, err := build(folder)
	if err != nil {
		t.Fatal(err)
	}
	there, err := build(copied)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.EqualFunc(here, there, bytes.Equal) {
		t.Errorf("the sources give %q, a copy of them %q", namesOf(here), namesOf(there))
	}
}

// TestTypesOfAnswers compares the console's types of answers with the server's.
func TestTypesOfAnswers(t *testing.T) {
	for _, types := range typesFiles {
		if diff := cmp.Diff(string(types.content()), string(read(t, filepath.Join(folder, types.path)))); diff != "" {
			t.Errorf("%s (-code +file); run: go run ./scripts/console\n%s", types.path, diff)
		}
	}
}

// TestBudget checks what the page loads at once, and what each further screen adds to it.
func TestBudget(t *testing.T) {
	first, later := loaded(t)
	script, style, requests := 0, 0, 0
	for _, name := range first {
		content := read(t, filepath.Join(folder, "dist", name))
		if filepath.Ext(name) != ".svg" { // the icon
			requests++
		}
		switch filepath.Ext(name) {
		case ".js":
			script += len(gzipped.Of(content))
		case ".css":
			style += len(gzipped.Of(content))
		}
	}
	if requests > 3 {
		t.Errorf("the page loads %d scripts and styles at once, more than 3", requests)
	}
	if script == 0 || script > 70_000 {
		t.Errorf("the first scripts have %d bytes with gzip, more than 70,000 or none", script)
	}
	if style == 0 || style > 7_000 {
		t.Errorf("the first style has %d bytes with gzip, more than 7,000 or none", style)
	}
	if len(later) == 0 {
		t.Error("no screen is loaded later")
	}
	for _, name := range later {
		limit := map[string]int{".js": 30_000, ".css": 8_000}[filepath.Ext(name)]
		if n := len(read(t, filepath.Join(folder, "dist", name))); n == 0 || n > limit {
			t.Errorf("%s has %d bytes, more than %d or none", name, n, limit)
		}
	}
}

var (
	pagePattern  = regexp.MustCompile(`(?:href|src)="console/([^"]+)"`)
	loadPattern  = regexp.MustCompile(`\bimport\(["']\./([a-z]+-[a-z2-7]{8}\.js)["']\)`)
	sharePattern = regexp.MustCompile(`(?:\bimport|\bfrom) ?["']\./([a-z]+-[a-z2-7]{8}\.js)["']`)
)

// loaded returns the names of the files in dist that the page loads at once, and those of the scripts and styles that
// screens load later.
func loaded(t *testing.T) (first, later []string) {
	t.Helper()
	for _, m := range pagePattern.FindAllStringSubmatch(string(read(t, filepath.Join(folder, "dist", "index.html"))), -1) {
		first = append(first, m[1])
	}
	for _, path := range filesIn(t, "dist") {
		name := filepath.Base(path)
		if extension := filepath.Ext(name); !slices.Contains(first, name) && (extension == ".js" || extension == ".css") {
			later = append(later, name)
		}
	}
	return first, later
}

// TestFurtherScreensShareTheFirst checks that a screen which is loaded later needs, besides the files that the page has
// already, its own script and at most one that it shares with other such screens.
func TestFurtherScreensShareTheFirst(t *testing.T) {
	first, later := loaded(t)
	scripts := func(name string, pattern *regexp.Regexp) (named []string) {
		for _, m := range pattern.FindAllStringSubmatch(string(read(t, filepath.Join(folder, "dist", name))), -1) {
			if !slices.Contains(first, m[1]) && !slices.Contains(named, m[1]) {
				named = append(named, m[1])
			}
		}
		return named
	}
	needed := map[string]bool{}
	for queue := slices.Clone(first); len(queue) > 0; queue = queue[1:] {
		for _, name := range append(scripts(queue[0], loadPattern), scripts(queue[0], sharePattern)...) {
			if !needed[name] {
				needed[name] = true
				queue = append(queue, name)
			}
		}
		if slices.Contains(first, queue[0]) {
			continue
		}
		shared := scripts(queue[0], sharePattern)
		if len(shared) > 1 || len(shared) == 1 && len(scripts(shared[0], sharePattern)) > 0 {
			t.Errorf("%s needs more than one script that the page does not load: %v", queue[0], shared)
		}
	}
	for _, name := range later {
		if filepath.Ext(name) == ".js" && !needed[name] {
			t.Errorf("nothing loads %s", name)
		}
	}
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
	roomPattern   = regexp.MustCompile(`(?:^import |\bfrom |\bimport\()'(\.[^']+)'`)
	domPattern    = regexp.MustCompile(
		`\b(?:document|window|location|navigator|localStorage|sessionStorage|fetch|history|setTimeout)\b[.(]`)
	sourcePattern = regexp.MustCompile(`\.(?:ts|tsx|css)$`)
	colourPattern = regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b|\brgba?\(`)
)

// rooms are the folders of the sources, in rows from the lowest to the highest. A module imports modules of its own room and
// of the rows below. What a screen loads when it draws it is no import, but comes from these rooms, too.
var rooms = [][]string{
	{"pure"},
	{"foundation"},
	{"parts"},
	{"record"},
	{"dashboard", "events", "compare", "try", "planets", "reports", "status"},
	{"page"},
}

func roomOf(path string) string { return filepath.Base(filepath.Dir(path)) }

// rowOf returns the row of a room, or -1.
func rowOf(room string) int {
	return slices.IndexFunc(rooms, func(row []string) bool { return slices.Contains(row, room) })
}

// TestRooms checks which rooms the modules of each room import and load.
func TestRooms(t *testing.T) {
	found := 0
	for _, path := range sources(t) {
		room := roomOf(path)
		if rowOf(room) < 0 {
			t.Errorf("%s is in no room", path)
		}
		for _, m := range roomPattern.FindAllStringSubmatch(string(read(t, path)), -1) {
			imported := roomOf(filepath.Join(filepath.Dir(path), m[1]))
			if found++; imported != room && rowOf(imported) >= rowOf(room) {
				t.Errorf("%s imports %s", path, m[1])
			}
		}
	}
	if found < 200 {
		t.Errorf("only %d imports: the pattern no longer matches them", found)
	}
}

func TestPureModulesImportNoDOM(t *testing.T) {
	for _, path := range sources(t) {
		if roomOf(path) != "pure" {
			continue
		}
		if m := domPattern.FindString(string(read(t, path))); m != "" {
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
	for _, path := range filesIn(t, "src") {
		if name := filepath.Base(path); name == "colours.css" || !sourcePattern.MatchString(name) {
			continue
		}
		for _, line := range strings.Split(string(read(t, path)), "\n") {
			if m := colourPattern.FindString(line); m != "" {
				t.Errorf("%s has the colour %s: %s", path, m, strings.TrimSpace(line))
			}
		}
	}
}

var (
	// A text in JSX follows a tag or an expression in braces. In what is left without the types, ">" is no end of a tag after a space,
	// unless it ends an empty element, and no arrow.
	jsxTextPattern   = regexp.MustCompile("(?:[^\\s=]|/)>\\s*([A-Za-z][^<>{}()=;&|`]*)[<{]|\\}[ ]*([A-Za-z][^<>{}()=;&|`\"'\n]*)[<{]")
	attributePattern = regexp.MustCompile(`\b(?:title|placeholder|alt|label|aria-label)="([^"]*[A-Za-z][^"]*)"`)
)

// TestTextsAreApart checks that what the page says is in files of words. Names of the product stand where they are used.
func TestTextsAreApart(t *testing.T) {
	names := []string{"", "else", "finally", "tags", "orrery explain logs"}
	found := 0
	for _, path := range sources(t) {
		if filepath.Ext(path) != ".tsx" {
			continue
		}
		result := api.Transform(string(read(t, path)), api.TransformOptions{
			Loader: api.LoaderTSX, JSX: api.JSXPreserve, Charset: api.CharsetUTF8, Target: api.ES2022,
		})
		if len(result.Errors) > 0 {
			t.Fatalf("%s: %s", path, result.Errors[0].Text)
		}
		code := string(result.Code)
		for _, m := range append(jsxTextPattern.FindAllStringSubmatch(code, -1), attributePattern.FindAllStringSubmatch(code, -1)...) {
			if text := strings.TrimSpace(strings.Join(m[1:], "")); slices.Contains(names, text) {
				found++
			} else {
				t.Errorf("%s has the text %q", path, text)
			}
		}
	}
	if found < 5 {
		t.Errorf("only %d names: the patterns no longer match texts", found)
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

// TestProductHasNoBuildTools checks that programs for users do not contain the bundler, and that the functions do not
// contain the driver of browsers, which the command needs for its benchmark.
func TestProductHasNoBuildTools(t *testing.T) {
	for _, c := range []struct {
		programs, without string
	}{
		{"./scripts/orrery", "evanw/esbuild"}, {"./functions/...", "evanw/esbuild"}, {"./functions/...", "chromedp"},
	} {
		list := exec.Command("go", "list", "-deps", c.programs)
		list.Dir = "../.."
		out, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		packages := strings.Fields(string(out))
		if !slices.Contains(packages, "github.com/orrery/orrery/shared/console") {
			t.Errorf("%s do not contain the console", c.programs)
		}
		for _, name := range packages {
			if strings.Contains(name, c.without) {
				t.Errorf("%s contain %s", c.programs, name)
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
