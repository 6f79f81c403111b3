package sqlgen

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/query"
)

// Networks are regular expressions on the texts of addresses. Trino has a type for addresses, but reads ::ffff:192.0.2.1
// as an address of IPv4, and DuckDB has none without an extension. A pattern has one meaning on both engines, and the
// record may have any text.
//
// The patterns use only what RE2 and Joni read alike.
const (
	octet    = `(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])`
	anyGroup = `[0-9a-f]+` // of IPv6, in a text that is known to be canonical
	group    = `(?:0|` + positive + `)`
	positive = `[1-9a-f][0-9a-f]{0,3}`
)

// maxPattern is the length in bytes of a pattern of many networks.
const maxPattern = athenaMaxPattern

// mostPrefixes is the largest number of networks whose texts are also compared with LIKE, which engines compare faster
// and with the bounds of row groups.
const mostPrefixes = 8

// inNetworks is true if the text is the canonical text of an address in one of the networks.
func (p *printer) inNetworks(value fragment, t query.NetworkIn) fragment {
	var parts []fragment
	exact, loose := networkPatterns(t.Networks)
	if len(exact) > 0 {
		parts = append(parts, p.dialect.foundAny(p, value, exact))
	}
	if len(loose) > 0 {
		canonical := []fragment{
			p.dialect.foundAny(p, value, []string{shapeOfSix}), "NOT " + p.dialect.foundAny(p, value, []string{spoiltSix}),
		}
		if !slices.Equal(loose, []string{""}) {
			canonical = slices.Insert(canonical, 0, p.dialect.foundAny(p, value, loose))
		}
		parts = append(parts, both(canonical))
	}
	found := either(parts)
	var prefixes []fragment
	for _, n := range t.Networks {
		prefix := commonPrefix(n)
		if prefix == "" || len(t.Networks) > mostPrefixes {
			return found
		}
		prefixes = append(prefixes, value+" LIKE "+p.text(prefix+"%"))
	}
	if len(prefixes) == 0 {
		return found
	}
	return both([]fragment{either(prefixes), found})
}

// networkOf is the network of a size around the address whose canonical text the text is, or NULL if there is none.
func (p *printer) networkOf(text fragment, size catalog.NetworkSize) fragment {
	family, around := everyFour, p.octetsOf
	if size.Six {
		family, around = everySix, p.groupsIn
	}
	isAddress := p.inNetworks(text, query.NetworkIn{Networks: []netip.Prefix{family}})
	return "CASE WHEN " + isAddress + " THEN " + around(text, size.Bits) + " END"
}

var everyFour, everySix = netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")

// octetsOf is the network of IPv4 around a text. bits is a multiple of 8.
func (p *printer) octetsOf(text fragment, bits int) fragment {
	octets := bits / 8
	written := "regexp_extract(" + text + ", " + p.text(`\A[0-9]+`+repeated(`\.[0-9]+`, octets-1, octets-1)) + ")"
	return written + " || " + p.text(fmt.Sprintf("%s/%d", strings.Repeat(".0", 4-octets), bits))
}

// groupsIn is the network of IPv6 around a text. bits is a multiple of 16 and at most 64. Then :: stands for all groups
// after the prefix and for those before them that are 0, because no other run of zeros is as long.
func (p *printer) groupsIn(text fragment, bits int) fragment {
	groups := bits / 16
	first := p.text(`\A[0-9a-f]+` + repeated(`:[0-9a-f]+`, 0, groups-1)) // up to ::, after which no group counts
	written := "coalesce(regexp_extract(" + p.withoutShortRuns(text) + ", " + first + "), '')"
	return "regexp_replace(" + written + ", " + p.text(`(?:\A|:)0(?::0)*\z`) + ", '')" +
		" || " + p.text(fmt.Sprintf("::/%d", bits))
}

// withoutShortRuns is the text with zeros instead of a :: that stands for so few groups, so near the beginning, that
// one of the groups after it is among the first four.
func (p *printer) withoutShortRuns(text fragment) fragment {
	cases := fragment("CASE")
	for _, run := range []struct {
		before string
		zeros  string
		after  int // groups
	}{{"", "0:0:", 6}, {"", "0:0:0:", 5}, {`[^:]+`, ":0:0:", 5}} {
		shape := `\A` + run.before + `::[^:]+` + repeated(`:[^:]+`, run.after-1, run.after-1) + `\z`
		cases += " WHEN " + p.dialect.foundAny(p, text, []string{shape}) +
			" THEN replace(" + text + ", '::', " + p.text(run.zeros) + ")"
	}
	return cases + " ELSE " + text + " END"
}

// networkPatterns returns patterns for the canonical texts of the addresses in networks. A text in which an exact one is
// found is the canonical text of such an address. A loose one is only for texts in which also shapeOfSix is found and
// spoiltSix is not.
func networkPatterns(networks []netip.Prefix) (exact, loose []string) {
	var heads [5][]string // by the number of octets that follow the head
	for _, n := range networks {
		if n.Addr().Is4() {
			free, head := headOfFour(n)
			heads[free] = append(heads[free], head)
			continue
		}
		loose = append(loose, textsOfSix(n)...)
		if mapped := n.Bits() - 96; mapped >= 0 && n.Addr().Is4In6() {
			free, head := headOfFour(netip.PrefixFrom(n.Addr().Unmap(), mapped))
			heads[free] = append(heads[free], "::ffff:"+head)
		} else if n.Contains(netip.AddrFrom16([16]byte{10: 0xff, 11: 0xff})) {
			heads[4] = append(heads[4], "::ffff:")
		}
	}
	for free, list := range heads {
		end := `\z`
		if free > 0 {
			end = octet + repeated(`\.`+octet, free-1, free-1) + `\z`
		}
		exact = append(exact, packed(list, end)...)
	}
	return exact, packed(loose, "")
}

// packed returns few patterns for texts that begin with one of the heads, up to an end.
func packed(heads []string, end string) []string {
	if slices.Contains(heads, "") && end == "" {
		return []string{""}
	}
	var patterns []string
	for len(heads) > 0 {
		n, size := 1, len(heads[0])
		for n < len(heads) && size+1+len(heads[n]) <= maxPattern {
			size += 1 + len(heads[n])
			n++
		}
		patterns = append(patterns, `\A(?:`+strings.Join(heads[:n], "|")+`)`+end)
		heads = heads[n:]
	}
	return patterns
}

// headOfFour returns a pattern for the beginning of the texts of a network of IPv4, and how many octets follow it.
func headOfFour(n netip.Prefix) (free int, head string) {
	octets := n.Addr().As4()
	whole, bits := n.Bits()/8, n.Bits()%8
	for _, o := range octets[:whole] {
		head += strconv.Itoa(int(o)) + `\.`
	}
	free = 4 - whole
	switch {
	case bits > 0:
		first := int(octets[whole])
		head += decimals(first, first+1<<(8-bits)-1)
		if free--; free > 0 {
			head += `\.`
		}
	case free == 0:
		head = strings.TrimSuffix(head, `\.`)
	}
	return free, head
}

// decimals returns a pattern for the numbers from low to high.
func decimals(low, high int) string {
	var parts []string
	for ten := low / 10; ten <= high/10; ten++ {
		from, to := max(low, 10*ten)%10, min(high, 10*ten+9)%10
		part := fmt.Sprintf("[%d-%d]", from, to)
		if ten > 0 {
			part = strconv.Itoa(ten) + part
		}
		parts = append(parts, part)
	}
	return "(?:" + strings.Join(parts, "|") + ")"
}

// textsOfSix returns patterns for the beginnings of the canonical texts of a network of IPv6, except those that end with
// an address of IPv4. Each text has the groups of the prefix, unless :: stands for some of them.
func textsOfSix(n netip.Prefix) []string {
	groups := groupsOf(n.Addr())
	whole, bits := n.Bits()/16, n.Bits()%16
	fixed := make([]string, whole)
	for i := range fixed {
		fixed[i] = strconv.FormatUint(uint64(groups[i]), 16)
	}
	written := strings.Join(fixed, ":")
	if whole > 0 {
		written += ":"
	}
	next, zero := anyGroup, true // the group after the fixed ones; whether it can be 0
	if bits > 0 {
		next, zero = hexadecimals(groups[whole], bits), groups[whole] == 0
	}
	var texts []string
	switch { // :: stands for later groups, or for none
	case bits == 0:
		texts = append(texts, written)
	case whole < 7:
		texts = append(texts, written+next+":")
	default:
		texts = append(texts, written+next+`\z`)
	}
	if bits > 0 && zero {
		texts = append(texts, strings.TrimSuffix(written, ":")+"::")
	}
	return append(texts, shortenedTexts(groups[:whole], fixed, next, zero)...)
}

// shortenedTexts returns the patterns of textsOfSix in which :: stands for some of the fixed groups.
func shortenedTexts(groups []uint16, fixed []string, next string, zero bool) []string {
	var texts []string
	whole := len(groups)
	rest := 8 - whole
	for from := 0; from < whole; from++ {
		to := from
		for to < whole && groups[to] == 0 {
			to++
		}
		if to == from {
			continue
		}
		head := strings.Join(fixed[:from], ":") + "::"
		following := next + repeated(":"+anyGroup, rest-1, rest-1) // all groups after the fixed ones
		switch {
		case to < whole:
			texts = append(texts, head+strings.Join(fixed[to:], ":")+":"+following+`\z`)
		case !zero:
			texts = append(texts, head+following+`\z`)
		default: // :: may also stand for the next group, and for groups after that
			texts = append(texts, head+following+`\z`, head+`\z`)
			if rest > 1 {
				texts = append(texts, head+anyGroup+repeated(":"+anyGroup, 0, rest-2)+`\z`)
			}
		}
		from = to
	}
	return texts
}

// hexadecimals returns a pattern for the groups that begin with the given bits of a group, whose other bits are 0.
func hexadecimals(group uint16, bits int) string {
	digits, part, free := bits/4, bits%4, 3-bits/4 // fixed digits, fixed bits of the next one, digits after that
	fixed := int(group) >> (16 - 4*digits)
	low := int(group) >> (4 * free) & 0xf
	high := low + 1<<(4-part) - 1
	rest := repeated(`[0-9a-f]`, free, free)
	switch {
	case fixed > 0:
		return strconv.FormatInt(int64(fixed), 16) + digitsFrom(low, high) + rest
	case low > 0:
		return digitsFrom(low, high) + rest
	case free > 0: // with leading zeros, which are not written
		return `(?:` + digitsFrom(1, high) + rest + `|0|[1-9a-f]` + repeated(`[0-9a-f]`, 0, free-1) + `)`
	}
	return digitsFrom(low, high)
}

// digitsFrom returns a pattern for one hexadecimal digit.
func digitsFrom(low, high int) string {
	switch {
	case high < 10 || low >= 10:
		return fmt.Sprintf("[%x-%x]", low, high)
	case low == 9:
		return fmt.Sprintf("[9a-%x]", high)
	}
	return fmt.Sprintf("[%x-9a-%x]", low, high)
}

// repeated returns a pattern for a pattern that occurs so many times.
func repeated(pattern string, least, most int) string {
	switch {
	case most == 0:
		return ""
	case least == 1 && most == 1:
		return pattern
	}
	if !strings.HasPrefix(pattern, "[") {
		pattern = "(?:" + pattern + ")"
	}
	switch {
	case least == most:
		return fmt.Sprintf("%s{%d}", pattern, least)
	case most == 1:
		return pattern + "?"
	}
	return fmt.Sprintf("%s{%d,%d}", pattern, least, most)
}

func groupsOf(address netip.Addr) (groups [8]uint16) {
	bytes := address.As16()
	for i := range groups {
		groups[i] = uint16(bytes[2*i])<<8 | uint16(bytes[2*i+1])
	}
	return groups
}

// commonPrefix returns a text with which the canonical texts of all addresses in the network begin, without the
// characters % and _.
func commonPrefix(n netip.Prefix) string {
	if n.Addr().Is4In6() && n.Bits() >= 96 {
		return "::ffff:" + commonPrefix(netip.PrefixFrom(n.Addr().Unmap(), n.Bits()-96))
	}
	prefix := ""
	if n.Addr().Is4() {
		octets := n.Addr().As4()
		for _, o := range octets[:n.Bits()/8] {
			prefix += strconv.Itoa(int(o)) + "."
		}
		return prefix
	}
	groups := groupsOf(n.Addr())
	for _, one := range groups[:n.Bits()/16] {
		if one == 0 {
			break
		}
		prefix += strconv.FormatUint(uint64(one), 16) + ":"
	}
	return prefix
}

// shapeOfSix is found in the texts of IPv6 whose groups have no leading zeros, and in which :: stands for at least two
// groups, before and after which no group is 0. Those in which spoiltSix is found are not canonical all the same.
var shapeOfSix = `\A(?:` + strings.Join(shapesOfSix(), "|") + `)\z`

func shapesOfSix() []string {
	shapes := []string{group + repeated(":"+group, 7, 7)}
	for before := range 7 {
		head, most := "", 6-before // most groups after ::
		if before > 0 {
			head = repeated(group+":", before-1, before-1) + positive
		}
		tail := ""
		if most > 0 {
			tail = "(?:" + positive + repeated(":"+group, 0, most-1) + ")?"
		}
		shapes = append(shapes, head+"::"+tail)
	}
	return shapes
}

// spoiltSix is found in texts in which :: does not stand for the first longest run of zeros, and in texts of addresses
// that end with an address of IPv4, if that is not written as one.
var spoiltSix = `\A(?:` + strings.Join(spoiltTexts(), "|") + `)\z`

func spoiltTexts() []string {
	texts := []string{`(?:[^:]+:)*0:0(?::[^:]+)*`, `::ffff:[^:]+:[^:]+`}
	for _, left := range []int{2, 3} { // groups that :: stands for; if they are more, no other run is as long
		for before := range 9 - left {
			for from := range 8 - left {
				zeros, first, end := left, 0, before-1 // the last group before :: is not 0, and neither is the first after it
				if from >= before {
					zeros, first, end = left+1, before+1, 8-left
				}
				if from < first || from+zeros > end {
					continue
				}
				groups := slices.Repeat([]string{`[^:]+`}, 8-left)
				copy(groups[from:from+zeros], []string{"0", "0", "0", "0"})
				texts = append(texts, strings.Join(groups[:before], ":")+"::"+strings.Join(groups[before:], ":"))
			}
		}
	}
	return texts
}
