package scan

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// TestOverlaps: a segment is shared if and only if two row groups can have records of it.
func TestOverlaps(t *testing.T) {
	const seconds = 60
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		groups := make([]*group, r.IntN(8))
		for i := range groups {
			from := r.Int64N(40) * 30_000
			groups[i] = &group{RowGroup: parquet.RowGroup{MinTsMs: from, MaxTsMs: from + r.Int64N(8)*30_000}}
		}
		minutes := query.Query{Shape: query.Timeline{SegmentSeconds: seconds}}
		shared := overlaps(groups, minutes.Segmentation(query.Period{ToMs: 1 << 40}))
		for start := int64(-60); start < 1600; start += seconds {
			in := 0
			for _, g := range groups {
				if query.SegmentStart(g.MinTsMs, seconds) <= start && start <= query.SegmentStart(g.MaxTsMs, seconds) {
					in++
				}
			}
			if within(shared, start) != (in > 1) {
				t.Fatalf("segment %d is in %d row groups, the shared segments are %v", start, in, shared)
			}
		}
	}
}

func TestSum(t *testing.T) {
	for _, c := range []struct {
		add  []int64
		want int64
		fits bool
	}{
		{[]int64{3, -5}, -2, true},
		{[]int64{math.MaxInt64, -1, 1}, math.MaxInt64, true},
		{[]int64{math.MinInt64, 1, -1}, math.MinInt64, true},
		{[]int64{math.MaxInt64, 1}, math.MaxInt64, false},
		{[]int64{math.MaxInt64, 1, -5}, math.MaxInt64 - 4, true},
		{[]int64{math.MinInt64, -1}, math.MinInt64, false},
		{[]int64{math.MinInt64, math.MinInt64, math.MaxInt64, math.MaxInt64, 2}, 0, true},
	} {
		var s, joined sum
		for _, n := range c.add {
			s.add(n)
			var one sum
			one.add(n)
			joined.join(one)
		}
		if s != joined || s.whole() != c.want || s.fits() != c.fits {
			t.Errorf("%v: %d and %d, fits %v, want %d and %v",
				c.add, s.whole(), joined.whole(), s.fits(), c.want, c.fits)
		}
	}
}

// TestCancelStopsWorkers: after the context has ended, workers read no further column and start no further work.
func TestCancelStopsWorkers(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := &run{workers: 1}
	pieces := 0
	err := r.each(ctx, 3, func(w *worker, _ int) error {
		pieces++
		cancel()
		w.begin(nil, &group{}) // reading from it would panic
		_, err := w.column("ip", "")
		return err
	})
	if !errors.Is(err, context.Canceled) || pieces != 1 {
		t.Errorf("after %d calls: %v, want context.Canceled after one", pieces, err)
	}
}

// TestPanicIsError: a panic in a worker's goroutine would end the server.
func TestPanicIsError(t *testing.T) {
	r := &run{workers: 2}
	err := r.each(t.Context(), 3, func(*worker, int) error { panic("oops") })
	if err == nil || !strings.Contains(err.Error(), "oops") {
		t.Errorf("error %v", err)
	}
}
