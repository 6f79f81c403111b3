// Package geoiptest writes databases in the format of MaxMind for tests.
package geoiptest

import (
	"encoding/binary"
	"maps"
	"net/netip"
	"os"
	"slices"
	"testing"
)

// Write writes a database to a file. It has a value for each network, and networks must not overlap. A value is a
// string, a uint32, a uint64, a map of strings to values or a list of values. All networks have the same version of IP.
func Write(t *testing.T, file string, networks map[netip.Prefix]any) {
	t.Helper()
	w := writer{}
	w.node()
	version := uint32(4)
	for _, network := range slices.SortedFunc(maps.Keys(networks), netip.Prefix.Compare) {
		if network.Addr().Is6() {
			version = 6
		}
		offset := len(w.data)
		w.data = appendValue(t, w.data, networks[network])
		w.insert(network, offset)
	}
	content := w.tree()
	content = append(content, make([]byte, separator)...)
	content = append(content, w.data...)
	content = append(content, "\xab\xcd\xefMaxMind.com"...)
	content = appendValue(t, content, map[string]any{
		"binary_format_major_version": uint32(2), "binary_format_minor_version": uint32(0),
		"build_epoch": uint64(1779012303), "database_type": "Test", "description": map[string]any{"en": "Test"},
		"ip_version": version, "languages": []any{"en"}, "node_count": uint32(len(w.nodes)), "record_size": uint32(24),
	})
	if err := os.WriteFile(file, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// separator is the number of zeros between the tree and the data.
const separator = 16

// writer is a database while it is made.
type writer struct {
	nodes [][2]target
	data  []byte
}

// target is where a branch of the tree leads: to a node, to data, or nowhere.
type target struct {
	node, data int // data is the offset plus one
}

func (w *writer) node() int {
	w.nodes = append(w.nodes, [2]target{})
	return len(w.nodes) - 1
}

// insert adds a network with the data at an offset.
func (w *writer) insert(network netip.Prefix, offset int) {
	at := 0
	address := network.Addr().AsSlice()
	for i := range network.Bits() {
		bit := address[i/8] >> (7 - i%8) & 1
		if i == network.Bits()-1 {
			w.nodes[at][bit] = target{data: offset + 1}
			return
		}
		if w.nodes[at][bit].node == 0 {
			next := w.node()
			w.nodes[at][bit] = target{node: next}
		}
		at = w.nodes[at][bit].node
	}
}

// tree returns the nodes. Their records have 24 bits.
func (w *writer) tree() []byte {
	var b []byte
	for _, node := range w.nodes {
		for _, to := range node {
			n := len(w.nodes) // nowhere
			switch {
			case to.data > 0:
				n += separator + to.data - 1
			case to.node > 0:
				n = to.node
			}
			b = append(b, byte(n>>16), byte(n>>8), byte(n))
		}
	}
	return b
}

// The types of values.
const (
	typeString = 2
	typeUint32 = 6
	typeMap    = 7
	typeUint64 = 9
	typeArray  = 11
)

// appendValue appends a value. Its length is at most 284.
func appendValue(t *testing.T, b []byte, value any) []byte {
	t.Helper()
	switch v := value.(type) {
	case string:
		return append(appendControl(t, b, typeString, len(v)), v...)
	case uint32:
		return binary.BigEndian.AppendUint32(appendControl(t, b, typeUint32, 4), v)
	case uint64:
		return binary.BigEndian.AppendUint64(appendControl(t, b, typeUint64, 8), v)
	case []any:
		b = appendControl(t, b, typeArray, len(v))
		for _, x := range v {
			b = appendValue(t, b, x)
		}
		return b
	case map[string]any:
		b = appendControl(t, b, typeMap, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			b = appendValue(t, appendValue(t, b, name), v[name])
		}
		return b
	}
	t.Fatalf("no value %T", value)
	return nil
}

func appendControl(t *testing.T, b []byte, kind, size int) []byte {
	t.Helper()
	const long = 29 // the size follows
	short := min(size, long)
	if kind > 7 {
		b = append(b, byte(short), byte(kind-7))
	} else {
		b = append(b, byte(kind<<5|short))
	}
	switch {
	case size > 0xff+long:
		t.Fatalf("a value of length %d is too long", size)
	case short == long:
		b = append(b, byte(size-long))
	}
	return b
}
