package sqlgen

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/query/querytest"
)

// TestNetworkPatterns compares the patterns of random networks with package netip, on texts of addresses near the edges
// of the networks, and on other spellings of the same addresses.
func TestNetworkPatterns(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 1))
	inside, other := 0, 0
	for range 2_000 {
		networks := make([]netip.Prefix, 1+r.IntN(3)*r.IntN(3))
		for i := range networks {
			networks[i] = querytest.Network(r)
		}
		patterns := compiled(t, networks)
		for range 20 {
			text := querytest.AddressText(r, networks[r.IntN(len(networks))])
			got, want := patterns.found(text), querytest.Inside(networks, text)
			if got != want {
				t.Fatalf("%q in %v: %v, want %v", text, networks, got, want)
			}
			if want {
				inside++
			} else {
				other++
			}
		}
	}
	if inside < 5_000 || other < 5_000 {
		t.Errorf("%d texts are inside networks, and %d are not", inside, other)
	}
}

// TestCanonicalSix has every combination of groups that are 0 and groups that are not, in every spelling of them.
func TestCanonicalSix(t *testing.T) {
	found := 0
	for mask := range 256 {
		for _, value := range []uint16{1, 0xffff, 0xabc} {
			var bytes [16]byte
			for i := range 8 {
				if mask>>i&1 == 1 {
					binary.BigEndian.PutUint16(bytes[2*i:], value)
				}
			}
			address := netip.AddrFrom16(bytes)
			for _, text := range querytest.Spellings(address) {
				parsed, err := netip.ParseAddr(text)
				want := err == nil && parsed.Zone() == "" && parsed.String() == text && parsed.Is6() && !parsed.Is4In6()
				if got := isCanonicalSix(text); got != want {
					t.Fatalf("%q: %v, want %v", text, got, want)
				}
				if want {
					found++
				}
			}
		}
	}
	if found < 700 {
		t.Errorf("%d canonical texts, too few", found)
	}
	t.Logf("%d canonical texts, patterns of %d bytes", found, len(shapeOfSix+spoiltSix))
}

// FuzzNetworkPatterns: for any network and text, the patterns and package netip agree, and the literals of the SQL have
// no character but those of patterns.
func FuzzNetworkPatterns(f *testing.F) {
	r := rand.New(rand.NewPCG(31, 2))
	for range 200 {
		n := querytest.Network(r)
		f.Add(n.String(), querytest.AddressText(r, n))
	}
	f.Fuzz(func(t *testing.T, network, text string) {
		parsed, err := netip.ParsePrefix(network)
		if err != nil || parsed.IsSingleIP() {
			t.Skip()
		}
		networks := []netip.Prefix{parsed.Masked()}
		patterns := compiled(t, networks)
		if got, want := patterns.found(text), querytest.Inside(networks, text); got != want {
			t.Fatalf("%q in %s: %v, want %v", text, network, got, want)
		}
	})
}

type networkRegexps struct {
	exact, loose []*regexp.Regexp
	prefix       string
}

var (
	shape      = regexp.MustCompile(shapeOfSix)
	spoilt     = regexp.MustCompile(spoiltSix)
	ofPatterns = regexp.MustCompile(`\A[0-9a-fAz.:?|(){},+\[\]\\-]*\z`)
)

func isCanonicalSix(text string) bool { return shape.MatchString(text) && !spoilt.MatchString(text) }

func compiled(t *testing.T, networks []netip.Prefix) networkRegexps {
	t.Helper()
	compile := func(patterns []string) []*regexp.Regexp {
		var list []*regexp.Regexp
		for _, text := range patterns {
			if !ofPatterns.MatchString(text) {
				t.Fatalf("%v has the pattern %q", networks, text)
			}
			list = append(list, regexp.MustCompile(text))
		}
		return list
	}
	exact, loose := networkPatterns(networks)
	patterns := networkRegexps{exact: compile(exact), loose: compile(loose)}
	if len(networks) == 1 {
		patterns.prefix = commonPrefix(networks[0])
	}
	return patterns
}

func (p networkRegexps) found(text string) bool {
	matches := func(r *regexp.Regexp) bool { return r.MatchString(text) }
	found := slices.ContainsFunc(p.exact, matches) || slices.ContainsFunc(p.loose, matches) && isCanonicalSix(text)
	return strings.HasPrefix(text, p.prefix) && found
}
