package api

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/api/examples"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/planet/planettest"
	"github.com/orrery/orrery/shared/search"
)

const statsPath = "/api/v4.0/data/stats?filters=timestamp%20between%202026-01-01%2010:00%20and%202026-01-01%2010:01:59"

// finished polls a query until it is done.
func (s *testServer) finished(t *testing.T, place string, headers ...string) reply {
	t.Helper()
	for {
		r := s.send(t, get(place, headers...))
		if r.StatusCode != http.StatusAccepted {
			return r
		}
		if r.Header.Get("Retry-After") == "" {
			t.Fatalf("the answer about a running query has no Retry-After: %v", r.Header)
		}
	}
}

// TestAnswerByIDIsTheAnswer: the status route sends the same bytes as the data route, including errors.
func TestAnswerByIDIsTheAnswer(t *testing.T) {
	for name, path := range map[string]string{
		"stats":     statsPath,
		"topx":      strings.Replace(statsPath, "stats", "topx", 1),
		"timeline":  strings.Replace(statsPath, "stats", "timeline", 1),
		"logs":      strings.Replace(statsPath, "stats", "logs", 1) + "&limit=2&fields=timestamp,status",
		"base v4":   strings.Replace(statsPath, "v4.0", "v4", 1),
		"base v4.3": strings.Replace(statsPath, "v4.0", "v4.3", 1),
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestServer(t)
			direct := s.send(t, get(path))
			started := s.send(t, get(path, "Prefer: wait=10, Respond-Async"))
			h := started.Header
			if h.Get("Preference-Applied") != "respond-async" || h.Get("Retry-After") == "" {
				t.Fatalf("headers %v", h)
			}
			if started.StatusCode != http.StatusAccepted {
				t.Fatalf("%s, want 202", started.Status)
			}
			asked, err := url.Parse(path)
			if err != nil {
				t.Fatal(err)
			}
			place, err := asked.Parse(h.Get("Location"))
			if err != nil || !strings.HasPrefix(place.Path, path[:strings.Index(path, "/data/")]+"/data/queries/") {
				t.Fatalf("location %v, %v", place, err)
			}
			later := s.finished(t, place.Path)
			if later.StatusCode != direct.StatusCode || string(later.body) != string(direct.body) {
				t.Errorf("by id: %s %s\ndirect: %s %s", later.Status, later.body, direct.Status, direct.body)
			}
			if got, want := later.Header.Get("Content-Type"), direct.Header.Get("Content-Type"); got != want {
				t.Errorf("by id: type %s, direct: %s", got, want)
			}
		})
	}
}

// TestInvalidFilterStartsNoQuery: with respond-async the answer is the error, too.
func TestInvalidFilterStartsNoQuery(t *testing.T) {
	s := newTestServer(t)
	direct := s.send(t, get("/api/v4.0/data/stats?filters=hots=1"))
	async := s.send(t, get("/api/v4.0/data/stats?filters=hots=1", "Prefer: respond-async"))
	if async.StatusCode != http.StatusBadRequest || string(async.body) != string(direct.body) {
		t.Errorf("%s %s", async.Status, async.body)
	}
}

func TestQueryBelongsToItsKey(t *testing.T) {
	s := newTestServer(t, "keys")
	started := s.send(t, get(statsPath, "x-api-key: full-key", "Prefer: respond-async"))
	place := "/api/v4.0/data/" + started.Header.Get("Location")
	for _, key := range []string{"read-key", "branch-key"} {
		for _, method := range []string{"GET", "DELETE"} {
			r := s.send(t, examples.Message{Head: method + " " + place + " HTTP/1.1\nHost: localhost\nx-api-key: " + key})
			if r.StatusCode != http.StatusNotFound {
				t.Errorf("%s with %s: %s", method, key, r.Status)
			}
		}
	}
	if r := s.send(t, get(place)); r.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a key: %s", r.Status)
	}
	if r := s.finished(t, place, "Authorization: Bearer full-key"); r.StatusCode != http.StatusOK {
		t.Errorf("with its key: %s %s", r.Status, r.body)
	}
}

func TestCancelledQueryIsGone(t *testing.T) {
	s := newTestServer(t, "query that runs")
	cancel := examples.Message{Head: "DELETE /api/v4.0/data/queries/" + queryID + " HTTP/1.1\nHost: localhost"}
	if r := s.send(t, cancel); r.StatusCode != http.StatusNoContent || len(r.body) > 0 {
		t.Errorf("%s %s", r.Status, r.body)
	}
	if r := s.send(t, cancel); r.StatusCode != http.StatusNotFound {
		t.Errorf("again: %s", r.Status)
	}
	if r := s.send(t, get("/api/v4.0/data/queries/"+queryID)); r.StatusCode != http.StatusNotFound {
		t.Errorf("status: %s", r.Status)
	}
}

// inQueue is a query that has been in a queue for 3 of its 12 seconds.
type inQueue struct{ answering.Queries }

func (inQueue) Status(context.Context, search.QueryID, search.Asker) (search.Status, error) {
	return search.Status{Began: planettest.At.Add(-12 * time.Second), Queue: 3 * time.Second}, nil
}

// TestRunningQueryHasItsQueue: the answer about a running query says how long it has been in a queue, if it has.
func TestRunningQueryHasItsQueue(t *testing.T) {
	for name, want := range map[string]string{
		"query that waits": `{"id":"` + queryID + `","status":"running","elapsed_ms":12000,"queue_ms":3000}`,
		"query that runs":  `{"id":"` + queryID + `","status":"running","elapsed_ms":0}`,
	} {
		r := newTestServer(t, name).send(t, get("/api/v4.0/data/queries/"+queryID))
		if got := strings.TrimSpace(string(r.body)); r.StatusCode != http.StatusAccepted || got != want {
			t.Errorf("%s: %s %s, want %s", name, r.Status, got, want)
		}
	}
}

// TestBodiesAreParsedInTheCallersShare: a request is refused before its body is parsed if its caller has no place.
func TestBodiesAreParsedInTheCallersShare(t *testing.T) {
	asked, given := "", 0
	refusal := error(&fault.Error{Kind: fault.TooMany, RetryAfter: 2 * time.Second, Message: "too many"})
	s := newServer(t, func(c *Config) {
		c.Prepare = func(_ context.Context, caller string) (func(), error) {
			asked = caller
			return func() { given++ }, refusal
		}
	})
	send := func(target string) reply {
		return s.send(t, examples.Message{
			Head: target + " HTTP/1.1\nHost: localhost\nContent-Type: application/json", Body: `{"filters":`,
		})
	}
	for _, target := range []string{
		"POST /api/v4.0/data/stats", "POST /api/v4.0/data/timeline/parse", "PUT /api/v4.0/conf/prod/filters/x",
	} {
		asked, given, refusal = "nobody", 0, &fault.Error{Kind: fault.TooMany, RetryAfter: 2 * time.Second, Message: "too many"}
		if r := send(target); r.StatusCode != http.StatusTooManyRequests || r.Header.Get("Retry-After") != "2" || asked != "" {
			t.Errorf("%s without a place: %s %s, asked for %q", target, r.Status, r.body, asked)
		}
		refusal = nil
		if r := send(target); r.StatusCode != http.StatusUnprocessableEntity || given != 1 {
			t.Errorf("%s with a place: %s %s, given back %d times", target, r.Status, r.body, given)
		}
	}
}

// failedQuery is a query that has ended with an error.
type failedQuery struct {
	answering.Queries
	err error
}

func (f failedQuery) Status(context.Context, search.QueryID, search.Asker) (search.Status, error) {
	return search.Status{Done: true}, f.err
}

// TestFailedQueryIsNotAskedAgain: the failure of a query is its last answer, so it has no Retry-After. A failure of the
// question about a query has one.
func TestFailedQueryIsNotAskedAgain(t *testing.T) {
	for kind, want := range map[fault.Kind]int{
		fault.Unavailable: http.StatusServiceUnavailable,
		fault.Timeout:     http.StatusGatewayTimeout,
	} {
		failure := &fault.Error{Kind: kind, RetryAfter: time.Second, Message: "down"}
		s := newServer(t, func(c *Config) { c.Queries = failedQuery{c.Queries, failure} })
		r := s.send(t, get("/api/v4.0/data/queries/"+queryID))
		if r.StatusCode != want || r.Header.Get("Retry-After") != "" || strings.Contains(string(r.body), "Retry-After") {
			t.Errorf("%s, Retry-After %q: %s", r.Status, r.Header.Get("Retry-After"), r.body)
		}
		s = newServer(t, func(c *Config) { c.Queries = unreachable{c.Queries, failure} })
		if r := s.send(t, get("/api/v4.0/data/queries/"+queryID)); r.Header.Get("Retry-After") != "1" {
			t.Errorf("of a question that fails: %s, Retry-After %q", r.Status, r.Header.Get("Retry-After"))
		}
	}
}

// unreachable is a query that may be running: the question about it fails.
type unreachable failedQuery

func (u unreachable) Status(context.Context, search.QueryID, search.Asker) (search.Status, error) {
	return search.Status{}, u.err
}

// TestTimeoutOfRunningQuery: the log has a warning, not an error, and the answer has the location of the query.
func TestTimeoutOfRunningQuery(t *testing.T) {
	s := newTestServer(t, "slow query")
	r := s.send(t, get(statsPath))
	if r.StatusCode != http.StatusGatewayTimeout || r.Header.Get("Location") != "queries/"+queryID {
		t.Errorf("%s %v", r.Status, r.Header)
	}
	if got := s.log.String(); !strings.Contains(got, `"level":"WARN","msg":"still running"`) {
		t.Errorf("log %s", got)
	}
	if r = s.send(t, get(statsPath)); r.Header.Get("Location") != "queries/"+queryID {
		t.Errorf("the second request did not join the query: %v", r.Header)
	}
}

func TestServerWithoutQueries(t *testing.T) {
	s := newServer(t, func(c *Config) { c.Queries = nil })
	if r := s.send(t, get(statsPath, "Prefer: respond-async")); r.StatusCode != http.StatusOK {
		t.Errorf("a server may ignore the preference, but answers %s", r.Status)
	}
	if r := s.send(t, get("/api/v4.0/data/queries/"+queryID)); r.StatusCode != http.StatusNotFound {
		t.Errorf("%s", r.Status)
	}
}
