// Package writing builds the functions that write the lake, and the one that has logs imported again. Only they use
// Parquet, so that the other functions do not link its code.
package writing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/orrery/orrery/functions/internal/doctor"
	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/s3"
	"github.com/orrery/orrery/shared/incident/asking"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/ingest/cloud/compaction"
	"github.com/orrery/orrery/shared/ingest/cloud/ledgertable"
	"github.com/orrery/orrery/shared/ingest/cloud/queue"
	"github.com/orrery/orrery/shared/ingest/cloud/repair"
	"github.com/orrery/orrery/shared/ingest/cloud/rollingup"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/table/tabledynamo"
)

// Ingest returns the function that converts raw logs to Parquet. SQS messages name the logs. temp is a folder for
// temporary files.
func Ingest(ctx context.Context, lookup function.Lookup, temp string, log *slog.Logger) (*function.Function, error) {
	p, err := open(ctx, "ingest", lookup, temp, log)
	if err != nil {
		return nil, err
	}
	return p.ingest(time.Now), nil
}

// Compact returns the function that merges the objects of past hours. A schedule starts it, and it ignores the content
// of its event.
func Compact(ctx context.Context, lookup function.Lookup, temp string, log *slog.Logger) (*function.Function, error) {
	p, err := open(ctx, "compact", lookup, temp, log)
	if err != nil {
		return nil, err
	}
	return p.compact(time.Now), nil
}

// parts holds what a function that writes the lake consists of.
type parts struct {
	row         lambdas.Function
	environment function.Environment
	log         *slog.Logger
	cloud       *cloud.Store
	rollups     *rollingup.Maker
	table       lakestate.Table
	queue       Queue
	deadLetters doctor.Queue
	checks      []doctor.Check
}

func open(ctx context.Context, name string, lookup function.Lookup, temp string, log *slog.Logger) (parts, error) {
	f, e, c, err := function.BeginOnAWS(ctx, name, lookup)
	if err != nil {
		return parts{}, err
	}
	scratch, err := ownFolder(temp)
	if err != nil {
		return parts{}, fmt.Errorf("make a folder for temporary files: %w", err)
	}
	client, objects, messages := tabledynamo.NewClient(c), function.NewS3(c), sqs.NewFromConfig(c)
	return newParts(f, e, log, client, Stores{
		Raw:     s3.New(objects, e.RawBucket),
		Lake:    s3.New(objects, e.LakeBucket),
		Table:   lakestate.Over(tabledynamo.New(client, e.Table)),
		Queue:   queue.NewSQS(messages, e.RawQueue),
		Scratch: scratch,
		Rows:    rowsWithin(lookup),
		Rollups: rollupsWithin(lookup),
		Merges:  mergesWithin(lookup),

		DeadLetters: queue.NewSQS(messages, e.RawDeadLetters),
	}, time.Now)
}

// Stores holds the stores from which a function reads logs and to which it writes the lake.
type Stores struct {
	Raw, Lake blob.Store
	Table     lakestate.Table // the ledger and the state
	Queue     Queue           // of messages about raw logs
	Scratch   string          // folder for temporary files
	Rows      int64           // the bytes of the rows that an import has in memory; 0: ingest.DefaultMemory
	Merges    Merges          // of objects; used by compact only
	Rollups   int64           // the bytes of figures in memory while a rollup is made; 0: as many as a scan may have

	DeadLetters doctor.Queue // messages that ingest gave up on; used by compact only
}

// Merges are the merges of objects at the same time.
type Merges struct {
	AtOnce int   // 0: one
	Memory int64 // bytes of each; 0: ingest.DefaultMergeMemory
}

// Queue is a queue of messages about raw logs. *queue.SQS implements it.
type Queue interface {
	queue.Messages
	doctor.Queue
}

func newParts(
	f lambdas.Function, e function.Environment, log *slog.Logger,
	client *dynamodb.Client, s Stores, now func() time.Time,
) (parts, error) {
	c, err := cloud.New(cloud.Config{
		Raw: s.Raw, Lake: s.Lake, Table: s.Table, Scratch: s.Scratch, FromYear: e.ProjectionFrom,
		Options: ingest.Options{Memory: s.Rows}, AtOnce: s.Merges.AtOnce, Memory: s.Merges.Memory,
		Horizon: time.Duration(e.HorizonDays) * 24 * time.Hour, Now: now,
		Unlisted: func(ctx context.Context, object string, err error) {
			log.WarnContext(ctx, "no lists of values", "object", object, "error", err)
		},
		Moved: func(ctx context.Context, moved ledgertable.Moved, err error) {
			fields := []any{"family", moved.Family, "sources", moved.Sources, "left", moved.Left}
			if err != nil {
				log.WarnContext(ctx, "sources of the ledger not moved", append(fields, "error", err)...)
				return
			}
			log.InfoContext(ctx, "sources of the ledger moved", fields...)
		},
	})
	if err != nil {
		return parts{}, err
	}
	counted, err := asking.Counted()
	rollups := &rollingup.Maker{
		Lake: s.Lake, Table: s.Table, Scratch: s.Scratch, Counted: counted, Memory: s.Rollups, Now: now,
	}
	return parts{f, e, log, c, rollups, s.Table, s.Queue, s.DeadLetters, checks(client, s, e, now)}, err
}

// Over returns the function f with the given stores instead of those that its environment names.
func Over(
	f lambdas.Function, e function.Environment, log *slog.Logger,
	client *dynamodb.Client, s Stores, now func() time.Time,
) (*function.Function, error) {
	if f.Name == "reconcile" {
		return reconcile(f, e, log, client, s, now), nil
	}
	p, err := newParts(f, e, log, client, s, now)
	if err != nil {
		return nil, err
	}
	if f.Name == "compact" {
		return p.compact(now), nil
	}
	return p.ingest(now), nil
}

// LimitMemory sets the garbage collector of the process to the memory of the function. Rows are short-lived, so it
// collects half as often while memory allows. Only main functions call it.
func LimitMemory(lookup function.Lookup) {
	if limit, known := function.MemoryLimit(lookup); known {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(200)
	}
}

// rowsShare is the part of the memory of a function that the rows of an import take. The more rows are in memory, the
// fewer objects a log becomes. Rows that are being written, and the writers, take several times as much.
const rowsShare = 6

// rowsWithin returns the bytes of the rows that an import of a function has in memory; 0: the function has no limit.
func rowsWithin(lookup function.Lookup) int64 {
	limit, _ := function.MemoryLimit(lookup)
	return limit / rowsShare
}

// rollupsShare is the part of the memory of a function that the figures of a rollup take while it is made.
const rollupsShare = 3

// rollupsWithin returns the bytes of the figures of a rollup that a function makes; 0: the function has no limit.
func rollupsWithin(lookup function.Lookup) int64 {
	limit, _ := function.MemoryLimit(lookup)
	return limit / rollupsShare
}

// mergesWithin returns the merges of a function: one for each processor, rounded up, which share five sixths of its
// memory.
func mergesWithin(lookup function.Lookup) Merges {
	limit, known := function.MemoryLimit(lookup)
	if !known {
		return Merges{}
	}
	n := 1 + int(limit>>20)/lambdas.CoreMemory
	return Merges{AtOnce: n, Memory: limit * 5 / 6 / int64(n)}
}

func (p parts) ingest(now func() time.Time) *function.Function {
	handle := queue.New(queue.Config{
		Importer: p.cloud, Messages: p.queue, Bucket: p.environment.RawBucket,
		Log: p.log, Now: now, Random: rand.N[time.Duration],
	}).Handle
	checks := append(p.checks, doctor.RawQueue(p.queue, p.environment.RawQueue))
	return function.New(p.row, p.environment, function.HandlerOf(handle), checks...)
}

// compact returns a function that answers every event with the report of a compaction.
func (p parts) compact(now func() time.Time) *function.Function {
	handle := func(ctx context.Context, _ json.RawMessage) (compaction.Report, error) {
		p.logAges(ctx, now()) // first, because a run that is killed logs nothing afterwards
		looked := p.cloud.ObserveQueues(ctx, p.queue, p.deadLetters)
		run, free, err := lakestate.BeginRun(ctx, p.table, now(), deadlineOf(ctx, now()))
		switch err = errors.Join(err, looked); {
		case err != nil && !free:
			p.log.ErrorContext(ctx, "not compacted", "error", err)
			return compaction.Report{}, err
		case !free:
			p.log.InfoContext(ctx, "another run is at work")
			return compaction.Report{Report: repair.Report{Unfinished: true}}, nil
		}
		defer func() {
			if err := run.End(ctx, now()); err != nil {
				p.log.WarnContext(ctx, "the next run waits", "error", err)
			}
		}()
		report, err := p.cloud.Compact(ctx, time.Time{})
		err = errors.Join(err, looked)
		for _, name := range report.Damaged {
			p.log.ErrorContext(ctx, "damaged object set aside", "object", name) // an alarm counts these events
		}
		for _, name := range report.Newer {
			p.log.ErrorContext(ctx, "object of a newer schema copied as it is", "object", name)
		}
		for _, name := range slices.Sorted(maps.Keys(report.NotRebuilt)) { // and these
			p.log.ErrorContext(ctx, "damaged object not rebuilt", "object", name, "reason", report.NotRebuilt[name])
		}
		for _, reason := range report.Unbundled {
			p.log.WarnContext(ctx, "objects not bundled", "reason", reason)
		}
		for _, name := range report.Rebuilt {
			p.log.InfoContext(ctx, "object rebuilt", "object", name)
		}
		if err != nil {
			p.log.ErrorContext(ctx, "not compacted", "error", err)
			return report, err
		}
		p.log.InfoContext(ctx, "compacted", "hours", report.Hours, "objects", report.Objects, "merged", report.Merged,
			"removed", report.Removed, "bundled", report.Bundled, "unfinished", report.Unfinished, "watermark", report.Watermark.String(),
			"ms", report.Elapsed.Milliseconds())
		if !report.Unfinished {
			p.rollUp(ctx)
		}
		return report, nil
	}
	checks := append(p.checks, doctor.RawQueue(p.queue, p.environment.RawQueue),
		doctor.RawDeadLetters(p.deadLetters, p.environment.RawDeadLetters))
	return function.New(p.row, p.environment, function.HandlerOf(handle), checks...)
}

// deadlineOf returns when a run ends at the latest.
func deadlineOf(ctx context.Context, now time.Time) time.Time {
	if until, has := ctx.Deadline(); has {
		return until
	}
	return now.Add(lambdas.LongestRun)
}

// rollUp writes the rollups of days in the rest of the time. Answers are right without them, so a failure is no failure
// of the compaction.
func (p parts) rollUp(ctx context.Context) {
	report, err := p.rollups.Make(ctx)
	if err != nil {
		p.log.WarnContext(ctx, "not rolled up", "error", err)
	}
	if report.Objects+len(report.Days)+len(report.Refused) > 0 {
		p.log.InfoContext(ctx, "rolled up", "objects", report.Objects, "days", dates(report.Days),
			"refused", dates(report.Refused), "unfinished", report.Unfinished)
	}
}

func dates(days []lake.Day) []string {
	texts := make([]string, len(days))
	for i, d := range days {
		texts[i] = d.String()
	}
	return texts
}

// logAges logs the ages that alarms watch. Metric filters of the deployment read the line. A lake without records has
// no newest record, and compaction is not behind.
func (p parts) logAges(ctx context.Context, now time.Time) {
	state, _, err := lakestate.Load(ctx, p.table)
	switch {
	case err != nil:
		p.log.WarnContext(ctx, "the ages of the lake are not known", "error", err)
	case state.Extent.Rows == 0:
		p.log.InfoContext(ctx, "lake", "behind_s", 0)
	default:
		p.log.InfoContext(ctx, "lake", "newest_age_s", int64(state.NewestAge(now).Seconds()),
			"behind_s", int64(state.Behind(now).Seconds()))
	}
}

func checks(client *dynamodb.Client, s Stores, e function.Environment, now func() time.Time) []doctor.Check {
	states := lakestate.NewStates(lakestate.Over(tabledynamo.New(client, e.Table)), now)
	return []doctor.Check{
		doctor.Table(client, e.Table, "lake"),
		doctor.Clock(client, e.Table, "lake", now),
		doctor.Bucket("raw bucket", s.Raw, e.RawBucket, "raw/"),
		doctor.Bucket("lake bucket", s.Lake, e.LakeBucket, "lake/"),
		doctor.FirstYear(states, e.ProjectionFrom),
		doctor.Lake(states, now),
		doctor.Damage(states),
	}
}
