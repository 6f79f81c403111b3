// Package queue imports the raw logs that a bucket tells of through SQS.
package queue

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
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud"
)

// Importer imports one log; it is a *cloud.Store.
type Importer interface {
	Import(ctx context.Context, log cloud.Log) (ingest.Report, error)
}

// Handler takes batches of messages. Each message succeeds or fails for itself: what fails SQS delivers again, and
// after so many times as the queue says it goes to the dead letters.
type Handler struct {
	importer Importer
	bucket   string
	log      *slog.Logger
	now      func() time.Time
}

// New makes a handler for the logs of one bucket.
func New(importer Importer, bucket string, log *slog.Logger, now func() time.Time) *Handler {
	return &Handler{importer, bucket, log, now}
}

// leastTime is how much time there must be to begin with another message; with less it is left to a later delivery.
const leastTime = 20 * time.Second

// Handle imports the logs of a batch one after the other, and names the messages that failed.
func (h *Handler) Handle(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
	response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	for i, message := range batch.Records {
		if i > 0 && h.short(ctx) {
			h.log.InfoContext(ctx, "left to a later delivery", "message", message.MessageId)
		} else if h.message(ctx, message) {
			continue
		}
		response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: message.MessageId})
	}
	return response, nil
}

// short tells that the time left is too short for another message.
func (h *Handler) short(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && deadline.Sub(h.now()) < leastTime
}

// message imports what one message tells of and says whether all of it is done.
func (h *Handler) message(ctx context.Context, message events.SQSMessage) bool {
	logs, err := h.logsOf(message.Body)
	if err != nil {
		h.log.ErrorContext(ctx, "message is of no use", "message", message.MessageId, "error", err)
		return false
	}
	done := true
	for _, log := range logs {
		report, err := h.importer.Import(ctx, log)
		fields := []any{
			"message", message.MessageId, "key", log.Key, "source", report.Source, "format", report.Format, "records", report.Records, "known", report.Known,
			"rejected", report.RejectedLines(), "quarantine", report.Quarantine, "objects", report.Objects, "bytes", report.Bytes, "ms", report.Elapsed.Milliseconds(),
		}
		if report.Quarantine != "" || fault.KindOf(err) == fault.Invalid {
			h.log.WarnContext(ctx, "quarantined", fields...) // what an alarm counts
		}
		switch {
		case err == nil:
			h.log.InfoContext(ctx, "imported", fields...)
			continue
		case errors.Is(err, cloud.ErrUnfinished):
			h.log.InfoContext(ctx, "imported in part", fields...)
		case fault.KindOf(err) == fault.Invalid:
			h.log.ErrorContext(ctx, "refused", append(fields, "error", err)...)
		default:
			h.log.ErrorContext(ctx, "not imported", append(fields, "error", err)...)
		}
		done = false
	}
	return done
}

// logsOf reads the notification in a message: none when it tells of nothing to import, as the test event does that S3
// sends when notifications are set up.
func (h *Handler) logsOf(body string) ([]cloud.Log, error) {
	var notification struct {
		Event   string
		Records []events.S3EventRecord
	}
	if err := json.Unmarshal([]byte(body), &notification); err != nil {
		return nil, fmt.Errorf("it is no S3 notification: %w", err)
	}
	if notification.Event == "s3:TestEvent" {
		return nil, nil
	}
	if len(notification.Records) == 0 {
		return nil, errors.New("it is no S3 notification: it has no records")
	}
	var logs []cloud.Log
	for _, r := range notification.Records {
		// Keys come as in forms: a space as a plus, a plus as %2B.
		key, err := url.QueryUnescape(r.S3.Object.Key)
		if err != nil {
			return nil, fmt.Errorf("key %q: %w", r.S3.Object.Key, err)
		}
		if !strings.HasPrefix(r.EventName, "ObjectCreated:") || strings.HasSuffix(key, "/") {
			continue // removals; and what consoles make to show folders
		}
		if r.S3.Bucket.Name != h.bucket {
			return nil, fmt.Errorf("it tells of bucket %q, not of %q", r.S3.Bucket.Name, h.bucket)
		}
		logs = append(logs, cloud.Log{Key: key, Version: r.S3.Object.VersionID})
	}
	return logs, nil
}
