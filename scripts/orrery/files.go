package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/logs"
	"github.com/orrery/orrery/scripts/orrery/internal/question"
	"github.com/orrery/orrery/scripts/orrery/internal/target"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/scripts/orrery/internal/views"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/sqlgen"
)

// liveFlags choose objects of a data folder.
type liveFlags struct {
	Data   target.Folder `default:".orrery" env:"ORRERY_DATA" help:"Folder that holds the data." placeholder:"DIR"`
	Period string        `arg:"" optional:"" help:"A filter that is only a period; default: all records." placeholder:"FILTER"`
	question.LastFlag
}

type filesCommand struct {
	liveFlags
	Format string `default:"text" enum:"text,json" help:"text prints one path a line; json also has hours, records and sizes." placeholder:"FORMAT"`
}

// Run lists the objects.
func (f *filesCommand) Run(ctx context.Context, c terminal.Console) error {
	objects, _, err := f.live(ctx, c.Err)
	if err != nil {
		return err
	}
	list := []liveObject{}
	for _, o := range objects {
		list = append(list, liveObject{o.Path, o.Partition.String(), o.Rows, o.Bytes,
			time.UnixMilli(o.MinTsMs).UTC(), time.UnixMilli(o.MaxTsMs).UTC()})
	}
	if f.Format == "json" {
		return json.NewEncoder(c.Shown()).Encode(list)
	}
	for _, o := range list {
		if _, err := fmt.Fprintln(c.Shown(), o.Path); err != nil {
			return err
		}
	}
	return nil
}

// liveObject is the JSON form of an object.
type liveObject struct {
	Path    string    `json:"path"`
	Hour    string    `json:"hour"` // as in the paths
	Records int64     `json:"records"`
	Bytes   int64     `json:"bytes"`
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
}

type sqlCommand struct {
	liveFlags
	For  string `default:"duckdb" enum:"duckdb,pandas,polars,spark,trino" help:"${enum}." placeholder:"TOOL"`
	View string `default:"traffic" help:"Name of the view in DuckDB and Trino." placeholder:"NAME"`

	Location string `help:"With --for trino: folder to which fresh/ and compact/ are copied, such as s3://bucket/lake/; see 'orrery ddl'." placeholder:"URL"`
}

// Run prints a statement or a program that reads each record once.
func (s *sqlCommand) Run(ctx context.Context, c terminal.Console) error {
	if (s.For == "trino") != strings.Contains(s.Location, "://") {
		return exit.With(exit.Usage, "--for trino needs --location, as s3://bucket/lake/, and no other tool has it")
	}
	objects, period, err := s.live(ctx, c.Err)
	if err != nil {
		return err
	}
	if len(objects) == 0 {
		return errors.New("there are no records in this period, so there is nothing to read")
	}
	var text string
	comment := "#"
	switch s.For {
	case "pandas":
		text, err = views.Pandas(objects, period)
	case "polars":
		text, err = views.Polars(objects, period)
	case "spark":
		text, err = views.Spark(objects, period)
	case "trino":
		text, err = sqlgen.TrinoView(s.View, s.Location, objects, period)
		text, comment = text+";\n", "--"
	default:
		text, err = sqlgen.View(s.View, objects, period)
		text, comment = text+";\n", "--"
	}
	if err != nil {
		return exit.With(exit.Usage, err.Error())
	}
	_, err = fmt.Fprintf(c.Shown(), "%s %s at %s. Run orrery sql again after imports and compactions:\n"+
		"%s the files of replaced objects are removed after %g minutes.\n%s",
		comment, terminal.Counted(len(objects), "object"), terminal.Time(time.Now()),
		comment, datadir.DefaultGrace.Minutes(), text)
	return err
}

// live returns the current objects with records of the period, by absolute paths, and the period; nil for all time.
func (f *liveFlags) live(
	ctx context.Context, stderr io.Writer,
) (objects []lake.Object, period *query.Period, err error) {
	if err := f.Data.MustExist(); err != nil {
		return nil, nil, err
	}
	from, to := lake.Partition(math.MinInt64), lake.Partition(math.MaxInt64)
	if text := f.Before(f.Period); strings.TrimSpace(text) != "" {
		clock := query.Clock{Now: search.Present(time.Now())}
		q, err := query.Bind(filter.Parse(text), query.Logs{}, query.WithClock(clock))
		if err != nil {
			return nil, nil, question.Drawn(err, stderr)
		}
		if len(q.Conditions) > 0 {
			return nil, nil, exit.With(exit.Usage, "the filter may only be a period: objects have records of all kinds")
		}
		period = &q.Period
		from, to = lake.PartitionOf(period.FromMs), lake.PartitionOf(period.ToMs)
	}
	err = logs.WithStore(ctx, f.Data, func(store *datadir.Store) error {
		all, err := store.Index().Objects(ctx, from, to)
		for _, o := range all {
			if period != nil && (o.MaxTsMs < period.FromMs || o.MinTsMs > period.ToMs) {
				continue
			}
			if o.Path, err = filepath.Abs(o.Path); err != nil {
				return err
			}
			objects = append(objects, o)
		}
		return err
	})
	return objects, period, err
}
