// Package source reads the sources of logs that a data folder imports, as orrery.toml lists them.
package source

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/logformat"
)

// FileName is the name of the file in the data folder.
const FileName = "orrery.toml"

// Source is a source of logs and how they are imported.
type Source struct {
	Name     string
	Files    []string // patterns of paths, as of filepath.Match
	Folders  []string // of logs, which may be in subfolders
	Format   string   // name of a format for logformat.ByName; "auto" to detect it
	Defaults []ingest.Default
	GeoIP    []string      // files of databases
	MaxAge   time.Duration // of a record before its file's last change; 0 for any
}

// table is a source in the file.
type table struct {
	Files     []string          `toml:"files"`
	Folder    string            `toml:"folder"`
	Format    string            `toml:"format"`
	LogFormat string            `toml:"log-format"`
	Pattern   string            `toml:"pattern"`
	Map       map[string]string `toml:"map"`
	Set       map[string]any    `toml:"set"`
	GeoIP     []string          `toml:"geoip"`
	MaxAge    string            `toml:"max-age"`
}

// Read returns the sources in the file orrery.toml of a folder, by name. The file may be absent. An error of kind
// fault.Invalid names the line and the key of a mistake.
func Read(folder string) ([]Source, error) {
	file := filepath.Join(folder, FileName)
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, fmt.Errorf("find folder: %w", err)
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var document struct {
		Source map[string]table `toml:"source"`
	}
	if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&document); err != nil {
		return nil, decodeError(file, err)
	}
	var sources []Source
	for _, name := range slices.Sorted(maps.Keys(document.Source)) {
		s, key, err := document.Source[name].source(folder)
		if err == nil && !sourceName.MatchString(name) {
			err = errors.New("the name of a source has letters, digits, '-' and '_' only")
		}
		if err != nil {
			return nil, mistake(file, lineOf(text, name, key), strings.TrimSuffix("source."+name+"."+key, "."), err.Error())
		}
		s.Name = name
		sources = append(sources, s)
	}
	return sources, nil
}

var sourceName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// decodeError returns the error of a text that is not TOML, or that has unknown keys or values of the wrong type.
func decodeError(file string, err error) error {
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) {
		var failed error
		for _, e := range unknown.Errors {
			line, _ := e.Position()
			failed = errors.Join(failed, mistake(file, line, strings.Join(e.Key(), "."), "there is no such key"))
		}
		return failed
	}
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		line, _ := decode.Position()
		return mistake(file, line, strings.Join(decode.Key(), "."), strings.TrimPrefix(decode.Error(), "toml: "))
	}
	return fault.Wrap(fault.Invalid, err, "%s", file)
}

// mistake returns the error of a mistake in a line of the file.
func mistake(file string, line int, key, message string) error {
	if key != "" {
		message = key + ": " + message
	}
	return fault.New(fault.Invalid, "%s: line %d: %s", file, line, message)
}

// lineOf returns the number of the line with a key of a source, or of the source itself if the key has no line of its
// own.
func lineOf(text []byte, source, key string) int {
	header := regexp.MustCompile(`^\s*\[\s*source\s*\.\s*["']?` + regexp.QuoteMeta(source) + `["']?\s*(?:\.|\])`)
	assigned := regexp.MustCompile(`^\s*(?:\[.*\.)?["']?` + regexp.QuoteMeta(key) + `["']?\s*[=\]]`)
	inside, found := false, 1
	for i, line := range bytes.Split(text, []byte("\n")) {
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("[")) {
			inside = header.Match(line)
			if inside && found == 1 {
				found = i + 1
			}
		}
		if inside && key != "" && assigned.Match(line) {
			return i + 1
		}
	}
	return found
}

// source returns the source of a table. For a mistake, it returns the key.
func (t table) source(folder string) (s Source, key string, err error) {
	for _, file := range t.Files {
		if _, err := filepath.Match(file, ""); err != nil || file == "" {
			return s, "files", fmt.Errorf("%q is not a pattern of paths", file)
		}
		s.Files = append(s.Files, within(folder, file))
	}
	if t.Folder != "" {
		s.Folders = []string{within(folder, t.Folder)}
	}
	if len(s.Files)+len(s.Folders) == 0 {
		return s, "", errors.New("write the patterns of its files, such as files = [\"/var/log/nginx/access.log*\"], " +
			"or its folder")
	}
	if s.Format, key, err = t.format(); err != nil {
		return s, key, err
	}
	for _, field := range slices.Sorted(maps.Keys(t.Set)) {
		s.Defaults = append(s.Defaults, ingest.Default{Field: field, Value: fmt.Sprint(t.Set[field])})
	}
	if err := (ingest.Options{Defaults: s.Defaults}).Check(); err != nil {
		return s, "set", err
	}
	for _, file := range t.GeoIP {
		s.GeoIP = append(s.GeoIP, within(folder, file))
	}
	if s.MaxAge, err = parseAge(t.MaxAge); err != nil {
		return s, "max-age", err
	}
	return s, "", nil
}

// format returns the name of the format, which one key defines.
func (t table) format() (name, key string, err error) {
	var keys []string
	var f logformat.Format
	if t.Format != "" && t.Format != "auto" {
		keys = append(keys, "format")
		f, err = logformat.ByName(t.Format)
	}
	if t.LogFormat != "" && err == nil {
		keys = append(keys, "log-format")
		f, err = logformat.ByFormatString(t.LogFormat)
	}
	if t.Pattern != "" && err == nil {
		keys = append(keys, "pattern")
		f, err = logformat.ByPattern(t.Pattern)
	}
	if len(t.Map) > 0 && err == nil {
		keys = append(keys, "map")
		var mappings []string
		for _, field := range slices.Sorted(maps.Keys(t.Map)) {
			mappings = append(mappings, field+"="+t.Map[field])
		}
		f, err = logformat.ByMapping(mappings)
	}
	switch {
	case len(keys) == 0:
		return "auto", "", nil
	case err != nil:
		return "", keys[len(keys)-1], err
	case len(keys) > 1:
		return "", keys[1], fmt.Errorf("%s and %s define two formats; leave out one of them", keys[0], keys[1])
	}
	return f.Name(), "", nil
}

// within returns a path that is relative to a folder.
func within(folder, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// parseAge parses a whole number of days or hours: 30d, 36h. An empty text is 0.
func parseAge(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	units := map[byte]time.Duration{'d': 24 * time.Hour, 'h': time.Hour}
	unit, ok := units[text[len(text)-1]]
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 16)
	if !ok || err != nil || n == 0 {
		return 0, fmt.Errorf("%q is not a number of days or hours, such as 30d or 36h", text)
	}
	return time.Duration(n) * unit, nil
}

// List returns the paths of the files of the source that exist. It leaves out files that are still being written; see
// Unfinished.
func (s Source) List() ([]string, error) {
	found := map[string]bool{}
	for _, pattern := range s.Files {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !Unfinished(filepath.Base(path)) {
				found[path] = true
			}
		}
	}
	for _, folder := range s.Folders {
		err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case path != folder && e.IsDir() && Unfinished(e.Name()):
				return fs.SkipDir
			}
			if e.Type().IsRegular() && !Unfinished(e.Name()) {
				found[path] = true
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("list source %s: %w", s.Name, err)
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// Unfinished reports whether a name is that of a file that is still being written: it begins with '.' or '_', or ends in
// .part or .tmp.
func Unfinished(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") ||
		strings.HasSuffix(name, ".part") || strings.HasSuffix(name, ".tmp")
}
