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
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/record"
)

var testTime = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// importer records the requested logs, and fails for the keys in errs.
type importer struct {
	logs  []rawlog.Log
	errs  map[string]error
	time  time.Time
	takes time.Duration

	resent    int // calls of Resend
	resendErr error
}

func (i *importer) now() time.Time { return i.time }

func (i *importer) Import(_ context.Context, log rawlog.Log) (ingest.Report, error) {
	i.logs = append(i.logs, log)
	i.time = i.time.Add(i.takes)
	report := ingest.Report{Source: "source", Records: 7}
	if strings.Contains(log.Key, "dirty") {
		report.Rejected, report.Quarantine = map[record.Code]int64{"bad_json": 1}, "quarantine/source.ndjson"
	}
	if strings.Contains(log.Key, "copy") {
		report.Judged, report.Seen, report.SeenIn, report.Sampled = 60, 50, "other", true
	}
	if strings.Contains(log.Key, "unchecked") {
		report.Unchecked = "read marks: throttled"
	}
	return report, i.errs[log.Key]
}

func (i *importer) Resend(context.Context) error {
	i.resent++
	return i.resendErr
}

type ending struct {
	context.Context
	at time.Time
}

func (d ending) Deadline() (time.Time, bool) { return d.at, true }

// sent is a message that a handler sent.
type sent struct {
	body  string
	first time.Time
}

// messages records the calls of a handler. If err is set, they fail.
type messages struct {
	sent   []sent
	hidden map[string]time.Duration // by receipt
	err    error
}

func (m *messages) Send(_ context.Context, body string, first time.Time) error {
	m.sent = append(m.sent, sent{body, first.UTC()})
	return m.err
}

func (m *messages) Hide(_ context.Context, receipt string, d time.Duration) error {
	if m.hidden == nil {
		m.hidden = map[string]time.Duration{}
	}
	m.hidden[receipt] = d
	return m.err
}

// config returns the configuration of a handler without randomness.
func (i *importer) config(m queue.Messages, log *slog.Logger) queue.Config {
	return queue.Config{
		Importer: i, Messages: m, Bucket: "logs", Log: log, Now: i.now,
		Random: func(time.Duration) time.Duration { return 0 },
	}
}

// handle passes a batch of messages m0, m1, … with these bodies to a handler. It returns the failed messages and the
// log.
func (i *importer) handle(t *testing.T, bodies ...string) (failed []string, logged string) {
	t.Helper()
	return i.handleWith(t, &messages{}, bodies...)
}

func (i *importer) handleWith(t *testing.T, m *messages, bodies ...string) (failed []string, logged string) {
	t.Helper()
	i.time = testTime
	var log bytes.Buffer
	h := queue.New(i.config(m, slog.New(slog.NewTextHandler(&log, nil))))
	var batch events.SQSEvent
	for n, body := range bodies {
		batch.Records = append(batch.Records, events.SQSMessage{
			MessageId: fmt.Sprintf("m%d", n), ReceiptHandle: fmt.Sprintf("r%d", n), Body: body,
			Attributes: map[string]string{"SentTimestamp": "1772359200000"}, // testTime
		})
	}
	response, err := h.Handle(ending{t.Context(), testTime.Add(15 * time.Minute)}, batch)
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
	want := []rawlog.Log{
		{Key: "raw/a b c+d", Version: "v1"},
		{Key: "raw/ü%.gz", Version: "v1"},
		{Key: "raw/plain", Version: "v1"},
	}
	if diff := cmp.Diff(want, i.logs); diff != "" || len(failed) > 0 {
		t.Error(diff, failed)
	}
}

func TestHandleImportsSentLogs(t *testing.T) {
	var m messages
	logs := []rawlog.Log{{Key: "raw/a b+c/ü%.gz"}, {Key: "raw/plain", Version: "v+2"}, {Key: "raw/a", Format: `map:["ip=a"]`}}
	for _, log := range logs {
		if err := queue.SendLog(t.Context(), &m, "logs", log, testTime); err != nil {
			t.Fatal(err)
		}
	}
	i := &importer{}
	for _, sent := range m.sent {
		if failed, _ := i.handle(t, sent.body); len(failed) > 0 || !sent.first.Equal(testTime) {
			t.Errorf("%s of %v failed: %v", sent.body, sent.first, failed)
		}
	}
	if diff := cmp.Diff(logs, i.logs); diff != "" {
		t.Error(diff)
	}
	down := &messages{err: errors.New("the queue is down")}
	if err := queue.SendLog(t.Context(), down, "logs", logs[0], testTime); !errors.Is(err, down.err) {
		t.Error(err)
	}
}

// TestHandleWarnsOfCopies: a log of which most records are in the data is imported, and a metric counts the warning.
func TestHandleWarnsOfCopies(t *testing.T) {
	for key, warns := range map[string]bool{"raw/copy.log": true, "raw/new.log": false} {
		i := &importer{}
		failed, logged := i.handle(t, notification("ObjectCreated:Put", "logs", key))
		const warning = "msg=overlapping message=m0 key=raw/copy.log source=source judged=60 seen=50 in=other"
		if len(failed) > 0 || strings.Contains(logged, warning) != warns || !strings.Contains(logged, "msg=imported") {
			t.Errorf("%s: failed %v\n%s", key, failed, logged)
		}
	}
}

// TestHandleWarnsOfUncheckedLogs: another metric counts the logs of which it is not known whether they are copies.
func TestHandleWarnsOfUncheckedLogs(t *testing.T) {
	for key, warns := range map[string]bool{"raw/unchecked.log": true, "raw/new.log": false} {
		i := &importer{}
		failed, logged := i.handle(t, notification("ObjectCreated:Put", "logs", key))
		const warning = `msg="overlap not checked" message=m0 key=raw/unchecked.log source=source reason="read marks: throttled"`
		if len(failed) > 0 || strings.Contains(logged, warning) != warns || !strings.Contains(logged, "msg=imported") {
			t.Errorf("%s: failed %v\n%s", key, failed, logged)
		}
	}
}

func TestHandleIgnoresOtherEvents(t *testing.T) {
	i := &importer{}
	failed, logged := i.handle(t,
		`{"Service":"Amazon S3","Event":"s3:TestEvent","Time":"2026-03-01T10:00:00.000Z","Bucket":"logs"}`,
		notification("ObjectRemoved:Delete", "logs", "raw/a"),
		notification("ObjectCreated:Put", "logs", "raw/folder/"),
		notification("ObjectCreated:Put", "logs", "raw/AWSLogs/123456789012/ELBAccessLogTestFile"),
	)
	if len(i.logs) > 0 || len(failed) > 0 {
		t.Error(i.logs, failed)
	}
	const want = `level=INFO msg=ignored key=raw/AWSLogs/123456789012/ELBAccessLogTestFile reason="a load balancer`
	if !strings.Contains(logged, want) || strings.Contains(logged, "level=WARN") {
		t.Errorf("log %s, want %s", logged, want)
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
	if diff := cmp.Diff([]string{"m1", "m2", "m3", "m4", "m5"}, failed); diff != "" {
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

func TestHandleSendsMessagesAgainWhenTimeIsShort(t *testing.T) {
	i := &importer{takes: 8 * time.Minute}
	body := notification("ObjectCreated:Put", "logs", "raw/a")
	var m messages
	failed, _ := i.handleWith(t, &m, body, body, body)
	if len(failed) > 0 || len(i.logs) != 2 || len(m.hidden) > 0 {
		t.Error(failed, i.logs, m.hidden)
	}
	if diff := cmp.Diff([]sent{{body, testTime}}, m.sent, cmp.AllowUnexported(sent{})); diff != "" {
		t.Error(diff)
	}
}

func TestHandleContinuesUnfinishedLogsInNewMessages(t *testing.T) {
	i := &importer{errs: map[string]error{"raw/long": fmt.Errorf("import raw/long: %w", cloud.ErrUnfinished)}}
	body := notification("ObjectCreated:Put", "logs", "raw/long")
	t.Run("the old message is done", func(t *testing.T) {
		var m messages
		failed, _ := i.handleWith(t, &m, body)
		if len(failed) > 0 || len(m.sent) != 1 || m.sent[0].body != body || len(m.hidden) > 0 {
			t.Error(failed, m)
		}
	})
	t.Run("the state records the new message before it is sent", func(t *testing.T) {
		var m messages
		i := &importer{errs: i.errs, resendErr: errors.New("the table is down")}
		failed, _ := i.handleWith(t, &m, body)
		if i.resent != 1 || len(failed) != 1 || len(m.sent) > 0 {
			t.Error(i.resent, failed, m)
		}
	})
	t.Run("a new message keeps the time of the first", func(t *testing.T) {
		var m messages
		first := testTime.Add(-time.Hour)
		number := fmt.Sprint(first.UnixMilli())
		var log bytes.Buffer
		_, err := queue.New(i.config(&m, slog.New(slog.NewTextHandler(&log, nil)))).Handle(t.Context(), events.SQSEvent{
			Records: []events.SQSMessage{{
				Body:              body,
				Attributes:        map[string]string{"SentTimestamp": fmt.Sprint(testTime.UnixMilli())},
				MessageAttributes: map[string]events.SQSMessageAttribute{"first_sent": {StringValue: &number}},
			}},
		})
		if err != nil || len(m.sent) != 1 || !m.sent[0].first.Equal(first) {
			t.Error(m.sent, err)
		}
		if !strings.Contains(log.String(), "age_ms=3600000") {
			t.Error(log.String())
		}
	})
	t.Run("without a new message the old one fails", func(t *testing.T) {
		m := messages{err: errors.New("SQS is down")}
		failed, _ := i.handleWith(t, &m, body)
		if len(failed) != 1 || m.hidden["r0"] == 0 {
			t.Error(failed, m)
		}
	})
}

func TestHandleDelaysFailedMessages(t *testing.T) {
	i := &importer{errs: map[string]error{"raw/down": errors.New("connection refused")}}
	handle := func(receives string, random func(time.Duration) time.Duration) time.Duration {
		t.Helper()
		var m messages
		config := i.config(&m, slog.New(slog.DiscardHandler))
		config.Random = random
		response, err := queue.New(config).Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{{
			ReceiptHandle: "r", Body: notification("ObjectCreated:Put", "logs", "raw/down"),
			Attributes: map[string]string{"ApproximateReceiveCount": receives},
		}}})
		if err != nil || len(response.BatchItemFailures) != 1 || len(m.sent) > 0 {
			t.Fatal(response, err, m.sent)
		}
		return m.hidden["r"]
	}
	most := func(below time.Duration) time.Duration { return below - 1 }
	for receives, want := range map[string]time.Duration{
		"1": 5 * time.Second, "2": 10 * time.Second, "3": 20 * time.Second, "7": 320 * time.Second,
		"8": 640 * time.Second, "9": 15 * time.Minute, "100000": 15 * time.Minute, "": 5 * time.Second,
	} {
		t.Run("delivery "+receives, func(t *testing.T) {
			if got := handle(receives, most); got != want-1 {
				t.Errorf("at most %v, want %v", got, want-1)
			}
			if got := handle(receives, func(time.Duration) time.Duration { return 0 }); got != want/2 {
				t.Errorf("at least %v, want %v", got, want/2)
			}
		})
	}
}

func TestHandleReturnsEmptyListOfFailures(t *testing.T) {
	h := queue.New((&importer{}).config(&messages{}, slog.New(slog.DiscardHandler)))
	response, err := h.Handle(t.Context(), events.SQSEvent{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(response)
	if err != nil || string(text) != `{"batchItemFailures":[]}` {
		t.Error(string(text), err)
	}
}

func keysOf(logs []rawlog.Log) string {
	keys := make([]string, len(logs))
	for i, log := range logs {
		keys[i] = log.Key
	}
	return strings.Join(keys, " ")
}
