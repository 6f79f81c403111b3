// Package queue imports the raw logs that a bucket announces through SQS.
package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
)

// Importer imports one log. *cloud.Store implements it.
type Importer interface {
	Import(ctx context.Context, log rawlog.Log) (ingest.Report, error)
	// Resend records that a message is about to be replaced by another one with the same logs.
	Resend(ctx context.Context) error
}

// Messages is the queue of the messages. *SQS implements it.
type Messages interface {
	// Send puts a message into the queue. first is when the first message about its logs was sent.
	Send(ctx context.Context, body string, first time.Time) error
	// Hide has a received message delivered again after a duration. receipt is the handle of the delivery.
	Hide(ctx context.Context, receipt string, d time.Duration) error
}

// Config is the configuration of a Handler.
type Config struct {
	Importer Importer
	Messages Messages
	Bucket   string // of the logs
	Log      *slog.Logger
	Now      func() time.Time
	// Random returns a random duration of at least 0 and less than its argument.
	Random func(time.Duration) time.Duration
}

// Handler handles batches of messages. Each message succeeds or fails on its own. SQS counts the deliveries of a
// message, and moves it to the dead letters after the number of deliveries that the queue allows. Therefore only
// failures end in another delivery of the same message. A log that is not finished in time continues in a new message.
type Handler struct {
	Config
}

// New returns a Handler for the logs of one bucket.
func New(config Config) *Handler { return &Handler{config} }

// minTime is the minimum time that must remain to begin another message.
const minTime = 20 * time.Second

// outcome is the outcome of a message.
type outcome int

const (
	done       outcome = iota // all its logs are imported or refused
	unfinished                // a log is imported in part, or there was no time to begin
	failed                    // an import failed, and may succeed later
)

// Handle imports the logs of a batch one after the other and returns the messages that failed.
func (h *Handler) Handle(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
	response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	for i, message := range batch.Records {
		result := unfinished
		if i == 0 || !h.short(ctx) {
			result = h.message(ctx, message)
		}
		if result == unfinished {
			result = h.resend(ctx, message)
		}
		if result == done {
			continue
		}
		h.retryLater(ctx, message)
		failure := events.SQSBatchItemFailure{ItemIdentifier: message.MessageId}
		response.BatchItemFailures = append(response.BatchItemFailures, failure)
	}
	return response, nil
}

// short reports whether the remaining time is too short for another message.
func (h *Handler) short(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && deadline.Sub(h.Now()) < minTime
}

// message imports the logs that one message names.
func (h *Handler) message(ctx context.Context, message events.SQSMessage) outcome {
	logs, err := h.logsOf(ctx, message.Body)
	if err != nil {
		h.Log.ErrorContext(ctx, "invalid message", "message", message.MessageId, "error", err)
		return failed
	}
	result := done
	for _, log := range logs {
		result = max(result, h.importLog(ctx, message, log))
	}
	return result
}

// importLog imports one log and reports the result to the log of the function. A refused log is done: the importer has
// written a note about it to the quarantine, an alarm counts it, and another delivery would have the same result.
func (h *Handler) importLog(ctx context.Context, message events.SQSMessage, log rawlog.Log) outcome {
	report, err := h.Importer.Import(ctx, log)
	fields := []any{
		"message", message.MessageId, "key", log.Key, "source", report.Source, "format", report.Format,
		"records", report.Records, "known", report.Known, "rejected", report.RejectedLines(),
		"quarantine", report.Quarantine, "unsaved", report.Unsaved, "objects", report.Objects, "bytes", report.Bytes,
		"ms", report.Elapsed.Milliseconds(), "delivery", deliveries(message),
	}
	fields = append(fields, report.Oddities()...)
	if first, known := firstSent(message); known {
		fields = append(fields, "age_ms", h.Now().Sub(first).Milliseconds())
	}
	refused := fault.KindOf(err) == fault.Invalid
	if report.Quarantine != "" || refused {
		h.Log.WarnContext(ctx, "quarantined", fields...) // an alarm counts these messages, one for each import
	}
	if report.Overlaps() {
		// A metric counts these messages.
		h.Log.WarnContext(ctx, "overlapping", "message", message.MessageId, "key", log.Key, "source", report.Source,
			"judged", report.Judged, "seen", report.Seen, "in", report.SeenIn,
			"meaning", "most of the sampled first records are in the data already, and are counted twice")
	}
	if report.Unchecked != "" {
		// The metric unchecked counts these messages.
		h.Log.WarnContext(ctx, "overlap not checked", "message", message.MessageId, "key", log.Key,
			"source", report.Source, "reason", report.Unchecked,
			"meaning", "the log is imported, but copies of its records may not be noticed")
	}
	switch {
	case err == nil:
		h.Log.InfoContext(ctx, "imported", fields...)
		return done
	case errors.Is(err, cloud.ErrUnfinished):
		h.Log.InfoContext(ctx, "imported in part", fields...)
		return unfinished
	case refused:
		h.Log.ErrorContext(ctx, "refused", append(fields, "error", err)...)
		return done
	}
	h.Log.ErrorContext(ctx, "not imported", append(fields, "error", err)...)
	return failed
}

// resend sends a new message with the same body. SQS counts its deliveries from the beginning. If this fails, the
// message itself fails. If the response is lost, or the function ends before SQS deletes the old message, there are two
// messages, which import nothing twice.
func (h *Handler) resend(ctx context.Context, message events.SQSMessage) outcome {
	first, known := firstSent(message)
	if !known {
		first = h.Now()
	}
	err := h.Importer.Resend(ctx)
	if err == nil {
		err = h.Messages.Send(ctx, message.Body, first)
	}
	if err != nil {
		h.Log.ErrorContext(ctx, "not sent again", "message", message.MessageId, "error", err)
		return failed
	}
	h.Log.InfoContext(ctx, "sent again", "message", message.MessageId)
	return done
}

// Delays of the deliveries of a message that fails. The delay doubles with each delivery.
const (
	firstDelay = 5 * time.Second
	maxDelay   = 15 * time.Minute
)

// retryLater has a failed message delivered again after a delay that depends on the number of its deliveries. Without
// it, the message would stay hidden for as long as the queue hides a message that is being processed.
func (h *Handler) retryLater(ctx context.Context, message events.SQSMessage) {
	delay := maxDelay
	if n := deliveries(message); n < 9 { // the ninth would exceed maxDelay
		delay = min(firstDelay<<(n-1), maxDelay)
	}
	delay = delay/2 + h.Random(delay/2) // so that messages that failed together are not delivered together
	if err := h.Messages.Hide(ctx, message.ReceiptHandle, delay); err != nil {
		h.Log.WarnContext(ctx, "left to the timeout of the queue", "message", message.MessageId, "error", err)
	}
}

// deliveries returns how often a message has been delivered, which is at least once.
func deliveries(message events.SQSMessage) int {
	n, err := strconv.Atoi(message.Attributes["ApproximateReceiveCount"])
	if err != nil || n < 1 {
		return 1
	}
	return n
}

// firstSentName is the attribute of a message that was sent again with the time of the first message, in milliseconds.
const firstSentName = "first_sent"

// firstSent returns when the first message about the logs of a message was sent.
func firstSent(message events.SQSMessage) (at time.Time, known bool) {
	text := message.Attributes["SentTimestamp"]
	if earlier := message.MessageAttributes[firstSentName].StringValue; earlier != nil {
		text = *earlier
	}
	ms, err := strconv.ParseInt(text, 10, 64)
	return time.UnixMilli(ms), err == nil
}

// SendLog puts a message about a log into a queue, in the form of the bucket's notifications, and with the format of
// the log if it has one. put is when the log was put.
func SendLog(ctx context.Context, m Messages, bucket string, log rawlog.Log, put time.Time) error {
	r := sentRecord{Format: log.Format}
	r.EventName = created + "Put"
	r.S3.Bucket.Name = bucket
	r.S3.Object.Key, r.S3.Object.VersionID = url.QueryEscape(log.Key), log.Version
	body, err := json.Marshal(map[string]any{"Records": []sentRecord{r}})
	if err != nil {
		return err
	}
	return m.Send(ctx, string(body), put)
}

// sentRecord is the part of a notification's record that logsOf reads.
type sentRecord struct {
	EventName string `json:"eventName"`
	Format    string `json:"orreryFormat,omitempty"`
	S3        struct {
		Bucket struct {
			Name string `json:"name"`
		} `json:"bucket"`
		Object struct {
			Key       string `json:"key"`
			VersionID string `json:"versionId,omitempty"`
		} `json:"object"`
	} `json:"s3"`
}

// created begins the names of the events of objects that were put.
const created = "ObjectCreated:"

// logsOf returns the logs that the notification in a message names. There are none in the test event that S3 sends when
// notifications are set up.
func (h *Handler) logsOf(ctx context.Context, body string) ([]rawlog.Log, error) {
	var notification struct {
		Event   string
		Records []struct {
			events.S3EventRecord

			Format string `json:"orreryFormat"`
		}
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
	var logs []rawlog.Log
	for _, r := range notification.Records {
		// Keys are encoded as in HTML forms: a space as a plus, a plus as %2B.
		key, err := url.QueryUnescape(r.S3.Object.Key)
		if err != nil {
			return nil, fmt.Errorf("key %q: %w", r.S3.Object.Key, err)
		}
		if !strings.HasPrefix(r.EventName, created) {
			continue // a removal
		}
		if reason := rawlog.NoLog(key); reason != "" {
			h.Log.InfoContext(ctx, "ignored", "key", key, "reason", reason)
			continue
		}
		if r.S3.Bucket.Name != h.Bucket {
			return nil, fmt.Errorf("the notification is of bucket %q, not of %q", r.S3.Bucket.Name, h.Bucket)
		}
		logs = append(logs, rawlog.Log{Key: key, Version: r.S3.Object.VersionID, Format: r.Format})
	}
	return logs, nil
}
