package sqlgen

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestNetworkPatterns compares the patterns of random networks with package netip, on texts of addresses near the edges
// of the networks, and on other spellings of the same addresses.
func TestNetworkPatterns(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 1))
	inside, other := 0, 0
	for range 2_000 {
		networks := make([]netip.Prefix, 1+r.IntN(3)*r.IntN(3))
		for i := range networks {
			networks[i] = randomNetwork(r)
		}
		patterns := compiled(t, networks)
		for range 20 {
			text := nearText(r, networks[r.IntN(len(networks))])
			got, want := patterns.found(text), isInside(networks, text)
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
			for _, text := range spellings(address) {
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
		n := randomNetwork(r)
		f.Add(n.String(), nearText(r, n))
	}
	f.Fuzz(func(t *testing.T, network, text string) {
		parsed, err := netip.ParsePrefix(network)
		if err != nil || parsed.IsSingleIP() {
			t.Skip()
		}
		networks := []netip.Prefix{parsed.Masked()}
		patterns := compiled(t, networks)
		if got, want := patterns.found(text), isInside(networks, text); got != want {
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

// isInside reports whether the text is the canonical text of an address in a network.
func isInside(networks []netip.Prefix, text string) bool {
	address, err := netip.ParseAddr(text)
	return err == nil && address.String() == text && address.Zone() == "" &&
		slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(address) })
}

// randomNetwork returns a network of more than one address. Many groups of IPv6 are 0.
func randomNetwork(r *rand.Rand) netip.Prefix {
	var bytes [16]byte
	for i := range bytes {
		bytes[i] = byte(r.IntN(256))
	}
	if r.IntN(2) == 0 {
		return netip.PrefixFrom(netip.AddrFrom4([4]byte(bytes[:4])), r.IntN(32)).Masked()
	}
	return netip.PrefixFrom(sparse(r, bytes), r.IntN(128)).Masked()
}

// sparse returns an address of IPv6 of which many groups are 0. It may have an address of IPv4 in it.
func sparse(r *rand.Rand, bytes [16]byte) netip.Addr {
	zeros := r.IntN(256) & r.IntN(256) // of the groups that are not 0
	for i := range 8 {
		switch {
		case zeros>>i&1 == 0:
			bytes[2*i], bytes[2*i+1] = 0, 0
		case r.IntN(3) == 0:
			bytes[2*i] = 0
		}
	}
	if r.IntN(5) == 0 {
		copy(bytes[:12], []byte{10: 0xff, 11: 0xff})
	}
	return netip.AddrFrom16(bytes)
}

// nearText returns a text of an address in or near a network, mostly the canonical one.
func nearText(r *rand.Rand, n netip.Prefix) string {
	bytes := n.Addr().AsSlice()
	if r.IntN(3) > 0 { // inside, at an edge or between
		kind := r.IntN(3)
		for bit := n.Bits(); bit < 8*len(bytes); bit++ {
			if kind == 1 || kind == 2 && r.IntN(2) == 0 && r.IntN(8*len(bytes)) > 20 {
				bytes[bit/8] |= 1 << (7 - bit%8)
			}
		}
	}
	address, _ := netip.AddrFromSlice(bytes)
	switch r.IntN(8) {
	case 0:
		address = address.Next()
	case 1:
		address = address.Prev()
	case 2:
		bytes[r.IntN(len(bytes))] ^= 1 << r.IntN(8)
		address, _ = netip.AddrFromSlice(bytes)
	case 3:
		if address.Is6() {
			address = sparse(r, address.As16())
		}
	}
	if !address.IsValid() {
		return ""
	}
	if r.IntN(3) == 0 {
		all := spellings(address)
		return all[r.IntN(len(all))]
	}
	return address.String()
}

// spellings returns texts of an address, and texts that look like them, among them the canonical one.
func spellings(a netip.Addr) []string {
	text := a.String()
	all := []string{
		text, text + " ", " " + text, text + "\n", text + "%eth0", strings.ToUpper(text), "0" + text, text + ".", text + ":",
		strings.Replace(text, ":", ":0", 1), strings.Replace(text, ".", ".0", 1), text + "/32", "::" + text, text + ":0",
		strings.Replace(text, "0", "", 1), "[" + text + "]",
	}
	if a.Is4() {
		return append(all, "::ffff:"+text, "::ffff:0:"+text, "::"+text, text+".1", text[:strings.LastIndex(text, ".")])
	}
	all = append(all, a.StringExpanded())
	groups := strings.Split(a.StringExpanded(), ":")
	for i, group := range groups {
		groups[i] = strings.TrimLeft(group[:3], "0") + group[3:]
	}
	all = append(all, strings.Join(groups, ":"))
	for from := range groups {
		for to := from + 1; to <= len(groups) && groups[to-1] == "0"; to++ {
			all = append(all, strings.Join(groups[:from], ":")+"::"+strings.Join(groups[to:], ":"))
		}
	}
	four := a.As16()
	return append(all, fmt.Sprintf("%s:%s", strings.Join(groups[:6], ":"), netip.AddrFrom4([4]byte(four[12:]))),
		"::"+netip.AddrFrom4([4]byte(four[12:])).String())
}
