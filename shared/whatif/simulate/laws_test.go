package simulate_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	. "github.com/orrery/orrery/shared/whatif/simulate"
)

const runs = 500

// random returns a limit and records. Their times are dense enough for equal times, ends of windows and bans.
func random(seed uint64) (*rand.Rand, Limit, []Record) {
	rng := rand.New(rand.NewPCG(seed, 1))
	limit := Limit{Active: true, Timeframe: 1 + rng.Int64N(5), TTL: rng.Int64N(8), Threshold: rng.IntN(4),
		Ban: rng.IntN(2) == 0, Key: []Part{{"attrs", "ip"}}}
	if rng.IntN(2) == 0 {
		limit.Key = append(limit.Key, Part{"headers", "host"})
	}
	if rng.IntN(2) == 0 {
		limit.PairWith = &Part{"args", "q"}
	}
	if rng.IntN(3) == 0 {
		limit.Exclude = Tags{[]string{"AND", "OR", ""}[rng.IntN(3)], []string{"x", "y"}}
	}
	if rng.IntN(3) == 0 {
		limit.Include = Tags{[]string{"AND", "OR", ""}[rng.IntN(3)], []string{"y", "z"}}
	}
	return rng, limit, randomRecords(rng, 40, 20)
}

func randomRecords(rng *rand.Rand, n int, seconds int64) []Record {
	records := make([]Record, n)
	for i := range records {
		r := Record{Time: rng.Int64N(seconds) * 1_000_000, Fields: map[string]string{}, Headers: map[string]string{},
			Args: map[string]string{}}
		r.Time += []int64{0, 0, 1, 999_999}[rng.IntN(4)]
		maybe := func(values map[string]string, name string) {
			if n := rng.IntN(4); n > 0 {
				values[name] = strconv.Itoa(n)
			}
		}
		maybe(r.Fields, "ip")
		maybe(r.Headers, "host")
		maybe(r.Args, "q")
		for _, tag := range []string{"x", "y", "z"} {
			if rng.IntN(2) == 0 {
				r.Tags = append(r.Tags, tag)
			}
		}
		records[i] = r
	}
	return records
}

func TestLaws(t *testing.T) {
	for _, law := range []struct {
		name  string
		holds func(*rand.Rand, Limit, []Record) (interesting, holds bool)
	}{
		{"a higher threshold without a ban acts on a subset", func(_ *rand.Rand, l Limit, rs []Record) (bool, bool) {
			l.Ban = false
			lower := Limits(l, rs)
			l.Threshold++
			higher := Limits(l, rs)
			for i := range rs {
				if higher[i] && !lower[i] {
					return true, false
				}
			}
			return slices.Contains(higher, true) && !slices.Equal(higher, lower), true
		}},
		{"keys add up", func(_ *rand.Rand, l Limit, rs []Record) (bool, bool) {
			parts := map[string][]int{}
			for i, r := range rs {
				parts[r.Fields["ip"]] = append(parts[r.Fields["ip"]], i)
			}
			apart := make([]bool, len(rs))
			for _, part := range parts {
				var some []Record
				for _, i := range part {
					some = append(some, rs[i])
				}
				for n, acts := range Limits(l, some) {
					apart[part[n]] = acts
				}
			}
			return slices.Contains(apart, true), slices.Equal(apart, Limits(l, rs))
		}},
		{"the curve of a union of keys is the sum", func(_ *rand.Rand, l Limit, rs []Record) (bool, bool) {
			thresholds := []int{0, 1, 2, 3, 5, 8}
			sum := make([]int, len(thresholds))
			for _, ip := range []string{"", "1", "2", "3"} {
				var some []Record
				for _, r := range rs {
					if r.Fields["ip"] == ip {
						some = append(some, r)
					}
				}
				for i, n := range Curve(l, some, thresholds) {
					sum[i] += n
				}
			}
			return sum[1] > 0, slices.Equal(sum, Curve(l, rs, thresholds))
		}},
		{"records of distinct times may come in any order", func(rng *rand.Rand, l Limit, rs []Record) (bool, bool) {
			for i := range rs {
				rs[i].Time = rs[i].Time*100 + int64(i)
			}
			l.Timeframe, l.TTL = l.Timeframe*100, l.TTL*100
			order := rng.Perm(len(rs))
			shuffled := make([]Record, len(rs))
			for to, from := range order {
				shuffled[to] = rs[from]
			}
			inOrder, outOfOrder := Limits(l, rs), Limits(l, shuffled)
			for to, from := range order {
				if outOfOrder[to] != inOrder[from] {
					return true, false
				}
			}
			return slices.Contains(inOrder, true), true
		}},
		{"a later time changes nothing", func(rng *rand.Rand, l Limit, rs []Record) (bool, bool) {
			shift := rng.Int64N(1e15) - 5e14
			later := slices.Clone(rs)
			for i := range later {
				later[i].Time += shift
			}
			acts := Limits(l, rs)
			return slices.Contains(acts, true), slices.Equal(Limits(l, later), acts)
		}},
		{"records that do not count may be left out", func(_ *rand.Rand, l Limit, rs []Record) (bool, bool) {
			every := l
			every.Threshold, every.Ban = 0, false
			counts := Limits(every, rs)
			l.Ban = false // a ban acts on records that do not count
			var some []Record
			var want []bool
			for i, acts := range Limits(l, rs) {
				if acts && !counts[i] {
					return true, false
				}
				if counts[i] {
					some, want = append(some, rs[i]), append(want, acts)
				}
			}
			return slices.Contains(want, true) && len(some) < len(rs), slices.Equal(Limits(l, some), want)
		}},
		{"nothing is left after a gap of a window and a ban", func(rng *rand.Rand, l Limit, rs []Record) (bool, bool) {
			gap := (l.Timeframe + l.TTL) * 1_000_000
			later := randomRecords(rng, 40, 20)
			var end int64
			for _, r := range rs {
				end = max(end, r.Time)
			}
			for i := range later {
				later[i].Time += end + gap
			}
			both := Limits(l, slices.Concat(rs, later))
			return slices.Contains(both, true), slices.Equal(both, slices.Concat(Limits(l, rs), Limits(l, later)))
		}},
		{"a ban without an end acts on all records of the key from the one that exceeds the threshold",
			func(_ *rand.Rand, l Limit, rs []Record) (bool, bool) {
				l.Ban, l.TTL, l.Threshold = true, 1000, l.Threshold+1 // a ban that outlasts the records
				l.Include, l.Exclude, l.PairWith = Tags{}, Tags{}, nil
				l.Key = l.Key[:1]
				slices.SortStableFunc(rs, func(a, b Record) int { return int(a.Time - b.Time) })
				banned := Limits(l, rs)
				l.Ban = false
				exceeded := map[string]bool{}
				for i, acts := range Limits(l, rs) {
					ip, present := rs[i].Fields["ip"]
					exceeded[ip] = exceeded[ip] || acts
					if banned[i] != (present && exceeded[ip]) {
						return true, false
					}
				}
				return slices.Contains(banned, true), true
			}},
	} {
		t.Run(law.name, func(t *testing.T) {
			interesting := 0
			for seed := range uint64(runs) {
				counts, holds := law.holds(random(seed))
				if !holds {
					t.Fatalf("seed %d: the law does not hold", seed)
				}
				if counts {
					interesting++
				}
			}
			if interesting < runs/10 {
				t.Errorf("only %d of %d runs could have broken the law", interesting, runs)
			}
		})
	}
}
