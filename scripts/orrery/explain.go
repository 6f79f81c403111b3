package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/search"
)

type explainCommand struct {
	Shape   string `arg:"" enum:"logs,stats,timeline,topx" help:"logs, stats, timeline or topx."`
	Filter  string `arg:"" help:"A filter in either form; - reads it from standard input."`
	Data    folder `default:".orrery" env:"ORRERY_DATA" help:"Folder whose data the plan is for." placeholder:"DIR"`
	Limit   string `help:"How many records (logs) or keys per label (topx)."`
	Segment string `help:"Length of a segment for stats and timeline: 60s, 5m, 1h …"`
	GroupBy string `help:"stats: one result per segment and hostname." placeholder:"hostname"`
	Fields  string `help:"logs: the fields to return, comma-separated."`
}

// Run prints every stage between the filter's text and SQL, then what the query would read. Nothing is run.
func (e *explainCommand) Run(ctx context.Context, c console) error {
	text, err := filterText(e.Filter, c.in)
	if err != nil {
		return err
	}
	request := search.Request{Route: search.Route(e.Shape), Filters: text, Limit: e.Limit, Segment: e.Segment, GroupBy: e.GroupBy, Fields: e.Fields}
	stages, err := search.Stages(request, 0)
	if err != nil {
		return drawn(err, c.err)
	}
	for _, stage := range stages {
		if _, err := fmt.Fprintf(c.out, "== %s\n%s\n", stage.Name, stage.Text); err != nil {
			return err
		}
	}
	return e.cost(ctx, c, request)
}

// cost prints which partitions and how many bytes the query would read of the data there is.
func (e *explainCommand) cost(ctx context.Context, c console, request search.Request) error {
	switch err := local.HoldsData(string(e.Data)); {
	case errors.Is(err, local.ErrNoData):
		_, err := fmt.Fprintf(c.out, "== reads\nnothing: there is no data in %s\n", e.Data)
		return err
	case err != nil:
		return err
	}
	product, err := local.Open(ctx, string(e.Data))
	if err != nil {
		return err
	}
	_, plan, err := product.Search.Explain(ctx, request)
	if closing := product.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return writePlan(c.out, plan)
}

func writePlan(w io.Writer, plan engine.Plan) error {
	by := "nothing"
	if len(plan.SQL) > 0 {
		by = plan.SQL[0].Title
	}
	_, err := fmt.Fprintf(w, "== reads\nby         %s\npartitions %s\nobjects    %d\nbytes      %d\ncolumns    %s\n",
		by, hours(plan.Partitions), plan.Objects, plan.Bytes, strings.Join(plan.Columns, " "))
	return err
}

// hours shows partitions as a count and a range.
func hours(partitions []lake.Partition) string {
	if len(partitions) == 0 {
		return "none"
	}
	return fmt.Sprintf("%d, from %s to %s", len(partitions), partitions[0], partitions[len(partitions)-1])
}
