package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/logformat"
)

type importsCommand struct {
	Data   folder `default:".orrery" env:"ORRERY_DATA" help:"Folder that holds the data." placeholder:"DIR"`
	Format string `default:"table" enum:"table,json" help:"Format of the output: ${enum}." placeholder:"FORMAT"`
	All    bool   `help:"Also list what was forgotten."`
}

// Run lists what was imported: a line for each log, however often it was imported while it grew.
func (i *importsCommand) Run(ctx context.Context, c console) error {
	if err := i.Data.mustExist(); err != nil {
		return err
	}
	return withStore(ctx, i.Data, func(store *datadir.Store) error {
		sources, err := store.Imports(ctx)
		if err != nil {
			return err
		}
		list := make([]importRow, 0, len(sources))
		for _, s := range sources {
			if i.All || s.Forgotten.IsZero() {
				list = append(list, rowOf(s))
			}
		}
		if i.Format == "json" {
			return json.NewEncoder(c.shown()).Encode(list)
		}
		return writeImports(c.out, list)
	})
}

// withStore calls use with the store of a folder.
func withStore(ctx context.Context, data folder, use func(*datadir.Store) error) error {
	product, err := local.Open(ctx, string(data))
	if err != nil {
		return err
	}
	return errors.Join(use(product.Store), product.Close())
}

// importRow is the JSON form of a source.
type importRow struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Log       string     `json:"log"`
	Format    string     `json:"format"`
	Set       []string   `json:"set"` // null if it is not known
	GeoIP     []string   `json:"geoip,omitempty"`
	Imports   int        `json:"imports"`
	Records   int64      `json:"records"`
	Retried   int64      `json:"retried"` // records among them that were imported from quarantine
	Rejected  int64      `json:"rejected"`
	From      *time.Time `json:"from"` // null if there are no records
	To        *time.Time `json:"to"`
	First     time.Time  `json:"first_import"`
	Last      time.Time  `json:"last_import"`
	Forgotten *time.Time `json:"forgotten,omitempty"`
}

func rowOf(s ledger.Source) importRow {
	row := importRow{
		ID: s.ID, Name: s.Name, Log: s.Log, Format: s.Format, GeoIP: s.GeoIP,
		Imports: s.Imports, Records: s.Records, Retried: s.Retried, Rejected: s.Rejected,
		First: s.First, Last: s.Last, From: known(s.From), To: known(s.To), Forgotten: known(s.Forgotten),
	}
	if s.Known {
		row.Set = append([]string{}, s.Settings...)
	}
	return row
}

// known returns a time, or nil for the zero time.
func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func writeImports(out io.Writer, list []importRow) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "id\tname\tformat\trecords\trejected\tfrom\tto\timported")
	for _, row := range list {
		imported := timeText(row.Last)
		if row.Forgotten != nil {
			imported = "forgotten " + timeText(*row.Forgotten)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s\n", row.ID, terminal.Printable(row.Name), formatText(row.Format),
			row.Records, row.Rejected, optionalTime(row.From), optionalTime(row.To), imported)
	}
	return w.Flush()
}

func optionalTime(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return timeText(*t)
}

// formatText returns the name of a format and its zone. A format that a flag defined has no name.
func formatText(format string) string {
	if zone, format := logformat.CutZone(format); zone != "" {
		return formatText(format) + ", " + zone
	}
	switch {
	case logformat.IsMapping(format):
		return "mapped JSON"
	case logformat.IsPattern(format):
		return "pattern"
	case logformat.IsFormatString(format):
		return "format string"
	}
	return format
}

type forgetCommand struct {
	Data    folder   `default:".orrery" env:"ORRERY_DATA" help:"Folder that holds the data." placeholder:"DIR"`
	Imports []string `arg:"" name:"import" help:"IDs of imports, or unique beginnings of them; 'orrery imports' lists them."`
}

// Run takes the records of imports out of the data, one import after the other.
func (f *forgetCommand) Run(ctx context.Context, c console) error {
	if err := f.Data.mustExist(); err != nil {
		return err
	}
	defer forImport()()
	return withStore(ctx, f.Data, func(store *datadir.Store) error {
		for _, text := range f.Imports {
			id, err := findImport(ctx, store, text)
			if err != nil {
				return err
			}
			report, err := store.Forget(ctx, id)
			if err == nil {
				err = printForgotten(c.out, report)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// findImport returns the id of the import that begins with a text.
func findImport(ctx context.Context, store *datadir.Store, text string) (string, error) {
	sources, err := store.Imports(ctx)
	if err != nil {
		return "", err
	}
	var found []string
	for _, s := range sources {
		if s.ID == text {
			return s.ID, nil
		}
		if text != "" && strings.HasPrefix(s.ID, text) {
			found = append(found, s.ID)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("there is no import %q; orrery imports lists them", text)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("several imports begin with %q: %s", text, strings.Join(found, ", "))
}

func printForgotten(w io.Writer, r datadir.ForgetReport) error {
	name := terminal.Printable(cmp.Or(r.Source.Name, r.Source.Log))
	if r.Before {
		_, err := fmt.Fprintf(w, "%s (%s) was forgotten at %s\n", r.Source.ID, name, timeText(r.Source.Forgotten))
		return err
	}
	_, err := fmt.Fprintf(w, "forgot %s (%s): %s of %s; %s replaced, %d removed\n",
		r.Source.ID, name, terminal.Counted(r.Records, "record"), terminal.Counted(r.Hours, "hour"),
		terminal.Counted(r.Rewritten, "object"), r.Removed)
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
		terminal.Printable(report.Name), lines, formatText(earlier.Format), terminal.Printable(settingsText(earlier)),
		terminal.Printable(i.dataFlag()), earlier.ID)
	return err
}

// isFormat reports whether an import with these options reads lines as the format with that name does.
func isFormat(options ingest.Options, name string) bool {
	format := options.Format
	if format == "" || format == autoFormat {
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
	if i.Data == defaultFolder {
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
