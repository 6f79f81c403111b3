package pendingdynamo_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/shared/dynamotable/dynamotest"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/search/pending"
	"github.com/orrery/orrery/shared/search/pending/pendingdynamo"
	"github.com/orrery/orrery/shared/search/pending/pendingtest"
	"github.com/orrery/orrery/shared/testkit/faulttest"
)

// DynamoDB Local removes items that have expired by its own clock, so the tests use times in the far future.
const century = 100 * 365 * 24 * time.Hour

func at() time.Time { return time.UnixMilli(1767268800123).Add(century) }

func TestQueries(t *testing.T) {
	pendingtest.Run(t, func(t *testing.T) pending.Store {
		client, table := dynamotest.Client(t)
		return pendingdynamo.New(client, table, 2*century, at)
	})
}

// TestQueriesOverFaultyNetwork checks, for example, that a repeated request whose response was lost does not store a
// second query.
func TestQueriesOverFaultyNetwork(t *testing.T) {
	pendingtest.Run(t, func(t *testing.T) pending.Store {
		faults := []faulttest.Fault{faulttest.Lose, faulttest.FailLate, faulttest.Throttle, faulttest.Break}
		script := func(n int, _ *http.Request) faulttest.Fault {
			if n%4 != 0 {
				return faulttest.None
			}
			return faults[n/4%len(faults)]
		}
		client, table := dynamotest.Client(t, func(o *dynamodb.Options) {
			o.HTTPClient = &http.Client{Transport: &faulttest.Transport{Script: script}}
		})
		return pendingdynamo.New(client, table, 2*century, at)
	})
}

// TestExpiredQueryIsNotFound checks that an expired query is not found, although DynamoDB removes it hours later.
func TestExpiredQueryIsNotFound(t *testing.T) {
	client, table := dynamotest.Client(t)
	now := at()
	s := pendingdynamo.New(client, table, time.Minute, func() time.Time { return now })
	old := pending.Query{ID: "1", Key: "k", Request: []byte("a"), Began: now.UTC()}
	if _, err := s.Keep(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Minute)
	if _, err := s.Get(t.Context(), old.ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("get: %v", err)
	}
	if _, err := s.Find(t.Context(), old.Key); fault.KindOf(err) != fault.NotFound {
		t.Errorf("find: %v", err)
	}
	if err := s.Move(t.Context(), old.ID, "x"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("move: %v", err)
	}
	next := pending.Query{ID: "2", Key: old.Key, Request: old.Request, Began: now.UTC()}
	if kept, err := s.Keep(t.Context(), next); err != nil || kept.ID != next.ID {
		t.Errorf("the next query with that key is %+v, %v", kept, err)
	}
}
