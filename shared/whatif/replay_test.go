package whatif_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/whatif"
	"github.com/orrery/orrery/shared/whatif/simulate"
)

// random is a limit and the requests of one key, in two forms.
type random struct {
	limit    whatif.Limit
	requests []whatif.Request
	other    simulate.Limit
	records  []simulate.Record
}

func randomCase(r *rand.Rand) random {
	c := random{limit: whatif.Limit{
		Threshold: r.Int64N(6), Per: time.Duration(1+r.IntN(90)) * time.Second, Key: []string{"ip"},
	}}
	if r.IntN(2) == 0 {
		c.limit.Ban = time.Duration(1+r.IntN(120)) * time.Second
	}
	if r.IntN(3) == 0 {
		c.limit.With = "path"
	}
	c.other = simulate.Limit{
		Active: true, Timeframe: int64(c.limit.Per / time.Second), TTL: int64(c.limit.Ban / time.Second), Ban: c.limit.Ban > 0,
		Threshold: int(c.limit.Threshold), Key: []simulate.Part{{Kind: "attrs", Name: "ip"}},
	}
	if c.limit.With != "" {
		c.other.PairWith = &simulate.Part{Kind: "attrs", Name: "path"}
	}
	at := int64(1_700_000_000_000_000) // microseconds
	for range 1 + r.IntN(60) {
		switch r.IntN(4) {
		case 0: // at the same time
		case 1: // at an edge of a window or of a ban
			edge := []int64{int64(c.limit.Per), int64(c.limit.Ban), int64(c.limit.Gap())}[r.IntN(3)] / 1000
			at += max(0, edge-1+r.Int64N(3))
		case 2:
			at += r.Int64N(10_000_000)
		default:
			at += r.Int64N(60_000_000)
		}
		one := whatif.Request{TsNs: at * 1000, Value: int32(r.IntN(4)) - 1}
		record := simulate.Record{Time: at, Fields: map[string]string{"ip": "a"}}
		if one.Value >= 0 {
			record.Fields["path"] = fmt.Sprint(one.Value)
		}
		c.requests, c.records = append(c.requests, one), append(c.records, record)
	}
	return c
}

const wholeHistory = -1 << 62

// TestReplayIsTheSimulation: a limit acts on the requests on which the simulation of the published rules acts.
func TestReplayIsTheSimulation(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	acted := 0
	for n := range 3000 {
		c := randomCase(r)
		want := simulate.Limits(c.other, c.records)
		got := c.limit.Replay(c.requests, wholeHistory, wholeHistory).Acted
		if !slices.Equal(got, want) {
			t.Fatalf("case %d: %+v of %v:\n got %v\nwant %v", n, c.limit, c.requests, got, want)
		}
		for _, is := range want {
			if is {
				acted++
			}
		}
	}
	if acted < 3000 {
		t.Errorf("limits have acted on only %d requests", acted)
	}
}

// TestReplayFromAPause: a replay that begins with the period is that of the whole history, if the key has a pause before
// it, and says so otherwise.
func TestReplayFromAPause(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 0))
	known, unknown := 0, 0
	for n := range 3000 {
		c := randomCase(r)
		at := r.IntN(len(c.requests))
		from := c.requests[at].TsNs
		for at > 0 && c.requests[at-1].TsNs == from {
			at--
		}
		kept := r.IntN(at + 1) // requests before are not read
		since := c.requests[kept].TsNs
		for kept > 0 && c.requests[kept-1].TsNs == since {
			kept--
		}
		if kept > 0 {
			since = c.requests[kept-1].TsNs + 1
		}
		replay := c.limit.Replay(c.requests[kept:], since, from)
		if replay.PhaseUnknown {
			unknown++
			continue
		}
		known++
		want := simulate.Limits(c.other, c.records)[at:]
		if got := replay.Acted[at-kept:]; !slices.Equal(got, want) {
			t.Fatalf("case %d: %+v of %v from %d, known from %d:\n got %v\nwant %v", n, c.limit, c.requests, at, kept, got, want)
		}
	}
	if known < 500 || unknown < 500 {
		t.Errorf("the phase is known in %d cases and unknown in %d", known, unknown)
	}
}

// TestCurve: each point of a curve has the figures of the limit with its threshold.
func TestCurve(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 0))
	points := 0
	for range 200 {
		c := randomCase(r)
		c.limit.Ban, c.limit.With, c.limit.Threshold = 0, "", max(c.limit.Threshold, 1)
		var keys [][]whatif.Seen
		for key := range 4 {
			other := randomCase(r)
			var seen []whatif.Seen
			for _, one := range other.requests {
				seen = append(seen, whatif.Seen{
					Request: one, Key: int32(key), Client: int32(r.IntN(5)) - 1, Session: -1, Stopped: r.IntN(4) == 0,
					Human: r.IntN(2) == 0, Earlier: r.IntN(9) == 0, Attack: r.IntN(3) == 0,
				})
			}
			keys = append(keys, seen)
		}
		from := keys[0][len(keys[0])/2].TsNs
		outcome := func(threshold int64, curveFrom int64) whatif.Outcome {
			limit := c.limit
			limit.Threshold = threshold
			trial := whatif.NewTrial(whatif.Rule{Action: whatif.Block, Limit: &limit}, wholeHistory, from, curveFrom, true)
			for _, seen := range keys {
				trial.Add(slices.Clone(seen))
			}
			return trial.Outcome()
		}
		for _, p := range outcome(c.limit.Threshold, 1).Curve {
			points++
			o := outcome(p.Threshold, 0)
			want := whatif.Point{Threshold: p.Threshold, Acted: o.Acted, Newly: o.Newly, Clients: o.Clients}
			if o.Humans != nil {
				want.Humans, want.HumanClients = *o.Humans, *o.HumanClients
			}
			want.Attack, want.Others = o.Attack.Acted, o.Attack.Stopped
			if p != want {
				t.Fatalf("%+v: the curve has %+v, the limit %+v", c.limit, p, want)
			}
		}
	}
	if points < 500 {
		t.Errorf("only %d points", points)
	}
}

// TestReplayOfAPart: with the requests before it, a part of a period has the decisions that the whole period has there.
func TestReplayOfAPart(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 0))
	acted := 0
	for n := range 3000 {
		c := randomCase(r)
		at := r.IntN(len(c.requests))
		from := c.requests[at].TsNs
		for at > 0 && c.requests[at-1].TsNs == from {
			at--
		}
		whole := c.limit.Replay(c.requests, wholeHistory, wholeHistory)
		part := c.limit.Replay(c.requests, wholeHistory, from)
		if !slices.Equal(part.Acted[at:], whole.Acted[at:]) || !slices.Equal(part.Places[at:], whole.Places[at:]) {
			t.Fatalf("case %d: %+v of %v from %d:\n got %v\nwant %v", n, c.limit, c.requests, at, part, whole)
		}
		if at > 0 && slices.Contains(whole.Acted[at:], true) {
			acted++
		}
	}
	if acted < 300 {
		t.Errorf("only %d parts have a request on which a limit acts", acted)
	}
}

// TestHigherThreshold: without a ban, a limit with a higher threshold acts on a part of the requests.
func TestHigherThreshold(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	fewer := 0
	for n := range 3000 {
		c := randomCase(r)
		c.limit.Ban, c.limit.Threshold = 0, max(c.limit.Threshold, 1)
		higher := c.limit
		higher.Threshold += 1 + r.Int64N(3)
		lower := c.limit.Replay(c.requests, wholeHistory, wholeHistory).Acted
		for i, acts := range higher.Replay(c.requests, wholeHistory, wholeHistory).Acted {
			switch {
			case acts && !lower[i]:
				t.Fatalf("case %d: %+v acts on request %d of %v, and with the threshold %d not", n, higher, i, c.requests, c.limit.Threshold)
			case lower[i] && !acts:
				fewer++
			}
		}
	}
	if fewer < 3000 {
		t.Errorf("higher thresholds act on only %d requests fewer", fewer)
	}
}

// TestKeysAddUp: the outcome of several keys is the sum of their outcomes.
func TestKeysAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 0))
	added := int64(0)
	for n := range 300 {
		c := randomCase(r)
		outcome := func(keys ...[]whatif.Seen) whatif.Outcome {
			trial := whatif.NewTrial(whatif.Rule{Action: whatif.Block, Limit: &c.limit}, wholeHistory, wholeHistory, 1, true)
			for _, key := range keys {
				trial.Add(slices.Clone(key))
			}
			return trial.Outcome()
		}
		var keys [][]whatif.Seen
		var sum whatif.Outcome
		for key := range 4 {
			var seen []whatif.Seen
			for _, one := range randomCase(r).requests {
				seen = append(seen, whatif.Seen{Request: one, Key: int32(key), Client: int32(key), Session: -1, Stopped: r.IntN(4) == 0, Attack: r.IntN(3) == 0})
			}
			o := outcome(seen)
			sum.Acted, sum.Newly, sum.Stopped, sum.Keys = sum.Acted+o.Acted, sum.Newly+o.Newly, sum.Stopped+o.Stopped, sum.Keys+o.Keys
			sum.Clients += o.Clients
			keys = append(keys, seen)
			added += o.Acted
		}
		all := outcome(keys...)
		if all.Acted != sum.Acted || all.Newly != sum.Newly || all.Stopped != sum.Stopped || all.Keys != sum.Keys || all.Clients != sum.Clients {
			t.Fatalf("case %d: %+v: %+v, and the sum of the keys is %+v", n, c.limit, all, sum)
		}
	}
	if added < 3000 {
		t.Errorf("the limits have acted on only %d requests", added)
	}
}
