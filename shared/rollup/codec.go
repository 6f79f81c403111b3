package rollup

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/orrery/orrery/shared/query"
)

// version is that of the format and of the meaning of the figures. A rollup of another version is not read.
const version = 2

// magic begins every rollup.
var magic = []byte("orrery rollup\n")

// ErrInvalid is the error of Decode.
var ErrInvalid = errors.New("not a rollup of this version")

// HeaderBytes is the length of the start of a rollup that tells its size.
const HeaderBytes = 14 + 1 + 4

// Size returns the number of bytes that Encode has returned, by the first HeaderBytes of them. The sections of the lists
// follow them. The error is ErrInvalid.
func Size(header []byte) (int, error) {
	if len(header) < HeaderBytes || !bytes.HasPrefix(header, magic) || header[len(magic)] != version {
		return 0, ErrInvalid
	}
	return int(binary.LittleEndian.Uint32(header[len(magic)+1:])), nil
}

// Encode returns the bytes of a rollup without the sections of its lists: magic, version, their number, the figures as
// varints, and their SHA-256.
func (d *Day) Encode() []byte {
	e := encoder{append(append(bytes.Clone(magic), version), 0, 0, 0, 0)}
	e.int(d.Start)
	e.uint(d.HashID)
	e.uint(uint64(len(d.Sections)))
	for _, s := range d.Sections {
		e.text(s.Name)
		e.int(s.Offset)
		e.int(s.Length)
		e.uint(uint64(s.Checksum))
	}
	e.uint(uint64(len(d.Objects)))
	for _, o := range d.Objects {
		e.text(o.Name)
		for _, n := range []int64{o.Bytes, o.Rows, o.MinTsMs, o.MaxTsMs} {
			e.int(n)
		}
	}
	numbers := e.names(d.Hosts)
	e.uint(uint64(len(d.Hosts)))
	for _, h := range d.Hosts {
		e.int(h.Hour - d.Start)
		e.uint(numbers[h.nameKey()])
		e.int(h.Requests)
		e.int(h.Timed)
		e.sum(h.Bandwidth)
		e.sum(h.TimeUs)
	}
	e.uint(uint64(len(d.Segments)))
	for _, s := range d.Segments {
		e.int(s.Start - d.Start)
		for _, n := range []int64{
			s.Seconds, s.Requests, s.Blocked, s.Challenges, s.Human, s.OriginBlocked, s.IPs, s.Sessions,
		} {
			e.int(n)
		}
		e.sum(s.BytesSent)
		e.statuses(s.Statuses)
		e.statuses(s.Origins)
	}
	binary.LittleEndian.PutUint32(e.bytes[len(magic)+1:], uint32(len(e.bytes)+sha256.Size))
	sum := sha256.Sum256(e.bytes)
	return append(e.bytes, sum[:]...)
}

// nameKey is the name of a host, or none.
type nameKey struct {
	name  string
	named bool
}

func (h *Host) nameKey() nameKey { return nameKey{h.Name, h.Named} }

type encoder struct{ bytes []byte }

func (e *encoder) int(n int64)   { e.bytes = binary.AppendVarint(e.bytes, n) }
func (e *encoder) uint(n uint64) { e.bytes = binary.AppendUvarint(e.bytes, n) }

func (e *encoder) text(s string) {
	e.uint(uint64(len(s)))
	e.bytes = append(e.bytes, s...)
}

func (e *encoder) sum(s Sum) {
	e.int(s.High)
	e.uint(s.Low)
}

func (e *encoder) statuses(counts []query.StatusCount) {
	e.uint(uint64(len(counts)))
	for _, c := range counts {
		e.int(c.Status)
		e.int(c.Count)
	}
}

// names writes the names of hosts once each. It returns their numbers: 0 is that of requests without a host.
func (e *encoder) names(hosts []Host) map[nameKey]uint64 {
	numbers := map[nameKey]uint64{{}: 0}
	var names []string
	for _, h := range hosts {
		if _, known := numbers[h.nameKey()]; !known {
			names = append(names, h.Name)
			numbers[h.nameKey()] = uint64(len(names))
		}
	}
	e.uint(uint64(len(names)))
	for _, name := range names {
		e.text(name)
	}
	return numbers
}

// Decode reads the bytes that Encode has returned. The error is ErrInvalid.
func Decode(content []byte) (*Day, error) {
	end := len(content) - sha256.Size
	if end < 0 || sha256.Sum256(content[:max(0, end)]) != [sha256.Size]byte(content[max(0, end):]) {
		return nil, fmt.Errorf("%w: its checksum is wrong", ErrInvalid)
	}
	if size, err := Size(content); err != nil || size != len(content) {
		return nil, ErrInvalid
	}
	d := decoder{bytes: content[HeaderBytes:end]}
	day := &Day{Start: d.int(), HashID: d.uint(), Bytes: len(content)}
	day.Sections = make([]Section, d.length())
	for i := range day.Sections {
		day.Sections[i] = Section{Name: d.text(), Offset: d.int(), Length: d.int(), Checksum: uint32(d.uint())}
	}
	day.Objects = make([]Object, d.length())
	for i := range day.Objects {
		day.Objects[i] = Object{Name: d.text(), Bytes: d.int(), Rows: d.int(), MinTsMs: d.int(), MaxTsMs: d.int()}
	}
	names := make([]string, d.length())
	for i := range names {
		names[i] = d.text()
	}
	day.Hosts = make([]Host, d.length())
	for i := range day.Hosts {
		h := &day.Hosts[i]
		h.Hour = day.Start + d.int()
		if number := d.uint(); number > uint64(len(names)) {
			d.failed = true
		} else if number > 0 {
			h.Name, h.Named = names[number-1], true
		}
		h.Requests, h.Timed, h.Bandwidth, h.TimeUs = d.int(), d.int(), d.sum(), d.sum()
	}
	day.Segments = make([]Segment, d.length())
	for i := range day.Segments {
		s := &day.Segments[i]
		s.Start, s.Seconds = day.Start+d.int(), d.int()
		s.Requests, s.Blocked, s.Challenges, s.Human, s.OriginBlocked = d.int(), d.int(), d.int(), d.int(), d.int()
		s.IPs, s.Sessions, s.BytesSent = d.int(), d.int(), d.sum()
		s.Statuses, s.Origins = d.statuses(), d.statuses()
	}
	if d.failed || len(d.bytes) > 0 {
		return nil, ErrInvalid
	}
	return day, nil
}

// decoder reads what encoder writes. After the first failure it reads zeros.
type decoder struct {
	bytes  []byte
	failed bool
}

func (d *decoder) skip(n int) {
	if n <= 0 || n > len(d.bytes) {
		d.failed, d.bytes = true, nil
		return
	}
	d.bytes = d.bytes[n:]
}

func (d *decoder) int() int64 {
	n, length := binary.Varint(d.bytes)
	d.skip(length)
	return n
}

func (d *decoder) uint() uint64 {
	if len(d.bytes) > 0 && d.bytes[0] < 1<<7 { // most numbers
		n := d.bytes[0]
		d.bytes = d.bytes[1:]
		return uint64(n)
	}
	n, length := binary.Uvarint(d.bytes)
	d.skip(length)
	return n
}

// length reads the length of a list, whose elements take a byte each at least.
func (d *decoder) length() int {
	n := d.uint()
	if n > uint64(len(d.bytes)) {
		d.failed, d.bytes = true, nil
		return 0
	}
	return int(n)
}

func (d *decoder) text() string {
	n := d.length()
	text := string(d.bytes[:n])
	d.bytes = d.bytes[n:]
	return text
}

func (d *decoder) sum() Sum { return Sum{High: d.int(), Low: d.uint()} }

func (d *decoder) statuses() []query.StatusCount {
	counts := make([]query.StatusCount, d.length())
	for i := range counts {
		counts[i] = query.StatusCount{Status: d.int(), Count: d.int()}
	}
	return counts
}
