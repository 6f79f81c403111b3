package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"github.com/orrery/orrery/shared/ingest/ledger"
)

// headBytes is the number of bytes at the beginning of a source by which the ledger finds it.
const headBytes = ledger.HeadBytes

// input is a log as a stream of decompressed bytes that can be rewound.
type input struct {
	read        atomic.Int64 // bytes read of the origin, for progress
	origin      io.Reader
	text        *bufio.Reader
	decoder     io.Closer
	compression string // "gzip", "bzip2", "zstd", or "" for plain text
	archive     bool   // the text is an archive: archiveError describes errors of the compression
	spool       *spool // set by keep if the origin cannot seek
}

// bzip2Marks are the first bytes of a bzip2 file, and of one of an empty text.
var bzip2Marks = [2]string{"BZh?1AY&SY", "BZh?\x17rE8P\x90"}

// openInput opens a log. It detects gzip, bzip2 and zstd by the first bytes.
func openInput(r io.Reader) (*input, error) {
	in := &input{origin: r}
	if err := in.decompress(); err != nil {
		return nil, err
	}
	return in, nil
}

// IsPlain reports whether a log is a text, and neither compressed nor an archive, so that its complete lines can be
// imported while it grows.
func IsPlain(r io.Reader) bool {
	in, err := openInput(io.LimitReader(r, headBytes))
	if err != nil {
		return false
	}
	_, err = in.head()
	plain := err == nil && in.compression == ""
	return in.Close() == nil && plain
}

// Close releases the resources of the input. The origin stays open.
func (in *input) Close() error {
	err := in.closeDecoder()
	if in.spool != nil {
		err = errors.Join(err, in.spool.file.Close())
	}
	return err
}

// closeDecoder releases the decoder. It ignores io.ErrUnexpectedEOF, which Read has reported.
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

// head returns up to headBytes of the beginning of the log without consuming them. It refuses containers.
func (in *input) head() ([]byte, error) {
	head, err := in.text.Peek(headBytes)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("read: %w", err)
	}
	return bytes.Clone(head), refuseContainer(head, in.compression)
}

// mayGrow reports whether the log may still be growing, so that a last line without newline may be incomplete.
// Compressed files are complete.
func (in *input) mayGrow(options Options) bool { return options.Growing && in.compression == "" }

func (in *input) decompress() error {
	raw := bufio.NewReaderSize(&counter{in.origin, &in.read}, 256<<10)
	magic, err := raw.Peek(len(bzip2Marks[0]))
	if err != nil && err != io.EOF {
		return fmt.Errorf("read: %w", err)
	}
	var text io.Reader = raw
	in.compression = ""
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := newGzipMembers(raw)
		if err != nil {
			return readError("gzip", err)
		}
		text, in.decoder, in.compression = &decompressor{in, z, "gzip"}, z, "gzip"
	case hasMark(magic, bzip2Marks[0]) || hasMark(magic, bzip2Marks[1]):
		text, in.compression = &decompressor{in, newPaddedBzip2(raw), "bzip2"}, "bzip2"
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(newZstdFrames(raw), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(128<<20))
		if err != nil {
			return fmt.Errorf("read zstd: %w", err)
		}
		text, in.decoder, in.compression = &decompressor{in, z, "zstd"}, z.IOReadCloser(), "zstd"
	}
	if m, ok := in.origin.(Member); ok && in.compression != "" {
		text = m.limit.reader(text)
	}
	in.text = bufio.NewReaderSize(text, headBytes)
	return nil
}

// decompressor reads decompressed data and returns a specific error when the compressed data are cut off or damaged.
// The readers of the text would take an io.ErrUnexpectedEOF for the end of the text.
type decompressor struct {
	in     *input
	r      io.Reader
	format string
}

func (d *decompressor) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // a wrapped io.EOF is not the end
		if !d.in.archive {
			err = readError(d.format, err)
		}
	}
	return n, err
}

// readError returns why compressed data cannot be read: the origin returned an error, the data end too early, perhaps
// in the first bytes, or they are damaged.
func readError(format string, err error) error {
	var origin *originError
	switch {
	case errors.As(err, &origin):
		return origin.cause
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return cutOff(format)
	}
	return damaged(format, err)
}

// originError is an error of the origin.
type originError struct{ cause error }

func (e *originError) Error() string { return e.cause.Error() }
func (e *originError) Unwrap() error { return e.cause }

// counter counts the bytes read from the origin, and marks its errors as originError.
type counter struct {
	r io.Reader
	n *atomic.Int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	if err != nil && err != io.EOF { //nolint:errorlint // a wrapped io.EOF is not the end
		err = &originError{err}
	}
	return n, err
}

// keep makes rewind possible. If the origin cannot seek, it copies everything that is read to a file in the directory
// scratch until forget or rewind is called. It must be called before the first read.
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

// forget ends the copying that keep has started. rewind must not be called afterwards.
func (in *input) forget() {
	if in.spool != nil {
		in.spool.on = false
	}
}

// spool copies everything that is read through it to a file.
type spool struct {
	file *os.File
	from io.Reader
	size int64 // bytes in the file
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

// seeker returns the origin if it can seek. Pipes have the method Seek, but it returns an error.
func (in *input) seeker() (io.Seeker, bool) {
	s, ok := in.origin.(io.Seeker)
	if !ok {
		return nil, false
	}
	_, err := s.Seek(0, io.SeekCurrent)
	return s, err == nil
}

// rewind continues reading at the beginning.
func (in *input) rewind() error {
	if in.spool != nil {
		in.spool.on = false
		// The file also has the bytes that are still in the buffer.
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
