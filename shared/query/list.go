package query

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
)

// List is a version of a list of values, to which conditions refer by its name.
type List struct {
	Name    string // as filters write it, without a version: tor, staging/tor
	Version int
	Values  *ListValues
}

// String returns the name with the version, as canonical filters write it: tor:3.
func (l List) String() string { return l.Name + ":" + strconv.Itoa(l.Version) }

// ListValues are the values of a list. They never change, and several queries may use them at the same time.
type ListValues struct {
	Digest string   // identifies the values
	Values []string // different, as the list has them

	sets [4]struct { // by kindNumber
		once  sync.Once
		set   *listSet
		wrong string // a value that is not of the kind; "" if all are
	}
}

// ListKind is a kind of values with which a condition compares a field.
type ListKind string

// The kinds, the narrowest first. Numbers of autonomous systems may have AS before them.
const (
	AddressList ListKind = "addresses" // and networks
	IntegerList ListKind = "integers"
	SystemList  ListKind = "asns"
	TextList    ListKind = "texts"
)

// listKinds describes the kinds in messages.
var listKinds = []struct {
	kind          ListKind
	name, example string
}{
	{AddressList, "addresses or networks", "192.0.2.7 or 192.0.2.0/24"},
	{IntegerList, "integers", "403"},
	{SystemList, "numbers of autonomous systems", "AS3320 or 3320"},
	{TextList, "texts", "shop.example"},
}

// kindNumber returns the index of a kind in listKinds.
func kindNumber(kind ListKind) int {
	for i, k := range listKinds {
		if k.kind == kind {
			return i
		}
	}
	panic("query: unknown kind of lists " + string(kind))
}

// KindOfList returns the narrowest kind to which all values belong.
func KindOfList(values []string) ListKind {
	for _, k := range listKinds {
		if set, _ := readList(values, k.kind); set != nil {
			return k.kind
		}
	}
	panic("query: every value is a text")
}

// listSet is the values of a list, read as values of a kind.
type listSet struct {
	texts    map[string]bool // also the canonical texts of single addresses
	networks NetworkIn
	sizes    []netip.Prefix // see NetworkSizes
	integers map[int64]bool
}

// InList holds for the values of a list. Bind makes it; without WithLists, it has no values and no engine can test it.
type InList struct {
	Name   string // of the list, for people
	Digest string // of its values
	Kind   ListKind
	set    *listSet
}

func (InList) test() {}

// WithLists gives the lists of values to which the filter may refer, by the names that it writes. Without this option, names of
// lists are kept as they are written, and the query cannot be run.
func WithLists(lists map[string]List) Option {
	return func(b *binder) {
		if b.lists = lists; lists == nil {
			b.lists = map[string]List{}
		}
	}
}

// bindList binds a condition that names a list of values.
func (b *binder) bindList(field *catalog.Field, sources []catalog.Source, c *filter.Condition) (boundValues, bool) {
	name := c.Values[0]
	if len(sources) != 1 || sources[0].Layout != catalog.Scalar ||
		sources[0].Type != catalog.String && sources[0].Type != catalog.Int {
		b.fail(listNotTaken(field, name))
		return boundValues{}, false
	}
	test := InList{Name: name.Text, Kind: listKindOf(sources[0])}
	if b.lists != nil {
		list, known := b.lists[name.Text]
		if !known {
			b.fail(unknownList(name))
			return boundValues{}, false
		}
		set, wrong := list.Values.as(test.Kind)
		if set == nil {
			b.fail(otherListKind(field, name, test.Kind, wrong))
			return boundValues{}, false
		}
		test.Name, test.Digest, test.set = list.String(), list.Values.Digest, set
	}
	canonical := filter.Value{Kind: filter.ListName, Text: test.Name, Quoted: true}
	return boundValues{
		op: filter.In, list: true, terms: []Term{{Source: sources[0], Test: test}}, canonical: []filter.Value{canonical},
	}, true
}

// listKindOf returns the kind of values with which values at a source are compared.
func listKindOf(s catalog.Source) ListKind {
	switch {
	case s.HasNetworks():
		return AddressList
	case s.Column == "asn":
		return SystemList
	case s.Type == catalog.Int:
		return IntegerList
	}
	return TextList
}

// NewListValues returns the values of a list, which are different.
func NewListValues(digest string, values []string) *ListValues {
	return &ListValues{Digest: digest, Values: values}
}

// as returns the values read as values of a kind, or nil and a value that is not of that kind.
func (l *ListValues) as(kind ListKind) (set *listSet, wrong string) {
	as := &l.sets[kindNumber(kind)]
	as.once.Do(func() { as.set, as.wrong = readList(l.Values, kind) })
	return as.set, as.wrong
}

func readList(values []string, kind ListKind) (set *listSet, wrong string) {
	set = &listSet{}
	if kind == IntegerList {
		set.integers = make(map[int64]bool, len(values))
	} else {
		set.texts = make(map[string]bool, len(values))
	}
	var networks []netip.Prefix
	for _, v := range values {
		switch kind {
		case AddressList:
			network, ok := ParseListAddress(v)
			switch {
			case !ok:
				return nil, v
			case network.IsSingleIP():
				set.texts[network.Addr().String()] = true
			default:
				networks = append(networks, network)
			}
		case SystemList:
			number, ok := systemNumber(v)
			if !ok {
				return nil, v
			}
			set.texts["AS"+number] = true
		case IntegerList:
			n, err := strconv.ParseInt(v, 10, 64)
			if err != nil || strconv.FormatInt(n, 10) != v {
				return nil, v
			}
			set.integers[n] = true
		case TextList:
			set.texts[v] = true
		}
	}
	set.sizes = slices.SortedFunc(slices.Values(networks), func(a, b netip.Prefix) int {
		return cmp.Or(cmp.Compare(a.Addr().BitLen(), b.Addr().BitLen()), cmp.Compare(a.Bits(), b.Bits()))
	})
	set.sizes = slices.CompactFunc(set.sizes, func(a, b netip.Prefix) bool {
		return a.Addr().BitLen() == b.Addr().BitLen() && a.Bits() == b.Bits()
	})
	set.networks = networkIn(networks)
	return set, ""
}

// ParseListAddress reads an address or a network in any notation. The bits after the prefix become zero, and an address is the
// network of itself.
func ParseListAddress(text string) (netip.Prefix, bool) {
	if network, ok := parseNetwork(text); ok {
		return network, true
	}
	address, err := netip.ParseAddr(text)
	if err != nil || address.Zone() != "" {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(address, address.BitLen()), true
}

// systemNumber returns the number of an autonomous system without AS.
func systemNumber(text string) (string, bool) {
	number := text
	if len(text) > 2 && strings.EqualFold(text[:2], "AS") {
		number = text[2:]
	}
	n, err := strconv.ParseUint(number, 10, 32)
	return number, err == nil && strconv.FormatUint(n, 10) == number
}

// passesText reports whether a text is in the list.
func (t InList) passesText(text string) bool {
	return t.set.texts[text] || len(t.set.networks.Networks) > 0 && t.set.networks.contains(text)
}

// PassesStored reports whether a value is in the list. Engines that write stored values as texts use it.
func (t InList) PassesStored(text string) bool {
	if t.Kind != IntegerList {
		return t.passesText(text)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return err == nil && t.set.integers[n]
}

// NetworkSizes returns a network of each size that the list has: those of IPv4 first, then those of IPv6, the largest networks
// first. Single addresses are none.
func (t InList) NetworkSizes() []netip.Prefix { return t.set.sizes }

// Handle identifies the test among the tests of all lists.
func (t InList) Handle() string { return string(t.Kind) + "-" + t.Digest }

// ListTests returns the tests of lists in the conditions of the query and of its selections.
func (q Query) ListTests() []InList {
	var tests []InList
	for _, c := range q.allConditions() {
		for _, t := range c.AllTerms() {
			if test, ok := t.Test.(InList); ok {
				tests = append(tests, test)
			}
		}
	}
	return tests
}
