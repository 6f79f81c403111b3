package query_test

import (
	"math/rand/v2"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
)

// TestNetworks compares conditions on networks with package netip, on texts of addresses near the edges of the networks
// and on other spellings of the same addresses.
func TestNetworks(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 3))
	inside, outside := 0, 0
	for range 2_500 {
		networks := make([]netip.Prefix, 1+r.IntN(4)*r.IntN(4))
		values := make([]string, len(networks))
		for i := range networks {
			networks[i] = querytest.Network(r)
			if i > 0 && r.IntN(3) == 0 { // around another network, or in it
				bits := r.IntN(networks[i-1].Addr().BitLen() + 1)
				networks[i] = netip.PrefixFrom(networks[i-1].Addr(), bits).Masked()
			}
			values[i] = strconv.Quote(networks[i].String())
		}
		in := bindShape(t, everyTime+", ip in ("+strings.Join(values, ",")+")", query.Timeline{})
		not := bindShape(t, everyTime+", ip not in ("+strings.Join(values, ",")+")", query.Timeline{})
		for range 10 {
			text := querytest.AddressText(r, networks[r.IntN(len(networks))])
			row := &lake.Row{IP: &text}
			want := querytest.Inside(networks, text)
			if query.Match(&in, row) != want || query.Match(&not, row) == want {
				t.Fatalf("%q in %v: %v and %v, want %v", text, networks, query.Match(&in, row), !query.Match(&not, row), want)
			}
			if want {
				inside++
			} else {
				outside++
			}
		}
	}
	if inside < 5_000 || outside < 5_000 {
		t.Errorf("%d texts are inside networks, and %d are not", inside, outside)
	}
}

const everyTime = "timestamp between 1970-01-01 and 2100-01-01"

// TestNetworksInCommon: conditions that must all hold are merged to the networks that they have in common.
func TestNetworksInCommon(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 4))
	inside := 0
	for range 2_000 {
		outer := querytest.Network(r)
		var texts []string
		for range 2 + r.IntN(3) {
			bits := r.IntN(outer.Addr().BitLen())
			inner := netip.PrefixFrom(outer.Addr(), bits).Masked()
			texts = append(texts, `ip in ("`+inner.String()+`", "`+querytest.Network(r).String()+`")`)
		}
		q := bindShape(t, everyTime+", "+strings.Join(texts, ", "), query.Timeline{})
		groups := query.Groups(q.Conditions)
		if len(groups) != 1 || len(groups[0].Terms) != 1 || groups[0].Terms[0].Test == nil {
			t.Fatalf("%v are %d groups", texts, len(groups))
		}
		for range 5 {
			text := querytest.AddressText(r, outer)
			want := query.Match(&q, &lake.Row{IP: &text})
			if got := groups[0].Terms[0].PassesText(text); got != want {
				t.Fatalf("%q in %s: %v, want %v", text, groups[0], got, want)
			}
			if want {
				inside++
			}
		}
	}
	if inside < 1_000 {
		t.Errorf("only %d texts are inside", inside)
	}
}
