//go:build !noparquet

package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/s3"
	"github.com/orrery/orrery/shared/doctor"
	"github.com/orrery/orrery/shared/dynamo"
	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/ingest/cloud/queue"
	"github.com/orrery/orrery/shared/lakestate"
	laketable "github.com/orrery/orrery/shared/lakestate/dynamo"
	"github.com/orrery/orrery/shared/lambdas"
)

// Ingest wires the function that turns raw logs into Parquet: messages of SQS tell of them. temp is a folder for
// files in the making.
func Ingest(ctx context.Context, lookup Lookup, temp string, log *slog.Logger) (*Function, error) {
	k, err := keep(ctx, "ingest", lookup, temp, log)
	if err != nil {
		return nil, err
	}
	return k.function(handlerOf(queue.New(k.cloud, k.environment.rawBucket, k.log, time.Now).Handle)), nil
}

// Compact wires the function that merges the objects of hours that are over. What its event says does not matter: a
// schedule starts it.
func Compact(ctx context.Context, lookup Lookup, temp string, log *slog.Logger) (*Function, error) {
	k, err := keep(ctx, "compact", lookup, temp, log)
	if err != nil {
		return nil, err
	}
	return k.function(handlerOf(k.compact)), nil
}

// keeper is what both functions that write the lake are made of.
type keeper struct {
	row         lambdas.Function
	environment environment
	log         *slog.Logger
	cloud       *cloud.Cloud
	checks      []doctor.Check
}

func keep(ctx context.Context, name string, lookup Lookup, temp string, log *slog.Logger) (*keeper, error) {
	f, e, err := begin(name, lookup)
	if err != nil {
		return nil, err
	}
	c, err := account(ctx)
	if err != nil {
		return nil, err
	}
	scratch, err := ownFolder(temp)
	if err != nil {
		return nil, fmt.Errorf("make a folder for files in the making: %w", err)
	}
	table, objects := dynamo.NewClient(c), objectClient(c)
	raw, lake := s3.New(objects, e.rawBucket), s3.New(objects, e.lakeBucket)
	k := &keeper{row: f, environment: e, log: log, checks: keeperChecks(table, raw, lake, e, time.Now)}
	k.cloud, err = cloud.New(cloud.Config{
		Raw: raw, Lake: lake, Table: laketable.New(table, e.table), Scratch: scratch, FromYear: e.projectionFrom, Now: time.Now,
	})
	return k, err
}

// LimitMemory tunes the garbage collector of the process to the function's memory. Rows live briefly, so it pays to
// collect half as often while there is room. Only main functions call it.
func LimitMemory(lookup Lookup) {
	text, _ := lookup("AWS_LAMBDA_FUNCTION_MEMORY_SIZE") // in MB; set by Lambda
	if megabytes, err := strconv.ParseInt(text, 10, 64); err == nil && megabytes > 0 {
		debug.SetMemoryLimit(megabytes << 20 / 10 * 8)
		debug.SetGCPercent(200)
	}
}

func (k *keeper) function(events handler) *Function {
	return &Function{name: k.row.Name, version: k.environment.version, events: events, checks: append([]doctor.Check{configured(k.row)}, k.checks...)}
}

// compact answers every event with what was done.
func (k *keeper) compact(ctx context.Context, _ json.RawMessage) (cloud.CompactReport, error) {
	report, err := k.cloud.Compact(ctx, time.Time{})
	if err != nil {
		k.log.ErrorContext(ctx, "not compacted", "error", err)
		return report, err
	}
	k.log.InfoContext(ctx, "compacted", "hours", report.Hours, "objects", report.Objects, "merged", report.Merged, "removed", report.Removed,
		"unfinished", report.Unfinished, "watermark", report.Watermark.String(), "ms", report.Elapsed.Milliseconds())
	return report, nil
}

func keeperChecks(table *dynamodb.Client, raw, lake blob.Store, e environment, now func() time.Time) []doctor.Check {
	return []doctor.Check{
		doctor.Table(table, e.table, "lake"),
		doctor.Clock(table, e.table, "lake", now),
		doctor.Bucket("raw bucket", raw, e.rawBucket, "raw/"),
		doctor.Bucket("lake bucket", lake, e.lakeBucket, "lake/"),
		doctor.Lake(lakestate.NewStates(laketable.New(table, e.table), now), now),
	}
}

// typed is a handler of events of one type, which are answered with another.
type typed[In, Out any] func(ctx context.Context, event In) (Out, error)

func handlerOf[In, Out any](handle func(context.Context, In) (Out, error)) handler {
	return typed[In, Out](handle)
}

func (handle typed[In, Out]) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	var event In
	if err := json.Unmarshal(payload, &event); err != nil {
		return nil, fmt.Errorf("read the event: %w", err)
	}
	out, err := handle(ctx, event)
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}
