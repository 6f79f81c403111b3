package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// licencesFile is the name of the file with the licences of all parts that are not this project's.
const licencesFile = "THIRD-PARTY-LICENSES.txt"

// embedded are the files with the licences of parts that the program embeds and that are no Go modules.
var embedded = []struct{ part, path string }{
	{"the console: Preact, uPlot", "shared/console/dist/LICENSES.txt"},
	{"Swagger UI", "shared/api/page/LICENSE"},
	{"Swagger UI", "shared/api/page/NOTICE"},
	{"parts of Swagger UI", "shared/api/page/swagger-ui-bundle.js.LICENSE.txt"},
}

var licenceName = regexp.MustCompile(`(?i)^(un)?(licen[sc]e|copying|notice|copyright|patents)([.-].*)?$`)

// licences returns the licences of all modules that are linked into programs of a platform, of Go, and of what the programs
// embed. The title names the programs, and packages are their main packages.
func (r *release) licences(ctx context.Context, p platform, title, packages string) ([]byte, error) {
	const format = `{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{"\t"}}{{.Dir}}{{end}}{{end}}`
	listed, err := r.goCommand(ctx, p, "list", "-deps", "-f", format, packages)
	if err != nil {
		return nil, err
	}
	modules := slices.DeleteFunc(strings.Split(string(listed), "\n"), func(line string) bool { return line == "" })
	slices.Sort(modules)
	var b bytes.Buffer
	b.WriteString(title + " the following parts. Each has its own licence.\n")
	root, err := r.goCommand(ctx, p, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	if err := addLicences(&b, "Go "+strings.TrimPrefix(runtime.Version(), "go"), strings.TrimSpace(string(root))); err != nil {
		return nil, err
	}
	for _, line := range slices.Compact(modules) {
		module, folder, _ := strings.Cut(line, "\t")
		if err := addLicences(&b, module, folder); err != nil {
			return nil, err
		}
	}
	for _, e := range embedded {
		text, err := os.ReadFile(filepath.FromSlash(e.path))
		if err != nil {
			return nil, err
		}
		addLicence(&b, e.part, filepath.Base(e.path), text)
	}
	return b.Bytes(), nil
}

// addLicences adds the licences in the folder of a module.
func addLicences(b *bytes.Buffer, module, folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		if e.IsDir() || !licenceName.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return err
		}
		addLicence(b, module, e.Name(), text)
		found = true
	}
	if !found {
		return fmt.Errorf("%s has no licence in %s: do not link it, or extend licenceName", module, folder)
	}
	return nil
}

func addLicence(b *bytes.Buffer, part, name string, text []byte) {
	fmt.Fprintf(b, "\n%s\n%s (%s)\n%[1]s\n\n%[4]s\n", strings.Repeat("=", 80), part, name, bytes.TrimSpace(text))
}
