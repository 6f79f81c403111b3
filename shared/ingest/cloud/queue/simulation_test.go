package queue_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/ingest/cloud/arrivals"
	"github.com/orrery/orrery/shared/ingest/cloud/deadline"
	"github.com/orrery/orrery/shared/ingest/cloud/queue"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/lake/parquet/parquettest"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/table/tabletest"
)

// simulation is a queue of SQS with an event source, as the deployment sets them up, by a clock of its own. It delivers
// messages in any order and some of them twice, loses some responses of the function, and fails some requests.
type simulation struct {
	time       time.Time
	random     *rand.Rand
	waiting    []*simulated
	dead       []*simulated
	sent       int
	deliveries int
	between    func() // called before each delivery
}

// simulated is a message of a simulation.
type simulated struct {
	id, body string
	sent     time.Time
	first    string // attribute of a message that was sent again
	visible  time.Time
	receives int
	moved    time.Time // to the dead letters
}

var errDown = errors.New("the service is down")

func newSimulation(seed uint64) *simulation {
	return &simulation{time: testTime, random: rand.New(rand.NewPCG(seed, 0))}
}

func (s *simulation) now() time.Time { return s.time }

// chance returns true with a probability.
func (s *simulation) chance(of float64) bool { return s.random.Float64() < of }

func (s *simulation) put(body, first string) {
	s.sent++
	id := "m" + strconv.Itoa(s.sent)
	s.waiting = append(s.waiting, &simulated{id: id, body: body, sent: s.time, first: first, visible: s.time})
}

func (s *simulation) Send(_ context.Context, body string, first time.Time) error {
	if s.chance(0.1) {
		return errDown
	}
	s.put(body, fmt.Sprint(first.UnixMilli()))
	if s.chance(0.05) {
		return fmt.Errorf("%w after the message was accepted", errDown)
	}
	return nil
}

// Waiting returns the number of messages. It counts a message as late as SQS may.
func (s *simulation) Waiting(context.Context) (n int, err error) {
	for _, m := range s.waiting {
		if s.time.Sub(m.sent) >= lakestate.CountLag {
			n++
		}
	}
	return n, nil
}

// deadLetters is the queue of the dead letters of a simulation.
type deadLetters struct{ *simulation }

func (d deadLetters) Waiting(context.Context) (n int, err error) {
	for _, m := range d.dead {
		if d.time.Sub(m.moved) >= lakestate.CountLag {
			n++
		}
	}
	return n, nil
}

func (s *simulation) Hide(_ context.Context, receipt string, d time.Duration) error {
	if s.chance(0.1) {
		return errDown
	}
	for _, m := range s.waiting {
		if m.id == receipt {
			m.visible = s.time.Add(d)
		}
	}
	return nil
}

// run delivers messages to a function with those limits until no message is left.
func (s *simulation) run(t *testing.T, h *queue.Handler, timeout time.Duration) {
	t.Helper()
	for len(s.waiting) > 0 {
		if s.deliveries++; s.deliveries > 5000 {
			t.Fatalf("%d messages are left after 5000 deliveries", len(s.waiting))
		}
		if s.between != nil {
			s.between()
		}
		m := s.receive(timeout)
		if m == nil {
			continue
		}
		message := events.SQSMessage{
			MessageId: m.id, ReceiptHandle: m.id, Body: m.body,
			Attributes: map[string]string{
				"ApproximateReceiveCount": strconv.Itoa(m.receives),
				"SentTimestamp":           fmt.Sprint(m.sent.UnixMilli()),
			},
		}
		if m.first != "" {
			message.MessageAttributes = map[string]events.SQSMessageAttribute{"first_sent": {StringValue: &m.first}}
		}
		ctx := ending{t.Context(), s.time.Add(timeout)}
		response, err := h.Handle(ctx, events.SQSEvent{Records: []events.SQSMessage{message}})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case len(response.BatchItemFailures) > 0:
		case s.chance(0.03): // the function ended before it could return, so the message is not deleted
		case s.chance(0.03):
			m.visible = s.time // SQS delivers a deleted message once more
		default:
			s.waiting = slices.DeleteFunc(s.waiting, func(o *simulated) bool { return o == m })
		}
	}
}

// receive returns one of the visible messages. It waits until one is visible. It returns nil if a message became a dead
// letter instead.
func (s *simulation) receive(timeout time.Duration) *simulated {
	var visible []*simulated
	for len(visible) == 0 {
		next := slices.MinFunc(s.waiting, func(a, b *simulated) int { return a.visible.Compare(b.visible) })
		if next.visible.After(s.time) {
			s.time = next.visible
		}
		for _, m := range s.waiting {
			if !m.visible.After(s.time) {
				visible = append(visible, m)
			}
		}
	}
	m := visible[s.random.IntN(len(visible))]
	if m.receives == lambdas.Deliveries {
		m.moved = s.time
		s.dead = append(s.dead, m)
		s.waiting = slices.DeleteFunc(s.waiting, func(o *simulated) bool { return o == m })
		return nil
	}
	m.receives++
	m.visible = s.time.Add(timeout + lambdas.DeliveryMargin)
	return m
}

func (s *simulation) handler(i queue.Importer) *queue.Handler {
	return queue.New(queue.Config{
		Importer: i, Messages: s, Bucket: "logs", Log: slog.New(slog.DiscardHandler), Now: s.now,
		Random: func(d time.Duration) time.Duration { return time.Duration(s.random.Int64N(int64(d))) },
	})
}

// largeLogs imports logs by their sizes alone. Reading known bytes takes time, converting new ones takes more. Imports
// fail at random, before or after they are committed.
type largeLogs struct {
	*simulation
	size     int64
	imported map[string]int64
	calls    int
}

const (
	readSpeed    = 20_000_000 // bytes per second
	convertSpeed = 500_000
)

func (l *largeLogs) Import(ctx context.Context, log rawlog.Log) (ingest.Report, error) {
	l.calls++
	if l.chance(0.3) {
		l.time = l.time.Add(time.Duration(l.random.Int64N(int64(time.Minute))))
		return ingest.Report{}, errDown
	}
	known := l.imported[log.Key]
	l.time = l.time.Add(time.Duration(known) * time.Second / readSpeed)
	end, _ := ctx.Deadline()
	allowed := int64(end.Add(-deadline.DefaultReserve).Sub(l.time).Seconds() * convertSpeed)
	added := min(l.size-known, allowed)
	l.time = l.time.Add(time.Duration(added) * time.Second / convertSpeed)
	l.imported[log.Key] += added
	if l.chance(0.1) {
		return ingest.Report{}, fmt.Errorf("%w after the commit", errDown)
	}
	report := ingest.Report{Records: added / 500, Known: known / 500}
	if known+added < l.size {
		return report, cloud.ErrUnfinished
	}
	return report, nil
}

// Resend does nothing.
func (l *largeLogs) Resend(context.Context) error { return nil }

func TestLargeLogsNeverBecomeDeadLetters(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			l := &largeLogs{simulation: newSimulation(seed), size: 1_000_000_000, imported: map[string]int64{}}
			const logs = 10
			for i := range logs {
				l.put(notification("ObjectCreated:Put", "logs", fmt.Sprintf("raw/%d", i)), "")
			}
			l.run(t, l.handler(l), lambdas.LongestRun)
			if len(l.dead) > 0 {
				t.Errorf("%d dead letters", len(l.dead))
			}
			for i := range logs {
				if key := fmt.Sprintf("raw/%d", i); l.imported[key] != l.size {
					t.Errorf("%s: %d of %d bytes are imported", key, l.imported[key], l.size)
				}
			}
			if l.calls < 3*logs { // a call imports 405 MB at most
				t.Errorf("%d calls imported everything", l.calls)
			}
			// One instance converts 10 GB in 5.6 hours.
			if took := l.time.Sub(testTime); took > 12*time.Hour {
				t.Errorf("the imports took %v", took)
			}
		})
	}
}

// flaky is an importer over stores that fail. In 30 % of its calls one of the requests and all requests after it fail.
type flaky struct {
	*simulation
	store *cloud.Store
	left  int // requests until they fail; negative if they do not

	importing bool
}

func (f *flaky) Import(ctx context.Context, log rawlog.Log) (ingest.Report, error) {
	f.left = -1
	if f.chance(0.3) {
		f.left = f.random.IntN(30)
	}
	f.importing = true
	defer func() { f.importing = false }()
	return f.store.Import(ctx, log)
}

// Resend fails at times.
func (f *flaky) Resend(ctx context.Context) error {
	if f.chance(0.1) {
		return errDown
	}
	f.left = -1
	return f.store.Resend(ctx)
}

// request runs a request, unless it fails. The first request to fail may fail after it was run.
func (f *flaky) request(run func() error) error {
	switch {
	case f.left < 0:
		return run()
	case f.left > 0:
		f.left--
		return run()
	}
	if f.chance(0.5) {
		if err := run(); err != nil {
			return err
		}
	}
	return errDown
}

type flakyBlobs struct {
	blob.Store
	*flaky
}

func (b flakyBlobs) Get(
	ctx context.Context, name, version string, offset int64,
) (body io.ReadCloser, info blob.Info, err error) {
	err = b.request(func() (err error) { body, info, err = b.Store.Get(ctx, name, version, offset); return err })
	return body, info, err
}

func (b flakyBlobs) Head(ctx context.Context, name string) (info blob.Info, err error) {
	err = b.request(func() (err error) { info, err = b.Store.Head(ctx, name); return err })
	return info, err
}

func (b flakyBlobs) Put(ctx context.Context, name string, body io.ReadSeeker, when blob.Condition) error {
	return b.request(func() error { return b.Store.Put(ctx, name, body, when) })
}

func (b flakyBlobs) Copy(ctx context.Context, from, to string) error {
	return b.request(func() error { return b.Store.Copy(ctx, from, to) })
}

func (b flakyBlobs) List(ctx context.Context, prefix, after string) iter.Seq2[blob.Info, error] {
	if err := b.request(func() error { return nil }); err != nil {
		return func(yield func(blob.Info, error) bool) { yield(blob.Info{}, err) }
	}
	return b.Store.List(ctx, prefix, after)
}

func (b flakyBlobs) Delete(ctx context.Context, names ...string) error {
	return b.request(func() error { return b.Store.Delete(ctx, names...) })
}

type flakyTable struct {
	lakestate.Table
	*flaky
}

func (t flakyTable) Get(ctx context.Context, key lakestate.Key) (item lakestate.Item, err error) {
	err = t.request(func() (err error) { item, err = t.Table.Get(ctx, key); return err })
	return item, err
}

func (t flakyTable) List(ctx context.Context, partition, prefix string) (items []lakestate.Item, err error) {
	err = t.request(func() (err error) { items, err = t.Table.List(ctx, partition, prefix); return err })
	return items, err
}

func (t flakyTable) Write(ctx context.Context, changes ...lakestate.Change) error {
	return t.request(func() error { return t.Table.Write(ctx, changes...) })
}

func (t flakyTable) Between(ctx context.Context, partition, from, to string) iter.Seq2[lakestate.Item, error] {
	if err := t.request(func() error { return nil }); err != nil {
		return func(yield func(lakestate.Item, error) bool) { yield(lakestate.Item{}, err) }
	}
	return t.Table.Between(ctx, partition, from, to)
}

// reconcile sends the logs again that have not arrived, until nothing fails.
func (f *flaky) reconcile(t *testing.T, raw blob.Store, table lakestate.Table) arrivals.Report {
	t.Helper()
	for range 100 {
		f.left = -1
		if f.chance(0.5) {
			f.left = f.random.IntN(10)
		}
		report, err := arrivals.Reconciliation{
			Raw: flakyBlobs{raw, f}, Table: flakyTable{table, f}, Now: f.now,
			Send: func(ctx context.Context, log rawlog.Log, put time.Time) error {
				return queue.SendLog(ctx, f, "logs", log, put)
			},
		}.Run(t.Context())
		f.left = -1
		if err == nil {
			return report
		}
	}
	t.Fatal("100 reconciliations failed")
	return arrivals.Report{}
}

// TestEveryRowIsImportedOnce imports small logs with the real store. Each call has the time for a part of a log. The
// logs arrive one after the other. Between deliveries it looks at the queues. All rows of the logs that were put before
// the time to which the lake is complete must be in the lake.
func TestEveryRowIsImportedOnce(t *testing.T) {
	const logs, lines = 5, 400
	for seed := range uint64(3) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			f := &flaky{simulation: newSimulation(seed), left: -1}
			clock := func() time.Time { return f.time }
			raw, lake := &blobtest.Memory{Now: clock}, &blobtest.Memory{Now: clock}
			table := lakestate.Over(&tabletest.Memory{})
			var err error
			f.store, err = cloud.New(cloud.Config{
				Raw: flakyBlobs{raw, f}, Lake: flakyBlobs{lake, f}, Table: flakyTable{table, f},
				Scratch: filepath.Join(t.TempDir(), "scratch"), Copies: 1,
				Now: func() time.Time {
					if f.importing {
						f.time = f.time.Add(2 * time.Minute) // each batch takes minutes
					}
					return f.time
				},
				Pause: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
			})
			if err != nil {
				t.Fatal(err)
			}
			var put []time.Time
			putNext := func() {
				key := fmt.Sprintf("raw/%d", len(put))
				text := wideRecords(len(put), lines)
				if err := raw.Put(t.Context(), key, strings.NewReader(text), blob.Always); err != nil {
					t.Fatal(err)
				}
				put = append(put, f.time)
				f.put(notification("ObjectCreated:Put", "logs", key), "")
			}
			var through time.Time
			compared := 0
			look := func() {
				f.left = -1
				if err := f.store.ObserveQueues(t.Context(), f, deadLetters{f.simulation}); err != nil {
					t.Fatal(err)
				}
				state, _, err := lakestate.Load(t.Context(), table)
				if err != nil {
					t.Fatal(err)
				}
				if state.CompleteThrough().Equal(through) {
					return
				}
				through = state.CompleteThrough()
				seen := rowsOf(t, lake)
				for log, at := range put {
					for line := 0; at.Before(through) && line < lines; line++ {
						compared++
						if id := fmt.Sprintf("r%d-%d", log, line); seen[id] != 1 {
							t.Fatalf("row %s is missing, but its log was put at %v, before %v", id, at, through)
						}
					}
				}
			}
			f.between = func() {
				f.time = f.time.Add(time.Duration(f.random.Int64N(int64(2 * time.Minute))))
				if len(put) < logs && f.chance(0.1) {
					putNext()
					f.time = f.time.Add(time.Duration(f.random.Int64N(int64(2 * time.Minute))))
				}
				if f.chance(0.5) {
					look()
				}
			}
			for len(put) < logs {
				putNext()
				f.run(t, f.handler(f), lambdas.LongestRun)
				for range 3 {
					f.time = f.time.Add(20 * time.Minute)
					look()
				}
			}
			if compared < logs*lines {
				t.Errorf("the lake was complete to times before which only %d rows were put", compared)
			}
			if len(f.dead) > 0 || f.sent == logs {
				t.Errorf("%d dead letters; %d messages were sent again", len(f.dead), f.sent-logs)
			}
			checkRows(t, lake, logs, lines)
		})
	}
}

// wideRecords returns a log with lines of 4 KB, so that it consists of several batches.
func wideRecords(log, lines int) string {
	var b strings.Builder
	wide := strings.Repeat("x", 4000)
	for i := range lines {
		at := testTime.Add(time.Duration(i) * time.Second).Format(time.RFC3339)
		fmt.Fprintf(&b, `{"processing_stage":6,"timestamp":%q,"request_id":"r%d-%d","user_agent":%q}`+"\n", at, log, i, wide)
	}
	return b.String()
}

// rowsOf counts the rows of a lake without compaction, by request id.
func rowsOf(t *testing.T, lake blob.Store) map[string]int {
	t.Helper()
	seen := map[string]int{}
	for info, err := range lake.List(t.Context(), "lake/fresh/", "") {
		if err != nil {
			t.Fatal(err)
		}
		body, _, err := lake.Get(t.Context(), info.Name, "", 0)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := parquettest.Rows(content)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			seen[*row.RequestID]++
		}
	}
	return seen
}

// TestLostNotifications imports small logs with the real store. The notifications of some of them are lost.
func TestLostNotifications(t *testing.T) {
	const logs, lines = 5, 400
	for seed := range uint64(3) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			f := &flaky{simulation: newSimulation(seed), left: -1}
			raw, lake := &blobtest.Memory{Now: f.now}, &blobtest.Memory{Now: f.now}
			table := lakestate.Over(&tabletest.Memory{})
			var err error
			f.store, err = cloud.New(cloud.Config{
				Raw: flakyBlobs{raw, f}, Lake: flakyBlobs{lake, f}, Table: flakyTable{table, f},
				Scratch: filepath.Join(t.TempDir(), "scratch"), Copies: 1,
				Now:   func() time.Time { f.time = f.time.Add(2 * time.Minute); return f.time }, // each batch takes minutes
				Pause: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
			})
			if err != nil {
				t.Fatal(err)
			}
			for i := range logs {
				key := fmt.Sprintf("raw/%d", i)
				if err := raw.Put(t.Context(), key, strings.NewReader(wideRecords(i, lines)), blob.Always); err != nil {
					t.Fatal(err)
				}
				if i == 0 || i%2 == 1 {
					f.put(notification("ObjectCreated:Put", "logs", key), "")
				}
			}
			f.run(t, f.handler(f), lambdas.LongestRun)
			if len(f.dead) > 0 || f.sent <= logs {
				t.Errorf("%d dead letters; %d messages", len(f.dead), f.sent)
			}
			f.time = f.time.Add(arrivals.DefaultMinAge)
			if report := f.reconcile(t, raw, table); report.Arrived != 3 || report.Lost != 2 {
				t.Errorf("the notifications of 2 of 5 logs were lost: %+v", report)
			}
			f.run(t, f.handler(f), lambdas.LongestRun)
			if report := f.reconcile(t, raw, table); report.Arrived != logs || len(f.dead) > 0 {
				t.Errorf("not all logs have arrived, and %d messages are dead letters: %+v", len(f.dead), report)
			}
			checkRows(t, lake, logs, lines)
		})
	}
}

// checkRows checks that every row of the logs is in the lake once.
func checkRows(t *testing.T, lake blob.Store, logs, lines int) {
	t.Helper()
	seen := rowsOf(t, lake)
	for i := range logs {
		for line := range lines {
			if id := fmt.Sprintf("r%d-%d", i, line); seen[id] != 1 {
				t.Fatalf("row %s is in the lake %d times", id, seen[id])
			}
		}
	}
}
