package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// pythonFolder has the package for Python.
var pythonFolder = filepath.Join("shared", "client", "python")

// pyproject is what a wheel has of the file pyproject.toml.
type pyproject struct {
	Project struct {
		Name        string
		Description string
		License     string
		Requires    string              `toml:"requires-python"`
		Optional    map[string][]string `toml:"optional-dependencies"`
	}
	Tool struct{ Setuptools struct{ Packages []string } }
}

// writeWheel writes the package for Python as a wheel, see
// https://packaging.python.org/specifications/binary-distribution-format.
func (r *release) writeWheel() error {
	text, err := os.ReadFile(filepath.Join(pythonFolder, "pyproject.toml"))
	if err != nil {
		return err
	}
	var about pyproject
	if err := toml.Unmarshal(text, &about); err != nil {
		return err
	}
	page, err := os.ReadFile(filepath.Join(pythonFolder, "README.md"))
	if err != nil {
		return err
	}
	license, err := os.ReadFile("LICENSE")
	if err != nil {
		return err
	}
	var files []file
	for _, name := range about.Tool.Setuptools.Packages {
		list, err := filesOf(filepath.Join(pythonFolder, name))
		if err != nil {
			return err
		}
		// Running the package in the checkout has compiled it.
		compiled := func(f file) bool { return strings.Contains(f.name, "__pycache__/") }
		files = append(files, below(name, slices.DeleteFunc(list, compiled))...)
	}
	version := pythonVersion(r.version)
	name := strings.ReplaceAll(about.Project.Name, "-", "_") + "-" + version
	info := name + ".dist-info/"
	files = append(files,
		file{info + "licenses/LICENSE", 0o644, license},
		file{info + "METADATA", 0o644, about.metadata(version, string(page))},
		file{info + "WHEEL", 0o644, []byte(wheelText)},
	)
	var record strings.Builder
	for _, f := range files {
		sum := sha256.Sum256(f.content)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.content))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	content, err := zipped(append(files, file{info + "RECORD", 0o644, []byte(record.String())}))
	if err != nil {
		return err
	}
	return r.write(name+"-py3-none-any.whl", content)
}

// wheelText is the file WHEEL of a wheel for every platform.
const wheelText = "Wheel-Version: 1.0\nGenerator: orrery\nRoot-Is-Purelib: true\nTag: py3-none-any\n"

// metadata returns the core metadata of the package.
func (p pyproject) metadata(version, page string) []byte {
	var b strings.Builder
	line := func(name, value string) { fmt.Fprintf(&b, "%s: %s\n", name, value) }
	line("Metadata-Version", "2.4")
	line("Name", p.Project.Name)
	line("Version", version)
	line("Summary", p.Project.Description)
	line("License-Expression", p.Project.License)
	line("License-File", "LICENSE")
	line("Requires-Python", p.Project.Requires)
	for _, extra := range slices.Sorted(maps.Keys(p.Project.Optional)) {
		line("Provides-Extra", extra)
		for _, needed := range p.Project.Optional[extra] {
			line("Requires-Dist", fmt.Sprintf("%s; extra == %q", needed, extra))
		}
	}
	line("Description-Content-Type", "text/markdown")
	b.WriteString("\n" + page)
	return []byte(b.String())
}

// preRelease is the end of the versions of releases to be tried out, which Python writes without separators.
var preRelease = regexp.MustCompile(`^(alpha|beta|rc)\.?([0-9]+)$`)

// pythonVersion returns a version as Python writes it: 1.2.3-rc.1 is 1.2.3rc1, and 1.2.3-unreleased is
// 1.2.3.dev0+unreleased.
func pythonVersion(version string) string {
	number, end, found := strings.Cut(version, "-")
	if !found {
		return version
	}
	if match := preRelease.FindStringSubmatch(end); match != nil {
		return number + map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}[match[1]] + match[2]
	}
	return number + ".dev0+" + strings.ToLower(end)
}
