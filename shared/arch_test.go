package shared_test

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/orrery/orrery/"

// outside is what a core package may not reach for: it takes values and gives values.
var outside = []string{"context", "os", "net", "net/http", "database/sql", "log", "log/slog", "os/exec", "syscall"}

// TestArchitecture holds the imports to the table of README.md.
func TestArchitecture(t *testing.T) {
	rows := readTable(t)
	seen := map[string]bool{}
	for _, row := range rows {
		seen[row.name] = true
		t.Run(row.name, func(t *testing.T) {
			inside, others := importsOf(t, row.name)
			if diff := cmp.Diff(row.imports, inside); diff != "" {
				t.Errorf("imports differ from README.md (-table +code):\n%s", diff)
			}
			if !row.core {
				return
			}
			for _, name := range others {
				engine := func(part string) bool { return strings.Contains(name, part) }
				if slices.Contains(outside, name) || slices.ContainsFunc([]string{"aws", "duckdb", "sqlite"}, engine) {
					t.Errorf("a core package imports %s", name)
				}
			}
		})
	}
	for _, folder := range packageFolders(t) {
		if !seen[folder] {
			t.Errorf("package %s is not in README.md's table", folder)
		}
	}
}

// TestTestkitIsForTests: nothing that runs in production imports a package of testkit, such as the reference evaluation,
// or one that stands in for AWS.
func TestTestkitIsForTests(t *testing.T) {
	isForTests := func(name string) bool {
		return strings.HasPrefix(name, "testkit/") || strings.HasPrefix(name, "fakeaws/") || strings.HasSuffix(name, "test")
	}
	for _, row := range readTable(t) {
		if slices.ContainsFunc(row.imports, isForTests) && !isForTests(row.name) {
			t.Errorf("%s imports %s", row.name, row.imports)
		}
	}
}

// TestFoldersFormNoCircle: the folders below shared, each with its packages for tests, can be read in an order in which
// each folder imports only folders before it.
func TestFoldersFormNoCircle(t *testing.T) {
	imports := map[string][]string{} // by folder
	err := filepath.WalkDir(".", func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.IsDir() || path == "." {
			return err
		}
		top := func(name string) string { folder, _, _ := strings.Cut(filepath.ToSlash(name), "/"); return folder }
		inside, _ := importsOf(t, path)
		for _, name := range inside {
			if top(name) != top(path) {
				imports[top(path)] = append(imports[top(path)], top(name))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(imports) < 20 {
		t.Fatalf("only %d folders import another", len(imports))
	}
	read := map[string]bool{}
	var visit func(folder string, way []string)
	visit = func(folder string, way []string) {
		if at := slices.Index(way, folder); at >= 0 {
			t.Fatalf("a circle: %s", strings.Join(append(way[at:], folder), " → "))
		}
		if read[folder] {
			return
		}
		for _, next := range imports[folder] {
			visit(next, append(slices.Clone(way), folder))
		}
		read[folder] = true
	}
	for folder := range imports {
		visit(folder, nil)
	}
}

type tableRow struct {
	name    string
	core    bool
	imports []string
}

var rowPattern = regexp.MustCompile("(?m)^\\| `([a-z0-9/]+)`( \\(core\\))? \\| [^|]+ \\|([^|]*)\\|$")

func readTable(t *testing.T) []tableRow {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []tableRow
	for _, m := range rowPattern.FindAllStringSubmatch(string(text), -1) {
		row := tableRow{name: m[1], core: m[2] != "", imports: []string{}}
		for _, name := range strings.Fields(m[3]) {
			row.imports = append(row.imports, strings.Trim(name, "`"))
		}
		rows = append(rows, row)
	}
	if len(rows) < 10 {
		t.Fatalf("README.md's table has only %d rows: the pattern no longer fits it", len(rows))
	}
	return rows
}

// importsOf lists what a package's own files import: packages of shared by their short names, and the rest.
func importsOf(t *testing.T, folder string) (inside, others []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	inside = []string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if short, ok := strings.CutPrefix(path, module+"shared/"); ok {
				inside = append(inside, short)
			} else {
				others = append(others, path)
			}
		}
	}
	slices.Sort(inside)
	return slices.Compact(inside), others
}

// packageFolders lists the folders that hold code, but for those that only tests use (enginetest, planettest …).
func packageFolders(t *testing.T) []string {
	t.Helper()
	var folders []string
	err := filepath.WalkDir(".", func(path string, entry os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		folder := filepath.ToSlash(filepath.Dir(path))
		if !strings.HasSuffix(folder, "test") {
			folders = append(folders, folder)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(folders)
	return slices.Compact(folders)
}
