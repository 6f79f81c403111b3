package incident

import (
	"math"
	"slices"
	"testing"
)

// TestLogarithm: it is right to two thousandths.
func TestLogarithm(t *testing.T) {
	for _, test := range [][2]int64{
		{1, 1}, {1001, 1000}, {3, 2}, {2, 1}, {10, 1}, {1_000_000, 7}, {1_000_000_000_000, 1}, {50_000, 49_999},
	} {
		want := math.Log(float64(test[0])/float64(test[1])) * milli
		if got := logarithm(test[0], test[1]); math.Abs(float64(got)-want) > 2 {
			t.Errorf("%d/%d: %d, want %.1f", test[0], test[1], got, want)
		}
	}
}

// each returns so many minutes with n requests each.
func each(minutes int, n int64) []int64 { return slices.Repeat([]int64{n}, minutes) }

// TestEdges: an incident begins and ends where its evidence does. The signal finds it from minute 0 to minute 60.
func TestEdges(t *testing.T) {
	const outside = 90 // minutes of the trace before and after
	rising := slices.Concat([]int64{1, 1, 0, 2, 1, 0, 1, 3, 2, 1, 2, 3, 2, 3, 4}, each(45, 6))
	for _, test := range []struct {
		rule     string
		at       int     // of the first of these minutes
		n        []int64 // requests with the evidence; in all others, there are none
		earlier  bool    // the period cuts the begin
		later    bool    // the period cuts the end
		from, to int
	}{
		{rule: "equal edges", at: 0, n: each(60, 5), from: 0, to: 60},
		{rule: "no evidence", at: 0, n: each(60, 0), from: 0, to: 60},
		{rule: "later and earlier", at: 7, n: each(45, 5), from: 7, to: 52},
		{rule: "earlier and later", at: -9, n: each(80, 5), from: -9, to: 71},
		{rule: "longer than the reach", at: -50, n: each(160, 5), from: -30, to: 90},
		{rule: "rising", at: -15, n: slices.Concat(rising, each(15, 9)), from: -15, to: 60},
		{rule: "fading", at: 0, n: slices.Concat(each(60, 5), []int64{1, 2, 1, 0, 1, 1, 0, 1, 1}), from: 0, to: 69},
		{rule: "one request outside", at: -5, n: slices.Concat([]int64{1, 0, 0, 0, 0}, each(60, 5)), from: 0, to: 60},
		{
			rule: "few outside", at: -20, n: slices.Concat([]int64{1, 0, 1, 1, 1}, each(15, 0), each(60, 9)),
			from: 0, to: 60,
		},
		{rule: "the begin is cut", at: -9, n: each(80, 5), earlier: true, from: 0, to: 71},
		{rule: "the end is cut", at: -9, n: each(80, 5), later: true, from: -9, to: 60},
		{rule: "both are cut", at: 7, n: each(45, 5), earlier: true, later: true, from: 0, to: 60},
		{rule: "most evidence outside", at: 2, n: slices.Concat(each(3, 1), each(58, 0), each(20, 9)), from: 0, to: 60},
		{rule: "evidence in a part", at: 0, n: slices.Concat(each(20, 5), each(20, 0), each(20, 5)), from: 0, to: 60},
	} {
		t.Run(test.rule, func(t *testing.T) {
			f := Found{Episode: Episode{
				Span: Span{0, 60 * Minute}, Signal: Rush, BeginsEarlier: test.earlier, EndsLater: test.later,
			}}
			trace := NewTrace(f)
			if len(trace.n[0]) != 60+2*outside {
				t.Fatalf("a trace of %d minutes", len(trace.n[0]))
			}
			for i, n := range test.n {
				trace.Add([]int64{int64(test.at+i) * Minute}, [][]int64{{n}})
			}
			got := WithEdges([]Found{f}, []*Trace{trace}, Span{-Hour, 2 * Hour})[0].Episode
			if got.From != int64(test.from)*Minute || got.To != int64(test.to)*Minute ||
				got.BeginsEarlier != test.earlier || got.EndsLater != test.later {
				t.Errorf("%+v, want minutes %d to %d", got, test.from, test.to)
			}
		})
	}
}

// TestReach: a long incident may be longer by a quarter.
func TestReach(t *testing.T) {
	for _, test := range []struct{ length, want int64 }{
		{Minute, 30 * Minute}, {3 * Hour, 45 * Minute}, {200 * Minute, 50 * Minute}, {24 * Hour, 2 * Hour},
	} {
		if got := (Episode{Span: Span{0, test.length}}).reach(); got != test.want {
			t.Errorf("%d: %d, want %d", test.length, got, test.want)
		}
	}
}

// TestEdgesBesideOthers: an edge stays in the period and does not reach into another incident at the same target.
func TestEdgesBesideOthers(t *testing.T) {
	first := Found{Episode: Episode{Span: Span{0, 20 * Minute}, Signal: Rush}}
	second := Found{Episode: Episode{Span: Span{30 * Minute, 60 * Minute}, Signal: Rush}}
	var traces []*Trace
	for _, f := range []Found{first, second} {
		trace := NewTrace(f)
		for i := range 90 {
			trace.Add([]int64{int64(i-5) * Minute}, [][]int64{{5}})
		}
		traces = append(traces, trace)
	}
	got := WithEdges([]Found{first, second}, traces, Span{-2 * Minute, Hour + 30})
	want := []Episode{
		{Span: Span{-2 * Minute, 30 * Minute}, Signal: Rush, BeginsEarlier: true},
		{Span: Span{20 * Minute, 61 * Minute}, Signal: Rush, EndsLater: true},
	}
	for i, e := range want {
		if got[i].Episode != e {
			t.Errorf("%+v, want %+v", got[i].Episode, e)
		}
	}
	if got := WithEdges([]Found{first}, []*Trace{nil}, Span{0, Hour})[0].Episode; got != first.Episode {
		t.Errorf("without a trace: %+v", got)
	}
}

// TestTraces: of a signal, a trace also has its requests. Those that were stopped are all but the ones that passed.
func TestTraces(t *testing.T) {
	for _, test := range []struct {
		signal     Signal
		selections int
		want       int64
	}{{Stopping, 1, 7}, {Denying, 1, 3}, {Rush, 0, 0}} {
		trace := NewTrace(Found{Episode: Episode{Span: Span{0, Minute}, Signal: test.signal}})
		if got := len(trace.Selections()); got != test.selections {
			t.Fatalf("%d: %d selections", test.signal, got)
		}
		n := [][]int64{{10}, {3}}[:1+test.selections]
		trace.Add([]int64{0}, n)
		trace.Add([]int64{trace.To}, n) // outside
		if sum(trace.n[0]) != 10 || test.selections > 0 && sum(trace.n[1]) != test.want {
			t.Errorf("%d: %v", test.signal, trace.n)
		}
	}
}

// TestAddresses: the addresses that are evidence send about as much as those with most of the excess.
func TestAddresses(t *testing.T) {
	list := func(n ...int64) (values []Value) {
		for i, one := range n {
			values = append(values, Value{Text: string(rune('a' + i)), Requests: one})
		}
		return values
	}
	for _, test := range []struct {
		rule      string
		prefix    string
		addresses []Value
		excess    int64
		want      int
	}{
		{"without those of people", "", list(100, 90, 60, 20, 5), 230, 3},
		{"with smaller ones at a prefix", "/login", list(100, 90, 60, 20, 5), 230, 4},
		{"none at a prefix if they send little", "/login", list(5, 4, 4, 3, 3), 19, 0},
		{"without a prefix, they may send little", "", list(5, 4, 4, 3, 1), 17, 5},
		{"too many", "", slices.Repeat(list(9), 201), 9 * 201, 0},
	} {
		f := Found{Episode: Episode{Excess: test.excess}, Prefix: test.prefix}
		if got := f.addressesOf(Signs{Addresses: test.addresses}); len(got) != test.want {
			t.Errorf("%s: %v", test.rule, got)
		}
	}
}
