package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/logformat"
	"github.com/orrery/orrery/shared/record"
)

// Sample describes a log by its first and last lines.
type Sample struct {
	Format         string    // name of the log format
	Compression    string    // "gzip", "bzip2", "zstd", or "" for plain text
	First          *lake.Row // the first record; nil if there is none
	Oldest, Newest time.Time // of the records in these lines; zero if there are none
	Problem        string    // why the first line that is not a record is rejected; "" if all lines are records
	Whole          bool      // the end of the log was read
}

// tailBytes is the length of the end of a log that is sampled. It holds the longest line.
const tailBytes = 1 << 20

// Sample returns what the first and the last lines of the log show, without importing it. It reads up to limit bytes of
// the decompressed text, unless the log is a plain file, which has its end read alone. Of the options, it uses those
// that describe the lines: Format, Zone and Defaults. A log whose format is not detected or that is cut off or damaged
// is refused as by Convert; the sample then has the compression alone. The log cannot be converted afterwards.
func (l *Log) Sample(limit int64, options Options) (Sample, error) {
	s := Sample{Compression: l.in.compression}
	if err := options.Check(); err != nil {
		return s, err
	}
	format, err := chooseFormat(options, l.head, position{fresh: true})
	if err != nil {
		return s, err
	}
	s.Format = format.Name()
	end, whole, err := l.in.tail(limit)
	if err != nil {
		return Sample{}, err
	}
	s.Whole = whole
	c := &converter{
		format: format, times: Options{}.times(), defaults: options.Defaults, decoder: record.NewDecoder(),
	}
	first := l.head
	if len(first) == headBytes { // the last line may be cut off
		first = first[:bytes.LastIndexByte(first, '\n')+1]
	}
	if err := s.add(c, batch{firstLine: 1, text: first}); err != nil {
		return Sample{}, err
	}
	var directives logformat.Directives
	directives.Add(first)
	return s, s.add(c, batch{firstLine: 1, text: end, directive: directives.Last()})
}

// add adds the records of lines to the sample.
func (s *Sample) add(c *converter, lines batch) error {
	var d decodedBatch
	if err := c.decode(lines, &d); err != nil {
		return err
	}
	if s.First == nil && len(d.rows) > 0 {
		s.First = &d.rows[0]
	}
	for _, row := range d.rows {
		at := time.UnixMilli(row.TsMs).UTC()
		if s.Oldest.IsZero() || at.Before(s.Oldest) {
			s.Oldest = at
		}
		if at.After(s.Newest) {
			s.Newest = at
		}
	}
	if s.Problem == "" && len(d.rejected) > 0 {
		s.Problem = d.rejected[0].reason
	}
	return nil
}

// tail returns the complete lines in the last bytes of the text, and whether the end was read. It reads a plain file
// from there, and up to limit bytes of another text.
func (in *input) tail(limit int64) (lines []byte, whole bool, err error) {
	last := &lastBytes{}
	if s, ok := in.seeker(); ok && in.compression == "" {
		return in.tailOf(s)
	}
	_, err = io.CopyN(last, in, limit)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, fmt.Errorf("read: %w", err)
	}
	lines = last.text()
	if last.written > int64(len(lines)) {
		lines = lines[bytes.IndexByte(lines, '\n')+1:]
	}
	if err == nil { // the text goes on
		lines = lines[:bytes.LastIndexByte(lines, '\n')+1]
	}
	return lines, err != nil, nil
}

// tailOf returns the complete lines in the last bytes of a plain file.
func (in *input) tailOf(s io.Seeker) (lines []byte, whole bool, err error) {
	size, err := s.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = s.Seek(max(size-tailBytes, 0), io.SeekStart)
	}
	if err == nil {
		lines, err = io.ReadAll(io.LimitReader(in.origin, tailBytes))
	}
	if err != nil {
		return nil, false, fmt.Errorf("read: %w", err)
	}
	if size > tailBytes {
		lines = lines[bytes.IndexByte(lines, '\n')+1:]
	}
	return lines, true, nil
}

// lastBytes keeps at least the last tailBytes that are written to it, in the full buffer before the one that is filled.
type lastBytes struct {
	full, filling []byte
	written       int64
}

func (l *lastBytes) Write(p []byte) (int, error) {
	l.written += int64(len(p))
	for rest := p; len(rest) > 0; {
		if len(l.filling) == tailBytes {
			l.full, l.filling = l.filling, l.full[:0]
		}
		n := min(len(rest), tailBytes-len(l.filling))
		l.filling = append(l.filling, rest[:n]...)
		rest = rest[n:]
	}
	return len(p), nil
}

// text returns the last bytes, at most tailBytes.
func (l *lastBytes) text() []byte {
	all := append(bytes.Clone(l.full), l.filling...)
	return all[max(len(all)-tailBytes, 0):]
}
