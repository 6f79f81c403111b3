package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/logs"
	"github.com/orrery/orrery/scripts/orrery/internal/target"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/logformat"
)

type importsCommand struct {
	Data   target.Folder `default:".orrery" env:"ORRERY_DATA" help:"Folder that holds the data." placeholder:"DIR"`
	Format string        `default:"table" enum:"table,json" help:"Format of the output: ${enum}." placeholder:"FORMAT"`
	All    bool          `help:"Also list imports that were forgotten, or whose records were removed because of their age."`
}

// Run lists what was imported: a line for each log, however often it was imported while it grew.
func (i *importsCommand) Run(ctx context.Context, c terminal.Console) error {
	if err := i.Data.MustExist(); err != nil {
		return err
	}
	return logs.WithStore(ctx, i.Data, func(store *datadir.Store) error {
		sources, err := store.Imports(ctx)
		if err != nil {
			return err
		}
		retention, err := store.Retention(ctx)
		if err != nil {
			return err
		}
		list := make([]importRow, 0, len(sources))
		for _, s := range sources {
			row := rowOf(s)
			row.Expired = row.To != nil && lake.PartitionOf(row.To.UnixMilli()) < retention.From
			if i.All || row.Forgotten == nil && !row.Expired {
				list = append(list, row)
			}
		}
		if i.Format == "json" {
			return json.NewEncoder(c.Shown()).Encode(list)
		}
		return writeImports(c.Out, list)
	})
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
	Expired   bool       `json:"expired,omitempty"` // all records were removed, because they were too old
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
		imported := terminal.Time(row.Last)
		if row.Expired {
			imported += ", expired"
		}
		if row.Forgotten != nil {
			imported = "forgotten " + terminal.Time(*row.Forgotten)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s\n", row.ID, terminal.Printable(row.Name),
			logformat.Words(row.Format),
			row.Records, row.Rejected, optionalTime(row.From), optionalTime(row.To), imported)
	}
	return w.Flush()
}

func optionalTime(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return terminal.Time(*t)
}
