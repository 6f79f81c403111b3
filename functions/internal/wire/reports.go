package wire

import (
	"context"
	_ "embed"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/functions/internal/searching"
	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/destination"
	"github.com/orrery/orrery/shared/report/runs"
)

// ReadingReports wires the function that reads scheduled reports and their runs: report-get.
func ReadingReports(ctx context.Context, lookup function.Lookup, log *slog.Logger) (*function.Function, error) {
	return scheduled(ctx, "report-get", lookup, log)
}

// WritingReports wires the function that writes scheduled reports and requests runs: report-put. Without destinations,
// it refuses reports that have some.
func WritingReports(ctx context.Context, lookup function.Lookup, log *slog.Logger) (*function.Function, error) {
	return scheduled(ctx, "report-put", lookup, log)
}

func scheduled(ctx context.Context, name string, lookup function.Lookup, log *slog.Logger) (*function.Function, error) {
	p, err := begin(ctx, name, lookup)
	if err != nil {
		return nil, err
	}
	rules, err := rulesOf(p.environment)
	if err != nil {
		return nil, err
	}
	c := api.Config{
		Keys: p.callers, Definitions: rules,
		Documents: document.Over(p.table),
		Runs:      runs.Over(p.table, nil),
	}
	return newHTTP(p.row, p.environment, log, c, tableChecks(p.client, p.environment, time.Now))
}

// rulesOf returns what definitions of reports may contain.
func rulesOf(e function.Environment) (*definition.Rules, error) {
	settings, err := destination.ReadJSON(e.Reports)
	if err != nil {
		return nil, err
	}
	rules := settings.Rules()
	return &rules, nil
}

// ReportNow wires the function that makes reports about a period at once: report-now. maker makes them.
func ReportNow(
	ctx context.Context, lookup function.Lookup, log *slog.Logger, maker answering.Reports,
) (*function.Function, error) {
	p, err := begin(ctx, "report-now", lookup)
	if err != nil {
		return nil, err
	}
	path, err := searching.New(p.aws, p.table, p.environment, log)
	if err != nil {
		return nil, err
	}
	return newHTTP(p.row, p.environment, log, together(p.environment, api.Config{
		Keys: p.callers, Search: path.Service, Reports: maker, Planets: planet.Over(document.Over(p.table), time.Now),
	}), searchChecks(p, path))
}

// together returns a configuration in which all questions of an answer together have the time of a request.
func together(e function.Environment, c api.Config) api.Config {
	c.ReportTimeout, c.AtOnce = e.QueryTimeout, inquiry.Many
	return c
}

// describing returns the configuration of a function that describes or lists the routes of the API, of which those of
// reports are answered by other functions.
func describing(c api.Config) api.Config {
	c.Definitions, c.Runs, c.Reports = &definition.Rules{}, struct{ runs.Store }{}, described{}
	return c
}

// described stands for reports in the description of the API. The code that makes reports would double the size of a
// function.
type described struct{ answering.Reports }

// reportSchema is the schema of reports in JSON, which orrery serve derives from the code that makes them. A test
// compares the two, and -update writes it.
//
//go:embed reportschema.json
var reportSchema []byte

// Document implements answering.Reports.
func (described) Document() any {
	var schema map[string]any
	if err := json.Unmarshal(reportSchema, &schema); err != nil {
		panic("wire: the schema of reports: " + err.Error()) // it is a part of the program
	}
	return &huma.Schema{Extensions: schema}
}
