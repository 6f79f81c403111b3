package athena_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/fakeaws/emulator"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/search/pending/pendingtest"
)

// register registers a query with the backend as a service runs it: clamped to the extent of the data.
func (s *fixture) register(t *testing.T, text string, shape query.Shape) {
	s.engine.register(bind(t, text, shape).Clamp(s.states.state.Extent))
}

// instances returns two instances of a service that share only a store of pending queries.
func (s *fixture) instances(t *testing.T) (one, other *search.Service) {
	t.Helper()
	store := pendingtest.NewMemory()
	var services [2]*search.Service
	for i := range services {
		e := newEngine(t, s.engine.Client, s.states, nil)
		service, err := search.New(e, search.Options{Store: store, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		services[i] = service
	}
	return services[0], services[1]
}

// TestInstancesShareQueries starts queries on one instance and reads their results on another.
func TestInstancesShareQueries(t *testing.T) {
	temporary := &emulator.Failure{Category: 1, Type: 100, Retryable: true, Reason: "GENERIC_INTERNAL_ERROR"}
	for name, test := range map[string]struct {
		request search.Request
		shape   query.Shape
		errors  []error
		split   bool
	}{
		"stats": {
			request: search.Request{Route: search.Stats, Segment: "1h"},
			shape:   query.Stats{SegmentSeconds: 3600},
		},
		"logs": {
			request: search.Request{Route: search.Logs, Limit: "5"},
			shape:   query.Logs{Limit: 6},
		},
		"topx": {
			request: search.Request{Route: search.TopX, Limit: "3"},
			shape:   query.TopX{Limit: 3},
		},
		"topx that is split": {
			request: search.Request{Route: search.TopX, Limit: "3"},
			shape:   query.TopX{Limit: 3},
			errors:  []error{exhausted},
			split:   true,
		},
		"timeline that is retried": {
			request: search.Request{Route: search.Timeline, Segment: "1h"},
			shape:   query.Timeline{SegmentSeconds: 3600},
			errors:  []error{temporary},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t, fixtureOptions{})
			s.register(t, hours, test.shape)
			s.backend.errors = test.errors
			one, other := s.instances(t)
			test.request.Filters, test.request.Caller = hours, "c"
			id, err := one.Begin(t.Context(), test.request)
			if err != nil {
				t.Fatal(err)
			}
			started := len(s.server.States())
			again, err := other.Begin(t.Context(), test.request)
			if err != nil || again != id || len(s.server.States()) < started {
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
			if meta := status.Result.Meta; meta.CostUSD == nil || *meta.CostUSD <= 0 || meta.Split != test.split {
				t.Errorf("meta %+v", meta)
			}
		})
	}
}

func TestInstanceCancelsQueryOfAnother(t *testing.T) {
	s := newFixture(t, fixtureOptions{})
	s.backend.block = make(chan struct{})
	defer close(s.backend.block)
	one, other := s.instances(t)
	by := search.Asker{Caller: "c"}
	request := search.Request{Route: search.Stats, Segment: "1h", Filters: hours, Caller: by.Caller}
	id, err := one.Begin(t.Context(), request)
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

// TestRestartFindsNewRecords checks that a restarted query covers records that were published after its first start,
// both for a caller who waits and for one who polls.
func TestRestartFindsNewRecords(t *testing.T) {
	request := search.Request{Route: search.Stats, Segment: "1h", Filters: hours, Caller: "c"}
	for name, ask := range map[string]func(t *testing.T, s *search.Service, fail func()) (search.Result, error){
		"waiting": func(t *testing.T, s *search.Service, _ func()) (search.Result, error) {
			return s.Search(t.Context(), request)
		},
		"polling": func(t *testing.T, s *search.Service, fail func()) (search.Result, error) {
			id, err := s.Begin(t.Context(), request)
			fail()
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
			s := newFixture(t, fixtureOptions{})
			whole, before := s.states.state.Extent, s.states.state.Extent
			before.MaxTsMs = before.MinTsMs + time.Hour.Milliseconds()
			s.states.state.Extent = before
			s.register(t, hours, stats)
			block := make(chan struct{})
			s.backend.set([]error{internal}, block) // it fails after its start
			fail := sync.OnceFunc(func() { close(block) })
			publish := func(c *athena.Config) {
				c.Sleep = func(ctx context.Context, d time.Duration) error {
					defer fail()
					if s.states.state.Extent == before {
						s.engine.watermark++
						s.states.state = engine.State{Extent: whole, Watermark: s.engine.watermark, Version: 2}
						s.register(t, hours, stats)
					}
					return noSleep(ctx, d)
				}
			}
			e := newEngine(t, s.engine.Client, s.states, publish)
			service, err := search.New(e, search.Options{Store: pendingtest.NewMemory(), Now: now})
			if err != nil {
				t.Fatal(err)
			}
			got, err := ask(t, service, fail)
			if err != nil {
				t.Fatal(err)
			}
			want, err := service.Search(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.Stats, got.Stats); diff != "" {
				t.Errorf("answers differ (-started afterwards +restarted):\n%s", diff)
			}
		})
	}
}
