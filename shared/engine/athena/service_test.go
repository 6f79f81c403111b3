package athena_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/engine/athena/emulator"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/search/pending/pendingtest"
)

// know tells the backend of a query as a service asks it: narrowed to the data.
func (s *stage) know(t *testing.T, text string, shape query.Shape) {
	s.engine.know(bind(t, text, shape).Clamp(s.states.state.Extent))
}

// instances are two instances of a service that know of each other only what the table tells.
func (s *stage) instances(t *testing.T) (one, other *search.Service) {
	t.Helper()
	queries := pendingtest.NewMemory()
	var made [2]*search.Service
	for i := range made {
		service, err := search.New(newEngine(t, s.engine.Client, s.states, nil), search.Options{Store: queries, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		made[i] = service
	}
	return made[0], made[1]
}

// TestInstancesShareQueries: what one begins, another answers and stops.
func TestInstancesShareQueries(t *testing.T) {
	exhausted := &emulator.Failure{Category: 1, Type: 0, Reason: "Query exhausted resources at this scale factor"}
	for name, test := range map[string]struct {
		request search.Request
		shape   query.Shape
		fails   []error
	}{
		"stats":                  {search.Request{Route: search.Stats, Segment: "1h"}, query.Stats{SegmentSeconds: 3600}, nil},
		"logs":                   {search.Request{Route: search.Logs, Limit: "5"}, query.Logs{Limit: 6}, nil},
		"topx":                   {search.Request{Route: search.TopX, Limit: "3"}, query.TopX{Limit: 3}, nil},
		"topx, split on the way": {search.Request{Route: search.TopX, Limit: "3"}, query.TopX{Limit: 3}, []error{exhausted}},
		"timeline, tried again":  {search.Request{Route: search.Timeline, Segment: "1h"}, query.Timeline{SegmentSeconds: 3600}, []error{&emulator.Failure{Category: 1, Type: 100, Retryable: true, Reason: "GENERIC_INTERNAL_ERROR"}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, setting{})
			s.know(t, hours, test.shape)
			s.backend.fails = test.fails
			one, other := s.instances(t)
			test.request.Filters, test.request.Caller = hours, "c"
			id, err := one.Begin(t.Context(), test.request)
			if err != nil {
				t.Fatal(err)
			}
			begun := len(s.server.States())
			if again, err := other.Begin(t.Context(), test.request); err != nil || again != id || len(s.server.States()) < begun {
				t.Errorf("the other instance joins %s, %v", again, err)
			}
			var status search.Status
			for !status.Done {
				if status, err = other.Status(t.Context(), id, search.Asker{Caller: "c"}); err != nil {
					t.Fatal(err)
				}
			}
			direct, err := one.Search(t.Context(), test.request)
			if err != nil {
				t.Fatal(err)
			}
			direct.Meta.ElapsedMS, status.Result.Meta.ElapsedMS = 0, 0
			if diff := cmp.Diff(direct, status.Result, cmp.AllowUnexported(search.Records{})); diff != "" {
				t.Errorf("answers differ (-searched +by id):\n%s", diff)
			}
			if status.Result.Meta.CostUSD == nil || *status.Result.Meta.CostUSD <= 0 || status.Result.Meta.Split != (name == "topx, split on the way") {
				t.Errorf("meta %+v", status.Result.Meta)
			}
		})
	}
}

func TestInstanceStopsWhatAnotherBegan(t *testing.T) {
	s := newStage(t, setting{})
	s.backend.block = make(chan struct{})
	defer close(s.backend.block)
	one, other := s.instances(t)
	by := search.Asker{Caller: "c"}
	id, err := one.Begin(t.Context(), search.Request{Route: search.Stats, Segment: "1h", Filters: hours, Caller: by.Caller})
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Cancel(t.Context(), id, by); err != nil {
		t.Fatal(err)
	}
	if s.server.Calls("StopQueryExecution") != 1 || s.server.States()[0] != "CANCELLED" {
		t.Errorf("%d stops, states %v", s.server.Calls("StopQueryExecution"), s.server.States())
	}
	if _, err := one.Status(t.Context(), id, by); fault.KindOf(err) != fault.NotFound {
		t.Errorf("status after cancelling: %v", err)
	}
}

// TestQueryBegunAgainFindsWhatWasPublishedMeanwhile, for the caller who waits and for the one who comes back.
func TestQueryBegunAgainFindsWhatWasPublishedMeanwhile(t *testing.T) {
	request := search.Request{Route: search.Stats, Segment: "1h", Filters: hours, Caller: "c"}
	for name, ask := range map[string]func(*testing.T, *search.Service) (search.Result, error){
		"waiting": func(t *testing.T, s *search.Service) (search.Result, error) {
			return s.Search(t.Context(), request)
		},
		"coming back": func(t *testing.T, s *search.Service) (search.Result, error) {
			id, err := s.Begin(t.Context(), request)
			for err == nil {
				var status search.Status
				if status, err = s.Status(t.Context(), id, search.Asker{Caller: "c"}); status.Done {
					return status.Result, err
				}
			}
			return search.Result{}, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, setting{})
			whole, before := s.states.state.Extent, s.states.state.Extent
			before.MaxTsMs = before.MinTsMs + time.Hour.Milliseconds()
			s.states.state.Extent = before
			s.know(t, hours, stats)
			s.backend.fails = []error{internal}
			publish := func(c *athena.Config) {
				c.Sleep = func(ctx context.Context, d time.Duration) error {
					if s.states.state.Extent == before {
						s.states.state = engine.State{Extent: whole, Watermark: s.states.state.Watermark + 1, Version: 2}
						s.engine.watermark++
						s.know(t, hours, stats)
					}
					return impatient(ctx, d)
				}
			}
			e := newEngine(t, s.engine.Client, s.states, publish)
			service, err := search.New(e, search.Options{Store: pendingtest.NewMemory(), Now: now})
			if err != nil {
				t.Fatal(err)
			}
			got, err := ask(t, service)
			if err != nil {
				t.Fatal(err)
			}
			want, err := service.Search(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.Stats, got.Stats); diff != "" {
				t.Errorf("answers differ (-asked afterwards +begun again):\n%s", diff)
			}
		})
	}
}
