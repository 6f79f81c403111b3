package incident_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/incident"
)

// traffic is requests by minute.
type traffic struct {
	random *rand.Rand
	counts []counted
}

// counted is a number of requests in a minute.
type counted struct {
	host    incident.Host
	measure incident.Measure
	at, n   int64
}

var (
	shop   = incident.Host{Name: "shop.example", Named: true}
	begin  = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC).Unix() // a Monday
	second = incident.Span{From: begin + 24*incident.Hour, To: begin + 48*incident.Hour}
)

const day = 24 * incident.Hour

func newTraffic(seed uint64) *traffic { return &traffic{random: rand.New(rand.NewPCG(seed, 1))} }

// poisson returns a number of a Poisson distribution.
func (t *traffic) poisson(mean float64) int64 {
	n, p, limit := int64(-1), 1.0, math.Exp(-mean)
	for p > limit || n < 0 {
		n, p = n+1, p*t.random.Float64()
	}
	return n
}

// ordinary adds days of traffic with the rhythm of a day and a week. Of its requests, so many percent are blocked and
// four percent missing.
func (t *traffic) ordinary(host incident.Host, days int, perMinute, blocked float64) {
	for at := begin; at < begin+int64(days)*day; at += incident.Minute {
		mean := perMinute * (1 + 0.6*math.Sin(float64(at%day)/float64(day)*2*math.Pi))
		if weekday := time.Unix(at, 0).UTC().Weekday(); weekday == time.Saturday || weekday == time.Sunday {
			mean *= 0.5
		}
		t.add(host, incident.Passed, at, t.poisson(mean*(100-blocked-4)/100))
		t.add(host, incident.Missing, at, t.poisson(mean*0.04))
		t.add(host, incident.Scanners, at, t.poisson(mean*blocked/100)) // any measure that does not pass
	}
}

// add adds requests of one kind: Passed, Missing and Denied have passed, All and Scanners were blocked.
func (t *traffic) add(host incident.Host, m incident.Measure, at, n int64) {
	t.counts = append(t.counts, counted{host, incident.All, at, n})
	switch m {
	case incident.Missing, incident.Denied:
		t.counts = append(t.counts, counted{host, m, at, n}, counted{host, incident.Passed, at, n})
	case incident.Passed:
		t.counts = append(t.counts, counted{host, m, at, n})
	}
}

// attack adds minutes of requests from an instant on.
func (t *traffic) attack(host incident.Host, m incident.Measure, from, minutes int64, perMinute float64) {
	for i := range minutes {
		t.add(host, m, from+i*incident.Minute, t.poisson(perMinute))
	}
}

// alone returns the numbers of one segment in which only one measure is not 0.
func alone(m incident.Measure, n int64) [][]int64 {
	list := make([][]int64, incident.Measures)
	for i := range list {
		list[i] = []int64{0}
	}
	list[m][0] = n
	return list
}

// episodes returns the episodes of a period, by both passes.
func (t *traffic) episodes(period incident.Span) []incident.Episode {
	grid := func(span incident.Span, step int64) *incident.Grid {
		g := incident.NewGrid(span, step)
		for _, c := range t.counts {
			g.Add(c.host, []int64{c.at}, alone(c.measure, c.n))
		}
		return g
	}
	from := period.From - period.From%incident.Hour
	hours := grid(incident.Span{From: from - incident.Before, To: period.To}, incident.Hour)
	minutes := grid(incident.Span{From: from - incident.Margin*incident.Hour, To: period.To}, incident.Minute)
	var windows []incident.Window
	for _, host := range hours.Hosts() {
		windows = append(windows, hours.Windows(host, period)...)
	}
	return incident.Episodes(period, hours, minutes, windows)
}

// TestEpisodes: attacks of many shapes are found, each as one episode that begins and ends within two minutes. Those with
// few requests in a minute begin and end within the time of eight requests.
func TestEpisodes(t *testing.T) {
	noon, peak := second.From+12*incident.Hour, second.From+6*incident.Hour
	for _, test := range []struct {
		rule      string
		perMinute float64 // of ordinary traffic
		measure   incident.Measure
		from      int64
		minutes   int64
		attack    float64
		signal    incident.Signal
	}{
		{"a burst", 60, incident.All, noon, 5, 200, incident.Stopping},
		{"a burst at a small host", 0.2, incident.All, noon, 5, 20, incident.Stopping},
		{"a burst at the peak of the day", 600, incident.All, peak, 6, 300, incident.Stopping},
		{"less than half a percent of the day", 60, incident.All, noon, 8, 40, incident.Stopping},
		{"one minute", 60, incident.All, noon, 1, 120, incident.Stopping},
		{"slow for six hours", 5, incident.All, noon, 360, 2, incident.Stopping},
		{"slow at a small host", 0.5, incident.All, noon, 240, 1, incident.Stopping},
		{"over midnight", 60, incident.All, second.From - 3*incident.Minute + 12*incident.Hour, 10, 100, incident.Stopping},
		{"passwords that nothing blocks", 60, incident.Denied, noon, 20, 30, incident.Denying},
		{"passwords, slowly", 5, incident.Denied, noon - 3*incident.Hour, 480, 0.15, incident.Denying},
		{"missing paths", 60, incident.Missing, noon, 10, 40, incident.Missed},
		{"a rush that passes", 60, incident.Passed, noon, 10, 600, incident.Rush},
		{"a rush over the turn of an hour", 4, incident.Passed, noon - 6*incident.Minute, 20, 30, incident.Rush},
	} {
		t.Run(test.rule, func(t *testing.T) {
			for seed := range uint64(5) {
				of := newTraffic(seed)
				of.ordinary(shop, 3, test.perMinute, 4)
				of.attack(shop, test.measure, test.from, test.minutes, test.attack)
				list := of.episodes(second)
				if len(list) != 1 || list[0].Signal != test.signal {
					t.Fatalf("seed %d: %+v", seed, list)
				}
				e := list[0]
				early, late := abs(e.From-test.from), abs(e.To-test.from-test.minutes*incident.Minute)
				if most := max(120, int64(8*incident.Minute/test.attack)); early > most || late > most {
					t.Errorf("seed %d: the begin is wrong by %d s, the end by %d s", seed, early, late)
				}
			}
		})
	}
}

func abs(n int64) int64 { return max(n, -n) }

// TestTogether: attacks with a pause of five minutes between them are episodes of their own; Series joins those of one kind.
func TestTogether(t *testing.T) {
	noon := second.From + 12*incident.Hour
	for _, test := range []struct {
		rule    string
		minutes []int64 // at which a pulse begins
		length  int64   // of a pulse, in minutes
		attack  float64 // requests in a minute
		want    int
	}{
		{"pulses", []int64{0, 4, 8}, 2, 200, 1},
		{"pulses with pauses", []int64{0, 8, 16, 24, 32}, 2, 200, 5},
		{"pulses that are too weak alone", []int64{0, 10, 20, 30, 40, 50, 60, 70}, 1, 28, 1},
		{"a pause of forty minutes", []int64{0, 42}, 2, 200, 2},
		{"a pause of three hours", []int64{0, 180}, 2, 200, 2},
	} {
		t.Run(test.rule, func(t *testing.T) {
			of := newTraffic(1)
			of.ordinary(shop, 3, 10, 4)
			for _, at := range test.minutes {
				of.attack(shop, incident.All, noon+at*incident.Minute, test.length, test.attack)
			}
			if list := of.episodes(second); len(list) != test.want {
				t.Errorf("%+v", list)
			}
		})
	}
}

// TestPulses: in all requests, pulses are one episode, and its excess is theirs. Two bursts are not, nor are pulses
// with long pauses.
func TestPulses(t *testing.T) {
	noon := second.From + 12*incident.Hour
	for _, test := range []struct {
		rule      string
		perMinute float64 // of ordinary traffic
		minutes   []int64 // of the pulses
		each      int64   // requests of a pulse
		want      int
	}{
		{"pulses", 6, []int64{0, 10, 20, 30, 40, 50, 60, 70, 80}, 140, 1},
		{"two bursts", 3, []int64{0, 10}, 120, 2},
		{"long pauses", 3, []int64{0, 35, 70}, 120, 3},
	} {
		t.Run(test.rule, func(t *testing.T) {
			for seed := range uint64(5) {
				of := newTraffic(seed)
				of.ordinary(shop, 3, test.perMinute, 4)
				for _, at := range test.minutes {
					of.attack(shop, incident.Passed, noon+at*incident.Minute, 1, float64(test.each))
				}
				list := of.episodes(second)
				if len(list) != test.want {
					t.Fatalf("seed %d: %+v", seed, list)
				}
				last := test.minutes[len(test.minutes)-1]
				if e := list[0]; test.want == 1 && (e.From != noon || e.To != noon+(last+1)*incident.Minute ||
					abs(e.Excess-test.each*int64(len(test.minutes))) > 150) {
					t.Errorf("seed %d: %+v", seed, e)
				}
			}
		})
	}
}

// TestWeakPart: a few requests before a pause are no part of the strong attack after it.
func TestWeakPart(t *testing.T) {
	noon := second.From + 12*incident.Hour
	for seed := range uint64(5) {
		of := newTraffic(seed)
		of.ordinary(shop, 3, 10, 4)
		of.attack(shop, incident.All, noon, 8, 3)
		of.attack(shop, incident.All, noon+14*incident.Minute, 10, 40)
		if list := of.episodes(second); len(list) != 1 || list[0].From != noon+14*incident.Minute {
			t.Errorf("seed %d: %+v", seed, list)
		}
	}
}

// TestClearest: an incident begins and ends with the signal that is the clearest, unless it is much shorter than the others.
func TestClearest(t *testing.T) {
	noon := second.From + 12*incident.Hour
	for _, test := range []struct {
		denied, want int64 // minutes
	}{{60, 60}, {20, 90}} {
		of := newTraffic(1)
		of.ordinary(shop, 3, 10, 4)
		of.attack(shop, incident.Denied, noon, test.denied, 240/float64(test.denied))
		of.attack(shop, incident.All, noon, 90, 4)
		list := of.episodes(second)
		if len(list) != 1 || abs(list[0].From-noon) > 120 || abs(list[0].To-noon-test.want*incident.Minute) > 180 {
			t.Errorf("%d minutes: %+v", test.denied, list)
		}
	}
}

// TestBurstInASlowAttack: a burst that is much stronger than the slow attack around it is an episode of its own.
func TestBurstInASlowAttack(t *testing.T) {
	of := newTraffic(2)
	of.ordinary(shop, 3, 20, 4)
	noon := second.From + 12*incident.Hour
	of.attack(shop, incident.All, noon, 180, 5)
	of.attack(shop, incident.All, noon+90*incident.Minute, 5, 500)
	list := of.episodes(second)
	want := []incident.Span{
		{From: noon, To: noon + 90*incident.Minute},
		{From: noon + 90*incident.Minute, To: noon + 95*incident.Minute},
		{From: noon + 95*incident.Minute, To: noon + 180*incident.Minute},
	}
	if len(list) != len(want) {
		t.Fatalf("%+v", list)
	}
	for i, e := range list {
		most := int64(20 * incident.Minute) // the slow parts are hardly above what is usual
		if i == 1 {
			most = 0
		}
		if abs(e.From-want[i].From) > most || abs(e.To-want[i].To) > most {
			t.Errorf("%+v, want %+v", e, want[i])
		}
	}
}

// TestQuiet: ordinary traffic has no incidents: not in thirty days with the rhythm of a week, not in an hour of tripled
// traffic after a release, and not at a host that is new.
func TestQuiet(t *testing.T) {
	month := incident.Span{From: begin + day, To: begin + 31*day}
	for _, perMinute := range []float64{0.3, 5, 60, 400} {
		of := newTraffic(3)
		of.ordinary(shop, 31, perMinute, 4)
		for _, at := range []int64{8*day + 10*incident.Hour, 14*day + 6*incident.Hour} { // a Tuesday, a Monday
			of.attack(shop, incident.Passed, begin+at, 60, 2*perMinute*1.6)
		}
		// Only paths and addresses, which this test does not have, make an incident of an episode of this signal.
		list := slices.DeleteFunc(of.episodes(month), func(e incident.Episode) bool { return e.Signal == incident.Repeating })
		if len(list) > 0 {
			t.Errorf("%v requests a minute: %+v", perMinute, list)
		}
	}
	of := newTraffic(4)
	of.ordinary(shop, 3, 60, 4)
	of.attack(incident.Host{Name: "new.example", Named: true}, incident.Passed, second.From+9*incident.Hour, 500, 30)
	if list := of.episodes(second); len(list) > 0 {
		t.Errorf("a new host: %+v", list)
	}
}

// TestShortLogs: an attack is found also in a log of two hours, in which many requests are blocked all the time.
func TestShortLogs(t *testing.T) {
	for _, attack := range []float64{0, 60} {
		of := newTraffic(5)
		of.ordinary(shop, 1, 40, 15)
		of.counts = slices.DeleteFunc(of.counts, func(c counted) bool { return c.at >= begin+2*incident.Hour })
		of.attack(shop, incident.All, begin+50*incident.Minute, 5, attack)
		list := of.episodes(incident.Span{From: begin, To: begin + day})
		if attack == 0 && len(list) > 0 || attack > 0 && (len(list) != 1 || abs(list[0].From-begin-50*incident.Minute) > 120) {
			t.Errorf("%v requests a minute: %+v", attack, list)
		}
	}
}

// TestSameEpisode: what an episode is does not depend on other hosts, on the order of requests, and on the period
// around it.
func TestSameEpisode(t *testing.T) {
	noon := second.From + 12*incident.Hour
	of := newTraffic(7)
	of.ordinary(shop, 3, 60, 4)
	of.attack(shop, incident.All, noon+13*incident.Minute, 7, 80)
	want := of.episodes(second)
	if len(want) != 1 {
		t.Fatalf("%+v", want)
	}
	same := func(rule string, got []incident.Episode) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", rule, diff)
		}
	}
	slices.Reverse(of.counts)
	same("another order", of.episodes(second))
	for _, period := range []incident.Span{
		{From: noon, To: noon + incident.Hour},
		{From: noon + 10*incident.Minute, To: noon + 25*incident.Minute},
		{From: second.From - 5*incident.Hour, To: second.To + 5*incident.Hour},
	} {
		same("another period", of.episodes(period))
	}
	other := incident.Host{Name: "other.example", Named: true}
	of.ordinary(other, 3, 300, 10)
	of.ordinary(incident.Host{}, 3, 30, 10)
	same("traffic of others", of.episodes(second))
}

// TestCut: an episode that the period cuts says so.
func TestCut(t *testing.T) {
	of := newTraffic(9)
	of.ordinary(shop, 3, 60, 4)
	from := second.From + 12*incident.Hour
	of.attack(shop, incident.All, from, 20, 80)
	for _, test := range []struct {
		rule          string
		from, to      int64
		earlier, late bool
	}{
		{"whole", from - 600, from + 1800, false, false},
		{"its begin", from + 300, from + 1800, true, false},
		{"its end", from - 600, from + 600, false, true},
		{"both", from + 300, from + 600, true, true},
	} {
		list := of.episodes(incident.Span{From: test.from, To: test.to})
		if len(list) != 1 || list[0].BeginsEarlier != test.earlier || list[0].EndsLater != test.late ||
			list[0].From < test.from || list[0].To > test.to {
			t.Errorf("%s: %+v", test.rule, list)
		}
	}
}
