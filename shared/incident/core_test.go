package incident

import "testing"

// TestCore: a run is cut to a much shorter part that has nearly all of its excess.
func TestCore(t *testing.T) {
	series := func(burst int64) []minute {
		list := make([]minute, 60)
		for i := range list {
			list[i] = minute{n: 2, expected: 1 * milli}
		}
		for i := 20; i < 25; i++ {
			list[i].n = burst
		}
		return list
	}
	for _, test := range []struct {
		burst int64
		want  run
		found bool
	}{
		{2, run{}, false},
		{50, run{}, false}, // a tenth and more of the excess is outside
		{120, run{20, 25}, true},
	} {
		got, found := core(series(test.burst), run{0, 60})
		if found != test.found || found && got != test.want {
			t.Errorf("%d requests a minute: %v, %v", test.burst, got, found)
		}
	}
	list := Stopping.runs(series(120))
	if len(list) != 1 || list[0] != (run{20, 25}) {
		t.Errorf("%v", list)
	}
}
