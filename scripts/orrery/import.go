package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/geoip"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/logformat"
)

type importCommand struct {
	Data   folder `default:".orrery" env:"ORRERY_DATA" help:"Folder to import into." placeholder:"DIR"`
	Format string `default:"auto" help:"Format; 'orrery formats' lists them; auto: the first lines decide." placeholder:"NAME"`
	linesFlags

	Source string `help:"Source of orrery.toml in the folder: its files and options." placeholder:"NAME"`

	Last  bool     `name:"take-last" help:"The files are complete: also import a last line without a newline."`
	Sure  bool     `name:"anyway" help:"Import logs that look like a mistake: most lines are no records, or are in the data already."`
	As    string   `help:"Path of the log, if it is not that of the file." placeholder:"FILE"`
	Files []string `arg:"" optional:"" name:"file" help:"Logs, plain or compressed, or archives of logs; - is standard input."`

	unlisted error // what could not be read when the files of the source were listed
}

// linesFlags describe how lines become records. A format that they define excludes --format, the flag of the command.
type linesFlags struct {
	Layout  string   `name:"log-format" help:"Format string: LogFormat of Apache or log_format of nginx." placeholder:"STRING"`
	Pattern string   `help:"Regular expression whose named groups are fields." placeholder:"REGEXP"`
	Map     []string `sep:"none" help:"For logs in JSON: the member that is a field; may be repeated." placeholder:"FIELD=PATH[/N]"`
	Zone    string   `help:"Time zone of times without one; default: UTC." placeholder:"ZONE"`
	GeoIP   []string `name:"geoip" sep:"none" help:"MaxMind database with the places of clients; may be repeated." placeholder:"FILE"`
	Set     []string `sep:"none" help:"Value for a field that records lack; may be repeated." placeholder:"FIELD=VALUE"`
}

// Run imports the logs one by one. A log that cannot be read does not prevent the import of the others.
func (i *importCommand) Run(ctx context.Context, c console) (err error) {
	options, places, err := i.options()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, places.Close()) }()
	defer forImport()()
	product, err := local.Open(ctx, string(i.Data))
	if err != nil {
		return err
	}
	failed := i.unlisted
	var rejected int64
	for _, file := range i.Files {
		reports, err := i.one(ctx, c, product.Store, file, options)
		for _, report := range reports {
			rejected += report.RejectedLines()
			err = errors.Join(err, printReport(c.out, report), printAbsent(c.err, report), printLeft(c.err, report),
				i.printColumns(c.err, report))
			if err == nil && report.Known > 0 {
				err = i.printThere(ctx, c.err, product.Store, report, options)
			}
		}
		if failed = errors.Join(failed, err); ctx.Err() != nil {
			break
		}
	}
	if failed = errors.Join(failed, product.Close()); failed != nil {
		if ingest.OnlyDoubts(failed) {
			return &exitError{code: exitDoubt, message: failed.Error()}
		}
		return failed
	}
	if rejected > 0 {
		return &exitError{code: exitRejected}
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
		return optionsOf(s)
	}
	defaults, err := defaultsOf(i.Set)
	if err != nil {
		return ingest.Options{}, nil, err
	}
	switch {
	case len(i.Files) == 0:
		err = errors.New("name the logs to import, or a source with --source")
	case i.As != "" && len(i.Files) > 1:
		err = errors.New("--as is the path of one log; import the files one by one")
	default:
		i.Format, err = i.format(i.Format)
	}
	if err != nil {
		return ingest.Options{}, nil, &exitError{code: exitUsage, message: err.Error()}
	}
	places, err := geoip.Open(i.GeoIP)
	if err != nil {
		return ingest.Options{}, nil, err
	}
	options := ingest.Options{Format: i.Format, Zone: i.Zone, Defaults: defaults, Complete: places.Complete}
	if options.GeoIP, err = absolute(i.GeoIP); err != nil {
		return ingest.Options{}, nil, errors.Join(err, places.Close())
	}
	return options, places, nil
}

// absolute returns the absolute paths of files.
func absolute(files []string) ([]string, error) {
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

// format returns the name of the format that one of the flags, or --format with that name, defines, or auto.
func (l *linesFlags) format(name string) (string, error) {
	if name == autoFormat {
		name = ""
	}
	f, err := definedFormat("--format", name, l.Layout, l.Pattern, l.Map)
	if err != nil || f == nil {
		return autoFormat, err
	}
	return f.Name(), nil
}

// autoFormat is the default of --format.
const autoFormat = "auto"

// definedFormat returns the format with a name, which the user has given as the flag or argument called of, or the one
// that a format string, a pattern or mappings define. It returns nil if none of them is given.
func definedFormat(of, name, layout, pattern string, mappings []string) (logformat.Format, error) {
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

// one imports one log, or the logs in one archive.
func (i *importCommand) one(
	ctx context.Context, c console, store *datadir.Store, file string, options ingest.Options,
) (reports []ingest.Report, err error) {
	name, in, size, err := openLog(file, c.in)
	if err != nil {
		return nil, err
	}
	bar := terminal.NewProgress(c.err, size, name, true)
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
		printUnrecognized(c.err, log, unrecognized[log])
		member, _ := strings.CutPrefix(log, name+"/")
		if log == name {
			member = ""
		}
		i.printSuggestion(c.err, file, member, unrecognized[log])
	}
	return reports, err
}

// maxShownLine is the number of bytes of a line that an error shows.
const maxShownLine = 400

// printUnrecognized prints the first line of a log, why each format does not match it, and where the one that matches
// the most of it stops.
func printUnrecognized(w io.Writer, log string, e *logformat.UnrecognizedError) {
	fmt.Fprintf(w, "%s begins with\n  %.*q\n", terminal.Printable(log), maxShownLine, e.First)
	if e.Wrapped != nil {
		return
	}
	for _, miss := range e.Missed {
		fmt.Fprintf(w, "  %-13s %s\n", miss.Format, terminal.Printable(miss.Reason))
	}
	nearest := slices.MaxFunc(e.Missed, func(a, b logformat.Miss) int { return cmp.Compare(a.Column, b.Column) })
	if e.Members == nil && nearest.Column > 1 {
		fmt.Fprintf(w, "%s is the nearest, and stops here:\n%s\n", nearest.Format,
			logformat.Excerpt([]byte(e.First), nearest.Column))
	}
}

// printSuggestion prints the members of a log in JSON, and the command that imports it with mappings that fit. member is
// the path of the log in an archive, or "".
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
		fmt.Fprintln(w, "these are not the members of requests; if the log is about requests, write a --map for each field")
		return
	case i.Source != "":
		how, what = "this line of the source fits", tomlOf(e.Map)
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
	if i.Data != defaultFolder {
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

// tomlOf returns the line of a source in orrery.toml with mappings.
func tomlOf(mappings []string) string {
	pairs := make([]string, len(mappings))
	for i, mapping := range mappings {
		field, path, _ := strings.Cut(mapping, "=")
		pairs[i] = fmt.Sprintf("%s = %s", field, strconv.Quote(path))
	}
	return "map = { " + strings.Join(pairs, ", ") + " }"
}

// openLog opens a log and returns its name and its size in bytes, which is -1 unless it is a regular file.
func openLog(file string, stdin io.Reader) (name string, in io.ReadCloser, size int64, err error) {
	if file == "-" {
		return "standard input", io.NopCloser(stdin), -1, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return "", nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder; name the logs in it, such as %s", file, filepath.Join(file, "*.gz"))
	}
	if err != nil {
		return "", nil, 0, errors.Join(err, f.Close())
	}
	size = info.Size()
	if !info.Mode().IsRegular() {
		size = -1
	}
	return filepath.Base(file), f, size, nil
}

// defaultsOf parses the values of --set.
func defaultsOf(set []string) ([]ingest.Default, error) {
	var defaults []ingest.Default
	for _, s := range set {
		field, value, ok := strings.Cut(s, "=")
		if !ok || field == "" {
			message := fmt.Sprintf("--set %s: write FIELD=VALUE, such as --set branch=prod", s)
			return nil, &exitError{code: exitUsage, message: message}
		}
		defaults = append(defaults, ingest.Default{Field: field, Value: value})
	}
	return defaults, nil
}

// printReport prints the result of an import: one line, one for each reason of rejected lines, and one for their place.
func printReport(w io.Writer, r ingest.Report) error {
	if r.Left > 0 && r.Records+r.RejectedLines()+r.Known == 0 {
		_, err := fmt.Fprintf(w, "%s: no records yet: its last line has no newline\n", terminal.Printable(r.Name))
		return err
	}
	text := fmt.Sprintf("%s: %s, %d rejected, %.1f s",
		terminal.Printable(r.Name), terminal.Counted(r.Records, "record"), r.RejectedLines(), r.Elapsed.Seconds())
	if r.Format != "" {
		text += " (" + formatText(r.Format) + ")"
	}
	if r.Known > 0 {
		text += fmt.Sprintf("; %s imported before", terminal.Counted(r.Known, "line"))
	}
	if r.Overlaps() {
		text += fmt.Sprintf("; %d of the first %d records were in the data already", r.Seen, r.Judged)
	}
	if r.Invalid > 0 {
		text += fmt.Sprintf("; %d had text that is not Unicode, which is stored unchanged", r.Invalid)
	}
	text += misfitsText(r.Misfits)
	text += "\n"
	for _, reason := range r.Reasons() {
		text += fmt.Sprintf("  rejected %d: %s\n", r.Rejected[reason], reason)
	}
	if r.First != "" {
		text += "  " + strings.ReplaceAll(r.First, "\n", "\n  ") + "\n"
	}
	if r.Quarantine != "" {
		text += fmt.Sprintf("  saved with line numbers and reasons in %s\n", terminal.Printable(r.Quarantine))
	}
	if r.Unsaved > 0 {
		text += fmt.Sprintf("  %d of them are only counted, because 100 MB of lines of this log or its archive are saved\n",
			r.Unsaved)
	}
	_, err := io.WriteString(w, text)
	return err
}

// misfitsText reports the values that are of a wrong type for their fields.
func misfitsText(misfits map[string]int64) string {
	if len(misfits) == 0 {
		return ""
	}
	total := int64(0)
	var fields []string
	for _, field := range slices.Sorted(maps.Keys(misfits)) {
		total += misfits[field]
		fields = append(fields, fmt.Sprintf("%s %d", field, misfits[field]))
	}
	verb := "are"
	if total == 1 {
		verb = "is"
	}
	return fmt.Sprintf("; %s of a wrong type %s in log_rest (%s)", terminal.Counted(total, "value"), verb, strings.Join(fields, ", "))
}

// absentText reports what no record of an import has, or is "".
func absentText(r ingest.Report) string {
	if len(r.Absent) == 0 {
		return ""
	}
	var names []string
	for _, name := range r.Absent {
		article := "a "
		if name == "address" {
			article = "an "
		}
		names = append(names, article+name)
	}
	last := len(names) - 1
	text := "no record has " + names[last]
	if last > 0 {
		text = "no record has " + strings.Join(names[:last], ", ") + " or " + names[last]
	}
	if slices.Equal(r.Absent, []string{"host"}) {
		text += "; --set host=NAME sets it"
	}
	return text
}

// printAbsent prints what no record has.
func printAbsent(w io.Writer, r ingest.Report) error {
	text := absentText(r)
	if text == "" {
		return nil
	}
	_, err := fmt.Fprintf(w, "%s: %s\n", terminal.Printable(r.Name), text)
	return err
}

// printLeft reports a last line that was left, and how to import it.
func printLeft(w io.Writer, r ingest.Report) error {
	if r.Left == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "%s: 1 unfinished line at the end (%s without newline) is left for "+
		"the next import; if the file is complete, import it again with --take-last\n",
		terminal.Printable(r.Name), terminal.Counted(r.Left, "byte"))
	return err
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
