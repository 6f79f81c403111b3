package rollup

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"github.com/dchest/siphash"
)

// HashKey is the secret by which texts are hashed in lists, so that clients cannot choose texts with equal hashes. All
// days that are joined have the same key.
type HashKey [16]byte

// ID tells keys from each other, without telling the key.
func (k HashKey) ID() uint64 {
	id, _ := k.sum([]byte("the identity of a key of rollups"))
	return id
}

func (k HashKey) sum(text []byte) (first, second uint64) {
	return siphash.Hash128(binary.LittleEndian.Uint64(k[:8]), binary.LittleEndian.Uint64(k[8:]), text)
}

// Hash returns the hash of a text.
func (k HashKey) Hash(text []byte) Hash {
	first, second := k.sum(text)
	return Hash{first, uint32(second)}
}

// Hash is a hash of 96 bits (SipHash-2-4) that stands for a text.
type Hash struct {
	First uint64
	Check uint32
}

// Short returns the 80 bits of a hash that stand for a value of a dimension.
func (h Hash) Short() Hash { return Hash{h.First, h.Check & math.MaxUint16} }

const (
	hashBytes      = 12
	shortHashBytes = 10
)

func (h Hash) appendShort(to []byte) []byte {
	return binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint64(to, h.First), uint16(h.Check))
}

func shortHashAt(content []byte) Hash {
	return Hash{binary.LittleEndian.Uint64(content), uint32(binary.LittleEndian.Uint16(content[8:]))}
}

func (h Hash) append(to []byte) []byte {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(to, h.First), h.Check)
}

func hashAt(content []byte) Hash {
	return Hash{binary.LittleEndian.Uint64(content), binary.LittleEndian.Uint32(content[8:])}
}

// Section is a part of the lists of a day. Questions read only the sections that they need.
type Section struct {
	Name     string
	Offset   int64 // from the end of the figures, in bytes
	Length   int64 // in bytes
	Checksum uint32
}

var checksums = crc32.MakeTable(crc32.Castagnoli)

// Check returns ErrInvalid unless these are the bytes of the section.
func (s Section) Check(content []byte) error {
	if int64(len(content)) != s.Length || crc32.Checksum(content, checksums) != s.Checksum {
		return fmt.Errorf("%w: the checksum of its section %q is wrong", ErrInvalid, s.Name)
	}
	return nil
}

// Section returns a section of the lists, and whether the day has it.
func (d *Day) Section(name string) (Section, bool) { return named(d.Sections, name) }

// HasSection reports whether the day has a section.
func (d *Day) HasSection(name string) bool {
	_, found := d.Section(name)
	return found
}

func named(sections []Section, name string) (Section, bool) {
	i := slices.IndexFunc(sections, func(s Section) bool { return s.Name == name })
	if i < 0 {
		return Section{}, false
	}
	return sections[i], true
}

// Lists are the bytes of all sections of a day.
type Lists struct {
	Sections []Section
	Bytes    []byte
}

// Add adds a section with a name of the caller.
func (l *Lists) Add(name string, content []byte) { l.add(name, content) }

// content returns the bytes of a section; none if there is no such section.
func (l *Lists) content(name string) []byte {
	s, _ := named(l.Sections, name)
	return l.Bytes[s.Offset : s.Offset+s.Length]
}

// add adds a section.
func (l *Lists) add(name string, content []byte) {
	l.Sections = append(l.Sections, Section{
		Name: name, Offset: int64(len(l.Bytes)), Length: int64(len(content)), Checksum: crc32.Checksum(content, checksums),
	})
	l.Bytes = append(l.Bytes, content...)
}
