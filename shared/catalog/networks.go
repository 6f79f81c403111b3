package catalog

import "strconv"

// NetworkSize is a length of prefixes. Records can be grouped by their networks with prefixes of this length.
type NetworkSize struct {
	Bits int
	Six  bool // of IPv6, otherwise of IPv4
}

// NetworkSizes lists the sizes of networks by which records are grouped. No two have the same length.
var NetworkSizes = []NetworkSize{{24, false}, {16, false}, {48, true}, {64, true}}

// String returns the length as it is written after an address: /24.
func (s NetworkSize) String() string { return "/" + strconv.Itoa(s.Bits) }

// HasNetworks reports whether the values of the field are addresses.
func (f *Field) HasNetworks() bool { return f.Keys == NoKey && f.Sources[0].HasNetworks() }

// Networks lists the dimensions of the field's networks, such as ip/24.
func (f *Field) Networks() []string {
	if !f.HasNetworks() {
		return nil
	}
	names := make([]string, len(NetworkSizes))
	for i, s := range NetworkSizes {
		names[i] = f.Name + s.String()
	}
	return names
}
