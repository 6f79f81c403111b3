package query_test

import (
	"testing"
	"time"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

func period(t *testing.T, from, to string) query.Period {
	t.Helper()
	return query.Period{FromMs: instant(t, from), ToMs: instant(t, to)}
}

func instant(t *testing.T, text string) int64 {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.UnixMilli()
}

func TestSegmentFor(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     int64
		count    int64
	}{
		{"2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", 60, 1},
		{"2026-01-01T00:00:30Z", "2026-01-01T00:01:00Z", 60, 2},
		{"2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", 60, 1441},
		{"2026-01-01T00:00:30Z", "2026-01-02T00:00:30Z", 60, 1441},
		{"2026-01-01T00:00:00Z", "2026-01-02T00:00:00.001Z", 300, 289},
		{"2026-01-01T00:00:00Z", "2026-01-06T04:59:59.999Z", 300, 1500},
		{"2026-01-01T00:00:00Z", "2026-01-06T05:00:00Z", 900, 501}, // once, the answer had 1,501 segments of 300 s
		{"2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z", 3600, 1417},
		{"2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", 21600, 1461},
		{"2020-01-01T00:00:00Z", "2024-01-01T00:00:00Z", 86400, 1462},
		{"1970-01-01T00:00:00Z", "2100-01-01T00:00:00Z", 32 * 86400, 1484},
		{"0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", 4096 * 86400, 893},
		{"1969-12-31T23:59:59Z", "1970-01-01T00:00:01Z", 60, 2},
	} {
		p := period(t, c.from, c.to)
		got := query.SegmentFor(p)
		if count := query.SegmentCount(p, got); got != c.want || count != c.count {
			t.Errorf("%s: %d segments of %d s, want %d of %d s", p, count, got, c.count, c.want)
		}
		if err := query.CheckSegment(p, got); err != nil {
			t.Errorf("%s: the default is refused: %v", p, err)
		}
	}
}

func TestCheckSegment(t *testing.T) {
	const (
		tooShort = "segments of 1m cut the period into as many as 10081 results, more than 10000; " +
			"the shortest that fits is 5m"
		notListed = "a segment is one of 1m, 5m, 15m, 1h, 6h, 1d, 2d, 4d … 4096d, not "
	)
	week := period(t, "2026-01-01T00:00:00Z", "2026-01-08T00:00:00Z")
	for seconds, want := range map[int64]string{
		300: "",
		60:  tooShort,
		61:  notListed + "61s",
		0:   notListed + "0s",
	} {
		got := ""
		if err := query.CheckSegment(week, seconds); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%d s: %q, want %q", seconds, got, want)
		}
	}
}

// TestCheckSegmentCountsSegmentAtUpperBound checks a period with its upper bound on a boundary. Once, stats over it had
// 10,001 results.
func TestCheckSegmentCountsSegmentAtUpperBound(t *testing.T) {
	p := period(t, "2026-10-26T01:20:00Z", "2026-11-02T00:00:00Z")
	if err := query.CheckSegment(p, 60); err == nil {
		t.Errorf("%d segments are accepted", query.SegmentCount(p, 60))
	}
	p.ToMs--
	if err := query.CheckSegment(p, 60); err != nil || query.SegmentCount(p, 60) != 10_000 {
		t.Errorf("%d segments are refused: %v", query.SegmentCount(p, 60), err)
	}
}

func TestSegmentStart(t *testing.T) {
	for ms, want := range map[int64]int64{0: 0, 59_999: 0, 60_000: 60, -1: -60, -60_000: -60, -60_001: -120} {
		if got := query.SegmentStart(ms, 60); got != want {
			t.Errorf("the segment of %d ms starts at %d s, want %d", ms, got, want)
		}
	}
}

func TestClamp(t *testing.T) {
	asked := query.Period{FromMs: 100, ToMs: 200}
	q := query.Query{Period: asked, Scope: query.Scope{Period: asked, Watermark: 7}}
	for _, c := range []struct {
		extent lake.Extent
		want   query.Period
	}{
		{lake.Extent{MinTsMs: 0, MaxTsMs: 500, Rows: 1}, query.Period{FromMs: 100, ToMs: 200}},
		{lake.Extent{MinTsMs: 150, MaxTsMs: 160, Rows: 1}, query.Period{FromMs: 150, ToMs: 160}},
		{lake.Extent{MinTsMs: 200, MaxTsMs: 300, Rows: 1}, query.Period{FromMs: 200, ToMs: 200}},
		{lake.Extent{MinTsMs: 201, MaxTsMs: 300, Rows: 1}, query.Period{FromMs: 100, ToMs: 99}},
		{lake.Extent{MinTsMs: 150, MaxTsMs: 160, Rows: 0}, query.Period{FromMs: 100, ToMs: 99}},
	} {
		got := q.Clamp(c.extent)
		if got.Scope.Period != c.want || got.Period != q.Period || got.Scope.Watermark != 7 {
			t.Errorf("%+v: clamped to %+v, want %+v", c.extent, got.Scope, c.want)
		}
		if got.Scope.Empty() != (c.want.FromMs > c.want.ToMs) {
			t.Errorf("%+v: empty is %v", c.extent, got.Scope.Empty())
		}
	}
}

// TestSegmentOfHistogram checks that segments times series are at most 10,000.
func TestSegmentOfHistogram(t *testing.T) {
	status, err := query.ParseDimensions("status")
	if err != nil {
		t.Fatal(err)
	}
	const day = "timestamp between 2026-01-01 and 2026-01-01 23:59:59"
	for _, c := range []struct {
		name  string
		shape query.Histogram
		want  int64
	}{
		{"not split", query.Histogram{}, 60},
		{"five series by default", query.Histogram{By: &status[0]}, 60},
		{"six series", query.Histogram{By: &status[0], Limit: 6}, 60},
		{"seven series are too many for a minute", query.Histogram{By: &status[0], Limit: 7}, 300},
		{"a length that fits", query.Histogram{By: &status[0], Limit: 20, SegmentSeconds: 300}, 300},
	} {
		t.Run(c.name, func(t *testing.T) {
			shape, ok := bindShape(t, day, c.shape).Shape.(query.Histogram)
			if !ok || shape.SegmentSeconds != c.want || shape.Measure != query.MeasureRequests {
				t.Errorf("%+v, want segments of %d s", shape, c.want)
			}
		})
	}
	t.Run("a length that gives too many results", func(t *testing.T) {
		_, err := query.Bind(filter.Parse(day), query.Histogram{By: &status[0], Limit: 7, SegmentSeconds: 60})
		const want = "1440 segments of 1m and 7 series are more than 10000 results; " +
			"the shortest segment that fits is 5m"
		if err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	})
}

func TestLength(t *testing.T) {
	for seconds, want := range map[int64]string{
		59: "59s", 60: "1m", 90: "90s", 300: "5m", 3600: "1h", 21_600: "6h", 86_400: "1d", 345_600: "4d", 90_000: "25h",
	} {
		if got := query.Length(seconds); got != want {
			t.Errorf("%d seconds are %s, want %s", seconds, got, want)
		}
	}
}
