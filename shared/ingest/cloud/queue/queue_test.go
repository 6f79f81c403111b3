package queue_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/ingest/cloud/queue"
	"github.com/orrery/orrery/shared/record"
)

var testTime = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// importer records the requested logs, and fails for the keys in errs.
type importer struct {
	logs  []cloud.Log
	errs  map[string]error
	time  time.Time
	takes time.Duration
}

func (i *importer) now() time.Time { return i.time }

func (i *importer) Import(_ context.Context, log cloud.Log) (ingest.Report, error) {
	i.logs = append(i.logs, log)
	i.time = i.time.Add(i.takes)
	report := ingest.Report{Source: "source", Records: 7}
	if strings.Contains(log.Key, "dirty") {
		report.Rejected, report.Quarantine = map[record.Code]int64{"bad_json": 1}, "quarantine/source.ndjson"
	}
	return report, i.errs[log.Key]
}

type deadline struct {
	context.Context
	at time.Time
}

func (d deadline) Deadline() (time.Time, bool) { return d.at, true }

// handle passes a batch of messages m0, m1, … with these bodies to a handler. It returns the failed messages and the
// log.
func (i *importer) handle(t *testing.T, bodies ...string) (failed []string, logged string) {
	t.Helper()
	i.time = testTime
	var log bytes.Buffer
	h := queue.New(i, "logs", slog.New(slog.NewTextHandler(&log, nil)), i.now)
	var batch events.SQSEvent
	for n, body := range bodies {
		batch.Records = append(batch.Records, events.SQSMessage{MessageId: fmt.Sprintf("m%d", n), Body: body})
	}
	response, err := h.Handle(deadline{t.Context(), testTime.Add(15 * time.Minute)}, batch)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range response.BatchItemFailures {
		failed = append(failed, f.ItemIdentifier)
	}
	return failed, log.String()
}

func notification(event, bucket string, keys ...string) string {
	var records []string
	for _, key := range keys {
		records = append(records, fmt.Sprintf(`{"eventVersion":"2.1","eventSource":"aws:s3",
			"eventTime":"2026-03-01T10:00:00.000Z","eventName":%q,
			"s3":{"bucket":{"name":%q},"object":{"key":%q,"size":3,"versionId":"v1"}}}`, event, bucket, key))
	}
	return `{"Records":[` + strings.Join(records, ",") + `]}`
}

func TestHandleDecodesKeys(t *testing.T) {
	i := &importer{}
	failed, _ := i.handle(t,
		notification("ObjectCreated:Put", "logs", "raw/a+b%20c%2Bd", "raw/%C3%BC%25.gz"),
		notification("ObjectCreated:CompleteMultipartUpload", "logs", "raw/plain"),
	)
	want := []cloud.Log{
		{Key: "raw/a b c+d", Version: "v1"},
		{Key: "raw/ü%.gz", Version: "v1"},
		{Key: "raw/plain", Version: "v1"},
	}
	if diff := cmp.Diff(want, i.logs); diff != "" || len(failed) > 0 {
		t.Error(diff, failed)
	}
}

func TestHandleIgnoresOtherEvents(t *testing.T) {
	i := &importer{}
	failed, _ := i.handle(t,
		`{"Service":"Amazon S3","Event":"s3:TestEvent","Time":"2026-03-01T10:00:00.000Z","Bucket":"logs"}`,
		notification("ObjectRemoved:Delete", "logs", "raw/a"),
		notification("ObjectCreated:Put", "logs", "raw/folder/"),
	)
	if len(i.logs) > 0 || len(failed) > 0 {
		t.Error(i.logs, failed)
	}
}

func TestHandleReportsEachFailedMessage(t *testing.T) {
	i := &importer{errs: map[string]error{
		"raw/down":   errors.New("connection refused"),
		"raw/poison": fault.New(fault.Invalid, "the gzip file is cut off"),
		"raw/long":   fmt.Errorf("import raw/long: %w", cloud.ErrUnfinished),
	}}
	created := func(keys ...string) string { return notification("ObjectCreated:Put", "logs", keys...) }
	failed, logged := i.handle(t,
		created("raw/a"), created("raw/down", "raw/b"), "no JSON", "{}",
		notification("ObjectCreated:Put", "other", "raw/c"), created("%zz"),
		created("raw/poison"), created("raw/long"), created("raw/dirty"),
	)
	if diff := cmp.Diff([]string{"m1", "m2", "m3", "m4", "m5", "m6", "m7"}, failed); diff != "" {
		t.Error(diff)
	}
	if want := "raw/a raw/down raw/b raw/poison raw/long raw/dirty"; want != keysOf(i.logs) {
		t.Errorf("imported %s", keysOf(i.logs))
	}
	for _, want := range []string{
		"level=INFO msg=imported message=m0 key=raw/a source=source",
		`level=ERROR msg="not imported" message=m1 key=raw/down`,
		`msg="invalid message" message=m2`,
		`not of \"logs\"`,
		`level=ERROR msg=refused message=m6`,
		`level=INFO msg="imported in part" message=m7`,
		"level=WARN msg=quarantined message=m6",
		"level=WARN msg=quarantined message=m8",
	} {
		if !strings.Contains(logged, want) {
			t.Errorf("the log lacks %s:\n%s", want, logged)
		}
	}
	if n := strings.Count(logged, "msg=quarantined"); n != 2 {
		t.Errorf("the log has %d quarantined messages, want 2", n)
	}
}

func TestHandleLeavesMessagesWhenTimeIsShort(t *testing.T) {
	i := &importer{takes: 8 * time.Minute}
	body := notification("ObjectCreated:Put", "logs", "raw/a")
	failed, _ := i.handle(t, body, body, body)
	if diff := cmp.Diff([]string{"m2"}, failed); diff != "" || len(i.logs) != 2 {
		t.Error(diff, len(i.logs))
	}
}

func TestHandleReturnsEmptyListOfFailures(t *testing.T) {
	h := queue.New(&importer{}, "logs", slog.New(slog.DiscardHandler), time.Now)
	response, err := h.Handle(t.Context(), events.SQSEvent{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(response)
	if err != nil || string(text) != `{"batchItemFailures":[]}` {
		t.Error(string(text), err)
	}
}

func keysOf(logs []cloud.Log) string {
	keys := make([]string, len(logs))
	for i, log := range logs {
		keys[i] = log.Key
	}
	return strings.Join(keys, " ")
}
