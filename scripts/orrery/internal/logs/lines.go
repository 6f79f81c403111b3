// Package logs has what the commands about logs share: the flags that describe lines, files, the imports of a folder,
// and the reports of imports.
package logs

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/shared/geoip"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/source"
	"github.com/orrery/orrery/shared/logformat"
)

// LinesFlags describe how lines become records. A format that they define excludes --format, the flag of the command.
type LinesFlags struct {
	Layout  string   `name:"log-format" help:"Format string: LogFormat of Apache or log_format of nginx." placeholder:"STRING"`
	Pattern string   `help:"Regular expression whose named groups are fields." placeholder:"REGEXP"`
	Map     []string `sep:"none" help:"For logs in JSON: the member that has the value of a field; may be repeated." placeholder:"FIELD=PATH[/N]"`
	Zone    string   `help:"Time zone for times without one; default: UTC." placeholder:"ZONE"`
	GeoIP   []string `name:"geoip" sep:"none" help:"MaxMind database with the places of clients; may be repeated." placeholder:"FILE"`
	Set     []string `sep:"none" help:"Value for a field that records lack; may be repeated." placeholder:"FIELD=VALUE"`
}

// AbsolutePaths returns the absolute paths of files.
func AbsolutePaths(files []string) ([]string, error) {
	var paths []string
	for _, file := range files {
		path, err := filepath.Abs(file)
		if err != nil {
			return nil, fmt.Errorf("find folder: %w", err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// FormatName returns the name of the format that one of the flags, or --format with that name, defines, or auto.
func (l *LinesFlags) FormatName(name string) (string, error) {
	if name == AutoFormat {
		name = ""
	}
	f, err := DefinedFormat("--format", name, l.Layout, l.Pattern, l.Map)
	if err != nil || f == nil {
		return AutoFormat, err
	}
	return f.Name(), nil
}

// AutoFormat is the default of --format.
const AutoFormat = "auto"

// DefinedFormat returns the format with a name, which the user has given as the flag or argument called of, or the one
// that a format string, a pattern or mappings define. It returns nil if none of them is given.
func DefinedFormat(of, name, layout, pattern string, mappings []string) (logformat.Format, error) {
	var flags []string // that define a format
	for _, flag := range []struct {
		name string
		set  bool
	}{
		{of, name != ""}, {"--log-format", layout != ""}, {"--pattern", pattern != ""}, {"--map", len(mappings) > 0},
	} {
		if flag.set {
			flags = append(flags, flag.name)
		}
	}
	switch {
	case len(flags) > 1:
		return nil, fmt.Errorf("%s define two formats; leave out one of them", strings.Join(flags[:2], " and "))
	case len(flags) == 0:
		return nil, nil
	case layout != "":
		return logformat.ByFormatString(layout)
	case pattern != "":
		return logformat.ByPattern(pattern)
	case len(mappings) > 0:
		return logformat.ByMapping(mappings)
	}
	return logformat.ByName(name)
}

// DefaultsOf parses the values of --set.
func DefaultsOf(set []string) ([]ingest.Default, error) {
	var defaults []ingest.Default
	for _, s := range set {
		field, value, ok := strings.Cut(s, "=")
		if !ok || field == "" {
			message := fmt.Sprintf("--set %s: write FIELD=VALUE, such as --set branch=prod", s)
			return nil, exit.With(exit.Usage, message)
		}
		defaults = append(defaults, ingest.Default{Field: field, Value: value})
	}
	return defaults, nil
}

// OptionsOf returns the options with which the logs of a source are imported. The caller closes the databases.
func OptionsOf(s source.Source) (ingest.Options, *geoip.Databases, error) {
	places, err := geoip.Open(s.GeoIP)
	if err != nil {
		return ingest.Options{}, nil, fmt.Errorf("source %s: %w", s.Name, err)
	}
	options := ingest.Options{
		Format: s.Format, Zone: s.Zone, Defaults: s.Defaults, Complete: places.Complete, GeoIP: s.GeoIP,
	}
	if s.MaxAge != nil {
		options.Horizon = *s.MaxAge
	}
	return options, places, nil
}
