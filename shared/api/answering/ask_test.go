package answering

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/search"
)

// slow answers a question only when it is asked again often enough.
type slow struct {
	Queries
	asked  int
	ended  int   // asked so often, the query has ended
	failed error // of the query
	by     search.Asker
}

func (s *slow) Search(context.Context, search.Request) (search.Result, error) {
	return search.Result{}, &search.TimeoutError{ID: "one"}
}

func (s *slow) Status(_ context.Context, id search.QueryID, by search.Asker) (search.Status, error) {
	if s.asked, s.by = s.asked+1, by; id != "one" || s.asked < s.ended {
		return search.Status{}, nil
	}
	if s.failed != nil {
		return search.Status{}, s.failed
	}
	return search.Status{Done: true, Result: search.Result{Meta: search.Meta{BytesScanned: 7}}}, nil
}

func (s *slow) RetryAfter(search.Status) time.Duration { return 0 }

// TestQuestionsThatTakeLong: a question of a report that takes longer than an answer may is asked again.
func TestQuestionsThatTakeLong(t *testing.T) {
	s := &slow{ended: 3}
	body, err := AskAs(s, []string{"shop"}, "report x", nil)(t.Context(), "timeline", nil)
	if err != nil || !strings.Contains(string(body), `"bytes_scanned":7`) || s.asked != 3 {
		t.Errorf("%s %v, asked %d times", body, err, s.asked)
	}
	if s.by.Caller != "report x" || len(s.by.Branches) != 1 || s.by.Branches[0] != "shop" {
		t.Errorf("asked as %+v", s.by)
	}
	s = &slow{ended: 1, failed: fault.New(fault.Unavailable, "the engine is down")}
	if _, err := AskAs(s, nil, "x", nil)(t.Context(), "timeline", nil); err == nil || err.Error() != "the engine is down" {
		t.Errorf("a query that fails: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s = &slow{ended: 1 << 60}
	_, err = AskAs(s, nil, "x", nil)(ctx, "timeline", nil)
	if err == nil || !errors.As(err, new(*search.TimeoutError)) || !strings.Contains(err.Error(), "takes longer") {
		t.Errorf("a caller who waits no longer: %v", err)
	}
	if _, err := AskAs(onlySearch{s}, nil, "x", nil)(t.Context(), "timeline", nil); !errors.As(err, new(*search.TimeoutError)) {
		t.Errorf("a server whose queries end with their requests: %v", err)
	}
}

type onlySearch struct{ Searcher }

// TestQuestionsThatPanic: reports ask in goroutines of their own, so a panic must not leave them.
func TestQuestionsThatPanic(t *testing.T) {
	_, err := AskAs(panics{}, nil, "x", nil)(t.Context(), "timeline", nil)
	if err == nil || err.Error() != internalReason || !strings.Contains(errors.Unwrap(err).Error(), "out of range") {
		t.Errorf("%v", err)
	}
}

type panics struct{}

func (panics) Search(context.Context, search.Request) (search.Result, error) { panic("out of range") }
