package whatif_test

import (
	"testing"
	"time"

	"github.com/orrery/orrery/shared/whatif"
)

// TestAttackInWords: the parts of an attack and of others as people read them.
func TestAttackInWords(t *testing.T) {
	rule := whatif.Rule{Action: whatif.Challenge, Limit: &whatif.Limit{Threshold: 9, Per: time.Minute, Key: []string{"ip"}}}
	for _, c := range []struct {
		of          whatif.Attack
		per         time.Duration
		limit, knee string
	}{
		{
			whatif.Attack{Requests: 100, Acted: 97, Others: 4112, Stopped: 20, People: true, Knee: &whatif.Point{Threshold: 1060, Attack: 93, Others: 3}},
			time.Minute,
			"The limit would have challenged 97 % of the attack and 20 of 4,112 other people.",
			"At 1,060 a minute: 93 % of the attack and 3 of 4,112 other people.",
		},
		{
			whatif.Attack{Requests: 3, Acted: 1, Others: 1, Knee: &whatif.Point{Threshold: 2, Attack: 3}}, 10 * time.Minute,
			"The limit would have challenged 33.3 % of the attack and 0 of 1 other address.",
			"At 2 per 10m: 100 % of the attack and 0 of 1 other address.",
		},
		{
			whatif.Attack{Requests: 3, Acted: 1, People: true, Knee: &whatif.Point{Threshold: 2, Attack: 3}}, time.Hour,
			"The limit would have challenged 33.3 % of the attack, and there were no other people.",
			"At 2 an hour: 100 % of the attack, and there were no other people.",
		},
		{
			whatif.Attack{Others: 4, Knee: &whatif.Point{}}, 24 * time.Hour,
			"No request of the attack reached the limit.", "At 0 a day: 0 % of the attack and 0 of 4 other addresses.",
		},
	} {
		rule.Limit.Per = c.per
		if got := c.of.Sentence(rule); got != c.limit {
			t.Errorf("%s\nwant %s", got, c.limit)
		}
		if got := c.of.KneeSentence(rule); got != c.knee {
			t.Errorf("%s\nwant %s", got, c.knee)
		}
	}
}
