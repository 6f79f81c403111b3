// Package queue imports the raw logs of which a bucket sends notifications through SQS.
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

// Importer imports one log. *cloud.Store implements it.
type Importer interface {
	Import(ctx context.Context, log cloud.Log) (ingest.Report, error)
}

// Handler handles batches of messages. Each message succeeds or fails on its own. SQS delivers a failed message again,
// and moves it to the dead letters after the number of deliveries that the queue allows.
type Handler struct {
	importer Importer
	bucket   string
	log      *slog.Logger
	now      func() time.Time
}

// New returns a Handler for the logs of one bucket.
func New(importer Importer, bucket string, log *slog.Logger, now func() time.Time) *Handler {
	return &Handler{importer, bucket, log, now}
}

// minTime is the minimum time that must remain to begin another message. Otherwise the message is left to a later
// delivery.
const minTime = 20 * time.Second

// Handle imports the logs of a batch one after the other and returns the messages that failed.
func (h *Handler) Handle(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
	response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	for i, message := range batch.Records {
		if i > 0 && h.short(ctx) {
			h.log.InfoContext(ctx, "left to a later delivery", "message", message.MessageId)
		} else if h.message(ctx, message) {
			continue
		}
		failure := events.SQSBatchItemFailure{ItemIdentifier: message.MessageId}
		response.BatchItemFailures = append(response.BatchItemFailures, failure)
	}
	return response, nil
}

// short reports whether the remaining time is too short for another message.
func (h *Handler) short(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && deadline.Sub(h.now()) < minTime
}

// message imports the logs that one message names, and reports whether all of them are imported completely.
func (h *Handler) message(ctx context.Context, message events.SQSMessage) bool {
	logs, err := h.logsOf(message.Body)
	if err != nil {
		h.log.ErrorContext(ctx, "invalid message", "message", message.MessageId, "error", err)
		return false
	}
	done := true
	for _, log := range logs {
		report, err := h.importer.Import(ctx, log)
		fields := []any{
			"message", message.MessageId, "key", log.Key, "source", report.Source, "format", report.Format,
			"records", report.Records, "known", report.Known, "rejected", report.RejectedLines(),
			"quarantine", report.Quarantine, "objects", report.Objects, "bytes", report.Bytes,
			"ms", report.Elapsed.Milliseconds(),
		}
		if report.Quarantine != "" || fault.KindOf(err) == fault.Invalid {
			h.log.WarnContext(ctx, "quarantined", fields...) // an alarm counts these messages
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

// logsOf returns the logs that the notification in a message names. There are none in the test event that S3 sends when
// notifications are set up.
func (h *Handler) logsOf(body string) ([]cloud.Log, error) {
	var notification struct {
		Event   string
		Records []events.S3EventRecord
	}
	if err := json.Unmarshal([]byte(body), &notification); err != nil {
		return nil, fmt.Errorf("the body is not an S3 notification: %w", err)
	}
	if notification.Event == "s3:TestEvent" {
		return nil, nil
	}
	if len(notification.Records) == 0 {
		return nil, errors.New("the body is not an S3 notification: it has no records")
	}
	var logs []cloud.Log
	for _, r := range notification.Records {
		// Keys are encoded as in HTML forms: a space as a plus, a plus as %2B.
		key, err := url.QueryUnescape(r.S3.Object.Key)
		if err != nil {
			return nil, fmt.Errorf("key %q: %w", r.S3.Object.Key, err)
		}
		if !strings.HasPrefix(r.EventName, "ObjectCreated:") || strings.HasSuffix(key, "/") {
			continue // removals, and objects that consoles create to show folders
		}
		if r.S3.Bucket.Name != h.bucket {
			return nil, fmt.Errorf("the notification is of bucket %q, not of %q", r.S3.Bucket.Name, h.bucket)
		}
		logs = append(logs, cloud.Log{Key: key, Version: r.S3.Object.VersionID})
	}
	return logs, nil
}
