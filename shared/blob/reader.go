package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Reader reads one content of an object and can seek. It reopens a broken connection where it broke. If the object has
// been replaced meanwhile, it returns ErrChanged and never mixes two contents.
type Reader struct {
	ctx     context.Context // of the reads: Read takes no context
	store   Store
	name    string
	version string
	info    Info
	body    io.ReadCloser // nil if the next read must open the object at offset
	offset  int64
}

// maxBreaks is how many connections in a row may break before a byte arrives.
const maxBreaks = 5

// Open opens an object for reading. version may be "". The context applies to all reads.
func Open(ctx context.Context, store Store, name, version string) (*Reader, error) {
	body, info, err := store.Get(ctx, name, version, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	return &Reader{ctx: ctx, store: store, name: name, version: version, info: info, body: body}, nil
}

// Info describes the object.
func (r *Reader) Info() Info { return r.info }

// Read reads the next bytes. It opens a new connection when one breaks.
func (r *Reader) Read(p []byte) (int, error) {
	if r.offset >= r.info.Size {
		return 0, io.EOF
	}
	for breaks := 0; ; breaks++ {
		n, err := r.readOnce(p)
		r.offset += int64(n)
		if n > 0 || len(p) == 0 {
			return n, nil
		}
		switch ended := r.ctx.Err(); {
		case errors.Is(err, ErrChanged) || errors.Is(err, ErrNotFound):
			return 0, fmt.Errorf("read %s at byte %d: %w", r.name, r.offset, err)
		case ended != nil:
			return 0, fmt.Errorf("read %s at byte %d: %w", r.name, r.offset, ended)
		case breaks == maxBreaks:
			// The cause is not wrapped: callers would take an io.ErrUnexpectedEOF in it for the end of the object.
			return 0, fmt.Errorf("read %s at byte %d: %w: %s", r.name, r.offset, ErrBroken, err.Error())
		}
	}
}

// readOnce reads from the open connection or from a new one. A connection that ends before the object does is an error.
func (r *Reader) readOnce(p []byte) (int, error) {
	if r.body == nil {
		body, info, err := r.store.Get(r.ctx, r.name, r.version, r.offset)
		if err != nil {
			return 0, err
		}
		if info.ETag != r.info.ETag || info.Size != r.info.Size {
			return 0, errors.Join(ErrChanged, body.Close())
		}
		r.body = body
	}
	n, err := r.body.Read(p)
	if errors.Is(err, io.EOF) && r.offset+int64(n) < r.info.Size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		err = errors.Join(err, r.closeBody())
	}
	return n, err
}

// Seek implements io.Seeker.
func (r *Reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.offset
	case io.SeekEnd:
		offset += r.info.Size
	}
	if offset < 0 {
		return 0, fmt.Errorf("seek %s to byte %d", r.name, offset)
	}
	if offset == r.offset {
		return offset, nil
	}
	r.offset = offset
	return offset, r.closeBody()
}

// Close closes the connection.
func (r *Reader) Close() error { return r.closeBody() }

func (r *Reader) closeBody() error {
	if r.body == nil {
		return nil
	}
	body := r.body
	r.body = nil
	return body.Close()
}
