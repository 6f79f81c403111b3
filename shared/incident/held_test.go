package incident

import "testing"

// TestHeld: whether an incident held follows from the errors and times of others.
func TestHeld(t *testing.T) {
	calm := Others{Requests: 100, Errors: 1, Timed: 100, TimeUs: 100 * 50_000}
	with := func(requests, errors, us int64) Others {
		return Others{Requests: requests, Errors: errors, Timed: requests, TimeUs: requests * us}
	}
	humans := func(n int64) *int64 { return &n }
	for _, test := range []struct {
		rule                  string
		before, during, after Others
		humans                *int64
		want                  Held
	}{
		{"as before", calm, calm, calm, nil, HeldWell},
		{"few others during it", calm, with(19, 0, 50_000), calm, nil, HeldUnknown},
		{"few others before and after it", with(10, 0, 50_000), with(40, 0, 50_000), with(10, 0, 50_000), nil, HeldWell},
		{"few others in all", with(20, 0, 50_000), with(20, 0, 50_000), with(9, 0, 50_000), nil, HeldUnknown},
		{"a begin of the data", Others{}, calm, calm, nil, HeldWell},
		{"no others around it", Others{}, calm, with(19, 0, 50_000), nil, HeldUnknown},
		{"errors", calm, with(100, 10, 50_000), calm, nil, NotHeld},
		{"some errors", calm, with(100, 9, 50_000), calm, nil, HeldWell},
		{"an outage that few saw", calm, with(20, 5, 50_000), calm, nil, NotHeld},
		{"errors that were there before", with(100, 9, 50_000), with(100, 12, 50_000), calm, nil, HeldWell},
		{"slow answers", calm, with(100, 1, 150_000), calm, nil, NotHeld},
		{"answers that are only a little slower", calm, with(100, 1, 149_000), calm, nil, HeldWell},
		{"few slow answers", with(100, 0, 200_000), with(10, 0, 483_000), calm, nil, NotHeld},
		{"few answers that are a little slower", with(100, 0, 200_000), with(10, 0, 482_000), calm, nil, HeldUnknown},
		{"five slow answers", with(100, 0, 200_000), with(5, 0, 600_000), calm, nil, NotHeld},
		{"four slow answers", calm, with(4, 0, 900_000), calm, nil, HeldUnknown},
		{"slow answers, and few others around it", with(12, 0, 50_000), calm, with(12, 0, 250_000), nil, HeldWell},
		{"few errors", calm, with(19, 9, 50_000), calm, nil, HeldUnknown},
		{"blocked humans", calm, calm, calm, humans(60), Look},
		{"few blocked humans", calm, calm, calm, humans(9), HeldWell},
		{"a small share of blocked humans", calm, calm, calm, humans(50), HeldWell},
		{"blocked humans and errors", calm, with(100, 10, 50_000), calm, humans(60), NotHeld},
	} {
		if got, _ := held(test.before, test.during, test.after, 1000, test.humans); got != test.want {
			t.Errorf("%s: %s, want %s", test.rule, got, test.want)
		}
	}
}

// TestAround: others are compared in as much time before and after an incident. If that decides whether it is one, they are
// compared in the longest time.
func TestAround(t *testing.T) {
	for _, test := range []struct {
		length       int64
		onlyIfHarmed bool
		want         int64
	}{
		{5 * Minute, false, 10 * Minute}, {40 * Minute, false, 40 * Minute}, {3 * Hour, false, Hour},
		{5 * Minute, true, Hour}, {3 * Hour, true, Hour},
	} {
		f := Found{Episode: Episode{Span: Span{0, test.length}}, OnlyIfHarmed: test.onlyIfHarmed}
		if got, want := f.Around(), (Span{-test.want, test.length + test.want}); got != want {
			t.Errorf("%+v: %v, want %v", test, got, want)
		}
	}
}
