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
		fits bool
	}{
		{[]int64{math.MaxInt64, -1, 1}, true},
		{[]int64{math.MinInt64, 1, -1}, true},
		{[]int64{math.MaxInt64, 1}, false},
		{[]int64{math.MaxInt64, 1, -5}, false},
		{[]int64{math.MinInt64, -1}, false},
	} {
		var s, joined sum
		for _, n := range c.add {
			s.add(n)
			var one sum
			one.add(n)
			joined.join(one)
		}
		if (whole(s) == nil) != c.fits || (whole(joined) == nil) != c.fits {
			t.Errorf("%v: %v and %v, want fits %v", c.add, whole(s), whole(joined), c.fits)
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
