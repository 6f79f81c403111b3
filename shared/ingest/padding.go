package ingest

import (
	"bufio"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxPadding is the maximum number of zero bytes after the end of compressed data. Programs that write blocks of a
// fixed length, such as those for tapes, fill up the last block with them. More zeros are rather a part of the file
// that was lost.
const maxPadding = 1 << 20

// isPadding reports whether the rest of r is a padding.
func isPadding(r *bufio.Reader) (bool, error) {
	for range maxPadding {
		b, err := r.ReadByte()
		if err != nil || b != 0 {
			return errors.Is(err, io.EOF), notEOF(err)
		}
	}
	_, err := r.ReadByte()
	return errors.Is(err, io.EOF), notEOF(err)
}

func notEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// gzipMembers reads the members of a gzip file one after the other, and accepts a padding after the last one.
type gzipMembers struct {
	*gzip.Reader
	raw *bufio.Reader
}

func newGzipMembers(raw *bufio.Reader) (*gzipMembers, error) {
	z, err := gzip.NewReader(raw)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &gzipMembers{z, raw}, nil
}

func (g *gzipMembers) Read(p []byte) (int, error) {
	for {
		n, err := g.Reader.Read(p)
		if n > 0 && err == io.EOF { //nolint:errorlint // a wrapped io.EOF is not the end
			return n, nil // the next call reports the end
		}
		if n > 0 || err != io.EOF { //nolint:errorlint // as above
			return n, err
		}
		if err := g.next(); err != nil {
			return 0, err
		}
	}
}

// next begins with the next member. It returns io.EOF if there are no more.
func (g *gzipMembers) next() error {
	first, err := g.raw.Peek(1)
	if err != nil {
		return err
	}
	if first[0] == 0 {
		padded, err := isPadding(g.raw)
		switch {
		case err != nil:
			return err
		case padded:
			return io.EOF
		}
		return gzip.ErrHeader
	}
	if err := g.Reset(g.raw); err != nil {
		return err
	}
	g.Multistream(false)
	return nil
}

// paddedBzip2 reads the text of a bzip2 decoder, which reads all streams of a file, and accepts a padding after the
// last one. The decoder must read through zeros, and no further than it needs.
type paddedBzip2 struct {
	text  io.Reader
	zeros *zeros
}

// newPaddedBzip2 returns a reader of the text of a bzip2 file.
func newPaddedBzip2(raw *bufio.Reader) *paddedBzip2 {
	read := &zeros{raw: raw}
	return &paddedBzip2{bzip2.NewReader(read), read}
}

func (p *paddedBzip2) Read(b []byte) (int, error) {
	n, err := p.text.Read(b)
	if !errors.Is(err, bzip2.StructuralError("bad magic value in continuation file")) || p.zeros.last < bzip2Mark {
		return n, err
	}
	switch padding, failed := isPadding(p.zeros.raw); {
	case failed != nil:
		return n, failed
	case padding:
		return n, io.EOF
	}
	return n, err
}

// bzip2Mark is the length of the mark by which the decoder recognizes a further stream.
const bzip2Mark = 2

// zeros counts the zero bytes at the end of what was read. It adds zero bytes to a file that ends with one, so that the
// decoder reads a whole mark, whether that byte is the end of the last stream or a padding. That cannot make a damaged
// file valid: each stream ends with its sum.
type zeros struct {
	raw         *bufio.Reader
	last, added int
}

func (z *zeros) ReadByte() (byte, error) {
	b, err := z.raw.ReadByte()
	switch {
	case errors.Is(err, io.EOF) && z.last > 0 && z.added < bzip2Mark:
		z.last, z.added = z.last+1, z.added+1
		return 0, nil
	case err != nil:
	case b == 0:
		z.last++
	default:
		z.last = 0
	}
	return b, err
}

// Read implements io.Reader. The decoder reads byte by byte.
func (z *zeros) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	b, err := z.ReadByte()
	if err != nil {
		return 0, err
	}
	p[0] = b
	return 1, nil
}

// zstdFrames reads the frames of a zstd file, and ends before a padding after the last one. It finds the ends of frames
// by the lengths of their blocks; RFC 8878 describes them. Whatever is no frame is left to the decoder, which returns
// the error.
type zstdFrames struct {
	raw      *bufio.Reader
	left     int64 // bytes that can be returned before the next header
	next     func(*zstdFrames) error
	checksum int64 // length of what follows the last block of the frame
}

func newZstdFrames(raw *bufio.Reader) *zstdFrames {
	return &zstdFrames{raw: raw, next: (*zstdFrames).frame}
}

func (z *zstdFrames) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for z.left == 0 {
		if err := z.next(z); err != nil {
			return 0, err
		}
	}
	n, err := z.raw.Read(p[:min(int64(len(p)), z.left)])
	z.left -= int64(n)
	return n, err
}

// rest leaves the rest of the file to the decoder.
func (z *zstdFrames) rest() error {
	z.left = math.MaxInt64
	return nil
}

// frame reads the header of a frame, or of a frame that decoders skip.
func (z *zstdFrames) frame() error {
	mark, err := z.raw.Peek(1)
	if err != nil {
		return err
	}
	if mark[0] == 0 {
		switch padding, err := isPadding(z.raw); {
		case err != nil:
			return err
		case padding:
			return io.EOF
		}
		return zstd.ErrMagicMismatch
	}
	header, err := z.raw.Peek(8)
	if len(header) < 5 {
		return errors.Join(notEOF(err), z.rest())
	}
	switch magic := binary.LittleEndian.Uint32(header); {
	case magic == 0xfd2fb528:
	case magic>>4 == 0x184d2a5 && len(header) == 8:
		z.left = 8 + int64(binary.LittleEndian.Uint32(header[4:]))
		return nil
	default:
		return z.rest()
	}
	const (
		single   = 0x20 // the frame is one segment: it has its length instead of that of the window
		checksum = 0x04
	)
	descriptor := header[4]
	z.left = 5 + []int64{0, 1, 2, 4}[descriptor&3] + []int64{0, 2, 4, 8}[descriptor>>6]
	if descriptor&single == 0 || descriptor>>6 == 0 {
		z.left++
	}
	z.checksum = 0
	if descriptor&checksum != 0 {
		z.checksum = 4
	}
	z.next = (*zstdFrames).block
	return nil
}

// block reads the header of a block.
func (z *zstdFrames) block() error {
	header, err := z.raw.Peek(3)
	if len(header) < 3 {
		return errors.Join(notEOF(err), z.rest())
	}
	const repeated = 1 // the type of a block that has one byte, and how often it is repeated
	block := uint32(header[0]) | uint32(header[1])<<8 | uint32(header[2])<<16
	z.left = 3 + int64(block>>3)
	if block>>1&3 == repeated {
		z.left = 4
	}
	if block&1 != 0 { // the last one of the frame
		z.left += z.checksum
		z.next = (*zstdFrames).frame
	}
	return nil
}
