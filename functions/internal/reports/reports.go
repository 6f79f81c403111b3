// Package reports builds the functions that make scheduled reports: report-tick queues the runs that are due, and
// report makes and delivers them.
package reports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/orrery/orrery/functions/internal/doctor"
	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/functions/internal/searching"
	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/s3"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/report/asking"
	"github.com/orrery/orrery/shared/report/delivery"
	"github.com/orrery/orrery/shared/report/delivery/deliveryaws"
	"github.com/orrery/orrery/shared/report/destination"
	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/report/worker"
	"github.com/orrery/orrery/shared/table"
	"github.com/orrery/orrery/shared/table/tabledynamo"
)

// Stores holds the stores of scheduled reports.
type Stores struct {
	Documents worker.Documents
	Runs      runs.Store
	Keys      keys.Store
}

// storesOf returns the stores over a table. files is the bucket of the files of runs, or nil.
func storesOf(items table.Table, files blob.Store) Stores {
	return Stores{document.Over(items), runs.Over(items, files), keys.Over(items)}
}

// Tick returns the function that queues the reports that are due. A schedule starts it, and it ignores the content of
// its event.
func Tick(ctx context.Context, lookup function.Lookup, log *slog.Logger) (*function.Function, error) {
	f, e, c, err := function.BeginOnAWS(ctx, "report-tick", lookup)
	if err != nil {
		return nil, err
	}
	client := tabledynamo.NewClient(c)
	items := tabledynamo.New(client, e.Table)
	s := storesOf(items, nil)
	return TickOver(f, e, log, client, s, newQueue(sqs.NewFromConfig(c), e.ReportQueue), time.Now), nil
}

// Queue is a queue of messages about runs.
type Queue interface {
	Send(ctx context.Context, body string) error
	doctor.Queue
}

// message is a message about a run.
type message struct {
	Run string `json:"run"` // ID
}

// Queued is the answer of report-tick.
type Queued struct {
	Runs int `json:"runs"` // runs that can be continued; each has a message now
}

// TickOver returns report-tick over stores and a queue.
func TickOver(
	f lambdas.Function, e function.Environment, log *slog.Logger,
	client *dynamodb.Client, s Stores, queue Queue, now func() time.Time,
) *function.Function {
	runner := worker.New(s.config(log, now))
	handle := func(ctx context.Context, _ json.RawMessage) (Queued, error) {
		ids, err := runner.Queue(ctx)
		for _, id := range ids {
			err = errors.Join(err, send(ctx, queue, id))
		}
		if err != nil {
			log.ErrorContext(ctx, "scheduled reports not queued", "error", err)
			return Queued{}, err
		}
		log.InfoContext(ctx, "scheduled reports queued", "runs", len(ids))
		return Queued{len(ids)}, nil
	}
	return function.New(f, e, function.HandlerOf(handle),
		doctor.Table(client, e.Table, "report#doctor"),
		doctor.Clock(client, e.Table, "keys", now),
		doctor.Keys(s.Keys, now),
		doctor.ReportQueue(queue, e.ReportQueue),
	)
}

func send(ctx context.Context, queue Queue, run string) error {
	body, err := json.Marshal(message{run})
	if err != nil {
		return err
	}
	return queue.Send(ctx, string(body))
}

// config returns the configuration of a runner that only queues.
func (s Stores) config(log *slog.Logger, now func() time.Time) worker.Config {
	return worker.Config{
		Documents: s.Documents, Runs: s.Runs, Log: log, Now: now,
		Key: func(ctx context.Context, id string) (string, error) { return keys.WhyUnusable(ctx, s.Keys, id, now()) },
	}
}

// Make returns the function that makes and delivers scheduled reports. SQS messages name their runs.
func Make(ctx context.Context, lookup function.Lookup, log *slog.Logger) (*function.Function, error) {
	f, e, c, err := function.BeginOnAWS(ctx, "report", lookup)
	if err != nil {
		return nil, err
	}
	settings, err := destination.ReadJSON(e.Reports)
	if err != nil {
		return nil, err
	}
	client := tabledynamo.NewClient(c)
	items := tabledynamo.New(client, e.Table)
	path, err := searching.New(c, items, e, log)
	if err != nil {
		return nil, err
	}
	results, err := url.Parse(e.Results)
	if err != nil {
		return nil, err
	}
	files := s3.New(function.NewS3(c), results.Host)
	s := storesOf(items, files)
	sender := delivery.Sender{Settings: settings, AWS: deliveryaws.New(c)}
	checks := searching.Checks(path.Athena, path.States, path.Engine, path.Invoke, e, time.Now)
	return MakeOver(f, e, log, client, s, Path{
		Search: path.Service, States: path.States, Settings: settings, Deliver: sender,
	}, checks, time.Now), nil
}

// Path holds the dependencies to make and deliver reports.
type Path struct {
	Search   answering.Searcher
	States   engine.States
	Settings destination.Settings
	Deliver  worker.Deliverer
	Pause    func(ctx context.Context, d time.Duration) error // as in worker.Config
}

// MakeOver returns report over stores. checks are the checks of the read path.
func MakeOver(
	f lambdas.Function, e function.Environment, log *slog.Logger,
	client *dynamodb.Client, s Stores, path Path, checks []doctor.Check, now func() time.Time,
) *function.Function {
	c := s.config(log, now)
	c.Settings, c.Deliver, c.AtOnce, c.Pause = path.Settings, path.Deliver, inquiry.Many, path.Pause
	c.Ask = func(branches []string, key string) asking.Source {
		return source(answering.AskAs(path.Search, branches, "report "+key, now))
	}
	c.Complete = func(ctx context.Context) (time.Time, error) {
		state, err := path.States.State(ctx)
		return state.CompleteThrough, err
	}
	runner := worker.New(c)
	handle := func(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
		response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
		for _, m := range batch.Records {
			if err := advance(ctx, runner, m.Body); err != nil {
				log.ErrorContext(ctx, "run not continued", "message", m.MessageId, "error", err)
				failure := events.SQSBatchItemFailure{ItemIdentifier: m.MessageId}
				response.BatchItemFailures = append(response.BatchItemFailures, failure)
			}
		}
		return response, nil
	}
	all := []doctor.Check{
		doctor.Table(client, e.Table, "report#doctor"),
		doctor.Clock(client, e.Table, "keys", now),
		doctor.Keys(s.Keys, now),
		destinations(path.Settings),
	}
	return function.New(f, e, function.HandlerOf(handle), append(all, checks...)...)
}

// advance continues the run that a message names.
func advance(ctx context.Context, runner *worker.Runner, body string) error {
	var m message
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		return fmt.Errorf("the message %.100q is not understood: %w", body, err)
	}
	if m.Run == "" {
		return fmt.Errorf("the message %.100q names no run", body)
	}
	return runner.Advance(ctx, m.Run)
}

// source asks the questions of a report. A question ends some time before the function does. The report is then made
// without its answer.
type source answering.Ask

// Ask implements asking.Source.
func (s source) Ask(ctx context.Context, route string, params map[string]string) ([]byte, error) {
	if deadline, limited := ctx.Deadline(); limited {
		before, cancel := context.WithDeadline(ctx, deadline.Add(-lambdas.ReportReserve))
		defer cancel()
		ctx = before
	}
	return s(ctx, route, params)
}

// destinations reports where reports may be sent.
func destinations(s destination.Settings) doctor.Check {
	return doctor.Check{Name: "destinations", Run: func(context.Context) (string, error) {
		rules := s.Rules()
		names := strings.Join(rules.Destinations, ", ")
		switch {
		case s.Mail == nil && len(rules.Destinations) == 0:
			return "no report can be scheduled, because the property reports of the deployment defines no destinations", nil
		case s.Mail == nil:
			return "reports may be sent to " + names + "; mail is not set up", nil
		case len(rules.Destinations) == 0:
			return "reports may be sent by mail to " + strings.Join(rules.Domains, ", "), nil
		}
		return "reports may be sent by mail to " + strings.Join(rules.Domains, ", ") + ", and to " + names, nil
	}}
}
