package cloud_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/lakestate"
)

// waiting is a queue with so many messages.
type waiting int

func (n waiting) Waiting(context.Context) (int, error) { return int(n), nil }

type brokenQueue struct{}

func (brokenQueue) Waiting(context.Context) (int, error) { return 0, errors.New("the queue is gone") }

// lookTwice looks at queues twice, ten minutes apart, and returns the time to which the lake is complete, in minutes
// after the first look. It returns 0 if that is not known.
func (w *world) lookTwice(queues ...cloud.Queue) float64 {
	w.t.Helper()
	first := w.time
	for range 2 {
		if err := w.cloud().ObserveQueues(w.t.Context(), queues...); err != nil {
			w.t.Fatal(err)
		}
		w.pass(10 * time.Minute)
	}
	through := w.state().CompleteThrough
	if through.IsZero() {
		return 0
	}
	return through.Sub(first).Minutes()
}

// refusingStore is a store that puts no objects under a prefix.
type refusingStore struct {
	blob.Store
	prefix string
}

var errRefused = errors.New("refused by the test")

func (s refusingStore) Put(ctx context.Context, name string, body io.ReadSeeker, when blob.Condition) error {
	if strings.HasPrefix(name, s.prefix) {
		return errRefused
	}
	return s.Store.Put(ctx, name, body, when)
}

func (s refusingStore) Copy(ctx context.Context, from, to string) error {
	if strings.HasPrefix(to, s.prefix) {
		return errRefused
	}
	return s.Store.Copy(ctx, from, to)
}

func TestCompleteThrough(t *testing.T) {
	world := func(t *testing.T) *world {
		w := newWorld(t)
		w.raw = &blobtest.Memory{Now: w.now}
		w.importLog("raw/a", records(0, 60, time.Minute))
		w.pass(time.Hour)
		return w
	}
	t.Run("moves on with empty queues", func(t *testing.T) {
		w := world(t)
		if got := w.lookTwice(waiting(0), waiting(0)); got != -2 {
			t.Errorf("complete through minute %v", got)
		}
		if got := w.lookTwice(waiting(0), waiting(0)); got != -2 {
			t.Errorf("then through minute %v", got)
		}
	})
	t.Run("does not pass a waiting log", func(t *testing.T) {
		if got := world(t).lookTwice(waiting(1), waiting(0)); got != 0 {
			t.Errorf("complete through minute %v", got)
		}
	})
	t.Run("does not pass a dead letter", func(t *testing.T) {
		if got := world(t).lookTwice(waiting(0), waiting(1)); got != 0 {
			t.Errorf("complete through minute %v", got)
		}
	})
	t.Run("does not pass a message that was just replaced", func(t *testing.T) {
		w := world(t)
		if err := w.cloud().Resend(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := w.lookTwice(waiting(0), waiting(0)); got != 0 {
			t.Errorf("complete through minute %v", got)
		}
	})
	t.Run("does not pass an import that was cut short", func(t *testing.T) {
		w := world(t)
		w.put("raw/b", strings.ReplaceAll(records(0, 5, time.Minute), `:"r`, `:"b`))
		config := w.config()
		config.Lake = refusingStore{w.lake, "lake/fresh/"}
		_, err := w.cloudOf(config).Import(t.Context(), rawlog.Log{Key: "raw/b"})
		if !errors.Is(err, errRefused) {
			t.Fatal(err)
		}
		w.pass(time.Hour)
		if got := w.lookTwice(waiting(0), waiting(0)); got != -60 {
			t.Errorf("complete through minute %v, want -60, when the log was put", got)
		}
		w.compact()
		if got := w.lookTwice(waiting(0), waiting(0)); got != -2 {
			t.Errorf("after compaction has published it: complete through minute %v", got)
		}
	})
	t.Run("does not pass a log of an hour that is being compacted", func(t *testing.T) {
		w := world(t)
		w.time = testTime.Add(4 * time.Hour)
		config := w.config()
		config.Lake = refusingStore{w.lake, "lake/compact/"}
		if _, err := w.cloudOf(config).Compact(t.Context(), time.Time{}); !errors.Is(err, errRefused) {
			t.Fatal(err)
		}
		before := len(w.rows(w.state()))
		w.importLog("raw/b", strings.ReplaceAll(records(0, 5, time.Minute), `:"r`, `:"b`))
		if got := len(w.rows(w.state())); got != before {
			t.Fatalf("readers see %d of the late rows", got-before)
		}
		w.pass(time.Hour)
		if got := w.lookTwice(waiting(0), waiting(0)); got != -60 {
			t.Errorf("complete through minute %v, want -60, when the log was put", got)
		}
		w.compact()
		if got := len(w.rows(w.state())); got == before {
			t.Error("readers do not see the late rows after the compaction")
		}
		if got := w.lookTwice(waiting(0), waiting(0)); got != -2 {
			t.Errorf("after the compaction: complete through minute %v", got)
		}
	})
	t.Run("does not pass an earlier copy of such a log", func(t *testing.T) {
		w := world(t)
		short := strings.ReplaceAll(records(0, 5, time.Minute), `:"r`, `:"b`)
		w.put("raw/b", short)
		w.pass(4 * time.Hour)
		config := w.config()
		config.Lake = refusingStore{w.lake, "lake/compact/"}
		if _, err := w.cloudOf(config).Compact(t.Context(), time.Time{}); !errors.Is(err, errRefused) {
			t.Fatal(err)
		}
		w.importLog("raw/b.1", short+strings.ReplaceAll(records(5, 9, time.Minute), `:"r`, `:"b`))
		if _, err := w.cloud().Import(t.Context(), rawlog.Log{Key: "raw/b"}); err != nil { // all its lines are known
			t.Fatal(err)
		}
		w.pass(time.Hour)
		if got := w.lookTwice(waiting(0), waiting(0)); got != -300 {
			t.Errorf("complete through minute %v, want -300, when the earlier copy was put", got)
		}
	})
	t.Run("reports errors of the queues", func(t *testing.T) {
		w := world(t)
		if err := w.cloud().ObserveQueues(t.Context(), waiting(0), brokenQueue{}); err == nil {
			t.Error("no error")
		}
		s, _, err := lakestate.Load(t.Context(), w.table)
		if err != nil || s.Backlog != (lakestate.Backlog{}) {
			t.Errorf("%+v %v", s.Backlog, err)
		}
	})
}
