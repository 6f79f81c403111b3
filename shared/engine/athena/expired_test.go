package athena_test

import (
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/search/pending/pendingtest"
	"github.com/orrery/orrery/shared/testkit/emulator"
)

// TestExpiredResult asks the same question of the same data again, after the result has expired in its bucket. Athena
// still answers the token of the first question with its execution.
func TestExpiredResult(t *testing.T) {
	for name, test := range map[string]struct {
		shape query.Shape
		later time.Duration
		pages bool // results are read page by page
		kept  bool // the result has not expired
		runs  int
	}{
		"a week later":                       {stats, 7 * 24 * time.Hour, false, false, 2},
		"a week later, page by page":         {stats, 7 * 24 * time.Hour, true, false, 2},
		"records a week later":               {query.Logs{Limit: 5}, 7 * 24 * time.Hour, false, false, 2},
		"the next day, with its result":      {stats, 24 * time.Hour, false, true, 2},
		"on the same day":                    {stats, time.Hour, false, false, 2},
		"on the same day, page by page":      {stats, time.Hour, true, false, 2},
		"records on the same day":            {query.Logs{Limit: 5}, time.Hour, false, false, 2},
		"on the same day, with its result":   {stats, time.Hour, false, true, 1},
		"on the same day, more than 4 times": {stats, time.Minute, false, false, 8},
	} {
		t.Run(name, func(t *testing.T) {
			at := now()
			clock := func() time.Time { return at }
			b := &bucket{objects: map[string][]byte{}}
			s := newFixture(t, fixtureOptions{
				server: emulator.Config{Now: clock, S3: b},
				engine: func(c *athena.Config) {
					c.Now = clock
					if !test.pages {
						c.S3 = b
					}
				},
			})
			q := bind(t, hours, test.shape)
			for range max(2, test.runs) {
				answer, _, err := s.engine.Run(t.Context(), q)
				s.checkAnswer(t, q, answer, err)
				if !test.kept {
					clear(b.objects)
				}
				at = at.Add(test.later)
			}
			statements := len(s.server.States())
			if _, logs := test.shape.(query.Logs); !logs && statements != test.runs {
				t.Errorf("%d executions, want %d", statements, test.runs)
			}
		})
	}
}

// TestResultExpiresBeforeItIsRead removes the result of a query that has ended before its caller asks for it.
func TestResultExpiresBeforeItIsRead(t *testing.T) {
	at := now()
	clock := func() time.Time { return at }
	b := &bucket{objects: map[string][]byte{}}
	s := newFixture(t, fixtureOptions{
		server: emulator.Config{Now: clock, S3: b},
		engine: func(c *athena.Config) { c.Now, c.S3 = clock, b },
	})
	s.register(t, hours, query.Logs{Limit: 6})
	request := search.Request{Route: search.Logs, Limit: "5", Filters: hours, Caller: "c"}
	service, err := search.New(s.engine.Engine, search.Options{Store: pendingtest.NewMemory(), Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	want, err := service.Search(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	id, err := service.Begin(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	clear(b.objects)
	at = at.Add(time.Minute)
	var status search.Status
	for polls := 0; !status.Done; polls++ {
		if status, err = service.Status(t.Context(), id, search.Asker{Caller: "c"}); err != nil {
			t.Fatal(err)
		}
		if polls == 1000 {
			t.Fatal("the query does not end")
		}
	}
	if got, n := status.Result.Logs.Len(), want.Logs.Len(); got != n || n == 0 {
		t.Errorf("%d records, want %d", got, n)
	}
}
