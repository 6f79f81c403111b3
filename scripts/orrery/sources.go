package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/geoip"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/ingest/source"
)

// optionsOf returns the options with which the logs of a source are imported. The caller closes the databases.
func optionsOf(s source.Source) (ingest.Options, *geoip.Databases, error) {
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

// watchedSources returns the files of the sources of a data folder for a watching server, and a function that closes
// their databases. A source without databases and maximum age of its own has those of the server. It warns of files
// that several sources have.
func watchedSources(
	stderr io.Writer, data folder, databases []string, horizon time.Duration,
) (watched []datadir.Watched, closeAll func() error, err error) {
	sources, err := source.Read(string(data))
	if err != nil {
		return nil, nil, err
	}
	for _, o := range source.Overlaps(sources) {
		more := ""
		if n := len(o.Files) - 1; n > 0 {
			more = " and " + terminal.Counted(n, "other file")
		}
		fmt.Fprintf(stderr, "warning: the sources %s of %s have the same files: %s%s. "+
			"Source %s imports them, because it is the first in alphabetical order\n",
			strings.Join(o.Sources, ", "), source.FileName, terminal.Printable(o.Files[0]), more, o.Sources[0])
	}
	var open []*geoip.Databases
	closeAll = func() error {
		var failed error
		for _, d := range open {
			failed = errors.Join(failed, d.Close())
		}
		return failed
	}
	for _, s := range sources {
		if len(s.GeoIP) == 0 {
			s.GeoIP = databases
		}
		if s.MaxAge == nil {
			s.MaxAge = &horizon
		}
		options, places, err := optionsOf(s)
		if err != nil {
			return nil, nil, errors.Join(err, closeAll())
		}
		open = append(open, places)
		watched = append(watched, datadir.Watched{List: s.List, Options: options})
	}
	return watched, closeAll, nil
}

// useSource sets the files of the command to those of the source with its name, and returns the source.
func (i *importCommand) useSource() (source.Source, error) {
	usage := func(format string, args ...any) error {
		return &exitError{code: exitUsage, message: fmt.Sprintf(format, args...)}
	}
	if len(i.Files) > 0 || i.Format != "auto" || i.Layout != "" || i.Pattern != "" || i.Zone != "" || i.As != "" ||
		len(i.Map)+len(i.GeoIP)+len(i.Set) > 0 {
		return source.Source{}, usage("--source has its files and options in %s; leave out the others", source.FileName)
	}
	sources, err := source.Read(string(i.Data))
	if err != nil {
		return source.Source{}, usage("%v", err)
	}
	at := slices.IndexFunc(sources, func(s source.Source) bool { return s.Name == i.Source })
	if at < 0 {
		var names []string
		for _, s := range sources {
			names = append(names, s.Name)
		}
		return source.Source{}, usage("there is no source %q in %s/%s; it has %q", i.Source, i.Data, source.FileName, names)
	}
	s := sources[at]
	if i.Files, i.unlisted = s.List(); len(i.Files) > 0 {
		return s, nil
	}
	if i.unlisted != nil {
		return s, i.unlisted
	}
	return s, fmt.Errorf("source %s has no files: nothing matches %q", s.Name, slices.Concat(s.Files, s.Folders))
}
