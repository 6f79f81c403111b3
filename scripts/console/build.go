package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// build returns the files of dist, by name. A screen that is loaded when it is opened is a script of its own. A style
// sheet is a file of its own, too; scripts import its name.
func build(folder string) (map[string][]byte, error) {
	files := map[string][]byte{}
	page, err := os.ReadFile(filepath.Join(folder, "src", "page", "index.html"))
	if err != nil {
		return nil, err
	}
	icon, err := os.ReadFile(filepath.Join(folder, "src", "page", "icon.svg"))
	if err != nil {
		return nil, err
	}
	iconName := hashedName("icon.svg", icon)
	files[iconName] = icon
	styles, err := buildStyles(folder, files)
	if err != nil {
		return nil, err
	}
	first, err := buildScripts(folder, styles, files)
	if err != nil {
		return nil, err
	}
	page = bytes.Replace(page, []byte("console/ICON"), []byte("console/"+iconName), 1)
	page = bytes.Replace(page, []byte("console/STYLE"), []byte("console/"+styles["app.css"]), 1)
	page = bytes.Replace(page, []byte("console/SCRIPT"), []byte("console/"+first[0]), 1)
	if len(first) != 2 {
		return nil, fmt.Errorf("the page loads %q, want %s and one file that it shares with the other screens", first, entry)
	}
	files["index.html"] = bytes.Replace(page, []byte("console/SHARED"), []byte("console/"+first[1]), 1)
	files["LICENSES.txt"], err = licenceTexts(folder)
	return files, err
}

// entry is the script that the page loads.
const entry = "page/main.tsx"

// partsOfThePage are the style sheets that app.css imports.
var partsOfThePage = []string{"colours.css", "dashboard.css"}

// buildStyles adds the style sheets of the page and of the screens to files. It returns their names in dist by those of
// the sources.
func buildStyles(folder string, files map[string][]byte) (map[string]string, error) {
	sources, err := filepath.Glob(filepath.Join(folder, "src", "*", "*.css"))
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, source := range sources {
		room, name := filepath.Base(filepath.Dir(source)), filepath.Base(source)
		if slices.Contains(partsOfThePage, name) {
			continue
		}
		content, err := bundle(folder, room+"/"+name, api.FormatDefault)
		if err != nil {
			return nil, err
		}
		names[name] = hashedName(name, content)
		files[names[name]] = content
	}
	return names, nil
}

// buildScripts adds the scripts to files. It returns the names of those that the page loads at once: the entry, and what
// that imports.
func buildScripts(folder string, styles map[string]string, files map[string][]byte) (first []string, err error) {
	options, err := optionsOf(folder, entry, api.FormatESModule)
	if err != nil {
		return nil, err
	}
	options.Outfile = ""
	options.Outdir = "out"
	options.EntryNames = "[name]-[hash]"
	options.ChunkNames = "[name]-[hash]"
	options.Splitting = true
	options.Metafile = true
	options.Plugins = []api.Plugin{namesOfStyles(styles), besideThePage(filepath.Join(options.AbsWorkingDir, "src"))}
	result := api.Build(options)
	if err := problemsOf(result); err != nil {
		return nil, err
	}
	lower := map[string]string{} // esbuild writes hashes in capitals
	var pairs []string
	for _, file := range result.OutputFiles {
		name := filepath.Base(file.Path)
		lower[name] = strings.ToLower(name)
		pairs = append(pairs, name, lower[name])
	}
	rename := strings.NewReplacer(pairs...)
	for _, file := range result.OutputFiles {
		files[lower[filepath.Base(file.Path)]] = []byte(rename.Replace(string(file.Contents)))
	}
	loaded, err := loadedAtOnce(result.Metafile)
	for i, name := range loaded {
		loaded[i] = lower[name]
	}
	return loaded, err
}

// loadedAtOnce returns the names of the outputs that the entry needs before it runs, itself first.
func loadedAtOnce(metafile string) ([]string, error) {
	var meta struct {
		Outputs map[string]struct {
			EntryPoint string
			Imports    []struct{ Path, Kind string }
		}
	}
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		return nil, err
	}
	var queue []string
	for name, output := range meta.Outputs {
		if output.EntryPoint == "src/"+entry {
			queue = append(queue, name)
		}
	}
	var names []string
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		if slices.Contains(names, filepath.Base(name)) {
			continue
		}
		names = append(names, filepath.Base(name))
		for _, i := range meta.Outputs[name].Imports {
			if i.Kind == "import-statement" {
				queue = append(queue, i.Path)
			}
		}
	}
	return names, nil
}

// namesOfStyles lets a script import the name in dist of a style sheet, which it loads when it needs it.
func namesOfStyles(styles map[string]string) api.Plugin {
	return api.Plugin{Name: "styles", Setup: func(b api.PluginBuild) {
		b.OnLoad(api.OnLoadOptions{Filter: `\.css$`}, func(file api.OnLoadArgs) (api.OnLoadResult, error) {
			name, known := styles[filepath.Base(file.Path)]
			if !known {
				return api.OnLoadResult{}, fmt.Errorf("%s is not a style sheet of a screen", file.Path)
			}
			return api.OnLoadResult{Contents: &name, Loader: api.LoaderText}, nil
		})
	}}
}

// besideThePage makes each module that is loaded later import the page, which is there already. Otherwise esbuild would
// divide the page into a script for each set of modules that share a part of it, and compress each by itself. The names
// of its modules are relative to the sources, because the hashes of the scripts depend on them.
func besideThePage(sources string) api.Plugin {
	return api.Plugin{Name: "beside the page", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: `^\.`}, func(of api.OnResolveArgs) (api.OnResolveResult, error) {
			if of.Kind != api.ResolveJSDynamicImport {
				return api.OnResolveResult{}, nil
			}
			path, err := filepath.Rel(sources, filepath.Join(of.ResolveDir, of.Path))
			return api.OnResolveResult{Path: filepath.ToSlash(path), Namespace: "later"}, err
		})
		b.OnLoad(api.OnLoadOptions{Filter: `.`, Namespace: "later"}, func(of api.OnLoadArgs) (api.OnLoadResult, error) {
			module := fmt.Sprintf("import './page/app'; export * from %q", "./"+of.Path)
			return api.OnLoadResult{Contents: &module, ResolveDir: sources, Loader: api.LoaderJS}, nil
		})
	}}
}

// hashedName returns the name of a file with a hash of its content.
func hashedName(name string, content []byte) string {
	sum := sha256.Sum256(content)
	extension := filepath.Ext(name)
	return strings.TrimSuffix(name, extension) + "-" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:5])) + extension
}

// bundle returns a source file and all that it imports as one minified file.
func bundle(folder, source string, format api.Format) ([]byte, error) {
	options, err := optionsOf(folder, source, format)
	if err != nil {
		return nil, err
	}
	result := api.Build(options)
	if err := problemsOf(result); err != nil {
		return nil, err
	}
	return result.OutputFiles[0].Contents, nil
}

// optionsOf returns the options by which every source is built.
func optionsOf(folder, source string, format api.Format) (api.BuildOptions, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return api.BuildOptions{}, err
	}
	alias := map[string]string{}
	for name, file := range libraries {
		alias[name] = filepath.Join(folder, "vendor", filepath.FromSlash(file))
	}
	return api.BuildOptions{
		AbsWorkingDir:     folder,
		EntryPoints:       []string{filepath.Join("src", filepath.FromSlash(source))},
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
		Outfile:           "out" + filepath.Ext(source),
		Target:            api.ES2022,
		TsconfigRaw:       "{}",
	}, nil
}

func problemsOf(result api.BuildResult) error {
	var problems []error
	for _, m := range append(result.Errors, result.Warnings...) {
		place := ""
		if m.Location != nil {
			place = fmt.Sprintf("%s:%d:%d: ", m.Location.File, m.Location.Line, m.Location.Column+1)
		}
		problems = append(problems, errors.New(place+m.Text))
	}
	return errors.Join(problems...)
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
