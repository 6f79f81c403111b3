package enginetest

import (
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
)

// testNetworks finds addresses, and texts that look like addresses, by networks near them. It compares the numbers of
// records with package netip, not with the reference.
func testNetworks(t *testing.T, open openFunc, sample sampleFunc) {
	random := rand.New(rand.NewPCG(*filterSeed, 31))
	var networks []netip.Prefix
	var rows []lake.Row
	for range 60 {
		network := querytest.Network(random)
		networks = append(networks, network)
		for range 12 {
			ip := querytest.AddressText(random, network)
			line := int64(len(rows) + 1)
			ms := Start.Add(time.Duration(line%7) * time.Hour / 2).UnixMilli()
			rows = append(rows, lake.Row{TsMs: ms, TimePeriod: ms / 1000, Source: "source-0", Line: line, IP: &ip})
		}
	}
	rows = append(rows, lake.Row{TsMs: Start.UnixMilli(), Source: "source-0", Line: int64(len(rows) + 1)}) // without an address
	lists := [][]netip.Prefix{networks, {netip.MustParsePrefix("0.0.0.0/0")}, {netip.MustParsePrefix("::/0")}}
	for i, n := range networks {
		lists = append(lists, []netip.Prefix{n}, networks[i/2:i/2+1+random.IntN(9)])
	}
	var conditions []string
	want := map[string]int{}
	for i, list := range lists {
		address := *rows[random.IntN(len(rows)-1)].IP // the list also has an address, or a text like one
		if strings.ContainsAny(address, "/\n") {
			address = "unknown"
		}
		values := []string{strconv.Quote(address)}
		for _, n := range list {
			values = append(values, strconv.Quote(n.String()))
		}
		if i%3 == 0 {
			values = values[1:]
		}
		matching := 0
		for _, r := range rows {
			if r.IP != nil && (querytest.Inside(list, *r.IP) || *r.IP == address && len(values) > len(list)) {
				matching++
			}
		}
		in := "ip in (" + strings.Join(values, ", ") + ")"
		conditions = append(conditions, in, "not "+in)
		want[in], want["not "+in] = matching, len(rows)-matching
	}
	e, all := open(rows), pointers(rows)
	concurrently(t, sample(conditions), func(condition string) {
		q := bind(t, hours+", "+condition, query.Logs{Limit: len(rows), Fields: []string{"ip"}})
		answer, _, err := e.Run(t.Context(), q)
		if err != nil {
			t.Errorf("%s: %v", condition, err)
			return
		}
		if got := len(answer.Logs); got != want[condition] {
			t.Errorf("%s: %d records, want %d", condition, got, want[condition])
		}
		q.Shape = counting
		check(t, e, q, all)
	})
}

// testNetworkDimensions groups 10,000 texts, most of which are addresses, by their networks. It compares the groups with
// package netip, and the numbers of a group with the condition of its value.
func testNetworkDimensions(t *testing.T, open openFunc, sample sampleFunc) {
	random := rand.New(rand.NewPCG(*filterSeed, 32))
	rows := make([]lake.Row, 10_000)
	var network netip.Prefix
	for i := range rows {
		if i%5 == 0 {
			network = querytest.Network(random)
		}
		ip := querytest.AddressText(random, network)
		rows[i] = lake.Row{TsMs: Start.UnixMilli(), TimePeriod: Start.Unix(), Source: "source-0", Line: int64(i + 1), IP: &ip}
	}
	rows[0].IP = nil
	e := open(rows)
	for _, by := range querytest.Dimensions(allNetworks) {
		want := map[string]int64{}
		for _, r := range rows {
			value := "no network"
			if r.IP != nil {
				if network, ok := querytest.Around(*r.IP, by.Network.Bits); ok {
					value = network
				}
			}
			want[value]++
		}
		shape := query.Counts{SegmentSeconds: 86_400, By: by, Of: []query.Selection{{}}}
		answer, _, err := e.Run(t.Context(), bind(t, hours, shape))
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int64{}
		for _, r := range answer.Counts {
			if !r.HasValue {
				r.Value = "no network"
			}
			got[r.Value] += r.N[0]
		}
		if diff := cmp.Diff(want, got); diff != "" || len(want) < 500 {
			t.Errorf("%s has %d values (-want +got):\n%s", by, len(want), diff)
		}
		delete(want, "no network")
		values := slices.Sorted(maps.Keys(want))
		random.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
		concurrently(t, sample(values[:12]), func(value string) {
			with, without, ok := by.Condition(value)
			for condition, n := range map[string]int64{with: want[value], without: int64(len(rows)) - want[value]} {
				answer, _, err := e.Run(t.Context(), bind(t, hours+", "+condition, counting))
				if err != nil || !ok || len(answer.Stats) != 1 || answer.Stats[0].Requests != n {
					t.Errorf("%s: %+v, %v; want %d records", condition, answer.Stats, err, n)
				}
			}
		})
	}
}
