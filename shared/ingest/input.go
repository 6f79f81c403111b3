package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// headBytes is how much of a source's beginning identifies it at first sight.
const headBytes = 64 << 10

// input is a log as a stream of decompressed bytes that can be begun again.
type input struct {
	read    atomic.Int64 // bytes of the input as given, for progress
	origin  io.Reader
	text    *bufio.Reader
	decoder io.Closer
	packing string // the compression; "" for plain text
	spool   *spool // after keep, when the origin cannot seek
}

// openInput begins a log: gzip, zstd or plain, told by its first bytes.
func openInput(r io.Reader) (*input, error) {
	in := &input{origin: r}
	if err := in.decompress(); err != nil {
		return nil, err
	}
	return in, nil
}

// Close releases what the input holds; the reader it was made from stays open.
func (in *input) Close() error {
	err := in.closeDecoder()
	if in.spool != nil {
		err = errors.Join(err, in.spool.file.Close())
	}
	return err
}

// closeDecoder releases the decoder. That the compressed data end too early was said when they were read.
func (in *input) closeDecoder() error {
	if in.decoder == nil {
		return nil
	}
	err := in.decoder.Close()
	in.decoder = nil
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// Read reads decompressed bytes.
func (in *input) Read(p []byte) (int, error) { return in.text.Read(p) }

// head is the beginning of the log, as far as it goes, without reading it off. A container is refused.
func (in *input) head() ([]byte, error) {
	head, err := in.text.Peek(headBytes)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("read: %w", err)
	}
	return bytes.Clone(head), refuseContainer(head, in.packing)
}

// mayGrow reports whether a last line without newline may be the beginning of one: a compressed file is complete.
func (in *input) mayGrow(options Options) bool { return options.Growing && in.packing == "" }

func (in *input) decompress() error {
	raw := bufio.NewReaderSize(&counter{in.origin, &in.read}, 256<<10)
	magic, err := raw.Peek(4)
	if err != nil && err != io.EOF {
		return fmt.Errorf("read: %w", err)
	}
	var text io.Reader = raw
	in.packing = ""
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(raw)
		if err != nil {
			return broken("gzip", err)
		}
		text, in.decoder, in.packing = &packed{z, "gzip"}, z, "gzip"
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(128<<20))
		if err != nil {
			return fmt.Errorf("read zstd: %w", err)
		}
		text, in.decoder, in.packing = &packed{z, "zstd"}, z.IOReadCloser(), "zstd"
	}
	in.text = bufio.NewReaderSize(text, headBytes)
	return nil
}

// packed reads compressed data and tells in so many words when they end too early or are damaged: readers take an
// io.ErrUnexpectedEOF for the end of a text that may end anywhere.
type packed struct {
	r      io.Reader
	format string
}

func (u *packed) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // an io.EOF inside another error is no end
		err = broken(u.format, err)
	}
	return n, err
}

// broken tells why compressed data cannot be read on: because the input cannot, because they end too early, be it in
// the first bytes, or because they are damaged.
func broken(format string, err error) error {
	var origin *originError
	switch {
	case errors.As(err, &origin):
		return origin.cause
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return cutOff(format)
	}
	return damaged(format, err)
}

// originError is what the input itself could not be read for.
type originError struct{ cause error }

func (e *originError) Error() string { return e.cause.Error() }
func (e *originError) Unwrap() error { return e.cause }

// counter counts the bytes read through it, and marks errors as the input's own.
type counter struct {
	r io.Reader
	n *atomic.Int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	if err != nil && err != io.EOF { //nolint:errorlint // an io.EOF inside another error is no end
		err = &originError{err}
	}
	return n, err
}

// keep makes rewind possible. What is read of a stream that cannot seek goes to a file too, until forget or rewind.
// It must be called before anything is read; the file goes to scratch.
func (in *input) keep(scratch string) error {
	if _, ok := in.seeker(); ok {
		return nil
	}
	file, err := os.CreateTemp(scratch, "spool-")
	if err != nil {
		return fmt.Errorf("make spool: %w", err)
	}
	in.spool = &spool{file: file, from: in.text, on: true}
	in.text = bufio.NewReaderSize(in.spool, headBytes)
	return nil
}

// forget ends what keep began: rewind will not be needed.
func (in *input) forget() {
	if in.spool != nil {
		in.spool.on = false
	}
}

// spool writes down what is read through it.
type spool struct {
	file *os.File
	from io.Reader
	size int64
	on   bool
}

func (s *spool) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	if s.on {
		if _, err := s.file.Write(p[:n]); err != nil {
			return 0, fmt.Errorf("write spool: %w", err)
		}
		s.size += int64(n)
	}
	return n, err
}

// seeker is the origin if it can go back; pipes have the method, but it fails.
func (in *input) seeker() (io.Seeker, bool) {
	s, ok := in.origin.(io.Seeker)
	if !ok {
		return nil, false
	}
	_, err := s.Seek(0, io.SeekCurrent)
	return s, err == nil
}

// rewind goes back to the beginning.
func (in *input) rewind() error {
	if in.spool != nil {
		in.spool.on = false
		// What waits in the buffer was written down as well.
		before := io.NewSectionReader(in.spool.file, 0, in.spool.size-int64(in.text.Buffered()))
		in.text = bufio.NewReaderSize(io.MultiReader(before, in.text), headBytes)
		return nil
	}
	s, _ := in.seeker()
	if _, err := s.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("rewind: %w", err)
	}
	if err := in.closeDecoder(); err != nil {
		return fmt.Errorf("rewind: %w", err)
	}
	in.read.Store(0)
	return in.decompress()
}
