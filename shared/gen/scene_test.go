package gen

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
)

// sceneDay is a Friday.
var sceneDay = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// seen is what the tests read of a record.
type seen struct {
	ms                          int64
	ip, host, path, reason      string
	revision                    string
	status                      int
	us                          int64
	decided                     bool // the record has the decision of a gateway
	blocked, challenge, monitor bool
	automation                  bool // tagged as a member of the botnet
}

// generate returns the records of a generator. They must be stored without loss.
func generate(t *testing.T, g *Generator) []seen {
	t.Helper()
	decoder := record.NewDecoder()
	var list []seen
	var line []byte
	for {
		var more bool
		if line, more = g.Next(line[:0]); !more {
			return list
		}
		var row lake.Row
		notes, err := decoder.Decode(line, &row)
		if err != nil || notes != (record.Notes{}) || row.Extra != nil || row.LogRest != nil {
			t.Fatalf("record %d: %v, %+v, %v: %s", len(list), err, notes, row.LogRest, line)
		}
		s := seen{
			ms: row.TsMs, ip: *row.IP, host: *row.Host, path: *row.Path, status: int(*row.Status), us: *row.TotalUs,
			decided: row.Result != nil, automation: slices.Contains(row.Tags, "bot-kind:automation"),
		}
		if s.decided {
			s.blocked, s.monitor, s.revision = *row.Blocked, *row.Monitor, *row.SecurityConfig.Revision
			s.challenge = row.Challenge != nil && (*row.Challenge || *row.IChallenge)
		}
		if row.Reason != nil {
			s.reason = *row.Reason
		}
		if len(list) > 0 && s.ms < list[len(list)-1].ms {
			t.Fatalf("record %d is before the last", len(list))
		}
		list = append(list, s)
	}
}

// attackOf counts an attack from the records of its addresses.
func attackOf(records []seen, addresses map[string]bool, hosts []string) Attack {
	a := Attack{Statuses: map[int]int{}, Decisions: &Decisions{}}
	var paths = map[string][]string{}
	first, last := -1, -1
	used := map[string]bool{}
	for i, r := range records {
		if !addresses[r.ip] {
			continue
		}
		if first < 0 {
			first = i
		}
		last = i
		a.Requests++
		a.Statuses[r.status]++
		used[r.ip] = true
		paths[r.host] = append(paths[r.host], r.path)
		switch {
		case !r.decided:
			a.Decisions = nil
		case r.blocked:
			a.Decisions.Blocked++
		case r.challenge:
			a.Decisions.Challenged++
		case r.monitor:
			a.Decisions.Monitored++
		default:
			a.Decisions.Passed++
		}
	}
	if first < 0 {
		return a
	}
	a.From, a.To, a.Addresses = records[first].ms, records[last].ms, len(used)
	for _, r := range records[first:last] {
		if addresses[r.ip] || !slices.Contains(hosts, r.host) {
			continue
		}
		a.Others.Requests++
		if r.status >= 500 {
			a.Others.Failed++
		}
		if r.us >= 1_000_000 {
			a.Others.Slow++
		}
	}
	for _, host := range slices.Sorted(maps.Keys(paths)) {
		a.Targets = append(a.Targets, Target{Host: host, Path: prefixOf(paths[host]), Requests: len(paths[host])})
	}
	slices.SortStableFunc(a.Targets, func(x, y Target) int { return y.Requests - x.Requests })
	return a
}

// prefixOf returns the common prefix of paths in whole segments.
func prefixOf(paths []string) string {
	common := strings.Split(paths[0], "/")
	for _, p := range paths {
		segments := strings.Split(p, "/")
		n := 0
		for n < len(common) && n < len(segments) && common[n] == segments[n] {
			n++
		}
		common = common[:n]
	}
	if len(common) < 2 {
		return "/"
	}
	return strings.Join(common, "/")
}

// addressesOf returns the addresses that the clients of a flow have.
func addressesOf(f *flow) map[string]bool {
	addresses := map[string]bool{}
	for _, c := range f.clients {
		if c != nil {
			addresses[c.ip] = true
		}
	}
	return addresses
}

// TestTruth compares the truth about every scene with a count of its records, and for every other scene also in an
// access log.
func TestTruth(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	const records = 17_000 // the number from which on each attack has at least 50 requests
	for i := range Scenes {
		scene := &Scenes[i]
		for _, accessLog := range []bool{false, true}[:1+i%2] {
			name := scene.Name
			if accessLog {
				name += "_in_an_access_log"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				g := New(Options{
					Records: records, Seed: 3, From: sceneDay, To: sceneDay.AddDate(0, 0, 1), Scene: scene, AccessLog: accessLog,
				})
				list := generate(t, g)
				truth := g.Truth()
				if len(truth.Attacks) != len(scene.attacks) || len(list) != records {
					t.Fatalf("%d records with %d attacks, want %d", len(list), len(truth.Attacks), len(scene.attacks))
				}
				if quiet := strings.HasPrefix(name, "quiet"); quiet != (len(truth.Attacks) == 0) {
					t.Errorf("the name of a scene with %d attacks is %s", len(truth.Attacks), scene.Name)
				}
				flows := attackFlows(g)
				for j, got := range truth.Attacks {
					var hosts []string
					for _, h := range flows[j].plan.hosts {
						hosts = append(hosts, g.world.hosts[h].name)
					}
					want := attackOf(list, addressesOf(flows[j]), hosts)
					of := flows[j].plan
					want.Kind, want.Harm, want.Cut = of.kind, of.harm, scene.Name == "edges"
					want.Shape = cmp.Or(of.shape, Steady)
					if !reflect.DeepEqual(got, want) {
						t.Errorf("attack %d:\n%+v, the records have\n%+v", j, text(t, got), text(t, want))
					}
					if got.Requests < 50 {
						t.Errorf("attack %d has only %d requests", j, got.Requests)
					}
				}
			})
		}
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// attackFlows returns the flows of attacks by their first request.
func attackFlows(g *Generator) []*flow {
	var flows []*flow
	for _, f := range g.times.(*program).flows {
		if f.tally != nil {
			flows = append(flows, f)
		}
	}
	slices.SortFunc(flows, func(a, b *flow) int { return int(a.tally.attack.From - b.tally.attack.From) })
	return flows
}

// TestTruthOfBursts compares the truth about a demo day with a count of its records. The tags of the botnet are only in
// the bursts.
func TestTruthOfBursts(t *testing.T) {
	g := New(Options{Records: 20_000, Seed: 7, From: sceneDay})
	records := generate(t, g)
	truth := g.Truth()
	if len(truth.Attacks) != 6 || len(truth.Changes) != 0 {
		t.Fatalf("%d attacks and %d changes, want 6 and 0", len(truth.Attacks), len(truth.Changes))
	}
	total := 0
	for i, got := range truth.Attacks {
		inBotnet := map[string]bool{}
		var during []seen
		for _, r := range records {
			if r.ms < got.From || r.ms > got.To {
				continue
			}
			during = append(during, r)
			if r.automation {
				inBotnet[r.ip] = true
			}
		}
		want := attackOf(during, inBotnet, []string{got.Targets[0].Host})
		want.Kind, want.Shape = kindOf[i%int(attackKinds)], Steady
		if !reflect.DeepEqual(got, want) {
			t.Errorf("burst %d:\n%s, the records have\n%s", i, text(t, got), text(t, want))
		}
		total += got.Requests
	}
	for _, r := range records {
		if r.automation {
			total--
		}
	}
	if total != 0 {
		t.Errorf("the records have %d more requests of the botnet than the truth", -total)
	}
}

// TestSceneRecords checks that the records of scenes are stored without loss, and that equal options give equal bytes.
func TestSceneRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	for i := range Scenes {
		for _, accessLog := range []bool{false, true}[:1+i%2] {
			options := Options{Records: 200, Seed: 5, From: sceneDay, Scene: &Scenes[i], AccessLog: accessLog}
			one, two := New(options), New(options)
			decoder := record.NewDecoder()
			for {
				line, more := one.Next(nil)
				if again, _ := two.Next(nil); !bytes.Equal(line, again) {
					t.Fatalf("%s: different records:\n%s\n%s", Scenes[i].Name, line, again)
				}
				if !more {
					break
				}
				var row lake.Row
				if _, err := decoder.Decode(line, &row); err != nil {
					t.Fatal(err)
				}
				stored := record.AppendJSON(nil, &row, nil)
				if !reflect.DeepEqual(members(t, stored), members(t, line)) {
					t.Fatalf("%s: %s is stored as\n%s", Scenes[i].Name, line, stored)
				}
			}
			if !reflect.DeepEqual(one.Truth(), two.Truth()) {
				t.Errorf("%s: equal options give different truths", Scenes[i].Name)
			}
		}
	}
}

func members(t *testing.T, line []byte) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(line, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func sceneOf(t *testing.T, name string) *Scene {
	t.Helper()
	scene, ok := SceneByName(name)
	if !ok {
		t.Fatalf("there is no scene %s", name)
	}
	return scene
}

// TestChanges compares the truth about changes of the settings with the records. The gateways get a change within a minute.
func TestChanges(t *testing.T) {
	for _, name := range []string{"quiet-settings", "quiet-changes"} {
		scene := sceneOf(t, name)
		g := New(Options{Records: 10_000, Seed: 2, From: sceneDay, Scene: scene})
		list := generate(t, g)
		changes := g.Truth().Changes
		if len(changes) != len(scene.settings) {
			t.Fatalf("%s has %d changes, want %d", name, len(changes), len(scene.settings))
		}
		rules := map[string]bool{}
		for i, got := range changes {
			rules[got.Rule] = true
			want := Change{At: g.times.(*program).minute(scene.settings[i].begin), Rule: got.Rule, Reason: got.Reason, Added: got.Added}
			var revisions []string // from a minute before to two minutes after the change
			concerned := 0
			for _, r := range list {
				if sinceAt := r.ms - want.At; sinceAt > -minuteMs && sinceAt < 2*minuteMs && !slices.Contains(revisions, r.revision) {
					revisions = append(revisions, r.revision)
				}
				switch by := r.reason == got.Reason; {
				case !by:
				case r.ms < want.At:
					want.Before++
				default:
					want.After++
					if s := scene.settings[i]; !s.atHost || r.host == g.world.hosts[s.host].name {
						concerned++
					}
				}
			}
			if len(revisions) != 2 {
				t.Fatalf("%s: around change %d, there are the revisions %v", name, i, revisions)
			}
			want.RevisionBefore, want.RevisionAfter = revisions[0], revisions[1]
			if got != want {
				t.Errorf("%s: change %d is %+v, the records have %+v", name, i, got, want)
			}
			if got.Added > concerned || got.Added < concerned*8/10 || got.Added < 20 {
				t.Errorf("%s: change %d has added %d blocked requests of %d", name, i, got.Added, concerned)
			}
		}
		if len(rules) != len(changes) {
			t.Errorf("%s: the changes concern the rules %v", name, rules)
		}
	}
}

// TestScenePeriods checks that every period has its records, and that attacks are in the last day of a long one.
func TestScenePeriods(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	for _, length := range []time.Duration{
		time.Millisecond, time.Second, 17 * time.Minute, 30 * time.Hour, 20 * 24 * time.Hour,
	} {
		for i := range Scenes {
			to := sceneDay.Add(length)
			g := New(Options{Records: 40, Seed: 1, From: sceneDay, To: to, Scene: &Scenes[i], AccessLog: true})
			list := generate(t, g)
			if len(list) != 40 || list[0].ms < sceneDay.UnixMilli() || list[39].ms >= to.UnixMilli() {
				t.Errorf("%s: %v has %d records", Scenes[i].Name, length, len(list))
			}
		}
	}
	to := sceneDay.AddDate(0, 0, 4)
	g := New(Options{Records: 60_000, Seed: 1, From: sceneDay, To: to, Scene: sceneOf(t, "edges"), AccessLog: true})
	generate(t, g)
	attacks := g.Truth().Attacks
	minute := time.Minute.Milliseconds()
	if first := attacks[0].From - sceneDay.UnixMilli(); first < 0 || first > minute {
		t.Errorf("the flood begins %d ms after the period", first)
	}
	if rest := to.UnixMilli() - attacks[1].To; rest < 0 || rest > 5*minute {
		t.Errorf("the guessing ends %d ms before the end of the period", rest)
	}
}

// perMinute counts the records of each minute from an instant on. Records outside are not counted.
func perMinute(list []seen, from int64, minutes int) []int {
	counts := make([]int, minutes)
	for _, r := range list {
		if i := (r.ms - from) / minuteMs; r.ms >= from && i < int64(minutes) {
			counts[i]++
		}
	}
	return counts
}

func sum(counts []int) int {
	total := 0
	for _, n := range counts {
		total += n
	}
	return total
}

// TestRhythm checks the ordinary traffic: its week, its minutes, and the hour after a release.
func TestRhythm(t *testing.T) {
	const day = 24 * 60
	week := Options{Records: 40_000, From: sceneDay, To: sceneDay.AddDate(0, 0, 7), AccessLog: true}
	week.Scene = sceneOf(t, "quiet")
	minutes := perMinute(generate(t, New(week)), sceneDay.UnixMilli(), 7*day)
	friday, sunday, tuesday := sum(minutes[:day]), sum(minutes[2*day:3*day]), sum(minutes[4*day:5*day])
	if sunday > friday*85/100 || tuesday < friday || tuesday > friday*5/4 {
		t.Errorf("Friday has %d records, Sunday %d, Tuesday %d", friday, sunday, tuesday)
	}

	// The variance of independent visitors is their mean. Pairs of minutes hardly differ in their rate.
	var squares, mean float64
	for i := 0; i+1 < len(minutes); i += 2 {
		d := float64(minutes[i] - minutes[i+1])
		squares += d * d
		mean += float64(minutes[i] + minutes[i+1])
	}
	if ratio := squares / mean; ratio < 0.9 || ratio > 1.6 {
		t.Errorf("the variance of the records of a minute is %.2f times their mean", ratio)
	}

	release := Options{Records: 20_000, From: sceneDay, AccessLog: true, Scene: sceneOf(t, "quiet-release")}
	g := New(release)
	minutes = perMinute(generate(t, g), g.times.(*program).minute(13*60), 180)
	before, during, after := sum(minutes[:60]), sum(minutes[60:120]), sum(minutes[120:])
	if during < 5*(before+after)/4 || during > 7*(before+after)/4 {
		t.Errorf("the hour of the release has %d records, those around it have %d and %d", during, before, after)
	}
}

// TestShapes checks the course of the rate of attacks.
func TestShapes(t *testing.T) {
	minutes := func(name string, length int) []int {
		g := New(Options{Records: 30_000, From: sceneDay, Scene: sceneOf(t, name), AccessLog: true})
		list := generate(t, g)
		attack := attackFlows(g)[0]
		addresses := addressesOf(attack)
		list = slices.DeleteFunc(list, func(r seen) bool { return !addresses[r.ip] })
		begin, _ := g.times.(*program).window(attack.plan)
		counts := perMinute(list, begin, length)
		if outside := len(list) - sum(counts); outside != 0 {
			t.Errorf("%s: %d requests are outside of its time", name, outside)
		}
		return counts
	}
	rising := minutes("flood-rising", 120)
	if a, b := sum(rising[:60]), sum(rising[60:]); b < 2*a {
		t.Errorf("the rising flood has %d requests in its first hour and %d in its second", a, b)
	}
	for i, n := range minutes("guessing-paused", 240) {
		if i%30 >= 10 && n > 0 {
			t.Errorf("minute %d of a pause has %d requests", i, n)
		}
	}
	pulses := 0
	for i, n := range minutes("flood-pulsed", 91) {
		if i%10 == 0 && n > 0 {
			pulses++
		} else if n > 0 {
			t.Errorf("minute %d between pulses has %d requests", i, n)
		}
	}
	if pulses != 10 {
		t.Errorf("the flood has %d pulses, want 10", pulses)
	}
}

// TestCommonPath checks that a common prefix has whole segments.
func TestCommonPath(t *testing.T) {
	for _, test := range []struct{ a, b, want string }{
		{"/login", "/login", "/login"},
		{"/login", "/login/form", "/login"},
		{"/login", "/logins", "/"},
		{"/api/v1/items/17", "/api/v1/items/18", "/api/v1/items"},
		{"/api/v1", "/api", "/api"},
		{"/", "/login", "/"},
	} {
		if got := commonPath(test.a, test.b); got != test.want {
			t.Errorf("%s and %s have %s in common, want %s", test.a, test.b, got, test.want)
		}
	}
}
