package rollup

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/varints"
)

// version is that of the format and of the meaning of the figures. A rollup of another version is not read.
const version = 2

// magic begins every rollup.
var magic = []byte("orrery rollup\n")

// ErrInvalid is the error of Decode.
var ErrInvalid = errors.New("not a rollup of this version")

// HeaderBytes is the length of the start of a rollup that tells its size.
const HeaderBytes = 14 + 1 + 4

// Size returns the number of bytes that Encode has returned, by the first HeaderBytes of them. The sections of the
// lists follow them. The error is ErrInvalid.
func Size(header []byte) (int, error) {
	if len(header) < HeaderBytes || !bytes.HasPrefix(header, magic) || header[len(magic)] != version {
		return 0, ErrInvalid
	}
	return int(binary.LittleEndian.Uint32(header[len(magic)+1:])), nil
}

// Read reads a rollup of a day that starts at a time in Unix seconds, without the sections of its lists. Errors are
// ErrInvalid, also if it is of another day, and those of in.
func Read(in io.ReaderAt, start int64) (*Day, error) {
	header := make([]byte, HeaderBytes)
	if err := readAt(in, 0, header); err != nil {
		return nil, err
	}
	size, err := Size(header)
	if err != nil {
		return nil, err
	}
	content := make([]byte, size)
	if err := readAt(in, 0, content); err != nil {
		return nil, err
	}
	day, err := Decode(content)
	if err == nil && day.Start != start {
		return nil, fmt.Errorf("%w: it is of another day", ErrInvalid)
	}
	return day, err
}

// ReadSection reads a section of the lists of a day, which Read has returned, into a buffer, which it replaces if it is
// too small. Errors are ErrInvalid, also if the rollup was replaced, and those of in.
func (d *Day) ReadSection(in io.ReaderAt, s Section, buffer []byte) ([]byte, error) {
	content := slices.Grow(buffer[:0], int(s.Length))[:s.Length]
	if err := readAt(in, int64(d.Bytes)+s.Offset, content); err != nil {
		return nil, err
	}
	return content, s.Check(content)
}

// readAt fills content. If there are too few bytes, the error is ErrInvalid.
func readAt(in io.ReaderAt, at int64, content []byte) error {
	n, err := in.ReadAt(content, at)
	if n == len(content) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it is too short", ErrInvalid)
	}
	return err
}

// Encode returns the bytes of a rollup without the sections of its lists: magic, version, their number, the figures as
// varints, and their SHA-256.
func (d *Day) Encode() []byte {
	e := encoder{varints.Writer{Bytes: append(append(bytes.Clone(magic), version), 0, 0, 0, 0)}}
	e.Int(d.Start)
	e.Uint(d.HashID)
	e.Uint(uint64(len(d.Sections)))
	for _, s := range d.Sections {
		e.Text(s.Name)
		e.Int(s.Offset)
		e.Int(s.Length)
		e.Uint(uint64(s.Checksum))
	}
	e.Uint(uint64(len(d.Objects)))
	for _, o := range d.Objects {
		e.Text(o.Name)
		for _, n := range []int64{o.Bytes, o.Rows, o.MinTsMs, o.MaxTsMs} {
			e.Int(n)
		}
	}
	numbers := e.names(d.Hosts)
	e.Uint(uint64(len(d.Hosts)))
	for _, h := range d.Hosts {
		e.Int(h.Hour - d.Start)
		e.Uint(numbers[h.nameKey()])
		e.Int(h.Requests)
		e.Int(h.Timed)
		e.sum(h.Bandwidth)
		e.sum(h.TimeUs)
	}
	e.Uint(uint64(len(d.Segments)))
	for _, s := range d.Segments {
		e.Int(s.Start - d.Start)
		for _, n := range []int64{
			s.Seconds, s.Requests, s.Blocked, s.Challenges, s.Human, s.OriginBlocked, s.IPs, s.Sessions,
		} {
			e.Int(n)
		}
		e.sum(s.BytesSent)
		e.statuses(s.Statuses)
		e.statuses(s.Origins)
	}
	if d.Subset != (Subset{}) || len(d.Divisions) > 0 { // earlier versions of the program ended here
		e.subset(d.Subset)
		for _, by := range d.Divisions {
			e.division(by)
		}
		if len(d.Divisions) == 0 {
			e.division(Division{}) // earlier versions of the program expect one
		}
	}
	binary.LittleEndian.PutUint32(e.Bytes[len(magic)+1:], uint32(len(e.Bytes)+sha256.Size))
	sum := sha256.Sum256(e.Bytes)
	return append(e.Bytes, sum[:]...)
}

// EncodeWith returns the bytes of a rollup with the sections of its lists, which become those of the rollup.
func (d *Day) EncodeWith(lists Lists) []byte {
	d.Sections = lists.Sections
	return append(d.Encode(), lists.Bytes...)
}

func (e *encoder) division(by Division) {
	e.Uint(uint64(len(by.Subsets)))
	for _, s := range by.Subsets {
		e.subset(s)
	}
	e.Bool(by.Complete)
}

// nameKey is the name of a host, or none.
type nameKey struct {
	name  string
	named bool
}

func (h *Host) nameKey() nameKey { return nameKey{h.Name, h.Named} }

type encoder struct{ varints.Writer }

func (e *encoder) sum(s Sum) {
	e.Int(s.High)
	e.Uint(s.Low)
}

func (e *encoder) subset(s Subset) {
	e.Text(s.Field)
	e.Text(s.Value)
}

func (e *encoder) statuses(counts []query.StatusCount) {
	e.Uint(uint64(len(counts)))
	for _, c := range counts {
		e.Int(c.Status)
		e.Int(c.Count)
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
	e.Uint(uint64(len(names)))
	for _, name := range names {
		e.Text(name)
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
	d := decoder{varints.Reader{Bytes: content[HeaderBytes:end]}}
	day := &Day{Start: d.Int(), HashID: d.Uint(), Bytes: len(content)}
	day.Sections = make([]Section, d.Length())
	for i := range day.Sections {
		day.Sections[i] = Section{Name: string(d.Text()), Offset: d.Int(), Length: d.Int(), Checksum: uint32(d.Uint())}
	}
	day.Objects = make([]Object, d.Length())
	for i := range day.Objects {
		day.Objects[i] = Object{Name: string(d.Text()), Bytes: d.Int(), Rows: d.Int(), MinTsMs: d.Int(), MaxTsMs: d.Int()}
	}
	names := make([]string, d.Length())
	for i := range names {
		names[i] = string(d.Text())
	}
	day.Hosts = make([]Host, d.Length())
	for i := range day.Hosts {
		h := &day.Hosts[i]
		h.Hour = day.Start + d.Int()
		if number := d.Uint(); number > uint64(len(names)) {
			d.Failed = true
		} else if number > 0 {
			h.Name, h.Named = names[number-1], true
		}
		h.Requests, h.Timed, h.Bandwidth, h.TimeUs = d.Int(), d.Int(), d.sum(), d.sum()
	}
	day.Segments = make([]Segment, d.Length())
	for i := range day.Segments {
		s := &day.Segments[i]
		s.Start, s.Seconds = day.Start+d.Int(), d.Int()
		s.Requests, s.Blocked, s.Challenges, s.Human, s.OriginBlocked = d.Int(), d.Int(), d.Int(), d.Int(), d.Int()
		s.IPs, s.Sessions, s.BytesSent = d.Int(), d.Int(), d.sum()
		s.Statuses, s.Origins = d.statuses(), d.statuses()
	}
	if len(d.Bytes) > 0 {
		day.Subset = d.subset()
		for len(d.Bytes) > 0 {
			day.Divisions = append(day.Divisions, d.division())
		}
		if day.Subset != (Subset{}) {
			day.Divisions = nil
		}
	}
	if d.Failed || len(d.Bytes) > 0 {
		return nil, ErrInvalid
	}
	return day, nil
}

// decoder reads what encoder writes.
type decoder struct{ varints.Reader }

func (d *decoder) subset() Subset { return Subset{Field: string(d.Text()), Value: string(d.Text())} }

func (d *decoder) division() (by Division) {
	by.Subsets = make([]Subset, d.Length())
	for i := range by.Subsets {
		by.Subsets[i] = d.subset()
	}
	by.Complete = d.Bool()
	return by
}

func (d *decoder) sum() Sum { return Sum{High: d.Int(), Low: d.Uint()} }

func (d *decoder) statuses() []query.StatusCount {
	counts := make([]query.StatusCount, d.Length())
	for i := range counts {
		counts[i] = query.StatusCount{Status: d.Int(), Count: d.Int()}
	}
	return counts
}
