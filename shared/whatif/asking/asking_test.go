package asking_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/whatif/asking"
	"github.com/orrery/orrery/shared/whatif/simulate"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

const period = "timestamp between 2026-11-20 12:00 and 2026-11-20 14:00"

// sourceOf returns the source over rows, which are in the order of their times, for a caller who is limited to branches
// unless there are none.
func sourceOf(t *testing.T, rows []*lake.Row, branches ...string) answering.TrySource {
	t.Helper()
	service, err := search.New(enginetest.Oracle{Rows: rows}, search.Options{Now: func() time.Time { return noon.AddDate(0, 0, 1) }})
	if err != nil {
		t.Fatal(err)
	}
	return answering.TryAs(service, branches, "", nil)
}

func run(t *testing.T, from answering.TrySource, rule string) answer.WhatIfResult {
	t.Helper()
	got, err := asking.Run(t.Context(), from, asking.Request{Filters: period, Rule: rule})
	if err != nil {
		t.Fatalf("%s: %v", rule, err)
	}
	return got.Results[0]
}

// traffic returns the requests of a few clients in four hours around the begin of the period.
func traffic(r *rand.Rand) []*lake.Row {
	var rows []*lake.Row
	at := noon.Add(-2 * time.Hour).UnixNano()
	for i := range 600 {
		at += r.Int64N(int64(48 * time.Second))
		if r.IntN(5) == 0 {
			at = at / 1e9 * 1e9
		}
		stage, blocked := fmt.Sprint(2+r.IntN(5)), r.IntN(5) == 0
		row := &lake.Row{
			TsMs: at / 1e6, TsNanos: at % 1e6, Source: "s", Line: int64(i + 1), Blocked: &blocked, ProcessingStage: &stage,
			IP: new(fmt.Sprintf("192.0.2.%d", r.IntN(4))), Path: new(fmt.Sprintf("/%d", r.IntN(3))), Branch: new([]string{"prod", "test"}[r.IntN(2)]),
		}
		if r.IntN(9) > 0 {
			row.Session = new(fmt.Sprint("s", r.IntN(5)))
		}
		if r.IntN(3) > 0 {
			row.Human = new(r.IntN(2) == 0)
		}
		rows = append(rows, row)
	}
	return rows
}

// recordOf returns a request as the simulation has it. Its times are in microseconds, so those of rows are rounded.
func recordOf(row *lake.Row) simulate.Record {
	r := simulate.Record{Time: row.TsMs*1000 + row.TsNanos/1000, Fields: map[string]string{"ip": *row.IP, "path": *row.Path}}
	if row.Session != nil {
		r.Fields["session"] = *row.Session
	}
	return r
}

// counted reports whether a request reaches the limits.
func counted(row *lake.Row) bool { return !*row.Blocked || *row.ProcessingStage >= "3" }

func inPeriod(row *lake.Row) bool {
	return row.TsMs >= noon.UnixMilli() && row.TsMs <= noon.Add(2*time.Hour).UnixMilli()
}

// TestLimitsAreSimulated: the figures of random limits are those of the simulation of the published rules over the whole
// log.
func TestLimitsAreSimulated(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	acted := int64(0)
	for range 60 {
		rows := traffic(r)
		for _, row := range rows { // to the microseconds of the simulation
			row.TsNanos = row.TsNanos / 1000 * 1000
		}
		key := [][]string{{"ip"}, {"session"}, {"ip", "path"}}[r.IntN(3)]
		limit := simulate.Limit{Active: true, Threshold: r.IntN(6), Timeframe: int64(30 + r.IntN(600))}
		for _, name := range key {
			limit.Key = append(limit.Key, simulate.Part{Kind: "attrs", Name: name})
		}
		rule := fmt.Sprintf("limit %d per %ds by %s", limit.Threshold, limit.Timeframe, strings.Join(key, ","))
		if r.IntN(3) == 0 {
			limit.PairWith = &simulate.Part{Kind: "attrs", Name: "path"}
			rule += " with path"
		}
		if r.IntN(2) == 0 {
			limit.Ban, limit.TTL = true, int64(30+r.IntN(600))
			rule += fmt.Sprintf(" ban %ds", limit.TTL)
		}
		reaching := slices.DeleteFunc(slices.Clone(rows), func(row *lake.Row) bool { return !counted(row) })
		var records []simulate.Record
		for _, row := range reaching {
			records = append(records, recordOf(row))
		}
		var want figures
		for i, is := range simulate.Limits(limit, records) {
			if is && inPeriod(reaching[i]) {
				want.add(reaching[i])
			}
		}
		got := run(t, sourceOf(t, rows), rule)
		if diff := cmp.Diff(want, figuresOf(got), cmpopts.IgnoreUnexported(figures{})); diff != "" {
			t.Fatalf("%s (-simulation +answer):\n%s", rule, diff)
		}
		acted += got.NumOfRequests
		sum := int64(0)
		for _, s := range got.Segments {
			sum += s.NumOfRequests
		}
		if sum != got.NumOfRequests {
			t.Errorf("%s: the segments have %d of %d requests", rule, sum, got.NumOfRequests)
		}
		for _, p := range got.Curve {
			if p.Threshold == int64(limit.Threshold) && (p.NumOfRequests != got.NumOfRequests || p.NumOfNewRequests != got.NumOfNewRequests) {
				t.Errorf("%s: the curve has %+v", rule, p)
			}
		}
		if hasCurve := len(got.Curve) > 0; hasCurve != (!limit.Ban && limit.PairWith == nil && limit.Threshold > 0) {
			t.Errorf("%s has %d points", rule, len(got.Curve))
		}
	}
	if acted < 1000 {
		t.Errorf("the limits have acted on only %d requests", acted)
	}
}

// figures are the numbers of an outcome.
type figures struct {
	Requests, Stopped, Newly, Humans, Clients int64
	seen                                      string // the addresses
}

func (f *figures) add(row *lake.Row) {
	f.Requests++
	if *row.Blocked {
		f.Stopped++
		return
	}
	f.Newly++
	if row.Human != nil && *row.Human {
		f.Humans++
	}
	if !strings.Contains(f.seen, *row.IP+" ") {
		f.seen += *row.IP + " "
		f.Clients++
	}
}

func figuresOf(r answer.WhatIfResult) figures {
	f := figures{Requests: r.NumOfRequests, Stopped: r.NumOfBlockedRequests, Newly: r.NumOfNewRequests, Clients: r.NumOfIP}
	if r.NumOfHumans != nil {
		f.Humans = *r.NumOfHumans
	}
	return f
}

// shares are what a threshold does to an attack and to others, by the simulation.
type shares struct{ acted, attack, stopped, others int64 }

// sharesOf simulates a limit. The attack is the requests for path /1.
func sharesOf(limit simulate.Limit, reaching []*lake.Row, people bool) (s shares) {
	var records []simulate.Record
	for _, row := range reaching {
		records = append(records, recordOf(row))
	}
	others, stopped := map[string]bool{}, map[string]bool{}
	for i, acts := range simulate.Limits(limit, records) {
		row := reaching[i]
		switch {
		case !inPeriod(row):
		case *row.Path == "/1":
			s.attack++
			if acts {
				s.acted++
			}
		case !*row.Blocked && (!people || row.Human != nil && *row.Human):
			others[*row.IP] = true
			if acts {
				stopped[*row.IP] = true
			}
		}
	}
	s.others, s.stopped = int64(len(others)), int64(len(stopped))
	return s
}

// TestAttack: the parts of an attack and of others are those of the simulation, and no threshold separates them better
// than the knee.
func TestAttack(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 0))
	knees := 0
	for n := range 20 {
		rows := traffic(r)
		people := n%3 > 0
		for i, row := range rows {
			row.TsNanos = row.TsNanos / 1000 * 1000 // the microseconds of the simulation
			if n%2 == 0 {                           // most requests for the path come from few addresses
				row.IP = new(fmt.Sprintf("192.0.2.%d", i%40))
				if *row.Path == "/1" {
					row.IP = new(fmt.Sprintf("198.51.100.%d", r.IntN(2)))
				}
			}
			if !people {
				row.Human = nil
			}
		}
		reaching := slices.DeleteFunc(slices.Clone(rows), func(row *lake.Row) bool { return !counted(row) })
		limit := simulate.Limit{
			Active: true, Threshold: r.IntN(5), Timeframe: int64(300 + r.IntN(3000)), Key: []simulate.Part{{Kind: "attrs", Name: "ip"}},
		}
		rule := fmt.Sprintf("limit %d per %ds by ip", limit.Threshold, limit.Timeframe)
		if n%5 == 0 {
			limit.Ban, limit.TTL = true, 600
			rule += " ban 10m"
		}
		got, err := asking.Run(t.Context(), sourceOf(t, rows), asking.Request{Filters: period, Rule: rule, Attack: `path="/1"`})
		if err != nil {
			t.Fatalf("%s: %v", rule, err)
		}
		is := got.Results[0].Attack
		want := sharesOf(limit, reaching, people)
		if have := (shares{is.NumOfActed, is.NumOfRequests, is.NumOfStoppedIP, is.NumOfOtherIP}); have != want {
			t.Fatalf("%s: %+v, the simulation has %+v", rule, have, want)
		}
		if (is.Others == "people") != people {
			t.Errorf("%s: others are %s", rule, is.Others)
		}
		best, most, curve := int64(-1), int64(1), map[int64]shares{}
		for limit.Threshold = 1; !limit.Ban && limit.Threshold < 60 && len(got.Results[0].Curve) > 0; limit.Threshold++ {
			at := sharesOf(limit, reaching, people)
			curve[int64(limit.Threshold)] = at
			if advantage := at.acted*max(at.others, 1) - at.stopped*max(at.attack, 1); advantage > 0 && advantage >= most {
				best, most = int64(limit.Threshold), advantage
			}
		}
		for _, p := range got.Results[0].Curve {
			if at, known := curve[p.Threshold]; known && (*p.NumOfAttack != at.acted || *p.NumOfOtherIP != at.stopped) {
				t.Errorf("%s: the curve has %d and %d at %d, the simulation %+v", rule, *p.NumOfAttack, *p.NumOfOtherIP, p.Threshold, at)
			}
		}
		switch knee := is.Knee; {
		case knee == nil && best > 0, knee != nil && knee.Threshold != best:
			t.Errorf("%s: the knee is %+v, by the simulation %d", rule, knee, best)
		case knee != nil:
			knees++
			if knee.NumOfAttack != curve[best].acted || knee.NumOfStoppedOther != curve[best].stopped ||
				!slices.ContainsFunc(got.Results[0].Curve, func(p answer.WhatIfPoint) bool { return p.Threshold == best }) {
				t.Errorf("%s: the knee is %+v, the simulation has %+v", rule, knee, curve[best])
			}
			again := run(t, sourceOf(t, rows), knee.Rule)
			if *again.Threshold != best || again.Attack != nil {
				t.Errorf("%s: the rule of the knee is %s", rule, knee.Rule)
			}
		}
	}
	if knees < 5 {
		t.Errorf("only %d knees", knees)
	}
}

// TestFilter: a filter acts on the requests that its conditions select, and each client leads to a record.
func TestFilter(t *testing.T) {
	rows := traffic(rand.New(rand.NewPCG(2, 0)))
	from := sourceOf(t, rows)
	got := run(t, from, `block where path="/1"`)
	want := figures{}
	for _, row := range rows {
		if *row.Path == "/1" && inPeriod(row) {
			want.add(row)
		}
	}
	if diff := cmp.Diff(want, figuresOf(got), cmpopts.IgnoreUnexported(figures{})); diff != "" {
		t.Error(diff)
	}
	if got.NumOfKeys != nil || got.Threshold != nil || len(got.Curve) != 0 || got.JSON != nil {
		t.Errorf("a filter has the figures of a limit: %+v", got)
	}
	if len(got.Affected) != 4 {
		t.Fatalf("%d clients", len(got.Affected))
	}
	for _, c := range got.Affected {
		if c.RecordRef == nil || c.Key[0].Field != "ip" || !strings.Contains(c.Filter, c.Key[0].Value) {
			t.Errorf("%+v", c)
		}
	}
	for _, f := range got.Facets {
		if f.Field == "path" && (len(f.Values) != 1 || f.Values[0].Value != "/1" || f.Values[0].NumOfNewRequests != got.NumOfNewRequests) {
			t.Errorf("%+v", f)
		}
	}
	if own := run(t, sourceOf(t, rows, "test"), `block where path="/1"`); own.NumOfRequests >= got.NumOfRequests || own.NumOfRequests == 0 {
		t.Errorf("a caller who may see one branch gets %d of %d requests", own.NumOfRequests, got.NumOfRequests)
	}
}

// TestMistakes: each mistake is about its parameter.
func TestMistakes(t *testing.T) {
	from := sourceOf(t, nil)
	for _, c := range []struct{ filters, rule, param string }{
		{period, "limit", "rule"},
		{period, "block where hots=a", "rule"},
		{period, "limit 1 per 1m by tags", "rule"},
		{period, "limit 1 per 1m by hots", "rule"},
		{period, "limit 1 per 1m by ip,path,host,country,asn", "rule"},
		{"timestamp between 2026-01-01 and 2026-03-01", "limit 1 per 1m by ip", "filters"},
	} {
		_, err := asking.Run(t.Context(), from, asking.Request{Filters: c.filters, Rule: c.rule})
		var mistake *search.ParamError
		if !errors.As(err, &mistake) || mistake.Param != c.param {
			t.Errorf("%s: %v", c.rule, err)
		}
		if _, dry := asking.DryRun(t.Context(), from, asking.Request{Filters: c.filters, Rule: c.rule}); dry == nil {
			t.Errorf("%s: a dry run has no error", c.rule)
		}
	}
	for attack, rule := range map[string]string{"path=/": "block where path=/", " ": "limit 1 per 1m by ip"} {
		_, err := asking.Run(t.Context(), from, asking.Request{Filters: period, Rule: rule, Attack: attack})
		var mistake *search.ParamError
		if !errors.As(err, &mistake) || mistake.Param != "attack" {
			t.Errorf("attack %q of %s: %v", attack, rule, err)
		}
	}
	var wrong *query.FilterError
	_, err := asking.Run(t.Context(), from, asking.Request{Filters: period, Rule: "limit 1 per 1m by ip", Attack: "hots=a"})
	if !errors.As(err, &wrong) || wrong.Param != "attack" {
		t.Errorf("an attack with an unknown field: %v", err)
	}
	if _, err := asking.Run(t.Context(), from, asking.Request{Filters: "path=/", Rule: "limit 1 per 1m by ip"}); !errors.As(err, &wrong) {
		t.Errorf("a filter without a period: %v", err)
	}
}
