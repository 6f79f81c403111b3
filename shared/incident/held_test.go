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
		{"few others in all", with(20, 0, 50_000), with(20, 0, 50_000), with(9, 0, 50_000), nil, HeldUnknown},
		{"a begin of the data", Others{}, calm, calm, nil, HeldWell},
		{"no others around it", Others{}, calm, with(19, 0, 50_000), nil, HeldUnknown},
		{"errors", calm, with(100, 10, 50_000), calm, nil, NotHeld},
		{"some errors", calm, with(100, 9, 50_000), calm, nil, HeldWell},
		{"an outage that few saw", calm, with(20, 5, 50_000), calm, nil, NotHeld},
		{"errors that were there before", with(100, 9, 50_000), with(100, 12, 50_000), calm, nil, HeldWell},
		{"slow answers", calm, with(100, 1, 150_000), calm, nil, NotHeld},
		{"answers that are only a little slower", calm, with(100, 1, 149_000), calm, nil, HeldWell},
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
