package simulate

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
)

// Filter is a global filter. Its relation, AND or OR, joins its entries and its groups.
type Filter struct {
	Active   bool
	Relation string
	Entries  []Entry
	Groups   []Group
	Action   string
	Tags     []string // put on each request that matches
}

// Group is entries within a filter, joined by a relation of their own.
type Group struct {
	Relation string
	Entries  []Entry
}

// Entry is one test of a request. Only headers and cookies have a name.
type Entry struct {
	Type, Name, Value string
}

// Filters returns, for each record, the indices of the filters that match it, in ascending order.
//
// Decisions:
//   - Filters are evaluated in their order. The tags of a filter that matches are visible to the filters after it, but
//     not to itself or to those before it. Tags that the record already has stay, and all filters see them.
//   - Every filter is evaluated, whatever the actions of the filters before it.
//   - A filter without entries and groups matches nothing, nor does a group without entries.
//   - A relation other than AND is OR.
//   - A record without the value that an entry tests does not match the entry, even if the entry is a regular
//     expression that matches the empty text. An empty value is tested like any other.
//   - A value that is not of its entry's type, such as an invalid regular expression, and an unknown type match
//     nothing.
//   - ip is an address or a network. The bits of a network after its length are ignored. An address of IPv4 that is
//     written as one of IPv6, such as ::ffff:192.0.2.1, is the address of IPv4. A network of IPv6 contains no address
//     of IPv4.
//   - asn is a decimal number without a prefix. Numbers are compared, not their digits.
//   - path, uri, method, query, headers and cookies are regular expressions of Go, which are found anywhere in the
//     value and distinguish case. query is tested against the field of that name, which is the query string.
//   - The names of headers and cookies are compared as they are written.
//   - tags is the name of a tag. All other types, including network, are compared with the field of the same name as
//     equal texts.
func Filters(filters []Filter, records []Record) [][]int {
	matching := make([][]int, len(records))
	for i, r := range records {
		matching[i], _ = apply(filters, r)
	}
	return matching
}

// Tagged returns the records with the tags that the filters put on them, as limits see them. The records that it is
// given stay as they are.
func Tagged(filters []Filter, records []Record) []Record {
	tagged := make([]Record, len(records))
	for i, r := range records {
		_, tagged[i] = apply(filters, r)
	}
	return tagged
}

// apply returns the indices of the filters that match the record, and the record with their tags.
func apply(filters []Filter, r Record) ([]int, Record) {
	var matching []int
	r.Tags = slices.Clone(r.Tags)
	for i, f := range filters {
		if f.matches(r) {
			matching = append(matching, i)
			r.Tags = append(r.Tags, f.Tags...)
		}
	}
	return matching, r
}

func (f Filter) matches(r Record) bool {
	var tests []bool
	for _, e := range f.Entries {
		tests = append(tests, e.matches(r))
	}
	for _, g := range f.Groups {
		tests = append(tests, g.matches(r))
	}
	return f.Active && joined(f.Relation, tests)
}

func (g Group) matches(r Record) bool {
	var tests []bool
	for _, e := range g.Entries {
		tests = append(tests, e.matches(r))
	}
	return joined(g.Relation, tests)
}

func (e Entry) matches(r Record) bool {
	field, present := r.Fields[e.Type]
	switch e.Type {
	case "ip":
		return present && within(field, e.Value)
	case "asn":
		return present && sameNumber(field, e.Value)
	case "path", "uri", "method", "query":
		return present && found(e.Value, field)
	case "headers":
		header, present := r.Headers[e.Name]
		return present && found(e.Value, header)
	case "cookies":
		cookie, present := r.Cookies[e.Name]
		return present && found(e.Value, cookie)
	case "tags":
		return slices.Contains(r.Tags, e.Value)
	case "authority", "company", "country", "network", "organization", "region", "subregion", "session",
		"secpolentryid", "secpolentryname", "secpolid", "secpolname",
		"securitypolicy", "securitypolicy-entry", "securitypolicy-id", "securitypolicy-name",
		"securitypolicy-entryid", "securitypolicy-entryname":
		return present && field == e.Value
	}
	return false
}

// within reports whether an address is the given address, or is in the given network.
func within(address, network string) bool {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return false
	}
	if b, err := netip.ParseAddr(network); err == nil {
		return a.Unmap() == b.Unmap()
	}
	n, err := netip.ParsePrefix(network)
	return err == nil && n.Contains(a.Unmap())
}

func sameNumber(a, b string) bool {
	m, err := strconv.ParseUint(a, 10, 32)
	if err != nil {
		return false
	}
	n, err := strconv.ParseUint(b, 10, 32)
	return err == nil && m == n
}

func found(expression, text string) bool {
	re, err := regexp.Compile(expression)
	return err == nil && re.MatchString(text)
}
