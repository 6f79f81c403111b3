package pending_test

import (
	"context"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search/pending"
)

// callerSpy is an engine that records the callers of its queries.
type callerSpy struct{ callers chan string }

func (callerSpy) Name() string { return "spy" }

func (callerSpy) Extent(context.Context) (lake.Extent, error) { return lake.Extent{}, nil }

func (s callerSpy) Run(ctx context.Context, _ query.Query) (query.Answer, engine.Cost, error) {
	s.callers <- engine.CallerOf(ctx)
	return query.Answer{}, engine.Cost{}, nil
}

func (callerSpy) Explain(context.Context, query.Query) (engine.Plan, error) {
	return engine.Plan{}, nil
}

// TestEnginesKnowTheCaller: an engine shares its memory between callers, so it gets the caller of each query.
func TestEnginesKnowTheCaller(t *testing.T) {
	spy := callerSpy{make(chan string, 1)}
	queries, err := pending.New(spy, pending.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for _, caller := range []string{"a", "b", ""} {
		if _, _, err := queries.Answer(t.Context(), pending.Request{Caller: caller, Key: "key of " + caller}); err != nil {
			t.Fatal(err)
		}
		if got := <-spy.callers; got != caller {
			t.Errorf("the query of %q is one of %q", caller, got)
		}
	}
}
