package main

import (
	"archive/zip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/ingest/source"
	"github.com/orrery/orrery/shared/report/destination"
	"github.com/orrery/orrery/shared/valuelist/listsource"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		rule, args, want string // want is a part of the error
	}{
		{"a version", "1.2.3", ""},
		{"a version before a release", "1.2.3-rc.1 --platform linux/amd64", ""},
		{"no version", "", "the first argument must be the version"},
		{"a version with a v", "v1.2.3", "without a v"},
		{"a flag before the version", "--out x 1.2.3", "the first argument must be the version"},
		{"an unknown platform", "1.2.3 --platform linux/386", "one of darwin/amd64 darwin/arm64 linux/amd64"},
		{"a platform twice", "1.2.3 --platform linux/amd64 --platform linux/amd64", "each once"},
		{"an unknown flag", "1.2.3 --platforms linux/amd64", "the flags are --platform OS/ARCH and --out DIR"},
		{"a further argument", "1.2.3 1.2.4", "1.2.4 is not a flag"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r, err := parse(strings.Fields(c.args), io.Discard)
			if c.want == "" {
				if err != nil || len(r.platforms) == 0 || !strings.HasSuffix(r.out, r.version) {
					t.Errorf("%+v, %v", r, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestReleaseIntoAFolderWithFiles(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "old"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), []string{"1.2.3", "--out", folder}, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "has files already") {
		t.Error(err)
	}
}

// TestPlatforms builds the command for all platforms as a release does, and vets its packages there. A program that is
// too large is an error. The test compiles everything six times and runs only if ORRERY_TEST_BUILD is set.
func TestPlatforms(t *testing.T) {
	if os.Getenv("ORRERY_TEST_BUILD") == "" {
		t.Skip("set ORRERY_TEST_BUILD=1 to build and vet the command for all platforms")
	}
	t.Chdir("../../..")
	r := &release{version: "1.2.3", work: t.TempDir(), log: io.Discard}
	for _, p := range platforms {
		t.Run(p.String(), func(t *testing.T) {
			if _, err := r.build(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			vet(t, r, p)
		})
	}
}

// vet vets the packages of the command, without their tests, which need DuckDB.
func vet(t *testing.T, r *release, p platform) {
	t.Helper()
	packages := "{{if and .Module .Module.Main}}{{.ImportPath}}{{range .TestGoFiles}} {{$.Dir}}/{{.}}{{end}}" +
		"{{range .XTestGoFiles}} {{$.Dir}}/{{.}}{{end}}{{end}}"
	list, err := r.goCommand(t.Context(), p, "list", "-deps", "-f", packages, commandPackage)
	if err != nil {
		t.Fatal(err)
	}
	var own []string
	without := map[string]string{}
	for line := range strings.Lines(string(list)) {
		names := strings.Fields(line)
		own = append(own, names[0])
		for _, name := range names[1:] {
			without[name] = ""
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": without})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(r.work, "overlay.json")
	if err := os.WriteFile(path, overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := r.goCommand(t.Context(), p, slices.Concat([]string{"vet", "-overlay", path}, options, own)...); err != nil {
		t.Error(err)
	}
}

// TestExamplesOfSettings: the settings that packages install, with the comments taken from their examples, are right.
func TestExamplesOfSettings(t *testing.T) {
	text, err := linux.ReadFile("linux/orrery.toml")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	settings := regexp.MustCompile(`(?m)^#(\S)`).ReplaceAll(text, []byte("$1"))
	if err := os.WriteFile(filepath.Join(folder, source.FileName), settings, 0o644); err != nil {
		t.Fatal(err)
	}
	if sources, err := source.Read(folder); err != nil || len(sources) != 1 || sources[0].Name != "shop" {
		t.Errorf("%+v, %v", sources, err)
	}
	if keep, err := source.Keep(folder); err != nil || keep == nil {
		t.Errorf("%v, %v", keep, err)
	}
	if lists, err := listsource.Read(folder); err != nil || len(lists) != 1 || lists[0].Name != "tor" {
		t.Errorf("%+v, %v", lists, err)
	}
	if s, err := destination.Read(folder, func(string) (string, bool) { return "", false }); err != nil || s.Mail == nil {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestWheel writes the package for Python, and uses it if there is Python with pip.
func TestWheel(t *testing.T) {
	t.Chdir("../../..")
	r := &release{version: "1.2.3-rc.1", out: t.TempDir(), log: io.Discard}
	if err := r.writeWheel(); err != nil {
		t.Fatal(err)
	}
	wheel := filepath.Join(r.out, "orrery_client-1.2.3rc1-py3-none-any.whl")
	opened, err := zip.OpenReader(wheel)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = opened.Close() }()
	var names []string
	for _, f := range opened.File {
		names = append(names, f.Name)
	}
	const info = "orrery_client-1.2.3rc1.dist-info/"
	want := []string{
		"orrery/__init__.py", "orrery/answers.py", "orrery/client.py", "orrery/py.typed", info + "licenses/LICENSE",
		info + "METADATA", info + "WHEEL", info + "RECORD",
	}
	if !slices.Equal(names, want) {
		t.Errorf("the wheel has %q, want %q", names, want)
	}
	python, err := exec.LookPath("python3")
	if err == nil {
		try := "import pip, sys; sys.exit(sys.version_info < (3, 11))"
		err = exec.CommandContext(t.Context(), python, "-c", try).Run()
	}
	if err != nil {
		t.Skip("Python 3.11 or later with pip is missing")
	}
	installed := filepath.Join(r.out, "installed")
	run := func(args ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), python, args...)
		command.Env = append(os.Environ(), "PYTHONPATH="+installed, "PIP_DISABLE_PIP_VERSION_CHECK=1")
		output, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		return string(output)
	}
	run("-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", installed, wheel)
	got := run("-c", `import importlib.metadata, orrery
about = importlib.metadata.metadata("orrery-client")
print(about["Version"], about["License-Expression"], about.get_all("Requires-Dist"))
print(orrery.Client("http://h/live/").base_url)`)
	if want := "1.2.3rc1 Apache-2.0 ['pandas>=2; extra == \"pandas\"']\nhttp://h/live/\n"; got != want {
		t.Errorf("installed: %s", got)
	}
}

func TestPythonVersion(t *testing.T) {
	for version, want := range map[string]string{
		"1.2.3": "1.2.3", "1.2.3-beta.2": "1.2.3b2", "1.2.3-rc1": "1.2.3rc1",
		"0.0.0-Unreleased.x": "0.0.0.dev0+unreleased.x",
	} {
		if got := pythonVersion(version); got != want {
			t.Errorf("%s is %s in Python, want %s", version, got, want)
		}
	}
}
