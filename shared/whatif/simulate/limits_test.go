package simulate_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/orrery/orrery/shared/whatif/simulate"
)

// TestLimits states the rules by cases that were computed by hand. Each request ends with "!" if the limit acts on it,
// else with "-".
func TestLimits(t *testing.T) {
	byIP := []Part{{"attrs", "ip"}}
	twoPerMinute := Limit{Active: true, Timeframe: 60, Threshold: 2, Key: byIP}
	change := func(changes ...func(*Limit)) Limit {
		l := twoPerMinute
		for _, c := range changes {
			c(&l)
		}
		return l
	}
	key := func(parts ...Part) func(*Limit) { return func(l *Limit) { l.Key = parts } }
	pair := func(kind, name string) func(*Limit) { return func(l *Limit) { l.PairWith = &Part{kind, name} } }
	threshold := func(n int) func(*Limit) { return func(l *Limit) { l.Threshold = n } }
	timeframe := func(n int64) func(*Limit) { return func(l *Limit) { l.Timeframe = n } }
	ban := func(ttl int64) func(*Limit) { return func(l *Limit) { l.Ban, l.TTL = true, ttl } }
	include := func(relation string, names ...string) func(*Limit) {
		return func(l *Limit) { l.Include = Tags{relation, names} }
	}
	exclude := func(relation string, names ...string) func(*Limit) {
		return func(l *Limit) { l.Exclude = Tags{relation, names} }
	}

	for _, c := range []struct {
		name     string
		limit    Limit
		requests []string
	}{
		{"up to the threshold nothing happens", twoPerMinute, []string{
			"0s ip=a -", "1s ip=a -"}},
		{"the action begins one request after the threshold", twoPerMinute, []string{
			"0s ip=a -", "1s ip=a -", "2s ip=a !", "3s ip=a !"}},
		{"a limit that is not active does nothing", change(func(l *Limit) { l.Active = false }), []string{
			"0s ip=a -", "1s ip=a -", "2s ip=a -"}},
		{"a window lasts to its last microsecond", twoPerMinute, []string{
			"0s ip=a -", "1s ip=a -", "59.999999s ip=a !"}},
		{"a window does not include its end", twoPerMinute, []string{
			"0s ip=a -", "1s ip=a -", "60s ip=a -", "61s ip=a -", "62s ip=a !"}},
		{"a window is not aligned to the clock", twoPerMinute, []string{
			"59s ip=a -", "60s ip=a -", "118.999999s ip=a !", "119s ip=a -"}},
		{"a window does not slide", twoPerMinute, []string{
			"0s ip=a -", "58s ip=a -", "61s ip=a -", "62s ip=a -", "63s ip=a !"}},
		{"the next window begins with a request", twoPerMinute, []string{
			"0s ip=a -", "100s ip=a -", "130s ip=a -", "159.999999s ip=a !", "160s ip=a -"}},
		{"a window may begin before the epoch", twoPerMinute, []string{
			"-30s ip=a -", "0s ip=a -", "29.999999s ip=a !", "30s ip=a -"}},
		{"a request that was acted on counts but does not prolong the window", change(threshold(1)), []string{
			"0s ip=a -", "30s ip=a !", "59s ip=a !", "60s ip=a -", "61s ip=a !"}},
		{"requests of the same time count in their order", twoPerMinute, []string{
			"5s ip=a -", "5s ip=a -", "5s ip=a !", "5s ip=a !"}},
		{"requests are evaluated in the order of their times", twoPerMinute, []string{
			"2s ip=a !", "0s ip=a -", "1s ip=a -", "60s ip=a -", "59s ip=a !"}},
		{"a timeframe of 0 makes each request a window", change(timeframe(0), threshold(1)), []string{
			"0s ip=a -", "0s ip=a -", "1s ip=a -"}},

		{"keys count apart", twoPerMinute, []string{
			"0s ip=a -", "1s ip=b -", "2s ip=a -", "3s ip=b -", "4s ip=b !", "5s ip=a !"}},
		{"keys have windows of their own", change(threshold(1)), []string{
			"0s ip=a -", "30s ip=b -", "60s ip=a -", "60s ip=b !", "90s ip=a !", "90s ip=b -"}},
		{"all parts make the key",
			change(threshold(1), key(Part{"attrs", "ip"}, Part{"headers", "host"}, Part{"cookies", "id"})), []string{
				"0s ip=a headers.host=x cookies.id=1 -", "1s ip=a headers.host=y cookies.id=1 -",
				"2s ip=a headers.host=x cookies.id=2 -", "3s ip=b headers.host=x cookies.id=1 -",
				"4s ip=a headers.host=x cookies.id=1 !"}},
		{"values of parts do not run together",
			change(threshold(1), key(Part{"args", "p"}, Part{"args", "q"})), []string{
				"0s args.p=ab args.q=c -", "1s args.p=a args.q=bc -", "2s args.p=c args.q=ab -"}},
		{"an absent part exempts the request",
			change(threshold(1), key(Part{"attrs", "ip"}, Part{"headers", "token"})), []string{
				"0s ip=a -", "1s ip=a -", "2s ip=a headers.token=x -", "3s ip=a -", "4s ip=a headers.token=x !"}},
		{"an empty part is not absent", change(threshold(1), key(Part{"headers", "token"})), []string{
			"0s headers.token= -", "1s ip=a -", "2s headers.token= !"}},
		{"kinds of parts are told apart", change(threshold(1), key(Part{"args", "id"})), []string{
			"0s args.id=1 -", "1s cookies.id=1 -", "2s headers.id=1 -", "3s id=1 -", "4s args.id=1 !"}},
		{"a plugin is not in the log", change(threshold(0), key(Part{"plugins", "jwt.sub"})), []string{
			"0s jwt.sub=1 -"}},
		{"a key without parts joins all requests", change(key()), []string{
			"0s ip=a -", "1s ip=b -", "2s !"}},
		{"tags are a key whatever their order", change(threshold(1), key(Part{"attrs", "tags"})), []string{
			"0s #x #y -", "1s #x -", "2s -", "3s #y #x #y !", "4s !"}},

		{"distinct values are counted", change(pair("attrs", "path")), []string{
			"0s ip=a path=/1 -", "1s ip=a path=/1 -", "2s ip=a path=/2 -", "3s ip=a path=/1 -", "4s ip=a path=/3 !"}},
		{"a repeated value is acted on above the threshold", change(pair("attrs", "path"), threshold(1)), []string{
			"0s ip=a path=/1 -", "1s ip=a path=/2 !", "2s ip=a path=/1 !"}},
		{"values are distinct within a window", change(pair("attrs", "path"), threshold(1)), []string{
			"0s ip=a path=/1 -", "60s ip=a path=/2 -", "61s ip=a path=/2 -", "62s ip=a path=/1 !"}},
		{"values are distinct within a key", change(pair("headers", "ua"), threshold(1)), []string{
			"0s ip=a headers.ua=x -", "1s ip=b headers.ua=y -", "2s ip=a headers.ua=y !", "3s ip=b headers.ua=y -"}},
		{"an absent paired value is not counted and begins no window", change(pair("cookies", "id"), threshold(1)),
			[]string{"0s ip=a -", "30s ip=a cookies.id=1 -", "31s ip=a -", "60s ip=a cookies.id=2 !", "61s ip=a -",
				"89.999999s ip=a cookies.id=1 !", "90s ip=a cookies.id=1 -"}},
		{"an empty paired value is a value", change(pair("args", "q"), threshold(1)), []string{
			"0s ip=a args.q=1 -", "1s ip=a args.q= !"}},

		{"a ban outlasts the window", change(ban(100)), []string{
			"0s ip=a -", "1s ip=a -", "2s ip=a !", "60s ip=a !", "61s ip=a !", "101.999999s ip=a !", "102s ip=a -"}},
		{"a ban may end before the window would have", change(ban(10)), []string{
			"0s ip=a -", "1s ip=a -", "2s ip=a !", "12s ip=a -", "13s ip=a -", "14s ip=a !"}},
		{"a request during a ban does not prolong it", change(ban(10), threshold(1)), []string{
			"0s ip=a -", "1s ip=a !", "10s ip=a !", "11s ip=a -"}},
		{"a window begins at the first request after a ban", change(ban(10), threshold(1)), []string{
			"0s ip=a -", "1s ip=a !", "20s ip=a -", "79.999999s ip=a !", "100s ip=a -"}},
		{"a ban includes later requests of its own time", change(ban(1), threshold(1)), []string{
			"0s ip=a -", "0s ip=a !", "0s ip=a !", "1s ip=a -", "1s ip=a !"}},
		{"a ban of 0 seconds ends the window", change(ban(0), threshold(1)), []string{
			"0s ip=a -", "0s ip=a !", "0s ip=a -", "1s ip=a !", "2s ip=a -"}},
		{"a ban concerns its key only", change(ban(100), threshold(1)), []string{
			"0s ip=a -", "1s ip=a !", "2s ip=b -", "3s -", "4s ip=a !"}},
		{"a ban acts on requests without a paired value", change(ban(10), pair("args", "q"), threshold(1)), []string{
			"0s ip=a args.q=1 -", "1s ip=a args.q=2 !", "2s ip=a !", "11s ip=a -", "12s ip=a args.q=3 -",
			"13s ip=a args.q=3 -", "14s ip=a args.q=1 !"}},
		{"a ban spares requests that tags exclude", change(ban(10), exclude("", "staff"), threshold(1)), []string{
			"0s ip=a -", "1s ip=a !", "2s ip=a #staff -", "3s ip=a !"}},
		{"a ttl without a ban means nothing", change(func(l *Limit) { l.TTL = 100 }, threshold(1)), []string{
			"0s ip=a -", "1s ip=a !", "60s ip=a -"}},

		{"included tags: one suffices", change(include("OR", "x", "y"), threshold(1)), []string{
			"0s ip=a #x -", "1s ip=a #z -", "2s ip=a -", "3s ip=a #y !"}},
		{"included tags: one suffices without a relation", change(include("", "x", "y"), threshold(1)), []string{
			"0s ip=a #x -", "1s ip=a #y !"}},
		{"included tags: all are needed", change(include("AND", "x", "y"), threshold(1)), []string{
			"0s ip=a #x #y -", "1s ip=a #x -", "2s ip=a #y -", "3s ip=a #y #z #x !"}},
		{"excluded tags: one suffices", change(exclude("OR", "x", "y"), threshold(1)), []string{
			"0s ip=a -", "1s ip=a #x -", "2s ip=a #y -", "3s ip=a #z !"}},
		{"excluded tags: all are needed", change(exclude("AND", "x", "y"), threshold(1)), []string{
			"0s ip=a #x -", "1s ip=a #x #y -", "2s ip=a #y !"}},
		{"no names exclude nothing in either relation", change(include("AND"), exclude("AND"), threshold(1)), []string{
			"0s ip=a -", "1s ip=a #x !"}},
		{"excluded prevails over included", change(include("", "x"), exclude("", "y"), threshold(1)), []string{
			"0s ip=a #x -", "1s ip=a #x #y -", "2s ip=a #x !"}},
		{"a request that does not count begins no window", change(include("", "x"), threshold(1)), []string{
			"0s ip=a -", "30s ip=a #x -", "60s ip=a #x !", "90s ip=a #x -"}},

		{"threshold 0 acts on every request that counts", change(threshold(0), exclude("", "x")), []string{
			"0s ip=a !", "1s ip=a #x -", "2s -", "60s ip=a !"}},
		{"threshold 0 does not act on an absent paired value", change(threshold(0), pair("args", "q")), []string{
			"0s ip=a -", "1s ip=a args.q=1 !", "2s ip=a -"}},
		{"threshold 0 bans nobody", change(threshold(0), pair("args", "q"), ban(100)), []string{
			"0s ip=a args.q=1 !", "1s ip=a -", "2s ip=a args.q=1 !"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var records []Record
			var want []bool
			for _, request := range c.requests {
				r, acts := parse(t, request)
				records, want = append(records, r), append(want, acts)
			}
			if got := Limits(c.limit, records); !slices.Equal(got, want) {
				for i, request := range c.requests {
					t.Errorf("%s: acts %t", request, got[i])
				}
			}
		})
	}
}

// parse reads a request such as
//
//	1.5s ip=a headers.host=x #tag !
func parse(t *testing.T, request string) (Record, bool) {
	t.Helper()
	words := strings.Fields(request)
	offset, err := time.ParseDuration(words[0])
	last := words[len(words)-1]
	if err != nil || last != "!" && last != "-" {
		t.Fatalf("request %q has no time or no verdict", request)
	}
	r := Record{Time: offset.Microseconds(), Fields: map[string]string{}, Headers: map[string]string{},
		Cookies: map[string]string{}, Args: map[string]string{}}
	for _, word := range words[1 : len(words)-1] {
		if tag, is := strings.CutPrefix(word, "#"); is {
			r.Tags = append(r.Tags, tag)
			continue
		}
		name, value, is := strings.Cut(word, "=")
		if !is {
			t.Fatalf("request %q: %q has no value", request, word)
		}
		values := r.Fields
		for kind, of := range map[string]map[string]string{
			"headers.": r.Headers, "cookies.": r.Cookies, "args.": r.Args,
		} {
			if rest, is := strings.CutPrefix(name, kind); is {
				name, values = rest, of
			}
		}
		values[name] = value
	}
	return r, last == "!"
}

func TestCurve(t *testing.T) {
	var records []Record
	for _, request := range []string{
		"0s ip=a -", "1s ip=a -", "2s ip=a -", "3s ip=a -", "4s ip=b -", "5s ip=b -", "60s ip=a -"} {
		r, _ := parse(t, request)
		records = append(records, r)
	}
	limit := Limit{Active: true, Timeframe: 60, Threshold: 9, Key: []Part{{"attrs", "ip"}}}
	if got, want := Curve(limit, records, []int{4, 0, 1, 2, 3}), []int{0, 7, 4, 2, 1}; !slices.Equal(got, want) {
		t.Errorf("curve %v, want %v", got, want)
	}
	limit.Ban, limit.TTL = true, 100
	if got, want := Curve(limit, records, []int{0, 1, 2, 3}), []int{7, 5, 3, 2}; !slices.Equal(got, want) {
		t.Errorf("curve with a ban %v, want %v", got, want)
	}
}
