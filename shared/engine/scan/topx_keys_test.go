package scan

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/orrery/orrery/shared/query"
)

// topxCase describes random tallies: what makes choosing the keys hard.
type topxCase struct {
	name           string
	keys, inGroup  int // the number of all keys, and of the keys in each row group
	blocked        int // keys with blocked requests
	requests       int // of a key in a row group, at most
	time           func(r *rand.Rand, key, group int) int64
	ties, unproven bool // keys tie at the limit; the highest averages of each row group are not enough
}

var topxCases = []topxCase{
	{
		name: "few slow keys", keys: 300, inGroup: 100, blocked: 100, requests: 20,
		time: func(r *rand.Rand, key, _ int) int64 {
			if key < 12 {
				return 1_000_000 + r.Int64N(100_000)
			}
			return r.Int64N(1_000)
		},
	},
	{
		name: "fewer blocked keys than the limit", keys: 300, inGroup: 100, blocked: 4, requests: 20,
		time: func(r *rand.Rand, _, _ int) int64 { return r.Int64N(1_000) },
	},
	{
		name: "keys that are slow in one row group only", unproven: true,
		keys: 300, inGroup: 200, blocked: 50, requests: 5,
		time: func(r *rand.Rand, key, group int) int64 {
			if key%7 == group {
				return 1_000_000 + r.Int64N(1_000)
			}
			return r.Int64N(1_000_000)
		},
	},
	{
		name: "equal times", keys: 300, inGroup: 100, blocked: 300, requests: 1, ties: true, unproven: true,
		time: func(*rand.Rand, int, int) int64 { return 5 },
	},
	{
		name: "times below 0", keys: 300, inGroup: 200, blocked: 50, requests: 5, unproven: true,
		time: func(r *rand.Rand, key, group int) int64 {
			if key%7 == group {
				return -1 - r.Int64N(1_000)
			}
			return -1 - r.Int64N(1_000_000)
		},
	},
	{
		name: "sums that are rounded", keys: 300, inGroup: 100, blocked: 50, requests: 20, unproven: true,
		time: func(r *rand.Rand, _, _ int) int64 { return 1<<57 + r.Int64N(1<<3) },
	},
	{
		name: "all keys", keys: 12, inGroup: 12, blocked: 12, requests: 20,
		time: func(r *rand.Rand, _, _ int) int64 { return r.Int64N(1_000) },
	},
}

// TestChoose: the winners and ties of random tallies equal the first keys of a sum over all keys. In the end, only the
// memory of the winners is reserved.
func TestChoose(t *testing.T) {
	const limit = 10
	for _, c := range topxCases {
		t.Run(c.name, func(t *testing.T) {
			ties, unproven := false, false
			for seed := range uint64(20) {
				groups, all := c.generate(rand.New(rand.NewPCG(seed, 5)))
				r := newRun(t.Context(), query.Query{}, Options{})
				k := newKeys(r, "url", []string{"url", query.TimeLabels[0].Name}, limit, len(groups))
				rounds := chooseAmong(t, k, groups)
				unproven = unproven || rounds > 1
				for _, label := range k.labels {
					var want []total
					ahead := byBlocked
					for _, of := range all {
						if label == "url" || of.time.Count > 0 {
							want = append(want, of)
						}
					}
					if label != "url" {
						ahead = byTime
					}
					slices.SortFunc(want, ahead)
					got := slices.Concat(k.ranked[label], k.ties[label])
					ties = ties || len(k.ties[label]) > 0
					if err := sameRanks(want, got, ahead, limit); err != nil {
						t.Fatalf("seed %d, label %s: %v", seed, label, err)
					}
				}
				if err := k.placeWinners(); err != nil {
					t.Fatal(err)
				}
				if used := r.used.Load(); used != k.bytes() {
					t.Fatalf("seed %d: %d bytes are reserved, of them %d for the winners", seed, used, k.bytes())
				}
			}
			if c.ties && !ties {
				t.Error("no keys tie at the limit")
			}
			if unproven != c.unproven {
				t.Errorf("more keys are compared than at first: %v, want %v", unproven, c.unproven)
			}
		})
	}
}

// groupOfKeys holds the counts of the keys of a row group, by code. The hash of a key is its number.
type groupOfKeys struct {
	keys   []uint64
	counts []uint64
	times  [][3]duration
}

// chooseAmong finds the winners as topX.choose does, and returns the number of its second passes.
func chooseAmong(t *testing.T, k *keys, groups []groupOfKeys) (rounds int) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	slowest := func(n int) {
		for i, g := range groups {
			check(k.keepSlowest(i, n, g.times, g.keys))
		}
	}
	for i, g := range groups {
		check(k.keep(i, g.counts, g.keys))
	}
	check(k.rankByBlocked())
	for n := firstCandidates; ; n *= 4 {
		slowest(n)
		check(k.takeSlowest())
		rounds++
		for _, g := range groups {
			for code, key := range g.keys {
				requests := []int64{int64(uint32(g.counts[code]))}
				if place := k.contested.place(key); place >= 0 {
					k.addContested([]int{place}, requests)
				}
				if place := k.slow.place(key); place >= 0 {
					k.addSlow([]int{place}, requests, g.times[code:code+1])
				}
			}
		}
		k.completed()
		proven, err := k.rankByTime()
		check(err)
		if proven {
			check(k.cut())
			return rounds
		}
		k.findLeast()
	}
}

// generate returns random row groups, and the totals of all keys.
func (c *topxCase) generate(r *rand.Rand) (groups []groupOfKeys, _ []total) {
	all := map[uint64]total{}
	for group := range 5 {
		var g groupOfKeys
		for _, key := range r.Perm(c.keys)[:c.inGroup] {
			requests, blocked := 1+r.IntN(c.requests), 0
			if key < c.blocked {
				blocked = r.IntN(requests + 1)
			}
			d := duration{count: int64(r.IntN(requests + 1))}
			for range d.count {
				d.sum += c.time(r, key, group)
			}
			g.keys = append(g.keys, uint64(key))
			g.counts = append(g.counts, uint64(requests)+uint64(blocked)<<32)
			g.times = append(g.times, [3]duration{d})
			sum := all[uint64(key)]
			sum.hash = uint64(key)
			sum.requests += int64(requests)
			sum.blocked += int64(blocked)
			sum.time.Count += d.count
			sum.time.Sum += d.sum
			all[uint64(key)] = sum
		}
		groups = append(groups, g)
	}
	return groups, slices.Collect(maps.Values(all))
}

// sameRanks compares the winners and ties with all totals, in their order: they must be the first ones, and all that
// rank equally to the last of these.
func sameRanks(want, got []total, ahead func(a, b total) int, limit int) error {
	n := min(limit, len(want))
	for n < len(want) && ahead(want[n], want[n-1]) == 0 {
		n++
	}
	if len(got) != n {
		return fmt.Errorf("%d winners and ties, want %d", len(got), n)
	}
	byHash := map[uint64]total{}
	for _, of := range want[:n] {
		byHash[of.hash] = of
	}
	for _, of := range got {
		w, found := byHash[of.hash]
		if alone := n == len(want) || w.blocked > want[n].blocked; of.requests == 0 && found && alone && of.blocked == w.blocked {
			continue // its blocked requests already make it a winner
		}
		if !found || ahead(w, of) != 0 || w.requests != of.requests {
			return fmt.Errorf("key %d is among the winners and ties; its total is %+v", of.hash, w)
		}
	}
	return nil
}

// TestAtMost: the average of two sums is at most the highest of their averages, as far as rounding allows.
func TestAtMost(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 11))
	rounded := 0
	for range 100_000 {
		base := int64(1) << (53 + r.IntN(7))
		a, b := query.Times{Count: 1 + r.Int64N(5)}, query.Times{Count: 1 + r.Int64N(5)}
		a.Sum, b.Sum = a.Count*base/8+r.Int64N(9), b.Count*base/8+r.Int64N(9)
		if r.IntN(2) == 0 {
			a.Sum, b.Sum = -a.Sum, -b.Sum
		}
		both := query.Times{Count: a.Count + b.Count, Sum: a.Sum + b.Sum}
		highest := max(a.Average(), b.Average())
		if both.Average() > highest {
			rounded++
		}
		if both.Average() > atMost(highest) {
			t.Fatalf("the average of %+v and %+v is higher than the average of either", a, b)
		}
	}
	if rounded == 0 {
		t.Error("no average is rounded up")
	}
}
