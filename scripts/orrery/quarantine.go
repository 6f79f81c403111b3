package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/keep"
	"github.com/orrery/orrery/scripts/orrery/internal/logs"
	"github.com/orrery/orrery/scripts/orrery/internal/memory"
	"github.com/orrery/orrery/scripts/orrery/internal/target"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/geoip"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/logformat"
)

type quarantineCommand struct {
	Data   target.Folder `default:".orrery" env:"ORRERY_DATA" help:"Folder that holds the data." placeholder:"DIR"`
	Stack  string        `xor:"deployment" help:"Name of a deployment on AWS, instead of --data." placeholder:"NAME"`
	Dir    string        `xor:"deployment" help:"Folder of a running orrery up --dir, instead of --data." placeholder:"DIR"`
	Region string        `help:"With --stack: region of the stack; default: the region of the AWS configuration." placeholder:"REGION"`
	Import string        `help:"Import the rejected lines of this import again. ID is its ID, or a unique beginning of its ID. The format, the values and the databases of the log apply unless others are given. Lines that are now records leave the quarantine. For a deployment, this may also be the key of a refused log, which is imported with the given format." placeholder:"ID"`
	Format string        `default:"auto" help:"Format; auto: the format of the log." placeholder:"NAME"`

	logs.LinesFlags

	JSON bool `name:"json" help:"Print JSON."`
}

// Run lists rejected lines by import and reason, with an example for each, or imports them again.
func (q *quarantineCommand) Run(ctx context.Context, c terminal.Console) error {
	if unused := q.unused(); unused != "" {
		return exit.With(exit.Usage, unused)
	}
	defaults, err := logs.DefaultsOf(q.Set)
	if err != nil {
		return err
	}
	format, err := q.FormatName(q.Format)
	if err != nil {
		return exit.With(exit.Usage, err.Error())
	}
	options := ingest.Options{Format: format, Zone: q.Zone, Defaults: defaults}
	if q.Stack != "" || q.Dir != "" {
		return q.ofDeployment(ctx, c, options)
	}
	if err := q.Data.MustExist(); err != nil {
		return err
	}
	if q.Import == "" {
		return logs.WithStore(ctx, q.Data, func(store *datadir.Store) error { return q.list(ctx, c, store) })
	}
	defer memory.ForImport()()
	return logs.WithStore(ctx, q.Data, func(store *datadir.Store) error {
		id, err := logs.FindImport(ctx, store, q.Import)
		if err != nil {
			id = q.Import // perhaps of a log without records
		}
		if options.GeoIP, err = q.places(ctx, store, id); err != nil {
			return err
		}
		if _, err := keep.Apply(store, nil, q.Data); err != nil {
			return err
		}
		return withPlaces(options, func(options ingest.Options) error {
			report, err := store.Retry(ctx, id, options)
			if err != nil {
				return err
			}
			return printRetried(c, id, report.Records, report.Rejected+report.Kept, report.Expired)
		})
	})
}

// unused returns why the given flags about lines would have no effect, or "" if no such flag is given or all are used.
func (q *quarantineCommand) unused() string {
	ofRefused := (q.Stack != "" || q.Dir != "") && strings.HasPrefix(q.Import, rawlog.Prefix)
	described := q.Format != logs.AutoFormat || q.Layout+q.Pattern != "" || len(q.Map) > 0
	var flags []string
	for _, flag := range []struct {
		name  string
		given bool
	}{
		{"--format", q.Format != "auto" && !ofRefused},
		{"--log-format", q.Layout != "" && !ofRefused}, {"--pattern", q.Pattern != "" && !ofRefused},
		{"--map", len(q.Map) > 0 && !ofRefused},
		{"--zone", q.Zone != "" && (!ofRefused || !described)},
		{"--geoip", len(q.GeoIP) > 0}, {"--set", len(q.Set) > 0},
	} {
		if flag.given {
			flags = append(flags, flag.name)
		}
	}
	switch given := strings.Join(flags, ", "); {
	case given == "":
		return ""
	case q.Import == "":
		return given + ": only for --import, which imports lines again"
	case ofRefused:
		return given + ": not for a log that was refused, which the deployment imports by itself, with the format given"
	}
	return ""
}

// formatInZone returns the name of a format that reads times in a zone, if one is given, or "" to detect the format.
func formatInZone(name, zone string) (string, error) {
	if name == logs.AutoFormat {
		return "", nil
	}
	if zone == "" {
		return name, nil
	}
	f, err := logformat.ByName(name)
	if err == nil {
		f, err = logformat.InZone(f, zone)
	}
	if err != nil {
		return "", exit.With(exit.Usage, err.Error())
	}
	return f.Name(), nil
}

// ofDeployment lists or imports again what is in the quarantine of a deployment.
func (q *quarantineCommand) ofDeployment(ctx context.Context, c terminal.Console, options ingest.Options) (err error) {
	bucket, err := target.RawBucket(ctx, q.Stack, q.Dir, q.Region)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "orrery-quarantine-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	deployed, err := bucket.Quarantine(scratch)
	if err != nil {
		return err
	}
	switch {
	case q.Import == "":
		return q.list(ctx, c, deployed)
	case strings.HasPrefix(q.Import, rawlog.Prefix):
		format, err := formatInZone(options.Format, q.Zone)
		if err != nil {
			return err
		}
		if err := deployed.Release(ctx, q.Import, format); err != nil {
			return err
		}
		_, err = fmt.Fprintf(
			c.Out, "%s: sent again; if it is still refused, it will be listed again\n", terminal.Printable(q.Import),
		)
		return err
	}
	defer memory.ForImport()()
	if options.GeoIP, err = logs.AbsolutePaths(q.GeoIP); err != nil {
		return err
	}
	return withPlaces(options, func(options ingest.Options) error {
		report, err := deployed.Retry(ctx, q.Import, options)
		if err != nil {
			return err
		}
		for _, key := range report.Logs {
			fmt.Fprintf(c.Err, "the records are imported from s3://%s/%s\n", bucket.Name, terminal.Printable(key))
		}
		return printRetried(c, report.Source, report.Records, report.Rejected, 0)
	})
}

// withPlaces calls retry with options that complete records by the databases of the options.
func withPlaces(options ingest.Options, retry func(ingest.Options) error) error {
	places, err := geoip.Open(options.GeoIP)
	if err != nil {
		return fmt.Errorf("%w; name the databases with --geoip", err)
	}
	options.Complete = places.Complete
	return errors.Join(retry(options), places.Close())
}

func printRetried(c terminal.Console, id string, records, rejected, expired int64) error {
	text := fmt.Sprintf(
		"%s: %s, %d still rejected", terminal.Printable(id), terminal.Counted(records, "record"), rejected,
	)
	if expired > 0 {
		text += fmt.Sprintf("; %d removed, because they are older than what is kept", expired)
	}
	_, err := fmt.Fprintln(c.Out, text)
	return err
}

// places returns the databases of --geoip, or else the databases with which the log was imported.
func (q *quarantineCommand) places(ctx context.Context, store *datadir.Store, id string) ([]string, error) {
	if len(q.GeoIP) > 0 {
		return logs.AbsolutePaths(q.GeoIP)
	}
	sources, err := store.Imports(ctx)
	for _, s := range sources {
		if s.ID == id {
			return s.GeoIP, err
		}
	}
	return nil, err
}

// rejectedRow is the JSON form of the lines of one import and reason.
type rejectedRow struct {
	Import  string `json:"import"`
	Name    string `json:"name"`
	Format  string `json:"format"`
	Reason  string `json:"reason"`
	Lines   int64  `json:"lines"`
	Line    int64  `json:"line"` // number of the example
	Message string `json:"message"`
	Example string `json:"example"`

	Map []string `json:"map,omitempty"` // mappings that fit the log
}

// list prints what a data folder or a deployment has in quarantine.
func (q *quarantineCommand) list(ctx context.Context, c terminal.Console, store interface {
	Quarantine(ctx context.Context) ([]ingest.Rejected, error)
}) error {
	all, err := store.Quarantine(ctx)
	if err != nil {
		return err
	}
	rows := make([]rejectedRow, len(all))
	for i, r := range all {
		rows[i] = rejectedRow{
			Import: r.Source.ID, Name: r.Source.Name, Format: r.Source.Format, Reason: r.Code, Lines: r.Lines,
			Line: r.First.Line, Message: r.First.Message, Example: string(r.First.Text), Map: r.Map,
		}
	}
	if q.JSON {
		return json.NewEncoder(c.Shown()).Encode(rows)
	}
	w := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "import\tname\treason\tlines\tline\texample")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%s\n", terminal.Printable(r.Import),
			cmp.Or(terminal.Printable(r.Name), "-"), r.Reason,
			r.Lines, r.Line, terminal.Printable(beginningOf(cmp.Or(r.Example, r.Message))))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		if len(r.Map) > 0 {
			fmt.Fprintf(c.Err, "%s is in JSON of no known format; this command imports it with mappings that fit:\n  %s\n",
				terminal.Printable(r.Name), terminal.Printable(q.withMappings(r.Import, r.Map)))
		}
	}
	return nil
}

// withMappings returns the command that imports a refused log of the deployment with mappings.
func (q *quarantineCommand) withMappings(key string, mappings []string) string {
	command := "orrery quarantine"
	for _, flag := range []struct{ name, value string }{
		{"--stack", q.Stack}, {"--dir", q.Dir}, {"--region", q.Region}, {"--import", key},
	} {
		if flag.value != "" {
			command += " " + flag.name + " " + logformat.ShellWord(flag.value)
		}
	}
	return command + " " + logformat.MapFlags(mappings)
}

// exampleBytes is the number of bytes of a rejected line, or of the reason for which a log was refused, that the table
// has.
const exampleBytes = 100

func beginningOf(text string) string { return text[:min(len(text), exampleBytes)] }
