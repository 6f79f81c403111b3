package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/logformat"
)

type quarantineCommand struct {
	Data   folder   `default:".orrery" env:"ORRERY_DATA" help:"Folder that holds the data." placeholder:"DIR"`
	Import string   `help:"ID of an import, or its unique beginning: import its lines again; those that are records now leave the quarantine." placeholder:"ID"`
	Format string   `default:"auto" help:"With --import: format of the lines, if it is not that of the log." placeholder:"NAME"`
	Set    []string `sep:"none" help:"With --import: value for a field that records lack, instead of those of the log." placeholder:"FIELD=VALUE"`
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
		report, err := store.Retry(ctx, id, ingest.Options{Format: q.Format, Defaults: defaults})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.out, "%s: %d lines are records now, %d are still rejected\n",
			id, report.Records, report.Rejected+report.Kept)
		return err
	})
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
