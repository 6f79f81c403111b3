package keydynamo_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/dynamotable"
	"github.com/orrery/orrery/shared/dynamotable/dynamotest"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/keys/keydynamo"
	"github.com/orrery/orrery/shared/keys/keystest"
	"github.com/orrery/orrery/shared/testkit/faulttest"
)

func TestStore(t *testing.T) {
	keystest.Run(t, func(t *testing.T) keys.Store { return keydynamo.New(dynamotest.Client(t)) })
}

func faultyStore(t *testing.T, table string, script faulttest.Script) *keydynamo.Store {
	t.Helper()
	return keydynamo.New(dynamotest.Connect(t, func(o *dynamodb.Options) {
		o.HTTPClient = &http.Client{Transport: &faulttest.Transport{Script: script}}
	}), table)
}

// TestEveryCallUnderFaults: a call succeeds after one network fault and is unavailable if all requests fail. It never
// reports a key as missing or taken because of the network.
func TestEveryCallUnderFaults(t *testing.T) {
	client, table := dynamotest.Client(t)
	there := keystest.Key("there", 0)
	if err := keydynamo.New(client, table).Create(t.Context(), there); err != nil {
		t.Fatal(err)
	}
	calls := map[string]func(s *keydynamo.Store, word string) error{
		"Create": func(s *keydynamo.Store, word string) error { return s.Create(t.Context(), keystest.Key(word, 1)) },
		"List":   func(s *keydynamo.Store, _ string) error { _, err := s.List(t.Context()); return err },
		"Find":   func(s *keydynamo.Store, _ string) error { _, err := s.Find(t.Context(), there.ID); return err },
		"Revoke": func(s *keydynamo.Store, _ string) error { return s.Revoke(t.Context(), there.ID, keystest.At) },
		"SealOf": func(s *keydynamo.Store, word string) error { _, err := s.SealOf(t.Context(), word); return err },
	}
	for name, call := range calls {
		for _, f := range []faulttest.Fault{
			faulttest.Throttle, faulttest.Fail, faulttest.Break, faulttest.Lose, faulttest.FailLate, faulttest.Cut,
			faulttest.Duplicate,
		} {
			word := fmt.Sprintf("%s with fault %d", name, f)
			t.Run(word, func(t *testing.T) {
				if err := call(faultyStore(t, table, faulttest.At(0, f)), word); err != nil {
					t.Errorf("one fault: %v", err)
				}
				if f == faulttest.Duplicate {
					return
				}
				err := call(faultyStore(t, table, faulttest.From(0, f)), word+", always")
				if fault.KindOf(err) != fault.Unavailable {
					t.Errorf("only faults: %v, want kind Unavailable", err)
				}
			})
		}
	}
	got, err := keydynamo.New(client, table).Find(t.Context(), there.ID)
	there.Revoked = keystest.At
	if diff := cmp.Diff(there, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

// TestSealsOfKeys: all processes get the same seal of a key, also if they ask for it at the same time, or if the
// network loses the answer of the call that makes it. Seals are not among the keys.
func TestSealsOfKeys(t *testing.T) {
	client, table := dynamotest.Client(t)
	seals := make([]keys.Seal, 8)
	var all sync.WaitGroup
	for i := range seals {
		all.Go(func() {
			var err error
			if seals[i], err = keydynamo.New(client, table).SealOf(context.Background(), "a"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if seals[0].IsZero() || len(slices.Compact(seals)) != 1 {
		t.Error("the key has no seal, or several")
	}
	lost, err := faultyStore(t, table, faulttest.At(1, faulttest.Lose)).SealOf(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	again, err := keydynamo.New(client, table).SealOf(t.Context(), "b")
	if err != nil || lost != again || again == seals[0] {
		t.Errorf("equal after a lost answer: %t, of two keys: %t, %v", lost == again, again == seals[0], err)
	}
	if list, err := keydynamo.New(client, table).List(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("there are %d keys, %v", len(list), err)
	}
}

// TestDelayedWrites: the first attempt to create a key may arrive after a second attempt and a revocation. The key
// stays revoked. A delayed revocation does not change the time of an earlier one.
func TestDelayedWrites(t *testing.T) {
	client, table := dynamotest.Client(t)
	honest := keydynamo.New(client, table)
	k := keystest.Key("word", 0)
	dies := func(call func(s *keydynamo.Store) error) *faulttest.Transport {
		t.Helper()
		network := &faulttest.Transport{Script: func(n int, r *http.Request) faulttest.Fault {
			if n == 0 {
				return faulttest.Delay
			}
			return faulttest.Break
		}}
		killed := keydynamo.New(dynamotest.Connect(t, func(o *dynamodb.Options) {
			o.HTTPClient = &http.Client{Transport: network}
		}), table)
		if err := call(killed); fault.KindOf(err) != fault.Unavailable {
			t.Fatalf("error %v", err)
		}
		return network
	}
	creating := dies(func(s *keydynamo.Store) error { return s.Create(t.Context(), k) })
	if err := honest.Create(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	revoking := dies(func(s *keydynamo.Store) error { return s.Revoke(t.Context(), k.ID, keystest.At.Add(time.Hour)) })
	if err := honest.Revoke(t.Context(), k.ID, keystest.At); err != nil {
		t.Fatal(err)
	}
	for _, late := range []*faulttest.Transport{creating, revoking} {
		if n, err := late.Deliver(); n != 1 || err != nil {
			t.Fatalf("%d requests were late, %v", n, err)
		}
		if got, err := honest.Find(t.Context(), k.ID); err != nil || !got.Revoked.Equal(keystest.At) {
			t.Errorf("revoked %v, %v", got.Revoked, err)
		}
	}
}

// TestTimeoutIsNotNotFound: if the table does not answer in time, a call returns an error of kind Timeout, so that the
// caller's key is not reported as unknown.
func TestTimeoutIsNotNotFound(t *testing.T) {
	_, table := dynamotest.Client(t)
	hangs := keydynamo.New(dynamotest.Connect(t, func(o *dynamodb.Options) {
		o.HTTPClient = &http.Client{Transport: hangingNetwork{}}
	}), table)
	for name, call := range map[string]func(ctx context.Context) error{
		"Create": func(ctx context.Context) error { return hangs.Create(ctx, keystest.Key("word", 0)) },
		"List":   func(ctx context.Context) error { _, err := hangs.List(ctx); return err },
		"Find":   func(ctx context.Context) error { _, err := hangs.Find(ctx, "id"); return err },
		"Revoke": func(ctx context.Context) error { return hangs.Revoke(ctx, "id", keystest.At) },
		"SealOf": func(ctx context.Context) error { _, err := hangs.SealOf(ctx, "id"); return err },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if err := call(ctx); fault.KindOf(err) != fault.Timeout {
			t.Errorf("%s: %v, want kind Timeout", name, err)
		}
		cancel()
	}
}

// hangingNetwork is a network without responses.
type hangingNetwork struct{}

func (hangingNetwork) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestMalformedItemIsAnError: a malformed list of branches must not become a key for all branches.
func TestMalformedItemIsAnError(t *testing.T) {
	client, table := dynamotest.Client(t)
	s := keydynamo.New(client, table)
	k := keystest.Key("word", 0)
	k.Branches = []string{"staging"}
	if err := s.Create(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	read := &dynamodb.GetItemInput{TableName: &table, Key: dynamotable.Key("keys", k.ID)}
	got, err := client.GetItem(t.Context(), read)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"branches":   "staging",
		"hash":       "0f",
		"scopes":     "data:read",
		"created_ms": "now",
	} {
		item := dynamotable.NewItem("keys", k.ID, got.Item)
		item[name] = dynamotable.String(value)
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
			t.Fatal(err)
		}
		if k, err := s.Find(t.Context(), k.ID); err == nil {
			t.Errorf("%s %q was read as %+v", name, value, k)
		}
		if list, err := s.List(t.Context()); err == nil {
			t.Errorf("%s %q was listed as %+v", name, value, list)
		}
	}
}
