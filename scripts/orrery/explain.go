package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/scripts/orrery/internal/answers"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/question"
	"github.com/orrery/orrery/scripts/orrery/internal/target"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/trino"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/sqlgen"
)

type explainCommand struct {
	Shape  string        `arg:"" enum:"${routes}" help:"One of ${enum}."`
	Filter string        `arg:"" optional:"" help:"A filter in either form; - reads it from standard input. For values: a field."`
	Engine string        `enum:"local,duckdb,athena,trino" default:"local" help:"local, duckdb, athena or trino."`
	Data   target.Folder `default:".orrery" env:"ORRERY_DATA" help:"Folder that holds the data." placeholder:"DIR"`
	question.ParameterFlags
	question.LastFlag
	target.Cluster
	question.PeriodFlag
}

// Run prints every stage between the filter's text and the query, then the SQL of one engine. For the local engine, or
// the cluster of --trino, it also prints what the query would read. It does not run the query.
func (e *explainCommand) Run(ctx context.Context, c terminal.Console) error {
	request, err := e.request(c.In)
	if err != nil {
		return err
	}
	q, stages, err := search.Stages(ctx, request)
	if err != nil {
		return question.Drawn(err, c.Err)
	}
	out := c.Shown()
	for _, stage := range stages {
		if err := writeStage(out, stage.Name, stage.Text); err != nil {
			return err
		}
	}
	if print, ok := printers[e.Engine]; ok {
		script, err := print(q)
		if err != nil {
			return err
		}
		return writeSQL(out, e.Engine, statementsOf(script), script.Warnings)
	}
	if e.Trino != "" {
		return e.explainCluster(ctx, out, request)
	}
	return e.explainFolder(ctx, out, request)
}

// request returns the question.
func (e *explainCommand) request(stdin io.Reader) (search.Request, error) {
	r := search.Request{Route: search.Route(e.Shape), Now: search.Present(time.Now())}
	e.SetIn(&r)
	if wrong := question.Misuse(e.Shape, e.Last, e.PeriodFlag, e.ParameterFlags); wrong != "" {
		return r, exit.With(exit.Usage, wrong)
	}
	if e.Shape != string(search.Values) {
		text, err := question.FilterText(e.Filter, stdin)
		r.Filters = e.Before(text)
		return r, err
	}
	if r.Filters = e.Condition(); e.Period != nil {
		r.Filters = *e.Period
	}
	if e.Filter == "" || r.Filters == "" {
		return r, exit.With(exit.Usage, "name a field, such as country, and a period: --period or --last 24h")
	}
	r.Field = e.Filter
	return r, nil
}

// printers print a query's SQL without an engine. "…" stands for the objects that DuckDB would read.
var printers = map[string]func(query.Query) (sqlgen.Script, error){
	"athena": sqlgen.Athena,
	"trino":  sqlgen.Athena,
	"duckdb": func(q query.Query) (sqlgen.Script, error) { return sqlgen.DuckDB(q, []lake.Object{{Path: "…"}}) },
}

func statementsOf(script sqlgen.Script) []engine.Statement {
	statements := make([]engine.Statement, len(script.Statements))
	for i, s := range script.Statements {
		statements[i] = engine.Statement(s)
	}
	return statements
}

// explainFolder prints the plan for the data of the folder.
func (e *explainCommand) explainFolder(ctx context.Context, w io.Writer, request search.Request) error {
	switch err := local.HoldsData(string(e.Data)); {
	case errors.Is(err, local.ErrNoData):
		text := fmt.Sprintf("nothing: there is no data in %s; --engine duckdb prints the SQL", e.Data)
		return writeStage(w, "reads", text)
	case err != nil:
		return err
	}
	product, err := local.Open(ctx, string(e.Data))
	if err != nil {
		return err
	}
	err = explainBy(ctx, w, product.Search, product.Engine.Name(), request)
	return errors.Join(err, product.Close())
}

// explainCluster prints the plan of the cluster.
func (e *explainCommand) explainCluster(ctx context.Context, w io.Writer, request search.Request) error {
	client, err := e.Connect()
	if err != nil {
		return err
	}
	cluster := trino.New(client, nil)
	service, err := search.New(cluster, search.Options{Now: time.Now})
	if err != nil {
		return err
	}
	return explainBy(ctx, w, service, cluster.Name(), request)
}

// explainBy prints the plan of a service, and what the query would read and cost.
func explainBy(ctx context.Context, w io.Writer, s *search.Service, name string, request search.Request) error {
	_, plan, err := s.Explain(ctx, request)
	if err != nil {
		return err
	}
	estimate, err := s.Estimate(ctx, request)
	if err != nil {
		return err
	}
	if err := writePlan(w, name, plan); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w, "== estimate"); err != nil {
		return err
	}
	return answers.WriteEstimate(w, *estimate)
}

func writeStage(w io.Writer, name, text string) error {
	_, err := fmt.Fprintf(w, "== %s\n%s\n", name, text)
	return err
}

// writeSQL prints the statements of an engine, and warnings why it might refuse them.
func writeSQL(w io.Writer, name string, statements []engine.Statement, warnings []string) error {
	var sql strings.Builder
	for _, s := range statements {
		sql.WriteString(s.String())
	}
	if err := writeStage(w, name+".sql", sql.String()); err != nil || len(warnings) == 0 {
		return err
	}
	return writeStage(w, name+".warnings", strings.Join(warnings, "\n")+"\n")
}

// writePlan prints an engine's SQL, and the partitions and the number of bytes that the query would read.
func writePlan(w io.Writer, name string, plan engine.Plan) error {
	if len(plan.SQL) > 0 { // a scan needs none
		if err := writeSQL(w, name, plan.SQL, plan.Warnings); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "== reads\nby         %s\npartitions %s\nobjects    %d\nbytes      %d\ncolumns    %s\n",
		plan.By, hours(plan.Partitions), plan.Objects, plan.Bytes, strings.Join(plan.Columns, " "))
	return err
}

// hours returns the number and the range of partitions, as text.
func hours(partitions []lake.Partition) string {
	if len(partitions) == 0 {
		return "none"
	}
	return fmt.Sprintf("%d, from %s to %s", len(partitions), partitions[0], partitions[len(partitions)-1])
}
