package planetdynamo

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/shared/dynamotable/dynamotest"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/planet/planettest"
	"github.com/orrery/orrery/shared/testkit/faulttest"
)

// byteCounter counts the bytes of responses.
type byteCounter struct{ bytes *int }

func (c *byteCounter) Do(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	*c.bytes += len(body)
	response.Body = io.NopCloser(strings.NewReader(string(body)))
	return response, err
}

// through sets the transport of a client.
func through(transport http.RoundTripper) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) { o.HTTPClient = &http.Client{Transport: transport} }
}

// on applies a script to the requests of one operation, such as TransactWriteItems.
func on(operation string, script faulttest.Script) faulttest.Script {
	var mu sync.Mutex
	seen := 0
	return func(_ int, r *http.Request) faulttest.Fault {
		if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), "."+operation) {
			return faulttest.None
		}
		mu.Lock()
		defer mu.Unlock()
		seen++
		return script(seen-1, r)
	}
}

const write = "TransactWriteItems"

// faults are the faults that every call must survive.
var faults = []faulttest.Fault{
	faulttest.Throttle, faulttest.Fail, faulttest.Break, faulttest.Lose, faulttest.FailLate, faulttest.Cut,
	faulttest.Duplicate,
}

// newVersion returns a version with settings of the given name.
func newVersion(t testing.TB, number int, name string) planet.Version {
	t.Helper()
	return planet.NewVersion(number, planettest.Settings(t, name), "key", planettest.At)
}

// TestWriteUnderFaults: under every fault, an accepted write is stored exactly once, and a write that was not stored
// returns an error.
func TestWriteUnderFaults(t *testing.T) {
	tests := map[string]struct {
		script  faulttest.Script
		want    fault.Kind // when it fails
		fails   bool
		written bool
	}{
		"throttled at first":             {on(write, faulttest.At(0, faulttest.Throttle)), 0, false, true},
		"failing at first":               {on(write, faulttest.At(0, faulttest.Fail)), 0, false, true},
		"the first answer is lost":       {on(write, faulttest.At(0, faulttest.Lose)), 0, false, true},
		"the first request fails late":   {on(write, faulttest.At(0, faulttest.FailLate)), 0, false, true},
		"the first answer is incomplete": {on(write, faulttest.At(0, faulttest.Cut)), 0, false, true},
		"executed twice":                 {on(write, faulttest.At(0, faulttest.Duplicate)), 0, false, true},
		"every answer is lost":           {on(write, faulttest.From(0, faulttest.Lose)), 0, false, true},
		"every request fails late":       {on(write, faulttest.From(0, faulttest.FailLate)), 0, false, true},
		"always throttled": {
			on(write, faulttest.From(0, faulttest.Throttle)), fault.Unavailable, true, false,
		},
		"always failing": {
			on(write, faulttest.From(0, faulttest.Fail)), fault.Unavailable, true, false,
		},
		"no connection":                   {faulttest.From(0, faulttest.Break), fault.Unavailable, true, false},
		"lost and then no connection":     {first(faulttest.Lose, faulttest.Break), fault.Unavailable, true, true},
		"failed late, then no connection": {first(faulttest.FailLate, faulttest.Break), fault.Unavailable, true, true},
		"throttled and then no connection": {
			first(faulttest.Throttle, faulttest.Break), fault.Unavailable, true, false,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			client, table := dynamotest.Client(t)
			honest := over(client, table)
			mustAppend(t, honest, newVersion(t, 1, "first"))
			harmed := over(dynamotest.Connect(t, through(&faulttest.Transport{Script: test.script})), table)

			second := newVersion(t, 2, "second")
			err := harmed.Append(t.Context(), "c", second)
			if (err != nil) != test.fails || err != nil && fault.KindOf(err) != test.want {
				t.Errorf("error %v of kind %d", err, fault.KindOf(err))
			}
			list, err := honest.Versions(t.Context(), "c")
			if want := 1 + count(test.written); err != nil || len(list) != want {
				t.Fatalf("%d versions, %v, want %d", len(list), err, want)
			}
			if v, err := honest.Newest(t.Context(), "c"); err != nil || test.written != (v == second) {
				t.Errorf("the newest is %+v, %v", v, err)
			}
		})
	}
}

// TestFirstWriteOfDeploymentUnderFaults: it needs several transactions, and each of their requests may fail.
func TestFirstWriteOfDeploymentUnderFaults(t *testing.T) {
	for n := range 8 {
		for _, f := range faults {
			client, table := dynamotest.Client(t)
			s := over(dynamotest.Connect(t, through(&faulttest.Transport{Script: faulttest.At(n, f)})), table)
			change := planet.Change{Settings: planettest.Settings(t, "mine"), By: "key", At: planettest.At}
			if info, err := planet.Put(t.Context(), s, planet.FirstConfig, change); err != nil || info.Number != 2 {
				t.Errorf("request %d with fault %d: version %d, %v", n, f, info.Number, err)
			}
			list, err := over(client, table).Versions(t.Context(), planet.FirstConfig)
			if err != nil || len(list) != 2 || list[0].By != "key" || list[1].By != "orrery" {
				t.Errorf("request %d with fault %d: the history is %+v, %v", n, f, list, err)
			}
		}
	}
}

// TestDelayedWrite: the request of a killed function may arrive after other writes. It is refused then.
func TestDelayedWrite(t *testing.T) {
	for name, meanwhile := range map[string][]string{
		"others wrote once":      {"theirs"},
		"others wrote twice":     {"theirs", "theirs, too"},
		"no other writer writes": nil,
	} {
		t.Run(name, func(t *testing.T) {
			client, table := dynamotest.Client(t)
			honest := over(client, table)
			mustAppend(t, honest, newVersion(t, 1, "first"))
			network := &faulttest.Transport{Script: on(write, first(faulttest.Delay, faulttest.Break))}
			killed := over(dynamotest.Connect(t, through(network)), table)
			err := killed.Append(t.Context(), "c", newVersion(t, 2, "mine"))
			if fault.KindOf(err) != fault.Unavailable {
				t.Fatalf("error %v", err)
			}
			for i, other := range meanwhile {
				mustAppend(t, honest, newVersion(t, 2+i, other))
			}
			if n, err := network.Deliver(); n != 1 || err != nil {
				t.Fatalf("%d requests were late, %v", n, err)
			}
			if meanwhile == nil {
				meanwhile = []string{"mine"} // the write is accepted if it is still the next one
			}
			list, err := honest.Versions(t.Context(), "c")
			if err != nil || len(list) != 1+len(meanwhile) {
				t.Fatalf("versions %+v, %v", list, err)
			}
			for i, want := range meanwhile {
				v, err := honest.Version(t.Context(), "c", 2+i)
				if err != nil || v.Settings != planettest.Settings(t, want) {
					t.Errorf("version %d is not %s: %+v, %v", 2+i, want, v, err)
				}
			}
		})
	}
}

// first applies one fault to the first request and another to all later ones.
func first(one, then faulttest.Fault) faulttest.Script {
	return func(n int, _ *http.Request) faulttest.Fault {
		if n == 0 {
			return one
		}
		return then
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestEqualVersionOfAnotherWriterIsAConflict: it is a conflict even if the settings, the key and the time are the same.
func TestEqualVersionOfAnotherWriterIsAConflict(t *testing.T) {
	client, table := dynamotest.Client(t)
	honest := over(client, table)
	v := newVersion(t, 1, "same")
	mustAppend(t, honest, v)
	for name, f := range map[string]faulttest.Fault{
		"refused":                         faulttest.None,
		"refused, and the answer is lost": faulttest.Lose,
	} {
		t.Run(name, func(t *testing.T) {
			network := &faulttest.Transport{Script: on(write, faulttest.At(0, f))}
			harmed := over(dynamotest.Connect(t, through(network)), table)
			if err := harmed.Append(t.Context(), "c", v); fault.KindOf(err) != fault.Conflict {
				t.Errorf("%v, want kind Conflict", err)
			}
		})
	}
}

// TestReadsUnderFaults: a read succeeds after one fault, and is unavailable, never "not found", if all requests fail.
func TestReadsUnderFaults(t *testing.T) {
	client, table := dynamotest.Client(t)
	want := newVersion(t, 1, "first")
	mustAppend(t, over(client, table), want)
	reads := map[string]func(*Store) (planet.Info, error){
		"Newest":  func(s *Store) (planet.Info, error) { v, err := s.Newest(t.Context(), "c"); return v.Info, err },
		"Version": func(s *Store) (planet.Info, error) { v, err := s.Version(t.Context(), "c", 1); return v.Info, err },
		"Versions": func(s *Store) (planet.Info, error) {
			list, err := s.Versions(t.Context(), "c")
			return append(list, planet.Info{})[0], err
		},
	}
	for name, read := range reads {
		for _, f := range faults {
			t.Run(fmt.Sprintf("%s with fault %d", name, f), func(t *testing.T) {
				network := &faulttest.Transport{Script: faulttest.At(0, f)}
				got, err := read(over(dynamotest.Connect(t, through(network)), table))
				if err != nil || got != want.Info {
					t.Errorf("one fault: %+v, %v", got, err)
				}
				if f == faulttest.Duplicate {
					return
				}
				network = &faulttest.Transport{Script: faulttest.From(0, f)}
				_, err = read(over(dynamotest.Connect(t, through(network)), table))
				if fault.KindOf(err) != fault.Unavailable {
					t.Errorf("only faults: %v, want kind Unavailable", err)
				}
			})
		}
	}
}

// TestConcurrentWritersUnderFaults: every third request fails. Accepted writes are in the history exactly once, under
// their numbers, which have no gaps. Other writes return errors of kind Unavailable.
func TestConcurrentWritersUnderFaults(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			const writers, writes = 4, 8
			client, table := dynamotest.Client(t)
			honest := over(client, table)
			accepted := make([]map[int]string, writers) // version number → name written
			tried := make([]map[string]bool, writers)
			var wg sync.WaitGroup
			for w := range writers {
				script := faulttest.Sometimes(seed*100+uint64(w), 1.0/3, faults...)
				harmed := over(dynamotest.Connect(t, through(&faulttest.Transport{Script: script})), table)
				accepted[w], tried[w] = map[int]string{}, map[string]bool{}
				wg.Go(func() {
					for i := range writes {
						name := fmt.Sprintf("writer %d, write %d", w, i)
						tried[w][name] = true
						change := planet.Change{Settings: planettest.Settings(t, name), By: "key", At: planettest.At}
						info, err := planet.Put(t.Context(), harmed, "race", change)
						switch {
						case err == nil:
							accepted[w][info.Number] = name
						case fault.KindOf(err) != fault.Unavailable:
							t.Errorf("%s: %v", name, err)
						}
					}
				})
			}
			wg.Wait()
			checkHistory(t, honest, accepted, tried)
		})
	}
}

// checkHistory checks that accepted writes have their numbers, that no write is stored twice, and that numbers have no
// gaps.
func checkHistory(t *testing.T, s *Store, accepted []map[int]string, tried []map[string]bool) {
	t.Helper()
	list, err := s.Versions(context.Background(), "race")
	if err != nil {
		t.Fatal(err)
	}
	written := map[planet.Settings]int{}
	for i, info := range list {
		if info.Number != len(list)-i {
			t.Fatalf("version %d is in the place of %d", info.Number, len(list)-i)
		}
		v, err := s.Version(context.Background(), "race", info.Number)
		if err != nil || v.Info != info {
			t.Fatalf("version %d is %+v, %v", info.Number, v.Info, err)
		}
		if before, twice := written[v.Settings]; twice {
			t.Errorf("versions %d and %d are one write", before, info.Number)
		}
		written[v.Settings] = info.Number
	}
	total := 0
	for w := range accepted {
		total += len(accepted[w])
		for number, name := range accepted[w] {
			if got := written[planettest.Settings(t, name)]; got != number {
				t.Errorf("%s was accepted as version %d and is version %d", name, number, got)
			}
		}
		for name := range tried[w] {
			delete(written, planettest.Settings(t, name))
		}
	}
	if len(written) > 0 || total == 0 {
		t.Errorf("%d unknown versions; %d writes accepted", len(written), total)
	}
}

// TestContentionIsRetried: a conflict with another transaction is retried, and in the end returned as Unavailable.
func TestContentionIsRetried(t *testing.T) {
	client, table := dynamotest.Client(t)
	honest := over(client, table)
	for name, test := range map[string]struct {
		times int
		fails bool
	}{"once": {1, false}, "always": {1000, true}} {
		t.Run(name, func(t *testing.T) {
			network := &contention{times: test.times}
			s := over(dynamotest.Connect(t, through(network)), table)
			err := s.Append(t.Context(), name, newVersion(t, 1, "x"))
			if (err != nil) != test.fails || err != nil && fault.KindOf(err) != fault.Unavailable {
				t.Errorf("%v", err)
			}
			list, err := honest.Versions(t.Context(), name)
			if want := count(!test.fails); err != nil || len(list) != want {
				t.Errorf("%d versions, %v, want %d", len(list), err, want)
			}
		})
	}
}

// contention refuses the first transactions like DynamoDB does while another transaction uses one of the items.
type contention struct{ times int }

func (w *contention) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.times == 0 || !strings.HasSuffix(r.Header.Get("X-Amz-Target"), "."+write) {
		return http.DefaultTransport.RoundTrip(r)
	}
	w.times--
	const body = `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","message":"no",` +
		`"CancellationReasons":[{"Code":"TransactionConflict"},{"Code":"None"},{"Code":"None"}]}`
	return &http.Response{
		StatusCode: http.StatusBadRequest,
		Header:     http.Header{},
		Body:       io.NopCloser(strings.NewReader(body)),
		Request:    r,
	}, r.Body.Close()
}

func mustAppend(t *testing.T, s *Store, v planet.Version) {
	t.Helper()
	if err := s.Append(t.Context(), "c", v); err != nil {
		t.Fatal(err)
	}
}
