package whatif_test

import (
	"testing"

	"github.com/orrery/orrery/shared/whatif"
)

// TestSameValues: equal values are counted once, also if they have the number of a value of another field.
func TestSameValues(t *testing.T) {
	trial := whatif.NewTrial(whatif.Rule{Action: whatif.Block}, wholeHistory, wholeHistory, 0, false)
	trial.Same = func(number int32) int32 { return number%2 + 40 } // two different texts, which other fields have, too
	for i := range int32(6) {
		trial.Add([]whatif.Seen{{
			Request: whatif.Request{TsNs: int64(10 - i)}, Client: i % 3, Session: i, Facets: [3]int32{0, i, -1}, Human: i == 1,
		}})
	}
	o := trial.Outcome()
	if o.Newly != 6 || o.Sessions != 2 || o.Clients != 3 || *o.Humans != 1 || *o.HumanClients != 1 || o.FirstNs != 5 || o.LastNs != 10 {
		t.Errorf("%+v", o)
	}
	if o.Facets[0][40] != 6 || o.Facets[1][40] != 3 || o.Facets[1][41] != 3 || len(o.Facets[2]) != 0 {
		t.Errorf("%v", o.Facets)
	}
	if len(o.Affected) != 3 || o.Affected[0].Key != 1 || o.Affected[0].Newly != 2 || o.Affected[0].FirstNs != 6 || o.Affected[0].LastNs != 9 {
		t.Errorf("%+v", o.Affected)
	}
}
