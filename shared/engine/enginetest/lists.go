package enginetest

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/valuelist"
)

// testLists finds records by lists of values. It compares their numbers with the values and package netip, and the answers
// with the reference. Trino refuses lists, because it may not have their values.
func testLists(t *testing.T, open func(rows []lake.Row) engine.Engine) {
	random := rand.New(rand.NewPCG(*filterSeed, 33))
	var rows []lake.Row
	for range 60 {
		network := querytest.Network(random)
		for range 10 {
			n := random.IntN(40)
			ip, asn, country := querytest.AddressText(random, network), "AS"+strconv.Itoa(n), "Country "+strconv.Itoa(n)
			status, line := int64(400+n), int64(len(rows)+1)
			ms := Start.Add(time.Duration(line%7) * time.Hour / 2).UnixMilli()
			rows = append(rows, lake.Row{
				TsMs: ms, TimePeriod: ms / 1000, Source: "source-0", Line: line,
				IP: &ip, ASN: &asn, Country: &country, Status: &status,
			})
		}
	}
	e, all := open(append(rows, lake.Row{TsMs: Start.UnixMilli(), Source: "source-0", Line: 1 << 20})), pointers(rows)
	all = append(all, &lake.Row{TsMs: Start.UnixMilli(), Source: "source-0", Line: 1 << 20}) // without values
	rounds := 16
	if few() {
		rounds = 1
	}
	var names []string
	checks := map[string]func(){}
	for round := range rounds {
		listed := randomLists(random, rows)
		lists := map[string]query.List{}
		for field, one := range listed {
			lists[field] = query.List{Name: field, Version: 2, Values: kept(t, e, one.values)}
		}
		for field, one := range listed {
			conditions := map[string]func(r *lake.Row) bool{
				field + " in @" + field:                     one.holds,
				field + " not in @" + field:                 func(r *lake.Row) bool { return !one.holds(r) },
				field + " in @" + field + ", ip not in @ip": func(r *lake.Row) bool { return one.holds(r) && !listed["ip"].holds(r) },
			}
			if few() && field != "country" {
				delete(conditions, field+" in @"+field+", ip not in @ip")
			}
			for condition, want := range conditions {
				name := fmt.Sprintf("%d: %s", round, condition)
				names = append(names, name)
				checks[name] = func() { checkList(t, e, all, lists, condition, want) }
			}
		}
	}
	concurrently(t, names, func(name string) { checks[name]() })
}

// ListKeeper is an engine that reads the values of lists from objects.
type ListKeeper interface {
	KeepList(digest string, content []byte) error
}

// kept returns the values of a list, which the engine can read.
func kept(t *testing.T, e engine.Engine, values []string) *query.ListValues {
	t.Helper()
	d, content, err := valuelist.Parse([]byte(strings.Join(values, "\n")))
	if err == nil {
		if keeper, ok := e.(ListKeeper); ok {
			err = keeper.KeepList(d.Digest, content)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return query.NewListValues(d.Digest, valuelist.Values(content))
}

// checkList compares the records that meet a condition with those for which want is true, and figures with the reference.
func checkList(
	t *testing.T, e engine.Engine, all []*lake.Row, lists map[string]query.List, condition string, want func(r *lake.Row) bool,
) {
	t.Helper()
	q, err := query.Bind(filter.ParseQueryString(hours+", "+condition), query.Logs{Limit: len(all), Fields: []string{"ip"}},
		query.WithLists(lists))
	if err != nil {
		t.Error(err)
		return
	}
	answer, _, err := e.Run(t.Context(), q)
	switch {
	case e.Name() == "trino":
		if fault.KindOf(err) != fault.EngineLimit {
			t.Errorf("%s: %v, want kind EngineLimit", condition, err)
		}
		return
	case err != nil:
		t.Errorf("%s: %v", condition, err)
		return
	}
	matching := 0
	for _, r := range all {
		if want(r) {
			matching++
		}
	}
	if len(answer.Logs) != matching {
		t.Errorf("%s: %d records, want %d", condition, len(answer.Logs), matching)
	}
	q.Shape = counting
	check(t, e, q, all)
}

// listed is the values of a list, and whether the value of a record is among them.
type listed struct {
	values []string
	holds  func(r *lake.Row) bool
}

// randomLists returns a list for each of some fields. Many of its values are those of the rows, or networks around them.
func randomLists(random *rand.Rand, rows []lake.Row) map[string]listed {
	var networks []netip.Prefix
	var addresses, systems, countries, statuses []string
	for range random.IntN(30) + 1 {
		row := rows[random.IntN(len(rows))]
		network := querytest.Network(random)
		if address, err := netip.ParseAddr(*row.IP); err == nil && address.Zone() == "" && random.IntN(3) > 0 {
			network = netip.PrefixFrom(address, random.IntN(address.BitLen()+1)).Masked()
			if random.IntN(2) == 0 {
				network = netip.PrefixFrom(address, address.BitLen())
			}
		}
		networks = append(networks, network)
		if addresses = append(addresses, network.String()); network.IsSingleIP() && random.IntN(2) == 0 {
			addresses[len(addresses)-1] = network.Addr().StringExpanded()
		}
		systems = append(systems, []string{"", "AS", "as"}[random.IntN(3)]+(*row.ASN)[2:])
		countries = append(countries, *row.Country)
		statuses = append(statuses, strconv.FormatInt(*row.Status, 10))
	}
	return map[string]listed{
		"ip": {addresses, func(r *lake.Row) bool { return r.IP != nil && querytest.Inside(networks, *r.IP) }},
		"asn": {systems, func(r *lake.Row) bool {
			return r.ASN != nil && slices.ContainsFunc(systems, func(s string) bool { return "AS"+trimAS(s) == *r.ASN })
		}},
		"country": {countries, func(r *lake.Row) bool { return r.Country != nil && slices.Contains(countries, *r.Country) }},
		"status": {statuses, func(r *lake.Row) bool {
			return r.Status != nil && slices.Contains(statuses, fmt.Sprint(*r.Status))
		}},
	}
}

func trimAS(text string) string {
	if text[0] == 'A' || text[0] == 'a' {
		return text[2:]
	}
	return text
}
