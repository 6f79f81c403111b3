package rawbucket

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/logformat"
)

// Log is a log to put. Its content has been read once.
type Log struct {
	Format string // name of the log format
	Size   int64  // of what is put, in bytes
	Left   int64  // bytes of an unfinished last line, which is not put

	name     string // in the bucket
	modified time.Time
	sample   ingest.Sample
	unknown  *logformat.UnrecognizedError // of a log in JSON of no known format
	content  io.ReaderAt
	sum      string // SHA-256 of the content in hexadecimal digits
	parts    []part
}

// part is a part of the content that is sent in one request.
type part struct {
	offset, size int64
	sum          string // SHA-256 in base64
}

// Limits of multipart uploads. Parts are larger if there would be more of them than S3 accepts.
const (
	partSize = 16 << 20
	maxParts = 10_000
)

// maxSampled is the maximum length of the text that is decompressed to see the last lines of a log.
const maxSampled = 2 << 30

// Read reads a file and returns it as a log with a name in the bucket. It refuses what the import would refuse, except
// for logs in JSON of no known format, which can be imported with a format once they are in the bucket. If the log is
// growing, another process may still write to the file; then a last line without newline is left, unless the file is
// compressed, because the line may be incomplete. The file must stay open.
func Read(ctx context.Context, f *os.File, name string, growing bool) (*Log, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	l := &Log{name: name, Size: info.Size(), modified: info.ModTime(), content: f}
	if l.Size == 0 {
		return nil, errEmpty
	}
	l.sample, err = sampleOf(ctx, l.content, l.Size)
	l.Format = l.sample.Format
	if unknown, is := errors.AsType[*logformat.UnrecognizedError](err); is && unknown.Members != nil && unknown.Wrapped == nil {
		l.unknown, l.Format, err = unknown, "unknown format", nil
	}
	if err != nil {
		return nil, forPut(err)
	}
	if growing && l.sample.Compression == "" {
		if l.Left, err = unfinished(l.content, l.Size); err != nil {
			return nil, err
		}
		l.Size -= l.Left
	}
	if l.Size == 0 {
		return nil, errUnfinished
	}
	return l, l.addSums(ctx, max(partSize, (l.Size+maxParts-1)/maxParts))
}

// sampleOf reads the beginning and the end of a log.
func sampleOf(ctx context.Context, content io.ReaderAt, size int64) (s ingest.Sample, err error) {
	section := io.NewSectionReader(content, 0, size)
	log, err := ingest.OpenLog(struct {
		stream
		io.Seeker
	}{stream{ctx, section}, section})
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	return log.Sample(maxSampled, ingest.Options{})
}

// unfinished returns the length of the text after the last newline. It returns 0 if that is only white space.
func unfinished(content io.ReaderAt, size int64) (int64, error) {
	block := make([]byte, 64<<10)
	blank := true
	for end := size; end > 0; {
		n := min(end, int64(len(block)))
		text := block[:n]
		if _, err := content.ReadAt(text, end-n); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		newline := int64(bytes.LastIndexByte(text, '\n'))
		blank = blank && len(bytes.TrimSpace(text[newline+1:])) == 0
		if newline >= 0 {
			size -= end - n + newline + 1
			break
		}
		end -= n
	}
	if blank {
		return 0, nil
	}
	return size, nil
}

// addSums reads the content and computes the checksums of the whole and of parts of that size. S3 compares those of the
// parts with what it receives, so a file that changes before it is sent is not put.
func (l *Log) addSums(ctx context.Context, size int64) error {
	l.parts = nil
	whole := sha256.New()
	for offset := int64(0); offset < l.Size; offset += size {
		p := part{offset: offset, size: min(size, l.Size-offset)}
		sum := sha256.New()
		n, err := io.Copy(io.MultiWriter(sum, whole), stream{ctx, l.open(p)})
		if err != nil {
			return err
		}
		if n < p.size {
			return errChanged
		}
		p.sum = base64.StdEncoding.EncodeToString(sum.Sum(nil))
		l.parts = append(l.parts, p)
	}
	l.sum = hex.EncodeToString(whole.Sum(nil))
	return nil
}

// open returns a reader of a part.
func (l *Log) open(p part) *io.SectionReader { return io.NewSectionReader(l.content, p.offset, p.size) }

// Spool copies a stream to a temporary file, which is removed when the returned function is called.
func Spool(ctx context.Context, in io.Reader) (f *os.File, remove func() error, err error) {
	f, err = os.CreateTemp("", "orrery-put-")
	if err != nil {
		return nil, nil, err
	}
	remove = func() error { return errors.Join(f.Close(), os.Remove(f.Name())) }
	if _, err = io.Copy(f, stream{ctx, in}); err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	return f, remove, nil
}

// stream reads until the context ends.
type stream struct {
	ctx context.Context
	io.Reader
}

func (s stream) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.Reader.Read(p)
}

// forPut adapts an error of package ingest, which is written for the command import.
func forPut(err error) error {
	if fault.KindOf(err) != fault.Invalid {
		return err
	}
	return errors.New(importTexts.Replace(err.Error()))
}
