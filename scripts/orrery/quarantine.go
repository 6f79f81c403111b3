package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/orrery/orrery/shared/geoip"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/logformat"
)

type quarantineCommand struct {
	Data   folder   `default:".orrery" env:"ORRERY_DATA" help:"Folder that holds the data." placeholder:"DIR"`
	Import string   `help:"ID of an import, or its unique beginning: import its lines again; those that are records now leave the quarantine." placeholder:"ID"`
	Format string   `default:"auto" help:"With --import: format of the lines, if it is not that of the log." placeholder:"NAME"`
	Set    []string `sep:"none" help:"With --import: value for a field that records lack, instead of those of the log." placeholder:"FIELD=VALUE"`
	GeoIP  []string `name:"geoip" sep:"none" help:"With --import: MaxMind database with the places of clients, instead of those of the log." placeholder:"FILE"`
	JSON   bool     `name:"json" help:"Print JSON."`
}

// Run lists rejected lines by import and reason, with an example for each, or imports them again.
func (q *quarantineCommand) Run(ctx context.Context, c console) error {
	if err := q.Data.mustExist(); err != nil {
		return err
	}
	if q.Import == "" {
		return withStore(ctx, q.Data, func(store *datadir.Store) error { return q.list(ctx, c, store) })
	}
	defaults, err := defaultsOf(q.Set)
	if err != nil {
		return err
	}
	if q.Format != "auto" {
		if _, err := logformat.ByName(q.Format); err != nil {
			return &exitError{code: exitUsage, message: err.Error()}
		}
	}
	defer forImport()()
	return withStore(ctx, q.Data, func(store *datadir.Store) error {
		id, err := findImport(ctx, store, q.Import)
		if err != nil {
			id = q.Import // perhaps of a log without records
		}
		return q.retry(ctx, c, store, id, ingest.Options{Format: q.Format, Defaults: defaults})
	})
}

// retry imports the lines of an import again.
func (q *quarantineCommand) retry(
	ctx context.Context, c console, store *datadir.Store, id string, options ingest.Options,
) (err error) {
	if options.GeoIP, err = q.places(ctx, store, id); err != nil {
		return err
	}
	places, err := geoip.Open(options.GeoIP)
	if err != nil {
		return fmt.Errorf("%w; name the databases with --geoip", err)
	}
	defer func() { err = errors.Join(err, places.Close()) }()
	options.Complete = places.Complete
	report, err := store.Retry(ctx, id, options)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.out, "%s: %d lines are records now, %d are still rejected\n",
		id, report.Records, report.Rejected+report.Kept)
	return err
}

// places returns the databases of places: those of --geoip, or those with which the log was imported.
func (q *quarantineCommand) places(ctx context.Context, store *datadir.Store, id string) ([]string, error) {
	if len(q.GeoIP) > 0 {
		return absolute(q.GeoIP)
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
}

func (q *quarantineCommand) list(ctx context.Context, c console, store *datadir.Store) error {
	all, err := store.Quarantine(ctx)
	if err != nil {
		return err
	}
	rows := make([]rejectedRow, len(all))
	for i, r := range all {
		rows[i] = rejectedRow{
			Import: r.Source.ID, Name: r.Source.Name, Format: r.Source.Format, Reason: r.Code, Lines: r.Lines,
			Line: r.First.Line, Message: r.First.Message, Example: string(r.First.Text),
		}
	}
	if q.JSON {
		return json.NewEncoder(c.out).Encode(rows)
	}
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "import\tname\treason\tlines\tline\texample")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%s\n", r.Import, cmp.Or(printable(r.Name), "-"), r.Reason, r.Lines, r.Line,
			printable(r.Example[:min(len(r.Example), exampleBytes)]))
	}
	return w.Flush()
}

// exampleBytes is the number of bytes of a rejected line that the table has.
const exampleBytes = 100
