package planet

import (
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"
)

// Parse validates a body of settings. The error is of kind fault.TooLarge, or of kind fault.Invalid and wraps Problems.
//
// The members name (not empty), trusted_nets (list of addresses and global filters) and ichallenge (attrs, lang,
// palette, position) are required. Other members, and the contents of attrs, lang and position, are kept unchanged.
func Parse(body []byte) (Settings, error) {
	if len(body) > MaxBytes {
		return Settings{}, tooLarge()
	}
	var p Problems
	object, ok := p.document(body)
	if !ok {
		return Settings{}, p.asError()
	}
	p.id(object)
	p.name(object)
	p.trustedNets(object)
	p.ichallenge(object)
	if err := p.asError(); err != nil {
		return Settings{}, err
	}
	return Settings{object.without("id")}, nil
}

// document reads the body as one JSON object.
func (p *Problems) document(body []byte) (object, bool) {
	if !utf8.Valid(body) {
		p.notJSON("it is not UTF-8")
		return nil, false
	}
	var value json.RawMessage
	if err := json.Unmarshal(body, &value); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			p.notJSON("%v at byte %d", err, syntax.Offset)
		} else {
			p.notJSON("%v", err)
		}
		return nil, false
	}
	return p.object(at(), strings.TrimSpace(string(body)))
}

func (p *Problems) id(settings object) {
	m, ok := settings.find("id")
	if !ok {
		return
	}
	if id, ok := p.text(at("id"), m.value); ok && id != EntryID {
		p.otherID(id)
	}
}

func (p *Problems) name(settings object) {
	if name, ok := p.requiredText(nil, settings, "name"); ok && strings.TrimSpace(name) == "" {
		p.emptyText(at("name"))
	}
}

// Sources of the entries of trusted_nets.
const (
	SourceIP           = "ip" // the default
	SourceGlobalFilter = "global_filter"
)

// trustedNets checks the trusted networks. An entry is {address, comment}, with or without the source "ip", or
// {gf_id, comment} with the source "global_filter". The member of the other form may be empty.
func (p *Problems) trustedNets(settings object) {
	items, ok := p.requiredList(nil, settings, "trusted_nets")
	if !ok {
		return
	}
	seen := make(map[netip.Prefix]place, len(items))
	for i, item := range items {
		in := []any{"trusted_nets", i}
		entry, ok := p.object(at(in...), item)
		if !ok {
			continue
		}
		switch source, ok := p.source(in, entry); {
		case !ok:
		case source == SourceGlobalFilter:
			p.globalFilter(in, entry)
		default:
			p.address(i, in, entry, seen)
		}
		p.requiredText(in, entry, "comment")
	}
}

// source returns the source of an entry.
func (p *Problems) source(in []any, entry object) (source string, ok bool) {
	m, ok := entry.find("source")
	if !ok {
		return SourceIP, true
	}
	loc := at(append(slices.Clone(in), "source")...)
	source, ok = p.text(loc, m.value)
	if ok && source != SourceIP && source != SourceGlobalFilter {
		p.badSource(loc, source)
		return "", false
	}
	return source, ok
}

// address checks an entry of the source ip.
func (p *Problems) address(index int, in []any, entry object, seen map[netip.Prefix]place) {
	if filled(entry, "gf_id") {
		p.otherForm(at(append(slices.Clone(in), "gf_id")...), SourceGlobalFilter)
		return
	}
	if address, ok := p.requiredText(in, entry, "address"); ok {
		p.network(place{index, address}, seen)
	}
}

// globalFilter checks an entry of the source global_filter. The same filter may occur more than once.
func (p *Problems) globalFilter(in []any, entry object) {
	if id, ok := p.requiredText(in, entry, "gf_id"); ok && strings.TrimSpace(id) == "" {
		p.emptyText(at(append(slices.Clone(in), "gf_id")...))
	}
	if filled(entry, "address") {
		p.otherForm(at(append(slices.Clone(in), "address")...), SourceIP)
	}
}

// filled reports whether a member is there and is not the empty string.
func filled(o object, name string) bool {
	m, ok := o.find(name)
	return ok && m.value != `""`
}

// place is an item of trusted_nets.
type place struct {
	index   int
	address string
}

func (p *Problems) network(here place, seen map[netip.Prefix]place) {
	loc := at("trusted_nets", here.index, "address")
	network, err := parseNetwork(here.address)
	if err != nil {
		p.badAddress(loc, here.address)
		return
	}
	if first, twice := seen[network]; twice {
		p.sameNetwork(loc, here.address, first.address, first.index)
		return
	}
	seen[network] = here
}

func (p *Problems) ichallenge(settings object) {
	m, ok := settings.find("ichallenge")
	if !ok {
		p.missing(at("ichallenge"))
		return
	}
	challenge, ok := p.object(at("ichallenge"), m.value)
	if !ok {
		return
	}
	in := []any{"ichallenge"}
	for _, name := range []string{"attrs", "lang", "position"} {
		if m, ok := challenge.find(name); !ok {
			p.missing(at("ichallenge", name))
		} else if kindOf(m.value) != kindObject {
			p.wrongType(at("ichallenge", name), kindObject)
		}
	}
	colours, _ := p.requiredList(in, challenge, "palette")
	for i, colour := range colours {
		p.text(at("ichallenge", "palette", i), colour)
	}
}

// parseNetwork parses an address or a network. It masks the network and converts IPv4 written as IPv6 to IPv4, so that
// equal networks are equal values.
func parseNetwork(address string) (netip.Prefix, error) {
	network, err := netip.ParsePrefix(address)
	if err != nil {
		ip, err := netip.ParseAddr(address)
		if err != nil {
			return netip.Prefix{}, err
		}
		if ip.Zone() != "" {
			return netip.Prefix{}, errors.New("a zone is valid on one machine only")
		}
		network = netip.PrefixFrom(ip, ip.BitLen())
	}
	if ip := network.Addr(); ip.Is4In6() && network.Bits() >= 96 {
		network = netip.PrefixFrom(ip.Unmap(), network.Bits()-96)
	}
	return network.Masked(), nil
}
