package writing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/orrery/orrery/functions/internal/doctor"
	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/shared/blob/s3"
	"github.com/orrery/orrery/shared/ingest/cloud/arrivals"
	"github.com/orrery/orrery/shared/ingest/cloud/queue"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/table/tabledynamo"
)

// Reconcile returns the function that sends raw logs again which have not arrived. A schedule starts it.
func Reconcile(ctx context.Context, lookup function.Lookup, log *slog.Logger) (*function.Function, error) {
	f, e, c, err := function.BeginOnAWS(ctx, "reconcile", lookup)
	if err != nil {
		return nil, err
	}
	client := tabledynamo.NewClient(c)
	return reconcile(f, e, log, client, Stores{
		Raw:   s3.New(function.NewS3(c), e.RawBucket),
		Table: lakestate.Over(tabledynamo.New(client, e.Table)),
		Queue: queue.NewSQS(sqs.NewFromConfig(c), e.RawQueue),
	}, time.Now), nil
}

// reconcileEvent is the event of a run. That of the schedule has only the type.
type reconcileEvent struct {
	Type   string `json:"detail-type"`
	MinAge string `json:"min_age"` // such as "10m"; "" for the default
	Limit  int    `json:"limit"`   // 0 for the default
}

// reconcile returns a function that answers events with the report of a reconciliation.
func reconcile(
	f lambdas.Function, e function.Environment, log *slog.Logger,
	client *dynamodb.Client, s Stores, now func() time.Time,
) *function.Function {
	handle := func(ctx context.Context, event reconcileEvent) (arrivals.Report, error) {
		r, err := event.reconciliation()
		if err != nil {
			return arrivals.Report{}, err
		}
		r.Raw, r.Table, r.Now = s.Raw, s.Table, now
		r.Send = func(ctx context.Context, raw rawlog.Log, put time.Time) error {
			if err := queue.SendLog(ctx, s.Queue, e.RawBucket, raw, put); err != nil {
				return err
			}
			log.InfoContext(ctx, "log sent again", "key", raw.Key, "put", put.UTC())
			return nil
		}
		report, err := r.Run(ctx)
		if err != nil {
			log.ErrorContext(ctx, "not reconciled", "error", err)
			return report, err
		}
		if report.NotDue {
			log.InfoContext(ctx, "not due")
			return report, nil
		}
		// An alarm watches the number of lost logs.
		log.InfoContext(ctx, "reconciled", "listed", report.Listed, "arrived", report.Arrived, "recent", report.Recent,
			"lost", report.Lost, "earlier", report.Earlier, "earlier_sent", report.EarlierSent, "left", report.Left,
			"unfinished", report.Unfinished, "ms", report.Elapsed.Milliseconds())
		return report, nil
	}
	return function.New(f, e, function.HandlerOf(handle),
		doctor.Table(client, e.Table, "reconcile"),
		doctor.Clock(client, e.Table, "reconcile", now),
		doctor.Bucket("raw bucket", s.Raw, e.RawBucket, rawlog.Prefix),
		doctor.RawQueue(s.Queue, e.RawQueue),
	)
}

// reconciliation returns the settings of the event.
func (e reconcileEvent) reconciliation() (r arrivals.Reconciliation, err error) {
	if e.Limit < 0 {
		return r, errors.New("limit must not be negative")
	}
	r.Limit, r.Scheduled = e.Limit, e.Type == "Scheduled Event"
	if e.MinAge == "" {
		return r, nil
	}
	r.MinAge, err = time.ParseDuration(e.MinAge)
	switch {
	case err != nil || r.MinAge < 0:
		return r, fmt.Errorf("min_age is %q, not a duration such as 10m", e.MinAge)
	case r.MinAge == 0:
		r.MinAge = -1 // none
	}
	return r, nil
}
