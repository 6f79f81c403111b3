package simulate_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	. "github.com/orrery/orrery/shared/whatif/simulate"
)

// TestStages: what filters and limits do to four records of one address, a second apart, the last of which is a POST.
func TestStages(t *testing.T) {
	records := []Record{}
	for i, method := range []string{"GET", "GET", "GET", "POST"} {
		records = append(records, Record{Time: int64(i) * 1_000_000, Fields: map[string]string{"ip": "192.0.2.1", "method": method}})
	}
	filter := func(action, method string, tags ...string) Filter {
		return Filter{Active: true, Action: action, Entries: []Entry{{Type: "method", Value: method}}, Tags: tags}
	}
	limit := Limit{Active: true, Timeframe: 60, Threshold: 2, Key: []Part{{"attrs", "ip"}}}
	including := limit
	including.Include = Tags{Names: []string{"x"}}
	all := []bool{true, true, true, true}
	for _, c := range []struct {
		name    string
		filters []Filter
		limits  []Limit
		reach   []bool
		want    []Effect
	}{
		{"a filter that blocks keeps its requests from limits", []Filter{filter("action-acl-block", "^GET$")}, []Limit{limit}, all,
			[]Effect{{Filters: []int{0}}, {Filters: []int{0}}, {Filters: []int{0}}, {}}},
		{"so does a challenge", []Filter{filter("action-challenge", "^POST$")}, []Limit{limit}, all,
			[]Effect{{}, {}, {Limits: []int{0}}, {Filters: []int{0}}}},
		{"a filter that monitors does not", []Filter{filter("action-monitor", "^POST$")}, []Limit{limit}, all,
			[]Effect{{}, {}, {Limits: []int{0}}, {Filters: []int{0}, Limits: []int{0}}}},
		{"its tags do", []Filter{filter("action-monitor", "^GET$", "x")}, []Limit{including}, all,
			[]Effect{{Filters: []int{0}}, {Filters: []int{0}}, {Filters: []int{0}, Limits: []int{0}}, {}}},
		{"limits are counted for themselves", nil, []Limit{limit, {Active: true, Timeframe: 60, Threshold: 3, Key: limit.Key}}, all,
			[]Effect{{}, {}, {Limits: []int{0}}, {Limits: []int{0, 1}}}},
		{"a record that does not reach limits is not counted", nil, []Limit{limit}, []bool{true, false, true, true},
			[]Effect{{}, {}, {}, {Limits: []int{0}}}},
	} {
		if got := Stages(c.filters, c.limits, records, c.reach); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestOneStage: a limit alone does what Limits says.
func TestOneStage(t *testing.T) {
	for seed := range uint64(runs) {
		_, limit, records := random(seed)
		reach := make([]bool, len(records))
		var left []Record
		for i := range records {
			if reach[i] = rand.New(rand.NewPCG(seed, uint64(i))).IntN(3) > 0; reach[i] {
				left = append(left, records[i])
			}
		}
		var got []bool
		for i, effect := range Stages(nil, []Limit{limit}, records, reach) {
			if reach[i] {
				got = append(got, len(effect.Limits) > 0)
			} else if len(effect.Limits) > 0 {
				t.Fatalf("seed %d: the limit acts on record %d, which does not reach it", seed, i)
			}
		}
		if want := Limits(limit, left); !reflect.DeepEqual(got, want) && len(want) > 0 {
			t.Fatalf("seed %d: %v, want %v", seed, got, want)
		}
	}
}
