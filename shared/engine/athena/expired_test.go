package athena_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/fakeaws/emulator"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/search/pending/pendingtest"
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

// TestResultThatCannotBeRead runs a query whose result cannot be read although it was just written, as without a
// permission. The query is not started again.
func TestResultThatCannotBeRead(t *testing.T) {
	for _, pages := range []bool{true, false} {
		none := &bucket{objects: map[string][]byte{}}
		s := newFixture(t, fixtureOptions{
			server: emulator.Config{Now: now, S3: forgetful{none}},
			engine: func(c *athena.Config) {
				if !pages {
					c.S3 = none
				}
			},
		})
		q := bind(t, hours, query.TopX{Limit: 1})
		s.register(t, hours, q.Shape)
		_, _, err := s.engine.Run(t.Context(), q)
		if err == nil || fault.KindOf(err) == fault.Canceled {
			t.Errorf("page by page %t: %v", pages, err)
		}
		if n := len(s.server.States()); n != 1 {
			t.Errorf("page by page %t: %d executions", pages, n)
		}
	}
}

// forgetful is a bucket that keeps no results.
type forgetful struct{ *bucket }

func (forgetful) PutObject(
	context.Context, *s3.PutObjectInput, ...func(*s3.Options),
) (*s3.PutObjectOutput, error) {
	return &s3.PutObjectOutput{}, nil
}

// TestResultExpiresBeforeItIsRead removes the result of a query that has ended before its caller asks for it, and again
// before another request joins the query.
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
	clear(b.objects)
	at = at.Add(time.Minute)
	again, err := service.Search(t.Context(), request) // which finds the query in the store
	if err != nil || again.Logs.Len() != want.Logs.Len() {
		t.Errorf("asked again: %d records, want %d, %v", again.Logs.Len(), want.Logs.Len(), err)
	}
}
