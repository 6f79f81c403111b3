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
	"syscall"
	"time"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/logformat"
	"github.com/orrery/orrery/shared/tomlfile"
)

// FileName is the name of the file in the data folder.
const FileName = tomlfile.Name

// Source is a source of logs and how they are imported.
type Source struct {
	Name     string
	Files    []string // patterns of paths, as of filepath.Match
	Folders  []string // of logs, which may be in subfolders
	Format   string   // name of a format for logformat.ByName; "auto" to detect it
	Zone     string   // of times without one; "" for that of the format
	Defaults []ingest.Default
	GeoIP    []string       // files of databases
	MaxAge   *time.Duration // of a record before its file's last change; 0 for any; nil if orrery.toml does not say
}

// table is a source in the file.
type table struct {
	Files     []string          `toml:"files"`
	Folder    string            `toml:"folder"`
	Format    string            `toml:"format"`
	LogFormat string            `toml:"log-format"`
	Pattern   string            `toml:"pattern"`
	Map       map[string]string `toml:"map"`
	Zone      string            `toml:"zone"`
	Set       map[string]any    `toml:"set"`
	GeoIP     []string          `toml:"geoip"`
	MaxAge    string            `toml:"max-age"`
}

// document is the file.
type document struct {
	Keep   *string          `toml:"keep"`
	Source map[string]table `toml:"source"`

	// Package report/destination reads these.
	Mail        any `toml:"mail"`
	Reports     any `toml:"reports"`
	Destination any `toml:"destination"`

	// Package valuelist/listsource reads this.
	List any `toml:"list"`
}

// read reads the file. One that is absent is empty.
func read(file string) (d document, text []byte, err error) {
	text, err = os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil, nil
	}
	if err != nil {
		return d, nil, err
	}
	return d, text, tomlfile.Decode(file, text, &d)
}

// Read returns the sources in the file orrery.toml of a folder, by name. The file may be absent. An error of kind
// fault.Invalid names the line and the key of a mistake.
func Read(folder string) ([]Source, error) {
	file := filepath.Join(folder, FileName)
	document, text, err := read(file)
	if err != nil {
		return nil, err
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return nil, fmt.Errorf("find folder: %w", err)
	}
	var sources []Source
	for _, name := range slices.Sorted(maps.Keys(document.Source)) {
		s, key, err := document.Source[name].source(folder)
		if err == nil && !sourceName.MatchString(name) {
			err = errors.New("the name of a source has letters, digits, '-' and '_' only")
		}
		if err != nil {
			return nil, tomlfile.Mistake(
				file, lineOf(text, name, key), strings.TrimSuffix("source."+name+"."+key, "."), err.Error(),
			)
		}
		s.Name = name
		sources = append(sources, s)
	}
	return sources, nil
}

var sourceName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// lineOf returns the number of the line with a key of a source, or of the source itself if the key has no line of its
// own. The key may be that of a member of a table.
func lineOf(text []byte, source, key string) int {
	if table, member, ok := strings.Cut(key, "."); ok {
		return lineOfMember(text, lineOf(text, source, table), table, member)
	}
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

// lineOfMember returns the number of the line with a member of a table, of which a line is known. It returns that line
// if the member has no line of its own.
func lineOfMember(text []byte, line int, table, member string) int {
	assigned := regexp.MustCompile(
		`^\s*(?:["']?` + regexp.QuoteMeta(table) + `["']?\s*\.\s*)?["']?` + regexp.QuoteMeta(member) + `["']?\s*[.=]`)
	for i, one := range bytes.Split(text, []byte("\n"))[line-1:] {
		if i > 0 && bytes.HasPrefix(bytes.TrimSpace(one), []byte("[")) {
			break
		}
		if assigned.Match(one) {
			return line + i
		}
	}
	return line
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
	s.Zone = t.Zone
	if err := (ingest.Options{Format: s.Format, Zone: s.Zone}).Check(); err != nil {
		return s, "zone", err
	}
	for _, field := range slices.Sorted(maps.Keys(t.Set)) {
		switch value := t.Set[field].(type) {
		case string, bool, int64, float64:
			s.Defaults = append(s.Defaults, ingest.Default{Field: field, Value: fmt.Sprint(value)})
		default:
			return s, "set." + field, errors.New("write one string, number or boolean")
		}
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

// parseAge parses a whole number of days or hours: 30d, 36h. An empty text is nil.
func parseAge(text string) (*time.Duration, error) {
	if text == "" {
		return nil, nil
	}
	units := map[byte]time.Duration{'d': 24 * time.Hour, 'h': time.Hour}
	unit, ok := units[text[len(text)-1]]
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 16)
	if !ok || err != nil {
		return nil, fmt.Errorf("%q is not a number of days or hours, such as 30d or 36h", text)
	}
	return new(time.Duration(n) * unit), nil
}

// List returns the paths of the files of the source that exist. It leaves out files that are still being written; see
// Unfinished. If some folders cannot be read, it returns the files in the others, and an error that is, or joins, an
// *UnreadableError for each.
func (s Source) List() (paths []string, err error) {
	found := map[string]bool{}
	for _, pattern := range s.Files {
		matches, failed := glob(pattern)
		err = errors.Join(err, failed)
		for _, path := range matches {
			info, failed := os.Stat(path)
			switch {
			case errors.Is(failed, fs.ErrNotExist):
			case failed != nil:
				err = errors.Join(err, &UnreadableError{path, failed})
			case info.Mode().IsRegular() && !Unfinished(filepath.Base(path)):
				found[path] = true
			}
		}
	}
	for _, folder := range s.Folders {
		err = errors.Join(err, Walk(folder, func(path string, _ fs.DirEntry) error {
			found[path] = true
			return nil
		}))
	}
	return slices.Sorted(maps.Keys(found)), err
}

// Overlap is files that several sources have. The first of the sources imports them.
type Overlap struct {
	Sources []string // names, in alphabetical order
	Files   []string
}

// Overlaps returns the existing files that several of the sources, as Read returns them, have. What cannot be listed is
// left out.
func Overlaps(sources []Source) []Overlap {
	having := map[string][]string{} // names of sources by path
	for _, s := range sources {
		paths, _ := s.List() // who imports the files reports what cannot be listed
		for _, path := range paths {
			having[path] = append(having[path], s.Name)
		}
	}
	var found []Overlap
	for _, path := range slices.Sorted(maps.Keys(having)) {
		names := having[path]
		if len(names) == 1 {
			continue
		}
		at := slices.IndexFunc(found, func(o Overlap) bool { return slices.Equal(o.Sources, names) })
		if at < 0 {
			at = len(found)
			found = append(found, Overlap{Sources: names})
		}
		found[at].Files = append(found[at].Files, path)
	}
	return found
}

// glob returns the paths that match a pattern of absolute paths, as filepath.Glob does. filepath.Glob ignores what it
// cannot read; the error of glob joins an *UnreadableError for each.
func glob(pattern string) (paths []string, err error) {
	folder, name := filepath.Split(pattern)
	if !strings.ContainsAny(pattern, patternSigns) {
		found, err := exists(pattern)
		if !found {
			return nil, err
		}
		return []string{pattern}, nil
	}
	folders := []string{filepath.Clean(folder)}
	if strings.ContainsAny(folder, patternSigns) {
		folders, err = glob(strings.TrimRight(folder, string(filepath.Separator)))
	}
	for _, in := range folders {
		matches, failed := matchesIn(in, name)
		err = errors.Join(err, failed)
		for _, match := range matches {
			paths = append(paths, filepath.Join(in, match))
		}
	}
	return paths, err
}

// patternSigns are the characters of patterns, and the one that makes them ordinary ones.
const patternSigns = `*?[\`

// matchesIn returns the names in a folder that match a pattern. There are none if it is no folder.
func matchesIn(folder, pattern string) (names []string, err error) {
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, &UnreadableError{folder, err}
	case !info.IsDir():
		return nil, nil
	}
	if !strings.ContainsAny(pattern, patternSigns) {
		found, err := exists(filepath.Join(folder, pattern))
		if !found {
			return nil, err
		}
		return []string{pattern}, nil
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, &UnreadableError{folder, err}
	}
	for _, e := range entries {
		if matched, err := filepath.Match(pattern, e.Name()); err != nil {
			return nil, err
		} else if matched {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// exists reports whether a path exists. The error is an *UnreadableError if that is not known.
func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return false, nil
	case err != nil:
		return false, &UnreadableError{path, err}
	}
	return true, nil
}

// UnreadableError is the error of a folder or a file of which nothing can be imported because it cannot be read.
type UnreadableError struct {
	Path string
	Err  error
}

func (e *UnreadableError) Error() string { return fmt.Sprintf("cannot read %s: %v", e.Path, e.Err) }
func (e *UnreadableError) Unwrap() error { return e.Err }

// Unreadable returns every *UnreadableError that an error is or joins, and an error with the others, or nil.
func Unreadable(err error) (unreadable []*UnreadableError, other error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // it takes joined errors apart
		for _, e := range joined.Unwrap() {
			more, rest := Unreadable(e)
			unreadable, other = append(unreadable, more...), errors.Join(other, rest)
		}
		return unreadable, other
	}
	var one *UnreadableError
	if errors.As(err, &one) {
		return []*UnreadableError{one}, nil
	}
	return nil, err
}

// Walk calls visit with the path of each file in a folder and its subfolders that is not still being written. The
// folder may be a symbolic link. An error of visit ends the walk. A folder that cannot be read does not: the error
// joins an *UnreadableError for each. One of them is for the folder itself if it does not exist.
func Walk(folder string, visit func(path string, e fs.DirEntry) error) error {
	root := folder + string(filepath.Separator) // follows a link
	var unreadable error
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && path != root: // removed since it was listed
			return nil
		case err != nil:
			unreadable = errors.Join(unreadable, &UnreadableError{filepath.Clean(path), err})
			if e != nil && e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case path != root && e.IsDir() && Unfinished(e.Name()):
			return fs.SkipDir
		case !e.Type().IsRegular() || Unfinished(e.Name()):
			return nil
		}
		return visit(path, e)
	})
	return errors.Join(unreadable, err)
}

// Unfinished reports whether a name is that of a file that is still being written: it begins with '.' or '_', or ends
// in .part or .tmp.
func Unfinished(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") ||
		strings.HasSuffix(name, ".part") || strings.HasSuffix(name, ".tmp")
}
