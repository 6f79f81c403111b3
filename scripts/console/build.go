package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// libraries are the vendored packages by the names that the sources import.
var libraries = map[string]string{
	"preact":             "preact/dist/preact.module.js",
	"preact/hooks":       "preact/hooks/dist/hooks.module.js",
	"preact/jsx-runtime": "preact/jsx-runtime/dist/jsxRuntime.module.js",
	"uplot":              "uplot/uPlot.esm.js",
}

// licences are the licences of what the bundle contains.
var licences = []struct{ name, file string }{
	{"Preact", "preact/LICENSE"},
	{"uPlot", "uplot/LICENSE"},
}

// build returns the files of dist, by name.
func build(folder string) (map[string][]byte, error) {
	files := map[string][]byte{}
	page, err := os.ReadFile(filepath.Join(folder, "src", "index.html"))
	if err != nil {
		return nil, err
	}
	icon, err := os.ReadFile(filepath.Join(folder, "src", "icon.svg"))
	if err != nil {
		return nil, err
	}
	for _, part := range []struct {
		place, entry, extension string
		content                 []byte
	}{
		{"SCRIPT", "main.tsx", ".js", nil},
		{"STYLE", "app.css", ".css", nil},
		{"ICON", "icon.svg", ".svg", icon},
	} {
		content := part.content
		if content == nil {
			if content, err = bundle(folder, part.entry, api.FormatESModule); err != nil {
				return nil, err
			}
		}
		name := strings.TrimSuffix(part.entry, filepath.Ext(part.entry)) + "-" + hashOf(content) + part.extension
		files[name] = content
		page = bytes.Replace(page, []byte("console/"+part.place), []byte("console/"+name), 1)
	}
	files["index.html"] = page
	files["LICENSES.txt"], err = licenceTexts(folder)
	return files, err
}

// hashOf returns the hash that a file has in its name.
func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:5]))
}

// bundle returns a source file and all that it imports as one minified file.
func bundle(folder, entry string, format api.Format) ([]byte, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	alias := map[string]string{}
	for name, file := range libraries {
		alias[name] = filepath.Join(folder, "vendor", filepath.FromSlash(file))
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir:     folder,
		EntryPoints:       []string{filepath.Join("src", filepath.FromSlash(entry))},
		Alias:             alias,
		Bundle:            true,
		Charset:           api.CharsetUTF8,
		Format:            format,
		GlobalName:        "bundle", // of a script that is not a module
		JSX:               api.JSXAutomatic,
		JSXImportSource:   "preact",
		LegalComments:     api.LegalCommentsNone, // they are in LICENSES.txt
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		MinifyWhitespace:  true,
		Outfile:           "out" + filepath.Ext(entry),
		Target:            api.ES2022,
		TsconfigRaw:       "{}",
	})
	var problems []error
	for _, m := range append(result.Errors, result.Warnings...) {
		place := ""
		if m.Location != nil {
			place = fmt.Sprintf("%s:%d:%d: ", m.Location.File, m.Location.Line, m.Location.Column+1)
		}
		problems = append(problems, errors.New(place+m.Text))
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return result.OutputFiles[0].Contents, nil
}

func licenceTexts(folder string) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("The console contains these libraries.\n")
	for _, l := range licences {
		text, err := os.ReadFile(filepath.Join(folder, "vendor", filepath.FromSlash(l.file)))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "\n%s\n%s\n\n%s\n", l.name, strings.Repeat("=", len(l.name)), bytes.TrimSpace(text))
	}
	return out.Bytes(), nil
}
