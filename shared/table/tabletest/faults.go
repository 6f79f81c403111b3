package tabletest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/table"
	"github.com/orrery/orrery/shared/testkit/faulttest"
)

// Survivable are the faults after which a call still succeeds, because it is repeated. Only the last one, Duplicate, needs
// no repetition.
var Survivable = []faulttest.Fault{
	faulttest.Throttle, faulttest.Fail, faulttest.Break, faulttest.Lose, faulttest.FailLate, faulttest.Cut,
	faulttest.Duplicate,
}

// Faults tests a table behind a network with faults. open returns an empty table without faults, and a function that
// returns the same table behind a network.
func Faults(t *testing.T, open func(t *testing.T) (honest table.Table, behind func(network http.RoundTripper) table.Table)) {
	for name, test := range map[string]func(*testing.T, world){
		"every call survives one fault":              oneFault,
		"a call with only faults is unavailable":     onlyFaults,
		"a delayed write is refused after another":   delayed,
		"a refused write stays refused":              refusedAndLost,
		"a table that does not answer is a timeout":  hanging,
		"concurrent writes are kept under faults":    concurrent,
		"a write of unknown outcome is not repeated": lostThenBroken,
	} {
		t.Run(name, func(t *testing.T) {
			honest, behind := open(t)
			test(t, world{honest, behind})
		})
	}
}

type world struct {
	honest table.Table
	behind func(network http.RoundTripper) table.Table
}

func (w world) scripted(script faulttest.Script) table.Table {
	return w.behind(&faulttest.Transport{Base: Calls{http.DefaultTransport}, Script: script})
}

// calls are the calls of a table that has an item at revision 1.
var calls = map[string]func(ctx context.Context, in table.Table, k table.Key) error{
	"Get": func(ctx context.Context, in table.Table, k table.Key) error {
		item, err := in.Get(ctx, k)
		if err == nil && item.Attributes[revision] == nil {
			err = fmt.Errorf("read %v", item)
		}
		return err
	},
	"Range": func(ctx context.Context, in table.Table, k table.Key) error {
		items, err := table.List(ctx, in, table.Range{Partition: k.Partition, Prefix: k.Sort})
		if err == nil && len(items) != 1 {
			err = fmt.Errorf("read %v", items)
		}
		return err
	},
	"Write": func(ctx context.Context, in table.Table, k table.Key) error {
		created := key(k.Partition, "new "+k.Sort)
		return in.Write(ctx, next(k, 1, "second"), next(created, 0, "second"))
	},
	"Remove": func(ctx context.Context, in table.Table, k table.Key) error {
		return in.Write(ctx, table.Change{Key: k, When: table.Where(revision, int64(1))})
	},
}

// eachFault calls do for every call and fault. Each gets an item of its own.
func eachFault(t *testing.T, w world, do func(t *testing.T, name string, f faulttest.Fault, k table.Key)) {
	for name := range calls {
		for _, f := range Survivable {
			t.Run(fmt.Sprintf("%s with fault %d", name, f), func(t *testing.T) {
				k := key("p", fmt.Sprintf("%s %d", name, f))
				mustWrite(t, w.honest, next(k, 0, "first"))
				do(t, name, f, k)
			})
		}
	}
}

func oneFault(t *testing.T, w world) {
	eachFault(t, w, func(t *testing.T, name string, f faulttest.Fault, k table.Key) {
		if err := calls[name](t.Context(), w.scripted(faulttest.At(0, f)), k); err != nil {
			t.Error(err)
		}
		second := table.Attributes{revision: int64(2), "body": "second"}
		switch name {
		case "Write":
			expect(t, w.honest, k, second)
			expect(t, w.honest, key("p", "new "+k.Sort), table.Attributes{revision: int64(1), "body": "second"})
		case "Remove":
			expect(t, w.honest, k, nil)
		}
	})
}

func onlyFaults(t *testing.T, w world) {
	eachFault(t, w, func(t *testing.T, name string, f faulttest.Fault, k table.Key) {
		err := calls[name](t.Context(), w.scripted(faulttest.From(0, f)), k)
		if f != faulttest.Duplicate && fault.KindOf(err) != fault.Unavailable {
			t.Errorf("%v, want kind Unavailable", err)
		}
		item, err := w.honest.Get(t.Context(), k)
		arrives := f >= faulttest.Lose
		changed := item.Attributes[revision] != int64(1)
		if err != nil || changed != (arrives && (name == "Write" || name == "Remove")) {
			t.Errorf("the item is %v, %v", item, err)
		}
	})
}

// First applies one fault to the first request and another to all later ones.
func First(one, then faulttest.Fault) faulttest.Script {
	return func(n int, _ *http.Request) faulttest.Fault {
		if n == 0 {
			return one
		}
		return then
	}
}

// delayed: the request of a killed process may arrive after other writes. Then it is refused.
func delayed(t *testing.T, w world) {
	for others := range 2 {
		k := key("p", fmt.Sprint(others))
		mustWrite(t, w.honest, next(k, 0, "first"))
		network := &faulttest.Transport{
			Base: Calls{http.DefaultTransport}, Script: First(faulttest.Delay, faulttest.Break),
		}
		err := w.behind(network).Write(t.Context(), next(k, 1, "late"))
		if fault.KindOf(err) != fault.Unavailable {
			t.Fatalf("error %v", err)
		}
		want := "late" // it is accepted if no other writer was faster
		if others > 0 {
			want = "other"
			mustWrite(t, w.honest, next(k, 1, want))
		}
		if n, err := network.Deliver(); n != 1 || err != nil {
			t.Fatalf("%d requests were late, %v", n, err)
		}
		expect(t, w.honest, k, table.Attributes{revision: int64(2), "body": want})
	}
}

// refusedAndLost: a write whose refusal is lost is not reported as made.
func refusedAndLost(t *testing.T, w world) {
	k := key("p", "s")
	mustWrite(t, w.honest, next(k, 0, "first"))
	for _, f := range []faulttest.Fault{faulttest.None, faulttest.Lose, faulttest.FailLate, faulttest.Duplicate} {
		refused(t, w.scripted(faulttest.At(0, f)), next(k, 0, "first"))
	}
	expect(t, w.honest, k, table.Attributes{revision: int64(1), "body": "first"})
}

// lostThenBroken: the outcome of the write is unknown to its caller. The same write does not happen again.
func lostThenBroken(t *testing.T, w world) {
	k := key("p", "s")
	err := w.scripted(First(faulttest.Lose, faulttest.Break)).Write(t.Context(), next(k, 0, "first"))
	if fault.KindOf(err) != fault.Unavailable {
		t.Errorf("%v, want kind Unavailable", err)
	}
	refused(t, w.honest, next(k, 0, "again"))
	expect(t, w.honest, k, table.Attributes{revision: int64(1), "body": "first"})
}

// Hanging is a network without responses.
type Hanging struct{}

// RoundTrip waits until the request is cancelled.
func (Hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// hanging: if the table does not answer in time, its items are not reported as missing.
func hanging(t *testing.T, w world) {
	for name, call := range calls {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if err := call(ctx, w.behind(Hanging{}), key("p", "s")); fault.KindOf(err) != fault.Timeout {
			t.Errorf("%s: %v, want kind Timeout", name, err)
		}
		cancel()
	}
}

// concurrent: writers increment an item while a third of their requests fail. An increment that was acknowledged is
// kept, and each revision is the increment of one write.
func concurrent(t *testing.T, w world) {
	const writers, writes = 4, 8
	k := key("p", "count")
	acknowledged, unknown := make([]int, writers), make([]int, writers)
	var all sync.WaitGroup
	for i := range writers {
		in := w.scripted(faulttest.Sometimes(uint64(i), 1.0/3, Survivable...))
		all.Go(func() {
			for range writes {
				item, err := in.Get(context.Background(), k)
				if err == nil {
					seen, _ := item.Attributes[revision].(int64)
					if err = in.Write(context.Background(), next(k, seen, "")); err == nil {
						acknowledged[i]++
					}
				}
				if fault.KindOf(err) == fault.Unavailable {
					unknown[i]++
				} else if err != nil && !errors.Is(err, table.ErrConflict) {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	item, err := w.honest.Get(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	least, most := 0, 0
	for i := range writers {
		least += acknowledged[i]
		most += acknowledged[i] + unknown[i]
	}
	if n, _ := item.Attributes[revision].(int64); int(n) < least || int(n) > most || least == 0 {
		t.Errorf("%d increments, of which %d to %d were made", n, least, most)
	}
}
