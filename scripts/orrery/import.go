package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/keep"
	"github.com/orrery/orrery/scripts/orrery/internal/logs"
	"github.com/orrery/orrery/scripts/orrery/internal/memory"
	"github.com/orrery/orrery/scripts/orrery/internal/target"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/geoip"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/ingest/source"
	"github.com/orrery/orrery/shared/logformat"
)

type importCommand struct {
	Data   target.Folder `default:".orrery" env:"ORRERY_DATA" help:"Folder to import into." placeholder:"DIR"`
	Format string        `default:"auto" help:"Format; 'orrery formats' lists them; auto: the first lines decide." placeholder:"NAME"`
	logs.LinesFlags

	Source string `help:"Import the files of this source in the folder's orrery.toml, with its options." placeholder:"NAME"`

	Last  bool     `name:"take-last" help:"The files are complete: also import a last line without a newline."`
	Sure  bool     `name:"anyway" help:"Import logs that look like a mistake: most lines are no records, or are in the data already."`
	As    string   `help:"Path of the log, if it differs from the path of the file." placeholder:"FILE"`
	Files []string `arg:"" optional:"" name:"file" help:"Logs, plain or compressed, or archives of logs; - is standard input."`

	unlisted error // what could not be read when the files of the source were listed
}

// Run imports the logs one by one. A log that cannot be read does not prevent the import of the others.
func (i *importCommand) Run(ctx context.Context, c terminal.Console) (err error) {
	options, places, err := i.options()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, places.Close()) }()
	defer memory.ForImport()()
	product, err := local.Open(ctx, string(i.Data))
	if err != nil {
		return err
	}
	if _, err := keep.Apply(product.Store, nil, i.Data); err != nil {
		return errors.Join(err, product.Close())
	}
	failed := i.unlisted
	var rejected int64
	for _, file := range i.Files {
		reports, err := i.one(ctx, c, product.Store, file, options)
		for _, report := range reports {
			rejected += report.RejectedLines()
			err = errors.Join(err, logs.PrintReport(c.Out, report), logs.PrintAbsent(c.Err, report),
				logs.PrintLeft(c.Err, report),
				i.printColumns(c.Err, report))
			if err == nil && report.Known > 0 {
				err = i.printThere(ctx, c.Err, product.Store, report, options)
			}
		}
		if failed = errors.Join(failed, err); ctx.Err() != nil {
			break
		}
	}
	if failed = errors.Join(failed, product.Close()); failed != nil {
		if ingest.OnlyDoubts(failed) {
			return exit.With(exit.Doubt, failed.Error())
		}
		return failed
	}
	if rejected > 0 {
		return &exit.Error{Code: exit.Rejected}
	}
	return nil
}

// options returns the options of all logs. With --source it also sets their files. The caller closes the databases.
func (i *importCommand) options() (ingest.Options, *geoip.Databases, error) {
	if i.Source != "" {
		s, err := i.useSource()
		if err != nil {
			return ingest.Options{}, nil, err
		}
		return logs.OptionsOf(s)
	}
	defaults, err := logs.DefaultsOf(i.Set)
	if err != nil {
		return ingest.Options{}, nil, err
	}
	switch {
	case len(i.Files) == 0:
		err = errors.New("name the logs to import, or a source with --source")
	case i.As != "" && len(i.Files) > 1:
		err = errors.New("--as is the path of one log; import the files one by one")
	default:
		i.Format, err = i.FormatName(i.Format)
	}
	if err != nil {
		return ingest.Options{}, nil, exit.With(exit.Usage, err.Error())
	}
	places, err := geoip.Open(i.GeoIP)
	if err != nil {
		return ingest.Options{}, nil, err
	}
	options := ingest.Options{Format: i.Format, Zone: i.Zone, Defaults: defaults, Complete: places.Complete}
	if options.GeoIP, err = logs.AbsolutePaths(i.GeoIP); err != nil {
		return ingest.Options{}, nil, errors.Join(err, places.Close())
	}
	return options, places, nil
}

// one imports one log, or the logs in one archive.
func (i *importCommand) one(
	ctx context.Context, c terminal.Console, store *datadir.Store, file string, options ingest.Options,
) (reports []ingest.Report, err error) {
	name, in, size, err := logs.Open(file, c.In)
	if err != nil {
		return nil, err
	}
	bar := terminal.NewProgress(c.Err, size, name, true)
	path := i.As
	if path == "" && size >= 0 {
		path = file
	}
	unrecognized := map[string]*logformat.UnrecognizedError{}
	options.Path, options.Growing = path, size >= 0 && !i.Last
	options.Cautious = !i.Sure
	if options.Arrival = time.Now(); options.Horizon > 0 && size >= 0 {
		if info, err := os.Stat(file); err == nil {
			options.Arrival = info.ModTime()
		}
	}
	options.Progress = func(p ingest.Progress) { terminal.Show(bar, p.Bytes) }
	err = store.ImportAll(ctx, name, in, options, func(log string, r ingest.Report, err error) {
		var unknown *logformat.UnrecognizedError
		if errors.As(err, &unknown) {
			unrecognized[log] = unknown
		}
		if err == nil {
			reports = append(reports, r)
		}
	})
	if closing := errors.Join(bar.Finish(), in.Close()); closing != nil {
		return reports, errors.Join(err, closing)
	}
	for _, log := range slices.Sorted(maps.Keys(unrecognized)) {
		logs.PrintUnrecognized(c.Err, log, unrecognized[log])
		member, _ := strings.CutPrefix(log, name+"/")
		if log == name {
			member = ""
		}
		i.printSuggestion(c.Err, file, member, unrecognized[log])
	}
	return reports, err
}

// printSuggestion prints the members of a log in JSON, and the command that imports it with mappings that fit. member
// is the path of the log in an archive, or "".
func (i *importCommand) printSuggestion(w io.Writer, file, member string, e *logformat.UnrecognizedError) {
	if len(e.Members) == 0 {
		return
	}
	fmt.Fprintf(w, "its members are %s\n", terminal.Printable(e.ShownMembers()))
	var how, what string
	switch {
	case e.Wrapped != nil && len(e.Wrapped.Map) > 0:
		how, what = "these mappings fit what is inside", logformat.MapFlags(e.Wrapped.Map)
	case len(e.Map) == 0:
		fmt.Fprintln(
			w, "these are not the members of requests; if the log is about requests, write a --map for each field",
		)
		return
	case i.Source != "":
		how, what = "this line of the source fits", logs.TOMLOf(e.Map)
	case member != "":
		how = "unpack the archive; then this command imports the log"
		what = i.withMappings(filepath.Join(filepath.Dir(file), filepath.FromSlash(member)), e.Map)
	case file == "-":
		how, what = "this command imports it, with the log as its standard input", i.withMappings(file, e.Map)
	default:
		how, what = "this command imports it", i.withMappings(file, e.Map)
	}
	fmt.Fprintf(w, "%s:\n  %s\n", how, terminal.Printable(what))
}

// withMappings returns the command that imports a file with mappings, and otherwise as this one.
func (i *importCommand) withMappings(file string, mappings []string) string {
	words := []string{"orrery", "import"}
	add := func(flag, value string) {
		if value != "" {
			words = append(words, flag, logformat.ShellWord(value))
		}
	}
	if i.Data != target.DefaultFolder {
		add("--data", string(i.Data))
	}
	words = append(words, logformat.MapFlags(mappings))
	for _, value := range i.Set {
		add("--set", value)
	}
	for _, value := range i.GeoIP {
		add("--geoip", value)
	}
	add("--zone", i.Zone)
	add("--as", i.As)
	for _, flag := range []struct {
		name string
		set  bool
	}{{"--take-last", i.Last}, {"--anyway", i.Sure}} {
		if flag.set {
			words = append(words, flag.name)
		}
	}
	if file != "-" && strings.HasPrefix(file, "-") {
		file = "./" + file // is no flag
	}
	return strings.Join(append(words, logformat.ShellWord(file)), " ")
}

// printColumns reports columns that the format of a log has no fields for, and how to import them.
func (i *importCommand) printColumns(w io.Writer, r ingest.Report) error {
	if r.Columns == "" {
		return nil
	}
	with, form := "import the log with", "--log-format '%s'"
	if i.Source != "" {
		with, form = "import it with this line in a source of its own", "log-format = '%s'"
	}
	_, err := fmt.Fprintf(w, "%s: the lines have columns after the format combined, which are only in log_rest. "+
		"To have them as fields, run orrery forget %s%s, and %s\n  "+form+"\n"+
		"with the variables of your server in their places, if it writes others\n",
		terminal.Printable(r.Name), terminal.Printable(i.dataFlag()), r.Source, with, r.Columns)
	return err
}

// printThere reports lines that an earlier import has taken with other settings, and how to import them anew.
func (i *importCommand) printThere(
	ctx context.Context, w io.Writer, store *datadir.Store, report ingest.Report, options ingest.Options,
) error {
	var set []string
	for _, d := range options.Defaults {
		set = append(set, d.Field+"="+d.Value)
	}
	sources, err := store.Imports(ctx)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(sources, func(s ledger.Source) bool { return s.ID == report.Source })
	if at < 0 {
		return nil
	}
	earlier, lines := sources[at], "these lines are"
	if report.Bytes > 0 { // the last import is this one
		if earlier.Before == nil {
			return nil
		}
		earlier.Settings, earlier.GeoIP, earlier.Known = earlier.Before.Settings, earlier.Before.GeoIP, earlier.Before.Known
		lines = "the lines before the new ones are"
	}
	without := len(set)+len(options.GeoIP) == 0
	sameFormat := isFormat(options, earlier.Format)
	sameValues := earlier.Known && sameSettings(set, earlier.Settings) && slices.Equal(options.GeoIP, earlier.GeoIP) ||
		!earlier.Known && without
	if sameFormat && sameValues {
		return nil
	}
	_, err = fmt.Fprintf(w, "%s: %s there already, imported as format %s with %s, which stays as it is. "+
		"To import them anew, run orrery forget %s%s, and then this command again\n",
		terminal.Printable(report.Name), lines, logformat.Words(earlier.Format),
		terminal.Printable(settingsText(earlier)),
		terminal.Printable(i.dataFlag()), earlier.ID)
	return err
}

// isFormat reports whether an import with these options reads lines as the format with that name does.
func isFormat(options ingest.Options, name string) bool {
	format := options.Format
	if format == "" || format == logs.AutoFormat {
		format = name
	}
	if options.Zone == "" {
		return format == name
	}
	f, err := logformat.ByName(format)
	if err == nil {
		f, err = logformat.InZone(f, options.Zone)
	}
	return err == nil && f.Name() == name
}

// settingsText returns the flags with which a log was imported.
func settingsText(s ledger.Source) string {
	if !s.Known {
		return "settings that are not known"
	}
	var flags []string
	for _, setting := range s.Settings {
		flags = append(flags, "--set "+setting)
	}
	for _, file := range s.GeoIP {
		flags = append(flags, "--geoip "+file)
	}
	switch {
	case len(flags) == 0:
		return "no --set and no --geoip"
	case len(s.Settings) == 0:
		flags = append([]string{"no --set and"}, flags...)
	}
	return strings.Join(flags, " ")
}

// dataFlag returns the flag --data for a printed command, if it is needed.
func (i *importCommand) dataFlag() string {
	if i.Data == target.DefaultFolder {
		return ""
	}
	return "--data " + logformat.ShellWord(string(i.Data)) + " "
}

// sameSettings reports whether the settings are the same. Of two values for a field, the first one counts.
func sameSettings(a, b []string) bool {
	first := func(list []string) map[string]string {
		values := map[string]string{}
		for _, setting := range list {
			field, value, _ := strings.Cut(setting, "=")
			if _, has := values[field]; !has {
				values[field] = value
			}
		}
		return values
	}
	one, other := first(a), first(b)
	for field, value := range one {
		if got, has := other[field]; !has || got != value {
			return false
		}
	}
	return len(one) == len(other)
}

// useSource sets the files of the command to the files of the source that it names, and returns the source.
func (i *importCommand) useSource() (source.Source, error) {
	usage := func(format string, args ...any) error {
		return exit.With(exit.Usage, fmt.Sprintf(format, args...))
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
		return source.Source{}, usage(
			"there is no source %q in %s/%s; it has %q", i.Source, i.Data, source.FileName, names,
		)
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
