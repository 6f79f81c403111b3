package asking_test

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/why"
)

// judged is a stopped request whose truth is known.
type judged struct {
	row    *lake.Row
	attack bool // otherwise it is the request of a person, caught by a rule that is too strict
}

// judgedOf returns the stopped requests whose truth is known. Requests of the botnet and payloads of programs are
// attacks. Requests of people without payloads are stopped by mistake.
func judgedOf(rows []*lake.Row) (list []judged) {
	for _, row := range rows {
		if of := result(row); of != why.Blocked && of != why.Challenged {
			continue
		}
		payload := row.Reason != nil && strings.Contains(*row.Reason, "cf-rule-category")
		person := slices.Contains(row.Tags, "human")
		botnet := slices.Contains(row.Tags, "bot-kind:automation")
		switch {
		case botnet || payload && !person:
			list = append(list, judged{row, true})
		case person && !payload:
			list = append(list, judged{row, false})
		}
	}
	return list
}

// misjudge makes the gateway take some clients for what they are not: 15 % of the programs for people, which is what
// attackers want, and 10 % of the people for programs.
func misjudge(rows []*lake.Row) {
	for _, row := range rows {
		h := fnv.New32a()
		_, _ = h.Write([]byte(*row.IP))
		share := h.Sum32() % 100
		person := slices.Contains(row.Tags, "human")
		if taken := !person && share < 15; taken || person && share < 10 {
			row.Bot = new(!taken)
			if row.Human != nil { // requests that are stopped early lack it
				row.Human = &taken
			}
		}
	}
}

// TestVerdicts proves the verdicts with 300 generated requests of three days, half of attacks and half of people. Of the
// verdicts that say something, nine of ten are true, and at most a quarter cannot tell.
func TestVerdicts(t *testing.T) {
	const days, perDay = 3, 50
	said := map[bool]map[string]int{true: {}, false: {}} // verdicts on attacks and on people
	for seed := uint64(601); seed < 601+days; seed++ {
		rows := generated(t, 20_000, seed)
		all := judgedOf(rows)
		misjudge(rows)
		random := rand.New(rand.NewPCG(seed, 0))
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		from, asked := sourceOver(t, rows), map[bool]int{}
		for _, one := range all {
			if asked[one.attack] == perDay {
				continue
			}
			asked[one.attack]++
			said[one.attack][explain(t, from, one.row).Verdict.Verdict]++
		}
		if asked[true] != perDay || asked[false] != perDay {
			t.Fatalf("a day has %v requests whose truth is known", asked)
		}
	}
	unknown := said[true]["unknown"] + said[false]["unknown"]
	trueOnes, told := said[true]["right"]+said[false]["mistake"], 2*days*perDay-unknown
	t.Logf("%d of %d verdicts are true, %d requests cannot be told; on attacks %v, on people %v",
		trueOnes, told, unknown, said[true], said[false])
	if 10*trueOnes < 9*told || 4*unknown > 2*days*perDay {
		t.Errorf("%d of %d verdicts are true, and %d requests cannot be told", trueOnes, told, unknown)
	}
}
